// queue.h — a queue behind a mutex, as programs use it with a loop that has no function for submitting work. The owner is woken
// only if the queue was empty; it takes the whole queue at once.
#ifndef QUEUE_H
#define QUEUE_H

#include <pthread.h>

#include "../bench.h"

struct queue_item {
    struct queue_item *next;
    void (*function)(void *info);
    void *info;
};

struct queue {
    pthread_mutex_t lock;
    struct queue_item *first;
    struct queue_item **end;
};

static inline void queue_init(struct queue *queue) {
    pthread_mutex_init(&queue->lock, NULL);
    queue->first = NULL;
    queue->end = &queue->first;
}

/// Whether it was empty.
static inline bool queue_put(struct queue *queue, void (*function)(void *info), void *info) {
    struct queue_item *item = malloc(sizeof *item);
    *item = (struct queue_item){NULL, function, info};
    pthread_mutex_lock(&queue->lock);
    bool was_empty = !queue->first;
    *queue->end = item;
    queue->end = &item->next;
    pthread_mutex_unlock(&queue->lock);
    return was_empty;
}

static inline void queue_drain(struct queue *queue) {
    pthread_mutex_lock(&queue->lock);
    struct queue_item *item = queue->first;
    queue->first = NULL;
    queue->end = &queue->first;
    pthread_mutex_unlock(&queue->lock);
    while (item) {
        struct queue_item *next = item->next;
        item->function(item->info);
        free(item);
        item = next;
    }
}

#endif
