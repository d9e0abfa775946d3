// stress.c — several threads and several loops for RUNLOOP_STRESS_SECONDS (2 if unset): everything at once, and all
// counts must balance afterwards (R10, R49, R116, R117, R119). RUNLOOP_STRESS_SEED repeats a run.
#include "items.h"

enum { LOOPS = 3, HAMMERS = 4, POOL = 8 };

static bool over;
static long accepted, ran, discarded, refused, retained, released, generations;
static const char *const modes[] = {MODE, OTHER_MODE, RUNLOOP_DEFAULT_MODE, RUNLOOP_COMMON_MODES};

static void count(long *number) {
    __atomic_add_fetch(number, 1, __ATOMIC_RELAXED);
}

static int64_t stress_ns(void) {
    const char *seconds = getenv("RUNLOOP_STRESS_SECONDS");
    return seconds ? (int64_t)(atof(seconds) * 1e9) : 2 * SECOND;
}

static void let_stress_last(void) {
    alarm((unsigned)(stress_ns() / SECOND) + 120);
    int64_t end = runloop_now_ns() + stress_ns();
    while (runloop_now_ns() < end)
        usleep(10000);
    __atomic_store_n(&over, true, __ATOMIC_RELEASE);
}

static bool is_over(void) {
    return __atomic_load_n(&over, __ATOMIC_ACQUIRE);
}

static unsigned dice(unsigned *seed, unsigned sides) {
    *seed = *seed * 1664525U + 1013904223U;
    return (*seed >> 16) % sides;
}

//===-- loops that start and end -------------------------------------------------------------------------------------===//

static struct {
    pthread_mutex_t lock;
    runloop *loop; ///< A reference.
} slots[LOOPS] = {
    {PTHREAD_MUTEX_INITIALIZER, NULL}, {PTHREAD_MUTEX_INITIALIZER, NULL}, {PTHREAD_MUTEX_INITIALIZER, NULL}};

static runloop *take_loop(unsigned number) {
    pthread_mutex_lock(&slots[number].lock);
    runloop *loop = slots[number].loop ? runloop_retain(slots[number].loop) : NULL;
    pthread_mutex_unlock(&slots[number].lock);
    return loop;
}

static void publish_loop(unsigned number, runloop *loop) {
    pthread_mutex_lock(&slots[number].lock);
    runloop *old = slots[number].loop;
    slots[number].loop = loop ? runloop_retain(loop) : NULL;
    pthread_mutex_unlock(&slots[number].lock);
    runloop_release(old);
}

static void *live_shortly(void *number) {
    unsigned seed = (unsigned)(uintptr_t)number + (unsigned)__atomic_load_n(&generations, __ATOMIC_RELAXED);
    runloop *loop = runloop_current();
    REQUIRE(loop);
    runloop_add_common_mode(loop, MODE);
    keep_mode(MODE);
    keep_mode(OTHER_MODE);
    publish_loop((unsigned)(uintptr_t)number, loop);
    for (int i = 0; i < 200 && !is_over(); i++) {
        int64_t limit = dice(&seed, 4) ? dice(&seed, 300) * 1000 : 0;
        int result = runloop_run_in_mode(modes[dice(&seed, 3)], limit, dice(&seed, 2));
        EXPECT(result >= RUNLOOP_RESULT_FINISHED && result <= RUNLOOP_RESULT_HANDLED_SOURCE);
    }
    return NULL; // The loop stays published: other threads find it finished.
}

static void *keep_a_loop_alive(void *number) {
    while (!is_over()) {
        on_new_thread(live_shortly, number);
        count(&generations);
    }
    publish_loop((unsigned)(uintptr_t)number, NULL);
    return NULL;
}

//===-- threads that do anything to them -----------------------------------------------------------------------------===//

static runloop_source *sources[POOL], *descriptors[POOL / 2];
static runloop_timer *timers[POOL];
static runloop_observer *observers[POOL];
static int numbers[POOL / 2];
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;

static void *count_retain(void *info) {
    count(&retained);
    return info;
}

static void count_release(void *info) {
    (void)info;
    count(&released);
}

static void count_ran(void *info) {
    (void)info;
    count(&ran);
}

static void count_discarded(void *info) {
    (void)info;
    count(&discarded);
}

static void perform_anything(runloop_source *source, void *info) {
    (void)info;
    static unsigned turn;
    if (__atomic_add_fetch(&turn, 1, __ATOMIC_RELAXED) % 8 == 0)
        runloop_source_signal(source);
}

static void ready_anything(runloop_source *source, runloop_readiness events, void *info) {
    (void)events, (void)info;
    take(runloop_source_get_descriptor(source));
}

static void fire_anything(runloop_timer *timer, void *info) {
    (void)info;
    EXPECT(runloop_now_ns() >= 0);
    static unsigned turn;
    if (__atomic_add_fetch(&turn, 1, __ATOMIC_RELAXED) % 16 == 0)
        runloop_timer_set_fire_date(timer, runloop_now_ns() + MS / 4);
}

static runloop_context counted(void) {
    return (runloop_context){.retain = count_retain, .release = count_release};
}

static runloop_source *new_source(void) {
    runloop_source_config config = {.context = counted(), .perform = perform_anything};
    runloop_source *source = NULL;
    REQUIRE(runloop_source_create(&config, &source) == 0);
    return source;
}

static runloop_source *new_descriptor(int number) {
    runloop_descriptor_config config = {.context = counted(),
                                        .descriptor = numbers[number],
                                        .events = RUNLOOP_READABLE,
                                        .counter = number % 2,
                                        .ready = ready_anything};
    runloop_source *source = NULL;
    REQUIRE(runloop_descriptor_source_create(&config, &source) == 0);
    return source;
}

static runloop_timer *new_timer(unsigned kind) {
    runloop_timer_config config = {.context = counted(),
                                   .fire_ns = runloop_now_ns() + kind % 4 * MS / 4,
                                   .interval_ns = kind % 3 * MS / 3,
                                   .tolerance_ns = kind % 2 * MS,
                                   .fire = fire_anything};
    runloop_timer *timer = NULL;
    REQUIRE(runloop_timer_create(&config, &timer) == 0);
    return timer;
}

static runloop_observer *new_observer(unsigned kind) {
    runloop_observer_config config = {
        .context = counted(), .activities = RUNLOOP_ACTIVITY_ALL, .repeats = kind % 2, .observe = NULL};
    runloop_observer *observer = NULL;
    REQUIRE(runloop_observer_create(&config, &observer) == 0);
    return observer;
}

/// A reference to an item of the pool.
#define BORROW(kind, place)                                                                                            \
    (pthread_mutex_lock(&pool_lock), borrowed_##kind = runloop_##kind##_retain(place), pthread_mutex_unlock(&pool_lock))

/// Replaces an old item by a new one. The old one is released without being invalidated.
#define REPLACE(kind, place, fresh)                                                                                    \
    do {                                                                                                               \
        runloop_##kind *fresh_item = fresh;                                                                            \
        pthread_mutex_lock(&pool_lock);                                                                                \
        runloop_##kind *old_item = place;                                                                              \
        place = fresh_item;                                                                                            \
        pthread_mutex_unlock(&pool_lock);                                                                              \
        runloop_##kind##_release(old_item);                                                                            \
    } while (0)

/// -ESHUTDOWN for a loop that has ended, -EINVAL for an invalid item, -EBUSY for an item of another loop.
static void expect_fair(int result) {
    EXPECT(result == 0 || result == -ESHUTDOWN || result == -EINVAL || result == -EBUSY);
}

static void hammer_sources(runloop *loop, const char *mode, unsigned *seed) {
    runloop_source *borrowed_source;
    unsigned place = dice(seed, POOL), fd = dice(seed, POOL / 2);
    bool by_hand = dice(seed, 2);
    BORROW(source, by_hand ? sources[place] : descriptors[fd]);
    switch (dice(seed, 8)) {
    case 0:
    case 1: expect_fair(runloop_add_source(loop, borrowed_source, mode)); break;
    case 2: expect_fair(runloop_remove_source(loop, borrowed_source, mode)); break;
    case 3: runloop_contains_source(loop, borrowed_source, mode); break;
    case 4: runloop_source_is_signalled(borrowed_source); break;
    case 5: by_hand ? (void)runloop_source_signal(borrowed_source) : bump(numbers[fd]); break;
    case 6:
        runloop_source_invalidate(borrowed_source);
        EXPECT(!runloop_source_is_valid(borrowed_source));
        break;
    default:
        if (by_hand)
            REPLACE(source, sources[place], new_source());
        else
            REPLACE(source, descriptors[fd], new_descriptor((int)fd));
    }
    runloop_source_release(borrowed_source);
}

static void hammer_timers(runloop *loop, const char *mode, unsigned *seed) {
    runloop_timer *borrowed_timer;
    unsigned place = dice(seed, POOL);
    BORROW(timer, timers[place]);
    switch (dice(seed, 8)) {
    case 0:
    case 1: expect_fair(runloop_add_timer(loop, borrowed_timer, mode)); break;
    case 2: expect_fair(runloop_remove_timer(loop, borrowed_timer, mode)); break;
    case 3: expect_fair(runloop_timer_set_fire_date(borrowed_timer, runloop_now_ns() + dice(seed, 1000) * 1000)); break;
    case 4: expect_fair(runloop_timer_set_tolerance(borrowed_timer, dice(seed, 100) * 1000)); break;
    case 5:
        runloop_timer_get_fire_date(borrowed_timer);
        runloop_timer_get_missed(borrowed_timer);
        runloop_contains_timer(loop, borrowed_timer, mode);
        runloop_next_fire_date(loop, mode);
        break;
    case 6:
        runloop_timer_invalidate(borrowed_timer);
        EXPECT(!runloop_timer_is_valid(borrowed_timer));
        break;
    default: REPLACE(timer, timers[place], new_timer(dice(seed, 12)));
    }
    runloop_timer_release(borrowed_timer);
}

static void hammer_observers(runloop *loop, const char *mode, unsigned *seed) {
    runloop_observer *borrowed_observer;
    unsigned place = dice(seed, POOL);
    BORROW(observer, observers[place]);
    switch (dice(seed, 5)) {
    case 0:
    case 1: expect_fair(runloop_add_observer(loop, borrowed_observer, mode)); break;
    case 2: expect_fair(runloop_remove_observer(loop, borrowed_observer, mode)); break;
    case 3: runloop_observer_invalidate(borrowed_observer); break;
    default: REPLACE(observer, observers[place], new_observer(dice(seed, 2)));
    }
    runloop_observer_release(borrowed_observer);
}

static void hammer_loop(runloop *loop, const char *mode, unsigned *seed) {
    int result;
    switch (dice(seed, 8)) {
    case 0: expect_fair(runloop_stop(loop)); break;
    case 1: expect_fair(runloop_stop_latched(loop)); break;
    case 2: expect_fair(runloop_wake_up(loop)); break;
    case 3: expect_fair(runloop_add_common_mode(loop, dice(seed, 2) ? OTHER_MODE : MODE)); break;
    case 4:
        runloop_is_waiting(loop);
        runloop_current_mode(loop);
        if (dice(seed, 50) == 0)
            free(runloop_copy_description(loop));
        break;
    default:
        result = dice(seed, 2)
                     ? runloop_post(loop, mode, count_ran, NULL, count_discarded)
                     : runloop_perform_in_modes(loop, modes, 1 + dice(seed, 4), count_ran, NULL, count_discarded);
        EXPECT(result == 0 || result == -ESHUTDOWN);
        count(result == 0 ? &accepted : &refused);
    }
}

static void *hammer(void *number) {
    const char *text = getenv("RUNLOOP_STRESS_SEED");
    unsigned seed = (unsigned)(uintptr_t)number * 7919U + (text ? (unsigned)atoi(text) : (unsigned)getpid());
    while (!is_over()) {
        runloop *loop = take_loop(dice(&seed, LOOPS));
        if (!loop)
            continue;
        const char *mode = modes[dice(&seed, 4)];
        switch (dice(&seed, 4)) {
        case 0: hammer_sources(loop, mode, &seed); break;
        case 1: hammer_timers(loop, mode, &seed); break;
        case 2: hammer_observers(loop, mode, &seed); break;
        default: hammer_loop(loop, mode, &seed);
        }
        runloop_release(loop);
    }
    return NULL;
}

TEST("R10 R116 R117 R119 whatever threads do to loops that start and end, nothing is lost, leaked or done twice") {
    int before = count_descriptors();
    for (int i = 0; i < POOL; i++) {
        sources[i] = new_source();
        timers[i] = new_timer((unsigned)i);
        observers[i] = new_observer((unsigned)i);
        if (i < POOL / 2) {
            numbers[i] = make_eventfd(0);
            descriptors[i] = new_descriptor(i);
        }
    }
    pthread_t threads[LOOPS + HAMMERS];
    for (uintptr_t i = 0; i < LOOPS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, keep_a_loop_alive, (void *)i) == 0);
    for (uintptr_t i = 0; i < HAMMERS; i++)
        REQUIRE(pthread_create(&threads[LOOPS + i], NULL, hammer, (void *)i) == 0);
    let_stress_last();
    for (int i = 0; i < LOOPS + HAMMERS; i++)
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < POOL; i++) {
        runloop_source_release(sources[i]);
        runloop_timer_release(timers[i]);
        runloop_observer_release(observers[i]);
        if (i < POOL / 2) {
            runloop_source_release(descriptors[i]);
            close(numbers[i]);
        }
    }
    EXPECT_EQ(ran + discarded, accepted);
    EXPECT_EQ(released, retained);
    EXPECT(accepted > 0 && ran > 0 && retained > 0 && generations > 0);
    EXPECT_EQ(count_descriptors(), before);
}
