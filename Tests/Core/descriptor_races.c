// descriptor_races.c — descriptor sources that several threads use, among loops that start and end: added to modes and
// removed, asking for other conditions, closed before they are removed, while the loops run nested (R73, R116, R149).
#include "items.h"

#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static bool over;

static bool is_over(void) {
    return __atomic_load_n(&over, __ATOMIC_ACQUIRE);
}

static unsigned dice(unsigned *seed, unsigned sides) {
    *seed = *seed * 1664525U + 1013904223U;
    return (*seed >> 16) % sides;
}

//===-- shared by several threads, each with a reference to what it uses ---------------------------------------------===//

static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;

static runloop *borrow_loop(runloop **place) {
    pthread_mutex_lock(&shared_lock);
    runloop *loop = *place ? runloop_retain(*place) : NULL;
    pthread_mutex_unlock(&shared_lock);
    return loop;
}

static void replace_loop(runloop **place, runloop *fresh) {
    pthread_mutex_lock(&shared_lock);
    runloop *old = *place;
    *place = fresh ? runloop_retain(fresh) : NULL;
    pthread_mutex_unlock(&shared_lock);
    runloop_release(old);
}

static runloop_source *borrow_source(runloop_source **place) {
    pthread_mutex_lock(&shared_lock);
    runloop_source *source = runloop_source_retain(*place);
    pthread_mutex_unlock(&shared_lock);
    return source;
}

static void replace_source(runloop_source **place, runloop_source *fresh) {
    pthread_mutex_lock(&shared_lock);
    runloop_source *old = *place;
    *place = fresh;
    pthread_mutex_unlock(&shared_lock);
    runloop_source_release(old);
}

//===-- a loop that has ended ----------------------------------------------------------------------------------------===//

static runloop *ended;
static runloop_source *traveller;

static void *add_and_end(void *unused) {
    REQUIRE(runloop_add_source(runloop_current(), traveller, MODE) == 0);
    replace_loop(&ended, runloop_current());
    return unused;
}

static void *ask_the_ended(void *unused) {
    while (!is_over()) {
        runloop *loop = borrow_loop(&ended);
        for (int i = 0; loop && i < 20; i++) {
            runloop_contains_source(loop, traveller, MODE);
            runloop_remove_source(loop, traveller, MODE);
        }
        runloop_release(loop);
    }
    return unused;
}

TEST("R10 R73 R116 a loop that has ended can be queried for a descriptor source that is being added to another loop") {
    traveller = make_descriptor(make_eventfd(0), RUNLOOP_READABLE, NULL, NULL);
    REQUIRE(runloop_add_source(runloop_current(), traveller, MODE) == 0);
    pthread_t asking[2];
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_create(&asking[i], NULL, ask_the_ended, NULL) == 0);
    for (int i = 0; i < 1000; i++) {
        on_new_thread(add_and_end, NULL);
        // Each addition drops the loops that have ended.
        EXPECT_EQ(runloop_add_source(runloop_current(), traveller, OTHER_MODE), 0);
        EXPECT_EQ(runloop_remove_source(runloop_current(), traveller, OTHER_MODE), 0);
    }
    __atomic_store_n(&over, true, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++)
        pthread_join(asking[i], NULL);
    replace_loop(&ended, NULL);
    runloop_source_invalidate(traveller);
    runloop_source_release(traveller);
}

//===-- anything, by any thread --------------------------------------------------------------------------------------===//

enum { LOOPS = 2, HAMMERS = 3, PLACES = 6, SOURCES_OF_A_PLACE = 3 };

static const char *const modes[] = {MODE, OTHER_MODE, RUNLOOP_DEFAULT_MODE, RUNLOOP_COMMON_MODES};
static runloop *loops[LOOPS];
static runloop_source *sources[PLACES][SOURCES_OF_A_PLACE];
/// One end of a pair of sockets. Its number stays the same, whatever file it refers to; changing the file requires the
/// lock of the place.
static int numbers[PLACES];
static int peers[PLACES];
static pthread_mutex_t place_locks[PLACES];
static long calls, nested_runs, generations;
static _Thread_local int depth;
static _Thread_local unsigned nesting_seed;

/// One call in four runs the loop, by chance. If it were each fourth, then in a mode with so many sources that each run makes the
/// same number of calls, a run nested in the observer might read every event for another mode before its own source is called.
static void run_nested(void) {
    if (depth >= 3 || dice(&nesting_seed, 4))
        return;
    depth++;
    const char *mode = modes[dice(&nesting_seed, 3)];
    runloop_run_in_mode(mode, dice(&nesting_seed, 2) ? 0 : MS / 10, dice(&nesting_seed, 4) == 0);
    depth--;
    __atomic_add_fetch(&nested_runs, 1, __ATOMIC_RELAXED);
}

static void read_and_run(runloop_source *source, runloop_readiness events, void *info) {
    char bytes[4];
    if (events & RUNLOOP_READABLE)
        (void)!read(runloop_source_get_descriptor(source), bytes, sizeof bytes);
    if (events & RUNLOOP_WRITABLE)
        runloop_source_set_events(source, RUNLOOP_READABLE);
    __atomic_add_fetch(info ? (long *)info : &calls, 1, __ATOMIC_RELAXED);
    run_nested();
}

static void observe_and_run(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    run_nested();
}

static runloop_source *new_source(unsigned place, unsigned kind) {
    runloop_descriptor_config config = {.descriptor = numbers[place],
                                        .events = kind % 2 ? RUNLOOP_READABLE : RUNLOOP_HANG_UP,
                                        .order = kind % 3 ? 0 : (int32_t)kind - 4,
                                        .ready = read_and_run};
    runloop_source *source = NULL;
    REQUIRE(runloop_descriptor_source_create(&config, &source) == 0);
    return source;
}

/// dup2, past the thread sanitizer: its own record of a descriptor is not made for one that is replaced while another thread reads from it.
static void replace_file(int number, int with) {
    REQUIRE(syscall(SYS_dup3, with, number, 0) == number);
}

/// Another file takes the number before the sources of the old file are removed. Sometimes a duplicate keeps the old file
/// open for a while, and occasionally the old file gets the number back.
static void exchange_file(unsigned place, unsigned *seed) {
    pthread_mutex_lock(&place_locks[place]);
    int number = numbers[place], pair[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
    int kept = dice(seed, 2) ? dup(number) : -1;
    replace_file(number, pair[0]);
    close(pair[0]);
    if (kept >= 0 && dice(seed, 2)) {
        for (unsigned turns = dice(seed, 300); turns > 0; turns--)
            sched_yield();
        replace_file(number, kept);
        close(pair[1]);
    } else {
        close(peers[place]);
        peers[place] = pair[1];
    }
    if (kept >= 0)
        close(kept);
    pthread_mutex_unlock(&place_locks[place]);
}

static void write_to(unsigned place) {
    pthread_mutex_lock(&place_locks[place]);
    REQUIRE(send(peers[place], "x", 1, MSG_NOSIGNAL) == 1 || errno == EAGAIN);
    pthread_mutex_unlock(&place_locks[place]);
}

/// The error of a loop that has ended, of a source that has been invalidated, or of one whose number stands for another file.
static void expect_fair(int result) {
    EXPECT(result == 0 || result == -ESHUTDOWN || result == -EINVAL || result == -EBADF);
    if (result != 0 && result != -ESHUTDOWN && result != -EINVAL && result != -EBADF)
        fprintf(stderr, "    %d\n", result);
}

static void do_anything(runloop *loop, unsigned *seed) {
    static const runloop_readiness events[] = {RUNLOOP_READABLE, RUNLOOP_READABLE | RUNLOOP_WRITABLE, RUNLOOP_HANG_UP};
    unsigned place = dice(seed, PLACES), number = dice(seed, SOURCES_OF_A_PLACE);
    const char *mode = modes[dice(seed, 4)];
    runloop_source *source = borrow_source(&sources[place][number]);
    switch (dice(seed, 12)) {
    case 0:
    case 1:
    case 2: expect_fair(runloop_add_source(loop, source, mode)); break;
    case 3:
    case 4: expect_fair(runloop_remove_source(loop, source, mode)); break;
    case 5: runloop_contains_source(loop, source, mode); break;
    case 6:
    case 7: expect_fair(runloop_source_set_events(source, events[dice(seed, 3)])); break;
    case 8:
        if (dice(seed, 2))
            runloop_source_invalidate(source);
        replace_source(&sources[place][number], new_source(place, dice(seed, 6)));
        break;
    case 9: exchange_file(place, seed); break;
    default: write_to(place);
    }
    runloop_source_release(source);
}

static int hammering;

static void *hammer(void *number) {
    unsigned seed = (unsigned)(uintptr_t)number * 7919U + (unsigned)getpid();
    __atomic_add_fetch(&hammering, 1, __ATOMIC_RELAXED);
    while (!is_over()) {
        runloop *loop = borrow_loop(&loops[dice(&seed, LOOPS)]);
        if (loop)
            do_anything(loop, &seed);
        runloop_release(loop);
    }
    __atomic_sub_fetch(&hammering, 1, __ATOMIC_RELEASE);
    return NULL;
}

/// In each mode, a new descriptor and all those that the other threads have used are still reported.
static void expect_to_be_told(void) {
    // A file that is exchanged after its source was added is nobody's to report.
    WAIT_UNTIL(__atomic_load_n(&hammering, __ATOMIC_ACQUIRE) == 0);
    for (unsigned place = 0; place <= PLACES; place++) {
        for (unsigned i = 0; i < 3; i++) {
            long told = 0;
            int own = make_eventfd(1);
            if (place < PLACES)
                write_to(place);
            runloop_source *source =
                add_descriptor(modes[i], place < PLACES ? numbers[place] : own, RUNLOOP_READABLE, read_and_run, &told);
            int64_t end = runloop_now_ns() + 30 * SECOND;
            while (__atomic_load_n(&told, __ATOMIC_RELAXED) == 0 && runloop_now_ns() < end) {
                runloop_run_in_mode(modes[i], MS, true);
                // Another source of the descriptor may have read it.
                if (place < PLACES)
                    write_to(place);
            }
            EXPECT(told > 0);
            runloop_source_invalidate(source);
            close(own);
        }
    }
}

static void *live_for_a_while(void *number) {
    unsigned index = (unsigned)(uintptr_t)number, seed = index + (unsigned)getpid();
    runloop *loop = runloop_current();
    REQUIRE(loop);
    nesting_seed = seed;
    keep_mode(MODE);
    keep_mode(OTHER_MODE);
    keep_mode(RUNLOOP_DEFAULT_MODE);
    add_observer(OTHER_MODE, RUNLOOP_ACTIVITY_AFTER_WAITING, observe_and_run, NULL);
    replace_loop(&loops[index], loop);
    for (int i = 0; i < 300 && !is_over(); i++)
        runloop_run_in_mode(modes[dice(&seed, 3)], dice(&seed, 4) ? dice(&seed, 300) * 1000 : 0, dice(&seed, 2));
    __atomic_add_fetch(&generations, 1, __ATOMIC_RELAXED);
    if (is_over())
        expect_to_be_told();
    return NULL;
}

static void *keep_a_loop_alive(void *number) {
    while (!is_over())
        on_new_thread(live_for_a_while, number);
    return NULL;
}

TEST("R73 R116 R149 whatever threads do to the descriptors of loops with nested runs, each event is reported in the "
     "end") {
    test_end_after(150);
    for (unsigned place = 0; place < PLACES; place++) {
        int pair[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
        numbers[place] = pair[0];
        peers[place] = pair[1];
        pthread_mutex_init(&place_locks[place], NULL);
        for (unsigned i = 0; i < SOURCES_OF_A_PLACE; i++)
            sources[place][i] = new_source(place, i);
    }
    pthread_t threads[LOOPS + HAMMERS];
    for (uintptr_t i = 0; i < LOOPS + HAMMERS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, i < LOOPS ? keep_a_loop_alive : hammer, (void *)i) == 0);
    const char *seconds = getenv("RUNLOOP_STRESS_SECONDS");
    pass_time(seconds ? (int64_t)(atof(seconds) * 1e9) : 2 * SECOND);
    __atomic_store_n(&over, true, __ATOMIC_RELEASE);
    for (int i = LOOPS + HAMMERS; i-- > 0;)
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    for (unsigned i = 0; i < LOOPS; i++)
        replace_loop(&loops[i], NULL);
    for (unsigned place = 0; place < PLACES; place++) {
        for (unsigned i = 0; i < SOURCES_OF_A_PLACE; i++)
            runloop_source_release(sources[place][i]);
    }
    EXPECT(calls > 0 && nested_runs > 0 && generations > 0);
}
