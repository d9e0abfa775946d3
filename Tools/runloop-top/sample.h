// sample.h — what a process says of its loops at one moment.
#ifndef RUNLOOP_TOP_SAMPLE_H
#define RUNLOOP_TOP_SAMPLE_H

#include <stdbool.h>

enum { SAMPLE_LOOPS = 64, SAMPLE_KINDS = 6, SAMPLE_TASKS = 256 };

/// The names of the kinds of call-outs in reports.
extern const char *const sample_kinds[SAMPLE_KINDS];

struct loop_sample {
    char address[32], state[16], mode[128], longest[128];
    bool is_main, has_statistics;
    double elapsed_ns, running_ns, asleep_ns, iterations, sleeps, callouts[SAMPLE_KINDS], lateness_p99_ns, longest_ns;
};

struct sample {
    struct loop_sample loops[SAMPLE_LOOPS];
    int count;      ///< of the loops that are kept
    int loop_count; ///< of all loops of the process
    char tasks[SAMPLE_TASKS][200];
    int task_count;
};

/// 0, or a negative errno: -ETIMEDOUT if the process takes more than five seconds, -EPROTO if its answer can't be understood, -EACCES if
/// it doesn't answer this user.
int sample_take(const char *path, struct sample *sample);
/// Of an answer. 0 or -EPROTO.
int sample_read(const char *answer, struct sample *sample);

#endif // RUNLOOP_TOP_SAMPLE_H
