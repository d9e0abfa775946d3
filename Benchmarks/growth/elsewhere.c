// elsewhere.c — one mode runs while another has work. With N ready descriptors or N signalled sources of the other mode: an iteration, and
// an iteration after one of the other mode. With N signalled sources of the mode itself: a run that ends after one of them.

#include "growth.h"

#include <sys/eventfd.h>
#include <unistd.h>

static const char *other_mode;

static void iterate_elsewhere(void) {
    runloop_run_in_mode(other_mode, 0, false);
}

//===-- ready descriptors --------------------------------------------------------------------------------------------===//

static void ignore(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events, (void)info;
}

static void watch(int descriptor, const char *mode) {
    runloop_descriptor_config config = {.descriptor = descriptor, .events = RUNLOOP_READABLE, .ready = ignore};
    runloop_source *source = NULL;
    growth_check(descriptor >= 0 && runloop_descriptor_source_create(&config, &source) == 0, "source");
    growth_check(runloop_add_source(growth_loop, source, mode) == 0, "add");
}

/// Duplicates of one readable eventfd in the default mode. The other mode has a descriptor, too, so that it asks the kernel.
static void prepare_ready(size_t count) {
    other_mode = runloop_mode_name("other");
    watch(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), other_mode);
    int readable = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
    for (size_t i = 0; i < count; i++)
        watch(dup(readable), growth_mode);
}

//===-- signalled sources --------------------------------------------------------------------------------------------===//

static runloop_source *last_performed;

static void perform(runloop_source *source, void *info) {
    (void)info;
    last_performed = source;
}

static void prepare_signalled(size_t count) {
    other_mode = runloop_mode_name("other");
    growth_source(other_mode);
    runloop_source_config config = {.perform = perform};
    for (size_t i = 0; i < count; i++) {
        runloop_source *source = NULL;
        growth_check(runloop_source_create(&config, &source) == 0, "source");
        growth_check(runloop_add_source(growth_loop, source, growth_mode) == 0, "add");
        runloop_source_signal(source);
    }
}

static void run_until_one_is_performed(void) {
    int result = runloop_run_in_mode(growth_mode, 0, true);
    growth_check(result == RUNLOOP_RESULT_HANDLED_SOURCE, "run");
}

static void signal_again(void) {
    runloop_source_signal(last_performed);
}

static void perform_one_and_signal_again(void) {
    run_until_one_is_performed();
    signal_again();
}

const struct growth growth_of_other_modes[] = {
    {"descriptors ready elsewhere", prepare_ready, NULL, iterate_elsewhere, NULL},
    {"descriptors ready, leave mode", prepare_ready, growth_iterate, iterate_elsewhere, NULL},
    {"descriptors ready, enter mode", prepare_ready, iterate_elsewhere, growth_iterate, NULL},
    {"sources signalled elsewhere", prepare_signalled, NULL, iterate_elsewhere, NULL},
    {"sources signalled, leave mode", prepare_signalled, perform_one_and_signal_again, iterate_elsewhere, NULL},
    {"sources signalled, one performed", prepare_signalled, NULL, run_until_one_is_performed, signal_again},
    {0},
};
