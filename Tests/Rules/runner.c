// Runs scenarios and random programs against the library that it is linked with, and prints their traces.
//
//   runner list                           the scenarios: name, thread, rules, file, sentence, golden trace
//   runner scenarios [NAME]               all scenarios on threads of their own, after that one
//   runner scenario NAME                  one scenario
//   runner seeds FIRST COUNT [THREADS]    random programs
//   runner print SEED                     the text of a random program
//   runner program                        a program from the standard input
#include "dsl_internal.h"
#include "program.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PATIENCE_SECONDS
#define PATIENCE_SECONDS 20
#endif

static struct scenario *first_scenario;

void scenario_register(struct scenario *scenario) {
    struct scenario **place = &first_scenario;
    while (*place != NULL && strcmp((*place)->file, scenario->file) <= 0)
        place = &(*place)->next;
    scenario->next = *place;
    *place = scenario;
}

static void give_up(int signal) {
    (void)signal;
    static const char text[] = "(hung)\n";
    struct trace *trace = trace_if_hung;
    if (trace != NULL && trace->text != NULL && write(STDOUT_FILENO, trace->text, trace->length) < 0)
        _exit(4);
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0)
        _exit(4);
    _exit(3);
}

static void *on_own_thread(void *scenario) {
    stage_run(((struct scenario *)scenario)->body);
    return NULL;
}

static void run_scenario(struct scenario *scenario) {
    printf("== %s\n", scenario->name);
    fflush(stdout);
    alarm(PATIENCE_SECONDS);
    stage_open();
    if (scenario->on_main_thread) {
        stage_run(scenario->body);
    } else {
        pthread_t thread;
        if (pthread_create(&thread, NULL, on_own_thread, scenario) != 0)
            abort();
        pthread_join(thread, NULL);
    }
    alarm(0);
    trace_end_sorted(&stage.trace);
    fputs(stage.trace.text ? stage.trace.text : "", stdout);
    fflush(stdout);
    stage_close();
}

static int run_scenarios(const char *after) {
    bool reached = after == NULL;
    for (struct scenario *scenario = first_scenario; scenario; scenario = scenario->next) {
        if (reached && !scenario->on_main_thread)
            run_scenario(scenario);
        reached = reached || strcmp(scenario->name, after) == 0;
    }
    return reached ? 0 : 2;
}

static int run_one_scenario(const char *name) {
    for (struct scenario *scenario = first_scenario; scenario; scenario = scenario->next)
        if (strcmp(scenario->name, name) == 0) {
            run_scenario(scenario);
            return 0;
        }
    fprintf(stderr, "There is no scenario %s.\n", name);
    return 2;
}

static int list_scenarios(void) {
    for (struct scenario *scenario = first_scenario; scenario; scenario = scenario->next) {
        const char *file = strrchr(scenario->file, '/');
        printf("%s\t%s\t%s\t%s\t%s\t%s\n", scenario->name, scenario->on_main_thread ? "main" : "own", scenario->rules,
               file ? file + 1 : scenario->file, scenario->sentence, scenario->golden ? scenario->golden : "");
    }
    return 0;
}

int main(int count, char **arguments) {
    const char *command = count > 1 ? arguments[1] : "";
    signal(SIGALRM, give_up);
    if (strcmp(command, "list") == 0)
        return list_scenarios();
    if (strcmp(command, "scenarios") == 0)
        return run_scenarios(arguments[2]);
    if (strcmp(command, "scenario") == 0 && count > 2)
        return run_one_scenario(arguments[2]);
    if (strcmp(command, "seeds") == 0 && count > 3)
        return programs_run_seeds(strtoul(arguments[2], NULL, 10), strtoul(arguments[3], NULL, 10),
                                  count > 4 ? atoi(arguments[4]) : 1);
    if (strcmp(command, "print") == 0 && count > 2)
        return program_print_seed(strtoul(arguments[2], NULL, 10));
    if (strcmp(command, "program") == 0)
        return program_run_input();
    fprintf(stderr,
            "runner list | scenarios [NAME] | scenario NAME | seeds FIRST COUNT [THREADS] | print SEED | program\n");
    return 2;
}
