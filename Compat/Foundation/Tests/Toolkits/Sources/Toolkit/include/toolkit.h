// toolkit.h — what the measurements ask of a toolkit. Each program is linked with one file that defines it. The main thread only.
#ifndef TOOLKIT_H
#define TOOLKIT_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Opens a window, which is drawn sixty times a second while it is animated.
void toolkit_open(void);
void toolkit_animate(bool animates);
/// How often it has been drawn.
long toolkit_get_frames(void);

/// Runs the toolkit's main loop until the window is closed.
void toolkit_run(void);
void toolkit_close(void);
/// The same inside a callback, until it is quit: a loop of its own, or that of a modal dialog.
void toolkit_run_nested(void);
void toolkit_run_dialog(void);
void toolkit_quit_nested(void);

/// A timer of the toolkit's, which is there until the end.
void toolkit_repeat(int milliseconds, void (*call)(void));
/// Calls once, from the toolkit's loop.
void toolkit_call(void (*call)(void));
/// For a toolkit whose loop is the program's: how it waits for the next frame.
void toolkit_set_wait(void (*wait)(long long nanoseconds));

#ifdef __cplusplus
}
#endif

#endif // TOOLKIT_H
