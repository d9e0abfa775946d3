// hosted_poll.c — hosted runs under a loop that calls poll.
#include <poll.h>

#include "items.h"

#define HOST_NESTS 1
static bool is_attached;

static void host_attach(const char *mode) {
    EXPECT_EQ(runloop_hosted_begin(mode), 0);
    is_attached = true;
}

static void host_detach(void) {
    if (is_attached)
        runloop_hosted_end();
    is_attached = false;
}

static void host_iterate(int64_t limit_ns) {
    struct pollfd waited = {.fd = is_attached ? runloop_hosted_descriptor() : -1, .events = POLLIN};
    struct timespec limit = {.tv_sec = limit_ns / SECOND, .tv_nsec = limit_ns % SECOND};
    // 0: the run goes on. -EAGAIN, which needs a budget, would be as good. Anything else: it is over.
    if (ppoll(&waited, 1, &limit, NULL) == 1 && runloop_hosted_iterate(RUNLOOP_FOREVER) != 0)
        is_attached = false;
}

#include "host_scenes.h"
