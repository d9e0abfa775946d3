// Shared by the files of the scenario language.
#ifndef CONFORMANCE_DSL_INTERNAL_H
#define CONFORMANCE_DSL_INTERNAL_H

#include "dsl.h"
#include "trace.h"

enum item_kind { SOURCE, TIMER, OBSERVER, DESCRIPTOR };

struct item {
    char name[32];
    enum item_kind kind;
    CFTypeRef object;
    action body;
    const char *letters;
    int number;     // for `equal`
    bool silent;    // its call-outs print nothing
    bool anonymous; // they print the activity only
    bool counted;   // retain and release are printed
    bool once;      // an observer that doesn't repeat
    int descriptor; // what its owner writes to
    bool borrowed;  // the descriptor is another item's
    int read_end;   // of a pipe
    CFAbsoluteTime date;
    long ticks; // of a timer, when it was last asked: intervals since its date
};

struct stage {
    struct trace trace;
    struct item items[64];
    int item_count;
    CFRunLoopRef loop;
    pid_t thread;
    _Atomic unsigned long events; // incremented by every call-out: if it doesn't change, the loop may be asleep
    bool loud;
    bool counting;
    char activity;
    action helper_actions[32];
    int helper_count;
    int helper_done;
    pthread_t helper;
    _Atomic bool body_is_over;
};

extern struct stage stage;

struct item *item_named(const char *name);
struct item *item_new(const char *name, enum item_kind kind, action body);
void item_add(struct item *item, CFRunLoopRef loop, const char *mode);
void stage_open(void);
void stage_run(void (*body)(void));
void stage_close(void);
void call_out(struct item *item, const char *text);

#endif
