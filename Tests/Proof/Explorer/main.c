// main.c — explores the scenes that the program has, and reports what each has shown. Tests/bin/explore builds it and calls it.
//
//   explorer [OPTION VALUE]... [SCENE]...
//     --deviations N    every execution with at most N deviations from the usual one (3)
//     --seconds S       of processor time for a scene, at most; what was left out then is said (60)
//     --random N        after that, N executions with random deviations (300), by --seed S
//     --stop 1          at the first fault
//     --choices "…"     instead: the one execution that a fault named, step by step

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

extern const struct scene *const __start_scenes[], *const __stop_scenes[];

KEPT static struct {
    unsigned deviations;
    double seconds;
    uint64_t executions, seed;
    const char *choices;
    bool stops;
} options = {.deviations = 3, .seconds = 60, .executions = 300};

static void crashed(int signal) {
    fail("The program has crashed (%s).", strsignal(signal));
}

static void catch_crashes(void) {
    enum { STACK = 1 << 16 };
    static KEPT char stack[STACK];
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = STACK}, NULL);
    struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK | SA_NODEFER};
    int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

void expectation_failed(const char *condition, const char *file, int line) {
    fail("%s:%d: it is expected that %s.", file, line, condition);
}

static void repeat(const struct scene *scene, const char *choices) {
    static KEPT struct result result;
    trace_begin(true);
    search_again(scene, choices, &result);
    trace_print();
    trace_begin(false);
}

/// Few deviations before many: so the choices of a fault are as few as they can be.
static void explore(const struct scene *scene, struct result *result, unsigned *complete, unsigned *wanted) {
    *complete = 0;
    *wanted = options.deviations > scene->at_least ? options.deviations : scene->at_least;
    for (unsigned deviations = 0; !result->fault[0] && deviations <= *wanted; deviations++) {
        if (!search_all(scene, deviations, options.seconds, result))
            break;
        *complete = deviations;
    }
    if (!result->fault[0])
        search_at_random(scene, options.seed, options.executions, result);
}

static bool holds(const struct scene *scene) {
    static KEPT struct result result;
    unsigned complete, wanted;
    memset(&result, 0, sizeof result);
    atomics_forget_sharing();
    explore(scene, &result, &complete, &wanted);
    bool is_found = result.fault[0];
    if (is_found && !scene->is_wrong) {
        printf("FAIL %s: %s\n     %s\n     choices: \"%s\", found by execution %llu\n", scene->name, scene->sentence,
               result.fault, result.choices, (unsigned long long)result.executions);
        repeat(scene, result.choices);
    } else if (is_found) {
        printf("ok   %-24s %9llu executions until its fault was found: \"%s\"\n", scene->name,
               (unsigned long long)result.executions, result.choices);
    } else {
        printf("%s %-24s %9llu executions of %4llu points, all with %u deviations%s\n",
               scene->is_wrong ? "FAIL" : "ok  ", scene->name, (unsigned long long)result.executions,
               (unsigned long long)result.points, complete, complete < wanted ? ", and some with more" : "");
    }
    return is_found == scene->is_wrong;
}

static bool is_wanted(const struct scene *scene, char **names) {
    bool is_named = !*names;
    for (; *names; names++)
        is_named |= strcmp(*names, scene->name) == 0;
    return is_named;
}

static char **read_options(char **arguments) {
    for (; arguments[0] && strncmp(arguments[0], "--", 2) == 0 && arguments[1]; arguments += 2) {
        if (strcmp(arguments[0], "--deviations") == 0)
            options.deviations = (unsigned)atoi(arguments[1]);
        else if (strcmp(arguments[0], "--seconds") == 0)
            options.seconds = atof(arguments[1]);
        else if (strcmp(arguments[0], "--random") == 0)
            options.executions = strtoull(arguments[1], NULL, 10);
        else if (strcmp(arguments[0], "--seed") == 0)
            options.seed = strtoull(arguments[1], NULL, 10);
        else if (strcmp(arguments[0], "--stop") == 0)
            options.stops = atoi(arguments[1]);
        else if (strcmp(arguments[0], "--choices") == 0)
            options.choices = arguments[1];
        else
            break;
    }
    return arguments;
}

int main(int argc, char **argv) {
    (void)argc;
    setvbuf(stdout, NULL, _IOLBF, 0);
    setenv("RUNLOOP_DIAGNOSTICS", "0", true); // They would be written in every execution.
    char **names = read_options(argv + 1);
    memory_set_up();
    atomics_set_up();
    threads_set_up();
    catch_crashes();
    unsigned held = 0, failed = 0;
    for (const struct scene *const *listed = __start_scenes; listed < __stop_scenes && !(options.stops && failed);
         listed++) {
        const struct scene *scene = *listed;
        if (!is_wanted(scene, names))
            continue;
        if (options.choices)
            repeat(scene, options.choices);
        else if (holds(scene))
            held++;
        else
            failed++;
    }
    printf("%u scenes hold, %u do not\n", held, failed);
    return failed > 0 || (held == 0 && !options.choices);
}
