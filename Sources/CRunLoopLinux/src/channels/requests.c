// requests.c — the table of the requests that a channel has sent.

#ifdef __linux__
#include "channels/requests.h"

#include <errno.h>

void runloop__requests_init(struct requests *requests) {
    list_init(&requests->timed);
    list_init(&requests->untimed);
}

static struct awaited *first_of(const struct list *ring) {
    return list_is_empty(ring) ? NULL : LIST_ENTRY(ring->next, struct awaited, in_table);
}

/// The deadline of a source may be earlier than that of any request, after an answer: then the source is called for nothing, once, which is
/// cheaper than a new deadline for each answer. It is later only if it has passed, or if there was no memory.
static bool is_kept(const struct awaited *first, runloop_source *source) {
    return !first || runloop_source_get_deadline(source) <= first->deadline_ns;
}

static int keep_deadline(const struct requests *requests, runloop_source *source) {
    const struct awaited *first = first_of(&requests->timed);
    return is_kept(first, source) ? 0 : runloop_source_set_deadline(source, first->deadline_ns);
}

int runloop__requests_enter(struct requests *requests, struct awaited *awaited, int64_t deadline_ns,
                            runloop_source *source) {
    awaited->id = ++requests->last_id;
    awaited->deadline_ns = deadline_ns > 0 ? deadline_ns : RUNLOOP_NEVER;
    if (awaited->deadline_ns == RUNLOOP_NEVER) {
        list_insert_before(&requests->untimed, &awaited->in_table);
        return 0;
    }
    struct list *position = &requests->timed;
    for (; position->previous != &requests->timed; position = position->previous)
        if (LIST_ENTRY(position->previous, struct awaited, in_table)->deadline_ns <= awaited->deadline_ns)
            break;
    list_insert_before(position, &awaited->in_table);
    int result = keep_deadline(requests, source);
    if (result < 0)
        runloop__requests_withdraw(requests, awaited);
    return result == -EINVAL ? -EPIPE : result;
}

void runloop__requests_withdraw(struct requests *requests, struct awaited *awaited) {
    list_remove(&awaited->in_table);
    requests->last_id--;
}

struct awaited *runloop__requests_find(struct requests *requests, uint64_t id) {
    const struct list *rings[] = {&requests->timed, &requests->untimed};
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++)
        for (struct list *node = rings[i]->next; node != rings[i]; node = node->next)
            if (LIST_ENTRY(node, struct awaited, in_table)->id == id)
                return LIST_ENTRY(node, struct awaited, in_table);
    return NULL;
}

struct awaited *runloop__requests_take_due(struct requests *requests, runloop_source *source) {
    struct awaited *first = first_of(&requests->timed);
    if (is_kept(first, source))
        return NULL;
    bool is_due = first->deadline_ns <= runloop_now_ns();
    if (is_due)
        runloop__requests_take(first);
    if (keep_deadline(requests, source) == -ENOMEM)
        runloop_source_wake(source);
    return is_due ? first : NULL;
}

struct awaited *runloop__requests_take(struct awaited *awaited) {
    if (awaited)
        list_remove(&awaited->in_table);
    return awaited;
}

struct awaited *runloop__requests_take_any(struct requests *requests) {
    struct awaited *awaited = first_of(&requests->timed);
    return runloop__requests_take(awaited ? awaited : first_of(&requests->untimed));
}
#endif // __linux__
