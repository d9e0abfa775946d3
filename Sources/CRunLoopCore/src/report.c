// report.c — what waits report of descriptors: noted in the port, chosen one port per iteration, served by calling its sources.

#include <sys/epoll.h>
#include <unistd.h>

#include "internal.h"

//===-- reports and choices ------------------------------------------------------------------------------------------===//

/// HOLDS: loop. The last of the ready ones.
static inline void append_ready(runloop *loop, struct port *port, port_number number) {
    struct port *ends = loop->ports;
    port->next_ready = NO_PORT;
    port->previous_ready = ends->previous_ready;
    runloop__port_at(loop, ends->previous_ready)->next_ready = number;
    ends->previous_ready = number;
}

void runloop__port_unready(runloop *loop, struct port *port) {
    runloop__port_at(loop, port->previous_ready)->next_ready = port->next_ready;
    runloop__port_at(loop, port->next_ready)->previous_ready = port->previous_ready;
    port->ready = 0;
    port->in_hand = false;
}

void runloop__port_report(runloop *loop, uint64_t tag, uint32_t events) {
    port_number number = (port_number)tag;
    struct port *port = runloop__port_at(loop, number);
    if (port->newest && port->generation == tag >> 32) {
        // What was fetched before another thread asked for less is left out.
        events &= port->registered | UNASKED;
        if (!events)
            return;
    } else if (number != PORT_MAIN_QUEUE) {
        if (port->is_zombie) {
            loop->epoll_is_stale = true;
            atomic_store_explicit(&loop->ports_need_a_look, true, memory_order_relaxed);
        }
        return;
    }
    if (!port->ready) {
        atomic_store_explicit(&loop->ports_need_a_look, true, memory_order_relaxed);
        port->reports++;
        append_ready(loop, port, number);
    }
    port->ready |= (uint16_t)events;
}

/// HOLDS: loop. The first reported port that the run can serve, and what it is ready for; or NO_PORT.
static inline port_number first_ready(struct run *run, uint32_t *ready) {
    runloop *loop = run->loop;
    port_number number = runloop__port_first_ready(loop);
    while (number) {
        struct port *port = runloop__port_at(loop, number);
        *ready = number == PORT_MAIN_QUEUE ? run->serves_main_queue : runloop__port_wanted_and_ready(port, run->mode);
        if (*ready)
            break;
        number = port->next_ready;
    }
    return number;
}

bool runloop__port_is_ready(struct run *run) {
    uint32_t ready;
    return first_ready(run, &ready) != NO_PORT;
}

//===-- serving ------------------------------------------------------------------------------------------------------===//

/// HOLDS: loop. Collects a source if it is in the mode and asked for what is ready. One that joined the mode after `serial` waits
/// for the next report: it was not there when the wait chose this port.
static inline void collect_source(struct run *run, struct binding *binding, uint32_t serial) {
    runloop_source *source = runloop__source_of(binding);
    uint32_t *joined = runloop__position_in(&binding->modes, run->mode);
    if (joined && (int32_t)(serial - *joined) >= 0 && (run->ready & (runloop__port_mask(source) | UNASKED)) &&
        runloop__collect(run->loop, &source->item, runloop__source_order(source)))
        run->needs_counter |= runloop__source_is(source, ITEM_COUNTER);
}

/// HOLDS: loop. In the order in which they are called.
static void collect_all(struct run *run, struct port *port, uint32_t serial) {
    for (struct binding *binding = port->newest; binding; binding = runloop__port_older(binding))
        collect_source(run, binding, serial);
    // Older ones first, but for their order.
    struct collected *entries = run->loop->collected;
    for (uint32_t low = run->collected_base, high = run->loop->collected_count; low + 1 < high; low++) {
        struct collected entry = entries[low];
        entries[low] = entries[--high];
        entries[high] = entry;
    }
    runloop__collected_sort(run->loop, run->collected_base, NULL);
}

/// The 8-byte counter of a descriptor with counter semantics: false if somebody else has taken it.
static bool take_counter(struct port *port) {
    uint64_t counter;
    return read(runloop__port_descriptor(port), &counter, sizeof counter) == (ssize_t)sizeof counter;
}

static bool still_there(struct run *run, runloop_source *source) {
    // An earlier call may have forked: another thread may have been in the middle of changing the source's modes.
    if (runloop__is_inherited(run->loop))
        return false;
    runloop__lock(run->loop);
    struct binding *binding = runloop__binding_find(source, run->loop);
    bool there = binding && runloop__is_member(&binding->modes, run->mode);
    runloop__unlock(run->loop);
    return there && runloop__item_is_valid(&source->item);
}

// A descriptor that was closed without removing its source is reported as long as a duplicate of it is open. To ask the kernel about
// the number at each event would cost every program a system call for the sake of a broken one; asking now and then ends it.
enum { REPORTS_BETWEEN_CHECKS = 64 };

static inline bool is_checked(const struct port *port) {
    return port->reports % REPORTS_BETWEEN_CHECKS == 0;
}

/// HOLDS: loop. What was reported of the port is being dealt with.
static inline void begin_serving(runloop *loop, struct port *port) {
    runloop__port_unready(loop, port);
    if (!runloop__port_first_ready(loop))
        runloop__ports_note_what_is_left(loop);
    loop->timers_served_last = false;
}

/// HOLDS: loop. Collects for `port_call` whoever wants some of `ready`.
static void acknowledge(struct run *run, struct port *port, uint32_t ready, uint32_t serial) {
    run->collected_base = run->loop->collected_count;
    run->needs_counter = false;
    run->ready = ready;
    if (!is_checked(port) || !runloop__port_is_dead(run->loop, port))
        collect_all(run, port, serial);
    begin_serving(run->loop, port);
    run->counted = !run->needs_counter || take_counter(port);
}

void runloop__port_take_in_hand(struct run *run, port_number number) {
    run->choice = CHOICE_PORT;
    run->port = number;
    run->chosen_serial = (uint32_t)run->loop->serial;
    runloop__port_at(run->loop, number)->in_hand = true;
}

static inline bool is_told_first(const struct run *run) {
    return atomic_load_explicit(&run->mode->observed, memory_order_relaxed) & RUNLOOP_ACTIVITY_AFTER_WAITING;
}

static __attribute__((noinline)) bool choose_any(struct run *run) {
    uint32_t ready;
    port_number number = first_ready(run, &ready);
    if (!number)
        return false;
    if (number == PORT_MAIN_QUEUE || is_told_first(run)) {
        runloop__port_take_in_hand(run, number);
    } else {
        run->choice = CHOICE_SOURCES;
        acknowledge(run, runloop__port_at(run->loop, number), ready, (uint32_t)run->loop->serial);
    }
    return true;
}

bool runloop__port_choose(struct run *run) {
    runloop *loop = run->loop;
    port_number first = runloop__port_first_ready(loop);
    if (!first)
        return false;
    // Nearly always the first port has one source, in the running mode and of this loop alone. Whatever is out of the ordinary is for
    // the other way, which finds the same.
    struct port *port = runloop__port_at(loop, first);
    struct binding *only = port->newest;
    if (!only || port->is_shared || only->modes.mode != run->mode || is_told_first(run) || is_checked(port))
        return choose_any(run);
    runloop_source *source = runloop__source_of(only);
    uint32_t ready = port->ready & (runloop__port_mask(source) | UNASKED);
    if (!ready || runloop__source_is(source, ITEM_COUNTER) || !runloop__collect_unretained(loop, &source->item, 0))
        return choose_any(run);
    runloop__source_hold(source);
    begin_serving(loop, port);
    run->choice = CHOICE_SOURCE;
    run->source = source;
    run->ready = ready;
    return true;
}

void runloop__port_serve(struct run *run) {
    runloop *loop = run->loop;
    runloop__lock(loop);
    run->collected_base = loop->collected_count;
    // Served by a nested run, or all its sources gone, since it was chosen: nothing to do. Whoever takes it in hand meanwhile has
    // served it when it comes back here.
    struct port *port = runloop__port_at(loop, run->port);
    if (port->in_hand)
        acknowledge(run, port, runloop__port_wanted_and_ready(port, run->mode), run->chosen_serial);
    runloop__unlock(loop);
}

/// Epoll's bit for "the peer has shut down its half" is a hang-up, too.
static inline runloop_readiness as_told(uint32_t events) {
    return events & EPOLLRDHUP ? (events & ~(uint32_t)EPOLLRDHUP) | RUNLOOP_HANG_UP : events;
}

/// Calls a source that was collected: false if it is not to be called any more.
static bool call(struct run *run, runloop_source *source) {
    // An earlier one of the port's may have changed what this one asks for.
    uint32_t events = run->ready & (runloop__port_mask(source) | UNASKED);
    if (!events || (!run->counted && runloop__source_is(source, ITEM_COUNTER)))
        return false;
    runloop__IS_CALLING_OUT_TO_A_DESCRIPTOR_SOURCE(source, as_told(events));
    return true;
}

bool runloop__port_call(struct run *run) {
    runloop *loop = run->loop;
    uint32_t base = run->collected_base;
    bool called = false;
    for (uint32_t i = base; i < loop->collected_count; i++) {
        runloop_source *source = SOURCE_OF(loop->collected[i].item);
        if (i == base || still_there(run, source))
            called |= call(run, source);
        runloop__collected_drop(loop, i);
    }
    loop->collected_count = base;
    return called;
}

void runloop__port_call_only(struct run *run) {
    runloop_source *source = run->source;
    runloop__IS_CALLING_OUT_TO_A_DESCRIPTOR_SOURCE(source, as_told(run->ready));
    // Its entry goes before its reference: a release function may run the loop, or end the thread.
    run->loop->collected_count--;
    runloop__source_let_go(source);
}
