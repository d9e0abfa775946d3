// main_queue.h — what tests need of libdispatch, whose headers require a compiler with blocks.
#ifndef RUNLOOP_TEST_MAIN_QUEUE_H
#define RUNLOOP_TEST_MAIN_QUEUE_H

struct dispatch_queue_s;
extern struct dispatch_queue_s _dispatch_main_q;
extern void dispatch_async_f(struct dispatch_queue_s *queue, void *context, void (*work)(void *));
extern int _dispatch_get_main_queue_handle_4CF(void);

static inline void enqueue(void (*work)(void *), void *info) {
    dispatch_async_f(&_dispatch_main_q, info, work);
}

#endif // RUNLOOP_TEST_MAIN_QUEUE_H
