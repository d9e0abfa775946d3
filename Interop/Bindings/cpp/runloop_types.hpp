// runloop_types.hpp — the words of runloop.hpp, which includes it: results, sets, modes, durations and instants.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_TYPES_HPP
#define RUNLOOP_TYPES_HPP
#if __cplusplus < 201703L
#error "runloop.hpp needs C++17: the option is -std=c++17, or a later one."
#endif
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <type_traits>

#include "runloop.h"

namespace run_loop {

//===-- Words --------------------------------------------------------------------------------------------------------===//
/// Why a run ended.
enum class result {
    finished = RUNLOOP_RESULT_FINISHED,             ///< Nothing can ever happen in the mode.
    stopped = RUNLOOP_RESULT_STOPPED,               ///< It was stopped.
    timed_out = RUNLOOP_RESULT_TIMED_OUT,           ///< The limit was reached.
    handled_source = RUNLOOP_RESULT_HANDLED_SOURCE, ///< A source was handled, and the caller had asked to return then.
};

/// The activities of which a loop notifies its observers; a set of them.
enum class activity : runloop_activity {
    entry = RUNLOOP_ACTIVITY_ENTRY,
    before_timers = RUNLOOP_ACTIVITY_BEFORE_TIMERS,
    before_sources = RUNLOOP_ACTIVITY_BEFORE_SOURCES,
    before_waiting = RUNLOOP_ACTIVITY_BEFORE_WAITING,
    after_waiting = RUNLOOP_ACTIVITY_AFTER_WAITING,
    exit = RUNLOOP_ACTIVITY_EXIT,
    all = RUNLOOP_ACTIVITY_ALL,
};

/// Conditions of a descriptor; a set of them. `none` pauses a source.
enum class readiness : runloop_readiness {
    none = 0,
    readable = RUNLOOP_READABLE,
    priority = RUNLOOP_PRIORITY,
    writable = RUNLOOP_WRITABLE,
    error = RUNLOOP_ERROR,
    hang_up = RUNLOOP_HANG_UP,
};

template <class Set> inline constexpr bool is_set = std::is_same_v<Set, activity> || std::is_same_v<Set, readiness>;
/// The union of two sets, and whether they have a member in common.
template <class Set, class = std::enable_if_t<is_set<Set>>> constexpr Set operator|(Set a, Set b) noexcept {
    return Set(std::underlying_type_t<Set>(a) | std::underlying_type_t<Set>(b));
}
template <class Set, class = std::enable_if_t<is_set<Set>>> constexpr bool has(Set a, Set b) noexcept {
    return (std::underlying_type_t<Set>(a) & std::underlying_type_t<Set>(b)) != 0;
}

/// What a C function returned, if it is not an error.
template <class Outcome> Outcome check(Outcome outcome, const char *function) {
    if (outcome < 0)
        throw std::system_error(int(-outcome), std::generic_category(), function);
    return outcome;
}

/// The name of a mode, which lives as long as the process. As cheap to copy as a pointer.
class mode {
  public:
    /// A mode of the program's own. Throws for NULL and if memory ran out. O(log names).
    explicit mode(const char *name) : name_(runloop_mode_name(name)) {
        check(name_ ? 0 : name ? -ENOMEM : -EINVAL, "runloop_mode_name");
    }
    /// From a name that lives as long as the process anyway: a constant, or what the C library returned.
    static constexpr mode of_constant(const char *name) noexcept { return {name, 0}; }
    constexpr const char *name() const noexcept { return name_; }
    friend bool operator==(mode a, mode b) noexcept { return std::strcmp(a.name_, b.name_) == 0; }
    friend bool operator!=(mode a, mode b) noexcept { return !(a == b); }

  private:
    constexpr mode(const char *name, int) noexcept : name_(name) {}
    const char *name_;
};
inline constexpr mode default_mode = mode::of_constant(RUNLOOP_DEFAULT_MODE);
inline constexpr mode common_modes = mode::of_constant(RUNLOOP_COMMON_MODES);
inline constexpr mode tracking_mode = mode::of_constant(RUNLOOP_TRACKING_MODE);

//===-- Time ---------------------------------------------------------------------------------------------------------===//
/// The clock of the calling thread's loop: CLOCK_MONOTONIC, unless the loop has another one.
struct clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<clock>;
    static constexpr bool is_steady = true;
    static time_point now() noexcept { return time_point(duration(runloop_now_ns())); }
};
/// The limit that is never reached and the interval of a timer that is set by hand each time; the date that never comes.
inline constexpr clock::duration forever{RUNLOOP_FOREVER};
inline constexpr clock::time_point never{forever};

/// Any duration, in nanoseconds. One that is too long for them is `forever`, so hours::max() means what it says.
struct length {
    int64_t ns;
    template <class Rep, class Period> constexpr length(std::chrono::duration<Rep, Period> d) noexcept : ns(RUNLOOP_FOREVER) {
        using wide = std::chrono::duration<long double>;
        if (wide(d) <= wide(clock::duration::min()))
            ns = INT64_MIN;
        else if (wide(d) < wide(clock::duration::max()))
            ns = std::chrono::duration_cast<clock::duration>(d).count();
    }
};

/// The instant so far from now; `never` if that is beyond counting.
inline clock::time_point from_now(length delay) noexcept {
    int64_t instant;
    if (__builtin_add_overflow(runloop_now_ns(), delay.ns, &instant))
        return delay.ns > 0 ? never : clock::time_point();
    return clock::time_point(clock::duration(instant));
}

} // namespace run_loop
#endif // RUNLOOP_TYPES_HPP
