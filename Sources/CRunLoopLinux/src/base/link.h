// link.h — a node of a ring, and the ring's head. A node that is in no ring is one by itself.
#ifndef RUNLOOP_LINK_H
#define RUNLOOP_LINK_H

#include <stdbool.h>
#include <stddef.h>

struct link {
    struct link *next, *previous;
};

/// The structure whose member a node is.
#define LINK_OWNER(node, type, member) ((type *)(void *)((char *)(node)-offsetof(type, member)))

static inline void link_init(struct link *link) {
    link->next = link->previous = link;
}

static inline bool link_is_alone(const struct link *link) {
    return link->next == link;
}

/// At the end, if `position` is the head.
static inline void link_insert_before(struct link *position, struct link *node) {
    node->next = position;
    node->previous = position->previous;
    position->previous->next = node;
    position->previous = node;
}

/// Nothing happens to a node that is in no ring.
static inline void link_remove(struct link *node) {
    node->previous->next = node->next;
    node->next->previous = node->previous;
    link_init(node);
}

#endif // RUNLOOP_LINK_H
