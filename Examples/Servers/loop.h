// loop.h — all that the servers ask of a run loop, so that they can run on any. loop.c is RunLoopKit's core; the files of
// Benchmarks/servers are the others.
//
// One thread calls everything here, and is called by it.
#ifndef LOOP_H
#define LOOP_H

enum loop_direction { LOOP_READING, LOOP_WRITING };

/// A descriptor that the loop watches in one direction at a time.
struct loop_watch;

/// Called while the descriptor can be read, or written, whichever it is watched for; also when its peer is gone.
typedef void (*loop_ready)(void *info);

/// Makes the loop. Once, first.
void loop_open(void);

/// Watches a non-blocking descriptor, for reading at first.
struct loop_watch *loop_watch_start(int descriptor, loop_ready ready, void *info);

/// From now on the other direction.
void loop_watch_turn(struct loop_watch *watch, enum loop_direction direction);

/// Ends the watch, in its own callback or when the loop doesn't run, and closes the descriptor.
void loop_watch_end(struct loop_watch *watch);

/// Runs until loop_stop, which is called in a callback.
void loop_run(void);
void loop_stop(void);

/// Ends the process if a call that can't fail did.
void loop_check(int good, const char *what);

#endif
