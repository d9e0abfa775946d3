// faults.c — every allocation and every call of the kernel that a scenario makes fails once, with each plausible error, and some kinds from
// some call on for ever, as in a sandbox.
//
//   faults                          all scenarios; the table of what came of each failure goes to standard output
//   faults "a timer" channel        those with such a word in their name
//
// What may come of a failure: the scenario cannot tell (absorbed), or it was told an error. Not: neither of the two (lost), a crash, a run that
// does not end, a loop on which the same scenario does not work afterwards, a descriptor or a block of memory that is left each time. Each
// failure has a process of its own, in which it strikes a new loop and then, twice, one that has what a loop makes once.
#include "faults.h"

#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "injector.h"

static const struct scenario *const groups[] = {core_scenarios,    linux_scenarios,      stream_scenarios,
                                                message_scenarios, diagnostic_scenarios, cf_scenarios};

enum { MOST_OF_KIND = 12, MOST_ALLOCATIONS = 60, PATIENCE_S = 60 };

_Noreturn void must_not_fail(const char *condition, const char *file, int line) {
    fprintf(stderr, "%s:%d: the scenario's own call failed: %s: %s\n", file, line, condition, strerror(errno));
    _exit(99);
}

static int count_descriptors(void) {
    DIR *directory = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static void note_fire(runloop_timer *timer, void *info) {
    (void)timer;
    *(bool *)info = true;
}

/// A timer fires, whatever came before; and a loop that had no descriptor for timers has one from now on.
static bool fires(void) {
    bool has_fired = false;
    runloop_timer *timer = NULL;
    runloop_timer_config config = {{.info = &has_fired}, .fire_ns = runloop_now_ns() + MS, .fire = note_fire};
    MUST(runloop_timer_create(&config, &timer) == 0 && runloop_add_timer(runloop_current(), timer, "after") == 0);
    runloop_run_in_mode("after", 10 * SECOND, false);
    end_timer(&timer);
    return has_fired;
}

//===-- one failure, in a process of its own -------------------------------------------------------------------------===//

/// What the process says of itself, in memory that it shares.
struct report {
    enum outcome outcome, again;
    int error, descriptors_left, blocks_left;
    bool has_struck, is_complete;
    int counts[64];
};

static enum outcome worse(enum outcome one, enum outcome other) {
    return one == LOST || other == LOST ? LOST : one == TOLD ? one : other;
}

/// Once with the failure, and then without.
static void try_once(const struct scenario *scenario, struct fault fault, struct report *report) {
    injector_set(fault);
    report->outcome = worse(report->outcome, scenario->run());
    injector_clear();
    report->has_struck |= injector_struck();
    for (int kind = 0; kind < kind_count; kind++) {
        if (report->counts[kind] < injector_count(kind))
            report->counts[kind] = injector_count(kind);
    }
    injector_set((struct fault){0});
    report->again = worse(report->again, scenario->run());
    injector_clear();
    if (!fires())
        report->again = LOST;
}

static void try_in_child(const struct scenario *scenario, struct fault fault, struct report *report) {
    MUST(injector_open());
    try_once(scenario, fault, report);
    report->error = told_error;
    try_once(scenario, fault, report);
    int descriptors = count_descriptors(), blocks = injector_live_blocks();
    try_once(scenario, fault, report);
    // Another thread may be about to give back what it has.
    for (int wait_ms = 0; wait_ms < 1000; wait_ms += 10) {
        report->descriptors_left = count_descriptors() - descriptors;
        report->blocks_left = injector_live_blocks() - blocks;
        if (report->descriptors_left <= 0 && report->blocks_left <= 0)
            break;
        usleep(10000);
    }
    report->is_complete = true;
}

/// The status of the process, or -1 if it did not end.
static int try(const struct scenario *scenario, struct fault fault, struct report *report) {
    memset(report, 0, sizeof *report);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(PATIENCE_S);
        try_in_child(scenario, fault, report);
        _exit(0);
    }
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? -1 : status;
}

//===-- all of a scenario --------------------------------------------------------------------------------------------===//

static struct totals { int struck, absorbed, told, bad; } totals;

static const char *name_of(int error) {
    const char *name = strerrorname_np(error < 0 ? -error : error);
    return name ? name : "?";
}

/// What came of it, as a word, and whether that may be.
static const char *judge(int status, const struct report *report, bool *is_good) {
    *is_good = false;
    if (status == -1)
        return "HANG";
    if (status != 0 || !report->is_complete)
        return "CRASH";
    if (report->outcome == LOST)
        return "LOST";
    if (report->again != AS_EXPECTED)
        return "UNUSABLE AFTERWARDS";
    if (report->descriptors_left > 0)
        return "DESCRIPTORS LEFT";
    if (report->blocks_left > 0)
        return "MEMORY LEFT";
    *is_good = true;
    return report->outcome == TOLD ? "told" : "absorbed";
}

static bool try_fault(const struct scenario *scenario, struct fault fault, struct report *report) {
    int status = try(scenario, fault, report);
    // The C library keeps what belongs to a thread, for as many as there were at a time: what is a leak is one each time.
    for (int i = 0; i < 2 && status == 0 && report->blocks_left > 0; i++)
        status = try(scenario, fault, report);
    if (status == 0 && report->is_complete && !report->has_struck)
        return true;
    bool is_good;
    const char *word = judge(status, report, &is_good);
    totals.struck++;
    totals.absorbed += is_good && report->outcome == AS_EXPECTED;
    totals.told += is_good && report->outcome == TOLD;
    totals.bad += !is_good;
    printf("%-32s %-18s %3d%c %-13s %s%s%s\n", scenario->name, kinds[fault.kind].name, fault.number,
           fault.stays ? '+' : ' ', name_of(fault.error), word, is_good && report->outcome == TOLD ? " " : "",
           is_good && report->outcome == TOLD ? name_of(report->error) : "");
    return is_good;
}

static int try_scenario(const struct scenario *scenario, struct report *report) {
    struct report usual;
    int status = try(scenario, (struct fault){0}, report);
    usual = *report;
    if (status != 0 || usual.outcome != AS_EXPECTED || usual.again != AS_EXPECTED) {
        printf("%-32s does not work without failures (status %d, %d, %d, error %d)\n", scenario->name, status,
               usual.outcome, usual.again, usual.error);
        return 1;
    }
    int bad = 0;
    for (int kind = 0; kind < kind_count; kind++) {
        int most = kind > 0 ? MOST_OF_KIND : scenario->spares_allocations ? 0 : MOST_ALLOCATIONS;
        for (const int *error = kinds[kind].errors; *error; error++) {
            for (int number = 1; number <= usual.counts[kind] && number <= most; number++)
                bad += !try_fault(scenario, (struct fault){kind, number, *error, false}, report);
            // A sandbox refuses from the beginning, or from some moment on.
            bool is_refusal = *error == ENOSYS || *error == EPERM;
            for (int number = 1; is_refusal && number <= usual.counts[kind] && number <= 2; number++)
                bad += !try_fault(scenario, (struct fault){kind, number, *error, true}, report);
        }
    }
    return bad;
}

static bool is_chosen(const char *name, int count, char **words) {
    bool is = count < 2;
    for (int i = 1; i < count; i++)
        is |= strstr(name, words[i]) != NULL;
    return is;
}

int main(int count, char **words) {
    signal(SIGPIPE, SIG_IGN);
    void *shared = mmap(NULL, sizeof(struct report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUST(shared != MAP_FAILED);
    int bad = 0;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        for (const struct scenario *scenario = groups[i]; scenario->name; scenario++) {
            if (is_chosen(scenario->name, count, words))
                bad += try_scenario(scenario, shared);
        }
    }
    printf("%d failures: %d absorbed, %d told, %d neither\n", totals.struck, totals.absorbed, totals.told, totals.bad);
    return bad > 0;
}
