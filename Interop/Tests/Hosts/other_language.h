// other_language.h — the host of a test is in another file, in another language.
#ifndef OTHER_LANGUAGE_H
#define OTHER_LANGUAGE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
void host_attach(const char *mode);
void host_detach(void);
void host_iterate(int64_t limit_ns);
/// In Qt: the callback for the end detaches, and says whether what it has captured was there until it returned: 1, or -1.
void host_attach_until_end(const char *mode, int *outcome);

/// Posted events, as those are by which windows are drawn; timers; and timers without an interval, which Qt calls when it has nothing else.
#define HOST_TURNS 3
void host_begin_turns(int turns[HOST_TURNS]);
void host_end_turns(void);
#ifdef __cplusplus
}
#endif

#endif // OTHER_LANGUAGE_H
