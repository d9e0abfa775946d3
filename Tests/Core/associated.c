// associated.c — objects that belong to a loop, for language bindings (R8, R123).
#include "items.h"

struct object {
    const char *name;
    int references;
    bool is_gone;
};

static void *retain_object(void *info) {
    struct object *object = info;
    EXPECT(__atomic_fetch_add(&object->references, 1, __ATOMIC_RELAXED) > 0);
    return object;
}

static void release_object(void *info) {
    struct object *object = info;
    if (__atomic_fetch_sub(&object->references, 1, __ATOMIC_ACQ_REL) == 1) {
        EXPECT(!object->is_gone);
        object->is_gone = true;
        trace(object->name);
    }
}

static const char key, other_key;

static int associate(runloop *loop, const void *with, struct object *object) {
    return runloop_set_associated(loop, with, object, retain_object, release_object);
}

static struct object first = {"first", 1, false}, second = {"second", 1, false};

static void cancelled(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)source, (void)mode, (void)info;
    void *object = runloop_copy_associated(loop, &key);
    EXPECT(object == &first);
    release_object(object);
    trace("cancelled");
}

static void *use_and_end(void *unused) {
    runloop *loop = runloop_current();
    EXPECT(!runloop_current_associated(&key));
    EXPECT(!runloop_copy_associated(loop, &key));
    EXPECT_EQ(associate(loop, &key, &first), 0);
    EXPECT_EQ(associate(loop, &key, &second), -EEXIST);
    EXPECT_EQ(associate(loop, &other_key, &second), 0);
    EXPECT(runloop_current_associated(&key) == &first);
    EXPECT(runloop_current_associated(&other_key) == &second);
    EXPECT(runloop_copy_associated(loop, &other_key) == &second);
    release_object(&second);
    runloop_source_config config = {.cancel = cancelled};
    runloop_source *source;
    REQUIRE(runloop_source_create(&config, &source) == 0);
    REQUIRE(runloop_add_source(loop, source, MODE) == 0);
    runloop_source_release(source);
    runloop_perform(loop, MODE, trace_function, "performed", trace_function);
    return unused;
}

TEST("R8 an associated object is released on the ending thread, after everything else") {
    on_new_thread(use_and_end, NULL);
    EXPECT_TRACE("cancelled performed second first");
    EXPECT(!runloop_current_associated(&key));
}

TEST("R10 R12 the loop of a finished thread accepts no object and has none") {
    struct worker worker = {0};
    start_worker(&worker);
    runloop *loop = runloop_retain(worker.loop);
    EXPECT_EQ(associate(loop, &key, &first), 0);
    EXPECT(runloop_copy_associated(loop, &key) == &first);
    stop_worker(&worker);
    EXPECT(!first.is_gone);
    EXPECT(!runloop_copy_associated(loop, &key));
    EXPECT_EQ(associate(loop, &key, &second), -ESHUTDOWN);
    EXPECT_EQ(associate(loop, &other_key, &second), -ESHUTDOWN);
    release_object(&first);
    EXPECT_TRACE("first");
    runloop_release(loop);
}

static void *copy_until_gone(void *info) {
    runloop *loop = info;
    for (void *object; (object = runloop_copy_associated(loop, &key));)
        release_object(object);
    runloop_release(loop);
    return NULL;
}

TEST("R12 other threads may ask for the object while its thread ends") {
    for (int i = 0; i < 100; i++) {
        struct object object = {"object", 1, false};
        struct worker worker = {0};
        pthread_t threads[2];
        start_worker(&worker);
        REQUIRE(associate(worker.loop, &key, &object) == 0);
        for (int t = 0; t < 2; t++)
            REQUIRE(pthread_create(&threads[t], NULL, copy_until_gone, runloop_retain(worker.loop)) == 0);
        stop_worker(&worker);
        for (int t = 0; t < 2; t++)
            REQUIRE(pthread_join(threads[t], NULL) == 0);
        EXPECT(object.is_gone);
    }
}

TEST("R115 without a loop, a key, an object or its functions there is no association") {
    runloop *loop = runloop_current();
    EXPECT_EQ(associate(NULL, &key, &first), -EINVAL);
    EXPECT_EQ(associate(loop, NULL, &first), -EINVAL);
    EXPECT_EQ(associate(loop, &key, NULL), -EINVAL);
    EXPECT_EQ(runloop_set_associated(loop, &key, &first, NULL, release_object), -EINVAL);
    EXPECT_EQ(runloop_set_associated(loop, &key, &first, retain_object, NULL), -EINVAL);
    EXPECT(!runloop_copy_associated(NULL, &key));
    EXPECT(!runloop_copy_associated(loop, NULL));
    EXPECT(!runloop_current_associated(NULL));
}

TEST("R123 after a fork the new loop has no object, and the inherited one returns none") {
    runloop *loop = runloop_current();
    uint32_t generation = runloop_fork_generation();
    REQUIRE(associate(loop, &key, &first) == 0);
    fflush(NULL);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        EXPECT_EQ(runloop_fork_generation(), generation + 1);
        EXPECT(!runloop_copy_associated(loop, &key));
        EXPECT_EQ(associate(loop, &other_key, &second), -ECHILD);
        EXPECT(!runloop_current_associated(&key));
        EXPECT_EQ(associate(runloop_current(), &key, &second), 0);
        EXPECT(runloop_current_associated(&key) == &second);
        _exit(test_failures ? 1 : 0);
    }
    int status;
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT_EQ(status, 0);
    EXPECT(runloop_current_associated(&key) == &first);
    EXPECT_EQ(runloop_fork_generation(), generation);
}
