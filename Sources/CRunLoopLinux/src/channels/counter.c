// counter.c — an eventfd as a source.
//
// A thread is not cancelled where it reads and writes: it would lose what it has read, or end inside the signal handler that adds. The functions
// for that are the C library's all the same, since the thread sanitizer sees what these order.

#ifdef __linux__
#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/object.h"
#include "runloop_bionic.h"
#include "runloop_counter.h"

struct counter {
    struct object object;
    void (*counted)(runloop_counter *counter, uint64_t sum, void *info);
};

static struct counter *counter_of(runloop_source *source) {
    return runloop__object_of(source, OBJECT_COUNTER);
}

static bool take(struct counter *counter, uint64_t *sum) {
    int cancellation;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
    bool is_taken = read(counter->object.descriptor, sum, sizeof *sum) == sizeof *sum;
    pthread_setcancelstate(cancellation, NULL);
    return is_taken;
}

static void ready(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)reasons;
    struct counter *counter = info;
    uint64_t sum;
    // Another loop may have been faster.
    if (!runloop_source_is_valid(source) || !take(counter, &sum))
        return;
    if (counter->counted)
        counter->counted(counter->object.source, sum, counter->object.context.info);
}

static const struct object_class counter_class = {.kind = OBJECT_COUNTER, .ready = ready};

int runloop_counter_create(const runloop_counter_config *config, runloop_counter **out) {
    if (!config || !out)
        return -EINVAL;
    int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    const struct object_config object = {
        .context = config->context, .descriptor = descriptor < 0 ? -errno : descriptor, .class = &counter_class};
    int result;
    struct counter *counter = runloop__object_make(sizeof *counter, &object, &result);
    if (!counter)
        return result;
    counter->counted = config->counted;
    *out = counter->object.source;
    return 0;
}

int runloop_counter_add(runloop_counter *source, uint64_t value) {
    struct counter *counter = counter_of(source);
    if (!counter || value == 0)
        return -EINVAL;
    int before = errno; // a signal handler leaves it as it was
    int result, cancellation;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
    do
        result = write(counter->object.descriptor, &value, sizeof value) < 0 ? -errno : 0;
    while (result == -EINTR);
    pthread_setcancelstate(cancellation, NULL);
    errno = before;
    return result;
}
#endif // __linux__
