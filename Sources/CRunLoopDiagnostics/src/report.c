// report.c — what there is to say about a loop, gathered.

#include "report.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "callout_name.h"
#include "followed.h"
#include "stack.h"

//===-- what the loop does now ---------------------------------------------------------------------------------------===//

/// From so many iterations without a sleep on, a loop is called spinning.
enum { SPINNING_ITERATIONS = 1000 };

/// A loop that isn't followed waits, in a sleep or in one that is none: that can't be told.
static enum loop_state state_of(const struct findings *findings, bool is_asleep) {
    if (!findings->mode)
        return STATE_NOT_RUNNING;
    if (!findings->is_followed)
        return runloop_is_waiting(findings->loop) ? STATE_WAITING : STATE_BUSY;
    if (is_asleep)
        return STATE_ASLEEP;
    return findings->awake_iterations >= SPINNING_ITERATIONS ? STATE_SPINNING : STATE_BUSY;
}

static bool is_in_queue_work(const struct findings *findings) {
    bool any = false;
    for (int i = 0; i < findings->callout_count; i++)
        any |= findings->callouts[i].kind == RUNLOOP_CALLOUT_MAIN_QUEUE;
    return any;
}

static enum queue_state queue_state_of(const struct findings *findings, int queue) {
    struct pollfd question = {.fd = queue, .events = POLLIN};
    if (queue < 0 || poll(&question, 1, 0) <= 0)
        return QUEUE_IDLE;
    if (is_in_queue_work(findings))
        return QUEUE_IS_INSIDE;
    bool is_served = findings->mode && runloop_mode_is_common(findings->loop, findings->mode);
    return is_served ? QUEUE_HAS_WORK : QUEUE_IS_ELSEWHERE;
}

static void look_at_activity(struct findings *findings, const struct activity *activity, bool with_stack) {
    static const char *const names[] = {"not running", "waiting", "asleep", "busy", "spinning"};
    findings->is_followed = activity && atomic_load(&activity->is_known);
    int64_t asleep_since_ns = findings->is_followed ? counted_get(&activity->asleep_since_ns) : 0;
    if (findings->is_followed) {
        int64_t since_ns = asleep_since_ns ? asleep_since_ns : counted_get(&activity->awake_since_ns);
        findings->state_ns = since_ns ? runloop_get_now_ns(NULL) - since_ns : 0;
        findings->awake_iterations = (uint64_t)counted_get(&activity->awake_iterations);
        findings->callout_count = activity_copy_callouts(activity, findings->callouts);
        int queue = atomic_load(&activity->queue);
        findings->has_queue = queue >= 0;
        findings->queue = queue_state_of(findings, queue);
    }
    findings->state = state_of(findings, asleep_since_ns);
    findings->state_name = names[findings->state];
    for (int i = 0; i < findings->callout_count; i++)
        callout_find_function(&findings->callouts[i]);
    if (with_stack && findings->callout_count > 0 && stack_prepare(0) == 0)
        findings->stack = stack_copy(activity->thread, 0);
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

/// Whether a run in that mode would serve it.
static bool is_in_mode(runloop *loop, runloop_item_kind kind, void *item, const char *mode) {
    return kind == RUNLOOP_ITEM_TIMER      ? runloop_contains_timer(loop, item, mode)
           : kind == RUNLOOP_ITEM_OBSERVER ? runloop_contains_observer(loop, item, mode)
                                           : runloop_contains_source(loop, item, mode);
}

static void describe(struct finding *finding, void *item, runloop *loop) {
    copy_callout_name(finding->name, sizeof finding->name, callout_of_item[finding->kind], item);
    if (finding->kind == RUNLOOP_ITEM_SIGNALLED_SOURCE) {
        finding->is_due = runloop_source_is_signalled(item);
    } else if (finding->kind == RUNLOOP_ITEM_DESCRIPTOR_SOURCE) {
        finding->descriptor = runloop_source_get_descriptor(item);
        finding->events = runloop_source_get_events(item);
    } else if (finding->kind == RUNLOOP_ITEM_TIMER) {
        int64_t date_ns = runloop_timer_get_fire_date(item);
        if (date_ns != RUNLOOP_NEVER)
            finding->wait_ns = date_ns - runloop_get_now_ns(loop);
        finding->is_due = finding->wait_ns <= -runloop_timer_get_tolerance(item);
        finding->interval_ns = runloop_timer_get_interval(item);
    }
}

static void gather(void *context, runloop_item_kind kind, void *item) {
    struct gathering *gathering = context;
    struct mode_findings *mode = gathering->mode;
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

/// The events of poll(2) have the values of the readiness. False when memory ran out.
static bool ask_kernel(struct mode_findings *mode) {
    struct pollfd *questions = calloc(mode->count + 1, sizeof *questions);
    if (!questions)
        return false;
    for (uint32_t i = 0; i < mode->count; i++) {
        bool is_paused = mode->items[i].events == 0;
        questions[i] =
            (struct pollfd){.fd = is_paused ? -1 : mode->items[i].descriptor, .events = (short)mode->items[i].events};
    }
    if (poll(questions, mode->count, 0) > 0) {
        for (uint32_t i = 0; i < mode->count; i++) {
            mode->items[i].ready = (runloop_readiness)questions[i].revents & ~(runloop_readiness)POLLNVAL;
            mode->items[i].is_due |= mode->items[i].ready != 0;
        }
    }
    free(questions);
    return true;
}

static enum standing standing_of(const struct findings *findings, const struct mode_findings *mode,
                                 const struct finding *finding) {
    for (int i = 0; i < findings->callout_count; i++) {
        const struct callout_copy *callout = &findings->callouts[i];
        if (callout->object == finding->item && callout->kind == callout_of_item[finding->kind])
            return STANDING_CALLED;
    }
    if (!finding->is_due || finding->is_served_elsewhere)
        return STANDING_IDLE;
    if (mode->role != MODE_CURRENT)
        return mode->role == MODE_OUTER ? STANDING_OUTSIDE : STANDING_ELSEWHERE;
    // It became ready this moment, and ends the sleep.
    if (findings->state == STATE_ASLEEP)
        return STANDING_IDLE;
    if (findings->state == STATE_BUSY && !findings->is_followed)
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
    mode->serves_queue = findings->has_queue && mode->is_common;
    struct gathering gathering = {.findings = findings, .mode = mode};
    if (runloop_visit_items(loop, mode->name, gather, &gathering) < 0 || gathering.is_incomplete || !ask_kernel(mode))
        return false;
    for (uint32_t i = 0; i < mode->count; i++)
        mode->items[i].standing = standing_of(findings, mode, &mode->items[i]);
    return true;
}

/// One that is called does not wait.
static void find_longest(struct findings *findings) {
    for (size_t i = 0; i < findings->mode_count; i++) {
        for (uint32_t j = 0; j < findings->modes[i].count; j++) {
            const struct finding *finding = &findings->modes[i].items[j], *longest = findings->longest;
            if (finding->is_due && finding->kind == RUNLOOP_ITEM_TIMER && finding->standing != STANDING_CALLED &&
                (!longest || finding->wait_ns < longest->wait_ns)) {
                findings->longest = finding;
                findings->longest_mode = &findings->modes[i];
            }
        }
    }
}

static void pass_over(void *context, runloop_item_kind kind, void *item) {
    (void)context;
    (void)kind;
    (void)item;
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
    // A loop of the parent process refuses.
    bool is_complete = runloop_visit_items(loop, RUNLOOP_DEFAULT_MODE, pass_over, NULL) >= 0;
    for (size_t i = 0; i < findings->mode_count; i++) {
        findings->modes[i].name = names[i];
        is_complete &= gather_mode(findings, &findings->modes[i]);
    }
    free(names);
    find_longest(findings);
    return is_complete;
}

char *runloop_copy_report(runloop *loop, runloop_report_form form) {
    if (!loop)
        return NULL;
    struct findings findings = {.loop = loop};
    bool is_complete = gather_all(&findings, form == RUNLOOP_REPORT_STACK);
    char *report = NULL;
    size_t size = 0;
    FILE *text = is_complete ? open_memstream(&report, &size) : NULL;
    if (text) {
        (form == RUNLOOP_REPORT_JSON ? report_write_json : report_write_text)(text, &findings);
        if (fclose(text) != 0) {
            free(report);
            report = NULL;
        }
    }
    for (size_t i = 0; i < findings.mode_count; i++)
        free(findings.modes[i].items);
    free(findings.modes);
    free(findings.stack);
    return report;
}
