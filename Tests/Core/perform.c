// perform.c — tasks: in which modes they run, in which order, and what happens to those that never run.
// More about modes, order and drains is in Tests/Rules/functions.c; wakeup_threads.c tests that runloop_perform does not wake the
// loop and runloop_post does.
#include "trace_helpers.h"

#include "runloop_overlay.h"

static void discard_traced(void *info) {
    char word[64];
    snprintf(word, sizeof word, "discard:%s", ((struct actor *)info)->name);
    trace(word);
}

static void begin_in_p(void) {
    begin();
    add_source("quiet", NULL, "P");
    watch("P");
}

//===-- modes -----------------------------------------------------------------------------------------------------===//

TEST("R100 names are copied, and a task for several modes is performed once, in the first that runs") {
    begin();
    char first[] = "A", second[] = "B";
    const char *modes[] = {first, second};
    EXPECT_EQ(runloop_perform_in_modes(loop, modes, 2, actor_acts, new_actor("f", NULL), NULL), 0);
    modes[0] = modes[1] = "X";
    first[0] = second[0] = 'X';
    add_source("quiet", NULL, "A");
    run("B", 0, false);
    run("A", 0, false);
    EXPECT_TRACE("f -> TimedOut -> TimedOut");
}

static void *last_pair[2];

static void remember_pair(void *info) {
    memcpy(last_pair, info, sizeof last_pair);
    trace("pair");
    // A task queued in the meantime gets the memory of this one.
    perform("f", NULL, "P");
    EXPECT(memcmp(last_pair, info, sizeof last_pair) == 0);
}

static void *end_with_pair(void *pair) {
    EXPECT_EQ(runloop__post_pair(runloop_current(), "P", NULL, 0, actor_acts, pair, remember_pair), 0);
    return pair;
}

TEST("R100 a function can be given two words, which are copied and last until it returns") {
    begin_in_p();
    const char *modes[] = {"Q", "P"};
    void *pair[2] = {&loop, &pair};
    EXPECT_EQ(runloop__post_pair(loop, NULL, modes, 2, remember_pair, pair, NULL), 0);
    pair[0] = pair[1] = NULL;
    run("P", 0, false);
    EXPECT(last_pair[0] == &loop && last_pair[1] == &pair);
    EXPECT_TRACE("E T S pair f X -> TimedOut");
    pair[0] = &last_pair;
    on_new_thread(end_with_pair, pair);
    EXPECT(last_pair[0] == &last_pair && !last_pair[1]);
    EXPECT_EQ(runloop__post_pair(loop, "P", NULL, 0, NULL, pair, NULL), -EINVAL);
    const char *missing[] = {NULL};
    EXPECT_EQ(runloop__post_pair(loop, NULL, missing, 1, remember_pair, pair, NULL), -EINVAL);
}

//===-- order -----------------------------------------------------------------------------------------------------===//

TEST("R102 tasks run in the order in which they were queued, whichever call queued them") {
    begin_in_p();
    const char *both[] = {"Q", "P"};
    runloop_add_common_mode(loop, "P");
    perform("1", NULL, "P");
    EXPECT_EQ(runloop_post(loop, "P", actor_acts, new_actor("2", NULL), NULL), 0);
    perform("3", NULL, COMMON);
    EXPECT_EQ(runloop_perform_in_modes(loop, both, 2, actor_acts, new_actor("4", NULL), NULL), 0);
    EXPECT_EQ(runloop_post_in_modes(loop, both, 2, actor_acts, new_actor("5", NULL), NULL), 0);
    perform("6", NULL, "P");
    run("P", 0, false);
    EXPECT_TRACE("E T S 1 2 3 4 5 6 X -> TimedOut");
}

//===-- drains ----------------------------------------------------------------------------------------------------===//

static void perform_b(void) {
    perform("b", NULL, "P");
}

TEST("R103 tasks queued by observers run in the next drain") {
    begin_in_p();
    once("P", RUNLOOP_ACTIVITY_ENTRY, perform_b);
    once("P", RUNLOOP_ACTIVITY_BEFORE_SOURCES, perform_b);
    run("P", 0, false);
    EXPECT_TRACE("E T S b b X -> TimedOut");
    once("P", RUNLOOP_ACTIVITY_EXIT, perform_b);
    run("P", 0, false);
    run("P", 0, false);
    EXPECT_TRACE("E T S X -> TimedOut E T S b X -> TimedOut");
}

static void post_b(void) {
    EXPECT_EQ(runloop_post(loop, "P", actor_acts, new_actor("b", NULL), NULL), 0);
}

TEST("R104 a task posted by the loop's own callbacks after the wait causes no iteration of its own") {
    begin_in_p();
    add_timer("t", 0, 0, post_b, "P");
    add_timer("end", 300 * MS, 0, stop_loop, "P");
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A t b T S W A end X -> Stopped");
}

//===-- inside a task ---------------------------------------------------------------------------------------------===//

static void perform_c_and_poll_q(void) {
    perform("c", NULL, "P");
    run("Q", 0, false);
}

static void poll_p(void) {
    run("P", 0, false);
}

TEST("R105 a run nested in the last task of a batch performs the tasks that followed the batch") {
    begin();
    add_source("quiet", NULL, "P");
    add_source("quiet", NULL, "Q");
    perform("a", perform_c_and_poll_q, "P");
    perform("b", poll_p, "P");
    run("P", 0, false);
    EXPECT_TRACE("a -> TimedOut b c -> TimedOut -> TimedOut");
}

static void poll_q(void) {
    run("Q", 0, false);
}

TEST("R102 R105 tasks that a nested run skips, because their batch had begun, are performed in their mode's next run") {
    begin();
    add_source("quiet", NULL, "P");
    add_source("quiet", NULL, "Q");
    perform("p", poll_q, "P");
    perform("q", NULL, "Q");
    run("P", 0, false);
    run("Q", 0, false);
    EXPECT_TRACE("p -> TimedOut -> TimedOut q -> TimedOut");
}

//===-- either performed or discarded -----------------------------------------------------------------------------===//

static runloop *retained;

static void *end_with_functions(void *unused) {
    runloop *mine = runloop_current();
    retained = runloop_retain(mine);
    const char *modes[] = {"Q", COMMON};
    EXPECT_EQ(runloop_perform(mine, "P", actor_acts, new_actor("run", NULL), discard_traced), 0);
    EXPECT_EQ(runloop_perform(mine, "Q", actor_acts, new_actor("1", NULL), discard_traced), 0);
    EXPECT_EQ(runloop_post_in_modes(mine, modes, 2, actor_acts, new_actor("2", NULL), discard_traced), 0);
    EXPECT_EQ(runloop_perform_in_modes(mine, NULL, 0, actor_acts, new_actor("3", NULL), discard_traced), 0);
    EXPECT_EQ(runloop_perform(mine, "Q", actor_acts, new_actor("4", NULL), NULL), 0);
    run("P", 0, false);
    return unused;
}

TEST("R100 R105 a task that was not performed when its thread ends is discarded once; one that was performed is not") {
    begin();
    on_new_thread(end_with_functions, NULL);
    EXPECT_TRACE("run -> TimedOut discard:1 discard:2 discard:3");
    EXPECT_EQ(runloop_perform(retained, "P", actor_acts, new_actor("late", NULL), discard_traced), -ESHUTDOWN);
    EXPECT_EQ(runloop_post(retained, "P", actor_acts, new_actor("late", NULL), discard_traced), -ESHUTDOWN);
    runloop_release(retained);
    EXPECT_TRACE("");
}

static void *end_quietly(void *unused) {
    runloop *mine = runloop_current();
    atomic_store(&other_loop, runloop_retain(mine));
    runloop_run_in_mode("P", 0, false);
    WAIT_UNTIL(other_may_end);
    runloop_run_in_mode("P", 0, false);
    return unused;
}

enum { ROUNDS = 20, POSTS = 200 };
static _Atomic int performed, discarded;

static void count_performed(void *info) {
    (void)info;
    performed++;
}

static void count_discarded(void *info) {
    (void)info;
    discarded++;
}

TEST("R100 R116 for every task accepted by a loop that is ending, exactly one of function and discard is called") {
    int accepted = 0;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread;
        other_loop = NULL;
        other_may_end = false;
        REQUIRE(pthread_create(&thread, NULL, end_quietly, NULL) == 0);
        WAIT_UNTIL(other_loop != NULL);
        for (int i = 0; i < POSTS; i++) {
            if (i == POSTS / 2)
                other_may_end = true;
            int result = runloop_post(other_loop, i % 2 ? "P" : "Q", count_performed, NULL, count_discarded);
            EXPECT(result == 0 || result == -ESHUTDOWN);
            accepted += result == 0;
        }
        pthread_join(thread, NULL);
        EXPECT_EQ(performed + discarded, accepted);
        runloop_release(other_loop);
    }
    EXPECT(performed > 0);
    EXPECT(discarded > 0);
}

//===-- many threads ----------------------------------------------------------------------------------------------===//

enum { THREADS = 4, MANY = 2000 };
static int next_of[THREADS];
static _Atomic int unfinished = THREADS;

static void expect_in_order(void *info) {
    int number = *(int *)info;
    EXPECT_EQ(number % MANY, next_of[number / MANY]);
    next_of[number / MANY]++;
    free(info);
}

static void finish(void *info) {
    (void)info;
    if (--unfinished == 0)
        stop_loop();
}

static void *perform_many(void *info) {
    int thread = *(int *)info;
    for (int i = 0; i < MANY; i++) {
        int *number = malloc(sizeof *number);
        REQUIRE(number);
        *number = thread * MANY + i;
        EXPECT_EQ((i % 3 ? runloop_perform : runloop_post)(loop, "P", expect_in_order, number, free), 0);
    }
    EXPECT_EQ(runloop_post(loop, "P", finish, NULL, NULL), 0);
    return NULL;
}

TEST("R102 R116 tasks of several threads are all performed, those of each thread in its order") {
    begin();
    add_source("quiet", NULL, "P");
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        REQUIRE(pthread_create(&threads[i], NULL, perform_many, &numbers[i]) == 0);
    }
    EXPECT_EQ(runloop_run_in_mode("P", RUNLOOP_FOREVER, false), RUNLOOP_RESULT_STOPPED);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        EXPECT_EQ(next_of[i], MANY);
    }
}

//===-- blocks ----------------------------------------------------------------------------------------------------===//

#if defined(__BLOCKS__)
TEST("R100 R105 a performed block is copied and runs once, a posted one likewise") {
    begin_in_p();
    __block int calls = 0;
    const char *word = "block";
    EXPECT_EQ(runloop_perform_block(loop, "P",
                                    ^{
                                      trace(word), calls++;
                                    }),
              0);
    EXPECT_EQ(runloop_post_block(loop, "P",
                                 ^{
                                   trace("posted"), calls++;
                                 }),
              0);
    run("P", 0, false);
    run("P", 0, false);
    EXPECT_EQ(calls, 2);
    EXPECT_TRACE("E T S block posted X -> TimedOut E T S X -> TimedOut");
    EXPECT_EQ(runloop_perform_block(loop, "P", NULL), -EINVAL);
    EXPECT_EQ(runloop_perform_block(loop, NULL,
                                    ^{
                                    }),
              -EINVAL);
    EXPECT_EQ(runloop_post_block(NULL, "P",
                                 ^{
                                 }),
              -EINVAL);
}
#endif
