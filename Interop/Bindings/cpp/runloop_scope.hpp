// runloop_scope.hpp — tasks that are ended: scopes of tasks, the first of several, limits. For C++20, on top of runloop_task.hpp.
//
// Ending a task is destroying it where it waits: it hears nothing of that but for its destructors, and what has arrived and was not taken is there
// for the next one. A task that is being executed when it is to be ended — because it calls `cancel` itself, or what it calls does, or a run that
// is nested in it — goes on until it waits again, or is done. What awaits the scope goes on after that. Only tasks are seen so: a coroutine
// of another type that a task awaits is taken to wait as soon as it has returned once.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_SCOPE_HPP
#define RUNLOOP_SCOPE_HPP
#include <cstddef>
#include <tuple>

#include "runloop_task.hpp"

namespace run_loop {
namespace detail {

/// What a scope has, as long as it or one of its tasks is there.
class scope_state {
  public:
    std::shared_ptr<branch> outer{branch::current ? branch::current->shared_from_this() : nullptr};
    std::size_t size = 0;
    std::exception_ptr error; ///< The first one.
    waiters joining;

    void add(branch &added) noexcept {
        added.at = &first_;
        added.next = first_;
        if (first_)
            first_->at = &added.next;
        first_ = &added;
        ++size;
    }
    void remove(const branch &removed) noexcept {
        *removed.at = removed.next;
        if (removed.next)
            removed.next->at = removed.at;
        --size;
    }
    /// Ends all that are not on the stack, and marks the others; also those that begin meanwhile.
    void cancel() {
        ++cancelling_;
        for (branch *it = first_; it;) {
            if (std::exchange(it->is_cancelled, true) || it->is_on_stack()) {
                it = it->next;
            } else {
                it->enter();
                it->runner.resume();
                it = first_;
            }
        }
        --cancelling_;
    }
    /// Resumes the joining coroutine, once nothing is left.
    void go_on() {
        if (size == 0 && cancelling_ == 0)
            joining.take_first().resume();
    }

  private:
    branch *first_ = nullptr;
    unsigned cancelling_ = 0;
};

/// Begins a task of a scope, and goes on when that is done, or to end it.
struct branch_body {
    task<> &body;
    branch &self;
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> runner) const noexcept {
        auto &promise = body.coroutine_.promise();
        promise.around = &self;
        promise.continuation = self.runner = runner;
        self.enter();
        return body.coroutine_;
    }
    /// What it threw.
    std::exception_ptr await_resume() const noexcept {
        return body.coroutine_.done() ? body.coroutine_.promise().error() : nullptr;
    }
    /// Destroys it.
    void end() const noexcept { body = task<>(nullptr); }
};

inline detached run_branch(task<> body, std::shared_ptr<branch> self, std::shared_ptr<scope_state> scope) {
    scope->add(*self);
    const branch_body awaited{body, *self};
    const std::exception_ptr error = co_await awaited;
    self->runner = nullptr;
    awaited.end();
    if (error && !scope->error) {
        scope->error = error;
        scope->cancel();
    }
    scope->remove(*self);
    self->step_aside();
    self->leave().resume();
    scope->go_on();
}

} // namespace detail

//===-- A scope of tasks ---------------------------------------------------------------------------------------------===//
/// Tasks that belong together, and end with the scope: a nursery, a task group. All calls are the thread's that made it; also inside its tasks.
class task_scope {
  public:
    task_scope() : state_(std::make_shared<detail::scope_state>()) {}
    task_scope(const task_scope &) = delete;
    task_scope &operator=(const task_scope &) = delete;
    /// Ends its tasks, as `cancel` does. Errors that nobody has joined for are gone with them.
    ~task_scope() { cancel(); }

    /// Begins a task now. If it throws, all others are ended, and `join` throws that; what others throw after that is gone. After `cancel`, too.
    /// Throws if there is no memory, or EINVAL or EBUSY for a task that was moved from or has begun.
    void spawn(task<> body) {
        detail::throw_if(body.refusal(), "run_loop::task_scope::spawn");
        detail::run_branch(std::move(body), std::make_shared<detail::branch>(state_->outer, state_.get()), state_);
    }
    /// Ends the tasks that are there now, and those that they begin meanwhile. Those that are being executed end when they wait next: with them, this
    /// has only begun when it returns. Otherwise the joining coroutine has been resumed before that. Twice is once.
    void cancel() noexcept {
        const auto state = state_; // The last task may have this object.
        state->cancel();
        state->go_on();
    }
    /// How many tasks have not ended.
    std::size_t size() const noexcept { return state_->size; }

    /// `co_await scope.join()`: until no task is left; throws the first error, once. One coroutine at a time: a second one gets EBUSY. A task of the
    /// scope, which would wait for itself, gets EDEADLK.
    auto join() noexcept { return join_awaiter(state_); }

  private:
    class join_awaiter {
      public:
        explicit join_awaiter(std::shared_ptr<detail::scope_state> state) noexcept : state_(std::move(state)) {}
        bool await_ready() const noexcept { return state_->size == 0; }
        template <class Promise> void await_suspend(std::coroutine_handle<Promise> waiting) {
            if constexpr (requires { waiting.promise().around; })
                for (const detail::branch *it = waiting.promise().around; it; it = it->outer())
                    detail::throw_if(it->scope == state_.get() ? EDEADLK : 0, "run_loop::task_scope::join");
            detail::throw_if(state_->joining ? EBUSY : 0, "run_loop::task_scope::join");
            waiting_.join(state_->joining, waiting);
        }
        void await_resume() const {
            if (state_->error)
                std::rethrow_exception(std::exchange(state_->error, nullptr));
        }

      private:
        std::shared_ptr<detail::scope_state> state_;
        detail::waiter waiting_;
    };
    std::shared_ptr<detail::scope_state> state_;
};

//===-- The first of several, and limits -----------------------------------------------------------------------------===//
namespace detail {

/// Where the first result goes.
template <class Result> struct race {
    bool is_decided = false;
    task_result<Result> result;
    task_scope scope;

    /// Has `take` await one of the runners, and decides if nobody has.
    template <class Runner, class Take> task<> enter(Runner runner, Take take) {
        try {
            if constexpr (std::is_void_v<awaited<Runner>>) {
                co_await std::move(runner);
                if (!is_decided)
                    take(result);
            } else {
                auto value = co_await std::move(runner);
                if (!is_decided)
                    take(result, std::move(value));
            }
        } catch (...) {
            if (!is_decided)
                result.unhandled_exception();
        }
        is_decided = true;
        scope.cancel();
    }
};

template <class T> using not_void = std::conditional_t<std::is_void_v<T>, std::monostate, T>;
template <class... Awaitables> using first_result = std::variant<not_void<awaited<Awaitables>>...>;

} // namespace detail

/// `co_await when_any(a, b, …)`: the result of the first that is done, as a std::variant whose index says which; std::monostate of one without a
/// result. What the first one throws, this throws. The others are ended. They begin in their order, and no more of them once one is done. Of two
/// that are done one after the other while one is being executed, the first one counts, and the other's result is dropped.
///
/// Of tasks, and of whatever else can be awaited and is moved here before that: `when_any(reader.line(), sleep_for(1s))`.
template <class... Awaitables> task<detail::first_result<Awaitables...>> when_any(Awaitables... awaitables) {
    static_assert(sizeof...(Awaitables) > 0, "nobody would ever be first");
    detail::race<detail::first_result<Awaitables...>> race;
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
        const auto begin = [&](auto index, auto &awaitable) {
            if (!race.is_decided)
                race.scope.spawn(race.enter(std::move(awaitable), [index](auto &first, auto &&...value) {
                    first.return_value(detail::first_result<Awaitables...>(std::in_place_index<index()>, std::move(value)...));
                }));
        };
        (begin(std::integral_constant<std::size_t, Index>(), awaitables), ...);
    }
    (std::index_sequence_for<Awaitables...>());
    co_await race.scope.join();
    co_return race.result.take();
}

/// `co_await timeout(reader.line(), 5s)`: its result, or what it throws; std::system_error with ETIMEDOUT once it has been ended because the limit
/// was over, counted from when this is awaited, by a timer in `mode`. Not before: a result that is there by then counts, also if it came after
/// the limit. With a limit of 0 it begins, and is ended if it is not done at once or in the loop's next turn.
///
/// Of what `when_any` takes.
template <class Awaitable> task<detail::awaited<Awaitable>> timeout(Awaitable awaitable, length limit, mode mode = common_modes) {
    detail::race<detail::awaited<Awaitable>> race;
    timer end(from_now(limit), {}, [&race] { race.scope.cancel(); });
    loop::current().add(end, mode);
    race.scope.spawn(
        race.enter(std::move(awaitable), [](auto &result, auto &&...value) { (result.return_value(std::move(value)), ...); }));
    co_await race.scope.join();
    if (!race.is_decided)
        throw std::system_error(ETIMEDOUT, std::generic_category(), "run_loop::timeout");
    co_return race.result.take();
}

} // namespace run_loop
#endif // RUNLOOP_SCOPE_HPP
