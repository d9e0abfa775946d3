// runloop_task.hpp — coroutines on a loop, for C++20: tasks, waits for them, sleeps.
//
// What holds for every awaitable of this header and of runloop_async.hpp:
//
//  - A coroutine goes on inside the callback of what it waited for, on the loop's thread. So it may do what a callback may, and what it
//    throws goes to the coroutine that awaits the task.
//  - Cancellation is destruction: a task that is destroyed while it waits destroys what it waits for, and hears nothing any more. One that
//    is being executed can't be destroyed, not from a call or a nested run inside it either; a task_scope (runloop_scope.hpp) sees to that.
//  - A second coroutine that waits for the same thing is never lost: it waits its turn where there are several to have, as is said there,
//    and is refused everywhere else, with the error EBUSY. The first one hears nothing of that.
//  - What is waited for outlives its waiter.
//  - All of them belong to the thread that made them.
//  - Items are in the common modes, unless a mode is given, and only while a coroutine waits for them, as far as nothing else is said.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_TASK_HPP
#define RUNLOOP_TASK_HPP
#ifndef __cpp_impl_coroutine
#error "runloop_task.hpp and what includes it need the coroutines of C++20: the option is -std=c++20, or a later one."
#endif
#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "runloop.hpp"
#include "runloop_branch.hpp"

namespace run_loop {

template <class T = void> class task;

namespace detail {
struct branch_body;

/// What a task has when it is done: nothing yet, its value, or what it threw.
template <class T> class task_result {
  public:
    template <class Value> void return_value(Value &&value) { result_.template emplace<1>(std::forward<Value>(value)); }
    void unhandled_exception() noexcept { result_.template emplace<2>(std::current_exception()); }
    T take() {
        if (auto *error = std::get_if<2>(&result_))
            std::rethrow_exception(*error);
        return std::move(std::get<1>(result_));
    }

  private:
    std::variant<std::monostate, T, std::exception_ptr> result_;
};
template <> class task_result<void> {
  public:
    void return_void() noexcept {}
    void unhandled_exception() noexcept { error_ = std::current_exception(); }
    void take() const {
        if (error_)
            std::rethrow_exception(error_);
    }
    const std::exception_ptr &error() const noexcept { return error_; }

  private:
    std::exception_ptr error_;
};

/// At its end a task resumes the coroutine that awaits it.
struct final_awaiter {
    bool await_ready() const noexcept { return false; }
    template <class Promise> std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> done) const noexcept {
        return done.promise().continuation;
    }
    void await_resume() const noexcept {}
};

template <class T> struct task_promise : task_result<T> {
    std::coroutine_handle<> continuation; ///< The coroutine that awaits it. None, before it has begun.
    branch *around = nullptr;             ///< What it is a part of, if somebody might end it.
    template <class Result> task<Result> &&await_transform(task<Result> &&inner) noexcept { return std::move(inner); }
    template <class Awaitable> tracked<Awaitable> await_transform(Awaitable &&awaitable) {
        return tracked<Awaitable>(std::forward<Awaitable>(awaitable));
    }
    task<T> get_return_object() noexcept;
    std::suspend_always initial_suspend() const noexcept { return {}; }
    final_awaiter final_suspend() const noexcept { return {}; }
};

} // namespace detail

/// A coroutine with a result. It begins when it is awaited; destroying it destroys it wherever it waits.
template <class T> class [[nodiscard]] task {
  public:
    using promise_type = detail::task_promise<T>;
    using handle = std::coroutine_handle<promise_type>;
    explicit task(handle coroutine) noexcept : coroutine_(coroutine) {}
    task(task &&other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr)) {}
    task &operator=(task &&other) noexcept {
        task former(std::move(*this));
        coroutine_ = std::exchange(other.coroutine_, nullptr);
        return *this;
    }
    ~task() {
        if (coroutine_)
            coroutine_.destroy();
    }
    /// Once: it throws EBUSY if the task has begun, and EINVAL if it was moved from.
    auto operator co_await() &&noexcept { return awaiter{coroutine_}; }
    /// Why it can't begin: EBUSY or EINVAL, as above, or 0.
    int refusal() const noexcept { return refusal(coroutine_); }

  private:
    friend struct detail::branch_body;
    struct awaiter {
        handle coroutine;
        bool await_ready() const noexcept { return false; }
        template <class Promise> handle await_suspend(std::coroutine_handle<Promise> waiting) const {
            detail::throw_if(refusal(coroutine), "run_loop::task");
            if constexpr (requires { waiting.promise().around; })
                coroutine.promise().around = waiting.promise().around;
            coroutine.promise().continuation = waiting;
            return coroutine;
        }
        T await_resume() const { return coroutine.promise().take(); }
    };
    static int refusal(handle coroutine) noexcept { return !coroutine ? EINVAL : coroutine.promise().continuation ? EBUSY : 0; }
    handle coroutine_;
};

template <class T> task<T> detail::task_promise<T>::get_return_object() noexcept {
    return task<T>(std::coroutine_handle<task_promise>::from_promise(*this));
}

namespace detail {

/// A coroutine that begins at once and belongs to itself.
struct detached {
    struct promise_type {
        detached get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
    };
};
inline detached run_detached(task<> body) { co_await std::move(body); }

/// Keeps a mode from being empty, counts the runs in it, and stops the outermost when what it waits for is done: not the runs inside it,
/// which may be of other modes, and wait for something else.
class awaited_run {
  public:
    explicit awaited_run(mode mode)
        : keeper_([] {}),
          observer_(activity::entry | activity::before_timers | activity::exit, [this](activity now) { observe(now); }) {
        loop_.add(keeper_, mode);
        loop_.add(observer_, mode);
    }
    bool is_done() const noexcept { return is_done_; }
    void done() noexcept {
        is_done_ = true;
        loop_.wake_up();
    }

  private:
    void observe(activity now) noexcept {
        depth_ += now == activity::entry ? 1 : now == activity::exit ? -1 : 0;
        if (now == activity::before_timers && is_done_ && depth_ == 1)
            loop_.stop();
    }
    loop loop_ = loop::current();
    signalled_source keeper_;
    observer observer_;
    int depth_ = 0;
    bool is_done_ = false;
};

/// Awaits a task on behalf of a run, and keeps its result for that.
template <class T> task<> done_for(task<T> body, task_result<T> &result, awaited_run &run) {
    try {
        if constexpr (std::is_void_v<T>)
            co_await std::move(body);
        else
            result.return_value(co_await std::move(body));
    } catch (...) {
        result.unhandled_exception();
    }
    run.done();
}

/// Begins a task that nothing awaits.
inline void begin(task<> &body) {
    auto awaiter = std::move(body).operator co_await();
    awaiter.await_suspend(std::noop_coroutine()).resume();
}

} // namespace detail

/// Begins a task now, which belongs to itself from then on: its frame is freed when it is done. What it throws ends the program. What is to be
/// ended or awaited is spawned in a task_scope.
inline void spawn(task<> body) { detail::run_detached(std::move(body)); }

/// Begins a task, and runs the calling thread's loop in `mode` until it is done: its result, or what it threw. If the run is stopped from
/// elsewhere the task is destroyed, and this throws EINTR. Waits nest, and the inner ones end first.
template <class T> T wait(task<T> body, mode mode = default_mode) {
    detail::awaited_run awaited(mode);
    detail::task_result<T> result;
    auto waiting = detail::done_for(std::move(body), result, awaited);
    detail::begin(waiting);
    while (!awaited.is_done())
        if (run(mode) == result::stopped && !awaited.is_done())
            throw std::system_error(EINTR, std::generic_category(), "run_loop::wait");
    return result.take();
}

namespace detail {

class sleep {
  public:
    sleep(clock::time_point date, mode mode) noexcept : date_(date), mode_(mode) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
        throw_if(timer_ && timer_->is_valid() ? EBUSY : 0, "run_loop::sleep");
        timer_.emplace(date_, timer_options(), [waiting] { waiting.resume(); });
        loop::current().add(*timer_, mode_);
    }
    void await_resume() const noexcept {}

  private:
    clock::time_point date_;
    mode mode_;
    std::optional<timer> timer_;
};

} // namespace detail

/// `co_await sleep_for(10ms)`: a timer of the thread's loop. One coroutine at a time: a second one that awaits the same object gets EBUSY.
inline detail::sleep sleep_for(length delay, mode mode = common_modes) { return {from_now(delay), mode}; }
inline detail::sleep sleep_until(clock::time_point date, mode mode = common_modes) { return {date, mode}; }

} // namespace run_loop
#endif // RUNLOOP_TASK_HPP
