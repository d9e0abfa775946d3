// input.c — an input: a descriptor is read once per iteration of the loop, and what the client does not consume is kept.
//
// The source has the descriptor, if the kernel can watch it, and the deadline of the limits. It is signalled to read a file, and to call again
// with what was kept.

#ifdef __linux__
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "streams/input.h"

static struct input *input_of(runloop_source *source) {
    return runloop__object_of(source, OBJECT_INPUT);
}

//===-- what the loop watches ----------------------------------------------------------------------------------------===//

/// Makes the loop come if there is something to do though nothing is reported.
HOLDS_LOCK static void wake_if_due(const struct input *input) {
    ASSERT_HOLDS(&input->lock.lock);
    bool has_kept = input->is_due && (input->intake.count > 0 || input->has_verdict);
    if (!input->is_paused && (input->intake.is_always_ready || has_kept))
        runloop_source_wake(input->object.source);
}

/// No call-out runs. Makes the loop come for what the input is to do next. Never fails for one that is paused.
HOLDS_LOCK static int watch(struct input *input) {
    ASSERT_HOLDS(&input->lock.lock);
    runloop_readiness wanted = input->is_paused ? 0 : RUNLOOP_READABLE;
    wake_if_due(input);
    if (runloop_source_get_events(input->object.source) == wanted)
        return 0;
    return runloop_source_set_events(input->object.source, wanted);
}

//===-- calling out --------------------------------------------------------------------------------------------------===//

/// After a call-out: the other side need not have sent anything meanwhile, and a message may have begun.
HOLDS_LOCK static void note_times(struct input *input) {
    ASSERT_HOLDS(&input->lock.lock);
    struct idle *idle = &input->idle;
    if (!idle->source)
        return;
    bool has_begun = idle->message_ns && (input->intake.count > 0 || input->is_skipping);
    if (!has_begun)
        idle->begun_ns = RUNLOOP_NEVER;
    else if (input->has_taken || idle->begun_ns == RUNLOOP_NEVER)
        idle->begun_ns = runloop_input_get_moved_ns(input->object.source);
    runloop__idle_count(idle, runloop_get_now_ns(input->loop));
}

HOLDS_LOCK static void close_owned(struct input *input) {
    ASSERT_HOLDS(&input->lock.lock);
    if (input->owns && input->intake.descriptor >= 0)
        close(input->intake.descriptor);
    input->intake.descriptor = -1;
}

/// After the end was reported, and when the thread ends in that call.
static void end_last_call(void *info) {
    struct input *input = info;
    if (object_is_inherited(&input->object))
        return;
    steady_take(&input->lock);
    close_owned(input);
    steady_give(&input->lock);
}

GIVES_LOCK static void tell_end(struct input *input) {
    const char *rest = input->intake.bytes + input->intake.start;
    input->is_calling = true;
    input->is_telling_end = true;
    steady_give(&input->lock);
    pthread_cleanup_push(end_last_call, input);
    runloop_source_invalidate(input->object.source);
    if (input->ended)
        input->ended(input->object.source, input->verdict, rest, input->intake.count, input->object.context.info);
    pthread_cleanup_pop(1);
}

/// Nothing of as many bytes as the limit was consumed, and no more would come to a client that waits for them.
HOLDS_LOCK static bool is_stuck(const struct input *input) {
    return input->received && !input->is_paused && input->intake.count == input->intake.limit;
}

/// After a call-out, and when its thread ends in it.
static void end_call(void *info) {
    struct input *input = info;
    if (object_is_inherited(&input->object))
        return;
    steady_take(&input->lock);
    input->is_calling = false;
    runloop__intake_settle(&input->intake);
    if (!input->has_returned)
        input->is_due = true;
    note_times(input);
    // An input that was ended meanwhile has nothing to watch.
    int result = runloop_source_is_valid(input->object.source) ? watch(input) : 0;
    if (result == 0 && input->has_returned && is_stuck(input))
        result = -EMSGSIZE;
    if (result < 0 && !input->has_verdict) {
        input->has_verdict = true;
        input->verdict = result;
    }
    // Nothing would report it any more, and this thread will not do so.
    if (result < 0 && !input->has_returned)
        tell_end(input);
    else
        steady_give(&input->lock);
}

static void tell_bytes(struct input *input) {
    const char *bytes = input->intake.bytes + input->intake.start;
    size_t kept = input->intake.count;
    size_t consumed = input->received(input->object.source, bytes, kept, input->object.context.info);
    runloop__intake_drop(&input->intake, consumed < kept ? consumed : kept);
    input->has_taken = consumed > 0;
}

GIVES_LOCK static void call_out(struct input *input) {
    input->is_calling = true;
    input->has_returned = false;
    input->has_taken = false;
    input->is_due = false;
    steady_give(&input->lock);
    pthread_cleanup_push(end_call, input);
    if (input->received_line)
        runloop__input_tell_lines(input);
    else
        tell_bytes(input);
    input->has_returned = true;
    pthread_cleanup_pop(1);
}

/// Reads once. Whether there is something to deliver.
HOLDS_LOCK static bool read_more(struct input *input) {
    ASSERT_HOLDS(&input->lock.lock);
    bool is_end = false;
    atomic_store_explicit(&input->has_read, true, memory_order_relaxed);
    ptrdiff_t count = runloop__intake_read(&input->intake, &is_end);
    if (count > 0) {
        atomic_store_explicit(&input->moved_ns, runloop_get_now_ns(input->loop), memory_order_relaxed);
        input->left -= count;
    }
    if (count < 0 || is_end) {
        input->has_verdict = true;
        input->verdict = (int)count;
    } else if (count == 0) {
        runloop__intake_settle(&input->intake);
    }
    return count != 0 || is_end;
}

HOLDS_LOCK static bool time_out(struct input *input) {
    input->has_verdict = true;
    input->verdict = -ETIMEDOUT;
    return true;
}

/// Whether it is over or a message has taken too long, and what had arrived when that was found has been read: the loop may be late with that,
/// and whatever comes later is too late.
HOLDS_LOCK static bool is_too_late(struct input *input) {
    ASSERT_HOLDS(&input->lock.lock);
    int64_t due_ns = idle_firm_due(&input->idle);
    if (due_ns == RUNLOOP_NEVER || runloop_get_now_ns(input->loop) < due_ns)
        return false;
    if (input->late_ns != due_ns) {
        int arrived = 0;
        // Where the kernel does not know, that is one read.
        ioctl(input->intake.descriptor, FIONREAD, &arrived);
        input->late_ns = due_ns;
        input->left = arrived;
    }
    // The end of the input comes after its last byte.
    return input->left < 0 && time_out(input);
}

/// Nothing could be read. Whether that has lasted for the idle limit, or a message has begun too long ago.
HOLDS_LOCK static bool is_idle_too_long(struct input *input) {
    int64_t moved_ns = runloop_input_get_moved_ns(input->object.source);
    int64_t sent_ns = input->output ? runloop_output_get_moved_ns(input->output) : moved_ns;
    moved_ns = sent_ns > moved_ns ? sent_ns : moved_ns;
    return runloop__idle_is_over(&input->idle, moved_ns, runloop_get_now_ns(input->loop)) && time_out(input);
}

/// Whether it may call out now.
HOLDS_LOCK static bool is_active(struct input *input) {
    ASSERT_HOLDS(&input->lock.lock);
    if (!input_goes_on(input) || !input->is_calling)
        return input_goes_on(input);
    // In a nested run, or another loop: the report would be repeated until the call-out returns. Asking for less does not fail.
    runloop_source_set_events(input->object.source, 0);
    return false;
}

static void ready(runloop_source *source, runloop_readiness reasons, void *info) {
    struct input *input = info;
    (void)source, (void)reasons;
    steady_take(&input->lock);
    // What is kept belongs to a call-out that runs, so that is looked at first.
    bool has_news = is_active(input) && ((input->is_due && input->intake.count > 0) || input->has_verdict ||
                                         is_too_late(input) || read_more(input) || is_idle_too_long(input));
    if (!has_news) {
        steady_give(&input->lock);
        return;
    }
    // With the end comes the last line, if it has no end of its own. Other bytes are delivered with the end.
    if (input->intake.count > 0 && (!input->has_verdict || (input->received_line && input->verdict == 0))) {
        call_out(input);
        if (object_is_inherited(&input->object))
            return;
        steady_take(&input->lock);
    }
    if (input->has_verdict && is_active(input))
        tell_end(input);
    else
        steady_give(&input->lock);
}

//===-- calls --------------------------------------------------------------------------------------------------------===//

/// The input that a client names: -EINVAL, or -ECHILD in a forked child.
static int find(runloop_input *source, struct input **input) {
    *input = input_of(source);
    return object_check(*input);
}

int runloop_input_pause(runloop_input *source) {
    struct input *input;
    int result = find(source, &input);
    if (result)
        return result;
    steady_take(&input->lock);
    result = runloop_source_is_valid(input->object.source) ? 0 : -EINVAL;
    if (result == 0) {
        input->is_paused = true;
        // Asking for less does not fail.
        runloop_source_set_events(input->object.source, 0);
    }
    steady_give(&input->lock);
    return result;
}

HOLDS_LOCK static int resume(struct input *input) {
    ASSERT_HOLDS(&input->lock.lock);
    if (!runloop_source_is_valid(input->object.source))
        return -EINVAL;
    bool was_paused = input->is_paused;
    input->is_due = true;
    input->is_paused = false;
    if (was_paused && input->idle.source) {
        int64_t now_ns = runloop_get_now_ns(input->loop);
        if (input->idle.begun_ns != RUNLOOP_NEVER)
            input->idle.begun_ns = now_ns;
        runloop__idle_count(&input->idle, now_ns);
    }
    // The end of a call-out does it otherwise.
    int result = input->is_calling ? 0 : watch(input);
    if (result < 0)
        input->is_paused = was_paused;
    return result;
}

int runloop_input_resume(runloop_input *source) {
    struct input *input;
    int result = find(source, &input);
    if (result)
        return result;
    steady_take(&input->lock);
    result = resume(input);
    steady_give(&input->lock);
    return result;
}

int runloop_input_set_deadline(runloop_input *source, int64_t deadline_ns) {
    struct input *input;
    int result = find(source, &input);
    if (result)
        return result;
    steady_take(&input->lock);
    result = runloop_source_is_valid(input->object.source) ? 0 : -EINVAL;
    if (result == 0)
        result = runloop__idle_set_deadline(&input->idle, source, deadline_ns,
                                            input->is_paused ? RUNLOOP_NEVER : runloop_input_get_moved_ns(source));
    steady_give(&input->lock);
    return result;
}

bool runloop_input_is_paused(runloop_input *source) {
    struct input *input = input_of(source);
    return input && input->is_paused;
}

int64_t runloop_input_get_moved_ns(runloop_input *source) {
    struct input *input = input_of(source);
    return input ? atomic_load_explicit(&input->moved_ns, memory_order_relaxed) : RUNLOOP_NEVER;
}

//===-- life ---------------------------------------------------------------------------------------------------------===//

static void discard(struct input *input) {
    runloop_source_release(input->output);
    runloop__intake_close(&input->intake);
    runloop_release(input->loop);
    free(input);
}

static void free_input(void *info) {
    struct input *input = info;
    runloop__object_end(&input->object);
    if (input->owns && input->intake.descriptor >= 0)
        close(input->intake.descriptor);
    discard(input);
}

static void invalidated(void *info) {
    struct input *input = info;
    steady_take(&input->lock);
    if (!input->is_telling_end)
        close_owned(input);
    steady_give(&input->lock);
}

/// It has come to a mode, perhaps by another thread, of a loop that sleeps and was not woken when there began to be something to do.
static void schedule(void *info, runloop *loop, const char *mode) {
    (void)loop, (void)mode;
    struct input *input = info;
    steady_take(&input->lock);
    wake_if_due(input);
    steady_give(&input->lock);
}

static bool has_read(const void *object) {
    return atomic_load_explicit(&((const struct input *)object)->has_read, memory_order_relaxed);
}

static const struct object_class input_class = {
    .kind = OBJECT_INPUT,
    .ready = ready,
    .schedule = schedule,
    .invalidated = invalidated,
    .has_read = has_read,
    .free = free_input,
};

UNCHECKED static int begin(struct input *input, const runloop_input_config *config) {
    // A line of the whole limit has an end, too.
    size_t limit = config->limit + (config->received_line ? 2 : 0);
    int result = runloop__intake_open(&input->intake, config->descriptor, limit);
    int refused = result == 0 ? runloop__is_refused_by_epoll(config->descriptor) : result;
    if (refused < 0)
        return refused;
    input->intake.is_always_ready = refused == 1;
    const struct object_config object = {
        .context = config->context, .descriptor = refused ? -1 : config->descriptor, .class = &input_class};
    result = runloop__object_begin(&input->object, &object);
    if (result < 0)
        return result;
    idle_begin(&input->idle, input->object.source);
    runloop__idle_count(&input->idle, runloop_input_get_moved_ns(input->object.source));
    steady_take(&input->lock);
    result = watch(input);
    steady_give(&input->lock);
    return result;
}

int runloop_input_create(const runloop_input_config *config, runloop_input **out) {
    if (!config || !out || config->limit == 0 || config->limit > PTRDIFF_MAX - 2 ||
        !config->received == !config->received_line || config->idle_ns < 0 || config->message_ns < 0 ||
        (config->output && !config->idle_ns))
        return -EINVAL;
    struct input *input = malloc(sizeof *input);
    if (!input)
        return -ENOMEM;
    *input = (struct input){.loop = runloop_retain(config->loop),
                            .output = runloop_source_retain(config->output),
                            .received = config->received,
                            .received_line = config->received_line,
                            .ended = config->ended,
                            .line_limit = config->limit,
                            .owns = config->owns,
                            .idle = {.limit_ns = config->idle_ns, .message_ns = config->message_ns},
                            .late_ns = RUNLOOP_NEVER};
    atomic_init(&input->moved_ns, runloop_get_now_ns(config->loop));
    int result = begin(input, config);
    if (result < 0) {
        discard(input);
        return result;
    }
    *out = input->object.source;
    return 0;
}
#endif // __linux__
