// runloop_branch.hpp — coroutines in a line, and which tasks are being executed. Part of runloop_task.hpp.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_BRANCH_HPP
#define RUNLOOP_BRANCH_HPP
#include <cassert>
#include <coroutine>
#include <memory>
#include <system_error>
#include <type_traits>
#include <utility>

namespace run_loop::detail {

inline void throw_if(int error, const char *what) {
    if (error)
        throw std::system_error(error, std::generic_category(), what);
}

//===-- The waiters --------------------------------------------------------------------------------------------------===//
class waiters;

/// A coroutine that waits in a line, which it leaves when it is destroyed. Part of its awaiter.
class waiter {
  public:
    waiter() noexcept = default;
    /// Before it waits.
    waiter([[maybe_unused]] waiter &&other) noexcept { assert(!other.line_); }
    waiter &operator=(waiter &&) = delete;
    ~waiter() { leave(); }
    /// At the end of the line.
    void join(waiters &line, std::coroutine_handle<> waiting) noexcept;
    /// Whether it was in the line.
    bool leave() noexcept;

  private:
    friend class waiters;
    waiters *line_ = nullptr;
    waiter *next_ = nullptr, **at_ = nullptr;
    std::coroutine_handle<> waiting_;
};

/// A line of coroutines, first come, first served.
class waiters {
  public:
    waiters() noexcept = default;
    waiters(const waiters &) = delete;
    waiters &operator=(const waiters &) = delete;
    ~waiters() {
        while (first_)
            first_->leave();
        if (is_gone_)
            *is_gone_ = true;
    }
    explicit operator bool() const noexcept { return first_; }
    /// The first one, which is in the line no more; or nobody.
    std::coroutine_handle<> take_first() noexcept {
        const auto waiting = first_ ? first_->waiting_ : std::noop_coroutine();
        if (first_)
            first_->leave();
        return waiting;
    }
    /// Resumes one after another, as long as `is_over` says that the wait of the first is over. A resumed coroutine may destroy all of
    /// this.
    template <class IsOver> void resume_while(IsOver &&is_over) {
        bool is_gone = false;
        bool *const outer = std::exchange(is_gone_, &is_gone);
        while (!is_gone && first_ && is_over(*first_))
            take_first().resume();
        if (!is_gone)
            is_gone_ = outer;
        else if (outer)
            *outer = true;
    }
    void resume_all() {
        resume_while([](waiter &) { return true; });
    }

  private:
    friend class waiter;
    waiter *first_ = nullptr, **end_ = &first_;
    bool *is_gone_ = nullptr;
};

inline void waiter::join(waiters &line, std::coroutine_handle<> waiting) noexcept {
    line_ = &line;
    next_ = nullptr;
    at_ = line.end_;
    *at_ = this;
    line.end_ = &next_;
    waiting_ = waiting;
}

inline bool waiter::leave() noexcept {
    if (!line_)
        return false;
    *at_ = next_;
    if (next_)
        next_->at_ = at_;
    else
        line_->end_ = at_;
    line_ = nullptr;
    return true;
}

//===-- What is being executed ---------------------------------------------------------------------------------------===//
/// A task of a scope with all that it awaits. Destroying it is ending it, but not while a part of it is on the stack: a nested run, or
/// a call of its own, may have reached the code that ends it. So it counts how often that is so, and is ended when it waits again.
class branch : public std::enable_shared_from_this<branch> {
  public:
    branch(std::shared_ptr<branch> outer, const void *its_scope) noexcept : scope(its_scope), outer_(std::move(outer)) {}
    /// The innermost one that is being executed on this thread.
    static inline thread_local branch *current = nullptr;
    branch *outer() const noexcept { return outer_.get(); }
    bool is_on_stack() const noexcept { return depth_ > 0; }

    /// It goes on. What is around it is on the stack as well: that has what it uses.
    void enter() noexcept {
        for (branch *it = this; it; it = it->outer())
            ++it->depth_;
        step_back();
    }
    /// It begins to wait: what goes on meanwhile is not in it. Or it does not wait after all.
    void step_aside() noexcept { current = below_; }
    void step_back() noexcept { below_ = std::exchange(current, this); }
    /// It waits, after it has stepped aside. Returns the coroutine to resume now.
    std::coroutine_handle<> leave() noexcept {
        branch *ended = nullptr;
        for (branch *it = this; it; it = it->outer())
            if (--it->depth_ == 0 && it->is_cancelled && it->runner)
                ended = it;
        if (ended)
            ended->enter();
        return ended ? ended->runner : std::noop_coroutine();
    }

    /// Whom it goes back to at its end; nobody, once it has ended.
    std::coroutine_handle<> runner;
    /// It ends when it waits.
    bool is_cancelled = false;
    /// Its scope, to compare, and its place there.
    const void *const scope;
    branch *next = nullptr, **at = nullptr;

  private:
    std::shared_ptr<branch> outer_;
    branch *below_ = nullptr;
    unsigned depth_ = 0;
};

template <class Awaitable>
concept has_member_co_await = requires(Awaitable &&awaitable) {
    static_cast<Awaitable &&>(awaitable).operator co_await();
};
template <class Awaitable>
concept has_free_co_await = requires(Awaitable &&awaitable) {
    operator co_await(static_cast<Awaitable &&>(awaitable));
};

/// What the language asks when it awaits something.
template <class Awaitable> decltype(auto) awaiter_of(Awaitable &&awaitable) {
    if constexpr (has_member_co_await<Awaitable>)
        return std::forward<Awaitable>(awaitable).operator co_await();
    else if constexpr (has_free_co_await<Awaitable>)
        return operator co_await(std::forward<Awaitable>(awaitable));
    else
        return std::forward<Awaitable>(awaitable);
}

/// The type of what `co_await` has.
template <class Awaitable> using awaited = std::decay_t<decltype(awaiter_of(std::declval<Awaitable>()).await_resume())>;

/// Awaits something that is not a task, and notes that in the branch.
template <class Awaitable> class tracked {
  public:
    explicit tracked(Awaitable &&awaitable) : awaiter_(awaiter_of(std::forward<Awaitable>(awaitable))) {}
    tracked(const tracked &) = delete;
    tracked &operator=(const tracked &) = delete;
    bool await_ready() { return awaiter_.await_ready(); }
    template <class Promise> auto await_suspend(std::coroutine_handle<Promise> waiting) {
        if constexpr (std::is_same_v<decltype(awaiter_.await_suspend(waiting)), bool>) {
            // Where the compiler does not optimize, the stack grows with each transfer; so the handle is not returned where nothing waits.
            const std::coroutine_handle<> next = next_after(waiting);
            const bool waits = next != waiting;
            if (waits)
                next.resume();
            return waits;
        } else {
            return next_after(waiting);
        }
    }
    decltype(auto) await_resume() {
        if (around_)
            around_->enter();
        return awaiter_.await_resume();
    }

  private:
    /// The coroutine to resume, once this one has been suspended.
    template <class Promise> std::coroutine_handle<> next_after(std::coroutine_handle<Promise> waiting) {
        around_ = waiting.promise().around;
        if (!around_) {
            const auto next = suspended(waiting);
            return next ? next : std::noop_coroutine();
        }
        // In what follows the coroutine may go on and be done: then this object is gone, and so is the branch, but for this.
        const auto around = around_->shared_from_this();
        around->step_aside();
        std::coroutine_handle<> next;
        try {
            next = suspended(waiting);
        } catch (...) {
            around->step_back();
            throw;
        }
        const bool waits = next != waiting;
        if (!waits) {
            around->step_back();
            around_ = nullptr;
        } else if (next) {
            // A coroutine of another type is a part of the branch until it waits.
            next.resume();
        }
        return waits ? around->leave() : waiting;
    }
    /// Whom the awaiter names, or nobody.
    template <class Promise> std::coroutine_handle<> suspended(std::coroutine_handle<Promise> waiting) {
        using outcome = decltype(awaiter_.await_suspend(waiting));
        if constexpr (std::is_void_v<outcome>)
            return awaiter_.await_suspend(waiting), nullptr;
        else if constexpr (std::is_same_v<outcome, bool>)
            return awaiter_.await_suspend(waiting) ? nullptr : std::coroutine_handle<>(waiting);
        else
            return awaiter_.await_suspend(waiting);
    }
    decltype(awaiter_of(std::declval<Awaitable>())) awaiter_;
    branch *around_ = nullptr;
};

} // namespace run_loop::detail
#endif // RUNLOOP_BRANCH_HPP
