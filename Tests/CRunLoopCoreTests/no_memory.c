// no_memory.c — every allocation of the core fails in turn (R121, and the -ENOMEM of every call).
// Link with -Wl,--wrap=malloc,--wrap=calloc,--wrap=aligned_alloc,--wrap=realloc,--wrap=free.
#include "items.h"

extern void *__real_malloc(size_t size);
extern void *__real_calloc(size_t count, size_t size);
extern void *__real_aligned_alloc(size_t alignment, size_t size);
extern void *__real_realloc(void *block, size_t size);
extern void __real_free(void *block);

//===-- counting and failing -----------------------------------------------------------------------------------------===//

enum { LEDGER = 1 << 16 };
static void *ledger[LEDGER]; ///< Living blocks, by hash of their address.
static pthread_mutex_t ledger_lock = PTHREAD_MUTEX_INITIALIZER;
static long living, asked, fail_at, failed;
static bool fail_on; ///< Not one allocation, but all from there on.

static size_t ledger_place(void *block) {
    return ((uintptr_t)block >> 4) * 0x9E3779B97F4A7C15U >> 48;
}

static void *enter(void *block) {
    if (!block)
        return NULL;
    pthread_mutex_lock(&ledger_lock);
    size_t place = ledger_place(block);
    while (ledger[place] && ledger[place] != (void *)1)
        place = (place + 1) % LEDGER;
    ledger[place] = block;
    living++;
    pthread_mutex_unlock(&ledger_lock);
    return block;
}

static void leave(void *block) {
    if (!block)
        return;
    pthread_mutex_lock(&ledger_lock);
    for (size_t place = ledger_place(block); ledger[place]; place = (place + 1) % LEDGER)
        if (ledger[place] == block) {
            ledger[place] = (void *)1; // Was in use: the search continues past it.
            living--;
            break;
        }
    pthread_mutex_unlock(&ledger_lock);
}

static bool fails(void) {
    pthread_mutex_lock(&ledger_lock);
    asked++;
    bool fail = fail_at && (asked == fail_at || (fail_on && asked > fail_at));
    failed += fail;
    pthread_mutex_unlock(&ledger_lock);
    return fail;
}

void *__wrap_malloc(size_t size) {
    return fails() ? NULL : enter(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : enter(__real_calloc(count, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return fails() ? NULL : enter(__real_aligned_alloc(alignment, size));
}

void *__wrap_realloc(void *block, size_t size) {
    if (fails())
        return NULL;
    leave(block);
    void *moved = __real_realloc(block, size);
    return enter(moved ? moved : block);
}

void __wrap_free(void *block) {
    leave(block);
    __real_free(block);
}

//===-- a scenario that uses everything ------------------------------------------------------------------------------===//

static int retained, released, accepted, ended, scheduled, cancelled;

static void *count_retain(void *info) {
    retained++;
    return info;
}

static void count_release(void *info) {
    (void)info;
    released++;
}

static char *describe(void *info) {
    (void)info;
    return calloc(1, 4);
}

static void count_end(void *info) {
    (void)info;
    ended++;
}

static void count_schedule(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)source, (void)loop, (void)mode, (void)info;
    scheduled++;
}

static void count_cancel(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)source, (void)loop, (void)mode, (void)info;
    cancelled++;
}

static void take_ready(runloop_source *source, runloop_readiness events, void *info) {
    (void)events, (void)info;
    take(runloop_source_get_descriptor(source));
}

static void poll_here(void *unused) {
    (void)unused;
    poll_mode(MODE);
    count_end(unused);
}

static bool are_equal(const void *info, const void *other) {
    return info == other;
}

/// A result must be that of success, or -ENOMEM if an allocation failed.
static bool good(int result) {
    EXPECT(result >= 0 || (result == -ENOMEM && failed));
    return result >= 0;
}

static void post(runloop *loop, const char *mode, runloop_function function) {
    accepted += good(runloop_post(loop, mode, function, NULL, count_end));
    accepted += good(runloop_perform(loop, mode, function, NULL, count_end));
    const char *modes[] = {mode, "posted", RUNLOOP_COMMON_MODES, "many", "more", "modes"};
    accepted += good(runloop_perform_in_modes(loop, modes, 6, function, NULL, count_end));
    accepted += good(runloop_post_in_modes(loop, modes, 6, function, NULL, count_end));
}

static runloop_context context(void) {
    return (runloop_context){.retain = count_retain, .release = count_release, .describe = describe};
}

/// A common source that has left its common modes comes back to all of them, or to none.
static void come_back(runloop *loop, runloop_source *source) {
    const char *modes[] = {RUNLOOP_DEFAULT_MODE, "common", "common as well"};
    bool is_common = good(runloop_add_source(loop, source, RUNLOOP_COMMON_MODES));
    bool leaves = true, was_in_all = true;
    for (int i = 0; i < 3; i++) {
        was_in_all &= runloop_contains_source(loop, source, modes[i]);
        leaves &= good(runloop_remove_source(loop, source, modes[i]));
    }
    if (!is_common || !was_in_all || !leaves)
        return;
    bool is_back = good(runloop_add_source(loop, source, RUNLOOP_COMMON_MODES));
    long failed_by_then = failed;
    for (int i = 0; i < 3; i++) {
        bool is_there = runloop_contains_source(loop, source, modes[i]);
        EXPECT(is_there == is_back || failed > failed_by_then);
    }
}

static void use_sources(runloop *loop, int descriptor) {
    runloop_source_config config = {
        .context = context(), .schedule = count_schedule, .cancel = count_cancel, .equal = are_equal};
    runloop_descriptor_config descriptor_config = {.context = context(),
                                                   .descriptor = descriptor,
                                                   .events = RUNLOOP_READABLE,
                                                   .counter = true,
                                                   .ready = take_ready,
                                                   .equal = are_equal};
    for (int kind = 0; kind < 2; kind++) {
        runloop_source *source = NULL;
        if (!good(kind ? runloop_descriptor_source_create(&descriptor_config, &source)
                       : runloop_source_create(&config, &source)))
            continue;
        const char *modes[] = {MODE, "a", "b", "c", "d", "e", "f", "g", "h", "i", RUNLOOP_COMMON_MODES};
        for (int i = 0; i < 11; i++) {
            bool there = good(runloop_add_source(loop, source, modes[i]));
            EXPECT_EQ(runloop_contains_source(loop, source, modes[i]), there);
        }
        runloop_source_signal(source);
        if (kind)
            bump(descriptor);
        poll_mode(MODE);
        good(runloop_remove_source(loop, source, "a"));
        come_back(loop, source);
        good(runloop_remove_source(loop, source, RUNLOOP_COMMON_MODES));
        if (!kind)
            runloop_source_invalidate(source);
        runloop_source_release(source);
    }
}

static void use_timers(runloop *loop) {
    for (int i = 0; i < 20; i++) {
        runloop_timer_config config = {
            .context = context(), .fire_ns = i % 2 ? 0 : RUNLOOP_NEVER, .interval_ns = i % 3 * MS};
        runloop_timer *timer = NULL;
        if (!good(runloop_timer_create(&config, &timer)))
            continue;
        const char *modes[] = {MODE, "a", "t", RUNLOOP_COMMON_MODES};
        for (int j = 0; j < 4; j++) {
            bool there = good(runloop_add_timer(loop, timer, modes[j]));
            EXPECT_EQ(runloop_contains_timer(loop, timer, modes[j]), there);
        }
        EXPECT_EQ(runloop_timer_set_fire_date(timer, i % 4 ? 5 : runloop_now_ns() + MS), 0);
        good(runloop_remove_timer(loop, timer, "a"));
        if (i % 5 == 0)
            runloop_timer_invalidate(timer);
        runloop_timer_release(timer);
    }
}

static void use_observers(runloop *loop) {
    for (int i = 0; i < 10; i++) {
        runloop_observer_config config = {.context = context(), .activities = RUNLOOP_ACTIVITY_ALL, .repeats = i % 2};
        runloop_observer *observer = NULL;
        if (!good(runloop_observer_create(&config, &observer)))
            continue;
        const char *modes[] = {MODE, "o", RUNLOOP_COMMON_MODES};
        for (int j = 0; j < 3; j++) {
            bool there = good(runloop_add_observer(loop, observer, modes[j]));
            EXPECT_EQ(runloop_contains_observer(loop, observer, modes[j]), there);
        }
        good(runloop_remove_observer(loop, observer, "o"));
        runloop_observer_release(observer);
    }
}

static void *use_everything(void *unused) {
    (void)unused;
    int result = poll_mode(MODE);
    EXPECT(result == RUNLOOP_RESULT_FINISHED || (result == -ENOMEM && failed));
    runloop *loop = runloop_current();
    EXPECT(loop || failed);
    if (!loop)
        return NULL;
    EXPECT(runloop_mode_name("a name of its own") || failed);
    good(runloop_add_common_mode(loop, "common"));
    good(runloop_add_common_mode(loop, "common as well"));
    post(loop, MODE, poll_here);
    int descriptor = make_eventfd(0);
    use_sources(loop, descriptor);
    use_timers(loop);
    use_observers(loop);
    good(runloop_add_common_mode(loop, "common too"));
    good(runloop_stop_mode(loop, "stopped"));
    runloop_wake_up(loop);
    char *description = runloop_copy_description(loop);
    EXPECT(description || failed);
    free(description);
    post(loop, MODE, poll_here);
    for (int i = 0; i < 3; i++) {
        EXPECT(poll_mode(MODE) > 0);
        EXPECT(run_for(MODE, MS) > 0);
        EXPECT(poll_mode("a") > 0);
        EXPECT(poll_mode("common too") > 0);
    }
    post(loop, "never", count_end);
    if (good(runloop_stop_latched(loop)))
        EXPECT(poll_mode("b") > 0);
    close(descriptor);
    return NULL;
}

/// Runs the scenario on a thread of its own and checks that everything is freed when the thread has ended.
static void expect_balance(void) {
    int descriptors = count_descriptors();
    on_new_thread(use_everything, NULL);
    EXPECT_EQ(retained, released);
    EXPECT_EQ(accepted, ended);
    EXPECT_EQ(scheduled, cancelled);
    EXPECT_EQ(count_descriptors(), descriptors);
}

/// In a process of its own: the n-th allocation fails. Afterwards allocations succeed again, and nothing has leaked.
static int living_after(long n, bool on) {
    asked = 0;
    failed = 0;
    fail_on = on;
    fail_at = n;
    if (n)
        expect_balance();
    bool reached = failed || !n;
    fail_at = failed = 0;
    expect_balance();
    EXPECT(scheduled > 0 && retained > 30 && accepted > 10);
    return reached ? (int)living : -1;
}

static void fail_everywhere(bool on) {
    // Some hundred processes; each of them has the usual time.
    test_end_after(600);
    need_proc();
    int result[2];
    REQUIRE(pipe(result) == 0);
    int expected = -1;
    long n = 0;
    for (;; n++) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            test_end_after(60);
            // What a failure leaves undone is told, in each of these processes.
            runloop_set_diagnostics_enabled(false);
            int answer = living_after(n, on);
            REQUIRE(write(result[1], &answer, sizeof answer) == sizeof answer);
            fflush(NULL);
            _exit(test_failures ? 1 : 0);
        }
        int status = 0, answer = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        if (!WIFEXITED(status) || WEXITSTATUS(status)) {
            fprintf(stderr, "    … when request %ld fails (status %d)\n", n, status);
            test_failures++;
            if (!WIFEXITED(status))
                continue;
        }
        REQUIRE(read(result[0], &answer, sizeof answer) == sizeof answer);
        if (answer < 0)
            break;
        if (n == 0)
            expected = answer;
        else if (answer != expected) {
            fprintf(stderr, "    … after request %ld failed, %d blocks live instead of %d\n", n, answer, expected);
            test_failures++;
        }
        REQUIRE(test_failures < 10);
    }
    EXPECT(n > 40); // The scenario did allocate, and the allocations were counted.
}

TEST("R121 if any single allocation fails, the call fails as documented, leaks nothing, and the loop works") {
    fail_everywhere(false);
}

TEST("R121 if every allocation fails from any one on, calls fail as documented, leak nothing, and the loop works") {
    fail_everywhere(true);
}

//===-- a source of which nobody else will tell again ----------------------------------------------------------------===//

static void count_ready(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)source, (void)reasons;
    ++*(int *)info;
}

/// On a thread whose loop has called nothing yet, so that its run has to allocate; the allocation with the number fails.
static void *run_for_a_woken_source(void *number) {
    int ends[2], calls = 0, result = -ENOMEM;
    REQUIRE(pipe(ends) == 0);
    runloop_source *source = add_descriptor(MODE, ends[0], RUNLOOP_READABLE, count_ready, &calls);
    runloop_source_wake(source);
    asked = failed = 0;
    fail_at = *(const long *)number;
    while (result == -ENOMEM)
        result = runloop_run_in_mode(MODE, RUNLOOP_FOREVER, true);
    fail_at = 0;
    EXPECT_EQ(result, RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(calls, 1);
    runloop_source_invalidate(source);
    close(ends[0]), close(ends[1]);
    return NULL;
}

TEST("R121 a source that was woken, and that memory did not suffice to call, is called without another wake-up") {
    bool is_over = false;
    for (long number = 1; !is_over; number++) {
        pthread_t thread;
        REQUIRE(pthread_create(&thread, NULL, run_for_a_woken_source, &number) == 0 && pthread_join(thread, NULL) == 0);
        is_over = failed == 0;
        EXPECT(number > 1 || !is_over);
    }
}
