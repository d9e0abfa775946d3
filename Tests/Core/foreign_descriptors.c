// foreign_descriptors.c — what guests wait for changes all the time, and the kernel gives numbers again.
#include "guest.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

/// Waits once for it, and returns what is reported for its descriptors.
static void serve_once(struct guest *guest) {
    int before = guest->dispatches;
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(guest->dispatches, before + 1);
}

static void expect_quiet(struct guest *guest) {
    int before = guest->dispatches, asked = guest->prepares;
    EXPECT_EQ(run_for(MODE, 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(guest->dispatches, before);
    // Nor is it called for nothing all the time.
    EXPECT(guest->prepares < asked + 10);
}

TEST("a descriptor that is asked for twice reports to each what it asked for") {
    struct guest guest = {.count = 4};
    int ends[2], other = make_eventfd(0);
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    guest.wants[0] = (struct pollfd){.fd = ends[0], .events = POLLIN};
    guest.wants[1] = (struct pollfd){.fd = -1, .events = POLLIN};
    guest.wants[2] = (struct pollfd){.fd = other, .events = POLLIN};
    guest.wants[3] = (struct pollfd){.fd = ends[0], .events = POLLOUT};
    guest_begin(&guest, -1);
    serve_once(&guest);
    EXPECT_EQ(guest.revents[0], 0);
    EXPECT_EQ(guest.revents[1], 0);
    EXPECT_EQ(guest.revents[3], POLLOUT);
    guest.wants[3].fd = -1;
    expect_quiet(&guest);
    REQUIRE(write(ends[1], "x", 1) == 1);
    serve_once(&guest);
    EXPECT_EQ(guest.revents[0], POLLIN);
    // Not asked for: hang-ups are reported in any case.
    guest.wants[0].events = 0;
    expect_quiet(&guest);
    close(ends[1]);
    serve_once(&guest);
    EXPECT_EQ(guest.revents[0], POLLHUP);
    guest_end(&guest);
}

TEST("a descriptor that is asked for twice wakes the loop for either, in whatever order they are asked for") {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    for (int last = 0; last < 2; last++) {
        struct guest guest = {.count = 2};
        // Which never comes.
        guest.wants[last] = (struct pollfd){.fd = ends[0], .events = POLLPRI};
        guest.wants[!last] = (struct pollfd){.fd = ends[0], .events = POLLIN};
        guest_begin(&guest, -1);
        expect_quiet(&guest);
        REQUIRE(write(ends[1], "x", 1) == 1);
        serve_once(&guest);
        EXPECT_EQ(guest.revents[!last], POLLIN);
        char byte;
        REQUIRE(read(ends[0], &byte, 1) == 1);
        guest_end(&guest);
    }
}

static bool wants_nothing(runloop_foreign_source *source, struct pollfd *descriptors, int count, void *info) {
    guest_check(source, descriptors, count, info);
    return false;
}

TEST("a guest that wants nothing when it is checked is not dispatched, though a descriptor of its is ready") {
    struct guest guest = {.count = 1};
    guest.wants[0] = (struct pollfd){.fd = make_eventfd(1), .events = POLLIN};
    const runloop_foreign_source_config config = {.context.info = &guest,
                                                  .prepare = guest_prepare,
                                                  .check = wants_nothing,
                                                  .cancel = guest_cancel,
                                                  .dispatch = guest_dispatch};
    guest.deadline_ns = RUNLOOP_NEVER;
    REQUIRE(runloop_foreign_source_create(&config, &guest.source) == 0);
    REQUIRE(runloop_add_foreign_source(runloop_current(), guest.source, MODE) == 0);
    for (int i = 0; i < 3; i++)
        poll_mode(MODE);
    EXPECT(guest.checks > 0);
    EXPECT_EQ(guest.dispatches, 0);
    runloop_foreign_source_invalidate(guest.source);
    runloop_foreign_source_release(guest.source);
}

TEST("closed descriptors and regular files are ready, as for poll") {
    struct guest guest = {0};
    guest_begin(&guest, make_eventfd(0));
    close(guest.wants[0].fd);
    // At once: in a run that only polls.
    EXPECT_EQ(runloop_run_in_mode(MODE, 0, true), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(guest.revents[0], POLLNVAL);
    REQUIRE((guest.wants[0].fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC)) >= 0);
    EXPECT_EQ(runloop_run_in_mode(MODE, 0, true), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(guest.revents[0], POLLIN);
    guest.wants[0].fd = -1;
    expect_quiet(&guest);
    guest_end(&guest);
}

TEST("what a guest does not wait for any more is not reported") {
    struct guest guest = {0};
    guest_begin(&guest, make_eventfd(1));
    serve_once(&guest);
    guest.wants[0].events = POLLPRI;
    EXPECT_EQ(runloop_run_in_mode(MODE, 0, true), RUNLOOP_RESULT_TIMED_OUT);
    guest.wants[0].events = POLLIN;
    serve_once(&guest);
    guest.count = 0;
    EXPECT_EQ(runloop_run_in_mode(MODE, 0, true), RUNLOOP_RESULT_TIMED_OUT);
    guest_end(&guest);
}

TEST("a number that the kernel gives again is another descriptor") {
    struct guest guest = {.takes = true};
    int number = make_eventfd(0);
    guest_begin(&guest, number);
    for (int i = 0; i < 3; i++) {
        expect_quiet(&guest);
        close(number);
        EXPECT_EQ(make_eventfd(0), number);
        expect_quiet(&guest);
        bump(number);
        serve_once(&guest);
    }
    guest_end(&guest);
}

TEST("what a guest has closed and a duplicate keeps open does not keep the loop awake") {
    struct guest guest = {.takes = true};
    int number = make_eventfd(0), duplicate = dup(number);
    guest_begin(&guest, number);
    expect_quiet(&guest);
    close(number);
    EXPECT_EQ(make_eventfd(0), number);
    bump(duplicate); // still in the guest's set, under a number that is somebody else's
    expect_quiet(&guest);
    bump(number);
    serve_once(&guest);
    EXPECT_EQ(guest.revents[0], POLLIN);
    guest_end(&guest);
}

enum { MANY = 300 };
static int many[MANY], asked_for, most_ready, dispatches;

static int prepare_many(runloop_foreign_source *source, struct pollfd *descriptors, int capacity, int64_t *deadline_ns,
                        void *info) {
    (void)source, (void)deadline_ns, (void)info;
    // Another selection, in another order, every time.
    static int start;
    start = (start + 7) % MANY;
    for (int i = 0; i < asked_for && i < capacity; i++)
        descriptors[i] = (struct pollfd){.fd = many[(start + i) % MANY], .events = POLLIN};
    return asked_for;
}

static bool check_many(runloop_foreign_source *source, struct pollfd *descriptors, int count, void *info) {
    (void)source, (void)info;
    EXPECT_EQ(count, asked_for);
    int ready = 0;
    for (int i = 0; i < count; i++)
        ready += descriptors[i].revents == POLLIN && take(descriptors[i].fd) == 1;
    most_ready = ready > most_ready ? ready : most_ready;
    asked_for = asked_for == MANY ? 5 : MANY;
    return ready > 0;
}

static void dispatch_many(runloop_foreign_source *source, void *info) {
    (void)source, (void)info;
    dispatches++;
}

TEST("what a guest waits for may change at every prepare, in number and in kind") {
    for (int i = 0; i < MANY; i++)
        many[i] = make_eventfd(1);
    runloop_foreign_source_config config = {.prepare = prepare_many, .check = check_many, .dispatch = dispatch_many};
    runloop_foreign_source *source;
    REQUIRE(runloop_foreign_source_create(&config, &source) == 0);
    REQUIRE(runloop_add_foreign_source(runloop_current(), source, MODE) == 0);
    asked_for = 5;
    for (int i = 0; i < 20; i++) {
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
        for (int j = 0; j < MANY; j++)
            bump(many[j]), take(many[j]), bump(many[j]);
    }
    EXPECT_EQ(most_ready, MANY);
    EXPECT_EQ(dispatches, 20);
    EXPECT_EQ(runloop_foreign_source_invalidate(source), 0);
    runloop_foreign_source_release(source);
}

TEST("a descriptor that can't be watched for now is polled") {
    struct guest guest = {0};
    int sets[6], descriptor = make_eventfd(0);
    // Each in the next one: more than the kernel allows inside another set.
    for (int i = 0; i < 4; i++) {
        struct epoll_event event = {.events = EPOLLIN};
        REQUIRE((sets[i] = epoll_create1(EPOLL_CLOEXEC)) >= 0);
        REQUIRE(epoll_ctl(sets[i], EPOLL_CTL_ADD, i == 0 ? descriptor : sets[i - 1], &event) == 0);
    }
    guest_begin(&guest, sets[3]);
    EXPECT_EQ(run_for(MODE, 30 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(guest.dispatches, 0);
    bump(descriptor);
    serve_once(&guest);
    EXPECT_EQ(guest.revents[0], POLLIN);
    guest_end(&guest);
}

TEST("without descriptors a foreign source can't be made, and nothing is left of it") {
    struct guest guest = {0};
    runloop_foreign_source_config config = {
        .context = {.info = &guest, .release = guest_release}, .prepare = guest_prepare, .dispatch = guest_dispatch};
    runloop_foreign_source *source = NULL;
    runloop_current();
    for (int spare = 0; spare < 2; spare++) {
        spare_descriptors(spare);
        EXPECT_EQ(runloop_foreign_source_create(&config, &source), -EMFILE);
        EXPECT(!source);
        restore_descriptors();
    }
    EXPECT_EQ(guest.releases, 0);
    int before = count_descriptors();
    REQUIRE(runloop_foreign_source_create(&config, &source) == 0);
    EXPECT_EQ(count_descriptors(), before + 2);
    runloop_foreign_source_release(source);
    EXPECT_EQ(count_descriptors(), before);
    EXPECT_EQ(guest.releases, 1);
}

//===-- time ---------------------------------------------------------------------------------------------------------===//

static int64_t long_ago(void *context) {
    (void)context;
    return 1;
}

static int64_t sleep_really(void *context, int64_t duration_ns) {
    (void)context, (void)duration_ns;
    return RUNLOOP_FOREVER;
}

TEST("a deadline is the machine's, whatever time the loop has") {
    EXPECT_EQ(runloop_set_clock(&(runloop_clock){.now = long_ago, .wait = sleep_really}), 0);
    struct guest guest = {0};
    guest_begin(&guest, make_eventfd(0));
    int64_t deadline_ns = guest.deadline_ns = runloop_get_now_ns(NULL) + 5 * MS;
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT(runloop_get_now_ns(NULL) >= deadline_ns);
    EXPECT_EQ(guest.dispatches, 1);
    guest_end(&guest);
}

TEST("a guest is served although its descriptors are more than the process may poll by now") {
    struct guest guest = {.count = 2};
    int idle = make_eventfd(0), ready = make_eventfd(1);
    guest.wants[0] = (struct pollfd){.fd = idle, .events = POLLIN};
    guest.wants[1] = (struct pollfd){.fd = ready, .events = POLLIN};
    guest_begin(&guest, -1);
    struct rlimit before;
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    REQUIRE(setrlimit(RLIMIT_NOFILE, &(struct rlimit){1, before.rlim_max}) == 0);
    serve_once(&guest);
    EXPECT(guest.revents[0] == 0 && guest.revents[1] == POLLIN);
    // Then it is asked to look for itself.
    REQUIRE(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, before.rlim_max}) == 0);
    serve_once(&guest);
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
    guest_end(&guest);
}
