// soak.c — every capability of the C libraries at once, for a time: whether everything that was given is taken, and nothing grows.
//
//   soak SECONDS SEED
//
// It goes in rounds. In each, all loops and works begin anew, run, become quiet, and end. A round is quiet when all counts are equal. As long
// as any count moves it is only slow, however long that takes; if none has moved for half a minute, and two differ, something is lost. The
// first round is the one with the crowds; after it, and after each other one, descriptors and memory are measured.
#include <dirent.h>
#include <malloc.h>

#include "soak.h"

enum { PRODUCERS = 2, ROUND_SECONDS = 30, PATIENCE_SECONDS = 30 };

static const struct work *const groups[] = {core_works, message_works, stream_works, process_works, crowd_works};
enum { GROUPS = sizeof groups / sizeof *groups };
#define FOR_EACH_WORK(work)                                                                                            \
    for (int work##_g = 0; work##_g < GROUPS; work##_g++)                                                              \
        for (const struct work *work = groups[work##_g]; work->name; work++)
#define FOR_EACH_COUNT(count, work)                                                                                    \
    for (struct count *const *count##_at = (work)->counts, *count; (count = *count##_at); count##_at++)

atomic_bool is_over;
static atomic_bool do_producers_end;
static _Atomic int complaints;
static int64_t soak_ns;
static unsigned first_seed;

_Noreturn void must_not_fail(const char *condition, const char *file, int line) {
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, condition, strerror(errno));
    abort();
}

void complain(const char *what, long number) {
    fprintf(stderr, "FAIL %s (%ld)\n", what, number);
    if (++complaints > 100)
        abort();
}

//===-- giving -------------------------------------------------------------------------------------------------------===//

static void *produce(void *info) {
    unsigned seed = *(unsigned *)info;
    while (!do_producers_end)
        FOR_EACH_WORK(work) {
            if (work->produce)
                work->produce(&seed);
        }
    return NULL;
}

static void pump(runloop_timer *timer, void *info) {
    (void)timer;
    FOR_EACH_WORK(work) {
        if (work->pump && !is_over)
            work->pump(info);
    }
}

static void end_works(bool have_loops_ended) {
    FOR_EACH_WORK(work) {
        if (work->end && work->ends_after_loops == have_loops_ended)
            work->end();
    }
}

//===-- what is left -------------------------------------------------------------------------------------------------===//

static uint64_t sum_taken(void) {
    uint64_t sum = 0;
    FOR_EACH_WORK(work) FOR_EACH_COUNT(count, work) sum += count->taken;
    return sum;
}

static bool is_equal(const struct count *count, bool have_loops_ended) {
    return count->given == count->taken || (count->kind == SLEEPS && !have_loops_ended);
}

static bool are_equal(bool have_loops_ended) {
    FOR_EACH_WORK(work) FOR_EACH_COUNT(count, work) {
        if (!is_equal(count, have_loops_ended))
            return false;
    }
    return true;
}

static void wait_until_quiet(void) {
    uint64_t seen = 0;
    for (int64_t moved_ns = runloop_now_ns(); !are_equal(false); usleep(1000)) {
        uint64_t now = sum_taken();
        if (now != seen)
            moved_ns = runloop_now_ns();
        seen = now;
        if (runloop_now_ns() - moved_ns > PATIENCE_SECONDS * SECOND)
            return;
    }
}

static void compare(bool is_told) {
    FOR_EACH_WORK(work) FOR_EACH_COUNT(count, work) {
        uint64_t given = count->given, taken = count->taken;
        if (is_told)
            printf("%-34s %14llu %14llu\n", count->name, (unsigned long long)given, (unsigned long long)taken);
        if (given != taken)
            complain(count->name, (long)(given - taken));
    }
}

static uint64_t operations(void) {
    uint64_t sum = 0;
    FOR_EACH_WORK(work) FOR_EACH_COUNT(count, work) sum += count->kind == OPERATIONS ? count->taken : 0;
    return sum;
}

//===-- what grows ---------------------------------------------------------------------------------------------------===//

static long resident_kilobytes(void) {
    long pages = 0;
    malloc_trim(0);
    FILE *file = fopen("/proc/self/statm", "re");
    MUST(file && fscanf(file, "%*d %ld", &pages) == 1);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int open_descriptors(void) {
    int number = 0;
    DIR *all = opendir("/proc/self/fd");
    MUST(all);
    while (readdir(all))
        number++;
    closedir(all);
    return number;
}

//===-- rounds -------------------------------------------------------------------------------------------------------===//

static pthread_barrier_t round_begins;

static runloop_timer *pumps[PLACES];

/// Everything is in its loop, and none runs yet.
static void begin_round(unsigned seed) {
    is_over = do_producers_end = false;
    begin_places(seed);
    FOR_EACH_WORK(work) {
        if (work->begin)
            work->begin();
    }
    for (int p = 0; p < PLACES; p++) {
        runloop_timer_config config = {{.info = &places[p]}, 0, runloop_now_ns(), 2 * MS, 0, pump};
        MUST(runloop_timer_create(&config, &pumps[p]) == 0);
        MUST(runloop_add_timer(places[p].loop, pumps[p], MODE) == 0);
    }
}

static void end_round(void) {
    is_over = true;
    wait_until_quiet();
    end_works(false);
    end_places();
    end_works(true);
    for (int p = 0; p < PLACES; p++) {
        runloop_timer_invalidate(pumps[p]);
        runloop_timer_release(pumps[p]);
    }
    compare(false);
}

static void go_round(unsigned seed, int64_t length_ns, bool with_crowds) {
    pthread_t producers[PRODUCERS], crowds;
    unsigned seeds[PRODUCERS];
    begin_round(seed);
    pthread_barrier_wait(&round_begins);
    run_places();
    if (with_crowds)
        MUST(pthread_create(&crowds, NULL, meet_crowds, NULL) == 0);
    for (int i = 0; i < PRODUCERS; i++) {
        seeds[i] = seed ^ (unsigned)(i + 1) << 16;
        MUST(pthread_create(&producers[i], NULL, produce, &seeds[i]) == 0);
    }
    for (int64_t end_ns = runloop_now_ns() + length_ns; runloop_now_ns() < end_ns;)
        usleep(10000);
    if (with_crowds)
        pthread_join(crowds, NULL);
    // Before who goes on by himself, who takes what these move.
    do_producers_end = true;
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i], NULL);
    end_round();
}

/// What the rounds after the second, which warm up, may not change.
struct use {
    long memory;
    int descriptors;
};

static void tell(int64_t lasted_ns, struct use warm, long most, struct use last) {
    printf("%-34s %14s %14s\n", "", "given", "taken");
    compare(true);
    printf("%llu operations in %lld s, %.0f a second\n", (unsigned long long)operations(),
           (long long)(lasted_ns / SECOND), (double)operations() * 1e9 / (double)lasted_ns);
    printf("memory: %ld kB after two rounds, at most %ld kB, %ld kB at the end; descriptors: %d, %d at the end\n",
           warm.memory, most, last.memory, warm.descriptors, last.descriptors);
    if (last.memory > warm.memory + warm.memory / 5 + 2048)
        complain("memory has grown, in kB", last.memory - warm.memory);
    if (last.descriptors != warm.descriptors)
        complain("descriptors were left", last.descriptors - warm.descriptors);
    printf(complaints ? "The soak FAILED.\n" : "Nothing was lost.\n");
    fflush(stdout);
}

static void *conduct(void *unused) {
    (void)unused;
    int64_t begin_ns = runloop_now_ns(), end_ns = begin_ns + soak_ns;
    int64_t length_ns = soak_ns / 8 < ROUND_SECONDS * SECOND ? soak_ns / 8 : ROUND_SECONDS * SECOND;
    struct use warm = {0}, now = {0};
    long most = 0;
    for (int round = 0; !complaints && (round < 3 || runloop_now_ns() < end_ns); round++) {
        go_round(first_seed + (unsigned)round, length_ns, round == 0);
        now = (struct use){resident_kilobytes(), open_descriptors()};
        if (round <= 1)
            warm = now;
        most = round > 1 && now.memory > most ? now.memory : most;
        printf("round %d: %llu operations, %ld kB, %d descriptors\n", round, (unsigned long long)operations(),
               now.memory, now.descriptors);
        fflush(stdout);
    }
    tell(runloop_now_ns() - begin_ns, warm, most, now);
    _exit(complaints > 0);
}

int main(int count, char **arguments) {
    MUST(count == 3);
    soak_ns = (int64_t)(atof(arguments[1]) * 1e9);
    first_seed = (unsigned)strtoul(arguments[2], NULL, 10);
    pthread_t conductor;
    MUST(pthread_barrier_init(&round_begins, NULL, 2) == 0);
    MUST(pthread_create(&conductor, NULL, conduct, NULL) == 0);
    for (;;) {
        pthread_barrier_wait(&round_begins);
        run_main_place();
    }
}
