#include <runloop.h>

static void stop(void *info) {
    runloop_stop(info);
}

int main(void) {
    if (runloop_post(runloop_current(), RUNLOOP_DEFAULT_MODE, stop, runloop_current(), NULL))
        return 1;
    return runloop_run() != RUNLOOP_RESULT_STOPPED;
}
