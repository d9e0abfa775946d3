// events.h — what W14 asks of a loop: to report a signal, the end of a child, a changed file. One file per loop.
#ifndef EVENTS_H
#define EVENTS_H
#include <sys/types.h>

/// The loop of the calling thread.
void events_open(void);
/// Calls `told` in the loop whenever SIGUSR1 arrives.
void events_watch_signal(void (*told)(void));
/// Calls it whenever the file is written to.
void events_watch_file(const char *path, void (*told)(void));
/// Calls it when the process, a child that has just been started, has ended, and reaps it.
void events_watch_child(const char *program, const char *argument, void (*told)(void));
/// Runs the loop until `events_stop`, which is called in it.
void events_run(void);
void events_stop(void);

#endif // EVENTS_H
