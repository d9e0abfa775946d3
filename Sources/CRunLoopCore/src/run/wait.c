// wait.c — the one wait of an iteration, in four steps: look, arm, poll, select.
//
//   look     Is there anything to do, so that the loop must not sleep? (work.h)
//   arm      When must a sleep end, for the mode's timers and the run's limit?
//   poll     The kernel waits. No lock is held.
//   select   What was reported is noted, and one event is selected: the due timers, a descriptor, or the main queue.
//
// The kernel is asked only what user space can't know: a wait that takes no time makes no system call in a mode without descriptors. Due
// timers and ready descriptors take turns (R43, R76). What was reported and not yet served is selected before the kernel is asked again.
//
// The race to sleep: the sleep is announced first (the wake word, `sleeping_in`), then the loop looks and arms. Work that is added before
// the look is seen by it; whoever adds work later sees the announcement.

#ifdef __linux__
#include <poll.h>

#include "model/heap.h"
#include "run/work.h"

//===-- select -------------------------------------------------------------------------------------------------------===//

/// Whether there may be something to select that is known without asking the kernel.
INLINE bool may_know_something(const struct run *run) {
    return news_have(run->loop, run->mode, NEWS_READY | NEWS_ASIDE) || heap_count(&run->mode->timers) > 0;
}

INLINE uint32_t how_to_select(const struct run *run) {
    uint32_t observed = atomic_load_explicit(&run->mode->observed, memory_order_relaxed);
    return (run->serves_main_queue ? WITH_MAIN_QUEUE : 0) |
           (run->is_pass || (observed & RUNLOOP_ACTIVITY_AFTER_WAITING) ? SERVED_LATER : 0);
}

/// Selects an event that is known to be ready. Due timers and what else is ready take turns; timers that the loop served last go only if
/// `yields`.
HOLDS_LOCK INLINE bool select_event(struct run *run, bool yields) {
    bool were_served = run->loop->timers_served_last;
    run->timers_are_due = timers_are_due_in(run);
    if ((!run->timers_are_due || were_served) &&
        runloop__ready_select(run->loop, run->mode, how_to_select(run), &run->selection))
        return true;
    bool are_selected = run->timers_are_due && (yields || !were_served);
    run->selection.kind = are_selected ? SELECTED_TIMERS : SELECTED_NOTHING;
    return are_selected;
}

INLINE bool select_known(struct run *run, bool yields) {
    runloop *loop = run->loop;
    run->timers_are_due = false;
    if (!may_know_something(run))
        return false;
    loop_lock(loop);
    if (run->mode->timers.capacity > HEAP_KEPT)
        heap_trim(&run->mode->timers);
    if (news_have(loop, run->mode, NEWS_ASIDE))
        runloop__ready_prepare(loop, run->mode, false);
    bool selected = select_event(run, yields);
    loop_unlock(loop);
    return selected;
}

//===-- arm ----------------------------------------------------------------------------------------------------------===//

/// The instant at which the wait itself must end. Timers that are not due yet are the timer descriptor's, if that can be armed.
HOLDS_LOCK static int64_t arm_timers(struct run *run) {
    runloop *loop = run->loop;
    int64_t wake_ns = registrations_retry(loop, runloop__timers_latest(run->mode)), end_ns = run->deadline_ns;
    bool is_armed = wake_ns == RUNLOOP_NEVER || loop_is_armed(loop, wake_ns) ||
                    (wake_ns > loop_now(loop) && loop_arm(loop, wake_ns) == 0);
    return is_armed || end_ns < wake_ns ? end_ns : wake_ns;
}

/// How long the kernel may take; -ECHILD if the loop's clock forked, and this is the child.
INLINE int64_t arm(struct run *run) {
    runloop *loop = run->loop;
    int64_t end_ns = run->deadline_ns;
    bool any_closed = false;
    run->set_is_stale = false;
    if (heap_count(&run->mode->timers) > 0 || news_have(loop, run->mode, NEWS_UNPREPARED | NEWS_ASIDE)) {
        loop_lock(loop);
        runloop__ready_prepare(loop, run->mode, true);
        run->set_is_stale = loop->registrations.set_is_stale;
        end_ns = arm_timers(run);
        any_closed = loop->registrations.closed;
        loop_unlock(loop);
    }
    if (any_closed)
        runloop__note_closed(loop);
    int64_t left_ns = end_ns == RUNLOOP_NEVER ? RUNLOOP_FOREVER : saturating_add(end_ns, -loop_now(loop));
    if (left_ns <= 0)
        return 0;
    return loop->clock.now ? runloop__clock_wait(run, left_ns) : left_ns;
}

//===-- poll ---------------------------------------------------------------------------------------------------------===//

/// The kernel has nothing to report.
static COLD int select_unreported(struct run *run, int count) {
    select_known(run, true);
    return count < 0 ? count : 0;
}

/// A pass serves all that is ready, and so do sources that are called together; the kernel has reported a full batch. The lock is not held
/// meanwhile, since the thread may be cancelled there.
HOLDS_LOCK static COLD void report_the_rest(runloop *loop) {
    enum { MORE_BATCHES = 15 };
    loop_unlock(loop);
    for (int i = 0, count = POLLER_BATCH; i < MORE_BATCHES && count == POLLER_BATCH; i++)
        count = runloop__registrations_poll(loop);
    loop_lock(loop);
}

/// Waits, then notes what was reported, and selects. How many events there were.
INLINE int poll_and_select(struct run *run, int64_t timeout_ns) {
    runloop *loop = run->loop;
    poller_event events[POLLER_BATCH];
    if (run->starves_main_queue && timeout_ns != 0) {
        timeout_ns = runloop__main_queue_limit_wait(loop, timeout_ns);
        run->starves_main_queue = runloop__main_queue_is_starved(loop);
    }
    int count = runloop__poller_wait(&loop->poller, timeout_ns, events);
    // The eventfd has nothing to say that the wake word doesn't.
    if (count == 0 || count == -EINTR || (count == 1 && events[0].data.u64 == TAG_WAKER))
        return select_unreported(run, count);
    loop_lock(loop);
    runloop__registrations_report(loop, events, count);
    if (count == POLLER_BATCH && (run->is_pass || runloop__ready_any_together(loop)))
        report_the_rest(loop);
    select_event(run, true);
    loop_unlock(loop);
    return count;
}

/// Asks the kernel without sleeping.
static COLD void poll_and_select_all(struct run *run) {
    runloop *loop = run->loop;
    // A full batch of descriptors that only other modes want would hide the rest.
    for (int count = POLLER_BATCH; count == POLLER_BATCH && run->selection.kind == SELECTED_NOTHING;) {
        if (news_have(loop, run->mode, NEWS_UNPREPARED | NEWS_ASIDE)) {
            loop_lock(loop);
            runloop__ready_prepare(loop, run->mode, true);
            bool any_closed = loop->registrations.closed;
            loop_unlock(loop);
            if (any_closed)
                runloop__note_closed(loop);
        }
        count = poll_and_select(run, 0);
    }
}

/// Something is selected that was known already. A pass serves what the kernel alone knows of besides. So that sources which are signalled in
/// each of their calls, or due again, keep no descriptor from its turn, that is noted beside them (R154).
INLINE void ask_besides(struct run *run) {
    bool is_of_kernel = run->selection.reasons & ~(OWN_REASONS | IS_ASIDE);
    if (run->is_pass && has_descriptors(run))
        poll_and_select(run, 0);
    else if (run->selection.kind == SELECTED_SOURCE && !is_of_kernel && has_descriptors(run))
        runloop__registrations_poll(run->loop);
}

/// Selects what is ready, without sleeping.
static void poll_if_useful(struct run *run) {
    if (has_descriptors(run))
        poll_and_select_all(run);
    else
        select_known(run, true);
}

//===-- the wait -----------------------------------------------------------------------------------------------------===//

enum { PAUSE_MS = 1 };

/// The kernel's wait is over, and nothing is selected: was there another reason? Only a wake-up, a stop, the limit, or that the mode is empty.
/// Whatever else ends the kernel's wait (a signal, a timer that was removed, a descriptor that only other modes want) is nobody's business.
static COLD int find_reason(struct run *run, int count, bool *is_over) {
    // The program closed the set, or it has a stale entry, and there was no new one to be had; or a sandbox refuses to wait. It is tried again,
    // but not all the time.
    if ((count < 0 && count != -EINTR) || (count > 0 && run->set_is_stale))
        poll(NULL, 0, PAUSE_MS);
    uint32_t news = wake_take_news(&run->loop->wake);
    *is_over = run->selection.kind != SELECTED_NOTHING || (news & WAKE_WOKEN) || stop_is_pending(run) ||
               limit_has_passed(run) || run_is_of_empty_mode(run);
    // A thread that kicks again while the word says so writes nothing. So the kick that was just taken may be one that came after the last
    // look.
    return count == 0 && (news & WAKE_KICKED) ? 1 : count;
}

/// The kernel waits, at most so long. How many events there were, a kick included. `*is_over`: there is something to do.
INLINE int sleep_once(struct run *run, int64_t timeout_ns, bool *is_over) {
    int count = poll_and_select(run, timeout_ns);
    *is_over = run->selection.kind != SELECTED_NOTHING && !run->set_is_stale;
    return *is_over ? count : find_reason(run, count, is_over);
}

/// Selects what there is to do. False if the run is to sleep, which is announced then.
INLINE bool find_work(struct run *run) {
    runloop *loop = run->loop;
    // What is known already is selected whatever else there is, and needs no announcement.
    if (select_known(run, false)) {
        ask_besides(run);
        return true;
    }
    atomic_store_explicit(&loop->sleeping_in, run->mode, memory_order_relaxed);
    bool was_woken = wake_announce_sleep(&loop->wake);
    if (!was_woken && !has_work(run) && !run_is_of_empty_mode(run))
        return false;
    poll_if_useful(run);
    return true;
}

/// A tracer follows sleeps alone: with one, the kernel is asked first whether it has something to report at once. A clock of the program's
/// is asked once per sleep, so with one the loop counts as asleep.
INLINE void sleep_until_over(struct run *run, bool polls_first) {
    bool is_over = false, sleeps = !polls_first || run->loop->clock.now;
    if (sleeps)
        trace_point(RUNLOOP_TRACE_SLEEP, run->mode->name, 0);
    for (int64_t timeout_ns; !is_over && (timeout_ns = arm(run)) >= 0;) {
        sleep_once(run, sleeps ? timeout_ns : 0, &is_over);
        if (!sleeps && !is_over)
            trace_point(RUNLOOP_TRACE_SLEEP, run->mode->name, 0);
        sleeps |= !is_over;
    }
    run_finish_sleep(run);
    if (sleeps)
        trace_point(RUNLOOP_TRACE_WAKE, run->mode->name, 0);
}

static COLD void sleep_traced(struct run *run) {
    sleep_until_over(run, true);
}

/// The set could not be asked, or has an entry that could not be taken out.
static bool has_failed(const struct run *run, int count) {
    return (count < 0 && count != -EINTR) || (count > 0 && run->set_is_stale);
}

/// The host sleeps, and only waits for changes. So the kernel and the loop's clock are asked until they have nothing more to report. False if
/// the host is to sleep.
static COLD bool look_for_host(struct run *run) {
    int failures = 0;
    for (int64_t timeout_ns; (timeout_ns = arm(run)) >= 0;) {
        bool is_over;
        int count = sleep_once(run, 0, &is_over);
        if (is_over)
            break;
        failures = has_failed(run, count) ? failures + 1 : 0;
        // The first failure makes the set anew.
        bool asks_again = failures ? failures < 2 : count > 0 || (timeout_ns == 0 && run->loop->clock.now);
        // With a set that fails, or a timer descriptor that could not be armed, the host has to ask again and again.
        if (failures || (!asks_again && timeout_ns != RUNLOOP_FOREVER))
            run_notify_host(run->loop);
        if (!asks_again)
            return false;
    }
    run_finish_sleep(run);
    return true;
}

INLINE bool sleep_or_find_work(struct run *run) {
    if (find_work(run)) {
        run_finish_sleep(run);
        return true;
    }
    if (!run->is_hosted) {
        is_traced() ? sleep_traced(run) : sleep_until_over(run, false);
        return true;
    }
    if (look_for_host(run))
        return true;
    trace_point(RUNLOOP_TRACE_SLEEP, run->mode->name, 0);
    return false;
}

bool runloop__wait_resume(struct run *run) {
    runloop *loop = run->loop;
    // Announced again: whoever comes after the look finds it.
    bool looks = run->looks_again;
    run->looks_again = run->timers_are_due = false;
    if (wake_has_news(&loop->wake) || (looks && (wake_announce_sleep(&loop->wake) || has_work(run)))) {
        // The kernel need not be asked before the next sleep. Meanwhile the set stays readable: the loop's last question came before this
        // news and the write that went with it.
        loop->poller.is_readable = true;
        select_known(run, true);
        run_finish_sleep(run);
    } else if (!look_for_host(run)) {
        return false;
    }
    trace_point(RUNLOOP_TRACE_WAKE, run->mode->name, 0);
    return true;
}

bool runloop__wait(struct run *run, bool may_sleep) {
    runloop *loop = run->loop;
    if (may_sleep) {
        if (!sleep_or_find_work(run))
            return false;
    } else {
        if (select_known(run, !has_descriptors(run)))
            ask_besides(run);
        else if (has_descriptors(run))
            poll_and_select_all(run);
        // A wait that takes no time consumes a wake-up, too, and later ones are ignored until the next iteration (R48). Where no call-out
        // comes before that, nobody can distinguish "later" from "then".
        if (run->selection.kind != SELECTED_NOTHING || wake_has_news(&loop->wake) || tasks_may_wait(loop))
            run_finish_wait(run);
    }
    if (run->starves_main_queue) {
        runloop__main_queue_limit_wait(loop, 0);
        run->starves_main_queue = runloop__main_queue_is_starved(loop);
    }
    return true;
}

bool runloop__wait_select_main_queue(struct run *run) {
    runloop *loop = run->loop;
    if (!runloop__main_queue_poll(loop))
        return false;
    loop_lock(loop);
    runloop__ready_select_main_queue(loop, &run->selection);
    loop_unlock(loop);
    return true;
}
#endif // __linux__
