// loop.h — everything that the servers need from a loop, so that they can run on any: each of the other files implements it on one.
//
// One thread makes all these calls, and receives all callbacks.
#ifndef LOOP_H
#define LOOP_H

enum loop_direction { LOOP_READING, LOOP_WRITING };

/// A descriptor that the loop watches in one direction at a time.
struct loop_watch;

/// Called while the descriptor is readable or writable, whichever it is watched for; also when its peer is gone.
typedef void (*loop_ready)(void *info);

/// Creates the loop. Called once, before everything else.
void loop_open(void);

/// Watches a non-blocking descriptor, for reading at first.
struct loop_watch *loop_watch_start(int descriptor, loop_ready ready, void *info);

/// Watches the other direction, which is this one, from now on.
void loop_watch_turn(struct loop_watch *watch, enum loop_direction direction);

/// Ends the watch, in its own callback or when the loop doesn't run, and closes the descriptor.
void loop_watch_end(struct loop_watch *watch);

/// Runs until loop_stop, which is called in a callback.
void loop_run(void);
void loop_stop(void);

/// Ends the process if a call failed that can't fail.
void loop_check(int good, const char *what);

#endif
