// watchdog.c — the loop's half of the watchdog: a heartbeat, the call-outs that are open, and iterations for nothing.

#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attendant.h"
#include "callout_name.h"
#include "followed.h"
#include "stack.h"

struct watchdog {
    struct follower follower;
    struct watch *watch; ///< loop's thread; NULL: stopped
};

//===-- the heartbeat ------------------------------------------------------------------------------------------------===//

static void beat(struct watch *watch, bool is_busy, int64_t now_ns) {
    int64_t before = atomic_load_explicit(&watch->beat, memory_order_relaxed);
    // Sequentially consistent, as in watch.c: either this thread sees that it is awaited, or the attendant sees the new beat.
    atomic_store(&watch->beat, now_ns * 2 + (is_busy ? BEAT_IS_BUSY : 0));
    if (atomic_load(&watch->awaited) != before)
        return;
    atomic_store(&watch->ended_ns, now_ns);
    atomic_compare_exchange_strong(&watch->awaited, &before, 0);
}

//===-- call-outs ----------------------------------------------------------------------------------------------------===//

/// Releasing stores, so that who sees one of them sees that `serial` is odd.
static void describe(struct watched_callout *callout, int kind, const void *object) {
    uint32_t line;
    // Now, since the item may be gone when its call-out has returned.
    const char *name = callout_name(kind, object, &line);
    atomic_store_explicit(&callout->kind, kind, memory_order_release);
    atomic_store_explicit(&callout->object, object, memory_order_release);
    atomic_store_explicit(&callout->line, line, memory_order_release);
    size_t length = name ? strnlen(name, sizeof callout->name - 1) : 0;
    for (size_t i = 0; i < length; i++)
        atomic_store_explicit(&callout->name[i], name[i], memory_order_release);
    atomic_store_explicit(&callout->name[length], 0, memory_order_release);
}

static void begin_callout(struct watch *watch, int kind, const void *object) {
    uint32_t serial = atomic_load_explicit(&watch->serial, memory_order_relaxed);
    int depth = atomic_load_explicit(&watch->depth, memory_order_relaxed);
    atomic_store_explicit(&watch->serial, serial + 1, memory_order_relaxed);
    if (depth < WATCH_DEPTH)
        describe(&watch->open[depth], kind, object);
    atomic_store_explicit(&watch->depth, depth + 1, memory_order_release);
    atomic_store_explicit(&watch->serial, serial + 2, memory_order_release);
    if (kind == RUNLOOP_CALLOUT_OBSERVER)
        return;
    watch->is_mixed |= watch->served && watch->served != object;
    // Work in pieces posts itself again and again.
    watch->is_mixed |= kind >= RUNLOOP_CALLOUT_TASK;
    watch->served = object;
    if (kind == RUNLOOP_CALLOUT_MAIN_QUEUE)
        atomic_fetch_add(&watch->queue_served, 1);
    void *item = (void *)(uintptr_t)object;
    bool has_descriptor = kind == RUNLOOP_CALLOUT_DESCRIPTOR_SOURCE;
    watch->served_descriptor = has_descriptor ? runloop_source_get_descriptor(item) : -1;
    watch->served_events = has_descriptor ? runloop_source_get_events(item) : 0;
    // The spin's last iteration begins to serve.
    if (watch->spins + 1 == watch->config.spin_limit && object == watch->spin_object) {
        describe(&watch->spin_callout, kind, object);
        atomic_store_explicit(&watch->spin_descriptor, watch->served_descriptor, memory_order_relaxed);
    }
}

static void end_callouts(struct watch *watch, int depth) {
    uint32_t serial = atomic_load_explicit(&watch->serial, memory_order_relaxed);
    atomic_store_explicit(&watch->serial, serial + 1, memory_order_relaxed);
    atomic_store_explicit(&watch->depth, depth, memory_order_release);
    atomic_store_explicit(&watch->serial, serial + 2, memory_order_release);
}

static void end_callout(struct watch *watch) {
    int depth = atomic_load_explicit(&watch->depth, memory_order_relaxed);
    // A call-out in which the watchdog was started returns unseen.
    if (depth > 0)
        end_callouts(watch, depth - 1);
}

//===-- spins --------------------------------------------------------------------------------------------------------===//

static void reset_spin(struct watch *watch) {
    watch->spins = 0;
    watch->spin_object = watch->served = NULL;
    watch->is_mixed = watch->is_latched = false;
}

/// An iteration is over, and the next begins without a sleep between.
static void count_spin(struct watch *watch) {
    if (watch->is_mixed || watch->served != watch->spin_object) {
        const void *served = watch->is_mixed ? NULL : watch->served;
        reset_spin(watch);
        watch->spin_object = served;
    } else if (++watch->spins == watch->config.spin_limit && !watch->is_latched) {
        watch->is_latched = true;
        if (!watch->spin_object)
            atomic_store_explicit(&watch->spin_callout.kind, -1, memory_order_relaxed);
        atomic_store_explicit(&watch->spin_iterations, watch->spins, memory_order_release);
    }
    watch->served = NULL;
    watch->is_mixed = false;
}

/// The loop looks for ready descriptors by a sleep, which may be none. Whether the descriptor that alone was served is still ready says
/// more than how long the sleep takes, but asking costs a system call; so it is asked now and then.
static void count_sleep(struct watch *watch) {
    enum { OFTEN_ENOUGH = 64 };
    uint32_t spins = watch->spins + 1;
    bool may_spin = watch->spin_object && watch->served_descriptor >= 0 && !watch->served && !watch->is_mixed;
    if (may_spin && (spins % OFTEN_ENOUGH == 0 || spins == watch->config.spin_limit)) {
        struct pollfd question = {.fd = watch->served_descriptor, .events = (short)watch->served_events};
        may_spin = poll(&question, 1, 0) > 0;
    }
    if (!may_spin)
        reset_spin(watch);
}

//===-- following ----------------------------------------------------------------------------------------------------===//

/// The main dispatch queue's, if the loop is the main one; else negative. Asked for at each run: libdispatch may have been loaded meanwhile,
/// or have closed it.
static int queue_of(const struct watch *watch) {
    return watch->is_main ? runloop_main_queue_descriptor() : -1;
}

static void begin_run(struct watch *watch, int64_t now_ns) {
    watch->run_depth++;
    beat(watch, true, now_ns);
    atomic_store(&watch->queue, queue_of(watch));
    reset_spin(watch);
    // What was before the first iteration is none.
    watch->is_mixed = true;
}

static void end_run(struct watch *watch, int64_t now_ns) {
    if (watch->run_depth > 0)
        watch->run_depth--;
    if (watch->run_depth == 0)
        end_callouts(watch, 0);
    beat(watch, watch->run_depth > 0, now_ns);
    reset_spin(watch);
    // The iteration around a nested run has served more than it seems.
    watch->is_mixed = true;
}

static void follow(struct follower *follower, runloop_trace_point point, const void *object, int64_t value,
                   int64_t now_ns) {
    (void)value;
    struct watch *watch = ((struct watchdog *)follower)->watch;
    switch (point) {
    case RUNLOOP_TRACE_RUN_BEGIN: begin_run(watch, now_ns); break;
    case RUNLOOP_TRACE_RUN_END: end_run(watch, now_ns); break;
    case RUNLOOP_TRACE_ITERATION:
        // The watchdog may have been started inside the run.
        watch->run_depth += watch->run_depth == 0;
        beat(watch, true, now_ns);
        count_spin(watch);
        break;
    case RUNLOOP_TRACE_SLEEP:
        beat(watch, false, now_ns);
        count_sleep(watch);
        break;
    case RUNLOOP_TRACE_WAKE: beat(watch, true, now_ns); break;
    case RUNLOOP_TRACE_RETURN: end_callout(watch); break;
    case RUNLOOP_TRACE_TASKS: break;
    default: begin_callout(watch, callout_kind(point), object); break;
    }
}

/// The attendant frees it, and calls the handler's release.
static void leave_watch(struct follower *follower) {
    struct watchdog *watchdog = (struct watchdog *)follower;
    if (!watchdog->watch)
        return;
    atomic_store(&watchdog->watch->is_stopped, true);
    watchdog->watch = NULL;
    attendant_wake();
}

/// Four looks at less than that would be a load.
static const int64_t shortest_limit_ns = 10000000;

static int check(const runloop_watchdog_config *config) {
    bool has_limit = config && (config->limit_ns || config->spin_limit);
    bool is_in_range = has_limit && (config->limit_ns == 0 || config->limit_ns >= shortest_limit_ns);
    return is_in_range ? 0 : -EINVAL;
}

static struct watch *make_watch(const runloop_watchdog_config *config) {
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    watch->loop = runloop_retain(runloop_current());
    watch->thread = (pid_t)syscall(SYS_gettid);
    watch->is_main = watch->loop == runloop_main() && watch->thread == getpid();
    watch->config = *config;
    atomic_init(&watch->queue, queue_of(watch));
    return watch;
}

static void prepare(struct follower *follower) {
    follower->trace = follow;
    follower->free = leave_watch;
}

int runloop_watchdog_start(const runloop_watchdog_config *config) {
    struct follower *follower;
    int error = check(config);
    if (error || (error = followed_start(ROLE_WATCHDOG, sizeof(struct watchdog), prepare, &follower)))
        return error;
    struct watchdog *watchdog = (struct watchdog *)follower;
    if (watchdog->watch)
        return -EBUSY;
    struct watch *watch = NULL;
    if (config->limit_ns && (error = stack_prepare(config->signal)))
        goto failed;
    error = -ENOMEM;
    if (!(watch = make_watch(config)) || (error = attendant_engage()))
        goto failed;
    watchdog->watch = watch;
    follower->is_active = true;
    attendant_give_watch(watch);
    return 0;
failed:
    if (watch)
        runloop_release(watch->loop);
    free(watch);
    followed_stop(ROLE_WATCHDOG);
    return error;
}

void runloop_watchdog_stop(void) {
    struct follower *follower = followed_stop(ROLE_WATCHDOG);
    if (follower)
        leave_watch(follower);
}
