// describe.c — a loop as text, for people: its modes and their items.

#include <inttypes.h>
#include <stdio.h>

#include "internal.h"

static const char *yes_or_no(bool value) {
    return value ? "yes" : "no";
}

static void print_context(FILE *text, struct item *item) {
    char *(*describe)(void *info) = runloop__item_config(item)->describe;
    char *description = describe ? describe(item->info) : NULL;
    if (description)
        fprintf(text, ", %s", description);
    free(description);
    fputc('\n', text);
}

static void print_item_head(FILE *text, const char *kind, const struct item *item) {
    fprintf(text, "        %s %p: order %" PRId32 ", valid %s", kind, (const void *)item,
            runloop__item_config(item)->order, yes_or_no(runloop__item_is_valid(item)));
}

static void print_source(FILE *text, runloop_source *source) {
    bool is_descriptor = runloop__source_is(source, ITEM_DESCRIPTOR);
    print_item_head(text, is_descriptor ? "descriptor source" : "source", &source->item);
    if (is_descriptor)
        fprintf(text, ", descriptor %d, events %#" PRIx32 "%s", runloop_source_get_descriptor(source),
                runloop_source_get_events(source), runloop__source_is(source, ITEM_COUNTER) ? ", counter" : "");
    else
        fprintf(text, ", signalled %s", yes_or_no(runloop_source_is_signalled(source)));
}

static void print_timer(FILE *text, runloop_timer *timer) {
    int64_t due_ns = atomic_load(&timer->due_ns);
    print_item_head(text, "timer", &timer->item);
    if (due_ns == RUNLOOP_NEVER)
        fprintf(text, ", fires never");
    else
        fprintf(text, ", fires in %.6f s", (double)runloop__saturating_add(due_ns, -runloop_now_ns()) / 1e9);
    fprintf(text, ", interval %" PRId64 " ns, tolerance %" PRId64 " ns%s", runloop__timer_interval(timer),
            runloop__timer_tolerance(timer), runloop__item_is_firing(&timer->item) ? ", firing" : "");
}

static void print_observer(FILE *text, runloop_observer *observer) {
    print_item_head(text, "observer", &observer->item);
    fprintf(text, ", activities %#" PRIx32 ", repeats %s", observer->activities, yes_or_no(observer->repeats));
}

static void print_item(FILE *text, struct item *item) {
    switch (item->kind) {
    case ITEM_SOURCE: print_source(text, SOURCE_OF(item)); break;
    case ITEM_TIMER: print_timer(text, (runloop_timer *)(void *)item); break;
    case ITEM_OBSERVER: print_observer(text, (runloop_observer *)(void *)item); break;
    }
    print_context(text, item);
}

/// HOLDS: loop. The mode's items, retained, into `items` (NULL: counts only).
static size_t items_of(runloop *loop, struct mode *mode, struct item **items) {
    size_t count = 0;
#define TAKE(pointer)                                                                                                  \
    do {                                                                                                               \
        if (items) {                                                                                                   \
            items[count] = (pointer);                                                                                  \
            runloop__item_retain(items[count]);                                                                        \
        }                                                                                                              \
        count++;                                                                                                       \
    } while (0)
    uint32_t ports = 0;
    for (struct binding *binding = NULL; (binding = runloop__binding_next(loop, binding, &ports));) {
        if (runloop__is_member(&binding->modes, mode))
            TAKE(&runloop__source_of(binding)->item);
    }
    for (uint32_t i = 0; i < mode->timers.count; i++)
        TAKE(&runloop__heap_timer(mode->timers.entries[i])->item);
    for (uint32_t i = 0; i < loop->firing_count; i++) {
        runloop_timer *timer = loop->firing[i];
        if (atomic_load(&timer->owner) == loop && runloop__timer_position(timer, mode))
            TAKE(&timer->item);
    }
    struct observer_array *observers = atomic_load(&mode->observers);
    for (uint32_t i = 0; observers && i < observers->count; i++) {
        if (runloop__observer_at(observers, i))
            TAKE(&runloop__observer_at(observers, i)->item);
    }
#undef TAKE
    return count;
}

/// False when memory ran out.
static bool print_mode(FILE *text, runloop *loop, struct mode *mode) {
    fprintf(text, "    mode %s%s:\n", mode->name, atomic_load(&mode->is_common) ? " (common)" : "");
    runloop__lock(loop);
    size_t count = items_of(loop, mode, NULL);
    struct item **items = count ? calloc(count, sizeof(struct item *)) : NULL;
    if (items)
        items_of(loop, mode, items);
    runloop__unlock(loop);
    for (size_t i = 0; items && i < count; i++) {
        print_item(text, items[i]);
        runloop__item_release(items[i]);
    }
    free(items);
    return items || count == 0;
}

char *runloop_copy_description(runloop *loop) {
    if (runloop__check(loop))
        return NULL;
    char *description = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&description, &size);
    if (!text)
        return NULL;
    const char *current_mode = runloop_current_mode(loop);
    fprintf(text, "run loop %p: %s, %s, current mode %s, wake-ups saved %" PRIu64 "\n", (void *)loop,
            loop->is_main                     ? "main thread's"
            : atomic_load(&loop->is_finished) ? "of a finished thread"
                                              : "of a thread",
            runloop_is_waiting(loop) ? "waiting" : "not waiting", current_mode ? current_mode : "none",
            runloop_wakeups_saved(loop));
    bool complete = true;
    for (struct mode *mode = atomic_load(&loop->modes); mode; mode = atomic_load(&mode->next))
        complete &= print_mode(text, loop, mode);
    if (fclose(text) != 0 || !complete) {
        free(description);
        return NULL;
    }
    return description;
}
