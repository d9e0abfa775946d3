// driver.c — every allocation and every call of the kernel that a scenario makes fails once, with each plausible error, and some kinds from
// some call on for ever, as in a sandbox.
//
// What may come of a failure: the scenario cannot tell (absorbed), or it was told an error, or the program ends with a sentence that its
// documentation announces. Not: none of these (lost), a crash, a run that does not end, a loop on which the same scenario does not work
// afterwards, a descriptor or a block of memory that is left each time. Each failure has a process of its own, in which it strikes a new
// loop and then, twice or more often, one that has what a loop makes once.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "injector.h"

enum { MOST_OF_KIND = 12, MOST_ALLOCATIONS = 300, PATIENCE_S = 30, MOST_DESCRIPTORS = 1024, MOST_ROUNDS = 4 };

static const struct fault_plan *plan;
int condition_value;
bool fault_table_is_short;

_Noreturn void must_not_fail(const char *condition, const char *file, int line) {
    fprintf(stderr, "%s:%d: the scenario's own call failed: %s: %s\n", file, line, condition, strerror(errno));
    _exit(99);
}

/// With or without /proc.
static int count_descriptors(void) {
    static struct pollfd all[MOST_DESCRIPTORS];
    for (int i = 0; i < MOST_DESCRIPTORS; i++)
        all[i] = (struct pollfd){.fd = i};
    MUST(poll(all, MOST_DESCRIPTORS, 0) >= 0);
    int count = 0;
    for (int i = 0; i < MOST_DESCRIPTORS; i++)
        count += !(all[i].revents & POLLNVAL);
    return count;
}

//===-- one failure, in a process of its own -------------------------------------------------------------------------===//

/// What the process says of itself, in memory that it shares.
struct report {
    enum outcome outcome, again;
    int error, descriptors_left, blocks_left;
    bool has_struck, is_complete, is_left_out;
    char function[64];
    int counts[128];
};

static enum outcome worse(enum outcome one, enum outcome other) {
    return one == LOST || other == LOST ? LOST : one == TOLD ? one : other;
}

static void *run_on_thread(void *argument) {
    struct {
        const struct scenario *scenario;
        enum outcome outcome;
    } *run = argument;
    run->outcome = run->scenario->run();
    return NULL;
}

static enum outcome run(const struct scenario *scenario, size_t stack) {
    if (!stack)
        return scenario->run();
    struct {
        const struct scenario *scenario;
        enum outcome outcome;
    } run = {scenario, LOST};
    pthread_attr_t attributes;
    pthread_t thread;
    MUST(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, stack) == 0);
    MUST(pthread_create(&thread, &attributes, run_on_thread, &run) == 0 && pthread_join(thread, NULL) == 0);
    pthread_attr_destroy(&attributes);
    return run.outcome;
}

/// Once with the failure, and then without.
static void try_once(const struct scenario *scenario, struct fault fault, struct report *report) {
    injector_set(fault);
    report->outcome = worse(report->outcome, run(scenario, fault.condition ? fault.condition->stack : 0));
    injector_clear();
    if (injector_told_error()) {
        report->error = injector_told_error();
        strcpy(report->function, injector_told_function());
    }
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

/// Whether it leaves something when it is tried once more.
static bool leaves(const struct scenario *scenario, struct fault fault, struct report *report) {
    int descriptors = count_descriptors(), blocks = injector_live_blocks();
    try_once(scenario, fault, report);
    // Another thread may be about to give back what it has.
    for (int wait_ms = 0; wait_ms < 1000; wait_ms += 10) {
        report->descriptors_left = count_descriptors() - descriptors;
        report->blocks_left = injector_live_blocks() - blocks;
        if (report->descriptors_left <= 0 && report->blocks_left <= 0)
            return false;
        usleep(10000);
    }
    return true;
}

static void try_in_child(const struct scenario *scenario, struct fault fault, struct report *report) {
    const struct condition *condition = fault.condition;
    report->is_left_out = condition && condition->set_up && !condition->set_up(fault.number);
    if (report->is_left_out)
        return;
    injector_hidden = condition ? condition->hidden : NULL;
    MUST(injector_open());
    injector_switched = condition ? condition->switched : NULL;
    condition_value = fault.number;
    try_once(scenario, fault, report);
    try_once(scenario, fault, report);
    // A leak is one each time. What is left once is what the C library keeps for one more thread than before.
    bool has_left = true;
    for (int i = 0; i < MOST_ROUNDS && has_left; i++)
        has_left = leaves(scenario, fault, report);
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
    struct fault fault = {0};
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
static const char *judge(const struct fault *fault, int status, const struct report *report, bool *is_good) {
    *is_good = status > 0 && WIFSIGNALED(status) && is_announced();
    if (*is_good)
        return "ended";
    if (status == -1)
        return "HANG";
    if (status == 0 && report->is_left_out)
        return "left out";
    if (status != 0 || !report->is_complete)
        return "CRASH";
    if (report->outcome == LOST)
        return "LOST";
    if (report->again == LOST || (report->again == TOLD && !(fault->condition && fault->condition->set_up)))
        return "UNUSABLE AFTERWARDS";
    if (report->outcome == TOLD && plan->is_documented &&
        !plan->is_documented(report->function, -report->error, fault->condition ? 0 : fault->error))
        return "UNDOCUMENTED";
    bool is_left_to_program = fault->stays && fault->error == kinds[fault->kind].leaves_descriptor;
    if (report->descriptors_left > 0 && !is_left_to_program)
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
    for (int i = 0; i < 2 && (judge(&fault, status, report, &is_good), !is_good && !report->is_left_out); i++)
        status = try(scenario, fault, report);
    if (status == 0 && report->is_complete && !report->has_struck)
        return true;
    const char *word = judge(&fault, status, report, &is_good);
    if (report->is_left_out) {
        printf("%-32s %-18s left out: this process may not have that\n", scenario->name, fault.condition->name);
        return true;
    }
    totals.struck++;
    bool is_told = strcmp(word, "told") == 0 || strcmp(word, "UNDOCUMENTED") == 0;
    bool is_end = is_good && status != 0;
    totals.ended += is_end;
    totals.absorbed += is_good && !is_end && report->outcome == AS_EXPECTED;
    totals.told += is_told && is_good;
    totals.bad += !is_good;
    if (is_good && fault_table_is_short)
        return true;
    printf("%-32s %-18s %3d%c %-13s %s%s%s%s%s\n", scenario->name,
           fault.condition ? fault.condition->name : kinds[fault.kind].name, fault.number, fault.stays ? '+' : ' ',
           fault.condition ? "-" : name_of(fault.error), word, is_told ? " " : "", is_told ? report->function : "",
           is_told && *report->function ? " " : "", is_told ? name_of(report->error) : "");
    return is_good;
}

static bool is_spared(const char *kind) {
    const char *found = plan->spared_kinds ? strstr(plan->spared_kinds, kind) : NULL;
    size_t length = strlen(kind);
    while (found && (found[length] > ' ' || (found > plan->spared_kinds && found[-1] > ' ')))
        found = strstr(found + 1, kind);
    return found;
}

static int try_conditions(const struct scenario *scenario) {
    int bad = 0;
    for (const struct condition *condition = plan->conditions; condition && condition->name; condition++) {
        int absorbed = 0;
        for (const int *value = condition->values; *value >= 0 && absorbed < 3; value++) {
            struct report report;
            bad += !try_fault(scenario, (struct fault){.number = *value, .condition = condition}, &report);
            absorbed = condition->ends_when_absorbed && report.outcome == AS_EXPECTED ? absorbed + 1 : 0;
            if (report.is_left_out)
                break;
        }
    }
    return bad;
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
        bool is_memory = strcmp(kinds[kind].name, "mmap") == 0;
        if (is_spared(kinds[kind].name) || (is_memory && scenario->spares_allocations && plan->is_documented))
            continue;
        int most_of_kind = plan->most_of_kind ? plan->most_of_kind : MOST_OF_KIND;
        int most = kind > 0 ? most_of_kind : scenario->spares_allocations ? 0 : MOST_ALLOCATIONS;
        for (const int *error = kinds[kind].errors; *error; error++) {
            for (int number = 1; number <= usual.counts[kind] && number <= most; number++)
                bad += !try_fault(scenario, (struct fault){kind, number, *error, false}, &report);
            // A sandbox refuses from the beginning, or from some moment on.
            bool is_refusal = (*error == ENOSYS || *error == EPERM) && !kinds[kind].is_needed;
            for (int number = 1; is_refusal && number <= usual.counts[kind] && number <= 2; number++)
                bad += !try_fault(scenario, (struct fault){kind, number, *error, true}, &report);
        }
    }
    return bad + try_conditions(scenario);
}

static bool is_chosen(const char *name, int count, char **words) {
    bool is = count == 0;
    for (int i = 0; i < count; i++)
        is |= words[i][0] == '=' ? strcmp(name, words[i] + 1) == 0 : strstr(name, words[i]) != NULL;
    return is;
}

bool fault_plan_try(const struct fault_plan *given, int word_count, char **words) {
    static struct fault_plan whole;
    errno = EINVAL;
    MUST(given->size >= offsetof(struct fault_plan, works) && given->size <= sizeof whole);
    memcpy(&whole, given, given->size);
    plan = &whole;
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
