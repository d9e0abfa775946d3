// report.c — what there is to say about a loop, gathered.

#ifdef __linux__
#include "report.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "followed.h"
#include "stack.h"

//===-- what the loop does now ---------------------------------------------------------------------------------------===//

/// From so many iterations without a sleep on, a loop is called spinning.
enum { SPINNING_ITERATIONS = 1000 };

static void set_state(struct findings *findings, enum loop_state state) {
    static const char *const names[] = {"not running", "waiting", "awake", "asleep", "busy", "spinning"};
    findings->state = findings->mode ? state : STATE_NOT_RUNNING;
    findings->state_name = names[findings->state];
}

static enum queue_state queue_state_of(const struct findings *findings, struct activity *activity) {
    struct pollfd queue = {.fd = atomic_load(&activity->queue), .events = POLLIN};
    if (queue.fd < 0)
        return QUEUE_NONE;
    bool is_inside = activity_is_in_queue_work(activity);
    if (poll(&queue, 1, 0) <= 0)
        return is_inside && runloop_main_queue_batch() > 1 ? QUEUE_IS_BEHIND : QUEUE_IDLE;
    if (is_inside)
        return QUEUE_IS_INSIDE;
    bool is_served = findings->mode && runloop_mode_is_common(findings->loop, findings->mode);
    return is_served ? QUEUE_HAS_WORK : QUEUE_IS_ELSEWHERE;
}

static void look_at_activity(struct findings *findings, struct activity *activity, bool with_stack) {
    if (!activity || !atomic_load(&activity->is_known)) {
        set_state(findings, runloop_is_waiting(findings->loop) ? STATE_WAITING : STATE_AWAKE);
        return;
    }
    int64_t asleep_since_ns = atomic_load_explicit(&activity->asleep_since_ns, memory_order_acquire);
    int64_t since_ns = asleep_since_ns ? asleep_since_ns : counted_get(&activity->awake_since_ns);
    findings->callout_count = activity_copy_callouts(activity, findings->callouts);
    // The loop goes on meanwhile, so the time is read after what is as old as that.
    findings->now_ns = runloop_get_now_ns(NULL);
    findings->state_ns = since_ns ? findings->now_ns - since_ns : 0;
    findings->awake_iterations = (uint64_t)counted_get(&activity->awake_iterations);
    bool spins = findings->awake_iterations >= SPINNING_ITERATIONS;
    set_state(findings, asleep_since_ns ? STATE_ASLEEP : spins ? STATE_SPINNING : STATE_BUSY);
    findings->queue = queue_state_of(findings, activity);
    if (with_stack && findings->callout_count > 0)
        findings->stack = stack_copy(activity->thread, stack_prepare(0) ? -1 : 0);
}

//===-- its items ----------------------------------------------------------------------------------------------------===//

struct gathering {
    struct findings *findings;
    struct mode_findings *mode;
    bool is_incomplete;
};

static const int callout_of_item[] = {
    [RUNLOOP_ITEM_SIGNALLED_SOURCE] = RUNLOOP_CALLOUT_SIGNALLED_SOURCE,
    [RUNLOOP_ITEM_DESCRIPTOR_SOURCE] = RUNLOOP_CALLOUT_DESCRIPTOR_SOURCE,
    [RUNLOOP_ITEM_TIMER] = RUNLOOP_CALLOUT_TIMER,
    [RUNLOOP_ITEM_OBSERVER] = RUNLOOP_CALLOUT_OBSERVER,
};

/// Whether a run in that mode would serve it. Observers aren't served.
static bool is_in_mode(runloop *loop, runloop_item_kind kind, void *item, const char *mode) {
    return kind == RUNLOOP_ITEM_TIMER ? runloop_contains_timer(loop, item, mode)
                                      : kind < RUNLOOP_ITEM_TIMER && runloop_contains_source(loop, item, mode);
}

static void describe(struct finding *finding, void *item, runloop *loop) {
    uint32_t line;
    const char *name = callout_name(callout_of_item[finding->kind], item, &line);
    copy_name(finding->name, sizeof finding->name, name, line);
    if (finding->kind == RUNLOOP_ITEM_SIGNALLED_SOURCE) {
        finding->is_due = runloop_source_is_signalled(item);
    } else if (finding->kind == RUNLOOP_ITEM_DESCRIPTOR_SOURCE) {
        finding->descriptor = runloop_source_get_descriptor(item);
        finding->events = runloop_source_get_events(item);
        finding->is_lost = runloop_source_is_lost(item, loop);
    } else if (finding->kind == RUNLOOP_ITEM_TIMER) {
        int64_t date_ns = runloop_timer_get_fire_date(item);
        if (date_ns != RUNLOOP_NEVER)
            finding->wait_ns = duration_between(runloop_get_now_ns(loop), date_ns);
        finding->is_due = finding->wait_ns <= -runloop_timer_get_tolerance(item);
        finding->interval_ns = runloop_timer_get_interval(item);
    }
}

static void gather(void *context, runloop_item_kind kind, void *item) {
    struct gathering *gathering = context;
    struct mode_findings *mode = gathering->mode;
    if (kind > RUNLOOP_ITEM_OBSERVER) // newer than this library
        return;
    if (mode->count == mode->capacity) {
        uint32_t capacity = mode->capacity * 2 + 16;
        struct finding *items = realloc(mode->items, capacity * sizeof *items);
        gathering->is_incomplete |= !items;
        if (!items)
            return;
        mode->items = items;
        mode->capacity = capacity;
    }
    struct finding *finding = &mode->items[mode->count++];
    *finding = (struct finding){.kind = kind, .item = item, .descriptor = -1, .wait_ns = RUNLOOP_NEVER};
    describe(finding, item, gathering->findings->loop);
    const char *current = gathering->findings->mode;
    finding->is_served_elsewhere =
        current && mode->role != MODE_CURRENT && is_in_mode(gathering->findings->loop, kind, item, current);
    mode->timers += kind == RUNLOOP_ITEM_TIMER;
    mode->observers += kind == RUNLOOP_ITEM_OBSERVER;
    mode->sources += kind <= RUNLOOP_ITEM_DESCRIPTOR_SOURCE;
}

/// The events of poll(2) have the values of the readiness. One at a time, since a process may not ask for more of them at once than its
/// limit of descriptors, which may be lower than those that it has.
static void ask_kernel(struct finding *finding) {
    struct pollfd question = {.fd = finding->descriptor, .events = (short)finding->events};
    if (finding->events == 0 || finding->is_lost || poll(&question, 1, 0) <= 0)
        return;
    finding->ready = (runloop_readiness)question.revents & ~(runloop_readiness)POLLNVAL;
    finding->is_due |= finding->ready != 0;
}

static enum standing standing_of(const struct findings *findings, const struct mode_findings *mode,
                                 const struct finding *finding) {
    for (int i = 0; i < findings->callout_count; i++) {
        const struct callout *callout = &findings->callouts[i];
        if (callout->object == finding->item && callout->kind == callout_of_item[finding->kind])
            return STANDING_CALLED;
    }
    if (finding->is_lost)
        return STANDING_LOST;
    if (!finding->is_due || finding->is_served_elsewhere)
        return STANDING_IDLE;
    if (mode->role != MODE_CURRENT)
        return mode->role == MODE_OUTER ? STANDING_OUTSIDE : STANDING_ELSEWHERE;
    // It became ready this moment, and ends the sleep.
    if (findings->state == STATE_ASLEEP)
        return STANDING_IDLE;
    if (findings->state == STATE_AWAKE)
        return STANDING_UNKNOWN;
    return findings->state == STATE_BUSY && findings->callout_count > 0 ? STANDING_BEHIND : STANDING_AWAKE;
}

static enum mode_role role_of(const struct findings *findings, const char *mode) {
    if (!findings->mode || strcmp(findings->mode, mode) == 0)
        return findings->mode ? MODE_CURRENT : MODE_WITHOUT_LOOP;
    for (int i = 0; i < findings->callout_count; i++) {
        if (findings->callouts[i].mode == mode)
            return MODE_OUTER;
    }
    return MODE_OTHER;
}

static bool gather_mode(struct findings *findings, struct mode_findings *mode) {
    runloop *loop = findings->loop;
    mode->is_common = runloop_mode_is_common(loop, mode->name);
    mode->role = role_of(findings, mode->name);
    mode->serves_queue = findings->queue != QUEUE_NONE && mode->is_common;
    struct gathering gathering = {.findings = findings, .mode = mode};
    if (runloop_visit_items(loop, mode->name, gather, &gathering) < 0 || gathering.is_incomplete)
        return false;
    for (uint32_t i = 0; i < mode->count; i++) {
        ask_kernel(&mode->items[i]);
        mode->items[i].standing = standing_of(findings, mode, &mode->items[i]);
    }
    return true;
}

/// One that is called does not wait.
static void find_longest(struct findings *findings) {
    for (size_t i = 0; i < findings->mode_count; i++) {
        for (uint32_t j = 0; j < findings->modes[i].count; j++) {
            const struct finding *finding = &findings->modes[i].items[j], *longest = findings->longest;
            if (finding->is_due && finding->kind == RUNLOOP_ITEM_TIMER && finding->standing != STANDING_CALLED &&
                !finding->is_served_elsewhere && (!longest || finding->wait_ns < longest->wait_ns)) {
                findings->longest = finding;
                findings->longest_mode = &findings->modes[i];
            }
        }
    }
}

static bool gather_all(struct findings *findings, bool with_stack) {
    runloop *loop = findings->loop;
    struct followed *followed = followed_copy(loop);
    findings->is_main = loop == runloop_main();
    findings->mode = runloop_current_mode(loop);
    look_at_activity(findings, followed ? followed->activity : NULL, with_stack);
    if (followed)
        followed_release(followed);
    findings->has_statistics = runloop_statistics_copy(loop, &findings->statistics) == 0;
    size_t count = runloop_get_modes(loop, NULL, 0);
    const char **names = calloc(count + 1, sizeof *names);
    findings->modes = calloc(count + 1, sizeof *findings->modes);
    if (!names || !findings->modes) {
        free(names);
        return false;
    }
    size_t found = runloop_get_modes(loop, names, count);
    findings->mode_count = found < count ? found : count;
    // A loop of the parent process has none.
    bool is_complete = found > 0;
    for (size_t i = 0; i < findings->mode_count; i++) {
        findings->modes[i].name = names[i];
        is_complete &= gather_mode(findings, &findings->modes[i]);
    }
    free(names);
    find_longest(findings);
    return is_complete;
}

static char *(*_Atomic copy_tasks)(runloop *loop);

void runloop_report_set_tasks(char *(*copy)(runloop *loop)) {
    atomic_store(&copy_tasks, copy);
}

/// What the writer makes of the findings, from malloc, or NULL.
static char *write_report(const struct findings *findings, runloop_report_form form) {
    char *report = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&report, &size);
    if (!text)
        return NULL;
    (form == RUNLOOP_REPORT_JSON ? report_write_json : report_write_text)(text, findings);
    if (fclose(text) != 0) {
        free(report);
        return NULL;
    }
    return report;
}

static void discard(struct findings *findings) {
    for (size_t i = 0; i < findings->mode_count; i++)
        free(findings->modes[i].items);
    free(findings->modes);
    free(findings->stack);
    free(findings->tasks);
    free(findings);
}

char *runloop_copy_report(runloop *loop, runloop_report_form form) {
    // Not on the stack, which may be small.
    struct findings *findings = loop ? calloc(1, sizeof *findings) : NULL;
    if (!findings)
        return NULL;
    findings->loop = loop;
    bool is_complete = gather_all(findings, form == RUNLOOP_REPORT_STACK);
    char *(*copy)(runloop *) = atomic_load(&copy_tasks);
    findings->tasks = copy && is_complete ? copy(loop) : NULL;
    char *report = is_complete ? write_report(findings, form) : NULL;
    discard(findings);
    return report;
}
#endif // __linux__
