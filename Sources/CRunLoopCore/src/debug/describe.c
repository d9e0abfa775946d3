// describe.c — a loop as text, for people: its modes and their items.

#ifdef __linux__
#include <inttypes.h>
#include <stdio.h>

#include "items/items.h"

static const char *yes_or_no(bool value) {
    return value ? "yes" : "no";
}

static void print_context(FILE *text, struct item *item) {
    // The context of a timer or an observer ends with its validity, also by another item's `describe`.
    char *description = item_is_source(item) || item_is_valid(item) ? item_describe(item) : NULL;
    if (description)
        fprintf(text, ", %s", description);
    free(description);
    fputc('\n', text);
}

static void print_signal_source(FILE *text, struct item *item) {
    bool is_signalled = runloop_source_is_signalled(LIST_ENTRY(item, runloop_source, item));
    fprintf(text, ", signalled %s", yes_or_no(is_signalled));
}

static void print_descriptor_source(FILE *text, struct item *item) {
    runloop_source *source = LIST_ENTRY(item, runloop_source, item);
    fprintf(text, ", descriptor %d, events %#" PRIx32 "%s", runloop_source_get_descriptor(source),
            runloop_source_get_events(source), source->is_counter ? ", counter" : "");
}

static void print_timer(FILE *text, struct item *item) {
    runloop_timer *timer = LIST_ENTRY(item, runloop_timer, attached.item);
    int64_t due_ns = atomic_load(&timer->due_ns);
    if (due_ns == RUNLOOP_NEVER)
        fprintf(text, ", fires never");
    else
        fprintf(text, ", fires in %.6f s", (double)saturating_add(due_ns, -runloop_now_ns()) / 1e9);
    fprintf(text, ", interval %" PRId64 " ns, tolerance %" PRId64 " ns%s", runloop_timer_get_interval(timer),
            atomic_load(&timer->tolerance_ns), item_state(item) & ITEM_CALLED ? ", firing" : "");
}

static void print_observer(FILE *text, struct item *item) {
    runloop_observer *observer = LIST_ENTRY(item, runloop_observer, attached.item);
    fprintf(text, ", activities %#" PRIx32 ", repeats %s", observer->activities, yes_or_no(observer->repeats));
}

static void print_name(FILE *text, const struct item *item) {
    uint32_t line;
    const char *name = item_name(item, &line);
    if (!name)
        return;
    fprintf(text, line ? " “%s:%" PRIu32 "”" : " “%s”", name, line);
}

static void print_item(void *context, runloop_item_kind kind, void *object) {
    static const struct {
        const char *name;
        void (*print)(FILE *text, struct item *item);
    } kinds[] = {
        [RUNLOOP_ITEM_SIGNALLED_SOURCE] = {"source", print_signal_source},
        [RUNLOOP_ITEM_DESCRIPTOR_SOURCE] = {"descriptor source", print_descriptor_source},
        [RUNLOOP_ITEM_TIMER] = {"timer", print_timer},
        [RUNLOOP_ITEM_OBSERVER] = {"observer", print_observer},
    };
    FILE *text = context;
    struct item *item = object;
    fprintf(text, "        %s %p", kinds[kind].name, object);
    print_name(text, item);
    fprintf(text, ": order %" PRId32 ", valid %s", item->order, yes_or_no(item_is_valid(item)));
    kinds[kind].print(text, item);
    print_context(text, item);
}

/// False when memory ran out.
static bool print_mode(FILE *text, runloop *loop, struct mode *mode) {
    fprintf(text, "    mode %s%s:\n", mode->name, atomic_load(&mode->is_common) ? " (common)" : "");
    return runloop_visit_items(loop, mode->name, print_item, text) >= 0;
}

char *runloop_copy_description(runloop *loop) {
    if (loop_check(loop))
        return NULL;
    char *description = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&description, &size);
    if (!text)
        return NULL;
    const char *current_mode = runloop_current_mode(loop);
    fprintf(text, "run loop %p: %s, %s, current mode %s\n", (void *)loop,
            loop->is_main                     ? "main thread's"
            : atomic_load(&loop->is_finished) ? "of a finished thread"
                                              : "of a thread",
            runloop_is_waiting(loop) ? "waiting" : "not waiting", current_mode ? current_mode : "none");
    bool complete = true;
    for (struct mode *mode = atomic_load(&loop->modes); mode; mode = atomic_load(&mode->next))
        complete &= print_mode(text, loop, mode);
    if (fclose(text) != 0 || !complete) {
        free(description);
        return NULL;
    }
    return description;
}
#endif // __linux__
