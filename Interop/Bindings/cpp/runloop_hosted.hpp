// runloop_hosted.hpp — runs inside another loop, which owns the thread (runloop_host.h). Where an error is no answer, it is a
// std::system_error, as in runloop.hpp.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_HOSTED_HPP
#define RUNLOOP_HOSTED_HPP
#include <utility>

#include "runloop_types.hpp"

namespace run_loop {

/// What a hosted run has to say to its host.
enum class hosted_state {
    sleeps,       ///< Wait for the descriptor to be readable.
    has_more,     ///< The budget is used up; the descriptor is readable.
    finished,     ///< The run has ended, as `result` says: nothing can ever happen in the mode,
    stopped,      ///< it was stopped,
    timed_out,    ///< its limit was reached,
    handled_once, ///< or a source was handled.
};

/// A run of the calling thread's loop whose sleep is the host's: begun by the constructor, ended by the destructor at the latest, on
/// the same thread. Runs nest, so they end in the reverse order of their beginnings.
class hosted_run {
  public:
    /// What the host waits for, for reading, and otherwise leaves alone: the same number until the thread ends.
    static int descriptor() { return check(runloop_hosted_descriptor(), "runloop_hosted_descriptor"); }

    /// Begins. It may be over at once: the mode is empty, or a stop was remembered.
    explicit hosted_run(mode mode = default_mode)
        : state_(state_of(check(runloop_hosted_begin(mode.name()), "runloop_hosted_begin"), hosted_state::has_more)) {}
    hosted_run(hosted_run &&other) noexcept : state_(std::exchange(other.state_, hosted_state::finished)) {}
    hosted_run &operator=(hosted_run &&) = delete;
    /// Inside a callback of the run this does nothing: the run ends when that returns, if the host has not gone on with it.
    ~hosted_run() { end(); }

    /// Whole iterations, until the loop would sleep or the budget is used up. 0 is one iteration. Not after the end: EINVAL.
    hosted_state iterate(length budget = std::chrono::milliseconds(1)) {
        const int outcome = runloop_hosted_iterate(budget.ns);
        state_ =
            outcome == -EAGAIN ? hosted_state::has_more : state_of(check(outcome, "runloop_hosted_iterate"), hosted_state::sleeps);
        return state_;
    }
    /// What `iterate` has said last.
    hosted_state state() const noexcept { return state_; }
    bool has_ended() const noexcept { return state_ > hosted_state::has_more; }
    /// Ends the run. Twice is once.
    void end() noexcept {
        if (!has_ended() && runloop_hosted_end() == 0)
            state_ = hosted_state::stopped;
    }

  private:
    static hosted_state state_of(int outcome, hosted_state unfinished) noexcept {
        switch (outcome) {
        case 0: return unfinished;
        case RUNLOOP_RESULT_STOPPED: return hosted_state::stopped;
        case RUNLOOP_RESULT_TIMED_OUT: return hosted_state::timed_out;
        case RUNLOOP_RESULT_HANDLED_SOURCE: return hosted_state::handled_once;
        default: return hosted_state::finished;
        }
    }
    hosted_state state_;
};

} // namespace run_loop
#endif // RUNLOOP_HOSTED_HPP
