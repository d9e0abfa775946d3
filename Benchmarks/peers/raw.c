// raw.c — the lower bound: a loop written by hand on epoll, eventfd and timerfd that does only what the workloads need. One
// thread owns everything except the inbox. No modes, no observers, no order, no references, no locks.

#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "raw_heap.h"

enum { BATCH = 64 };

static const char *version(void) {
    static struct utsname system;
    uname(&system);
    return system.release;
}

const struct peer_traits peer_traits = {
    .name = "raw",
    .version = version,
    .has = PEER_WAKES | PEER_SIGNALS | PEER_SUBMITS | PEER_WATCHES | PEER_TIMERS | PEER_POLLS | PEER_LIMITS |
           PEER_TOLERATES | PEER_REPEATS,
};

/// An entry of the inbox: a wake handle, which is kept, or a submitted function, which is freed.
struct node {
    struct node *next;
    void (*function)(void *info); ///< NULL for a wake handle
    void *info;
};

struct peer_wake {
    struct node node;
    struct peer_loop *loop;
    _Atomic bool is_sent;
};

struct peer_signal {
    struct peer_signal *next;
    struct peer_loop *loop;
    void *info;
    bool is_sent;
};

struct peer_watch {
    void *info;
};

struct peer_loop {
    int epoll;
    int wake_descriptor;
    int timer_descriptor;
    int64_t armed_ns;
    bool stopped;
    size_t descriptors;
    struct peer_signal *signalled;
    struct raw_heap heap;
    _Alignas(64) _Atomic(struct node *) inbox;
};

static void watch(struct peer_loop *loop, int descriptor, uint32_t events, void *tag) {
    struct epoll_event event = {.events = events, .data.ptr = tag};
    bench_check(epoll_ctl(loop->epoll, EPOLL_CTL_ADD, descriptor, &event) == 0, "epoll_ctl");
}

struct peer_loop *peer_open(void) {
    struct peer_loop *loop = aligned_alloc(64, sizeof *loop);
    memset(loop, 0, sizeof *loop);
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->wake_descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    loop->timer_descriptor = -1;
    bench_check(loop->epoll >= 0 && loop->wake_descriptor >= 0, "open");
    // Watched for edges and never read: each write is an edge.
    watch(loop, loop->wake_descriptor, EPOLLIN | EPOLLET, NULL);
    return loop;
}

void peer_close(struct peer_loop *loop) {
    close(loop->epoll);
    close(loop->wake_descriptor);
    if (loop->timer_descriptor >= 0)
        close(loop->timer_descriptor);
    free(loop->heap.entries);
    free(loop);
}

//===-- the inbox ----------------------------------------------------------------------------------------------------===//

static void push(struct peer_loop *loop, struct node *node) {
    struct node *first = atomic_load_explicit(&loop->inbox, memory_order_relaxed);
    do
        node->next = first;
    while (
        !atomic_compare_exchange_weak_explicit(&loop->inbox, &first, node, memory_order_release, memory_order_relaxed));
    if (!first) {
        uint64_t one = 1;
        bench_check(write(loop->wake_descriptor, &one, sizeof one) == sizeof one, "wake");
    }
}

static void drain_inbox(struct peer_loop *loop) {
    struct node *taken = atomic_exchange_explicit(&loop->inbox, NULL, memory_order_acquire), *first = NULL;
    while (taken) { // a stack, so it is reversed into the order of submission
        struct node *next = taken->next;
        taken->next = first;
        first = taken;
        taken = next;
    }
    while (first) {
        struct node *node = first;
        first = node->next;
        if (node->function) {
            node->function(node->info);
            free(node);
        } else {
            atomic_store_explicit(&((struct peer_wake *)node)->is_sent, false, memory_order_seq_cst);
            peer_calls.on_wake(node->info);
        }
    }
}

struct peer_wake *peer_wake_create(struct peer_loop *loop, void *info) {
    struct peer_wake *wake = calloc(1, sizeof *wake);
    wake->loop = loop;
    wake->node.info = info;
    return wake;
}

void peer_wake_send(struct peer_wake *wake) {
    if (!atomic_exchange(&wake->is_sent, true))
        push(wake->loop, &wake->node);
}

void peer_submit(struct peer_loop *loop, void (*function)(void *info), void *info) {
    struct node *node = malloc(sizeof *node);
    node->function = function;
    node->info = info;
    push(loop, node);
}

//===-- signals and descriptors --------------------------------------------------------------------------------------===//

struct peer_signal *peer_signal_create(struct peer_loop *loop, void *info) {
    struct peer_signal *signal = calloc(1, sizeof *signal);
    signal->loop = loop;
    signal->info = info;
    return signal;
}

void peer_signal_send(struct peer_signal *signal) {
    if (signal->is_sent)
        return;
    signal->is_sent = true;
    signal->next = signal->loop->signalled;
    signal->loop->signalled = signal;
}

static void perform_signalled(struct peer_loop *loop) {
    struct peer_signal *signal = loop->signalled;
    loop->signalled = NULL;
    while (signal) {
        struct peer_signal *next = signal->next;
        signal->is_sent = false;
        peer_calls.on_signal(signal->info);
        signal = next;
    }
}

struct peer_watch *peer_watch_add(struct peer_loop *loop, int descriptor, void *info) {
    struct peer_watch *added = malloc(sizeof *added);
    added->info = info;
    watch(loop, descriptor, EPOLLIN, added);
    loop->descriptors++;
    return added;
}

static void wait_for_events(struct peer_loop *loop, int timeout_ms) {
    struct epoll_event events[BATCH];
    int count = epoll_wait(loop->epoll, events, BATCH, timeout_ms);
    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == loop)
            loop->armed_ns = INT64_MAX; // the timer has expired
        else if (events[i].data.ptr)
            peer_calls.on_ready(((struct peer_watch *)events[i].data.ptr)->info);
    }
}

//===-- timers -------------------------------------------------------------------------------------------------------===//

struct peer_timer *peer_timer_start(struct peer_loop *loop, int64_t delay_ns, void *info) {
    struct peer_timer *timer = malloc(sizeof *timer);
    timer->loop = loop;
    timer->info = info;
    timer->deadline_ns = bench_now_ns() + delay_ns;
    raw_heap_add(&loop->heap, timer);
    return timer;
}

void peer_timer_move(struct peer_timer *timer, int64_t delay_ns) {
    timer->deadline_ns = bench_now_ns() + delay_ns;
    if (timer->place)
        raw_heap_place(&timer->loop->heap, timer->place, (struct raw_entry){timer->deadline_ns, timer});
    else
        raw_heap_add(&timer->loop->heap, timer);
}

void peer_timer_cancel(struct peer_timer *timer) {
    if (timer->place)
        raw_heap_remove(&timer->loop->heap, timer);
    free(timer);
}

static bool is_due(const struct peer_loop *loop, int64_t now_ns) {
    return loop->heap.count > 0 && loop->heap.entries[1].key_ns <= now_ns;
}

static void fire_due(struct peer_loop *loop, int64_t now_ns) {
    while (is_due(loop, now_ns)) {
        struct peer_timer *timer = loop->heap.entries[1].timer;
        if (peer_calls.interval_ns) {
            timer->deadline_ns += peer_calls.interval_ns;
            raw_heap_down(&loop->heap, 1, (struct raw_entry){timer->deadline_ns, timer});
        } else {
            raw_heap_remove(&loop->heap, timer);
        }
        peer_calls.on_timer(timer->info);
    }
}

/// The timer descriptor is created for the first wait with a timer, and is never read.
static void arm(struct peer_loop *loop, int64_t deadline_ns) {
    if (loop->timer_descriptor < 0) {
        loop->timer_descriptor = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        bench_check(loop->timer_descriptor >= 0, "timerfd");
        watch(loop, loop->timer_descriptor, EPOLLIN | EPOLLET, loop);
        loop->armed_ns = INT64_MAX;
    }
    if (deadline_ns == loop->armed_ns)
        return;
    struct itimerspec when = {.it_value = {deadline_ns / 1000000000, deadline_ns % 1000000000}};
    timerfd_settime(loop->timer_descriptor, TFD_TIMER_ABSTIME, &when, NULL);
    loop->armed_ns = deadline_ns;
}

//===-- running ------------------------------------------------------------------------------------------------------===//

static bool has_work(struct peer_loop *loop) {
    return loop->signalled || atomic_load_explicit(&loop->inbox, memory_order_relaxed);
}

/// Serves ready work and due timers. The clock is read only if a timer needs the time.
static int64_t perform_at_hand(struct peer_loop *loop, bool wants_time) {
    if (atomic_load_explicit(&loop->inbox, memory_order_relaxed))
        drain_inbox(loop);
    if (loop->signalled)
        perform_signalled(loop);
    if (!wants_time && loop->heap.count == 0)
        return 0;
    int64_t now_ns = bench_now_ns();
    fire_due(loop, now_ns);
    return now_ns;
}

static void sleep_or_poll(struct peer_loop *loop, int64_t end_ns) {
    if (has_work(loop)) {
        if (loop->descriptors > 0)
            wait_for_events(loop, 0);
        return;
    }
    if (loop->heap.count > 0 && loop->heap.entries[1].key_ns + peer_calls.tolerance_ns < end_ns)
        end_ns = loop->heap.entries[1].key_ns + peer_calls.tolerance_ns;
    if (end_ns != INT64_MAX)
        arm(loop, end_ns);
    wait_for_events(loop, -1);
}

void peer_run(struct peer_loop *loop, int64_t limit_ns) {
    bool is_limited = limit_ns != PEER_FOREVER;
    int64_t end_ns = is_limited ? bench_now_ns() + limit_ns : INT64_MAX;
    loop->stopped = false;
    for (;;) {
        int64_t now_ns = perform_at_hand(loop, is_limited);
        if (loop->stopped || now_ns >= end_ns)
            return;
        sleep_or_poll(loop, end_ns);
    }
}

void peer_stop(struct peer_loop *loop) {
    loop->stopped = true;
}

void peer_poll(struct peer_loop *loop) {
    perform_at_hand(loop, false);
    if (loop->descriptors > 0)
        wait_for_events(loop, 0);
}
