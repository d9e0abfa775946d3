// table.c — a sample as lines for people.

#include "table.h"

#include <stdbool.h>
#include <string.h>

#include "terminal.h"

static const struct loop_sample none;

/// What the loop had done by the last sample; nothing, if its statistics have been started since.
static const struct loop_sample *find(const struct sample *before, const struct loop_sample *loop) {
    for (int i = 0; i < before->count; i++) {
        const struct loop_sample *found = &before->loops[i];
        if (strcmp(found->address, loop->address) == 0 && found->elapsed_ns < loop->elapsed_ns &&
            found->iterations <= loop->iterations)
            return found;
    }
    return &none;
}

//===-- columns ------------------------------------------------------------------------------------------------------===//

enum column {
    LOOP,
    STATE,
    MODE,
    BUSY,
    ITERATIONS,
    SLEEPS,
    CALLOUTS,
    LATENESS = CALLOUTS + SAMPLE_KINDS,
    LONGEST,
    WHOSE,
    COLUMNS
};

/// Negative widths are those of text, on the left. The last column takes what is left of the line.
static const struct {
    const char *title;
    int width, worth;
} columns[COLUMNS] = {
    [LOOP] = {"LOOP", -14, 15},         [STATE] = {"STATE", -11, 14},        [MODE] = {"MODE", -24, 8},
    [BUSY] = {"BUSY%", 5, 12},          [ITERATIONS] = {"ITER/S", 8, 10},    [SLEEPS] = {"SLEEPS/S", 8, 7},
    [CALLOUTS] = {"OBSERV/S", 8, 1},    [CALLOUTS + 1] = {"TIMERS/S", 8, 5}, [CALLOUTS + 2] = {"SIGNAL/S", 8, 3},
    [CALLOUTS + 3] = {"DESCR/S", 8, 6}, [CALLOUTS + 4] = {"TASKS/S", 8, 4},  [CALLOUTS + 5] = {"QUEUE/S", 8, 2},
    [LATENESS] = {"LATE99/MS", 9, 9},   [LONGEST] = {"LONGEST/MS", 10, 11},  [WHOSE] = {"WHOSE", -16, 13},
};

static int width_of(int column) {
    return columns[column].width < 0 ? -columns[column].width : columns[column].width;
}

/// The set of columns, as bits, that have a place in so many bytes: the most telling ones first.
static unsigned select_columns(int width) {
    unsigned shown = 1U << LOOP;
    int used = width_of(LOOP);
    for (int worth = columns[LOOP].worth - 1; worth > 0; worth--) {
        for (int column = 0; column < COLUMNS; column++) {
            if (columns[column].worth == worth && used + 1 + width_of(column) <= width) {
                shown |= 1U << column;
                used += 1 + width_of(column);
            }
        }
    }
    return shown;
}

/// A character of several bytes has those of the form 10xxxxxx behind the first.
static bool is_inside_character(char byte) {
    return ((unsigned char)byte & 0xC0) == 0x80;
}

static void write_cut(FILE *out, const char *line, int length, int width, const char *end) {
    length = length < width ? length : width;
    while (length > 0 && is_inside_character(line[length]))
        length--;
    terminal_write(out, line, (size_t)length);
    fputs(end, out);
}

enum { CELL = 160, LINE = COLUMNS * CELL };

/// Of the last column, what doesn't fit is cut from its beginning, since the end of a path says more.
static void write_line(FILE *out, char cells[COLUMNS][CELL], int width, const char *end) {
    unsigned shown = select_columns(width);
    char line[LINE] = "";
    int used = 0;
    for (int column = 0; column < COLUMNS; column++) {
        if (!(shown & 1U << column))
            continue;
        const char *cell = cells[column];
        // The numbers before it may fill the whole line.
        int length = (int)strlen(cell), cut = column == WHOSE ? used + 1 + length - width : 0;
        cell += cut < 0 ? 0 : cut < length ? cut : length;
        while (cut > 0 && is_inside_character(*cell))
            cell++;
        int most = column == WHOSE || columns[column].width > 0 ? CELL : width_of(column);
        used += snprintf(line + used, sizeof line - (size_t)used, "%s%*.*s", used ? " " : "",
                         column == WHOSE ? 0 : columns[column].width, most, cell);
    }
    // Numbers are what another process says, and may be too long for their columns.
    write_cut(out, line, used, width, end);
}

//===-- cells --------------------------------------------------------------------------------------------------------===//

static void write_number(char *cell, int decimals, double number) {
    snprintf(cell, CELL, "%.*f", decimals, number);
}

static void write_loop(char cells[COLUMNS][CELL], const struct loop_sample *loop, const struct loop_sample *before) {
    memset(cells, 0, COLUMNS * sizeof cells[0]);
    snprintf(cells[LOOP], CELL, "%s", loop->is_main ? "main" : loop->address);
    snprintf(cells[STATE], CELL, "%s", loop->state);
    snprintf(cells[MODE], CELL, "%s", *loop->mode ? loop->mode : "-");
    if (!loop->has_statistics) {
        snprintf(cells[WHOSE], CELL, "(no statistics)");
        return;
    }
    double elapsed_ns = loop->elapsed_ns - before->elapsed_ns, seconds = elapsed_ns / 1e9;
    double busy_ns = loop->running_ns - before->running_ns - (loop->asleep_ns - before->asleep_ns);
    double share = elapsed_ns > 0 ? busy_ns / elapsed_ns * 100 : 0;
    seconds = seconds > 0 ? seconds : 1;
    write_number(cells[BUSY], 1, share < 0 ? 0 : share > 100 ? 100 : share);
    write_number(cells[ITERATIONS], 1, (loop->iterations - before->iterations) / seconds);
    write_number(cells[SLEEPS], 1, (loop->sleeps - before->sleeps) / seconds);
    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
        write_number(cells[CALLOUTS + kind], 1, (loop->callouts[kind] - before->callouts[kind]) / seconds);
    write_number(cells[LATENESS], 3, loop->lateness_p99_ns / 1e6);
    write_number(cells[LONGEST], 3, loop->longest_ns / 1e6);
    snprintf(cells[WHOSE], CELL, "%s", loop->longest);
}

void table_write(FILE *out, const struct sample *sample, const struct sample *before, int width, int height,
                 const char *end) {
    char cells[COLUMNS][CELL];
    for (int column = 0; column < COLUMNS; column++)
        snprintf(cells[column], CELL, "%s", columns[column].title);
    if (height > 0)
        write_line(out, cells, width, end);
    for (int i = 0; i < sample->count && i + 1 < height; i++) {
        const struct loop_sample *loop = &sample->loops[i];
        write_loop(cells, loop, find(before, loop));
        write_line(out, cells, width, end);
    }
    int left = height - sample->count - 2;
    if (sample->task_count > 0 && left > 0)
        write_cut(out, "TASKS", 5, width, end);
    for (int i = 0; i < sample->task_count && i < left; i++)
        write_cut(out, sample->tasks[i], (int)strlen(sample->tasks[i]), width, end);
}
