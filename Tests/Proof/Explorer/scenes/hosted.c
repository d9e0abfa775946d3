// hosted.c — runs whose sleep is a host's, which waits for the loop's descriptor by its level or by its edges.

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "scene.h"

/// How the host waits in the scene, otherwise by the level.
#define BY_EDGES .variant = EPOLLET

static runloop *loop;
static runloop_source *source;
static int performed, to_come, result, set;

/// The host is woken, or nobody ever wakes it.
static void host_sleep(void) {
    struct epoll_event event;
    while (epoll_wait(set, &event, 1, -1) < 0)
        EXPECT(errno == EINTR);
}

static void host_begin(void) {
    source = source_with(NULL, NULL);
    loop = loop_with(source);
    set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN | scene_variant()};
    EXPECT(epoll_ctl(set, EPOLL_CTL_ADD, runloop_hosted_descriptor(), &event) == 0);
    EXPECT(runloop_hosted_begin(MODE) == 0);
    meet();
}

/// Until the run ends.
static void host_run(int64_t budget_ns) {
    do {
        host_sleep();
        do
            result = runloop_hosted_iterate(budget_ns);
        while (result == -EAGAIN && budget_ns > 0);
    } while (result <= 0);
    part();
    EXPECT(result == RUNLOOP_RESULT_STOPPED);
}

static void host_loop(void) {
    host_begin();
    host_run(RUNLOOP_FOREVER);
}
static void host_by_single_iterations(void) {
    host_begin();
    host_run(0);
}

//===-- what ends the sleep ------------------------------------------------------------------------------------------===//

static void perform(void *info) {
    (void)info;
    if (++performed == to_come)
        runloop_stop(loop);
}

static void post(void) {
    to_come = 1;
    meet();
    runloop_post(loop, MODE, perform, NULL, NULL);
}

static void post_one_of_two(void) {
    meet();
    runloop_post(loop, MODE, perform, NULL, NULL);
}

static runloop_source *chain[2];

static void signal_next(runloop_source *signalled, void *info) {
    (void)info;
    if (signalled == chain[0])
        runloop_source_signal(chain[1]);
    else
        runloop_stop(loop);
}
static void make_chain(void) {
    for (int i = 0; i < 2; i++) {
        chain[i] = source_with(signal_next, NULL);
        runloop_add_source(runloop_current(), chain[i], MODE);
    }
}
static void host_chain(void) {
    make_chain();
    host_by_single_iterations();
}
static void signal_chain(void) {
    meet();
    runloop_source_signal(chain[0]);
    runloop_wake_up(loop);
}
SCENE(hosted_work_left, "what is left when the host's time is up is reported", .threads = {host_chain, signal_chain});
SCENE(hosted_work_left_by_edges, "also by an edge", .threads = {host_chain, signal_chain}, BY_EDGES);

static void stop_latched(void) {
    meet();
    runloop_stop_latched(loop);
}

static void host_for_two(void) {
    to_come = 2;
    host_loop();
}

SCENE(hosted_post, "a task ends the host's sleep", .threads = {host_loop, post});
SCENE(hosted_post_by_edges, "also by an edge", .threads = {host_loop, post}, BY_EDGES);
SCENE(hosted_single_iterations, "also if the host calls for one iteration at a time",
      .threads = {host_by_single_iterations, post});
SCENE(hosted_single_edges, "also by edges", .threads = {host_by_single_iterations, post}, BY_EDGES);
SCENE(hosted_posts, "so do two tasks", .threads = {host_for_two, post_one_of_two, post_one_of_two});
SCENE(hosted_posts_by_edges, "also by edges", .threads = {host_for_two, post_one_of_two, post_one_of_two}, BY_EDGES);
SCENE(hosted_stop, "so does a latched stop", .threads = {host_loop, stop_latched}, BY_EDGES);

static void remove_source(void) {
    meet();
    runloop_remove_source(loop, source, MODE);
}
static void host_until_empty(void) {
    host_begin();
    do {
        host_sleep();
        result = runloop_hosted_iterate(RUNLOOP_FOREVER);
    } while (result <= 0);
    part();
    EXPECT(result == RUNLOOP_RESULT_FINISHED);
}
SCENE(hosted_emptied_mode, "so does the last item that leaves the mode", .threads = {host_until_empty, remove_source},
      BY_EDGES);

//===-- the host's loop in a call-out --------------------------------------------------------------------------------===//

static int performed_inside;

static void perform_inside(void *info) {
    (void)info;
    performed_inside++;
}

/// The host waits in the call-out for what is posted while that runs.
static void run_host_in_task(void *info) {
    (void)info;
    tell(0);
    if (scene_variant())
        runloop_hosted_iterate(RUNLOOP_FOREVER);
    while (performed_inside == 0) {
        host_sleep();
        runloop_hosted_iterate(RUNLOOP_FOREVER);
    }
    runloop_stop(loop);
}

static void host_with_modal_task(void) {
    runloop_perform(runloop_current(), MODE, run_host_in_task, NULL, NULL);
    host_loop();
}
static void post_inside(void) {
    meet();
    await(0);
    runloop_post(loop, MODE, perform_inside, NULL, NULL);
}
SCENE(modal_post, "a host that runs its loop in a call-out is woken for what comes then",
      .threads = {host_with_modal_task, post_inside});
SCENE(modal_post_by_edges, "also by edges", .threads = {host_with_modal_task, post_inside}, BY_EDGES);

/// In the call-out of a descriptor, which the kernel was asked about: nothing was written for the host.
static void run_host_in_ready(runloop_source *ready, runloop_readiness reasons, void *info) {
    (void)reasons;
    uint64_t count;
    EXPECT(syscall(SYS_read, runloop_source_get_descriptor(ready), &count, sizeof count) == sizeof count);
    run_host_in_task(info);
}
static void add_ready(void) {
    runloop_source *ready = NULL;
    runloop_descriptor_config config = {
        .descriptor = eventfd(0, EFD_NONBLOCK), .events = RUNLOOP_READABLE, .ready = run_host_in_ready};
    EXPECT(syscall(SYS_write, config.descriptor, &(uint64_t){1}, sizeof(uint64_t)) == sizeof(uint64_t));
    EXPECT(runloop_descriptor_source_create(&config, &ready) == 0);
    runloop_add_source(runloop_current(), ready, MODE);
}
static void host_with_modal_descriptor(void) {
    add_ready();
    host_loop();
}
static void post_at_any_time(void) {
    meet();
    runloop_post(loop, MODE, perform_inside, NULL, NULL);
}
SCENE(modal_descriptor, "also if it was called for a descriptor alone",
      .threads = {host_with_modal_descriptor, post_at_any_time});
SCENE(modal_descriptor_by_edges, "also by edges", .threads = {host_with_modal_descriptor, post_at_any_time}, BY_EDGES);

static void do_nothing(void *info) {
    (void)info;
}
static void post_before(void) {
    meet();
    runloop_post(loop, MODE, do_nothing, NULL, NULL);
}
SCENE(modal_descriptor_posts, "also if something came before, and was taken",
      .threads = {host_with_modal_descriptor, post_inside, post_before});

static void see_inside(runloop_source *signalled, void *info) {
    (void)signalled;
    perform_inside(info);
}
static runloop_source *inside;
static void host_with_modal_task_and_source(void) {
    inside = source_with(see_inside, NULL);
    runloop_add_source(runloop_current(), inside, MODE);
    host_with_modal_task();
}
static void signal_inside(void) {
    meet();
    runloop_source_signal(inside);
    runloop_wake_up(loop);
}
SCENE(modal_signal, "also of what came before, as long as it waits",
      .threads = {host_with_modal_task_and_source, signal_inside});

/// A host that sees edges, and wants nothing but what is posted while its loop runs in the task that follows a source.
static void await_inside(void *info) {
    (void)info;
    tell(1);
    while (performed_inside == 0) {
        host_sleep();
        runloop_hosted_iterate(RUNLOOP_FOREVER);
    }
    runloop_stop(loop);
}
static void tell_first(runloop_source *first, void *info) {
    (void)first, (void)info;
    tell(0);
}
static void host_with_two_call_outs(void) {
    runloop_source *first = source_with(tell_first, NULL);
    runloop_add_source(runloop_current(), first, MODE);
    runloop_source_signal(first);
    host_by_single_iterations();
}
static void post_between(void) {
    meet();
    await(0);
    runloop_post(loop, MODE, await_inside, NULL, NULL);
}
static void post_in_second(void) {
    meet();
    await(1);
    runloop_post(loop, MODE, perform_inside, NULL, NULL);
}
SCENE(modal_edge, "what comes during a call-out is an edge, whatever came before",
      .threads = {host_with_two_call_outs, post_in_second, post_between}, BY_EDGES);

static int performed_outside;
static void perform_last(void *info) {
    (void)info;
    performed_outside++;
    if (performed_outside == 2)
        runloop_stop(loop);
}
static void nest_host_once(void *info) {
    (void)info;
    runloop_hosted_iterate(RUNLOOP_FOREVER);
    perform_last(NULL);
}
static void host_with_short_modal_task(void) {
    host_begin();
    runloop_post(loop, MODE, nest_host_once, NULL, NULL);
    host_run(RUNLOOP_FOREVER);
}
static void post_last(void) {
    meet();
    runloop_post(loop, MODE, perform_last, NULL, NULL);
}
SCENE(modal_look, "what a look in a call-out takes from the kernel is not lost for the run around it",
      .threads = {host_with_short_modal_task, post_last}, BY_EDGES);

//===-- another run while the host sleeps -----------------------------------------------------------------------------===//

/// With a descriptor, so that a run asks the kernel.
static void add_to_other_mode(void) {
    runloop_source *other = NULL;
    runloop_descriptor_config config = {.descriptor = eventfd(0, EFD_NONBLOCK), .events = RUNLOOP_READABLE};
    EXPECT(runloop_descriptor_source_create(&config, &other) == 0);
    runloop_add_source(runloop_current(), other, "other");
}

static void run_other_mode_in_sleep(void) {
    add_to_other_mode();
    host_begin();
    host_sleep();
    runloop_hosted_iterate(RUNLOOP_FOREVER);
    if (performed == 0)
        runloop_run_in_mode("other", 0, false);
    if (performed == 0)
        host_run(RUNLOOP_FOREVER);
}
SCENE(run_in_sleep, "what comes during a run of another mode is not lost for the hosted run that sleeps",
      .threads = {run_other_mode_in_sleep, post});
SCENE(run_in_sleep_by_edges, "also by edges", .threads = {run_other_mode_in_sleep, post}, BY_EDGES);

//===-- a clock of the program's -------------------------------------------------------------------------------------===//

static _Atomic int64_t now_ns = 1;
static runloop_timer *timer;

static int64_t now(void *context) {
    (void)context;
    return atomic_load(&now_ns);
}
static int64_t wait_until_moved(void *context, int64_t duration_ns) {
    (void)context, (void)duration_ns;
    return RUNLOOP_FOREVER;
}
static void fire(runloop_timer *fired, void *info) {
    (void)fired, (void)info;
    runloop_stop(loop);
}

static void set_clock(void) {
    EXPECT(runloop_set_clock(&(runloop_clock){.now = now, .wait = wait_until_moved}) == 0);
    timer = timer_with(100, fire);
    runloop_add_timer(runloop_current(), timer, MODE);
}

static void host_with_clock(void) {
    set_clock();
    host_loop();
}
static void run_with_clock(void) {
    set_clock();
    source = source_with(NULL, NULL);
    loop = loop_with(source);
    meet();
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
}
static void move_clock_twice(void) {
    meet();
    atomic_store(&now_ns, 50);
    runloop_clock_moved(loop);
    atomic_store(&now_ns, 100);
    runloop_clock_moved(loop);
}
static void bring_date_forward(void) {
    meet();
    runloop_timer_set_fire_date(timer, 60);
    atomic_store(&now_ns, 60);
    runloop_clock_moved(loop);
}
SCENE(clock_of_host, "a timer fires when the clock of a hosted run has moved",
      .threads = {host_with_clock, move_clock_twice}, BY_EDGES);
SCENE(clock_of_run, "also of a plain one", .threads = {run_with_clock, move_clock_twice});
SCENE(clock_and_date, "also when its date is brought forward", .threads = {host_with_clock, bring_date_forward},
      BY_EDGES);
