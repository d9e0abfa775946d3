// traps.c — what would end the process on a thread of a simulation ends that run: a signal of the processor's or of abort(3), and exit(3).
//
// There is nothing to return to, and whatever the thread holds must not be touched, so it stays where it is for good. Its turn goes to the first
// member, or to the thread that waits for the run if it is that one. What libc has noticed itself, a heap that is not in order for instance,
// ends the process as ever: a lock of libc's may be held, which everybody needs. A line says then under which seed that was.

#ifdef __linux__
#define _GNU_SOURCE
#include <dlfcn.h>
#ifdef __GLIBC__
#include <execinfo.h>
#endif
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "joined.h"

/// The Swift runtime's, where there is one.
extern void *swift_task_getCurrent(void) __attribute__((weak));
/// The address sanitizer has its own words for a bad address.
extern void __asan_init(void) __attribute__((weak));

static const int signals[] = {SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE};
enum { SIGNALS = sizeof signals / sizeof *signals };
static struct sigaction former_actions[SIGNALS];

/// In which process the handlers are for simulations: a child that was made by vfork shares this memory, and is not.
static pid_t process;

//===-- the runs under way -------------------------------------------------------------------------------------------===//

enum { MOST_RUNS = 64 };
static _Atomic(struct runloop_simulated_world *) under_way[MOST_RUNS];

void runloop_simulation_begin_run(struct runloop_simulated_world *world, const char *name) {
    snprintf(world->name, sizeof world->name, "%s", name);
    for (int i = 0; i < MOST_RUNS; i++) {
        struct runloop_simulated_world *none = NULL;
        if (atomic_compare_exchange_strong(&under_way[i], &none, world))
            return;
    }
}

void runloop_simulation_end_run(struct runloop_simulated_world *world) {
    for (int i = 0; i < MOST_RUNS; i++) {
        struct runloop_simulated_world *expected = world;
        if (atomic_compare_exchange_strong(&under_way[i], &expected, NULL))
            break;
    }
    if (world->has_message && !world->has_trap)
        runloop_simulation__print(world->message);
    world->has_message = false;
}

void runloop_simulation__print(const char *text) {
    long left = (long)strlen(text);
    while (left > 0) {
        long written = real_system_call()(SYS_write, STDERR_FILENO, text, left);
        if (written <= 0)
            return;
        text += written;
        left -= written;
    }
}

/// The process is about to end, and nothing can be done about it but this.
static void print_runs(const char *what) {
    for (int i = 0; i < MOST_RUNS; i++) {
        struct runloop_simulated_world *world = atomic_load(&under_way[i]);
        if (!world)
            continue;
        if (world->has_message)
            runloop_simulation__print(world->message);
        runloop_simulation__print("RunLoopKitSimulation: the process ends by ");
        runloop_simulation__print(what);
        runloop_simulation__print(" during ");
        runloop_simulation__print(world->name);
        runloop_simulation__print(
            "\nWith RUNLOOP_SIMULATION_STORY=1 in the environment, what happens is printed as it happens.\n");
    }
}

//===-- threads that stay where they are -----------------------------------------------------------------------------===//

enum { MOST_PARKED = 4096 };
static _Atomic(int32_t) parked[MOST_PARKED];
static _Atomic(int) parked_count;

bool runloop_simulation__is_parked(int32_t thread) {
    int count = atomic_load(&parked_count);
    for (int i = 0; i < count && i < MOST_PARKED; i++) {
        if (atomic_load(&parked[i]) == thread)
            return true;
    }
    return false;
}

static bool may_park(void) {
    return is_simulated() && runloop_simulation__joined.world->main_turn && getpid() == process;
}

/// What the thread has come to is in the world's trap.
__attribute__((noreturn)) static void park(void) {
    static uint32_t never;
    struct joined *joined = &runloop_simulation__joined;
    struct runloop_simulated_world *world = joined->world;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    int place = atomic_fetch_add(&parked_count, 1);
    if (place < MOST_PARKED)
        atomic_store(&parked[place], (int32_t)gettid());
    joined->decides = true;
    world->trap.member = joined->member;
    world->trap.task = &swift_task_getCurrent ? swift_task_getCurrent() : NULL;
    world->has_trap = true;
    if (joined->place)
        __atomic_store_n(&joined->place->is_waiting, true, __ATOMIC_SEQ_CST);
    runloop_simulation_give_turn(joined->member == 0 ? world->heir_turn : world->main_turn);
    for (;;)
        real_system_call()(SYS_futex, &never, RUNLOOP__FUTEX_WAIT, 0, NULL, NULL, 0);
}

void runloop_simulation_stay(void) {
    runloop_simulation__joined.world->trap.signal = -1;
    park();
}

//===-- signals ------------------------------------------------------------------------------------------------------===//

static void *libc_base;
static void *kernel_base; ///< of what the kernel has put into the process

void *runloop_simulation__base_of(const void *address, const char **symbol) {
    Dl_info found;
    if (!dladdr(address, &found))
        return NULL;
    *symbol = found.dli_sname;
    return found.dli_fbase;
}

static void *counter_of(const void *context) {
    const ucontext_t *state = context;
#if defined(__x86_64__)
    return (void *)state->uc_mcontext.gregs[REG_RIP];
#elif defined(__i386__)
    return (void *)state->uc_mcontext.gregs[REG_EIP];
#elif defined(__aarch64__)
    return (void *)state->uc_mcontext.pc;
#else
    (void)state;
    return NULL;
#endif
}

/// The calls that led to `counter`, which comes first, each an address in the call itself.
static void note_calls(struct runloop_simulated_trap *trap, void *counter) {
    void *calls[RUNLOOP_SIMULATION_CALLS + 8];
    int count = 0, first = 0;
#ifdef __GLIBC__
    count = backtrace(calls, RUNLOOP_SIMULATION_CALLS + 8);
#endif
    while (counter && first < count && calls[first] != counter)
        first++;
    trap->count = 0;
    if (counter)
        trap->calls[trap->count++] = counter;
    for (int i = first < count ? first + (counter != NULL) : 1; i < count && trap->count < RUNLOOP_SIMULATION_CALLS;
         i++)
        trap->calls[trap->count++] = (char *)calls[i] - 1;
}

/// Calls after which libc has no lock of its own.
static bool is_orderly(const char *name) {
    static const char *const names[] = {"abort",        "raise",         "gsignal",
                                        "pthread_kill", "__assert_fail", "__stack_chk_fail"};
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

/// Can others go on while this thread stays where it is?
static bool is_survivable(int signal, const struct runloop_simulated_trap *trap) {
    const char *symbol = NULL, *name = NULL;
    if (signal == SIGILL || signal == SIGTRAP)
        return true;
    if (&__asan_init && (signal == SIGSEGV || signal == SIGBUS))
        return false;
    int of_libc = 0;
    for (; of_libc < trap->count; of_libc++) {
        void *base = runloop_simulation__base_of(trap->calls[of_libc], &name);
        // With 32 bits, system calls are made there.
        bool is_call = signal == SIGABRT && base == kernel_base;
        if (base != libc_base && !is_call)
            break;
        symbol = name;
    }
    return of_libc == 0 || (signal == SIGABRT && is_orderly(symbol));
}

static void pass_on(int index, siginfo_t *info, void *context) {
    struct sigaction *former = &former_actions[index];
    if (former->sa_flags & SA_SIGINFO) {
        former->sa_sigaction(signals[index], info, context);
    } else if (former->sa_handler != SIG_DFL && former->sa_handler != SIG_IGN) {
        former->sa_handler(signals[index]);
    } else {
        // It happens again on return; one that was sent is sent again.
        signal(signals[index], SIG_DFL);
        if (info->si_code <= 0)
            raise(signals[index]);
    }
}

static const char *name_of(int signal) {
    switch (signal) {
    case SIGILL: return "SIGILL";
    case SIGTRAP: return "SIGTRAP";
    case SIGABRT: return "SIGABRT";
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    default: return "SIGFPE";
    }
}

static void handle(int signal, siginfo_t *info, void *context) {
    int index = 0;
    while (index < SIGNALS - 1 && signals[index] != signal)
        index++;
    if (may_park()) {
        struct runloop_simulated_trap *trap = &runloop_simulation__joined.world->trap;
        runloop_simulation__joined.decides = true;
        note_calls(trap, counter_of(context));
        trap->signal = signal;
        trap->signal_name = name_of(signal);
        if (is_survivable(signal, trap))
            park();
    }
    if (getpid() == process)
        print_runs(name_of(signal));
    pass_on(index, info, context);
}

static void install(void) {
    const char *symbol;
    void *calls[1];
    process = getpid();
    libc_base = runloop_simulation__base_of(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &symbol);
    kernel_base = (void *)getauxval(AT_SYSINFO_EHDR);
#ifdef __GLIBC__
    // The first call loads a library, which a handler must not do.
    backtrace(calls, 1);
#else
    (void)calls;
#endif
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &action, &former_actions[i]);
}

//===-- of each thread -----------------------------------------------------------------------------------------------===//

enum { STACK_SIZE = 64 * 1024 };

/// libdispatch's threads, and those that they start, have SIGABRT blocked. Since glibc 2.41 abort(3) leaves that as it is, and ends the process without
/// a call of the handler.
static uint32_t unblock(void) {
    sigset_t ours, before;
    uint32_t unblocked = 0;
    sigemptyset(&ours);
    for (int i = 0; i < SIGNALS; i++)
        sigaddset(&ours, signals[i]);
    pthread_sigmask(SIG_UNBLOCK, &ours, &before);
    for (int i = 0; i < SIGNALS; i++)
        unblocked |= sigismember(&before, signals[i]) == 1 ? 1U << i : 0;
    return unblocked;
}

static void block_again(uint32_t unblocked) {
    sigset_t former;
    if (unblocked == 0)
        return;
    sigemptyset(&former);
    for (int i = 0; i < SIGNALS; i++) {
        if (unblocked & 1U << i)
            sigaddset(&former, signals[i]);
    }
    pthread_sigmask(SIG_BLOCK, &former, NULL);
}

/// A stack for the handler, since the thread's own may be full.
void runloop_simulation__watch_traps(struct joined *joined) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    joined->unblocked = unblock();
    stack_t current;
    if (sigaltstack(NULL, &current) == 0 && !(current.ss_flags & SS_DISABLE))
        return;
    joined->stack = malloc(STACK_SIZE);
    stack_t stack = {.ss_sp = joined->stack, .ss_size = STACK_SIZE};
    if (joined->stack)
        sigaltstack(&stack, NULL);
}

void runloop_simulation__forget_traps(struct joined *joined) {
    block_again(joined->unblocked);
    if (!joined->stack)
        return;
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    free(joined->stack);
    joined->stack = NULL;
}

//===-- exit ---------------------------------------------------------------------------------------------------------===//

static void stay_if_simulated(const char *name, int status) {
    if (may_park()) {
        struct runloop_simulated_trap *trap = &runloop_simulation__joined.world->trap;
        runloop_simulation__joined.decides = true;
        note_calls(trap, NULL);
        trap->signal = 0;
        trap->signal_name = name;
        trap->status = status;
        park();
    }
    if (getpid() == process)
        print_runs(name);
}

void exit(int status) {
    stay_if_simulated("exit", status);
    REAL(exit)(status);
    __builtin_unreachable();
}

void _exit(int status) {
    stay_if_simulated("_exit", status);
    REAL(_exit)(status);
    __builtin_unreachable();
}

void _Exit(int status) {
    stay_if_simulated("_Exit", status);
    REAL(_Exit)(status);
    __builtin_unreachable();
}

void quick_exit(int status) {
    stay_if_simulated("quick_exit", status);
    REAL(quick_exit)(status);
    __builtin_unreachable();
}

//===-- for Swift ----------------------------------------------------------------------------------------------------===//

const char *runloop_simulation_trap_message(const struct runloop_simulated_world *world) {
    return world->has_message ? world->message : NULL;
}

void *runloop_simulation_trap_call(const struct runloop_simulated_world *world, int32_t index) {
    return index < world->trap.count ? world->trap.calls[index] : NULL;
}
#endif // __linux__
