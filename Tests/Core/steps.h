// steps.h — threads that stop at a chosen instruction, and go on when the test tells them to: every interleaving can be tried, none is
// left to chance.
//
// An actor is a thread that performs acts for the test, one at a time. From `step_from_here` on, its processor traps after every
// instruction (the trap flag of x86), and the handler counts. At the chosen count the thread waits inside the handler. Counted are
// either all instructions, or those that lock the bus: these are what protocols between threads consist of.
//
// Without an x86 processor, and under sanitizers, whose own code would be stepped through, CAN_STEP is 0 and the tests have nothing to do.
#ifndef RUNLOOP_TEST_STEPS_H
#define RUNLOOP_TEST_STEPS_H

#include "items.h"

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <ucontext.h>

#if defined(__x86_64__) && !UNDER_SANITIZER
#define CAN_STEP 1
#else
#define CAN_STEP 0
#endif

enum step_unit { INSTRUCTIONS, LOCKED_INSTRUCTIONS };
enum actor_state { ACTOR_IDLE, ACTOR_ACTS, ACTOR_IS_STOPPED };

#define WITHOUT_STOP LONG_MAX

struct actor {
    void (*act)(void *info);
    void *info;
    pthread_t thread;
    pid_t id;
    enum step_unit unit;
    long count;             ///< steps since `step_from_here`
    _Atomic long limit;     ///< stops before this step
    void (*at_limit)(void); ///< called there, in the handler, instead of stopping. May be NULL.
    _Atomic int state;
    _Atomic bool goes_on;
    bool steps; ///< The trap flag is to be set.
};

static _Thread_local struct actor *this_actor;

/// Not by yielding: on a busy machine that would cost more than what is waited for.
static inline void let_others_run(void) {
    struct timespec moment = {.tv_nsec = 20000};
    syscall(SYS_nanosleep, &moment, NULL);
}

#if CAN_STEP

enum { TRAP_FLAG = 0x100 };

/// Is the instruction at `at` a read-modify-write that locks the bus? (A prefix for that, or an exchange.)
static inline bool is_locked(const unsigned char *at) {
    while (*at == 0x66 || (*at & 0xF0) == 0x40)
        at++;
    return *at == 0xF0 || *at == 0x86 || *at == 0x87;
}

static void on_step(int number, siginfo_t *info, void *context) {
    (void)number, (void)info;
    struct actor *actor = this_actor;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    if (!actor || !actor->steps) {
        registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
        return;
    }
    if (actor->unit == LOCKED_INSTRUCTIONS && !is_locked((const unsigned char *)registers[REG_RIP]))
        return;
    if (++actor->count != actor->limit)
        return;
    int saved = errno;
    if (actor->at_limit) {
        actor->limit = WITHOUT_STOP;
        actor->at_limit();
    } else {
        actor->state = ACTOR_IS_STOPPED;
        while (!atomic_exchange(&actor->goes_on, false))
            let_others_run();
    }
    errno = saved;
    if (actor->limit == WITHOUT_STOP) {
        actor->steps = false;
        registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    }
}

/// From here on the calling actor is stepped, if it has a limit.
static inline __attribute__((always_inline)) void step_from_here(void) {
    if (this_actor->limit == WITHOUT_STOP)
        return;
    this_actor->count = 0;
    this_actor->steps = true;
    // What lies below the stack pointer belongs to the function, too.
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\torq %0, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp"
                     :
                     : "i"(TRAP_FLAG)
                     : "cc", "memory");
}

#else

static inline void step_from_here(void) {}

#endif

static inline void no_more_steps(void) {
    this_actor->steps = false;
}

static void *actor_body(void *argument) {
    struct actor *actor = this_actor = argument;
    actor->id = (pid_t)syscall(SYS_gettid);
    for (;;) {
        while (atomic_load(&actor->state) != ACTOR_ACTS)
            let_others_run();
        if (!actor->act)
            return NULL;
        actor->act(actor->info);
        no_more_steps();
        atomic_store(&actor->state, ACTOR_IDLE);
    }
}

static inline void actor_create(struct actor *actor) {
#if CAN_STEP
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = on_step;
    REQUIRE(sigaction(SIGTRAP, &action, NULL) == 0);
#endif
    REQUIRE(pthread_create(&actor->thread, NULL, actor_body, actor) == 0);
}

/// The actor begins to act; it stops before the step `limit`.
static inline void actor_start(struct actor *actor, void (*act)(void *), void *info, enum step_unit unit, long limit) {
    actor->act = act;
    actor->info = info;
    actor->unit = unit;
    actor->limit = limit;
    atomic_store(&actor->state, ACTOR_ACTS);
}

/// Waits until the actor has stopped or is done: true if it has stopped.
static inline bool actor_stops(struct actor *actor) {
    while (atomic_load(&actor->state) == ACTOR_ACTS)
        let_others_run();
    return atomic_load(&actor->state) == ACTOR_IS_STOPPED;
}

/// A stopped actor goes on until the step `limit`. One that is done stays so.
static inline void actor_go_on(struct actor *actor, long limit) {
    if (atomic_load(&actor->state) != ACTOR_IS_STOPPED)
        return;
    actor->limit = limit;
    atomic_store(&actor->state, ACTOR_ACTS);
    atomic_store(&actor->goes_on, true);
}

static inline void actor_finish(struct actor *actor) {
    while (actor_stops(actor))
        actor_go_on(actor, WITHOUT_STOP);
}

static inline void actor_end(struct actor *actor) {
    actor_finish(actor);
    actor_start(actor, NULL, NULL, INSTRUCTIONS, WITHOUT_STOP);
    pthread_join(actor->thread, NULL);
}

#endif // RUNLOOP_TEST_STEPS_H
