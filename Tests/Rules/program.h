// Random programs: their text, and their state while they run.
//
// A program is a list of steps, one a line. Each begins with the place where it is performed:
//   start: run P endless goon      in sequence, on the program's thread
//   s0 2: signal s1                in the second call-out of s0
//   asleep: wake                   by another thread, the next time the loop sleeps
// A step does nothing if it names an item that doesn't exist yet, or if comparable.c omits it.
#ifndef CONFORMANCE_PROGRAM_H
#define CONFORMANCE_PROGRAM_H

#include "trace.h"

#include <CoreFoundation/CoreFoundation.h>

enum { MAX_STEPS = 160, MAX_THINGS = 48, MAX_LEVELS = 8, MODES = 3 };

enum verb {
    MAKE_SOURCE,   // name mode order
    MAKE_COUNTER,  // name mode
    MAKE_TIMER,    // name mode due once|repeats
    MAKE_OBSERVER, // name mode letters order once|repeats
    MAKE_BLOCK,    // name mode
    ADD,           // name mode
    REMOVE,        // name mode
    INVALIDATE,    // name
    SIGNAL,        // name
    READY,         // name
    DATE,          // name due
    STOP,
    STOP_MODE, // mode
    WAKE,
    MAKE_COMMON, // mode
    RUN,         // mode limit return|goon
    ASK,         // name
    VERBS
};

struct step {
    char place[12]; // "start", "asleep", or the name of an item
    int turn;       // which call-out of that item
    enum verb verb;
    char name[12];
    char mode[24];
    char words[3][12];
    bool done;
};

struct program {
    struct step steps[MAX_STEPS];
    int count;
};

enum thing_kind { A_SOURCE, A_COUNTER, A_TIMER, AN_OBSERVER, A_BLOCK };

// An item, and what is known about it without asking the library.
struct thing {
    char name[12];
    enum thing_kind kind;
    struct play *play;
    CFTypeRef object;
    int calls;
    int descriptor;
    bool signalled;     // a source
    bool pending;       // a counter that was written to and not served
    bool due;           // a timer whose date is past and that has not fired since
    bool soon;          // a timer that comes due while the program runs
    const char *firing; // the mode in which a timer's call-out is running, or NULL
    bool repeats;
    bool made_common;
    bool queued; // a block
    int batch;   // of the drain that dequeued the block
    char modes[24];
};

// A run that is active.
struct level {
    const char *mode;
    char limit;        // '0', 'short', 'long' or 'endless', by its first letter
    char phase;        // the last activity that was notified: E T S W A X
    bool takes_wakes;  // or may accept them
    bool wake_pending; // one was accepted, and no wait has been seen since
    bool stopped;      // a plain stop was requested
    int performing;    // call-outs of sources in progress
    int batch;         // of the drain in progress, 0 for none
    int naps;
};

// A program that is running.
struct play {
    struct program *program;
    struct trace trace;
    CFRunLoopRef loop;
    pid_t thread;
    struct thing things[MAX_THINGS];
    int thing_count;
    struct level levels[MAX_LEVELS];
    _Atomic int depth;
    _Atomic unsigned long events;
    _Atomic bool about_to_sleep; // the last observer called was the last one for BeforeWaiting
    _Atomic bool over;
    int budget; // of call-outs
    int batches;
    bool helping; // the helper acts
    bool common[MODES];
    bool stopped[MODES];   // a stop of the mode is remembered
    const char *last_mode; // of the last run
    CFTypeRef furniture[4 * MODES + 1];
    int furniture_count;
};

extern const char *const mode_names[MODES];

// program_text.c
bool program_parse(struct program *program, const char *text);
void step_print(const struct step *step, char *text, size_t size);

// generate.c
void program_generate(struct program *program, unsigned long seed);

// play.c
void play_program(struct program *program, struct trace *result);
bool play_steps(struct play *play, const char *place, int turn);

// things.c
struct thing *thing_named(struct play *play, const char *name);
CFStringRef program_mode(const char *name);
void step_perform(struct play *play, struct step *step);
bool thing_in_mode(struct play *play, struct thing *thing, const char *mode);
bool thing_valid(struct thing *thing);
void play_furnish(struct play *play);
void play_run(struct play *play, const char *mode, const char *limit, bool return_after_source);

// comparable.c
bool step_is_comparable(struct play *play, const struct step *step);
void before_sleep(struct play *play);
void after_run(struct level *level);
void after_helper(struct play *play, const struct step *step);
void woken(struct play *play);
struct level *innermost(struct play *play);
bool block_in_hand(struct play *play, const struct thing *block);

// programs.c
int programs_run_seeds(unsigned long first, unsigned long count, int threads);
int program_print_seed(unsigned long seed);
int program_run_input(void);

#endif
