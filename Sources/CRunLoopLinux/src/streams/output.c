// output.c — an output: bytes are sent, or wait in a ring for the loop to send them.
//
// Bytes wait exactly while the source asks for writability, except that after the last of them, or an error, the loop still has to report it. An idle
// limit is the deadline of the source.

#ifdef __linux__
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/object.h"
#include "runloop_output.h"
#include "streams/idle.h"
#include "streams/ring.h"
#include "streams/sink.h"

/// So much is written per call of the loop and of the client, so that a reader that is as fast as the kernel does not keep the thread for ever.
enum { MOST_WRITES = 16 };

struct output {
    struct object object;
    runloop *loop;
    void (*drained)(runloop_output *output, int error, void *info);
    _Atomic int64_t moved_ns;
    bool owns;        ///< constant
    bool resets;      ///< constant
    size_t low_water; ///< constant; 0: none
    /// Guards all that follows.
    struct steady_lock lock;
    struct sink sink GUARDED;  ///< its descriptor is -1 after the end, when it may be another file's
    bool is_asking GUARDED;    ///< the loop watches for writability, and will call out
    bool is_full GUARDED;      ///< the kernel took no more the last time
    bool is_short GUARDED;     ///< a call was refused bytes, and waits for the mark
    bool is_finishing GUARDED; ///< takes no more bytes
    bool is_finished GUARDED;
    int error GUARDED; ///< the result of every further call, or 0
    struct ring waiting GUARDED;
    struct idle idle GUARDED;
};

static struct output *output_of(runloop_source *source) {
    return runloop__object_of(source, OBJECT_OUTPUT);
}

//===-- sending ------------------------------------------------------------------------------------------------------===//

/// What waits is of no use any more.
HOLDS_LOCK static int fail(struct output *output, int error) {
    ASSERT_HOLDS(&output->lock.lock);
    output->error = error;
    ring_empty(&output->waiting);
    return error;
}

/// The loop is to send what waits, or to report that there is nothing.
HOLDS_LOCK static int ask(struct output *output) {
    ASSERT_HOLDS(&output->lock.lock);
    if (output->is_asking)
        return 0;
    int result = runloop_source_set_events(output->object.source, RUNLOOP_WRITABLE);
    if (result < 0)
        return fail(output, result);
    output->is_asking = true;
    return 0;
}

/// -ENOMEM, or 0.
HOLDS_LOCK static int keep(struct output *output, const char *bytes, size_t count) {
    ASSERT_HOLDS(&output->lock.lock);
    if (!ring_reserve(&output->waiting, count))
        return -ENOMEM;
    // Silence counts from when something waits.
    if (output->waiting.count == 0 && output->idle.source)
        runloop__idle_count(&output->idle, runloop_get_now_ns(output->loop));
    ring_append(&output->waiting, bytes, count);
    return 0;
}

/// Writes the pieces once: the number of bytes, 0 if the kernel takes none.
HOLDS_LOCK static ptrdiff_t write_pieces(struct output *output, struct iovec *pieces, int count) {
    ASSERT_HOLDS(&output->lock.lock);
    ptrdiff_t written = runloop__sink_write(&output->sink, pieces, count);
    output->is_full = written == 0;
    if (written > 0)
        atomic_store_explicit(&output->moved_ns, runloop_get_now_ns(output->loop), memory_order_relaxed);
    return written < 0 ? fail(output, (int)written) : written;
}

/// Sends what waits. 0: nothing waits; -EAGAIN: something still does; or the error.
HOLDS_LOCK static int send_waiting(struct output *output) {
    for (int i = 0; output->waiting.count > 0; i++) {
        struct iovec pieces[2];
        // A file is written to the end: nothing would report when to go on.
        if (i >= MOST_WRITES && !output->sink.is_always_ready)
            return -EAGAIN;
        ptrdiff_t written = write_pieces(output, pieces, ring_pieces(&output->waiting, pieces));
        if (written <= 0)
            return written < 0 ? (int)written : -EAGAIN;
        ring_drop(&output->waiting, (size_t)written);
    }
    return output->error;
}

/// Sends bytes before which nothing waits: how many. An error counts only if none were.
HOLDS_LOCK static ptrdiff_t send_now(struct output *output, const char *bytes, size_t count) {
    size_t sent = 0;
    for (int i = 0; sent < count && (i < MOST_WRITES || output->sink.is_always_ready); i++) {
        struct iovec piece = {(char *)bytes + sent, count - sent};
        ptrdiff_t written = write_pieces(output, &piece, 1);
        if (written <= 0)
            return sent ? (ptrdiff_t)sent : written;
        sent += (size_t)written;
    }
    return (ptrdiff_t)sent;
}

/// Everything was sent.
HOLDS_LOCK static int end_of_output(struct output *output) {
    ASSERT_HOLDS(&output->lock.lock);
    output->is_finished = true;
    if (output->sink.is_socket)
        return shutdown(output->sink.descriptor, SHUT_WR) < 0 ? fail(output, -errno) : 0;
    return 0;
}

/// An owned descriptor that is no socket says by its end that everything was sent.
GIVES_LOCK static void give(struct output *output) {
    bool is_over = output->is_finished && output->owns && !output->sink.is_socket;
    steady_give(&output->lock);
    if (is_over)
        runloop_source_invalidate(output->object.source);
}

/// The loop stops watching for writability once it has nothing to report. Asking for less does not fail.
HOLDS_LOCK static void rest(struct output *output) {
    ASSERT_HOLDS(&output->lock.lock);
    if (!output->is_asking)
        runloop_source_set_events(output->object.source, 0);
}

/// Sends what waits, unless none of it could be sent for the idle limit, or the deadline has passed and something still waits.
HOLDS_LOCK static int go_on(struct output *output) {
    int result = send_waiting(output);
    if (result != -EAGAIN || !runloop__idle_is_over(&output->idle, runloop_output_get_moved_ns(output->object.source),
                                                    runloop_get_now_ns(output->loop)))
        return result;
    return fail(output, -ETIMEDOUT);
}

/// Whether enough was sent for a producer that was refused bytes to go on, though something waits still.
HOLDS_LOCK static bool takes_mark(struct output *output) {
    ASSERT_HOLDS(&output->lock.lock);
    if (!output->is_short || !output->low_water || output->waiting.count > output->low_water)
        return false;
    output->is_short = false;
    return true;
}

static void ready(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)reasons;
    struct output *output = info;
    steady_take(&output->lock);
    bool goes_on = runloop_source_is_valid(source) && output->is_asking;
    int result = goes_on ? go_on(output) : -EAGAIN;
    output->is_asking = output->is_asking && result == -EAGAIN;
    if (result == 0 && output->is_finishing && !output->is_finished)
        result = end_of_output(output);
    bool is_at_mark = goes_on && result == -EAGAIN && takes_mark(output);
    bool calls_drained = (result != -EAGAIN || is_at_mark) && output->drained;
    if (result != -EAGAIN)
        output->is_short = false;
    // The call-out may well write more than the kernel takes. If its thread ends in it, the next call rests.
    if (!calls_drained)
        rest(output);
    give(output);
    // The removal of one that is over is a call-out, too, and may fork.
    if (!calls_drained || object_is_inherited(&output->object))
        return;
    output->drained(output->object.source, is_at_mark ? 0 : result, output->object.context.info);
    if (object_is_inherited(&output->object))
        return;
    steady_take(&output->lock);
    rest(output);
    steady_give(&output->lock);
}

//===-- calls --------------------------------------------------------------------------------------------------------===//

/// 0, or what the call comes to.
TAKES_LOCK static int enter(struct output *output) {
    steady_take(&output->lock);
    if (object_is_inherited(&output->object))
        return -ECHILD;
    if (output->error)
        return output->error;
    if (output->is_finished || (output->is_finishing && output->waiting.count == 0))
        return -EPIPE;
    return runloop_source_is_valid(output->object.source) ? 0 : -EINVAL;
}

GIVES_LOCK static ptrdiff_t leave(struct output *output, ptrdiff_t result) {
    give(output);
    return result;
}

/// Sends and keeps as many as possible: how many.
HOLDS_LOCK static ptrdiff_t write_some(struct output *output, const char *bytes, size_t count) {
    int result = output->waiting.count > 0 && !output->is_full ? send_waiting(output) : 0;
    if (result < 0 && result != -EAGAIN)
        return result;
    ptrdiff_t sent = 0;
    if (output->waiting.count == 0 && !output->is_full && count > 0) {
        sent = send_now(output, bytes, count);
        if (sent < 0)
            return sent;
    }
    size_t rest = count - (size_t)sent, space = output->waiting.limit - output->waiting.count;
    // In a file nothing waits, and nothing is reported: an error after its first bytes is the next call's.
    if (rest == 0 || (output->error && output->sink.is_always_ready))
        return sent;
    // Bytes that were not taken, for an error or want of memory, are reported by the loop like a full buffer.
    size_t kept = output->error ? 0 : rest < space ? rest : space;
    output->is_short |= kept < rest;
    if (keep(output, bytes + sent, kept) < 0) {
        if (sent == 0)
            return -ENOMEM;
        kept = 0;
    }
    result = ask(output);
    if (result < 0)
        return result;
    return sent > 0 || kept > 0 ? sent + (ptrdiff_t)kept : -EAGAIN;
}

ptrdiff_t runloop_output_write(runloop_output *source, const void *bytes, size_t count) {
    struct output *output = output_of(source);
    if (!output || (!bytes && count > 0) || count > PTRDIFF_MAX)
        return -EINVAL;
    ptrdiff_t result = enter(output);
    if (result == 0)
        result = output->is_finishing ? -EPIPE : write_some(output, bytes, count);
    return leave(output, result);
}

HOLDS_LOCK static int enqueue_all(struct output *output, const char *bytes, size_t count) {
    if (count > output->waiting.limit)
        return -EMSGSIZE;
    int result = 0;
    if (count > output->waiting.limit - output->waiting.count && !output->is_full)
        result = send_waiting(output);
    if (result < 0 && result != -EAGAIN)
        return result;
    if (count > output->waiting.limit - output->waiting.count) {
        output->is_short = true;
        return -EAGAIN;
    }
    if (keep(output, bytes, count) < 0)
        return -ENOMEM;
    if (output->waiting.count == 0)
        return 0;
    return output->sink.is_always_ready ? send_waiting(output) : ask(output);
}

int runloop_output_enqueue(runloop_output *source, const void *bytes, size_t count) {
    struct output *output = output_of(source);
    if (!output || (!bytes && count > 0))
        return -EINVAL;
    int result = enter(output);
    if (result == 0)
        result = output->is_finishing ? -EPIPE : enqueue_all(output, bytes, count);
    return (int)leave(output, result);
}

int runloop_output_flush(runloop_output *source) {
    struct output *output = output_of(source);
    if (!output)
        return -EINVAL;
    int result = enter(output);
    if (result == 0)
        result = send_waiting(output);
    else if (result == -EPIPE && output->error == 0)
        result = 0;
    return (int)leave(output, result);
}

int runloop_output_finish(runloop_output *source) {
    struct output *output = output_of(source);
    if (!output)
        return -EINVAL;
    int result = enter(output);
    if (result == 0) {
        output->is_finishing = true;
        result = send_waiting(output);
        // If the loop still has to report that waiting output was sent, it ends the output first.
        if (result == 0)
            result = output->is_asking ? -EAGAIN : end_of_output(output);
    } else if (result == -EPIPE && output->error == 0) {
        result = output->is_finished ? 0 : -EAGAIN;
    }
    return (int)leave(output, result);
}

int runloop_output_set_deadline(runloop_output *source, int64_t deadline_ns) {
    struct output *output = output_of(source);
    if (!output)
        return -EINVAL;
    int result = enter(output);
    // In a file nothing waits.
    if (result == 0 && !output->sink.is_always_ready)
        result =
            runloop__idle_set_deadline(&output->idle, source, deadline_ns,
                                       output->waiting.count ? runloop_output_get_moved_ns(source) : RUNLOOP_NEVER);
    return (int)leave(output, result);
}

size_t runloop_output_get_waiting(runloop_output *source) {
    struct output *output = output_of(source);
    if (!output || object_is_inherited(&output->object))
        return 0;
    steady_take(&output->lock);
    size_t count = output->waiting.count;
    steady_give(&output->lock);
    return count;
}

int64_t runloop_output_get_moved_ns(runloop_output *source) {
    struct output *output = output_of(source);
    return output ? atomic_load_explicit(&output->moved_ns, memory_order_relaxed) : RUNLOOP_NEVER;
}

//===-- life ---------------------------------------------------------------------------------------------------------===//

static void discard(struct output *output) {
    runloop_release(output->loop);
    free(output);
}

/// The kernel keeps nothing for the peer once the socket is closed, here or elsewhere.
HOLDS_LOCK static void reset(const struct output *output) {
    const struct linger none = {.l_onoff = 1, .l_linger = 0};
    if (output->sink.is_socket)
        setsockopt(output->sink.descriptor, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

/// Nothing is sent any more. The connection of a forked child is its parent's.
static void end(void *info) {
    struct output *output = info;
    steady_take(&output->lock);
    ring_empty(&output->waiting);
    bool is_open = output->sink.descriptor >= 0;
    if (is_open && output->resets && !output->is_finished && !object_is_inherited(&output->object))
        reset(output);
    if (is_open && output->owns)
        close(output->sink.descriptor);
    output->sink.descriptor = -1;
    steady_give(&output->lock);
}

static void free_output(void *info) {
    struct output *output = info;
    runloop__object_end(&output->object);
    end(output);
    discard(output);
}

static const struct object_class output_class = {
    .kind = OBJECT_OUTPUT, .ready = ready, .invalidated = end, .free = free_output};

UNCHECKED static int begin(struct output *output, const runloop_output_config *config) {
    const struct object_config object = {
        .context = config->context,
        .cancel = config->cancel,
        .descriptor = config->descriptor,
        .events = RUNLOOP_WRITABLE,
        .class = &output_class,
    };
    int result = runloop__object_begin(&output->object, &object);
    // In regular files, and whatever else the kernel does not watch, nothing waits.
    if (result == 0 && !output->sink.is_always_ready)
        idle_begin(&output->idle, output->object.source);
    return result;
}

int runloop_output_create(const runloop_output_config *config, runloop_output **out) {
    if (!config || !out || config->limit == 0 || config->limit > PTRDIFF_MAX || config->idle_ns < 0 ||
        config->low_water >= config->limit)
        return -EINVAL;
    struct sink sink;
    int result = runloop__sink_open(&sink, config->descriptor);
    if (result < 0)
        return result;
    struct output *output = malloc(sizeof *output);
    if (!output)
        return -ENOMEM;
    *output = (struct output){.loop = runloop_retain(config->loop),
                              .drained = config->drained,
                              .sink = sink,
                              .owns = config->owns,
                              .resets = config->resets,
                              .low_water = config->low_water,
                              .waiting.limit = config->limit,
                              .idle = {.limit_ns = config->idle_ns}};
    atomic_init(&output->moved_ns, runloop_get_now_ns(config->loop));
    result = begin(output, config);
    if (result < 0) {
        discard(output);
        return result;
    }
    runloop_source_set_events(output->object.source, 0);
    *out = output->object.source;
    return 0;
}
#endif // __linux__
