// report.c — what there is to say about a loop, gathered.

#include "report.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "callout_name.h"

struct gathering {
    runloop *loop;
    struct mode_findings *mode;
    bool is_incomplete;
};

static void describe(struct finding *finding, void *item, runloop *loop) {
    static const int callouts[] = {
        [RUNLOOP_ITEM_SIGNALLED_SOURCE] = RUNLOOP_CALLOUT_SIGNALLED_SOURCE,
        [RUNLOOP_ITEM_DESCRIPTOR_SOURCE] = RUNLOOP_CALLOUT_DESCRIPTOR_SOURCE,
        [RUNLOOP_ITEM_TIMER] = RUNLOOP_CALLOUT_TIMER,
        [RUNLOOP_ITEM_OBSERVER] = RUNLOOP_CALLOUT_OBSERVER,
    };
    copy_callout_name(finding->name, sizeof finding->name, callouts[finding->kind], item);
    if (finding->kind == RUNLOOP_ITEM_SIGNALLED_SOURCE) {
        finding->is_due = runloop_source_is_signalled(item);
    } else if (finding->kind == RUNLOOP_ITEM_DESCRIPTOR_SOURCE) {
        finding->descriptor = runloop_source_get_descriptor(item);
        finding->events = runloop_source_get_events(item);
    } else if (finding->kind == RUNLOOP_ITEM_TIMER) {
        int64_t date_ns = runloop_timer_get_fire_date(item);
        if (date_ns != RUNLOOP_NEVER)
            finding->wait_ns = date_ns - runloop_get_now_ns(loop);
        finding->is_due = finding->wait_ns <= 0;
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
    describe(finding, item, gathering->loop);
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

static bool gather_mode(runloop *loop, struct mode_findings *mode) {
    const char *current = runloop_current_mode(loop);
    mode->is_common = runloop_mode_is_common(loop, mode->name);
    mode->is_current = current && strcmp(current, mode->name) == 0;
    struct gathering gathering = {.loop = loop, .mode = mode};
    return runloop_visit_items(loop, mode->name, gather, &gathering) >= 0 && !gathering.is_incomplete &&
           ask_kernel(mode);
}

static const struct finding *longest_overdue(const struct findings *findings) {
    const struct finding *longest = NULL;
    for (size_t i = 0; i < findings->mode_count; i++) {
        for (uint32_t j = 0; j < findings->modes[i].count; j++) {
            const struct finding *finding = &findings->modes[i].items[j];
            if (finding->is_due && finding->kind == RUNLOOP_ITEM_TIMER &&
                (!longest || finding->wait_ns < longest->wait_ns))
                longest = finding;
        }
    }
    return longest;
}

static void pass_over(void *context, runloop_item_kind kind, void *item) {
    (void)context;
    (void)kind;
    (void)item;
}

static bool gather_all(struct findings *findings) {
    runloop *loop = findings->loop;
    findings->is_main = loop == runloop_main();
    findings->is_waiting = runloop_is_waiting(loop);
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
        is_complete &= gather_mode(loop, &findings->modes[i]);
    }
    free(names);
    findings->longest = longest_overdue(findings);
    return is_complete;
}

char *runloop_copy_report(runloop *loop, runloop_report_form form) {
    if (!loop)
        return NULL;
    struct findings findings = {.loop = loop};
    bool is_complete = gather_all(&findings);
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
    return report;
}
