// Random programs: thousands of them, several at a time, or a single one.
#include "program.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_SECONDS = 8 };

struct batch {
    _Atomic unsigned long next;
    unsigned long end;
    pthread_mutex_t output;
};

static void print_trace(const char *title, struct trace *trace) {
    printf("%s%s", title, trace->text ? trace->text : "");
    fflush(stdout);
    trace_close(trace);
}

static void *work(void *argument) {
    struct batch *batch = argument;
    struct program *program = malloc(sizeof *program);
    for (;;) {
        unsigned long seed = batch->next++;
        if (seed >= batch->end)
            break;
        struct trace trace;
        char title[40];
        program_generate(program, seed);
        play_program(program, &trace);
        snprintf(title, sizeof title, "== %lu\n", seed);
        pthread_mutex_lock(&batch->output);
        alarm(PATIENCE_SECONDS);
        print_trace(title, &trace);
        pthread_mutex_unlock(&batch->output);
    }
    free(program);
    return NULL;
}

int programs_run_seeds(unsigned long first, unsigned long count, int threads) {
    struct batch batch = {.next = first, .end = first + count};
    pthread_t workers[16];
    if (threads < 1 || threads > 16)
        return 2;
    pthread_mutex_init(&batch.output, NULL);
    alarm(PATIENCE_SECONDS);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&workers[i], NULL, work, &batch) != 0)
            abort();
    for (int i = 0; i < threads; i++)
        pthread_join(workers[i], NULL);
    return 0;
}

int program_print_seed(unsigned long seed) {
    static struct program program;
    char text[96];
    program_generate(&program, seed);
    for (int i = 0; i < program.count; i++) {
        struct step *step = &program.steps[i];
        step_print(step, text, sizeof text);
        if (step->turn > 0)
            printf("%s %d: %s\n", step->place, step->turn, text);
        else
            printf("%s: %s\n", step->place, text);
    }
    return 0;
}

int program_run_input(void) {
    static struct program program;
    static char text[32768];
    size_t length = fread(text, 1, sizeof text - 1, stdin);
    text[length] = 0;
    struct trace trace;
    if (!program_parse(&program, text))
        return 2;
    alarm(PATIENCE_SECONDS);
    play_program(&program, &trace);
    print_trace("", &trace);
    return 0;
}
