// search.c — which executions of a scene are tried: depth first, all that differ from the usual one in a few choices; or at random.
//
// An execution is determined by its choices. Points at which there is one are numbered, so that a list like "12.1 40.2" (at point 12 the
// first deviation, at 40 the second) repeats it.

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"

enum { DEPTH = 1 << 14, DEVIATIONS = 64, STEPS = 2000000 };

struct choice {
    unsigned count, taken;
};

struct deviation {
    uint64_t point;
    unsigned taken;
};

KEPT static struct {
    enum { DEPTH_FIRST, AT_RANDOM, AGAIN } way;
    struct choice choices[DEPTH]; ///< of the execution, as long as it may deviate
    unsigned length, position, limit;
    bool is_to_begin_anew;
    uint64_t random;
    unsigned one_in; ///< at random: how often it deviates
    struct deviation wanted[DEVIATIONS];
    unsigned wanted_count;
    // Of the execution.
    uint64_t point, steps;
    struct deviation deviations[DEVIATIONS];
    unsigned deviation_count;
    struct result *result;
} search;

//===-- choices ------------------------------------------------------------------------------------------------------===//

static unsigned random_number(void) {
    search.random ^= search.random << 13;
    search.random ^= search.random >> 7;
    search.random ^= search.random << 17;
    return (unsigned)(search.random >> 32);
}

static unsigned next_in_depth(unsigned count) {
    if (search.deviation_count >= search.limit)
        return 0;
    if (search.position == DEPTH)
        fail("The execution is too long.");
    struct choice *choice = &search.choices[search.position++];
    if (search.position > search.length) {
        *choice = (struct choice){.count = count};
        search.length++;
    }
    if (choice->count != count)
        fail("The same choices led elsewhere: %u ways on instead of %u.", count, choice->count);
    return choice->taken;
}

static unsigned next_of_wanted(void) {
    for (unsigned i = 0; i < search.wanted_count; i++) {
        if (search.wanted[i].point == search.point)
            return search.wanted[i].taken;
    }
    return 0;
}

unsigned choose(unsigned count) {
    search.point++;
    unsigned taken = 0;
    if (count < 2)
        return 0;
    if (search.way == DEPTH_FIRST)
        taken = next_in_depth(count);
    else if (search.way == AGAIN)
        taken = next_of_wanted();
    else if (search.deviation_count < DEVIATIONS && random_number() % search.one_in == 0)
        taken = 1 + random_number() % (count - 1);
    if (taken >= count)
        taken = 0;
    if (taken)
        search.deviations[search.deviation_count++] = (struct deviation){.point = search.point, .taken = taken};
    return taken;
}

bool search_repeats(void) {
    return search.way == AGAIN;
}

void search_anew(void) {
    search.is_to_begin_anew = true;
}

void search_step(void) {
    if (++search.steps == STEPS)
        fail("It goes on for ever.");
}

//===-- faults -------------------------------------------------------------------------------------------------------===//

static void note_choices(char *text, size_t size) {
    size_t length = 0;
    text[0] = 0;
    for (unsigned i = 0; i < search.deviation_count && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%llu.%u", i ? " " : "",
                                   (unsigned long long)search.deviations[i].point, search.deviations[i].taken);
}

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (!is_executing()) {
        vfprintf(stderr, format, arguments);
        abort();
    }
    vsnprintf(search.result->fault, sizeof search.result->fault, format, arguments);
    va_end(arguments);
    note_choices(search.result->choices, sizeof search.result->choices);
    trace(NULL, "FAULT: %s", search.result->fault);
    execution_leave();
}

//===-- executions ---------------------------------------------------------------------------------------------------===//

/// True if it has shown no fault.
static bool run_once(const struct scene *scene, struct result *result) {
    search.result = result;
    search.position = search.deviation_count = 0;
    search.point = search.steps = 0;
    result->fault[0] = 0;
    execution_run(scene);
    result->executions++;
    if (result->points < search.point)
        result->points = search.point;
    return !result->fault[0];
}

/// The next execution in depth; false if there is none.
static bool turn_back(void) {
    while (search.length > 0) {
        struct choice *last = &search.choices[search.length - 1];
        if (++last->taken < last->count)
            return true;
        search.length--;
    }
    return false;
}

bool search_all(const struct scene *scene, unsigned deviations, double seconds, struct result *result) {
    search.way = DEPTH_FIRST;
    search.limit = deviations;
    search.length = 0;
    search.is_to_begin_anew = false;
    clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
    while (run_once(scene, result)) {
        if (search.is_to_begin_anew)
            search.length = 0;
        else if (!turn_back())
            return true;
        search.is_to_begin_anew = false;
        if (result->executions % 64 == 0 && clock() > end)
            return false;
    }
    return false;
}

void search_at_random(const struct scene *scene, uint64_t seed, uint64_t executions, struct result *result) {
    enum { ONE_IN = 4, FACTORS = 6 };
    search.way = AT_RANDOM;
    search.random = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15) | 1;
    for (uint64_t i = 0; i < executions; i++) {
        search.one_in = ONE_IN << i % FACTORS;
        if (!run_once(scene, result))
            return;
    }
}

void search_again(const struct scene *scene, const char *choices, struct result *result) {
    search.way = AGAIN;
    search.wanted_count = 0;
    unsigned long long point;
    unsigned taken;
    int length;
    while (search.wanted_count < DEVIATIONS && sscanf(choices, " %llu.%u%n", &point, &taken, &length) == 2) {
        search.wanted[search.wanted_count++] = (struct deviation){.point = point, .taken = taken};
        choices += length;
    }
    run_once(scene, result);
}
