// A program to text, and text to a program.
#include "program.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *verb;
    bool named;
    bool has_mode;
    int words;
} grammar[VERBS] = {
    [MAKE_SOURCE] = {"source", true, true, 1},
    [MAKE_COUNTER] = {"counter", true, true, 0},
    [MAKE_TIMER] = {"timer", true, true, 2},
    [MAKE_OBSERVER] = {"observer", true, true, 3},
    [MAKE_BLOCK] = {"block", true, true, 0},
    [ADD] = {"add", true, true, 0},
    [REMOVE] = {"remove", true, true, 0},
    [INVALIDATE] = {"invalidate", true, false, 0},
    [SIGNAL] = {"signal", true, false, 0},
    [READY] = {"ready", true, false, 0},
    [DATE] = {"date", true, false, 1},
    [STOP] = {"stop", false, false, 0},
    [STOP_MODE] = {"stopmode", false, true, 0},
    [WAKE] = {"wake", false, false, 0},
    [MAKE_COMMON] = {"common", false, true, 0},
    [RUN] = {"run", false, true, 2},
    [ASK] = {"ask", true, false, 0},
};

void step_print(const struct step *step, char *text, size_t size) {
    int used = snprintf(text, size, "%s", grammar[step->verb].verb);
    if (grammar[step->verb].named)
        used += snprintf(text + used, size - (size_t)used, " %s", step->name);
    if (grammar[step->verb].has_mode)
        used += snprintf(text + used, size - (size_t)used, " %s", step->mode);
    for (int i = 0; i < grammar[step->verb].words; i++)
        used += snprintf(text + used, size - (size_t)used, " %s", step->words[i]);
}

static bool parse_step(struct step *step, char *line) {
    memset(step, 0, sizeof *step);
    char *colon = strchr(line, ':');
    if (colon == NULL)
        return false;
    *colon = 0;
    if (sscanf(line, "%11s %d", step->place, &step->turn) < 1)
        return false;
    char words[6][24] = {{0}};
    int count =
        sscanf(colon + 1, "%23s %23s %23s %23s %23s %23s", words[0], words[1], words[2], words[3], words[4], words[5]);
    for (int verb = 0; verb < VERBS; verb++) {
        if (strcmp(words[0], grammar[verb].verb) != 0)
            continue;
        int next = 1;
        step->verb = (enum verb)verb;
        if (grammar[verb].named)
            snprintf(step->name, sizeof step->name, "%.11s", words[next++]);
        if (grammar[verb].has_mode)
            snprintf(step->mode, sizeof step->mode, "%s", words[next++]);
        for (int i = 0; i < grammar[verb].words; i++)
            snprintf(step->words[i], sizeof step->words[i], "%.11s", words[next++]);
        return count == next;
    }
    return false;
}

bool program_parse(struct program *program, const char *text) {
    program->count = 0;
    while (*text != 0) {
        char line[160];
        size_t length = strcspn(text, "\n");
        if (length >= sizeof line || program->count == MAX_STEPS)
            return false;
        memcpy(line, text, length);
        line[length] = 0;
        text += length + (text[length] == '\n');
        if (length > 0 && !parse_step(&program->steps[program->count++], line)) {
            fprintf(stderr, "Not a step: %s\n", line);
            return false;
        }
    }
    return true;
}
