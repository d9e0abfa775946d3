// A guest of the loop: a pipe that it polls by itself, and that ends the run.
#include <runloop_foreign.h>
#include <unistd.h>

static int ends[2];

static int prepare(runloop_foreign_source *source, struct pollfd *descriptors, int capacity, int64_t *deadline_ns,
                   void *info) {
    (void)source, (void)deadline_ns, (void)info;
    if (capacity > 0)
        descriptors[0] = (struct pollfd){.fd = ends[0], .events = POLLIN};
    return 1;
}

static void dispatch(runloop_foreign_source *source, void *info) {
    char byte;
    if (read(ends[0], &byte, 1) == 1)
        ++*(int *)info;
    runloop_foreign_source_invalidate(source);
}

int main(void) {
    int count = 0;
    runloop_foreign_source_config config = {.context.info = &count, .prepare = prepare, .dispatch = dispatch};
    runloop_foreign_source *source;
    if (pipe(ends) || write(ends[1], "x", 1) != 1 || runloop_foreign_source_create(&config, &source) ||
        runloop_add_foreign_source(runloop_current(), source, RUNLOOP_DEFAULT_MODE))
        return 1;
    int result = runloop_run();
    runloop_foreign_source_release(source);
    return result != RUNLOOP_RESULT_FINISHED || count != 1;
}
