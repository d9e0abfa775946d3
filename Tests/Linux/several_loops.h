// several_loops.h — one object in the loops of several threads. What a file of kinds of objects includes: each kind makes objects and events for
// them, and each test plays all kinds of its file in one situation. docs/SEVERAL-LOOPS.md has the table. RUNLOOP_STRESS_SECONDS: how long each test
// goes on, in place of once.
#ifndef RUNLOOP_TEST_SEVERAL_LOOPS_H
#define RUNLOOP_TEST_SEVERAL_LOOPS_H

#include <sched.h>
#include <stdatomic.h>

#include "callouts.h"

enum { MOST_LOOPS = 3, EVENTS = 120, LIFETIME = 40, SHORT_LIFETIME = 4 };

/// What happens while the loops have the object.
static enum situation { UNDISTURBED, INVALIDATED, THREADS_END, FORKED } situation;

struct kind {
    const char *name;
    /// An object that is in no loop yet, of which the caller has a reference, for the events from this one on.
    runloop_source *(*make)(int event);
    /// Makes an event for `object`, which may be invalid by now if the situation is INVALIDATED.
    void (*feed)(int event);
    void (*begin)(void);                  ///< May be NULL.
    void (*end)(void);                    ///< May be NULL.
    void (*look)(runloop_source *source); ///< Of the thread that has invalidated it. May be NULL.
    void (*wait)(int event);              ///< Of the main thread, now and then, while it waits for a call. May be NULL.
    /// How many events an object gets; one: it is its own event, and has an end by itself.
    int lifetime;
    /// What comes before a call is one event with what came last, so that each event waits for the call for the one before.
    bool merges;
    /// A source of the core, which a child may add to a loop of its own; it has the descriptor as its parent has.
    bool is_plain;
};

static struct kind *playing;
static runloop_source *object;

//===-- the loops ----------------------------------------------------------------------------------------------------===//

static struct member {
    runloop *loop;
    pthread_t thread;
    _Atomic bool is_there;
    bool has_ended; ///< of the main thread
} members[MOST_LOOPS];
static int member_count;
/// The thread of this member ends in its next call-out. NULL: none is to.
static struct member *_Atomic ends_in_call;

static inline void *live(void *argument) {
    struct member *member = argument;
    member->loop = runloop_retain(runloop_current());
    keep_mode(MODE);
    member->is_there = true;
    runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false);
    return NULL;
}

static inline void begin_members(int count) {
    member_count = count;
    for (int i = 0; i < count; i++) {
        members[i].has_ended = members[i].is_there = false;
        REQUIRE(pthread_create(&members[i].thread, NULL, live, &members[i]) == 0);
    }
    for (int i = 0; i < count; i++)
        WAIT_UNTIL(members[i].is_there);
}

static inline void end_member(struct member *member) {
    if (member->has_ended)
        return;
    member->has_ended = true;
    REQUIRE(runloop_stop_latched(member->loop) == 0 || !ends_in_call);
    REQUIRE(pthread_join(member->thread, NULL) == 0);
    runloop_release(member->loop);
}

static inline void end_members(void) {
    ends_in_call = NULL;
    for (int i = 0; i < member_count; i++)
        end_member(&members[i]);
}

/// A one-shot object may be over before another loop has it.
static inline void add_to_members(runloop_source *source) {
    for (int i = 0; i < member_count; i++) {
        int result = members[i].has_ended ? 0 : runloop_add_source(members[i].loop, source, MODE);
        REQUIRE(result == 0 || result == -ESHUTDOWN || (result == -EINVAL && !runloop_source_is_valid(source)));
    }
}

static inline void note_passed(void *passed) {
    ++*(_Atomic int *)passed;
}

/// What each loop had begun when this was called is over.
static inline void let_pass(void) {
    static _Atomic int passed;
    passed = 0;
    int posted = 0;
    for (int i = 0; i < member_count; i++)
        posted += !members[i].has_ended && runloop_post(members[i].loop, MODE, note_passed, &passed, note_passed) == 0;
    WAIT_UNTIL(passed == posted);
}

//===-- what they deliver --------------------------------------------------------------------------------------------===//

static _Atomic int delivered[EVENTS], total;
static _Atomic int fed; ///< the event that was made last

/// In each call-out that an event is the reason of, after everything else: its thread may end in it.
static inline void may_end(void) {
    struct member *leaving = ends_in_call;
    if (leaving && runloop_current() == leaving->loop &&
        atomic_compare_exchange_strong(&ends_in_call, &leaving, (struct member *)NULL))
        pthread_exit(NULL);
}

static inline void deliver(int event) {
    REQUIRE(event >= 0 && event < EVENTS);
    // Some calls take longer, so that what comes next comes meanwhile.
    for (int i = 0; event % 8 == 5 && i < 20; i++)
        sched_yield();
    EXPECT_EQ(delivered[event]++, 0);
    total++;
}

/// Of a kind whose events are a number alone.
static inline void deliver_count(uint64_t count) {
    EXPECT(count > 0);
    EXPECT((total += (int)count) <= fed + 1);
}

/// All events up to this one, or this one alone for an object that may be invalid by now.
static inline bool has_come(int event) {
    if (situation == INVALIDATED)
        return delivered[event] || !runloop_source_is_valid(object);
    return total > event;
}

static inline void wait_for(int event) {
    int64_t deadline = runloop_now_ns() + 30 * SECOND;
    for (int i = 0; !has_come(event); i++) {
        if (runloop_now_ns() > deadline) {
            fprintf(stderr, "    with %s: %d of %d events\n", playing->name, total, event + 1);
            REQUIRE(!"every event is delivered");
        }
        if (playing->wait)
            playing->wait(event);
        else if (i % 64 == 63)
            usleep(50);
        else
            sched_yield();
    }
}

//===-- what disturbs them -------------------------------------------------------------------------------------------===//

static inline unsigned several_dice(unsigned sides) {
    static unsigned seed;
    if (seed == 0)
        seed = (unsigned)getpid();
    seed = seed * 1664525U + 1013904223U;
    return (seed >> 16) % sides;
}

/// A reference to the object that another thread is about to invalidate.
static runloop_source *_Atomic doomed;
static _Atomic bool dooming_is_over;
static _Atomic unsigned patience;

static inline void *invalidate_what_comes(void *unused) {
    while (!dooming_is_over) {
        runloop_source *source = doomed;
        if (!source) {
            sched_yield();
            continue;
        }
        for (unsigned i = patience; i > 0; i--)
            sched_yield();
        runloop_source_invalidate(source);
        if (playing->look)
            playing->look(source);
        runloop_source_release(source);
        doomed = NULL;
    }
    return unused;
}

/// In the child, which has none of the loops' threads: the object is never called there, and its release does no harm.
static inline void use_inherited_object(void) {
    int before = total;
    const int result = playing->is_plain ? 0 : runloop_add_source(runloop_current(), object, MODE);
    EXPECT(result == 0 || result == -EINVAL);
    poll_mode(MODE);
    poll_mode(MODE);
    EXPECT_EQ(total, before);
    end_source(object);
}

static pid_t forked[4];
static int forked_count;

static inline void fork_meanwhile(void) {
    fflush(NULL);
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        test_end_after(30);
        test_failures = 0;
        use_inherited_object();
        fflush(NULL);
        _exit(test_failures ? 99 : 0);
    }
    REQUIRE(forked_count < 4);
    forked[forked_count++] = pid;
}

static inline void reap_forked(void) {
    while (forked_count > 0) {
        int status = -1;
        REQUIRE(waitpid(forked[--forked_count], &status, 0) > 0);
        EXPECT_EQ(status, 0);
    }
}

/// Between two events.
static inline void disturb(int event) {
    if (situation == FORKED && event % (EVENTS / 3) == EVENTS / 6)
        fork_meanwhile();
    if (situation == THREADS_END && event == EVENTS / 3)
        end_member(&members[0]);
    if (situation == THREADS_END && event == 2 * EVENTS / 3)
        ends_in_call = &members[1];
}

//===-- a play -------------------------------------------------------------------------------------------------------===//

/// One object's life, from `first` on. Whether it was invalidated on the way, by another thread, is for the kinds to ask.
static inline void play_object(int first, int count) {
    object = playing->make(first);
    REQUIRE(object);
    add_to_members(object);
    if (situation == INVALIDATED) {
        patience = several_dice(4) ? several_dice(40) : several_dice(1000);
        doomed = runloop_source_retain(object);
    }
    for (int event = first; event < first + count; event++) {
        // A call for an event before may be under way. It must not be taken for one of this event.
        if (situation == INVALIDATED && playing->merges && !runloop_source_is_valid(object))
            break;
        disturb(event);
        fed = event;
        playing->feed(event);
        if (playing->merges || (situation != INVALIDATED && event == first + count - 1))
            wait_for(event);
    }
    WAIT_UNTIL(!doomed);
    // What is delivered twice, or after the end, comes now.
    let_pass();
    let_pass();
    if (situation == INVALIDATED) {
        int before = total;
        let_pass();
        EXPECT_EQ(total, before);
    } else {
        EXPECT_EQ(total, first + count);
    }
    if (playing->lifetime > 1)
        runloop_source_invalidate(object);
    runloop_source_release(object);
    object = NULL;
}

static inline void play_kind(struct kind *kind, int loops) {
    pthread_t invalidating;
    playing = kind;
    total = fed = contexts = 0;
    for (int i = 0; i < EVENTS; i++)
        delivered[i] = 0;
    begin_members(loops);
    if (kind->begin)
        kind->begin();
    dooming_is_over = false;
    if (situation == INVALIDATED)
        REQUIRE(pthread_create(&invalidating, NULL, invalidate_what_comes, NULL) == 0);
    int lifetime = situation == INVALIDATED && kind->lifetime > SHORT_LIFETIME ? SHORT_LIFETIME : kind->lifetime;
    for (int event = 0; event < EVENTS; event += lifetime)
        play_object(event, lifetime);
    dooming_is_over = true;
    if (situation == INVALIDATED)
        pthread_join(invalidating, NULL);
    if (kind->end)
        kind->end();
    end_members();
    reap_forked();
    EXPECT_EQ(contexts, 0);
}

static inline void play_kinds(struct kind *kinds, size_t count, enum situation what, int loops) {
    const char *seconds = getenv("RUNLOOP_STRESS_SECONDS");
    int64_t end = runloop_now_ns() + (seconds ? (int64_t)(atof(seconds) * 1e9) : 0);
    test_end_after(seconds ? (unsigned)atof(seconds) + 120 : 120);
    need_proc();
    signal(SIGPIPE, SIG_IGN);
    situation = what;
    int before = 0;
    for (int round = 0; round == 0 || (runloop_now_ns() < end && !test_failures); round++) {
        for (size_t i = 0; i < count; i++) {
            int failures = test_failures;
            // What the first play costs for ever is not a leak.
            if (round == 0)
                play_kind(&kinds[i], loops);
            before = count_descriptors();
            play_kind(&kinds[i], loops);
            EXPECT_EQ(count_descriptors(), before);
            if (test_failures > failures)
                fprintf(stderr, "    with %s\n", kinds[i].name);
        }
    }
}

/// One test for each situation.
#define TEST_SEVERAL_LOOPS(what, kinds)                                                                                \
    TEST("R116 " what " in two loops: each event is delivered once") {                                                 \
        play_kinds(kinds, sizeof kinds / sizeof kinds[0], UNDISTURBED, 2);                                             \
    }                                                                                                                  \
    TEST("R116 " what " in three loops: each event is delivered once") {                                               \
        play_kinds(kinds, sizeof kinds / sizeof kinds[0], UNDISTURBED, 3);                                             \
    }                                                                                                                  \
    TEST("R67 R119 " what " in three loops, which another thread invalidates: nothing is delivered twice, or left") {  \
        play_kinds(kinds, sizeof kinds / sizeof kinds[0], INVALIDATED, 3);                                             \
    }                                                                                                                  \
    TEST("R9 " what " in three loops, of which the threads of two end: the third delivers the rest") {                 \
        play_kinds(kinds, sizeof kinds / sizeof kinds[0], THREADS_END, 3);                                             \
    }                                                                                                                  \
    TEST("R123 " what " in three loops, while the process forks: the child delivers nothing, and the parent all") {    \
        play_kinds(kinds, sizeof kinds / sizeof kinds[0], FORKED, 3);                                                  \
    }

#endif // RUNLOOP_TEST_SEVERAL_LOOPS_H
