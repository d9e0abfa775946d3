// traps.c — what would end the process on a thread of a simulation ends the run.

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "items.h"
#include "runloop_simulation.h"

static uint32_t main_turn, heir_turn;
static struct runloop_simulated_world world = {.main_turn = &main_turn, .heir_turn = &heir_turn};

static void call_exit(void) {
    exit(3);
}

static void write_to_page_0(void) {
    volatile int *volatile address = (int *)16;
    *address = 1;
}

static void trap(void) {
    __builtin_trap();
}

static int depth(volatile int *last) {
    volatile int numbers[64] = {*last + 1};
    return *last < 0 ? 0 : depth(numbers) + numbers[0];
}

static void overflow_stack(void) {
    volatile int none = 0;
    depth(&none);
}

struct end {
    void (*come)(void);
    int member, signal;
};

static void *come_to_end(void *info) {
    const struct end *end = info;
    runloop_simulation_join(&world, &world, end->member);
    end->come();
    return NULL;
}

TEST("a thread of a simulation that would end the process stays there, and its turn goes to the first member or its "
     "heir") {
    struct end ends[] = {{abort, 3, SIGABRT},           {abort, 0, SIGABRT}, {call_exit, 3, 0},
                         {write_to_page_0, 3, SIGSEGV}, {trap, 3, SIGILL},   {overflow_stack, 3, SIGSEGV}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        pthread_t thread;
        // This sanitizer reports a fault of memory and ends the process.
        if (UNDER_ADDRESS_SANITIZER && ends[i].signal == SIGSEGV)
            continue;
        world.has_trap = false;
        REQUIRE(pthread_create(&thread, NULL, come_to_end, &ends[i]) == 0);
        runloop_simulation_await_turn(ends[i].member == 0 ? &heir_turn : &main_turn);
        EXPECT(world.has_trap && world.trap.member == ends[i].member);
        EXPECT(world.trap.signal == ends[i].signal || world.trap.signal == SIGTRAP);
        EXPECT(world.trap.signal != 0 || world.trap.status == 3);
        bool has_calls = world.trap.count > 0 && runloop_simulation_trap_call(&world, 0);
#if defined(__GLIBC__)
        EXPECT(has_calls);
#else
        // Only a signal says where it came.
        EXPECT(has_calls || world.trap.signal == 0);
#endif
    }
}

static bool is_blocked(int signal) {
    sigset_t blocked;
    return pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 && sigismember(&blocked, signal) == 1;
}

static void abort_as_of_2_41(void) {
    raise(SIGABRT);
}

static void *come_to_end_blocked(void *info) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    return come_to_end(info);
}

TEST("a thread that has SIGABRT blocked, as libdispatch's have, stays as well") {
    // abort of glibc 2.41 sends the signal, and if nothing comes of it ends the process.
    struct end end = {abort_as_of_2_41, 3, SIGABRT};
    pthread_t thread;
    world.has_trap = false;
    REQUIRE(pthread_create(&thread, NULL, come_to_end_blocked, &end) == 0);
    runloop_simulation_await_turn(&main_turn);
    EXPECT(world.has_trap && world.trap.signal == SIGABRT);
}

TEST("a thread has blocked what it had blocked, when it takes part in nothing any more") {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGABRT);
    REQUIRE(pthread_sigmask(SIG_BLOCK, &one, NULL) == 0);
    runloop_simulation_join(&world, &world, 3);
    EXPECT(!is_blocked(SIGABRT));
    runloop_simulation_join(&world, &world, 3);
    EXPECT(!is_blocked(SIGABRT));
    runloop_simulation_join(NULL, NULL, 0);
    EXPECT(is_blocked(SIGABRT) && !is_blocked(SIGSEGV));
    REQUIRE(pthread_sigmask(SIG_UNBLOCK, &one, NULL) == 0);
}

/// What a child that does this writes to standard error; how it ends.
static int status_of(void (*end)(void), char *output, size_t size) {
    int ends[2], status = -1;
    size_t used = 0;
    ssize_t count;
    if (pipe(ends) < 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0});
        dup2(ends[1], STDERR_FILENO);
        runloop_simulation_join(&world, &world, 3);
        runloop_simulation_begin_run(&world, "seed 17");
        end();
    }
    close(ends[1]);
    while ((count = read(ends[0], output + used, size - 1 - used)) > 0)
        used += (size_t)count;
    output[used] = 0;
    close(ends[0]);
    return waitpid(child, &status, 0) == child ? status : -1;
}

__attribute__((unused)) static void free_twice(void) {
    void *volatile memory = malloc(100);
    free(memory);
    free(memory);
}

static void *abort_outside(void *info) {
    abort();
    return info;
}

static void end_outside(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, abort_outside, NULL);
    for (;;)
        pause();
}

static void *exit_outside(void *info) {
    exit(5);
    return info;
}

static void exit_elsewhere(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, exit_outside, NULL);
    for (;;)
        pause();
}

TEST("a process that ends by a thread outside, or since libc says so, says under which seed") {
    if (UNDER_THREAD_SANITIZER)
        LEAVE_OUT("Under its sanitizer such a child can't start threads.");
    need_no_emulator("The emulator fails where a forked child starts threads.");
    char output[4096];
    int status = status_of(end_outside, output, sizeof output);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    EXPECT(strstr(output, "the process ends by SIGABRT during seed 17\n"));
    status = status_of(exit_elsewhere, output, sizeof output);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    EXPECT(strstr(output, "the process ends by exit during seed 17\n"));
#if defined(__GLIBC__)
    // This sanitizer reports it, and ends the process in its own way.
    if (UNDER_ADDRESS_SANITIZER)
        return;
    status = status_of(free_twice, output, sizeof output);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    EXPECT(strstr(output, "the process ends by SIGABRT during seed 17\n"));
#endif
}
