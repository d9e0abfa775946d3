// published.c — what runloop-top looks at: a program with a timer and statistics, published at the path that it is given. With
// "spinning" as a second argument it spins, with "tasks" it has some.
#include <runloop_diagnostics.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>

static void tick(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
}

static void leave_it(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events, (void)info;
}

static int spin(void) {
    runloop_descriptor_config config = {
        .descriptor = eventfd(1, EFD_CLOEXEC), .events = RUNLOOP_READABLE, .ready = leave_it};
    runloop_source *source;
    int error = runloop_descriptor_source_create(&config, &source);
    return error ? error : runloop_add_source(runloop_current(), source, RUNLOOP_DEFAULT_MODE);
}

static char *copy_tasks(runloop *loop) {
    (void)loop;
    return strdup("task 1 awaits task 2, for 1.5 s\ntask 2 runs\033[2J, for 0.5 s");
}

int main(int count, char **arguments) {
    runloop_timer_config config = {.fire = tick, .fire_ns = runloop_now_ns(), .interval_ns = 2000000};
    runloop_timer *timer;
    if (runloop_timer_create(&config, &timer) < 0)
        return 1;
    // The second part would clear the screen, were it not for who shows it.
    runloop_timer_set_name(timer, "the \"ticker\"\033[2J", 0);
    runloop_add_timer(runloop_current(), timer, RUNLOOP_DEFAULT_MODE);
    bool spins = count > 2 && strcmp(arguments[2], "spinning") == 0;
    if (count > 2 && !spins)
        runloop_report_set_tasks(copy_tasks);
    int error = runloop_statistics_start();
    if (error || (spins && (error = spin())) || (error = runloop_publish(count > 1 ? arguments[1] : NULL)))
        return 1;
    puts("published");
    fflush(stdout);
    runloop_run();
    runloop_unpublish();
}
