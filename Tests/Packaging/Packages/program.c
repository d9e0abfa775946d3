// What a user of a package builds: three ticks, then a signal. The core alone with CORE_ONLY, also as C++.
#ifdef CORE_ONLY
#include <runloop.h>
#else
#include <runloop_linux.h>
#include <signal.h>
#endif
#include <stdio.h>

static void tick(runloop_timer *timer, void *count) {
    (void)timer;
    printf("tick %d\n", ++*(int *)count);
    if (*(int *)count == 3)
        runloop_stop(runloop_current());
}

static int ticks(void) {
    int count = 0;
    // As C++ has it, too.
    runloop_timer_config config = {0};
    config.context.info = &count;
    config.fire_ns = runloop_now_ns();
    config.interval_ns = 1000000;
    config.fire = tick;
    runloop_timer *timer;
    if (runloop_timer_create(&config, &timer) || runloop_add_timer(runloop_current(), timer, RUNLOOP_DEFAULT_MODE))
        return 1;
    int result = runloop_run();
    runloop_timer_invalidate(timer);
    runloop_timer_release(timer);
    return result != RUNLOOP_RESULT_STOPPED || count != 3;
}

#ifdef CORE_ONLY
int main(void) {
    return ticks();
}
#else
static void receive(runloop_signal *signal, const runloop_signal_arrival *arrival, void *info) {
    (void)signal;
    printf("signal %llu\n", (unsigned long long)arrival->count);
    *(uint64_t *)info += arrival->count;
    runloop_stop(runloop_current());
}

int main(void) {
    uint64_t count = 0;
    runloop_signal_config config = {.context.info = &count, .number = SIGUSR1, .receive = receive};
    runloop_signal *signal;
    if (ticks() || runloop_signal_create(&config, &signal) ||
        runloop_add_source(runloop_current(), signal, RUNLOOP_DEFAULT_MODE))
        return 1;
    raise(SIGUSR1);
    return runloop_run() != RUNLOOP_RESULT_STOPPED || count != 1;
}
#endif
