// linux_items.h — what the tests of Linux sources share.
#ifndef RUNLOOP_TEST_LINUX_ITEMS_H
#define RUNLOOP_TEST_LINUX_ITEMS_H

#include <sys/resource.h>
#include <sys/socket.h>

#include "forks.h"
#include "runloop_linux.h"

/// What was received, added up.
struct tally {
    _Atomic uint64_t calls, arrivals;
    runloop_signal_arrival last;
};

/// A name for an abstract socket that no other process has: the same tests may run beside these.
static inline const char *own_name(void) {
    static __thread char name[32];
    snprintf(name, sizeof name, "runloop-test-%d", (int)getpid());
    return name;
}

static inline void tally_arrival(runloop_signal *signal, const runloop_signal_arrival *arrival, void *info) {
    struct tally *tally = info;
    EXPECT(arrival->count > 0);
    EXPECT_EQ(arrival->number, runloop_signal_get_number(signal));
    tally->last = *arrival;
    tally->calls++;
    tally->arrivals += arrival->count;
}

/// A signal in a mode of the calling thread's loop. One reference.
static inline runloop_signal *add_signal_with(const runloop_signal_config *config, const char *mode) {
    runloop_signal *signal = NULL;
    REQUIRE(runloop_signal_create(config, &signal) == 0 && signal);
    REQUIRE(runloop_add_source(runloop_current(), signal, mode) == 0);
    return signal;
}

static inline runloop_signal *add_signal(const char *mode, int number, struct tally *tally) {
    runloop_signal_config config = {.context.info = tally, .number = number, .receive = tally_arrival};
    return add_signal_with(&config, mode);
}

/// The end of an object of any kind, and of the test's reference to it.
static inline void end_source(runloop_source *source) {
    runloop_source_invalidate(source);
    runloop_source_release(source);
}

static inline struct sigaction action_of(int number) {
    struct sigaction action;
    REQUIRE(sigaction(number, NULL, &action) == 0);
    return action;
}

/// A thread that may end in a call-out of the source.
static inline void *run_source(void *source) {
    REQUIRE(runloop_add_source(runloop_current(), source, MODE) == 0);
    run_for(MODE, 30 * SECOND);
    return NULL;
}

//===-- diagnostics --------------------------------------------------------------------------------------------------===//

/// What is written to standard error, and not read yet.
static int former_error, errors[2];

static inline void begin_to_read_errors(void) {
    former_error = dup(STDERR_FILENO);
    REQUIRE(pipe2(errors, O_NONBLOCK | O_CLOEXEC) == 0 && dup2(errors[1], STDERR_FILENO) >= 0);
}

static inline const char *read_errors(void) {
    static char text[8192];
    ssize_t length = read(errors[0], text, sizeof text - 1);
    text[length > 0 ? length : 0] = 0;
    REQUIRE(dup2(former_error, STDERR_FILENO) >= 0);
    close(errors[0]);
    close(errors[1]);
    close(former_error);
    return text;
}

static inline int count_of(const char *text, const char *part) {
    int count = 0;
    while ((text = strstr(text, part))) {
        count++;
        text++;
    }
    return count;
}

//===-- a source in the loops of two threads -------------------------------------------------------------------------===//

/// To be set before the two start.
static runloop_source *shared;

static inline void add_shared(void) {
    REQUIRE(runloop_add_source(runloop_current(), shared, MODE) == 0);
}

static inline void start_sharing(struct worker workers[2]) {
    for (int i = 0; i < 2; i++) {
        workers[i] = (struct worker){.prepare = add_shared};
        start_worker(&workers[i]);
    }
}

static inline void stop_sharing(struct worker workers[2]) {
    stop_worker(&workers[0]);
    stop_worker(&workers[1]);
}

//===-- child processes ----------------------------------------------------------------------------------------------===//

/// That runs until it is killed.
static inline pid_t fork_child(void) {
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    while (pid == 0)
        pause();
    return pid;
}

static inline pid_t fork_child_that_exits(int status) {
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0)
        _exit(status);
    return pid;
}

//===-- listeners and their clients ----------------------------------------------------------------------------------===//

/// In MODE of the calling thread's loop. One reference.
static inline runloop_listener *add_listener(const runloop_listener_config *config) {
    runloop_listener *listener = NULL;
    REQUIRE(runloop_listener_create(config, &listener) == 0 && listener);
    REQUIRE(runloop_add_source(runloop_current(), listener, MODE) == 0);
    return listener;
}

/// The client's socket was made while there were descriptors.
static inline void connect_client(int client, int listening) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    REQUIRE(getsockname(listening, (struct sockaddr *)&address, &size) == 0);
    REQUIRE(connect(client, (struct sockaddr *)&address, size) == 0);
}

/// A client of whatever the descriptor listens on.
static inline int connect_to(int listening) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    REQUIRE(getsockname(listening, (struct sockaddr *)&address, &size) == 0);
    int client = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(client >= 0);
    connect_client(client, listening);
    return client;
}

//===-- shortages ----------------------------------------------------------------------------------------------------===//

/// Takes all descriptors but `spare`, until give_back_descriptors.
static inline void use_up_descriptors(int spare) {
    struct rlimit limit;
    REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = 64;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    int last = -1, taken = 0;
    for (int descriptor; (descriptor = dup(STDERR_FILENO)) >= 0; taken++)
        last = descriptor;
    REQUIRE(errno == EMFILE && taken >= spare);
    for (int i = 0; i < spare; i++)
        close(last - i);
}

/// A sanitizer needs some when the test ends.
static inline void give_back_descriptors(void) {
    struct rlimit limit;
    REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

static inline void count_activity(runloop_observer *observer, runloop_activity activity, void *count) {
    (void)observer, (void)activity;
    ++*(int *)count;
}

static inline void count_firing(runloop_timer *timer, void *count) {
    (void)timer;
    ++*(int *)count;
}

static inline void note_fire(runloop_timer *timer, void *info) {
    (void)timer;
    *(bool *)info = true;
}

/// The loop, with the descriptor that it needs to sleep until an instant: it has that from its first such sleep on.
static inline void make_loop(void) {
    static bool is_made;
    runloop_current();
    for (int before = count_descriptors(); !is_made; is_made = count_descriptors() > before) {
        bool has_fired = false;
        add_timer("warm", runloop_now_ns() + 5 * MS, 0, note_fire, &has_fired);
        while (!has_fired)
            run_for("warm", SECOND);
    }
}

#endif // RUNLOOP_TEST_LINUX_ITEMS_H
