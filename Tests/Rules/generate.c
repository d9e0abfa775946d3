// From a seed to a program. Steps that can't be compared are omitted when the program runs, by comparable.c.
#include "program.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct generator {
    struct program *program;
    uint64_t state;
    int sources, counters, timers, observers, blocks;
    bool with_counters, with_timers, with_nesting;
};

static unsigned pick(struct generator *generator, unsigned limit) {
    generator->state += 0x9E3779B97F4A7C15u;
    uint64_t mixed = generator->state;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return (unsigned)((mixed ^ (mixed >> 31)) % limit);
}

static bool chance(struct generator *generator, unsigned percent) {
    return pick(generator, 100) < percent;
}

static struct step *step_add(struct generator *generator, const char *place, int turn, enum verb verb) {
    struct program *program = generator->program;
    struct step *step = &program->steps[program->count < MAX_STEPS - 1 ? program->count++ : MAX_STEPS - 1];
    memset(step, 0, sizeof *step);
    snprintf(step->place, sizeof step->place, "%s", place);
    step->turn = turn;
    step->verb = verb;
    return step;
}

static void a_mode(struct generator *generator, char *mode, bool common_too) {
    unsigned number = pick(generator, common_too ? 12 : 10);
    const char *name = number < 5 ? "P" : number < 8 ? "Q" : number < 10 ? "R" : "kCFRunLoopCommonModes";
    snprintf(mode, 24, "%s", name);
}

static bool any_of(struct generator *generator, char *name, char letter, int count) {
    if (count == 0)
        return false;
    snprintf(name, 12, "%c%u", letter, pick(generator, (unsigned)count));
    return true;
}

static void any_item(struct generator *generator, char *name) {
    for (;;) {
        switch (pick(generator, 5)) {
        case 0:
        case 1:
            if (any_of(generator, name, 's', generator->sources))
                return;
            break;
        case 2:
            if (any_of(generator, name, 't', generator->timers))
                return;
            break;
        case 3:
            if (any_of(generator, name, 'o', generator->observers))
                return;
            break;
        default:
            if (any_of(generator, name, 'c', generator->counters))
                return;
            break;
        }
    }
}

static void make_source(struct generator *generator, const char *place, int turn) {
    struct step *step = step_add(generator, place, turn, MAKE_SOURCE);
    snprintf(step->name, sizeof step->name, "s%d", generator->sources++);
    a_mode(generator, step->mode, true);
    snprintf(step->words[0], sizeof step->words[0], "%d", (int)pick(generator, 5) - 2);
}

static void make_counter(struct generator *generator, const char *place, int turn) {
    struct step *step = step_add(generator, place, turn, MAKE_COUNTER);
    snprintf(step->name, sizeof step->name, "c%d", generator->counters++);
    a_mode(generator, step->mode, true);
}

static void make_timer(struct generator *generator, const char *place, int turn) {
    static const char *const dues[] = {"past", "past", "far", "soon"};
    struct step *step = step_add(generator, place, turn, MAKE_TIMER);
    snprintf(step->name, sizeof step->name, "t%d", generator->timers++);
    a_mode(generator, step->mode, true);
    snprintf(step->words[0], sizeof step->words[0], "%s", dues[pick(generator, 4)]);
    snprintf(step->words[1], sizeof step->words[1], "%s", chance(generator, 50) ? "once" : "repeats");
}

static void make_observer(struct generator *generator, const char *place, int turn) {
    struct step *step = step_add(generator, place, turn, MAKE_OBSERVER);
    snprintf(step->name, sizeof step->name, "o%d", generator->observers++);
    a_mode(generator, step->mode, true);
    char letters[8] = "";
    for (const char *letter = "ETSWAX"; *letter; letter++)
        if (chance(generator, 30))
            strncat(letters, (char[]){*letter, 0}, 2);
    snprintf(step->words[0], sizeof step->words[0], "%s", *letters ? letters : "T");
    snprintf(step->words[1], sizeof step->words[1], "%d", (int)pick(generator, 3) - 1);
    snprintf(step->words[2], sizeof step->words[2], "%s", chance(generator, 15) ? "once" : "repeats");
}

static void make_block(struct generator *generator, const char *place, int turn) {
    static const char *const modes[] = {"P", "P", "Q", "R", "P,Q", "P,R", "kCFRunLoopCommonModes"};
    struct step *step = step_add(generator, place, turn, MAKE_BLOCK);
    snprintf(step->name, sizeof step->name, "b%d", generator->blocks++);
    snprintf(step->mode, sizeof step->mode, "%s", modes[pick(generator, 7)]);
}

static void make_run(struct generator *generator, const char *place, int turn) {
    static const char *const limits[] = {"0", "0", "0", "short", "long", "endless"};
    struct step *step = step_add(generator, place, turn, RUN);
    a_mode(generator, step->mode, false);
    snprintf(step->words[0], sizeof step->words[0], "%s", limits[pick(generator, 6)]);
    snprintf(step->words[1], sizeof step->words[1], "%s", chance(generator, 40) ? "return" : "goon");
}

static void touch(struct generator *generator, const char *place, int turn, enum verb verb) {
    struct step step = {.verb = verb, .turn = turn};
    bool found = true;
    switch (verb) {
    case SIGNAL: found = any_of(generator, step.name, 's', generator->sources); break;
    case READY: found = any_of(generator, step.name, 'c', generator->counters); break;
    case DATE:
        found = any_of(generator, step.name, 't', generator->timers);
        snprintf(step.words[0], sizeof step.words[0], "%s", chance(generator, 75) ? "past" : "far");
        break;
    default: any_item(generator, step.name); break;
    }
    if (verb == ADD || verb == REMOVE)
        a_mode(generator, step.mode, true);
    if (!found)
        return;
    snprintf(step.place, sizeof step.place, "%s", place);
    *step_add(generator, place, turn, verb) = step;
}

static void random_step(struct generator *generator, const char *place, int turn) {
    unsigned number = pick(generator, 100);
    if (number < 22) {
        touch(generator, place, turn, SIGNAL);
    } else if (number < 36) {
        touch(generator, place, turn, generator->with_counters && chance(generator, 60) ? READY : DATE);
    } else if (number < 50) {
        make_block(generator, place, turn);
    } else if (number < 57) {
        touch(generator, place, turn, ADD);
    } else if (number < 64) {
        touch(generator, place, turn, REMOVE);
    } else if (number < 68) {
        touch(generator, place, turn, INVALIDATE);
    } else if (number < 76) {
        step_add(generator, place, turn, chance(generator, 60) ? STOP : WAKE);
    } else if (number < 78) {
        a_mode(generator, step_add(generator, place, turn, STOP_MODE)->mode, false);
    } else if (number < 80) {
        a_mode(generator, step_add(generator, place, turn, MAKE_COMMON)->mode, false);
    } else if (number < 83) {
        touch(generator, place, turn, ASK);
    } else if (number < 92) {
        if (strcmp(place, "asleep") != 0 && generator->with_nesting)
            make_run(generator, place, turn);
    } else if (number < 95) {
        make_source(generator, place, turn);
    } else if (number < 98) {
        make_observer(generator, place, turn);
    } else if (generator->with_timers) {
        make_timer(generator, place, turn);
    } else {
        make_counter(generator, place, turn);
    }
}

static void fill_callouts(struct generator *generator, char letter, int count, int turns, unsigned percent) {
    for (int i = 0; i < count; i++) {
        for (int turn = 1; turn <= turns; turn++) {
            char name[12];
            snprintf(name, sizeof name, "%c%d", letter, i);
            while (chance(generator, percent))
                random_step(generator, name, turn);
        }
    }
}

// Blocks are called once. Some queue another block and run the loop, which must not perform the rest of their batch.
static void fill_blocks(struct generator *generator) {
    for (int i = 0, count = generator->blocks; i < count; i++) {
        char name[12];
        snprintf(name, sizeof name, "b%d", i);
        while (chance(generator, 35))
            random_step(generator, name, 1);
        if (!generator->with_nesting || !chance(generator, 25))
            continue;
        if (chance(generator, 50))
            make_block(generator, name, 1);
        make_run(generator, name, 1);
    }
}

void program_generate(struct program *program, unsigned long seed) {
    struct generator generator = {.program = program, .state = seed * 0xD1342543DE82EF95u + 1};
    program->count = 0;
    unsigned kind = pick(&generator, 10);
    generator.with_timers = kind < 8;
    generator.with_counters = kind >= 5;
    generator.with_nesting = chance(&generator, 70);
    if (chance(&generator, 40))
        snprintf(step_add(&generator, "start", 0, MAKE_COMMON)->mode, 24, "Q");
    for (unsigned n = 1 + pick(&generator, 4); n > 0; n--)
        make_source(&generator, "start", 0);
    for (unsigned n = pick(&generator, 4); n > 0; n--)
        make_observer(&generator, "start", 0);
    for (unsigned n = generator.with_timers ? 1 + pick(&generator, 3) : 0; n > 0; n--)
        make_timer(&generator, "start", 0);
    for (unsigned n = generator.with_counters ? 1 + pick(&generator, 3) : 0; n > 0; n--)
        make_counter(&generator, "start", 0);
    for (unsigned rounds = 1 + pick(&generator, 4); rounds > 0; rounds--) {
        for (unsigned n = pick(&generator, 5); n > 0; n--)
            random_step(&generator, "start", 0);
        for (unsigned n = chance(&generator, 25) ? 2 + pick(&generator, 2) : 0; n > 0; n--)
            make_block(&generator, "start", 0);
        make_run(&generator, "start", 0);
    }
    fill_callouts(&generator, 's', generator.sources, 3, 45);
    fill_callouts(&generator, 't', generator.timers, 2, 50);
    fill_callouts(&generator, 'c', generator.counters, 3, 45);
    fill_callouts(&generator, 'o', generator.observers, 9, 12);
    fill_blocks(&generator);
    for (unsigned n = pick(&generator, 8); n > 0; n--)
        random_step(&generator, "asleep", 0);
}
