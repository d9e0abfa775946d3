// foreign_ends.c — what a guest is owed when its wait is not taken: removal, the ends of threads, hosted runs, forks.
#include "guest.h"

static void remove_it(struct guest *guest) {
    EXPECT_EQ(runloop_remove_foreign_source(runloop_current(), guest->source, MODE), 0);
}

static void invalidate_it(struct guest *guest) {
    EXPECT_EQ(runloop_foreign_source_invalidate(guest->source), 0);
}

static void remove_and_add_it(struct guest *guest) {
    remove_it(guest);
    guest_add(guest, MODE);
}

static void (*const actions[])(struct guest *) = {remove_it, invalidate_it, remove_and_add_it};
static int action, prepare_of_action;

static void act_in_prepare(struct guest *guest) {
    if (guest->prepares == prepare_of_action)
        actions[action](guest);
}

TEST("a guest may be removed, invalidated and added in each of its callbacks") {
    for (action = 0; action < 3; action++) {
        // In `prepare` before the sources are dispatched, before the sleep, and when the source is called.
        for (int place = -2; place < 4; place++) {
            struct guest guest = {.count = 1, .deadline_ns = RUNLOOP_NEVER, .takes = true};
            guest.wants[0] = (struct pollfd){.fd = make_eventfd(1), .events = POLLIN};
            prepare_of_action = place + 3;
            *(place <= 0   ? &guest.in_prepare
              : place == 1 ? &guest.in_check
              : place == 2 ? &guest.in_cancel
                           : &guest.in_dispatch) = place <= 0 ? act_in_prepare : actions[action];
            guest_create(&guest, false);
            guest_add(&guest, MODE);
            // What is removed and added at each cancel, when its turn has come, is not served.
            if (action < 2)
                EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_FINISHED);
            else
                do
                    EXPECT_EQ(run_for(MODE, 2 * MS), RUNLOOP_RESULT_TIMED_OUT);
                while (place == 3 && guest.dispatches < 1);
            EXPECT(!guest.is_prepared);
            EXPECT_EQ(guest.prepares, guest.checks + guest.cancels);
            EXPECT_EQ(runloop_contains_foreign_source(runloop_current(), guest.source, MODE), action == 2);
            EXPECT_EQ(runloop_foreign_source_is_valid(guest.source), action != 1);
            if (place == 3)
                EXPECT_EQ(guest.dispatches, 1);
            EXPECT_EQ(guest.releases, 0);
            runloop_foreign_source_release(guest.source);
            EXPECT_EQ(guest.releases, action != 2);
            if (action == 2)
                invalidate_it(&guest);
            EXPECT_EQ(guest.releases, 1);
        }
    }
}

TEST("a guest that is invalidated while it asks for a greater capacity is not asked again") {
    struct guest guest = {.count = GUEST_DESCRIPTORS, .in_prepare = invalidate_it};
    for (int i = 0; i < GUEST_DESCRIPTORS; i++)
        guest.wants[i].fd = -1;
    guest_begin(&guest, -1);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(guest.prepares, 1);
    EXPECT_EQ(guest.cancels, 1);
    EXPECT_EQ(guest.releases, 1);
}

static void want_more(struct guest *guest) {
    if (guest->prepares == 2)
        guest->count = GUEST_DESCRIPTORS;
}

static void act_if_it_wants_more(struct guest *guest) {
    if (guest->count == GUEST_DESCRIPTORS)
        actions[action](guest);
}

TEST("a guest that is removed or invalidated in the cancel before it gets a greater capacity is not asked again") {
    for (action = 0; action < 2; action++) {
        // Its first prepare, before the sources are dispatched, ends with a cancel; the second one is for the sleep.
        struct guest guest = {
            .count = 1, .deadline_ns = RUNLOOP_NEVER, .in_prepare = want_more, .in_cancel = act_if_it_wants_more};
        for (int i = 0; i < GUEST_DESCRIPTORS; i++)
            guest.wants[i].fd = -1;
        keep_mode(MODE);
        guest_create(&guest, false);
        guest_add(&guest, MODE);
        EXPECT_EQ(run_for(MODE, MS), RUNLOOP_RESULT_TIMED_OUT);
        EXPECT(!guest.is_prepared);
        EXPECT_EQ(guest.prepares, 2);
        EXPECT_EQ(guest.cancels, 2);
        runloop_foreign_source_release(guest.source);
        EXPECT_EQ(guest.releases, 1);
    }
}

TEST("a guest in the common modes is in all of them, until it is removed from the last") {
    struct guest guest = {.count = 1, .deadline_ns = RUNLOOP_NEVER};
    guest.wants[0] = (struct pollfd){.fd = make_eventfd(1), .events = POLLIN};
    guest_create(&guest, false);
    guest_add(&guest, RUNLOOP_COMMON_MODES);
    guest_add(&guest, RUNLOOP_COMMON_MODES);
    REQUIRE(runloop_add_common_mode(runloop_current(), OTHER_MODE) == 0);
    EXPECT_EQ(handle_one(OTHER_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(handle_one(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    guest_add(&guest, MODE);
    runloop_foreign_source_release(guest.source);
    EXPECT_EQ(runloop_remove_foreign_source(runloop_current(), guest.source, RUNLOOP_COMMON_MODES), 0);
    EXPECT(runloop_mode_is_empty(runloop_current(), OTHER_MODE));
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(guest.releases, 0);
    EXPECT_EQ(runloop_remove_foreign_source(runloop_current(), guest.source, "unknown"), 0);
    EXPECT_EQ(runloop_remove_foreign_source(runloop_current(), guest.source, MODE), 0);
    EXPECT_EQ(guest.releases, 1);
}

//===-- hosted runs --------------------------------------------------------------------------------------------------===//

/// Until the host is to sleep.
static void host_goes_on(void) {
    int result;
    while ((result = runloop_hosted_iterate(RUNLOOP_FOREVER)) == -EAGAIN)
        ;
    EXPECT_EQ(result, 0);
}

static bool host_is_awaited(void) {
    struct pollfd waited = {.fd = runloop_hosted_descriptor(), .events = POLLIN};
    return poll(&waited, 1, 0) == 1;
}

TEST("a guest is prepared while the host sleeps, and cancelled however that ends") {
    struct guest guest = {.takes = true};
    int descriptor = make_eventfd(0);
    keep_mode(MODE);
    guest_begin(&guest, descriptor);
    REQUIRE(runloop_hosted_begin(MODE) == 0);
    host_goes_on();
    EXPECT(guest.is_prepared);
    EXPECT(!host_is_awaited());
    bump(descriptor);
    EXPECT(host_is_awaited());
    host_goes_on();
    EXPECT_EQ(guest.dispatches, 1);
    EXPECT(guest.is_prepared);

    // A plain run in the host's code ends the preparation, and what comes after it is prepared anew.
    EXPECT_EQ(run_for(MODE, MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(!guest.is_prepared);
    EXPECT(host_is_awaited());
    host_goes_on();
    EXPECT(guest.is_prepared);

    // The host's code gives the guest something to wait for.
    guest.wants[0].fd = make_eventfd(1);
    EXPECT(!host_is_awaited());
    runloop_wake_up(runloop_current());
    EXPECT(host_is_awaited());
    host_goes_on();
    EXPECT_EQ(guest.dispatches, 2);

    // Another guest comes in the host's sleep, and goes in it.
    struct guest other = {.takes = true};
    guest_begin(&other, make_eventfd(1));
    EXPECT(host_is_awaited());
    host_goes_on();
    EXPECT_EQ(other.dispatches, 1);
    EXPECT(other.is_prepared);
    guest_end(&other);
    EXPECT(guest.is_prepared);
    EXPECT_EQ(runloop_hosted_end(), 0);
    EXPECT(!guest.is_prepared);
    guest_end(&guest);
}

//===-- threads ------------------------------------------------------------------------------------------------------===//

static void *end_while_prepared(void *info) {
    struct guest *guest = info;
    guest_begin(guest, make_eventfd(0));
    REQUIRE(runloop_hosted_begin(MODE) == 0);
    host_goes_on();
    EXPECT(guest->is_prepared);
    return NULL;
}

static struct guest left;
static runloop *left_loop;
static bool is_left_asleep;

static void leave_in_callback(struct guest *guest) {
    (void)guest;
    pthread_exit(NULL);
}

static void *end_in_dispatch(void *info) {
    struct guest *guest = info;
    guest_begin(guest, make_eventfd(1));
    runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false);
    return NULL;
}

static void *end_asleep(void *info) {
    (void)info;
    guest_begin(&left, make_eventfd(0));
    left_loop = runloop_retain(runloop_current());
    __atomic_store_n(&is_left_asleep, true, __ATOMIC_RELEASE);
    runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false);
    return NULL;
}

TEST("the end of a thread ends the preparation, on that thread") {
    struct guest guest = {0};
    on_new_thread(end_while_prepared, &guest);
    EXPECT(!guest.is_prepared);
    EXPECT_EQ(guest.releases, 1);

    struct guest leaver = {.in_dispatch = leave_in_callback};
    on_new_thread(end_in_dispatch, &leaver);
    EXPECT_EQ(leaver.dispatches, 1);
    EXPECT_EQ(leaver.releases, 1);

    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, end_asleep, NULL) == 0);
    WAIT_UNTIL(__atomic_load_n(&is_left_asleep, __ATOMIC_ACQUIRE) && runloop_is_waiting(left_loop));
    REQUIRE(pthread_cancel(thread) == 0);
    REQUIRE(pthread_join(thread, NULL) == 0);
    EXPECT_EQ(left.releases, 1);
    EXPECT_EQ(left.prepares, left.cancels);
    runloop_release(left_loop);
}

static void *end_loop(void *info) {
    struct guest *guest = info;
    *guest = (struct guest){.count = 1, .deadline_ns = RUNLOOP_NEVER};
    guest->wants[0] = (struct pollfd){.fd = make_eventfd(1), .events = POLLIN};
    guest_create(guest, false);
    for (int i = 1; i <= 2; i++) {
        guest_add(guest, RUNLOOP_COMMON_MODES);
        EXPECT_EQ(handle_one(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
        EXPECT_EQ(guest->dispatches, i);
        EXPECT_EQ(runloop_end_current(), 0);
    }
    EXPECT(runloop_foreign_source_is_valid(guest->source));
    runloop_foreign_source_release(guest->source);
    EXPECT_EQ(guest->releases, 1);
    return NULL;
}

TEST("the end of a loop is a removal: the source may be added to the thread's next loop") {
    struct guest guest;
    on_new_thread(end_loop, &guest);
}

static void *use_elsewhere(void *info) {
    struct guest *guest = info;
    EXPECT_EQ(runloop_add_foreign_source(runloop_current(), guest->source, MODE), -EPERM);
    EXPECT_EQ(runloop_remove_foreign_source(runloop_main(), guest->source, MODE), -EPERM);
    EXPECT_EQ(runloop_foreign_source_invalidate(guest->source), -EPERM);
    EXPECT(runloop_foreign_source_is_valid(guest->source));
    EXPECT(runloop_contains_foreign_source(runloop_main(), guest->source, MODE));
    runloop_foreign_source_release(runloop_foreign_source_retain(guest->source));
    return runloop_retain(runloop_current());
}

TEST("bad input is refused, and so are other threads and other threads' loops") {
    struct guest guest = {.deadline_ns = RUNLOOP_NEVER};
    runloop_foreign_source_config config = {.prepare = guest_prepare, .dispatch = guest_dispatch};
    runloop *loop = runloop_current();
    EXPECT_EQ(runloop_foreign_source_create(NULL, &guest.source), -EINVAL);
    EXPECT_EQ(runloop_foreign_source_create(&config, NULL), -EINVAL);
    config.dispatch = NULL;
    EXPECT_EQ(runloop_foreign_source_create(&config, &guest.source), -EINVAL);
    guest_create(&guest, false);
    EXPECT(runloop_foreign_source_get_info(guest.source) == &guest);
    EXPECT_EQ(runloop_add_foreign_source(NULL, guest.source, MODE), -EINVAL);
    EXPECT_EQ(runloop_add_foreign_source(loop, NULL, MODE), -EINVAL);
    EXPECT_EQ(runloop_add_foreign_source(loop, guest.source, NULL), -EINVAL);
    EXPECT_EQ(runloop_remove_foreign_source(loop, guest.source, NULL), -EINVAL);
    EXPECT_EQ(runloop_remove_foreign_source(loop, guest.source, MODE), 0);
    EXPECT_EQ(runloop_foreign_source_invalidate(NULL), -EINVAL);
    EXPECT(!runloop_foreign_source_is_valid(NULL));
    EXPECT(!runloop_contains_foreign_source(loop, NULL, MODE));
    EXPECT(!runloop_foreign_source_retain(NULL));
    runloop_foreign_source_release(NULL);
    guest_add(&guest, MODE);
    pthread_t thread;
    void *other;
    REQUIRE(pthread_create(&thread, NULL, use_elsewhere, &guest) == 0);
    REQUIRE(pthread_join(thread, &other) == 0);
    EXPECT_EQ(runloop_add_foreign_source(other, guest.source, MODE), -EPERM);
    runloop_release(other);
    invalidate_it(&guest);
    invalidate_it(&guest);
    EXPECT_EQ(runloop_add_foreign_source(loop, guest.source, MODE), -EINVAL);
    runloop_foreign_source_release(guest.source);
    EXPECT_EQ(guest.releases, 1);
}

//===-- forks --------------------------------------------------------------------------------------------------------===//

static void use_in_child(struct guest *guest) {
    int calls = guest->prepares + guest->checks + guest->cancels + guest->dispatches;
    EXPECT_EQ(runloop_add_foreign_source(runloop_current(), guest->source, MODE), -ECHILD);
    EXPECT_EQ(runloop_remove_foreign_source(runloop_current(), guest->source, MODE), -ECHILD);
    EXPECT_EQ(runloop_foreign_source_invalidate(guest->source), -ECHILD);
    keep_mode(MODE);
    EXPECT_EQ(run_for(MODE, MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(guest->prepares + guest->checks + guest->cancels + guest->dispatches, calls);
    struct guest own = {0};
    guest_begin(&own, make_eventfd(1));
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(own.dispatches, 1);
    guest_end(&own);
}

static bool is_child;

static void fork_it(struct guest *guest) {
    (void)guest;
    fflush(NULL);
    pid_t child = fork();
    REQUIRE(child >= 0);
    is_child = child == 0;
    int status = 1;
    if (child > 0)
        EXPECT(waitpid(child, &status, 0) == child && status == 0);
}

TEST("a forked child is refused, and disturbs nothing") {
    // In the host's sleep, in prepare and in dispatch.
    struct guest guest = {.count = 1, .deadline_ns = RUNLOOP_NEVER};
    guest.wants[0] = (struct pollfd){.fd = make_eventfd(0), .events = POLLIN};
    guest_create(&guest, false);
    guest_add(&guest, MODE);
    REQUIRE(runloop_hosted_begin(MODE) == 0);
    host_goes_on();
    fork_it(&guest);
    if (is_child) {
        EXPECT_EQ(runloop_hosted_iterate(0), -EINVAL);
        use_in_child(&guest);
        exit(test_failures != 0);
    }
    EXPECT_EQ(runloop_hosted_end(), 0);
    for (int place = 0; place < 2; place++) {
        guest.in_prepare = place == 0 ? fork_it : NULL;
        guest.in_dispatch = place == 1 ? fork_it : NULL;
        guest.deadline_ns = 0;
        int result = handle_one(MODE);
        if (is_child) {
            EXPECT_EQ(result, -ECHILD);
            guest.in_prepare = guest.in_dispatch = NULL;
            use_in_child(&guest);
            exit(test_failures != 0);
        }
        EXPECT_EQ(result, RUNLOOP_RESULT_HANDLED_SOURCE);
    }
    EXPECT_EQ(guest.dispatches, 2);
    invalidate_it(&guest);
    runloop_foreign_source_release(guest.source);
    EXPECT_EQ(guest.releases, 1);
}
