// The language of the scenarios: items have names, everything that happens becomes a line of the trace.
//
//   SCENARIO(stop_in_observer, "R46", "a BeforeWaiting observer stops the run") {
//       watch(P);                                  // tells Entry T S W A Exit
//       quiet(P);                                  // an item, so that P isn't empty
//       observer("o", "W", 0, P, ^{ stop(); });
//       run(P, 5, GO_ON);                          // prints "-> Stopped"
//   }
//
// A scenario runs on a thread, and so on a loop, of its own. What it prints must not depend on the clock: dates lie in
// the past (PAST), far ahead (FAR), or some ten milliseconds apart, and no clock value is ever printed.
#ifndef CONFORMANCE_DSL_H
#define CONFORMANCE_DSL_H

#include <Block.h>
#include <CoreFoundation/CoreFoundation.h>
#include <stdbool.h>
#include <stdint.h>

// clang-format takes a header for Objective-C where it sees the caret in its place.
#define BLOCK_POINTER ^
typedef void(BLOCK_POINTER action)(void);

//-- scenarios ---------------------------------------------------------------------------------------------------------

struct scenario {
    const char *name;
    const char *rules;
    const char *sentence;
    const char *file;
    bool on_main_thread; // then it has a process of its own
    const char *golden;  // the trace that it must have, as one line, or NULL
    void (*body)(void);
    struct scenario *next;
};

void scenario_register(struct scenario *scenario);

#define SCENARIO_ON(identifier, rule_numbers, text, main_thread, golden_trace)                                         \
    static void scenario_##identifier(void);                                                                           \
    __attribute__((constructor)) static void register_##identifier(void) {                                             \
        static struct scenario scenario = {#identifier,  rule_numbers,          text, __FILE__, main_thread,           \
                                           golden_trace, scenario_##identifier, NULL};                                 \
        scenario_register(&scenario);                                                                                  \
    }                                                                                                                  \
    static void scenario_##identifier(void)
#define SCENARIO(identifier, rule_numbers, text) SCENARIO_ON(identifier, rule_numbers, text, false, NULL)
#define MAIN_SCENARIO(identifier, rule_numbers, text) SCENARIO_ON(identifier, rule_numbers, text, true, NULL)

//-- words -------------------------------------------------------------------------------------------------------------

#define DEFAULT "kCFRunLoopDefaultMode"
#define COMMON "kCFRunLoopCommonModes" // the exported constant; "=kCFRunLoopCommonModes" is another string of that text
#define P "P"
#define Q "Q"
#define PAST (-1000.0) // milliseconds from now
#define FAR 1e6
#define FOREVER 1e20 // seconds
#define RETURN true
#define GO_ON false

//-- items -------------------------------------------------------------------------------------------------------------

// Created and added to a mode, or to none if the mode is NULL. The action may be NULL. In it, activity() is the letter
// of the activity that an observer is notified of, and every call of this header is allowed.
void source(const char *name, int order, const char *mode, action perform);
void timer(const char *name, double due_ms, double interval_ms, const char *mode, action fire);
void ordered_timer(const char *name, double due_ms, double interval_ms, int order, const char *mode, action fire);
void observer(const char *name, const char *letters, int order, const char *mode, action told);
void observer_once(const char *name, const char *letters, int order, const char *mode, action told);
void counter(const char *name, const char *mode, action perform); // a version-1 source on an event counter
void pipe_source(const char *name, const char *mode, action perform);
void counter_of(const char *name, const char *other, const char *mode, action perform); // on the other source's counter
int bytes_left(const char *name);                                                       // left in the pipe
void no_port(const char *name, const char *mode); // a version-1 source whose port is -1
void watch(const char *mode);                     // an observer of everything that prints only its letters
void quiet(const char *mode);                     // a source that is never signalled, without a name in the trace
char activity(void);

// Sources that share an `equal` and a `hash`, which compare the numbers; all else is alike.
void equal_source(const char *name, int order, int number, const char *mode, action perform);

void add(const char *name, const char *mode);
void take_out(const char *name, const char *mode);
void invalidate(const char *name);
void let_go(const char *name); // the creator's reference
void add_to_other_loop(const char *name, const char *mode);
void take_out_of_other_loop(const char *name, const char *mode);
void make_common(const char *mode);
void loud(void);             // print schedule and cancel from now on
void count_references(void); // items created from now on print retain and release

void signal_source(const char *name);
void ready(const char *name); // writes to the counter, or a byte to the pipe
void date(const char *name, double due_ms);

//-- blocks ------------------------------------------------------------------------------------------------------------

void block(const char *name, const char *mode, action perform); // "P,Q" is an array of two, "{P,Q}" a set, "" empty

//-- running -----------------------------------------------------------------------------------------------------------

void run(const char *mode, double seconds, bool return_after_source);
void timed_run(const char *mode, double seconds, bool return_after_source); // says also whether it took that long
void run_default(void);                                                     // CFRunLoopRun
void stop(void);
void stop_mode(const char *mode);
void wake(void);

//-- queries, whose answers are printed --------------------------------------------------------------------------------

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void contains(const char *name, const char *mode);
void is_valid(const char *name);
void is_signalled(const char *name);
void fire_date(const char *name);             // "as set", "none" or "another"
void on_grid(const char *name, int at_least); // does a timer that is firing keep its grid, so many intervals later?
void has_info(const char *name);
void describe_item(const char *name); // what it was created with
void next_date(const char *mode);     // "none", or the name of the timer that has this date
void current_mode(void);
void is_waiting(void);
void all_modes(void);
void finished(const char *mode); // the private function that tells whether a run in that mode would finish at once

//-- threads and time --------------------------------------------------------------------------------------------------

void elsewhere(action body);    // on another thread, which has ended when this returns
void when_asleep(action body);  // on another thread as soon as the loop sleeps; several take turns
void nap(double milliseconds);  // the calling thread does nothing
void outlast(const char *name); // … until the date of that timer has passed

// The objects themselves.
CFTypeRef object(const char *name);
CFRunLoopRef loop(void);
CFStringRef mode_string(const char *mode);

#endif
