// signals.c — signals as sources: counted, merged, given back; in modes, threads, forks and storms.
#include <sys/syscall.h>

#include "linux_items.h"

//===-- what arrives -------------------------------------------------------------------------------------------------===//

TEST("several arrivals are one call, which says how many, and who sent the last") {
    struct tally tally = {0};
    runloop_signal *signal = add_signal(MODE, SIGUSR1, &tally);
    raise(SIGUSR1);
    raise(SIGUSR1);
    kill(getpid(), SIGUSR1);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(tally.calls, 1);
    EXPECT_EQ(tally.arrivals, 3);
    EXPECT_EQ(tally.last.code, SI_USER);
    EXPECT_EQ(tally.last.pid, getpid());
    EXPECT_EQ(tally.last.uid, getuid());
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(tally.calls, 1);
    end_source(signal);
}

static void trace_value(runloop_signal *signal, const runloop_signal_arrival *arrival, void *info) {
    (void)signal, (void)info;
    char text[32];
    snprintf(text, sizeof text, "%d", (int)arrival->value);
    EXPECT_EQ(arrival->count, 1);
    trace(text);
}

/// The thread sanitizer holds signals back, and merges those that the kernel would queue.
#define KERNEL_QUEUES_SIGNALS !UNDER_THREAD_SANITIZER

TEST("each real-time signal is a call with its value, in order") {
    runloop_signal_config config = {.number = SIGRTMIN + 3, .receive = trace_value};
    runloop_signal *signal = add_signal_with(&config, MODE);
    for (int value = 1; value <= 5; value++) {
        REQUIRE(sigqueue(getpid(), SIGRTMIN + 3, (union sigval){.sival_int = value}) == 0);
        if (!KERNEL_QUEUES_SIGNALS)
            RUN_UNTIL(MODE, trace_contains((char[]){(char)('0' + value), 0}));
    }
    RUN_UNTIL(MODE, trace_contains("5"));
    EXPECT_TRACE("1 2 3 4 5");
    end_source(signal);
}

TEST("the value of a real-time signal may be a pointer") {
    struct tally tally = {0};
    runloop_signal *signal = add_signal(MODE, SIGRTMIN + 3, &tally);
    REQUIRE(sigqueue(getpid(), SIGRTMIN + 3, (union sigval){.sival_ptr = &tally}) == 0);
    RUN_UNTIL(MODE, tally.calls == 1);
    EXPECT(tally.last.value == (intptr_t)&tally);
    end_source(signal);
}

TEST("an arrival waits for a mode of its source, and for a loop") {
    struct tally tally = {0};
    runloop_signal_config config = {.context.info = &tally, .number = SIGUSR1, .receive = tally_arrival};
    runloop_signal *signal = NULL;
    REQUIRE(runloop_signal_create(&config, &signal) == 0);
    raise(SIGUSR1);
    keep_mode(OTHER_MODE);
    REQUIRE(runloop_add_source(runloop_current(), signal, MODE) == 0);
    run_for(OTHER_MODE, 10 * MS);
    EXPECT_EQ(tally.calls, 0);
    handle_one(MODE);
    EXPECT_EQ(tally.arrivals, 1);
    end_source(signal);
}

static struct tally of_workers[3];

static void add_to_worker(void) {
    static _Atomic int count;
    runloop_source_release(add_signal(MODE, SIGUSR2, &of_workers[count++]));
}

TEST("sources for one signal in the loops of several threads all receive it, and a signal ends their sleep") {
    struct worker workers[3] = {0};
    for (int i = 0; i < 3; i++) {
        workers[i].prepare = add_to_worker;
        start_worker(&workers[i]);
    }
    for (int i = 0; i < 3; i++)
        wait_for_sleep(&workers[i]);
    kill(getpid(), SIGUSR2);
    for (int i = 0; i < 3; i++)
        WAIT_UNTIL(of_workers[i].arrivals == 1);
    for (int i = 0; i < 3; i++)
        stop_worker(&workers[i]);
    // The threads' ends have released the last references.
    EXPECT(action_of(SIGUSR2).sa_handler == SIG_DFL);
}

static struct tally of_shared;

/// On several threads at once.
static void count_shared(runloop_signal *signal, const runloop_signal_arrival *arrival, void *info) {
    (void)signal, (void)info;
    of_shared.arrivals += arrival->count;
}

TEST("a source in two loops is called by one of them for each arrival") {
    runloop_signal_config config = {.number = SIGRTMIN + 1, .receive = count_shared};
    REQUIRE(runloop_signal_create(&config, &shared) == 0);
    struct worker workers[2];
    start_sharing(workers);
    for (uint64_t i = 0; i < 1000; i++) {
        REQUIRE(sigqueue(getpid(), SIGRTMIN + 1, (union sigval){0}) == 0);
        if (!KERNEL_QUEUES_SIGNALS)
            WAIT_UNTIL(of_shared.arrivals > i);
    }
    WAIT_UNTIL(of_shared.arrivals >= 1000);
    stop_sharing(workers);
    EXPECT_EQ(of_shared.arrivals, 1000);
    end_source(shared);
}

//===-- what it was before -------------------------------------------------------------------------------------------===//

TEST("the last source that ends restores the former handling; later sources begin anew") {
    signal(SIGUSR1, SIG_IGN);
    struct tally tally = {0};
    runloop_signal_config config = {.number = SIGUSR1, .force = true};
    for (int round = 0; round < 2; round++) {
        runloop_signal *one = add_signal_with(&config, MODE), *two = add_signal(MODE, SIGUSR1, &tally);
        EXPECT(action_of(SIGUSR1).sa_handler != SIG_IGN);
        EXPECT(runloop_signal_is_caught(one));
        runloop_source_invalidate(one);
        runloop_source_invalidate(one);
        EXPECT(!runloop_signal_is_caught(one));
        EXPECT(action_of(SIGUSR1).sa_handler != SIG_IGN);
        runloop_source_release(one);
        end_source(two);
        EXPECT(action_of(SIGUSR1).sa_handler == SIG_IGN);
    }
}

TEST("what is ignored is left ignored, unless it is forced") {
    signal(SIGHUP, SIG_IGN);
    struct tally tally = {0};
    runloop_signal *left = add_signal(MODE, SIGHUP, &tally);
    EXPECT(!runloop_signal_is_caught(left));
    EXPECT(action_of(SIGHUP).sa_handler == SIG_IGN);
    raise(SIGHUP);
    EXPECT_EQ(run_for(MODE, 10 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(tally.calls, 0);
    runloop_signal_config forced = {.context.info = &tally, .number = SIGHUP, .force = true, .receive = tally_arrival};
    runloop_signal *catcher = add_signal_with(&forced, MODE);
    raise(SIGHUP);
    run_a_while(MODE);
    EXPECT_EQ(tally.arrivals, 1);
    end_source(catcher);
    EXPECT(action_of(SIGHUP).sa_handler == SIG_IGN);
    end_source(left);
}

/// What is written to standard error while an object for each of two signals, or for one, is made and ended.
static const char *text_of_creation(const int32_t *numbers, size_t count, bool is_shutdown, bool force) {
    static char text[4096];
    int ends[2], saved = dup(STDERR_FILENO);
    REQUIRE(pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    runloop_shutdown *shutdown = NULL;
    runloop_signal *signal = NULL;
    const runloop_shutdown_config of_shutdown = {.numbers = numbers, .count = count, .limit_ns = RUNLOOP_NEVER};
    const runloop_signal_config of_signal = {.number = numbers[0], .force = force};
    int result =
        is_shutdown ? runloop_shutdown_create(&of_shutdown, &shutdown) : runloop_signal_create(&of_signal, &signal);
    ssize_t length = read(ends[0], text, sizeof text - 1);
    text[length > 0 ? length : 0] = 0;
    REQUIRE(dup2(saved, STDERR_FILENO) >= 0);
    EXPECT_EQ(result, 0);
    runloop_source_release(shutdown);
    runloop_source_release(signal);
    close(ends[0]);
    close(ends[1]);
    close(saved);
    return text;
}

TEST("R150 waiting for ignored signals is noted, once for each signal, unless it is forced") {
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    EXPECT_EQ(text_of_creation((const int32_t[]){SIGINT}, 1, false, true)[0], 0);
    EXPECT_EQ(text_of_creation((const int32_t[]){SIGUSR1}, 1, false, false)[0], 0);
    // One of a shutdown's signals may be what it waits for.
    EXPECT(strstr(text_of_creation((const int32_t[]){SIGTERM, SIGINT}, 2, true, false),
                  "The signal 2 (SIGINT) is ignored in this process"));
    EXPECT_EQ(text_of_creation((const int32_t[]){SIGINT}, 1, false, false)[0], 0);
    EXPECT(strstr(text_of_creation((const int32_t[]){SIGHUP, SIGINT}, 2, true, false),
                  "The signal 1 (SIGHUP) is ignored"));
    // Those that were not told yet.
    signal(SIGQUIT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    const char *text = text_of_creation((const int32_t[]){SIGINT, SIGQUIT, SIGTERM}, 3, true, false);
    EXPECT(strstr(text, "The signal 3 (SIGQUIT) is ignored") && strstr(text, "The signal 15 (SIGTERM) is ignored"));
}

TEST("a handler that was saved and put back, as old libraries do, is still ours to remove") {
    struct tally tally = {0};
    runloop_signal *caught = add_signal(MODE, SIGUSR1, &tally);
    void (*saved)(int) = signal(SIGUSR1, SIG_IGN);
    signal(SIGUSR1, saved);
    runloop_signal *another = add_signal(MODE, SIGUSR1, &tally);
    raise(SIGUSR1);
    run_a_while(MODE);
    EXPECT_EQ(tally.arrivals, 2);
    end_source(caught);
    end_source(another);
    EXPECT(action_of(SIGUSR1).sa_handler == SIG_DFL);
}

static _Atomic int plain_calls, informed_calls;

static void plain(int number) {
    EXPECT_EQ(number, SIGUSR1);
    plain_calls++;
}

static void informed(int number, siginfo_t *info, void *context) {
    EXPECT_EQ(number, SIGUSR2);
    EXPECT_EQ(info->si_pid, getpid());
    EXPECT(context != NULL);
    informed_calls++;
}

TEST("a handler that was installed before is called as well, and restored; one that came later is left alone") {
    struct sigaction with_info = {.sa_sigaction = informed, .sa_flags = SA_SIGINFO | SA_NODEFER};
    signal(SIGUSR1, plain);
    REQUIRE(sigaction(SIGUSR2, &with_info, NULL) == 0);
    struct tally tally = {0};
    runloop_signal *one = add_signal(MODE, SIGUSR1, &tally), *two = add_signal(MODE, SIGUSR2, &tally);
    raise(SIGUSR1);
    kill(getpid(), SIGUSR2);
    RUN_UNTIL(MODE, tally.arrivals == 2);
    EXPECT_EQ(plain_calls, 1);
    EXPECT_EQ(informed_calls, 1);
    signal(SIGUSR1, SIG_IGN);
    end_source(one);
    end_source(two);
    EXPECT(action_of(SIGUSR1).sa_handler == SIG_IGN);
    EXPECT(action_of(SIGUSR2).sa_sigaction == informed);
    EXPECT(action_of(SIGUSR2).sa_flags & SA_NODEFER);
}

static _Atomic bool is_cancelled, has_survived;

static void *receive_while_cancelled(void *argument) {
    while (!is_cancelled)
        ;
    raise(SIGUSR1);
    has_survived = true;
    pthread_testcancel();
    return argument;
}

TEST("a thread that is to be cancelled counts the signal, and does not end in the handler") {
    struct tally tally = {0};
    runloop_signal *signal = add_signal(MODE, SIGUSR1, &tally);
    pthread_t thread;
    void *result = NULL;
    REQUIRE(pthread_create(&thread, NULL, receive_while_cancelled, &tally) == 0);
    REQUIRE(pthread_cancel(thread) == 0);
    is_cancelled = true;
    REQUIRE(pthread_join(thread, &result) == 0);
    EXPECT(has_survived);
    EXPECT(result == PTHREAD_CANCELED);
    handle_one(MODE);
    EXPECT_EQ(tally.arrivals, 1);
    end_source(signal);
}

TEST("children that the kernel reaps are still reaped by it while SIGCHLD is caught") {
    need_no_emulator("The emulator does not know SA_NOCLDWAIT.");
    signal(SIGCHLD, SIG_IGN);
    struct tally tally = {0};
    runloop_signal_config config = {.context.info = &tally, .number = SIGCHLD, .force = true, .receive = tally_arrival};
    runloop_signal *caught = add_signal_with(&config, MODE);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    RUN_UNTIL(MODE, tally.arrivals == 1);
    EXPECT_EQ(tally.last.pid, child);
    EXPECT_EQ(waitpid(child, NULL, 0), -1);
    end_source(caught);
}

TEST("no signal is blocked, and what a signal interrupts is restarted") {
    struct tally tally = {0};
    runloop_signal *signal = add_signal(MODE, SIGUSR1, &tally);
    sigset_t blocked;
    REQUIRE(sigprocmask(SIG_BLOCK, NULL, &blocked) == 0);
    EXPECT(!sigismember(&blocked, SIGUSR1));
    struct sigaction action = action_of(SIGUSR1);
    EXPECT(action.sa_flags & SA_RESTART);
    EXPECT(!sigismember(&action.sa_mask, SIGTERM));
    end_source(signal);
}

TEST("signals that cannot be caught, and arguments that make no sense, are refused") {
    const int numbers[] = {0, -1, 65, 1000, SIGKILL, SIGSTOP, SIGSEGV, SIGILL, SIGFPE, SIGBUS, SIGSYS, SIGTRAP, 32, 33};
    runloop_signal *signal = NULL;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        EXPECT_EQ(runloop_signal_create(&(runloop_signal_config){.number = numbers[i]}, &signal), -EINVAL);
    EXPECT_EQ(runloop_signal_create(NULL, &signal), -EINVAL);
    EXPECT_EQ(runloop_signal_create(&(runloop_signal_config){.number = SIGUSR1}, NULL), -EINVAL);
    EXPECT_EQ(runloop_end_process_by_signal(1000), -EINVAL);
    EXPECT_EQ(runloop_end_process_by_signal(SIGCHLD), -EINVAL);
    EXPECT_EQ(runloop_end_process_by_signal(32), -EINVAL);
}

static void end_by_kill(void) {
    runloop_end_process_by_signal(SIGKILL);
}

TEST("a process ends by SIGKILL, which has no handling that could be set, as by other signals") {
    EXPECT_EQ(status_of_child(end_by_kill), SIGKILL);
}

TEST("without descriptors there is an error, and the signal keeps its effect") {
    runloop_current();
    use_up_descriptors(1);
    runloop_signal *signal = NULL;
    EXPECT_EQ(runloop_signal_create(&(runloop_signal_config){.number = SIGUSR1}, &signal), -EMFILE);
    EXPECT(action_of(SIGUSR1).sa_handler == SIG_DFL);
    give_back_descriptors();
}

//===-- storms -------------------------------------------------------------------------------------------------------===//

static _Atomic uint64_t handled;

static void count_handled(int number) {
    (void)number;
    handled++;
}

/// RUNLOOP_TEST_STORM=1000000 sends as many, and takes some seconds.
static int storm_size(void) {
    const char *size = getenv("RUNLOOP_TEST_STORM");
    return size ? atoi(size) : 40000;
}

enum { SENDERS = 4 };

static void *send_many(void *argument) {
    for (int i = 0; i < storm_size() / SENDERS; i++) {
        // Real-time signals are queued, up to a limit of the user's.
        while (sigqueue(getpid(), *(int *)argument, (union sigval){.sival_int = i}) != 0) {
            REQUIRE(errno == EAGAIN);
            sched_yield();
        }
    }
    return NULL;
}

/// A storm from several threads, while the loop runs and while it does not: every call of the handler, which calls the former handler, is
/// counted.
static void storm(int number) {
    signal(number, count_handled);
    struct tally tally = {0}, other = {0};
    runloop_signal *one = add_signal(MODE, number, &tally), *two = add_signal(MODE, number, &other);
    pthread_t senders[SENDERS];
    for (int i = 0; i < SENDERS; i++)
        REQUIRE(pthread_create(&senders[i], NULL, send_many, &number) == 0);
    RUN_UNTIL(MODE, handled > 0);
    for (int i = 0; i < SENDERS; i++)
        pthread_join(senders[i], NULL);
    // What is pending for the process is handled at the latest when this thread leaves the kernel.
    raise(number);
    uint64_t expected = handled;
    RUN_UNTIL(MODE, tally.arrivals >= expected && other.arrivals >= expected);
    run_for(MODE, 10 * MS);
    EXPECT_EQ(tally.arrivals, expected);
    EXPECT_EQ(other.arrivals, expected);
    if (number >= SIGRTMIN && KERNEL_QUEUES_SIGNALS)
        EXPECT_EQ(expected, storm_size() + 1);
    end_source(one);
    end_source(two);
}

TEST("a storm of standard signals: every call of the handler is counted") {
    storm(SIGUSR1);
}

TEST("a storm of real-time signals: every signal is counted") {
    storm(SIGRTMIN + 2);
}

TEST("what does not fit while no loop runs is counted later") {
    const uint64_t count = 10000;
    struct tally standard = {0}, real_time = {0};
    runloop_signal *one = add_signal(MODE, SIGUSR1, &standard), *two = add_signal(MODE, SIGRTMIN, &real_time);
    for (uint64_t i = 0; i < count; i++) {
        raise(SIGUSR1);
        raise(SIGRTMIN);
    }
    RUN_UNTIL(MODE, standard.arrivals >= count && real_time.arrivals >= count);
    run_for(MODE, 10 * MS);
    EXPECT_EQ(standard.arrivals, count);
    EXPECT_EQ(real_time.arrivals, count);
    EXPECT(real_time.calls < count && real_time.calls > 100);
    end_source(one);
    end_source(two);
}

static _Atomic bool churns;

static void *send_while_churning(void *argument) {
    (void)argument;
    while (churns)
        kill(getpid(), SIGUSR1);
    return NULL;
}

TEST("sources come and go in a storm") {
    struct tally steady = {0};
    runloop_signal *always = add_signal(MODE, SIGUSR1, &steady);
    runloop_signal_config config = {.context.info = &steady, .number = SIGUSR1};
    churns = true;
    pthread_t sender;
    REQUIRE(pthread_create(&sender, NULL, send_while_churning, NULL) == 0);
    RUN_UNTIL(MODE, steady.calls > 0);
    int descriptors = count_descriptors();
    for (int i = 0; i < 500; i++)
        end_source(add_signal_with(&config, MODE));
    churns = false;
    pthread_join(sender, NULL);
    EXPECT_EQ(count_descriptors(), descriptors);
    end_source(always);
}

//===-- forks --------------------------------------------------------------------------------------------------------===//

static struct tally of_parent;
static runloop_signal *inherited;

static void use_signals_in_child(void) {
    // The former effect was: a handler.
    raise(SIGUSR1);
    EXPECT_EQ(plain_calls, 1);
    EXPECT(action_of(SIGUSR1).sa_handler == plain);
    struct tally own = {0};
    runloop_signal *signal = add_signal(MODE, SIGUSR1, &own);
    // What the parent caught and the child does not has its former effect, too.
    EXPECT(action_of(SIGTERM).sa_handler == SIG_DFL);
    raise(SIGUSR1);
    handle_one(MODE);
    EXPECT_EQ(own.arrivals, 1);
    end_source(signal);
    EXPECT(action_of(SIGUSR1).sa_handler == plain);
    end_source(inherited);
}

TEST("a forked child has the former handling, and signals of its own; the parent notices nothing") {
    signal(SIGUSR1, plain);
    inherited = add_signal(MODE, SIGUSR1, &of_parent);
    runloop_signal *other = add_signal(MODE, SIGTERM, &of_parent);
    EXPECT_EQ(status_of_child(use_signals_in_child), 0);
    EXPECT_EQ(run_for(MODE, 10 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(of_parent.calls, 0);
    raise(SIGUSR1);
    handle_one(MODE);
    EXPECT_EQ(of_parent.arrivals, 1);
    end_source(inherited);
    end_source(other);
}

TEST("a signal ends a forked child that did nothing, however it was forked") {
    runloop_signal *signal = add_signal(MODE, SIGTERM, &of_parent);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        pid_t child = ways[i]();
        if (child == 0)
            for (;;)
                pause();
        REQUIRE(child > 0); // -1 would be every process
        int status = 0;
        kill(child, SIGTERM);
        REQUIRE(waitpid(child, &status, 0) == child);
        EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    }
    run_for(MODE, 10 * MS);
    EXPECT_EQ(of_parent.calls, 0);
    end_source(signal);
}

TEST("a program that was started inherits neither handlers nor blocked signals") {
    runloop_signal *signal = add_signal(MODE, SIGTERM, &of_parent);
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "kill -TERM $$; exit 3", (char *)NULL);
        _exit(4);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    end_source(signal);
}
