// crowd_works.c — very many: threads that come and go, a million timers in a loop, a hundred thousand descriptors.
#include <semaphore.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include "soak.h"

//===-- threads ------------------------------------------------------------------------------------------------------===//

static struct count threads = {.name = "threads"}, posts = {.name = "posts to threads that end"};

struct short_life {
    sem_t is_there;
    runloop *loop; ///< a reference for who posts
    bool has_fired;
};

static void note_fired(runloop_timer *timer, void *info) {
    (void)timer;
    ((struct short_life *)info)->has_fired = true;
}

static void *live_shortly(void *info) {
    struct short_life *life = info;
    runloop *loop = runloop_current();
    MUST(loop);
    runloop_timer *timer;
    runloop_timer_config config = {{.info = life}, 0, runloop_now_ns(), 0, 0, note_fired};
    MUST(runloop_timer_create(&config, &timer) == 0);
    MUST(runloop_add_timer(loop, timer, MODE) == 0);
    runloop_timer_release(timer);
    life->loop = runloop_retain(loop);
    sem_post(&life->is_there);
    int result = runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false);
    if (result != RUNLOOP_RESULT_FINISHED || !life->has_fired)
        complain("the timer of a thread", result);
    take(&threads, 1);
    return NULL;
}

static void take_post(void *info) {
    take(info, 1);
}

/// A thread whose loop gets posts until it ends: each is performed or discarded, or was refused.
static void make_thread(void) {
    struct short_life life = {.loop = NULL};
    pthread_t thread;
    MUST(sem_init(&life.is_there, 0, 0) == 0);
    give(&threads, 1);
    MUST(pthread_create(&thread, NULL, live_shortly, &life) == 0);
    while (sem_wait(&life.is_there) != 0)
        MUST(errno == EINTR);
    for (int i = 0; i < 20; i++) {
        give(&posts, 1);
        int error = runloop_post(life.loop, MODE, take_post, &posts, take_post);
        if (!error)
            continue;
        take(&posts, 1);
        if (error != -ESHUTDOWN)
            complain("a post to a thread that ends", error);
    }
    MUST(pthread_join(thread, NULL) == 0);
    runloop_release(life.loop);
    sem_destroy(&life.is_there);
}

static void make_a_thread_at_times(unsigned *seed) {
    if (dice(seed, 32) == 0)
        make_thread();
}

const struct work crowd_works[] = {
    {"threads", NULL, make_a_thread_at_times, NULL, NULL, {&threads, &posts}},
    {0},
};

//===-- a million timers ---------------------------------------------------------------------------------------------===//

static void count_timer(runloop_timer *timer, void *info) {
    (void)timer;
    ++*(long *)info;
}

static void meet_timers(long number) {
    runloop_timer **timers = malloc((size_t)number * sizeof *timers);
    long fired = 0;
    unsigned seed = 1;
    MUST(timers);
    for (long i = 0; i < number; i++) {
        int64_t at = runloop_now_ns() + 100 * SECOND + dice(&seed, 60000) * MS;
        runloop_timer_config config = {{.info = &fired}, 0, at, 0, 0, count_timer};
        MUST(runloop_timer_create(&config, &timers[i]) == 0);
        MUST(runloop_add_timer(runloop_current(), timers[i], "crowd") == 0);
    }
    // Moved, so that all of them are due within a second.
    for (long i = 0; i < number; i++)
        MUST(runloop_timer_set_fire_date(timers[i], runloop_now_ns() + dice(&seed, 1000) * MS) == 0);
    while (runloop_run_in_mode("crowd", SECOND, false) != RUNLOOP_RESULT_FINISHED) {
    }
    for (long i = 0; i < number; i++)
        runloop_timer_release(timers[i]);
    free(timers);
    printf("crowds: %ld timers in a loop, %ld fired\n", number, fired);
    if (fired != number)
        complain("timers of the crowd that did not fire", number - fired);
}

//===-- a hundred thousand descriptors -------------------------------------------------------------------------------===//

static void count_ready(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)reasons;
    uint64_t value;
    if (read(runloop_source_get_descriptor(source), &value, sizeof value) == sizeof value)
        ++*(long *)info;
}

/// As many as the limit allows, if that can't be raised.
static long raise_limit(long wanted) {
    struct rlimit limit;
    MUST(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    struct rlimit higher = {(rlim_t)wanted + 2000,
                            limit.rlim_max > (rlim_t)wanted + 2000 ? limit.rlim_max : (rlim_t)wanted + 2000};
    if (setrlimit(RLIMIT_NOFILE, &higher) == 0)
        return wanted;
    limit.rlim_cur = limit.rlim_max;
    MUST(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    return (long)limit.rlim_max - 2000 < wanted ? (long)limit.rlim_max - 2000 : wanted;
}

static void meet_descriptors(long wanted) {
    long number = raise_limit(wanted), called = 0;
    runloop_source **sources = calloc((size_t)number, sizeof *sources);
    MUST(sources);
    for (long i = 0; i < number; i++) {
        int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        MUST(descriptor >= 0);
        runloop_descriptor_config config = {
            .context.info = &called, .descriptor = descriptor, .events = RUNLOOP_READABLE, .ready = count_ready};
        MUST(runloop_descriptor_source_create(&config, &sources[i]) == 0);
        MUST(runloop_add_source(runloop_current(), sources[i], "crowd") == 0);
    }
    for (long i = 0; i < number; i++)
        MUST(write(runloop_source_get_descriptor(sources[i]), &(uint64_t){1}, 8) == 8);
    while (runloop_run_in_mode("crowd", 100 * MS, true) == RUNLOOP_RESULT_HANDLED_SOURCE) {
    }
    for (long i = 0; i < number; i++) {
        int descriptor = runloop_source_get_descriptor(sources[i]);
        end_source(&sources[i]);
        close(descriptor);
    }
    free(sources);
    printf("crowds: %ld descriptors in a loop (%ld were wanted), %ld called\n", number, wanted, called);
    if (called != number)
        complain("descriptors of the crowd that were not called", number - called);
}

void *meet_crowds(void *unused) {
    (void)unused;
    enum { TIMERS = 1000000, DESCRIPTORS = 100000, THREADS = 10000 };
    meet_timers(TIMERS);
    meet_descriptors(DESCRIPTORS);
    for (int i = 0; i < THREADS; i++)
        make_thread();
    printf("crowds: %d threads came and went\n", THREADS);
    return NULL;
}
