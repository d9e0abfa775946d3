// waits.c — a watchdog does not change what it watches: a thread that waits is looked at from outside, and goes on to wait.
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/uio.h>

#include "../Core/forks.h"
#include "runloop_diagnostics.h"

static char stack[8192];
static pthread_mutex_t stack_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int hang_count;

static void keep_stack(void *context, const runloop_diagnosis *diagnosis) {
    (void)context;
    if (diagnosis->kind != RUNLOOP_DIAGNOSIS_HANG)
        return;
    pthread_mutex_lock(&stack_lock);
    snprintf(stack, sizeof stack, "%s", diagnosis->stack ? diagnosis->stack : "none");
    pthread_mutex_unlock(&stack_lock);
    hang_count++;
}

static bool stack_has(const char *word) {
    pthread_mutex_lock(&stack_lock);
    bool has = strstr(stack, word);
    pthread_mutex_unlock(&stack_lock);
    if (!has)
        printf("    the stack is:\n%s", stack);
    return has;
}

static void watch(runloop_watchdog_config config) {
    config.limit_ns = 20 * MS;
    if (!config.handler.report)
        config.handler.report = keep_stack;
    REQUIRE(runloop_watchdog_start(&config) == 0);
}

/// Until the initial thread waits, or for a while.
static void *read_call_of_initial_thread(void *text) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", (int)getpid());
    for (int i = 0; i < 1000 && (i == 0 || strncmp(text, "running", 7) == 0); i++) {
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0)
            break;
        test_read_all(file, text, 64);
        usleep(1000);
    }
    return NULL;
}

/// Some kernels show no state.
static void need_shown_waits(void) {
    need_no_emulator("The emulator shows its own state, and copies no memory of a process.");
#if !defined(__x86_64__) && !defined(__aarch64__)
    LEAVE_OUT("Stacks of waiting threads are for x86-64 and AArch64.");
#endif
    char text[64] = "";
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, read_call_of_initial_thread, text) == 0);
    pthread_join(thread, NULL);
    if (text[0] < '0' || text[0] > '9')
        LEAVE_OUT("This kernel does not show in which system call a thread waits.");
}

//===-- waits --------------------------------------------------------------------------------------------------------===//

static int64_t waited_ns;
static int result;

/// Each waits for so long, unless something ends that early.
enum { WAIT_MS = 300 };

static int wait_in_usleep(void) {
    return usleep(WAIT_MS * 1000);
}

static int wait_in_nanosleep(void) {
    return nanosleep(&(struct timespec){.tv_nsec = WAIT_MS * MS}, NULL);
}

static int wait_in_poll(void) {
    return poll(NULL, 0, WAIT_MS);
}

static int wait_in_select(void) {
    return select(0, NULL, NULL, NULL, &(struct timeval){.tv_usec = WAIT_MS * 1000});
}

static int wait_in_pause_of_alarm(void) {
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL);
    return sigtimedwait(&alarms, NULL, &(struct timespec){.tv_nsec = WAIT_MS * MS}) == -1 && errno == EAGAIN ? 0 : -1;
}

static int (*const waits[])(void) = {wait_in_usleep, wait_in_nanosleep, wait_in_poll, wait_in_select,
                                     wait_in_pause_of_alarm};

/// With a frame larger than what is searched at once, and one of a size that only the run knows.
__attribute__((noinline)) static int deep_inside(int (*wait)(void), int size) {
    volatile char large[9000], sized[size];
    large[0] = sized[0] = 1;
    int got = wait();
    return got + large[0] - sized[0];
}

static void wait_in_callout(void *info) {
    int64_t begin = runloop_now_ns();
    result = deep_inside(*(int (*const *)(void))info, 100 + (int)(begin & 1));
    waited_ns = runloop_now_ns() - begin;
}

/// Until it is reported: on a busy machine the watchdog's thread may sleep through one.
static void run_wait(int (*const *wait)(void)) {
    int before = hang_count;
    keep_mode(MODE);
    for (int tries = 0; tries < 100 && hang_count == before; tries++) {
        runloop_post(runloop_current(), MODE, wait_in_callout, (void *)(uintptr_t)wait, NULL);
        poll_mode(MODE);
        for (int i = 0; i < 100 && hang_count == before; i++)
            usleep(1000);
    }
    REQUIRE(hang_count > before);
}

TEST("no wait ends early because of a report of it") {
    watch((runloop_watchdog_config){.signal = 0});
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        run_wait(&waits[i]);
        EXPECT_EQ(result, 0);
        EXPECT(waited_ns >= WAIT_MS * MS);
    }
}

TEST("a waiting thread's stack is read without a signal") {
    if (UNDER_SANITIZER)
        LEAVE_OUT("A sanitizer's own functions are between the wait and its caller.");
    need_shown_waits();
    watch((runloop_watchdog_config){.signal = -1});
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        run_wait(&waits[i]);
        EXPECT(stack_has("    deep_inside at "));
        EXPECT(stack_has("waits.c:"));
        EXPECT(stack_has("wait_in_callout at "));
    }
}

static int hangs_before;

/// A task that goes on until there is one more hang than there were before it was posted.
static void perform_hang(runloop_function hang) {
    hangs_before = hang_count;
    runloop_post(runloop_current(), MODE, hang, NULL, NULL);
    poll_mode(MODE);
}

static void compute(void *info) {
    (void)info;
    while (hang_count == hangs_before)
        ;
}

TEST("a thread that runs has a stack by the signal, and none without it") {
    need_shown_waits();
    keep_mode(MODE);
    watch((runloop_watchdog_config){.signal = -1});
    perform_hang(compute);
    EXPECT(stack_has("none"));
    runloop_watchdog_stop();
    watch((runloop_watchdog_config){.signal = 0});
    perform_hang(compute);
#if defined(__GLIBC__)
    if (!UNDER_SANITIZER)
        EXPECT(stack_has("    compute at "));
#endif
}

#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))
/// Calls a function, and has no note for exceptions, as some that the Swift compiler makes. It saves a frame pointer.
void call_without_note(void (*function)(void *), void *info);
#if defined(__x86_64__)
__asm__(".text\n"
        ".type call_without_note, @function\n"
        "call_without_note:\n"
        "    pushq %rbp\n"
        "    movq %rsp, %rbp\n"
        "    movq %rdi, %rax\n"
        "    movq %rsi, %rdi\n"
        "    callq *%rax\n"
        "    popq %rbp\n"
        "    retq\n"
        ".size call_without_note, . - call_without_note\n");
#else
__asm__(".text\n"
        ".type call_without_note, %function\n"
        "call_without_note:\n"
        "    stp x29, x30, [sp, #-16]!\n"
        "    mov x29, sp\n"
        "    mov x2, x0\n"
        "    mov x0, x1\n"
        "    blr x2\n"
        "    ldp x29, x30, [sp], #16\n"
        "    ret\n"
        ".size call_without_note, . - call_without_note\n");
#endif

__attribute__((noinline)) static void compute_without_note(void *info) {
    call_without_note(compute, info);
    hang_count += 0;
}

TEST("the stack of a thread that runs does not end at a function without a note for exceptions") {
    if (UNDER_SANITIZER)
        LEAVE_OUT("A sanitizer's own functions are between the call and its caller.");
    need_shown_waits();
    keep_mode(MODE);
    watch((runloop_watchdog_config){.signal = 0});
    perform_hang(compute_without_note);
    EXPECT(stack_has("    compute at "));
    EXPECT(stack_has("    compute_without_note at "));
}
#endif

static void take_urgent(int number) {
    (void)number;
}

TEST("the usual signal is the program's, and then a thread that runs has no stack") {
    need_shown_waits();
    signal(SIGURG, take_urgent);
    keep_mode(MODE);
    watch((runloop_watchdog_config){.signal = 0});
    perform_hang(compute);
    struct sigaction action;
    EXPECT(sigaction(SIGURG, NULL, &action) == 0 && action.sa_handler == take_urgent);
#if defined(__GLIBC__)
    EXPECT(stack_has("none"));
#endif
}

TEST("a report has no stack, and no signal gets a handler, if stacks are omitted") {
    watch((runloop_watchdog_config){.omits_stack = true});
    struct sigaction action;
    EXPECT(sigaction(SIGURG, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
    run_wait(&waits[0]);
    EXPECT(stack_has("none"));
    EXPECT_EQ(result, 0);
}

static _Atomic bool is_over;

/// Waits again and again for so short a time that none is looked at to its end.
static void wait_shortly(void *info) {
    (void)info;
    while (hang_count == hangs_before)
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

TEST("a thread that waits for short times again and again is reported, with its stack or without") {
    watch((runloop_watchdog_config){.signal = 0});
    keep_mode(MODE);
    for (int i = 0; i < 20; i++)
        perform_hang(wait_shortly);
    // With 32 bits libc finds no way out of the page from which calls are made.
    EXPECT(stack_has("none") || stack_has("wait_shortly") || stack_has("    linux-gate.so"));
}

/// The copies of a stack that are made while its thread runs. It waits in the same way before and after each.
static _Atomic int copies_of_running;
static _Atomic bool is_stepped, is_running, is_copied;
static int wake_up;

ssize_t process_vm_readv(pid_t process, const struct iovec *to, unsigned long to_count, const struct iovec *from,
                         unsigned long from_count, unsigned long flags) {
    char call[64] = "";
    // One part is a word that is read without a copy.
    bool is_between = is_stepped && from_count > 1;
    if (is_between) {
        REQUIRE(eventfd_write(wake_up, 1) == 0);
        WAIT_UNTIL(is_running);
    }
    ssize_t size = syscall(SYS_process_vm_readv, process, to, to_count, from, from_count, flags);
    if (is_between) {
        copies_of_running++;
        is_copied = true;
        WAIT_UNTIL(!is_running);
        read_call_of_initial_thread(call);
    }
    return size;
}

__attribute__((noinline)) static int wait_below(int calls) {
    struct pollfd awaited = {.fd = wake_up, .events = POLLIN};
    int count = calls > 0 ? wait_below(calls - 1) : poll(&awaited, 1, 100);
    waited_ns += count;
    return count;
}

/// Writes over what the calls before have left on the stack, and has it so until it is copied.
__attribute__((noinline)) static void run_until_copied(void) {
    volatile char bytes[8192];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = 1;
    is_copied = false;
    is_running = true;
    WAIT_UNTIL(is_copied);
    is_running = false;
}

static void wait_and_run(void *info) {
    eventfd_t count;
    (void)info;
    while (hang_count == hangs_before)
        if (wait_below(30) > 0 && eventfd_read(wake_up, &count) == 0)
            run_until_copied();
}

TEST("a thread that waits, runs, and waits in the same way while its stack is copied has none") {
    need_shown_waits();
    wake_up = eventfd(0, EFD_CLOEXEC);
    watch((runloop_watchdog_config){.signal = -1});
    keep_mode(MODE);
    is_stepped = true;
    // A thread that runs at the first look has no stack either.
    for (int i = 0; i < 100 && copies_of_running == 0; i++)
        perform_hang(wait_and_run);
    is_stepped = false;
    EXPECT(copies_of_running > 0);
    EXPECT(stack_has("none"));
}

//===-- the end of the process ---------------------------------------------------------------------------------------===//

static void end_in_callout(void *info) {
    usleep(2100000);
    exit(*(int *)info);
}

TEST("a hang that ends with the process is reported before that") {
    int ends[2], status = 7;
    REQUIRE(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        const runloop_watchdog_config config = {.limit_ns = 2 * SECOND};
        if (runloop_watchdog_start(&config) == 0)
            runloop_post(runloop_current(), MODE, end_in_callout, &status, NULL);
        // It looks each half of a second from now on, so 1.75 s and 2.25 s after the beginning of what takes 2.1 s.
        usleep(250000);
        keep_mode(MODE);
        poll_mode(MODE);
        _exit(1);
    }
    close(ends[1]);
    char text[4096];
    test_read_all(ends[0], text, sizeof text);
    EXPECT(strstr(text, "has not come back for 2."));
    EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void never_return(void *context, const runloop_diagnosis *diagnosis) {
    (void)context, (void)diagnosis;
    is_over = true;
    for (;;)
        pause();
}

static void end_while_reported(void *info) {
    (void)info;
    WAIT_UNTIL(is_over);
    exit(7);
}

TEST("a handler that does not return does not keep the process from its end") {
    pid_t child = fork();
    if (child == 0) {
        watch((runloop_watchdog_config){.signal = -1, .handler = {.report = never_return}});
        runloop_post(runloop_current(), MODE, end_while_reported, NULL, NULL);
        keep_mode(MODE);
        poll_mode(MODE);
        _exit(1);
    }
    int status;
    EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void end_in_handler(void *context, const runloop_diagnosis *diagnosis) {
    (void)context, (void)diagnosis;
    exit(7);
}

TEST("a handler may end the process") {
    pid_t child = fork();
    if (child == 0) {
        watch((runloop_watchdog_config){.signal = -1, .handler = {.report = end_in_handler}});
        run_wait(&waits[0]);
        _exit(1);
    }
    int status;
    EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static bool may_sleep = true;

/// In the place of the C library's, by which the end of the process waits for the watchdog's thread.
int nanosleep(const struct timespec *duration, struct timespec *left) {
    if (!may_sleep)
        _exit(99);
    return (int)syscall(SYS_nanosleep, duration, left);
}

static void end_with_a_reset_watchdog(void) {
    // Finds that the parent's thread is not here.
    runloop_unpublish();
    may_sleep = false;
    exit(7);
}

TEST("a forked child does not wait at its end for the watchdog's thread of its parent") {
    watch((runloop_watchdog_config){.signal = -1});
    int status = status_of_child_by(fork, end_with_a_reset_watchdog);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}
