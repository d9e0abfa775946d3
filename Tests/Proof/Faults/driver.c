// driver.c — every allocation and every call of the kernel that a scenario makes fails once, with each plausible error, and some kinds from
// some call on for ever, as in a sandbox.
//
// What may come of a failure: the scenario cannot tell (absorbed), or it was told an error, or the program ends with a sentence that its
// documentation announces. Not: none of these (lost), a crash, a run that does not end, a loop on which the same scenario does not work
// afterwards, a descriptor or a block of memory that is left each time. Each failure has a process of its own, in which it strikes a new
// loop and then, twice, one that has what a loop makes once.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "injector.h"

enum { MOST_OF_KIND = 12, MOST_ALLOCATIONS = 300, PATIENCE_S = 30 };

static const struct fault_plan *plan;
bool fault_table_is_short;

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
    if (injector_told_error())
        report->error = injector_told_error();
    report->has_struck |= injector_struck();
    for (int kind = 0; kind < kind_count; kind++) {
        if (report->counts[kind] < injector_count(kind))
            report->counts[kind] = injector_count(kind);
    }
    injector_set((struct fault){0});
    report->again = worse(report->again, scenario->run());
    injector_clear();
    if (plan->works && !plan->works())
        report->again = LOST;
}

static void try_in_child(const struct scenario *scenario, struct fault fault, struct report *report) {
    MUST(injector_open());
    try_once(scenario, fault, report);
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

/// What the processes share with this one: the report, and what they write to their standard error.
static struct {
    struct report *report;
    int report_file, errors;
} shared;

static struct report *map_report(int file) {
    struct report *report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    MUST(report != MAP_FAILED);
    return report;
}

static void share(void) {
    shared.report_file = memfd_create("report", 0);
    shared.errors = memfd_create("errors", 0);
    MUST(shared.report_file >= 0 && shared.errors >= 0 && ftruncate(shared.report_file, sizeof(struct report)) == 0);
    shared.report = map_report(shared.report_file);
}

#define VARIABLE "RUNLOOP_FAULT"

/// This program again, which finds in a variable what it is to try.
_Noreturn static void execute(const struct scenario *scenario, struct fault fault) {
    char value[256], words[4096], *arguments[64] = {0};
    snprintf(value, sizeof value, "%d %d %d %d %d %s", shared.report_file, fault.kind, fault.number, fault.error,
             fault.stays, scenario->name);
    setenv(VARIABLE, value, true);
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC), count = 0;
    ssize_t length = read(file, words, sizeof words - 1);
    for (char *word = words; word < words + length && count < 63; word += strlen(word) + 1)
        arguments[count++] = word;
    execv("/proc/self/exe", arguments);
    must_not_fail("execv", __FILE__, __LINE__);
}

static const struct scenario *find_scenario(const char *name) {
    for (size_t i = 0; i < plan->group_count; i++) {
        for (const struct scenario *scenario = plan->groups[i]; scenario->name; scenario++) {
            if (strcmp(scenario->name, name) == 0)
                return scenario;
        }
    }
    return NULL;
}

/// If this process was executed for one failure: it does not return then.
static void try_as_executed(void) {
    const char *value = getenv(VARIABLE);
    if (!value)
        return;
    struct fault fault;
    int file, stays, used;
    MUST(sscanf(value, "%d %d %d %d %d %n", &file, &fault.kind, &fault.number, &fault.error, &stays, &used) == 5);
    fault.stays = stays;
    const struct scenario *scenario = find_scenario(value + used);
    MUST(scenario);
    try_in_child(scenario, fault, map_report(file));
    _exit(0);
}

/// The status of the process, or -1 if it did not end.
static int try(const struct scenario *scenario, struct fault fault, struct report *report) {
    memset(shared.report, 0, sizeof *shared.report);
    MUST(ftruncate(shared.errors, 0) == 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (plan->announced_ends)
            dup2(shared.errors, STDERR_FILENO), lseek(STDERR_FILENO, 0, SEEK_SET);
        if (plan->executes)
            execute(scenario, fault);
        try_in_child(scenario, fault, shared.report);
        _exit(0);
    }
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN};
    MUST(child > 0 && end.fd >= 0);
    bool ends = poll(&end, 1, PATIENCE_S * 1000) == 1;
    if (!ends)
        kill(child, SIGKILL);
    int status = -1;
    MUST(waitpid(child, &status, 0) == child);
    close(end.fd);
    *report = *shared.report;
    return ends ? status : -1;
}

/// Did the program say why it ended, in words that are announced? If not, they are shown.
static bool is_announced(void) {
    static char text[65536];
    if (!plan->announced_ends)
        return false;
    ssize_t length = pread(shared.errors, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = 0;
    for (const char *const *end = plan->announced_ends; *end; end++) {
        if (strstr(text, *end))
            return true;
    }
    fputs(text, stderr);
    return false;
}

//===-- all of a scenario --------------------------------------------------------------------------------------------===//

static struct totals { int struck, absorbed, told, ended, bad; } totals;

static const char *name_of(int error) {
    const char *name = strerrorname_np(error < 0 ? -error : error);
    return name ? name : "?";
}

/// What came of it, as a word, and whether that may be.
static const char *judge(int status, const struct report *report, bool *is_good) {
    *is_good = status > 0 && WIFSIGNALED(status) && is_announced();
    if (*is_good)
        return "ended";
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
    // The C library keeps what belongs to a thread, for as many as there were at a time, and a language collects when it likes: what is a leak
    // is one each time. So is what is lost, but for a machine that is so busy that a scenario's patience ends.
    bool is_good;
    for (int i = 0; i < 2 && (judge(status, report, &is_good), !is_good); i++)
        status = try(scenario, fault, report);
    if (status == 0 && report->is_complete && !report->has_struck)
        return true;
    const char *word = judge(status, report, &is_good);
    totals.struck++;
    bool is_told = strcmp(word, "told") == 0;
    bool is_end = is_good && status != 0;
    totals.ended += is_end;
    totals.absorbed += is_good && !is_end && report->outcome == AS_EXPECTED;
    totals.told += is_told;
    totals.bad += !is_good;
    if (is_good && fault_table_is_short)
        return true;
    printf("%-32s %-18s %3d%c %-13s %s%s%s\n", scenario->name, kinds[fault.kind].name, fault.number,
           fault.stays ? '+' : ' ', name_of(fault.error), word, is_told ? " " : "",
           is_told ? name_of(report->error) : "");
    return is_good;
}

static bool is_spared(const char *kind) {
    const char *found = plan->spared_kinds ? strstr(plan->spared_kinds, kind) : NULL;
    size_t length = strlen(kind);
    while (found && (found[length] > ' ' || (found > plan->spared_kinds && found[-1] > ' ')))
        found = strstr(found + 1, kind);
    return found;
}

static int try_scenario(const struct scenario *scenario) {
    struct report usual, report;
    int status = try(scenario, (struct fault){0}, &usual);
    if (status != 0 || usual.outcome != AS_EXPECTED || usual.again != AS_EXPECTED) {
        printf("%-32s does not work without failures (status %d, %d, %d, error %d)\n", scenario->name, status,
               usual.outcome, usual.again, usual.error);
        return 1;
    }
    int bad = 0;
    for (int kind = 0; kind < kind_count; kind++) {
        if (is_spared(kinds[kind].name))
            continue;
        int most = kind > 0 ? MOST_OF_KIND : scenario->spares_allocations ? 0 : MOST_ALLOCATIONS;
        for (const int *error = kinds[kind].errors; *error; error++) {
            for (int number = 1; number <= usual.counts[kind] && number <= most; number++)
                bad += !try_fault(scenario, (struct fault){kind, number, *error, false}, &report);
            // A sandbox refuses from the beginning, or from some moment on.
            bool is_refusal = *error == ENOSYS || *error == EPERM;
            for (int number = 1; is_refusal && number <= usual.counts[kind] && number <= 2; number++)
                bad += !try_fault(scenario, (struct fault){kind, number, *error, true}, &report);
        }
    }
    return bad;
}

static bool is_chosen(const char *name, int count, char **words) {
    bool is = count == 0;
    for (int i = 0; i < count; i++)
        is |= strstr(name, words[i]) != NULL;
    return is;
}

bool fault_plan_try(const struct fault_plan *given, int word_count, char **words) {
    plan = given;
    try_as_executed();
    signal(SIGPIPE, SIG_IGN);
    share();
    int bad = 0;
    for (size_t i = 0; i < plan->group_count; i++) {
        for (const struct scenario *scenario = plan->groups[i]; scenario->name; scenario++) {
            if (is_chosen(scenario->name, word_count, words))
                bad += try_scenario(scenario);
        }
    }
    printf("%d failures: %d absorbed, %d told, %d ended as announced, %d neither\n", totals.struck, totals.absorbed,
           totals.told, totals.ended, totals.bad);
    fflush(stdout);
    return bad == 0;
}
