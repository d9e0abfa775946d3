// threads.c — the threads of a scene: stacks that one real thread runs by turns, each until it sleeps or a choice says otherwise.
//
// Usually a thread goes on for as long as it can, and then the one with the next number that can. Thread-local variables of the program
// are copied out and in at each switch.

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "internal.h"

enum { EVENTS = 8, STACK = 1 << 18, LOCALS = 4096, KEYS = 8, DESTRUCTOR_PASSES = 4 };

struct coroutine {
    struct thread thread;
    jmp_buf place;
    char *stack;
    bool has_begun;
    char locals[LOCALS];
    const void *keys[KEYS];
};

KEPT static struct {
    struct coroutine all[THREADS];
    unsigned current;
    jmp_buf after; ///< of the execution
    char *locals;  ///< of the real thread
    size_t locals_size;
    char first_locals[LOCALS];
    const struct scene *scene;
    unsigned count, met; ///< threads of the scene, and those that wait for the others
    struct {
        bool has_come;
        struct known known;
    } events[EVENTS];
    bool is_executing, is_exploring;
    unsigned key_count;
    void (*destructors[KEYS])(void *);
} threads;

//===-- set-up -------------------------------------------------------------------------------------------------------===//

/// The program itself comes first.
static int find_locals(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    threads.locals = info->dlpi_tls_data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_TLS)
            threads.locals_size = info->dlpi_phdr[i].p_memsz;
    }
    return 1;
}

void threads_set_up(void) {
    dl_iterate_phdr(find_locals, NULL);
    if (threads.locals_size > LOCALS)
        abort();
    memcpy(threads.first_locals, threads.locals, threads.locals_size);
    for (unsigned i = 0; i < THREADS; i++) {
        void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stack == MAP_FAILED)
            abort();
        threads.all[i].stack = stack;
    }
}

struct thread *thread_current(void) {
    return &threads.all[threads.current].thread;
}

struct thread *thread_of(unsigned number) {
    return &threads.all[number].thread;
}

unsigned thread_number(void) {
    return threads.current;
}

bool is_executing(void) {
    return threads.is_executing;
}

bool is_exploring(void) {
    return threads.is_exploring && !thread_current()->has_parted;
}

//===-- keys ---------------------------------------------------------------------------------------------------------===//

unsigned key_make(void (*destructor)(void *)) {
    if (threads.key_count == KEYS)
        fail("There are too many keys.");
    threads.destructors[threads.key_count] = destructor;
    return threads.key_count++;
}

void key_set(unsigned key, const void *value) {
    threads.all[threads.current].keys[key] = value;
}

static void destroy_values(struct coroutine *coroutine) {
    for (unsigned pass = 0; pass < DESTRUCTOR_PASSES; pass++) {
        for (unsigned key = 0; key < threads.key_count; key++) {
            const void *value = coroutine->keys[key];
            coroutine->keys[key] = NULL;
            if (value && threads.destructors[key])
                threads.destructors[key]((void *)value);
        }
    }
}

//===-- switches -----------------------------------------------------------------------------------------------------===//

static bool can_go_on(unsigned number) {
    struct thread *thread = thread_of(number);
    if (thread->has_ended || (number >= threads.count && number != SCENE_THREADS))
        return false;
    return !thread->is_ready || thread->is_ready(thread->argument) || kernel_now_ns() >= thread->wake_ns;
}

static void begin(void) {
    struct coroutine *self = &threads.all[threads.current];
    void (*function)(void) =
        threads.current == SCENE_THREADS ? threads.scene->at_rest : threads.scene->threads[threads.current];
    function();
    destroy_values(self);
    trace(NULL, "ends");
    self->thread.has_ended = true;
    thread_sleep(NULL, NULL, INT64_MAX);
}

static void go_on(unsigned number) {
    static KEPT ucontext_t context, unused;
    threads.current = number;
    struct coroutine *next = &threads.all[number];
    memcpy(threads.locals, next->locals, threads.locals_size);
    if (next->has_begun)
        _longjmp(next->place, 1);
    next->has_begun = true;
    getcontext(&context);
    context.uc_stack.ss_sp = next->stack;
    context.uc_stack.ss_size = STACK;
    context.uc_link = NULL;
    makecontext(&context, begin, 0);
    swapcontext(&unused, &context);
}

static void switch_to(unsigned number) {
    struct coroutine *self = &threads.all[threads.current];
    if (number == threads.current)
        return;
    memcpy(self->locals, threads.locals, threads.locals_size);
    if (_setjmp(self->place) == 0)
        go_on(number);
}

/// How many threads besides this one can go on, and which: the next ones first.
static unsigned others_that_can_go_on(unsigned *numbers) {
    unsigned count = 0;
    for (unsigned i = 1; i < THREADS; i++) {
        unsigned number = (threads.current + i) % THREADS;
        if (number != SCENE_THREADS && can_go_on(number))
            numbers[count++] = number;
    }
    return count;
}

void thread_may_switch(void) {
    if (!is_exploring())
        return;
    unsigned others[THREADS], count = others_that_can_go_on(others);
    unsigned chosen = choose(count + 1);
    if (chosen > 0)
        switch_to(others[chosen - 1]);
}

/// All have ended, and what they did happened before what follows.
static void look_at_the_end(void) {
    threads.is_exploring = false;
    struct thread *last = thread_of(SCENE_THREADS);
    if (last->has_ended || !threads.scene->at_rest)
        execution_leave();
    for (unsigned i = 0; i < SCENE_THREADS; i++) {
        known_join(&last->happened, &thread_of(i)->happened);
        known_join(&last->visible, &thread_of(i)->visible);
    }
    switch_to(SCENE_THREADS);
}

static bool all_have_ended(void) {
    for (unsigned i = 0; i < threads.count; i++) {
        if (!thread_of(i)->has_ended)
            return false;
    }
    return true;
}

bool thread_sleep(bool (*is_ready)(void *argument), void *argument, int64_t wake_ns) {
    struct thread *self = thread_current();
    self->is_ready = is_ready;
    self->argument = argument;
    self->wake_ns = wake_ns;
    while (self->has_ended || !can_go_on(threads.current)) {
        unsigned others[THREADS], count = others_that_can_go_on(others);
        if (count > 0)
            switch_to(others[is_exploring() ? choose(count) : 0]);
        else if (all_have_ended())
            look_at_the_end();
        else if (!kernel_let_time_pass())
            fail("Every thread that has not ended sleeps, and nothing will wake it.");
    }
    bool is_over = !is_ready || is_ready(argument);
    self->is_ready = NULL;
    return is_over;
}

unsigned scene_variant(void) {
    return threads.scene->variant;
}

//===-- executions ---------------------------------------------------------------------------------------------------===//

void execution_run(const struct scene *scene) {
    threads.scene = scene;
    threads.count = threads.met = threads.key_count = 0;
    memset(threads.events, 0, sizeof threads.events);
    while (threads.count < SCENE_THREADS && scene->threads[threads.count])
        threads.count++;
    for (unsigned i = 0; i < THREADS; i++) {
        struct coroutine *coroutine = &threads.all[i];
        memset(&coroutine->thread, 0, sizeof coroutine->thread);
        memset(coroutine->keys, 0, sizeof coroutine->keys);
        memcpy(coroutine->locals, threads.first_locals, threads.locals_size);
        coroutine->thread.happened.of[i] = coroutine->thread.visible.of[i] = 1;
        coroutine->has_begun = false;
    }
    memory_set_back();
    atomics_set_back();
    kernel_set_back();
    threads.is_executing = true;
    if (_setjmp(threads.after) == 0)
        go_on(0);
    threads.is_executing = threads.is_exploring = false;
    threads.current = THREADS;
    memcpy(threads.locals, threads.first_locals, threads.locals_size);
}

void execution_leave(void) {
    _longjmp(threads.after, 1);
}

static bool all_have_met(void *unused) {
    (void)unused;
    return threads.met == threads.count;
}

void meet(void) {
    threads.met++;
    if (threads.met < threads.count) {
        thread_sleep(all_have_met, NULL, INT64_MAX);
        return;
    }
    struct known all = {0};
    for (unsigned i = 0; i < threads.count; i++)
        known_join(&all, &thread_of(i)->happened);
    for (unsigned i = 0; i < threads.count; i++)
        thread_of(i)->happened = thread_of(i)->visible = all;
    for (unsigned i = 0; i < threads.count; i++)
        thread_of(i)->visible.of[i] = ++thread_of(i)->happened.of[i];
    threads.is_exploring = true;
    thread_may_switch();
}

void part(void) {
    thread_current()->has_parted = true;
}

//===-- events -------------------------------------------------------------------------------------------------------===//

static bool has_come(void *has_come) {
    return *(bool *)has_come;
}

void tell(unsigned event) {
    threads.events[event].has_come = true;
    known_join(&threads.events[event].known, &thread_current()->happened);
    atomics_pass();
}

void await(unsigned event) {
    thread_sleep(has_come, &threads.events[event].has_come, INT64_MAX);
    known_join(&thread_current()->happened, &threads.events[event].known);
    known_join(&thread_current()->visible, &threads.events[event].known);
}
