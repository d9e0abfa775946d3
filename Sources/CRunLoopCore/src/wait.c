// wait.c — the one wait of an iteration, and the choice of what to serve after it: the due timers, one descriptor, the main queue,
// or nothing.
//
// The kernel is asked only what user space can't know: a poll of a mode without descriptors makes no system call. Due timers and
// ready descriptors take turns (R43, R76). What was reported and not yet served is chosen before the kernel is asked again.
//
// The race to sleep: the sleep is announced first (the wake word, `sleeping_in`), then the loop looks for work and computes its
// deadline, all under the lock. So who adds work before the look is seen by it, and who adds it later sees the announcement.

#include "wake.h"

static inline bool timers_are_due(struct run *run) {
    return run->mode->timers.count > 0 && runloop__timers_are_due(run->mode, runloop_now_ns());
}

/// Whether the kernel may know of something that is ready. A look at the main queue in the same iteration is as good as a poll.
static bool has_descriptors(struct run *run) {
    return (run->serves_main_queue && !run->looked_at_main_queue) ||
           atomic_load_explicit(&run->mode->descriptor_count, memory_order_relaxed) > 0;
}

/// HOLDS: loop, but lets go of it to ask the kernel.
static void poll_kernel(struct run *run) {
    runloop *loop = run->loop;
    int count;
    do {
        if (atomic_load_explicit(&loop->ports_need_a_look, memory_order_relaxed))
            runloop__ports_prepare_wait(run);
        runloop__unlock(loop);
        count = runloop__portset_wait(loop, 0, &run->timer_ended_wait);
        if (count <= 0)
            runloop__lock(loop);
        // A full batch of descriptors that only other modes want would hide the rest.
        if (count == RUNLOOP__BATCH && !runloop__port_is_ready(run))
            runloop__ports_narrow(run);
    } while (count == RUNLOOP__BATCH && !runloop__port_is_ready(run));
}

enum asks { ASKS_NOT, ASKS_IF_TIMERS_ARE_DUE, ASKS };

/// HOLDS: loop. Chooses what is known to be ready, if it is its turn.
static inline bool choose_known(struct run *run, bool timers_are_due) {
    if (timers_are_due && !run->loop->timers_served_last) {
        run->choice = CHOICE_TIMERS;
        return true;
    }
    return runloop__port_choose(run);
}

/// HOLDS: loop. Chooses without sleeping; `asks` tells whether the kernel is asked when nothing is known to be ready.
static bool choose(struct run *run, enum asks asks) {
    bool due = timers_are_due(run);
    if (choose_known(run, due))
        return true;
    if ((asks == ASKS || (due && asks == ASKS_IF_TIMERS_ARE_DUE)) && has_descriptors(run)) {
        poll_kernel(run);
        if (runloop__port_choose(run))
            return true;
    }
    if (due)
        run->choice = CHOICE_TIMERS;
    return due;
}

//===-- sleeping -----------------------------------------------------------------------------------------------------===//

static inline bool limit_has_passed(struct run *run) {
    return run->deadline_ns != RUNLOOP_NEVER && runloop_now_ns() >= run->deadline_ns;
}

static inline bool stop_is_remembered(struct run *run) {
    return atomic_load(&run->loop->latched_stop) || atomic_load(&run->mode->stop_requested);
}

/// HOLDS: loop; the sleep is announced. Is there something to do, so that the wait takes no time? Due timers are `choose`'s.
static inline bool has_work(struct run *run) {
    runloop *loop = run->loop;
    return stop_is_remembered(run) ||
           (runloop__source_may_be_signalled(loop) && runloop__source_any_signalled(loop, run->mode)) ||
           (runloop__perform_may_have_work(loop) && runloop__perform_any_pending(loop, run->mode)) ||
           limit_has_passed(run) || runloop__mode_is_empty(loop, run->mode);
}

/// HOLDS: loop, but may let go of it to ask the kernel. What is reported stays so for the wait, which serves it first.
static bool would_sleep(struct run *run) {
    if (run->limit_ns <= 0 || wake_has_news(run->loop) || has_work(run) || timers_are_due(run))
        return false;
    if (!runloop__port_is_ready(run) && has_descriptors(run))
        poll_kernel(run);
    return !runloop__port_is_ready(run);
}

bool runloop_is_idle(runloop *loop) {
    if (!loop || !runloop_is_current(loop) || !loop->run)
        return false;
    runloop__lock(loop);
    bool idle = would_sleep(loop->run);
    runloop__unlock(loop);
    return idle;
}

/// HOLDS: loop. How long the kernel may take, with the timer descriptor armed for the timers. A limit is part of the wait itself; so
/// are the timers where a timer descriptor can't be had.
static inline int64_t arm(struct run *run) {
    runloop *loop = run->loop;
    int64_t wake_ns = runloop__timers_latest(run->mode), end_ns = run->deadline_ns;
    if (wake_ns != RUNLOOP_NEVER) {
        // Armed for earlier: left so, since a wake that serves nobody is rarer than a date that moves back.
        bool armed = loop->armed_ns <= wake_ns && loop->armed_ns > runloop_now_ns();
        if (!armed && runloop__portset_arm(loop, wake_ns) && wake_ns < end_ns)
            end_ns = wake_ns;
    }
    if (end_ns == RUNLOOP_NEVER)
        return RUNLOOP_FOREVER;
    int64_t left_ns = runloop__saturating_add(end_ns, -runloop_now_ns());
    return left_ns > 0 ? left_ns : 0;
}

/// HOLDS: loop, but lets go of it to sleep. Sleeps until there is something to tell of: a choice, a wake-up, a stop, the limit, or that
/// the mode was emptied. Whatever else ends the kernel's wait (a signal, a timer that is no more, a descriptor that only other
/// modes want) is nobody's business.
static void sleep_until_something_happens(struct run *run) {
    runloop *loop = run->loop;
    for (;;) {
        if (atomic_load_explicit(&loop->ports_need_a_look, memory_order_relaxed)) {
            runloop__ports_prepare_wait(run);
            runloop__ports_narrow(run);
        }
        int64_t timeout_ns = arm(run);
        run->timer_ended_wait = false;
        runloop__unlock(loop);
        int64_t wait_ns = run->leaves_main_queue ? runloop__main_queue_limit_wait(run, timeout_ns) : timeout_ns;
        int count = runloop__portset_wait(loop, wait_ns, &run->timer_ended_wait);
        if (count <= 0)
            runloop__lock(loop);
        run->timer_ended_wait |= count == 0 && wait_ns == timeout_ns && timeout_ns != RUNLOOP_FOREVER;
        bool woken = runloop__wake_was_woken(loop);
        if (choose(run, ASKS_NOT) || woken || stop_is_remembered(run) || limit_has_passed(run) ||
            runloop__mode_is_empty(loop, run->mode))
            return;
    }
}

//===-- the wait of an iteration -------------------------------------------------------------------------------------===//

/// Whether there may be something to choose that is known without asking the kernel. Needs no lock.
static bool may_know_something(struct run *run) {
    return atomic_load_explicit(&run->mode->timer_count, memory_order_relaxed) > 0 ||
           atomic_load_explicit(&run->loop->ports_need_a_look, memory_order_relaxed);
}

static void poll(struct run *run) {
    runloop *loop = run->loop;
    bool knows = may_know_something(run);
    int count = 0;
    if (knows)
        runloop__lock(loop);
    else if (has_descriptors(run))
        count = runloop__portset_wait(loop, 0, &run->timer_ended_wait);
    bool idle = !knows && count <= 0;
    if (!idle) {
        runloop__timers_trim(run->mode);
        // A full batch may be all of other modes' descriptors.
        choose(run, knows || count == RUNLOOP__BATCH ? ASKS : ASKS_NOT);
        runloop__unlock(loop);
    }
    // The poll consumes a wake-up, and later ones are ignored until the next iteration (R48). Where no call-out comes before
    // that, nobody can tell "later" from "then".
    if (!idle || wake_has_news(loop) || runloop__perform_may_have_work(loop))
        wake_finish_wait(loop);
}

static void sleep_or_find_work(struct run *run) {
    runloop *loop = run->loop;
    if (atomic_load_explicit(&loop->spin_limit_ns, memory_order_relaxed) > 0 && !may_know_something(run))
        runloop__spin(run);
    runloop__lock(loop);
    runloop__timers_trim(run->mode);
    bool knows = may_know_something(run);
    // What is known already is chosen whatever else there is, and needs no announcement.
    if (!knows || !choose_known(run, timers_are_due(run))) {
        loop->sleeping_in = run->mode;
        bool woken = runloop__wake_announce_sleep(loop);
        if (woken || has_work(run))
            choose(run, ASKS);
        else if (!knows || !choose(run, ASKS_IF_TIMERS_ARE_DUE))
            sleep_until_something_happens(run);
        loop->sleeping_in = NULL;
    }
    runloop__unlock(loop);
    wake_finish_wait(loop);
}

void runloop__wait(struct run *run, bool polls) {
    run->choice = CHOICE_NONE;
    run->timer_ended_wait = false;
    if (polls)
        poll(run);
    else
        sleep_or_find_work(run);
    if (run->leaves_main_queue)
        runloop__main_queue_limit_wait(run, 0);
}

bool runloop__wait_choose_main_queue(struct run *run) {
    run->looked_at_main_queue = true;
    if (!runloop__main_queue_look(run))
        return false;
    runloop__lock(run->loop);
    runloop__port_take_in_hand(run, PORT_MAIN_QUEUE);
    runloop__unlock(run->loop);
    return true;
}

//===-- the look without a wait --------------------------------------------------------------------------------------===//

/// HOLDS: loop.
static bool knows_of_work(struct run *run) {
    return stop_is_remembered(run) || runloop__source_any_signalled(run->loop, run->mode) ||
           runloop__perform_any_pending(run->loop, run->mode) || timers_are_due(run) || runloop__port_is_ready(run);
}

bool runloop_has_work(const char *name) {
    runloop *loop = runloop_current();
    struct mode *mode = loop && name ? runloop__find_mode(loop, name) : NULL;
    if (!mode)
        return false;
    struct run look = {.loop = loop, .mode = mode, .deadline_ns = RUNLOOP_NEVER};
    look.serves_main_queue =
        loop->may_have_main_queue && atomic_load(&mode->is_common) && runloop__main_queue_watch(loop);
    runloop__lock(loop);
    bool found = knows_of_work(&look);
    if (!found && has_descriptors(&look)) {
        // What the kernel reports stays noted for the run that will serve it.
        poll_kernel(&look);
        found = runloop__port_is_ready(&look);
    }
    runloop__unlock(loop);
    return found;
}
