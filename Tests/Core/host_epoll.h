// host_epoll.h — a host that waits by epoll: for HOST_EVENTS, which the test file defines.
#include <sys/epoll.h>

#include "items.h"

#define HOST_NESTS 1
static __thread int set = -1;

static void host_attach(const char *mode) {
    if (set < 0)
        REQUIRE((set = epoll_create1(EPOLL_CLOEXEC)) >= 0);
    int descriptor = runloop_hosted_descriptor();
    struct epoll_event event = {.events = HOST_EVENTS, .data.fd = descriptor};
    REQUIRE(epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event) == 0);
    EXPECT_EQ(runloop_hosted_begin(mode), 0);
}

static void host_detach(void) {
    runloop_hosted_end();
    epoll_ctl(set, EPOLL_CTL_DEL, runloop_hosted_descriptor(), NULL);
}

static void host_iterate(int64_t limit_ns) {
    struct epoll_event event;
    int milliseconds = (int)((limit_ns + MS - 1) / MS);
    if (epoll_wait(set, &event, 1, milliseconds) == 1 && event.data.fd == runloop_hosted_descriptor())
        runloop_hosted_iterate(RUNLOOP_FOREVER);
}

#include "host_scenes.h"
