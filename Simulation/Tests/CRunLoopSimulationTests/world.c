// world.c — what the functions of libc do for a thread of a simulated world, and that nobody else notices.

#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>

#include "runloop_lock.h"
#include "runloop_simulation.h"
#include "test.h"

static unsigned chosen; // by `choose`: the way that a call goes

static unsigned choose(void *simulation, unsigned ways) {
    (void)simulation;
    return chosen < ways ? chosen : 0;
}

static struct runloop_simulated_world world = {.choose = choose};

static void join(void) {
    runloop_simulation_set_clocks(&world);
    runloop_simulation_join(&world, &world, 3);
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * SECOND + now.tv_nsec;
}

static void *ask_for_time(void *out) {
    *(int64_t *)out = now_ns();
    return NULL;
}

TEST("a thread of a world has its time, and another one the machine's") {
    join();
    int64_t before = now_ns(), elsewhere = 0;
    time_t wall = time(NULL);
    world.now_ns += 1000 * SECOND;
    EXPECT_EQ(now_ns() - before, 1000 * SECOND);
    EXPECT_EQ(time(NULL) - wall, 1000);
    struct timeval day;
    EXPECT_EQ(gettimeofday(&day, NULL), 0);
    EXPECT_EQ(day.tv_sec, time(NULL));
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, ask_for_time, &elsewhere) == 0);
    pthread_join(thread, NULL);
    EXPECT(elsewhere >= before && elsewhere < now_ns());
    EXPECT(runloop_simulation_real_now_ns() < now_ns());
    EXPECT_EQ(runloop_simulation_member(), 3);
    runloop_simulation_join(NULL, NULL, 0);
    EXPECT(now_ns() < before + 1000 * SECOND);
}

TEST("a descriptor is refused if the world says so, to its threads alone") {
    int ends[2];
    join();
    world.faults = RUNLOOP_SIMULATION_NO_DESCRIPTORS;
    chosen = 1;
    EXPECT_EQ(pipe(ends), -1);
    EXPECT_EQ(errno, EMFILE);
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), -1);
    chosen = 0;
    EXPECT_EQ(pipe(ends), 0);
    chosen = 1;
    runloop_simulation_join(NULL, NULL, 0);
    EXPECT_EQ(pipe(ends), 0);
}

TEST("a stream is read and written in parts if the world says so, and in their order") {
    int ends[2];
    char bytes[8] = "";
    join();
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    world.faults = RUNLOOP_SIMULATION_SHORT;
    chosen = 2; // half of it
    EXPECT_EQ(write(ends[0], "abcdef", 6), 3);
    EXPECT_EQ(write(ends[0], "def", 2), 1);
    chosen = 1; // a byte
    EXPECT_EQ(read(ends[1], bytes, 8), 1);
    chosen = 0;
    EXPECT_EQ(read(ends[1], bytes + 1, 7), 3);
    EXPECT_TEXT(bytes, "abcd");
}

TEST("a timer's descriptor is due when the world's time has passed") {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    need_no_emulator("The emulator turns the bytes of a counter around, but not those of another descriptor for it.");
#endif
    join();
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    const struct itimerspec date = {.it_value = {.tv_sec = 3600}};
    uint64_t times = 0;
    REQUIRE(timer >= 0);
    EXPECT_EQ(timerfd_settime(timer, 0, &date, NULL), 0);
    EXPECT_EQ(runloop_simulation_next_timer_ns(&world) - world.now_ns, 3600 * SECOND);
    EXPECT_EQ(read(timer, &times, sizeof times), -1);
    world.now_ns += 3600 * SECOND;
    runloop_simulation_fire_timers(&world);
    EXPECT_EQ(read(timer, &times, sizeof times), (ssize_t)sizeof times);
    EXPECT_EQ(times, 1);
    runloop_simulation_free_timers(&world);
}

TEST("a child of a simulated thread has the machine's time") {
    join();
    int64_t before = now_ns();
    world.now_ns += 1000 * SECOND;
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(now_ns() < before + 1000 * SECOND && !runloop_simulation_current() ? 0 : 1);
    REQUIRE(child > 0);
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

//===-- waits for a word ---------------------------------------------------------------------------------------------===//

static struct process_lock lock;
static _Atomic uint32_t word = 1;
static int waits;

static void note_wait(void *simulation, const struct runloop_simulated_wait *wait) {
    (void)simulation;
    waits++;
    EXPECT(!wait->is_ready(wait->object));
    atomic_store(&word, 2);
}

/// Twice as long as a thread outside has to change a word that a program waits for.
static void *keep_lock(void *is_held) {
    process_lock(&lock);
    atomic_store((_Atomic bool *)is_held, true);
    while (!(atomic_load(&lock.word) & LOCK_IS_AWAITED))
        sched_yield();
    usleep(200000);
    process_unlock(&lock);
    return NULL;
}

TEST("a thread of a world that waits for a word lets others go on, but for a lock of the library it waits as ever") {
    _Atomic bool is_held = false;
    pthread_t thread;
    world.wait = note_wait;
    REQUIRE(pthread_create(&thread, NULL, keep_lock, &is_held) == 0);
    while (!atomic_load(&is_held))
        sched_yield();
    join();
    process_lock(&lock);
    process_unlock(&lock);
    EXPECT_EQ(waits, 0);
    EXPECT_EQ(syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATELY - 1, 1, NULL, NULL, 0), 0);
    EXPECT_EQ(waits, 1);
    runloop_simulation_join(NULL, NULL, 0);
    pthread_join(thread, NULL);
}
