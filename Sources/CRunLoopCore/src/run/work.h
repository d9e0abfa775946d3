// work.h — what ends a run, and what a run may have to do: the one list of each. Whoever decides whether to sleep, to go on or to take a
// short cut asks here. A further stop goes into `stop_is_remembered` and `stop_take`, further work into `may_have_work` and `has_work`.
#ifndef RUNLOOP_WORK_H
#define RUNLOOP_WORK_H

#include "run/run.h"

//===-- what ends a run ----------------------------------------------------------------------------------------------===//

/// A stop that also ends the next run, if nothing runs at this moment: of the loop, or of the mode.
INLINE bool stop_is_remembered(const struct run *run) {
    return atomic_load(&run->loop->latched_stop) || atomic_load(&run->mode->stop_requested);
}

/// Is the innermost run to stop? One that is stopped as it is, by its wake word, forgets that with its end.
INLINE bool stop_is_pending(const struct run *run) {
    return (wake_word(&run->loop->wake) & WAKE_STOPPED) || stop_is_remembered(run);
}

INLINE bool take(_Atomic bool *request) {
    return atomic_load_explicit(request, memory_order_relaxed) && atomic_exchange(request, false);
}

/// Takes one stop, the nearest: true if there was one, and the run ends.
INLINE bool stop_take(struct run *run) {
    return wake_take_stop(&run->loop->wake) || take(&run->loop->latched_stop) || take(&run->mode->stop_requested);
}

INLINE bool run_is_of_empty_mode(const struct run *run) {
    return !run->is_guest && mode_is_empty(run->loop, run->mode);
}

INLINE bool limit_has_passed(const struct run *run) {
    return run->deadline_ns != RUNLOOP_NEVER && loop_now(run->loop) >= run->deadline_ns;
}

//===-- what there is to do ------------------------------------------------------------------------------------------===//

HOLDS_LOCK INLINE bool timers_are_due_in(const struct run *run) {
    return heap_count(&run->mode->timers) > 0 && timers_are_due(run->loop, run->mode, loop_now(run->loop));
}

/// Whether the kernel may know of something that is ready.
INLINE bool has_descriptors(const struct run *run) {
    return run->serves_main_queue || atomic_load_explicit(&run->mode->watched_count, memory_order_relaxed) > 0;
}

/// Is there anything on the ready list that the mode wants served?
HOLDS_LOCK INLINE bool any_ready(const struct run *run) {
    return runloop__ready_any(run->loop, run->mode, run->serves_main_queue);
}

/// Tasks and signals, by words that are read without a lock. True may be wrong, false is not.
INLINE bool may_have_calls(const struct run *run) {
    return tasks_may_wait(run->loop) || signals_may_wait(run->loop, run->mode);
}

/// Everything but timers, the run's limit and what is on the ready list, likewise.
INLINE bool may_have_work(const struct run *run) {
    return stop_is_remembered(run) || may_have_calls(run);
}

bool runloop__any_signalled(const struct run *run);

/// Is there something to do, so that the loop must not sleep? Descriptors aside, about which the wait asks, and what the wake word says, which
/// the announcement of the sleep returns.
INLINE bool has_work(const struct run *run) {
    return run->timers_are_due || stop_is_remembered(run) ||
           (signals_may_wait(run->loop, run->mode) && runloop__any_signalled(run)) ||
           (tasks_may_wait(run->loop) && runloop__tasks_any(run->loop, run->mode)) || limit_has_passed(run);
}

#endif // RUNLOOP_WORK_H
