// real_time.c — a real-time thread that meets an ordinary one in a short protocol sleeps, so that the other one can go on, also on the
// same processor (R116). Yielding would not do: the scheduler prefers the real-time thread again.
#include "items.h"

#include <sched.h>

#include "items/items.h"

static _Atomic int step;
static runloop_timer *timer;
static runloop *loop;

/// Both threads on one processor. False where that, or the policy, isn't permitted.
static bool pin(int policy) {
    cpu_set_t processors;
    CPU_ZERO(&processors);
    CPU_SET(0, &processors);
    struct sched_param parameters = {.sched_priority = policy == SCHED_FIFO ? 20 : 0};
    return sched_setaffinity(0, sizeof processors, &processors) == 0 && sched_setscheduler(0, policy, &parameters) == 0;
}

static void (*enter)(void), (*leave)(void), (*meet)(void);

static void *hold(void *unused) {
    pin(SCHED_OTHER);
    enter();
    step = 1;
    WAIT_UNTIL(step == 2); // the other thread is about to come
    pass_time(5 * MS);
    leave();
    return unused;
}

static bool is_permitted;

static void *come(void *unused) {
    is_permitted = pin(SCHED_FIFO);
    step = 2;
    // If it spun, the holder would never leave, and this test would hang.
    if (is_permitted)
        meet();
    return unused;
}

static void expect_to_meet(void) {
    step = 0;
    pthread_t holder, comer;
    REQUIRE(pthread_create(&holder, NULL, hold, NULL) == 0);
    WAIT_UNTIL(step == 1);
    REQUIRE(pthread_create(&comer, NULL, come, NULL) == 0);
    pthread_join(comer, NULL);
    pthread_join(holder, NULL);
    if (!is_permitted)
        fprintf(stderr, "    real-time scheduling isn't permitted here: nothing was tested\n");
}

static owner_word *word_of_timer(void) {
    return &timer->attached.attachment.loop;
}

static void hold_word(void) {
    REQUIRE(!runloop__lock_other_owner(word_of_timer()));
}

static void leave_word(void) {
    runloop__unlock_other_owner(word_of_timer(), NULL);
}

static void set_date(void) {
    EXPECT_EQ(runloop_timer_set_fire_date(timer, 7), 0);
}

static void add_to_loop(void) {
    EXPECT_EQ(runloop_add_timer(loop, timer, MODE), 0);
}

TEST("R116 a real-time thread sleeps while another one changes a timer that is in no loop") {
    timer = make_timer(RUNLOOP_NEVER - 1, 0, NULL, NULL);
    loop = runloop_current();
    enter = hold_word, leave = leave_word, meet = set_date;
    expect_to_meet();
    meet = add_to_loop;
    expect_to_meet();
    runloop_timer_invalidate(timer);
    runloop_timer_release(timer);
}

static void hold_loop(void) {
    loop_lock(loop);
}

static void leave_loop(void) {
    loop_unlock(loop);
}

static void ask_loop(void) {
    runloop_next_fire_date(loop, MODE);
}

TEST("R116 a real-time thread sleeps while another one holds a loop's lock") {
    loop = runloop_current();
    enter = hold_loop, leave = leave_loop, meet = ask_loop;
    expect_to_meet();
}

static struct process_lock tables;

static void hold_tables(void) {
    process_lock(&tables);
}

static void leave_tables(void) {
    process_unlock(&tables);
}

static void use_tables(void) {
    process_lock(&tables);
    process_unlock(&tables);
}

TEST("a real-time thread sleeps while another one holds a lock of the process") {
    enter = hold_tables, leave = leave_tables, meet = use_tables;
    expect_to_meet();
}

//===-- associations: the ending thread waits for readers ------------------------------------------------------------===//

static _Atomic bool is_retaining;

static void *retain_slowly(void *object) {
    pin(SCHED_OTHER);
    is_retaining = true;
    pass_time(20 * MS);
    return object;
}

static void release_nothing(void *object) {
    trace(object);
}

static void *copy_object(void *unused) {
    EXPECT(runloop_copy_associated(loop, &timer));
    return unused;
}

static void *end_in_real_time(void *unused) {
    static char object[] = "released";
    loop = runloop_retain(runloop_current());
    EXPECT_EQ(runloop_set_associated(loop, &timer, object, retain_slowly, release_nothing), 0);
    step = 1;
    WAIT_UNTIL(is_retaining);
    pin(SCHED_FIFO);
    return unused; // its end waits for the reader, without which the object would go
}

TEST("R8 an ending real-time thread sleeps while another one retains an object of its loop") {
    pthread_t ending, reader;
    REQUIRE(pthread_create(&ending, NULL, end_in_real_time, NULL) == 0);
    WAIT_UNTIL(step == 1);
    REQUIRE(pthread_create(&reader, NULL, copy_object, NULL) == 0);
    pthread_join(ending, NULL);
    pthread_join(reader, NULL);
    EXPECT_TRACE("released");
    runloop_release(loop);
}
