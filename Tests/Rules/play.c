// Running a program: its thread, its runs, and the thread that acts when the loop sleeps.
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BUDGET = 60 };

// Each call-out begins with this.
void woken(struct play *play) {
    play->about_to_sleep = false;
    trace_wait_for_turn(&play->trace);
    play->events++;
}

static const char *result_name(CFRunLoopRunResult result) {
    static const char *const names[] = {"?", "Finished", "Stopped", "TimedOut", "HandledSource"};
    return result >= 1 && result <= 4 ? names[result] : names[0];
}

void play_run(struct play *play, const char *mode, const char *limit, bool return_after_source) {
    double seconds = *limit == '0' ? 0 : *limit == 's' ? .015 : *limit == 'l' ? 1e5 : 1e20;
    struct level *level = &play->levels[play->depth];
    *level = (struct level){.mode = mode, .limit = *limit, .takes_wakes = true};
    play->last_mode = mode;
    play->about_to_sleep = false;
    play->depth++;
    play->trace.depth++;
    CFRunLoopRunResult result = CFRunLoopRunInMode(program_mode(mode), seconds, return_after_source);
    woken(play);
    play->trace.depth--;
    play->depth--;
    trace_line(&play->trace, "-> %s", result_name(result));
    if (result == kCFRunLoopRunStopped && !level->stopped)
        play->stopped[*mode - *mode_names[0]] = false;
    after_run(level);
}

// A wake-up or a stop may have been consumed.
static void note_wake(struct play *play, const struct step *step) {
    struct level *level = innermost(play);
    if (level != NULL && step->verb == STOP && level->phase != 'X')
        level->stopped = true;
    if (step->verb == STOP_MODE)
        play->stopped[*step->mode - *mode_names[0]] = true;
    if (level != NULL && level->takes_wakes && (step->verb == STOP || step->verb == STOP_MODE || step->verb == WAKE))
        level->wake_pending = true;
}

static bool do_step(struct play *play, struct step *step) {
    char text[96];
    step_print(step, text, sizeof text);
    bool comparable = step_is_comparable(play, step);
    trace_line(&play->trace, "%s%s%s", play->helping ? "  asleep: " : "  : ", text, comparable ? "" : " (left out)");
    if (!comparable)
        return false;
    if (step->verb == RUN) {
        for (int i = 0; i < MODES; i++)
            if (strcmp(step->mode, mode_names[i]) == 0)
                play_run(play, mode_names[i], step->words[0], strcmp(step->words[1], "return") == 0);
    } else {
        step_perform(play, step);
        note_wake(play, step);
    }
    return true;
}

bool play_steps(struct play *play, const char *place, int turn) {
    bool any = false;
    for (int i = 0; i < play->program->count; i++) {
        struct step *step = &play->program->steps[i];
        if (step->turn == turn && strcmp(step->place, place) == 0)
            any = do_step(play, step) || any;
    }
    return any;
}

//-- the helper --------------------------------------------------------------------------------------------------------

static void pause_briefly(void) {
    struct timespec duration = {0, 60000};
    nanosleep(&duration, NULL);
}

// The loop sleeps if the last notification was BeforeWaiting and its thread is asleep in the kernel, in two checks.
static bool loop_is_asleep(struct play *play) {
    unsigned long events = play->events;
    if (!play->about_to_sleep || !thread_is_asleep(play->thread))
        return false;
    pause_briefly();
    return play->about_to_sleep && thread_is_asleep(play->thread) && play->events == events;
}

// It doesn't act while the sleep is to end by the clock.
static bool helper_may_act(struct play *play) {
    if (play->depth == 0 || !play->about_to_sleep)
        return false;
    for (int i = 0; i < play->depth; i++)
        if (play->levels[i].limit == 's')
            return false;
    for (int i = 0; i < play->thing_count; i++)
        if (play->things[i].soon && thing_in_mode(play, &play->things[i], innermost(play)->mode))
            return false;
    return true;
}

// After a step that ends the sleep, the next check must not find the loop still asleep.
static void wait_until_woken(struct play *play, unsigned long events) {
    for (int i = 0; i < 10000 && play->events == events; i++)
        pause_briefly();
    if (play->events == events)
        trace_line(&play->trace, "(not woken)");
}

static void act(struct play *play) {
    static struct step stop = {.place = "asleep", .verb = STOP};
    struct step *step = &stop;
    for (int i = 0; i < play->program->count && step == &stop; i++)
        if (!play->program->steps[i].done && strcmp(play->program->steps[i].place, "asleep") == 0)
            step = &play->program->steps[i];
    if (play->budget <= 0)
        step = &stop;
    const char *mode = innermost(play)->mode;
    if (step != &stop)
        step->done = true;
    play->helping = true;
    bool wakes = do_step(play, step);
    if (wakes) {
        after_helper(play, step);
        struct thing *thing = thing_named(play, step->name);
        wakes = step->verb == STOP || step->verb == STOP_MODE || step->verb == WAKE;
        if (thing != NULL && (thing->pending || thing->due))
            wakes = thing_in_mode(play, thing, mode);
    }
    play->helping = false;
    unsigned long events = ++play->events;
    pthread_mutex_unlock(&play->trace.turn);
    if (wakes)
        wait_until_woken(play, events);
    pthread_mutex_lock(&play->trace.turn);
}

static void *help(void *argument) {
    struct play *play = argument;
    while (!play->over) {
        if (!loop_is_asleep(play)) {
            pause_briefly();
            continue;
        }
        pthread_mutex_lock(&play->trace.turn);
        if (helper_may_act(play))
            act(play);
        pthread_mutex_unlock(&play->trace.turn);
        pause_briefly();
    }
    return NULL;
}

//-- the whole program -------------------------------------------------------------------------------------------------

static void *on_own_thread(void *argument) {
    struct play *play = argument;
    pthread_t helper;
    play->loop = CFRunLoopGetCurrent();
    play->thread = gettid();
    play_furnish(play);
    if (pthread_create(&helper, NULL, help, play) != 0)
        abort();
    play_steps(play, "start", 0);
    play->over = true;
    pthread_join(helper, NULL);
    trace_line(&play->trace, "the thread ends");
    trace_begin_sorted(&play->trace);
    return NULL;
}

void play_program(struct program *program, struct trace *result) {
    struct play *play = calloc(1, sizeof *play);
    pthread_t thread;
    if (play == NULL)
        abort();
    play->program = program;
    play->budget = BUDGET;
    play->last_mode = "";
    trace_open(&play->trace);
    trace_if_hung = &play->trace;
    for (int i = 0; i < program->count; i++)
        program->steps[i].done = false;
    if (pthread_create(&thread, NULL, on_own_thread, play) != 0)
        abort();
    pthread_join(thread, NULL);
    trace_end_sorted(&play->trace);
    for (int i = 0; i < play->furniture_count; i++)
        CFRelease(play->furniture[i]);
    for (int i = 0; i < play->thing_count; i++) {
        if (play->things[i].object)
            CFRelease(play->things[i].object);
        if (play->things[i].descriptor >= 0)
            close(play->things[i].descriptor);
    }
    trace_if_hung = NULL;
    *result = play->trace;
    free(play);
}
