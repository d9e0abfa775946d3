// object.c — timers and observers that belong to an object of the overlay (R88, R98, R123).
#include "items.h"
#include "runloop_overlay.h"

/// It owns the one reference to its timer or observer, and is freed with its own last one.
struct object {
    int references;
    bool is_ended, is_gone;
    runloop_timer *timer;
    runloop_observer *observer;
};

static void retain(void *info) {
    struct object *object = info;
    EXPECT(__atomic_fetch_add(&object->references, 1, __ATOMIC_RELAXED) > 0);
}

static void release(void *info) {
    struct object *object = info;
    if (__atomic_fetch_sub(&object->references, 1, __ATOMIC_ACQ_REL) > 1)
        return;
    runloop_timer_release(object->timer);
    runloop_observer_release(object->observer);
    EXPECT(object->is_ended);
    object->is_gone = true;
}

static void end(void *info) {
    struct object *object = info;
    EXPECT(!object->is_gone && !object->is_ended);
    object->is_ended = true;
}

static int references(struct object *object) {
    return __atomic_load_n(&object->references, __ATOMIC_RELAXED);
}

/// The captures of a closure: kept alive only by references.
struct captured {
    int references, calls;
    runloop_timer *timer;
};

/// The first word of info says what is to be done, the second one is what was captured.
enum { JUST_TRACE = 1, INVALIDATE = 2, REDATE = 3 };

static void call(runloop_timer *timer, void *pair) {
    uintptr_t action = ((uintptr_t *)pair)[0];
    struct captured *captured = ((void **)pair)[1];
    trace("call");
    if (!captured)
        return;
    captured->calls++;
    EXPECT(timer == captured->timer && runloop_timer_is_valid(timer));
    if (action == INVALIDATE)
        runloop_timer_invalidate(timer);
    if (action == REDATE)
        EXPECT_EQ(runloop_timer_set_fire_date(timer, runloop_now_ns()), 0);
    EXPECT_EQ(captured->references, 1);
}

static void release_pair(void *pair) {
    struct captured *captured = ((void **)pair)[1];
    if (captured)
        captured->references--;
}

static void make_closure(struct captured *captured, uintptr_t action, int64_t tolerance_ns) {
    *captured = (struct captured){.references = 1};
    void *pair[2] = {(void *)action, captured};
    captured->timer = runloop__timer_new_pair(pair, runloop_now_ns(), tolerance_ns, call, release_pair);
    REQUIRE(captured->timer);
}

static void fire(runloop_timer *timer, void *info) {
    struct object *object = info;
    EXPECT(object->timer == timer && !object->is_ended && references(object) > 0);
    trace("fire");
}

static void remove_from_loop(runloop_timer *timer, void *info) {
    fire(timer, info);
    runloop_remove_timer(runloop_current(), timer, MODE);
    release(info);
    EXPECT(!((struct object *)info)->is_gone);
}

static void observe(runloop_observer *observer, runloop_activity activity, void *info) {
    struct object *object = info;
    EXPECT(object->observer == observer && !object->is_ended && activity == RUNLOOP_ACTIVITY_ENTRY);
    trace("observe");
}

static void make_timer_object(struct object *object, int64_t interval_ns, void (*function)(runloop_timer *, void *)) {
    runloop__set_object_hooks(retain, release);
    *object = (struct object){.references = 1, .timer = make_timer(runloop_now_ns(), interval_ns, function, NULL)};
    runloop__timer_share(object->timer, object, end);
}

static void make_observer_object(struct object *object, bool repeats) {
    runloop__set_object_hooks(retain, release);
    runloop_observer_config config = {
        .context = {.release = end}, .activities = RUNLOOP_ACTIVITY_ENTRY, .repeats = repeats, .observe = observe};
    *object = (struct object){.references = 1};
    REQUIRE(runloop_observer_create(&config, &object->observer) == 0);
    runloop__observer_share(object->observer, object);
}

TEST("R123 a timer in no loop does not retain its object, and is freed with it") {
    for (int64_t interval_ns = 0; interval_ns < 2; interval_ns++) {
        struct object object;
        make_timer_object(&object, interval_ns, fire);
        EXPECT(runloop_timer_get_info(object.timer) == &object);
        EXPECT_EQ(references(&object), 1);
        release(&object);
        EXPECT(object.is_gone);
    }
}

TEST("R123 the modes of a timer retain its object once, until it has been removed from the last of them") {
    struct object object;
    make_timer_object(&object, 0, fire);
    runloop *loop = runloop_current();
    REQUIRE(runloop_add_timer(loop, object.timer, MODE) == 0);
    REQUIRE(runloop_add_timer(loop, object.timer, OTHER_MODE) == 0);
    REQUIRE(runloop_add_timer(loop, object.timer, RUNLOOP_COMMON_MODES) == 0);
    EXPECT_EQ(references(&object), 2);
    runloop_remove_timer(loop, object.timer, RUNLOOP_COMMON_MODES);
    runloop_remove_timer(loop, object.timer, MODE);
    EXPECT_EQ(references(&object), 2);
    EXPECT(!object.is_ended);
    runloop_remove_timer(loop, object.timer, OTHER_MODE);
    EXPECT_EQ(references(&object), 1);
    release(&object);
    EXPECT(object.is_gone);
}

TEST("R85 R88 a timer that fired once releases its object, which its creator may have released before") {
    for (int keeps = 0; keeps < 2; keeps++) {
        struct object object;
        make_timer_object(&object, 0, fire);
        REQUIRE(runloop_add_timer(runloop_current(), object.timer, MODE) == 0);
        if (!keeps)
            release(&object);
        runloop_run_in_mode(MODE, 0, false);
        EXPECT(object.is_ended);
        EXPECT(object.is_gone == !keeps);
        EXPECT_EQ(references(&object), keeps);
        if (keeps)
            release(&object);
    }
    EXPECT_TRACE("fire fire");
}

TEST("R88 an object whose timer got a tolerance and further modes later is still freed") {
    struct object object;
    make_timer_object(&object, 0, fire);
    EXPECT_EQ(runloop_timer_set_tolerance(object.timer, MS), 0);
    REQUIRE(runloop_add_timer(runloop_current(), object.timer, MODE) == 0);
    REQUIRE(runloop_add_timer(runloop_current(), object.timer, OTHER_MODE) == 0);
    runloop_timer_invalidate(object.timer);
    EXPECT(object.is_ended);
    EXPECT_EQ(references(&object), 1);
    release(&object);
    EXPECT(object.is_gone);
}

TEST("R119 an object outlives the call-out in which its timer is removed and its creator releases it") {
    for (int64_t interval_ns = 0; interval_ns < 2; interval_ns++) {
        struct object object;
        make_timer_object(&object, interval_ns, remove_from_loop);
        REQUIRE(runloop_add_timer(runloop_current(), object.timer, MODE) == 0);
        runloop_run_in_mode(MODE, 0, false);
        EXPECT(object.is_gone);
    }
    EXPECT_TRACE("fire fire");
}

TEST("R95 R98 an observer's modes retain its object until it is invalid") {
    for (int repeats = 0; repeats < 2; repeats++) {
        struct object object;
        make_observer_object(&object, repeats);
        add_source(MODE, trace_perform, "perform");
        REQUIRE(runloop_add_observer(runloop_current(), object.observer, MODE) == 0);
        REQUIRE(runloop_add_observer(runloop_current(), object.observer, OTHER_MODE) == 0);
        release(&object);
        EXPECT_EQ(references(&object), 1);
        runloop_run_in_mode(MODE, 0, false);
        EXPECT(object.is_gone == !repeats);
        if (repeats)
            runloop_observer_invalidate(object.observer);
        EXPECT(object.is_gone);
    }
    EXPECT_TRACE("observe observe");
}

static void *add_both(void *info) {
    struct object *objects = info;
    make_timer_object(&objects[0], SECOND, fire);
    make_observer_object(&objects[1], true);
    EXPECT_EQ(runloop_add_timer(runloop_current(), objects[0].timer, MODE), 0);
    EXPECT_EQ(runloop_add_observer(runloop_current(), objects[1].observer, MODE), 0);
    release(&objects[0]);
    return NULL;
}

TEST("R8 the end of a loop's thread releases the objects, whose items stay valid") {
    struct object objects[2];
    on_new_thread(add_both, objects);
    EXPECT(objects[0].is_gone);
    EXPECT_EQ(references(&objects[1]), 1);
    EXPECT(runloop_observer_is_valid(objects[1].observer));
    release(&objects[1]);
    EXPECT(objects[1].is_gone);
}

TEST("R85 R88 a timer with a closure calls it once and then releases its captures") {
    for (int64_t tolerance_ns = 0; tolerance_ns < 2; tolerance_ns++) {
        for (uintptr_t function = JUST_TRACE; function <= REDATE; function++) {
            struct captured captured;
            make_closure(&captured, function, tolerance_ns);
            EXPECT_EQ(runloop_timer_get_tolerance(captured.timer), tolerance_ns);
            REQUIRE(runloop_add_timer(runloop_current(), captured.timer, MODE) == 0);
            REQUIRE(runloop_add_timer(runloop_current(), captured.timer, RUNLOOP_COMMON_MODES) == 0);
            EXPECT_EQ(captured.references, 1);
            runloop_run_in_mode(MODE, 0, false);
            runloop_run_in_mode(MODE, 0, false);
            EXPECT_EQ(captured.calls, 1);
            EXPECT_EQ(captured.references, 0);
            EXPECT(!runloop_timer_is_valid(captured.timer));
            runloop_timer_release(captured.timer);
            EXPECT_EQ(captured.references, 0);
        }
    }
    EXPECT_TRACE("call call call call call call");
}

TEST("R88 a timer with a closure releases its captures when it is invalidated and when it is freed") {
    for (int64_t tolerance_ns = 0; tolerance_ns < 2; tolerance_ns++) {
        struct captured captured;
        make_closure(&captured, JUST_TRACE, tolerance_ns);
        REQUIRE(runloop_add_timer(runloop_current(), captured.timer, MODE) == 0);
        runloop_timer_invalidate(captured.timer);
        EXPECT_EQ(captured.references, 0);
        runloop_timer_release(captured.timer);
        make_closure(&captured, JUST_TRACE, tolerance_ns);
        EXPECT_EQ(runloop_timer_set_tolerance(captured.timer, MS), 0);
        runloop_timer_release(captured.timer);
        EXPECT_EQ(captured.references, 0);
    }
    EXPECT_TRACE("");
}

static void *add_closure(void *info) {
    struct captured *captured = info;
    make_closure(captured, JUST_TRACE, 0);
    EXPECT_EQ(runloop_timer_set_fire_date(captured->timer, RUNLOOP_NEVER), 0);
    EXPECT_EQ(runloop_add_timer(runloop_current(), captured->timer, MODE), 0);
    EXPECT_EQ(runloop_add_timer(runloop_current(), captured->timer, OTHER_MODE), 0);
    return NULL;
}

TEST("R8 the end of a loop's thread invalidates its timers with closures") {
    struct captured captured;
    on_new_thread(add_closure, &captured);
    EXPECT_EQ(captured.references, 0);
    EXPECT(!runloop_timer_is_valid(captured.timer));
    runloop_timer_release(captured.timer);
    EXPECT_EQ(captured.references, 0);
    EXPECT_TRACE("");
}

TEST("R123 two words of info need nothing to be released") {
    void *pair[2] = {(void *)JUST_TRACE, NULL};
    runloop_timer *timer = runloop__timer_new_pair(pair, 0, 0, call, NULL);
    REQUIRE(timer);
    REQUIRE(runloop_add_timer(runloop_current(), timer, MODE) == 0);
    runloop_run_in_mode(MODE, 0, false);
    runloop_timer_release(timer);
    EXPECT_TRACE("call");
}

enum { ROUNDS = 2000 };

static void fire_silently(runloop_timer *timer, void *info) {
    struct object *object = info;
    EXPECT(object->timer == timer && !object->is_ended && references(object) > 0);
}

static void *add_and_remove(void *info) {
    struct object *object = info;
    for (int i = 0; i < ROUNDS; i++) {
        runloop_add_timer(runloop_main(), object->timer, MODE);
        runloop_remove_timer(runloop_main(), object->timer, MODE);
    }
    release(object);
    return NULL;
}

TEST("R119 R123 threads that add and remove a timer while it fires leave the reference count of its object balanced") {
    struct object object;
    make_timer_object(&object, 1, fire_silently);
    add_source(MODE, trace_perform, "perform");
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        retain(&object);
        REQUIRE(pthread_create(&threads[i], NULL, add_and_remove, &object) == 0);
    }
    while (references(&object) > 1)
        runloop_run_in_mode(MODE, 0, false);
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    EXPECT_EQ(references(&object), 1);
    EXPECT(!object.is_ended);
    release(&object);
    EXPECT(object.is_gone);
}
