// runloop_list.h — an intrusive doubly linked list with a sentinel. A node that is in no list points to itself. Shared by the C libraries like
// runloop_lock.h, and not installed.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_LIST_SHARED_H
#define RUNLOOP_LIST_SHARED_H
#ifdef __linux__

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *next, *previous;
};

#define LIST_ENTRY(node, type, member) ((type *)(void *)((char *)(node)-offsetof(type, member)))

#define LIST_EACH(node, sentinel) for (struct list *node = (sentinel)->next; node != (sentinel); node = node->next)

static inline void list_init(struct list *list) {
    list->next = list->previous = list;
}

/// For a sentinel: has it nodes? For a node: is it in a list?
static inline bool list_is_empty(const struct list *list) {
    return list->next == list;
}

static inline void list_insert_before(struct list *position, struct list *node) {
    node->next = position;
    node->previous = position->previous;
    position->previous->next = node;
    position->previous = node;
}

static inline void list_append(struct list *list, struct list *node) {
    list_insert_before(list, node);
}

/// Removing a node that is in no list does nothing.
static inline void list_remove(struct list *node) {
    node->previous->next = node->next;
    node->next->previous = node->previous;
    list_init(node);
}

static inline struct list *list_take_first(struct list *list) {
    struct list *first = list->next;
    if (first == list)
        return NULL;
    list_remove(first);
    return first;
}

#endif // __linux__
#endif // RUNLOOP_LIST_SHARED_H
