// runloop_async.hpp — signals, processes, changes of files, streams and connections for coroutines, C++20, on top of runloop_linux.hpp.
// What runloop_task.hpp says of awaitables holds for all of them.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_ASYNC_HPP
#define RUNLOOP_ASYNC_HPP
#include <csignal>
#include <deque>
#include <memory>
#include <string>
#include <sys/wait.h>

#include "runloop_async_streams.hpp"
#include "runloop_command.hpp"
#include "runloop_process.hpp"
#include "runloop_scope.hpp"

namespace run_loop {
namespace detail {

/// What a source has brought and nobody has taken. The source is in its mode only while somebody waits. The coroutine that has waited
/// longest gets the next one.
template <class T> class arrivals {
  public:
    arrivals(source_ref source, mode mode) : source_(source), mode_(mode) {}
    void put(T value) {
        try {
            values_.push_back(std::move(value));
        } catch (const std::bad_alloc &) {
            return lose();
        }
        tell_first();
    }
    /// Memory did not suffice for what came: it is lost, and one coroutine gets the error.
    void lose() {
        if (!error_)
            error_ = ENOMEM;
        tell_first();
    }
    /// There will be no more, and all waiting coroutines get the error.
    void fail(int error) {
        error_ = error;
        if (waiters_)
            loop::current().remove(source_, mode_);
        waiters_.resume_all();
    }

    class next {
      public:
        explicit next(arrivals &all) noexcept : all_(all) {}
        /// Before it waits.
        next(next &&) noexcept = default;
        next &operator=(next &&) = delete;
        ~next() {
            if (waiting_.leave())
                all_.leave();
        }
        bool await_ready() const noexcept { return !all_.values_.empty() || all_.error_; }
        void await_suspend(std::coroutine_handle<> waiting) {
            if (!all_.waiters_)
                loop::current().add(all_.source_, all_.mode_);
            waiting_.join(all_.waiters_, waiting);
        }
        T await_resume() {
            if (all_.values_.empty())
                // There may be memory again.
                throw_if(all_.error_ == ENOMEM ? std::exchange(all_.error_, 0) : all_.error_, "run_loop");
            T value = std::move(all_.values_.front());
            all_.values_.pop_front();
            return value;
        }

      private:
        arrivals &all_;
        waiter waiting_;
    };

  private:
    void tell_first() {
        if (!waiters_)
            return;
        const auto first = waiters_.take_first();
        leave();
        first.resume();
    }
    /// Somebody waits no more.
    void leave() noexcept {
        if (!waiters_)
            loop::current().remove(source_, mode_);
    }
    source_ref source_;
    mode mode_;
    std::deque<T> values_;
    int error_ = 0;
    waiters waiters_;
};

} // namespace detail

//===-- Signals, changes, connections that come ----------------------------------------------------------------------===//
/// A signal, caught from the constructor on; what arrives while nobody waits is kept. Of several coroutines that wait, each arrival is one's, the
/// first's.
class signals {
  public:
    explicit signals(int number, mode mode = common_modes, bool force = false)
        : source_(
              number, [this](signal_arrival arrival) { arrivals_.put(arrival); }, force),
          arrivals_(source_, mode) {}
    signals(const signals &) = delete;
    signals &operator=(const signals &) = delete;
    /// `co_await signals.next()`: a signal_arrival.
    auto next() noexcept { return detail::arrivals<signal_arrival>::next(arrivals_); }

  private:
    signal_source source_;
    detail::arrivals<signal_arrival> arrivals_;
};

/// A change, which outlives the call that reported it.
struct file_change {
    runloop_change_kind kind;
    std::string path, from;
    int error;
    bool is_directory;
};

/// The changes of a path, from the constructor on. Of several waiting coroutines, the first gets the changes that are reported together.
class file_changes {
  public:
    explicit file_changes(const char *path, watch_options options = {}, mode mode = common_modes)
        : watch_(path, options, [this](change_list list) { changed(list); }), arrivals_(watch_, mode) {}
    file_changes(const file_changes &) = delete;
    file_changes &operator=(const file_changes &) = delete;
    /// `co_await changes.next()`: at least one.
    auto next() noexcept { return detail::arrivals<std::vector<file_change>>::next(arrivals_); }

  private:
    void changed(change_list list) {
        try {
            arrivals_.put(copied(list));
        } catch (const std::bad_alloc &) {
            arrivals_.lose();
        }
    }
    static std::vector<file_change> copied(change_list list) {
        std::vector<file_change> changes;
        for (const auto &change : list)
            changes.push_back({change.kind, change.path, change.from ? change.from : "", -change.error, change.is_directory});
        return changes;
    }
    file_watch watch_;
    detail::arrivals<std::vector<file_change>> arrivals_;
};

/// Accepts the connections of a listening socket. Those that nobody waits for remain in the kernel's queue, but for a few. Several coroutines may
/// wait: each connection is that one's which has waited longest.
class acceptor {
  public:
    explicit acceptor(lent_or_given socket, listener_options options = {}, mode mode = common_modes)
        : listener_(
              std::move(socket), options, [this](descriptor connection) { arrivals_.put(std::move(connection)); },
              [this](int error) { failed(error); }),
          arrivals_(listener_, mode) {}
    acceptor(const acceptor &) = delete;
    acceptor &operator=(const acceptor &) = delete;
    /// `co_await acceptor.accept()`: a descriptor. Throws when the socket has failed for good, everywhere; while descriptors or memory have run out, it waits.
    auto accept() noexcept { return detail::arrivals<descriptor>::next(arrivals_); }
    int socket() const noexcept { return listener_.socket(); }

  private:
    void failed(int error) {
        if (error && error != EMFILE && error != ENFILE && error != ENOBUFS && error != ENOMEM)
            arrivals_.fail(error);
    }
    listener listener_;
    detail::arrivals<descriptor> arrivals_;
};

//===-- Processes ----------------------------------------------------------------------------------------------------===//
/// A program that was started. Destroyed before its end, it goes on, and is reaped by the loop.
class process {
  public:
    explicit process(const child_options &options, mode mode = common_modes) : state_(std::make_shared<state>()) {
        auto child = child::start(options, [state = state_](child_exit exit) {
            state->exit = exit;
            state->waiters.resume_all();
        });
        try {
            loop::current().add(child, mode);
        } catch (...) {
            // Nobody will have it, and no loop reaps it.
            const pid_t pid = child.pid();
            child.invalidate();
            kill(pid, SIGKILL);
            waitpid(pid, nullptr, 0);
            throw;
        }
        ref_ = child;
        runloop_source_retain(ref_.get());
        std::move(child).detach();
    }
    process(process &&other) noexcept : state_(std::move(other.state_)), ref_(std::exchange(other.ref_, child_ref(nullptr))) {}
    process &operator=(process &&) = delete;
    ~process() { runloop_source_release(ref_.get()); }
    /// Signals and the polite end: `process.child().end_by({{SIGTERM, 5s}, {SIGKILL, 0s}})`.
    child_ref child() const noexcept { return ref_; }

    /// `co_await process.end()`: a child_exit. Any number of coroutines may wait for it; they are resumed in their order.
    auto end() noexcept {
        struct awaiter {
            std::shared_ptr<state> shared;
            detail::waiter waiting;
            bool await_ready() const noexcept { return shared->exit.has_value(); }
            void await_suspend(std::coroutine_handle<> handle) noexcept { waiting.join(shared->waiters, handle); }
            child_exit await_resume() const noexcept { return *shared->exit; }
        };
        return awaiter{state_, {}};
    }

  private:
    struct state {
        std::optional<child_exit> exit;
        detail::waiters waiters;
    };
    std::shared_ptr<state> state_;
    child_ref ref_{nullptr};
};

/// `co_await process_run(options)`: runs a program to its end, a command_result. One that is destroyed before ends the program, by SIGTERM and
/// after five seconds by SIGKILL, with its group if it leads one, and the loop reaps it. Throws what a child's start does, and ENOMEM if memory
/// does not suffice for the result.
inline task<command_result> process_run(command_options options, mode mode = common_modes) {
    struct state {
        std::optional<command_result> result;
        detail::waiters waiters;
    };
    auto shared = std::make_shared<state>();
    auto command = command::start(options, [shared](const runloop_command_result &result) {
        try {
            shared->result = detail::copied(result);
        } catch (const std::bad_alloc &) {
            // The waiting coroutine finds none.
        }
        shared->waiters.resume_all();
    });
    // The loop has it until its end. What can't be added is ended, though nobody reaps it before this process ends.
    struct guard {
        run_loop::command command;
        bool leads_group;
        ~guard() {
            const runloop_child_step steps[] = {{SIGTERM, 5000000000}, {SIGKILL, 0}};
            // Unless it has ended.
            runloop_command_end_by(command.get(), steps, 2, leads_group);
            std::move(command).detach();
        }
    } guard{std::move(command), options.child.group < 0};
    loop::current().add(guard.command, mode);
    struct awaiter {
        std::shared_ptr<state> shared;
        detail::waiter waiting;
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> handle) noexcept { waiting.join(shared->waiters, handle); }
        void await_resume() const noexcept {}
    };
    // Named: g++ before 13 destroys an aggregate twice that is a temporary of a co_await expression.
    awaiter end{shared, {}};
    co_await end;
    detail::throw_if(shared->result ? 0 : ENOMEM, "process_run");
    co_return std::move(*shared->result);
}

} // namespace run_loop
#endif // RUNLOOP_ASYNC_HPP
