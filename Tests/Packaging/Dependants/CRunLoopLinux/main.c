#include <runloop_linux.h>
#include <signal.h>

static void receive(runloop_signal *signal, const runloop_signal_arrival *arrival, void *info) {
    (void)signal;
    *(uint64_t *)info += arrival->count;
    runloop_stop(runloop_current());
}

int main(void) {
    uint64_t count = 0;
    runloop_signal_config config = {.context.info = &count, .number = SIGUSR1, .receive = receive};
    runloop_signal *signal;
    if (runloop_signal_create(&config, &signal))
        return 1;
    if (runloop_add_source(runloop_current(), signal, RUNLOOP_DEFAULT_MODE))
        return 1;
    raise(SIGUSR1);
    return runloop_run() != RUNLOOP_RESULT_STOPPED || count != 1;
}
