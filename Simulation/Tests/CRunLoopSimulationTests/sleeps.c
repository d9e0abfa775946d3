// sleeps.c — what a thread of a simulation sleeps and waits for descriptors is of the world's time, and no instant is asked for in vain.

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <time.h>

#include "runloop_simulation.h"
#include "test.h"

static int waits, writer = -1;
static int32_t looks;
static const char *what;

/// Time passes, unless something else was to happen before.
static void pass(void *simulation, const struct runloop_simulated_wait *wait) {
    struct runloop_simulated_world *world = simulation;
    waits++;
    looks += wait->looks;
    what = wait->what;
    EXPECT(!wait->is_ready || !wait->is_ready(wait->object));
    if (writer < 0) {
        world->now_ns = wait->until_ns > world->now_ns ? wait->until_ns : world->now_ns;
        return;
    }
    EXPECT_EQ(write(writer, "x", 1), 1);
    EXPECT(wait->is_ready(wait->object));
    writer = -1;
}

static void sent(void *simulation, const char *text) {
    (void)simulation;
    EXPECT(!text);
}

static struct runloop_simulated_world world = {.wait = pass, .sent = sent};

static void join(void) {
    runloop_simulation_set_clocks(&world);
    runloop_simulation_join(&world, &world, 3);
}

TEST("a set of epoll is waited for by the world's time, and its events are taken once") {
    int ends[2], set = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    REQUIRE(pipe(ends) == 0 && epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event) == 0);
    join();
    int64_t start_ns = world.now_ns;
    EXPECT_EQ(epoll_wait(set, &event, 1, 3600000), 0);
    EXPECT_EQ(world.now_ns - start_ns, 3600 * SECOND);
    writer = ends[1];
    EXPECT_EQ(epoll_pwait(set, &event, 1, -1, NULL), 1);
    EXPECT_EQ(epoll_pwait(set, &event, 1, 1000, NULL), 0);
    EXPECT_EQ(world.now_ns - start_ns, 3601 * SECOND);
    const struct timespec hour = {.tv_sec = 3600};
    EXPECT_EQ(ppoll(&(struct pollfd){.fd = set, .events = POLLIN}, 1, &hour, NULL), 0);
    EXPECT_EQ(world.now_ns - start_ns, 7201 * SECOND);
    EXPECT_EQ(waits, 4);
    EXPECT_TEXT(what, "a descriptor");
    runloop_simulation_join(NULL, NULL, 0);
}

TEST("a thread that looks at the clock, yields, sleeps for no time or asks without waiting lets time pass in the end") {
    const struct timespec none = {0};
    struct timespec now;
    struct epoll_event event;
    int set = epoll_create1(EPOLL_CLOEXEC);
    join();
    for (int i = 0; i < 999; i++)
        clock_gettime(CLOCK_MONOTONIC, &now);
    EXPECT_EQ(waits, 0);
    time(NULL);
    EXPECT(waits == 1 && looks == 1000);
    // Each of these calls is as good as twenty looks.
    for (int i = 0; i < 49; i++)
        sched_yield();
    EXPECT_EQ(waits, 1);
    EXPECT_EQ(poll(NULL, 0, 0), 0);
    EXPECT_EQ(waits, 2);
    for (int i = 0; i < 50; i++)
        EXPECT_EQ(epoll_wait(set, &event, 1, 0), 0);
    EXPECT_EQ(waits, 3);
    // Something else has begun.
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 600; j++)
            clock_gettime(CLOCK_REALTIME, &now);
        runloop_simulation_begin_step();
    }
    EXPECT_EQ(waits, 3);
    int64_t before_ns = world.now_ns;
    for (int i = 0; i < 50; i++)
        nanosleep(&none, NULL);
    EXPECT_EQ(waits, 54);
    EXPECT(world.now_ns > before_ns);
    runloop_simulation_join(NULL, NULL, 0);
}

TEST("what is no time is refused, and so is a sleep until the thread itself has run for so long, as ever") {
    const struct timespec bad = {.tv_nsec = 1000000000}, little = {.tv_nsec = 1};
    join();
    EXPECT_EQ(nanosleep(&bad, NULL), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &bad, NULL), EINVAL);
    EXPECT_EQ(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &little, NULL), EINVAL);
    EXPECT_EQ(waits, 0);
    runloop_simulation_join(NULL, NULL, 0);
}
