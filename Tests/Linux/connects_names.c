// connects_names.c — connecting by name: look-ups that fail or never end, several addresses, and who goes away meanwhile.
#include "fake_names.h"
#include "shown_clock.h"

#define DELAY (250 * MS)

/// For a loop whose clock stands still.
#define RUN_PASSES_UNTIL(condition) WAIT_UNTIL((runloop_run_pass(MODE, 0), (condition)))

//===-- several addresses --------------------------------------------------------------------------------------------===//

TEST("the families of the addresses alternate, and each failure is kept with its address") {
    int reserved;
    uint16_t port = dead_port(&reserved);
    struct outcome outcome =
        outcome_of((runloop_connect_config){.host = "127.0.0.2,127.0.0.3,127.0.0.4,::1,::2", .port = port});
    const char *const hosts[] = {"127.0.0.2", "[::1]", "127.0.0.3", "[::2]", "127.0.0.4"};
    EXPECT_EQ(outcome.error, -ECONNREFUSED);
    EXPECT_EQ(outcome.count, 5);
    for (size_t i = 0; i < outcome.count; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s:%d", hosts[i], port);
        EXPECT_TEXT(outcome.failures[i].address, text);
        EXPECT(outcome.failures[i].error < 0);
    }
    EXPECT_EQ(results, 0);
    outcome = outcome_of((runloop_connect_config){.host = "::1,127.0.0.2", .port = port});
    EXPECT_EQ(outcome.count, 2);
    EXPECT(starts_with(outcome.failures[0].address, "[::1]:"));
    EXPECT(starts_with(outcome.failures[1].address, "127.0.0.2:"));
    close(reserved);
}

/// The outcome after the loop has done what there is to do at that instant. The kernel is given a little real time for it.
static void run_at(int64_t instant_ns, const struct outcome *outcome) {
    shown_ns = instant_ns;
    for (int pass = 0; pass < 50 && outcome->calls == 0; pass++) {
        usleep(1000);
        runloop_run_pass(MODE, 0);
    }
}

TEST("the next address is tried when the one before has been silent for 250 ms, and not earlier") {
    struct outcome outcome = {0};
    int listening = listen_on("127.0.0.1", 0);
    struct black_hole hole = make_black_hole("127.0.0.2", port_of(listening));
    use_shown_clock();
    runloop_connect *connect =
        add_connect((runloop_connect_config){.host = "127.0.0.2,127.0.0.1", .port = port_of(listening)}, &outcome);
    WAIT_UNTIL(results == 1);
    run_at(0, &outcome);
    EXPECT_EQ(results, 0);
    run_at(DELAY - 1, &outcome);
    EXPECT_EQ(outcome.calls, 0);
    shown_ns = DELAY;
    RUN_PASSES_UNTIL(outcome.calls == 1);
    EXPECT_EQ(outcome.error, 0);
    EXPECT_EQ(outcome.at_ns, DELAY);
    EXPECT_EQ(outcome.count, 0);
    runloop_source_release(connect);
    expect_talk(outcome.descriptor, listening);
    end_black_hole(hole);
    close(listening);
}

TEST("an address that fails is followed by the next at once, and a silent one before it does not change that") {
    struct outcome outcome = {0};
    int listening = listen_on("127.0.0.1", 0);
    struct black_hole hole = make_black_hole("127.0.0.2", port_of(listening));
    use_shown_clock();
    runloop_connect_config config = {.host = "127.0.0.2,127.0.0.3,127.0.0.4,127.0.0.1", .port = port_of(listening)};
    runloop_connect *connect = add_connect(config, &outcome);
    WAIT_UNTIL(results == 1);
    run_at(0, &outcome);
    EXPECT_EQ(outcome.calls, 0);
    shown_ns = DELAY;
    RUN_PASSES_UNTIL(outcome.calls == 1);
    EXPECT_EQ(outcome.error, 0);
    EXPECT_EQ(outcome.count, 2);
    EXPECT_EQ(outcome.failures[0].error, -ECONNREFUSED);
    EXPECT_EQ(outcome.failures[1].error, -ECONNREFUSED);
    runloop_source_release(connect);
    expect_talk(outcome.descriptor, listening);
    end_black_hole(hole);
    close(listening);
}

TEST("an address that can't even be tried is followed by the next at once") {
    struct outcome outcome = {0};
    int listening = listen_on("127.0.0.1", 0);
    use_shown_clock();
    runloop_connect_config config = {.host = "255.255.255.255,127.0.0.1", .port = port_of(listening)};
    runloop_connect *connect = add_connect(config, &outcome);
    RUN_PASSES_UNTIL(outcome.calls == 1);
    EXPECT_EQ(outcome.error, 0);
    EXPECT_EQ(outcome.count, 1);
    EXPECT(starts_with(outcome.failures[0].address, "255.255.255.255:"));
    runloop_source_release(connect);
    expect_talk(outcome.descriptor, listening);
    close(listening);
}

static void accept_in_hole(runloop_timer *timer, void *info) {
    (void)timer;
    close(accept4(((struct black_hole *)info)->listening, NULL, NULL, SOCK_CLOEXEC));
}

TEST("the first address may still win while the second is tried") {
    struct black_hole first = make_black_hole("127.0.0.1", 0);
    struct black_hole second = make_black_hole("127.0.0.2", port_of(first.listening));
    // The kernel repeats the SYN after a second.
    add_timer(MODE, runloop_now_ns() + 500 * MS, 0, accept_in_hole, &first);
    struct outcome outcome =
        outcome_of((runloop_connect_config){.host = "127.0.0.1,127.0.0.2", .port = port_of(first.listening)});
    char text[128];
    EXPECT_EQ(outcome.error, 0);
    EXPECT(runloop_socket_get_address(outcome.descriptor, true, text, sizeof text) > 0);
    EXPECT(starts_with(text, "127.0.0.1:"));
    close(outcome.descriptor);
    end_black_hole(first);
    end_black_hole(second);
}

TEST("addresses that are silent at the deadline have timed out, and what comes after them was not tried") {
    struct outcome outcome = {0};
    struct black_hole hole = make_black_hole("127.0.0.2", 0);
    use_shown_clock();
    runloop_connect_config config = {.host = "127.0.0.3,127.0.0.2,127.0.0.4", .port = port_of(hole.listening)};
    config.deadline_ns = DELAY;
    runloop_connect *connect = add_connect(config, &outcome);
    // The first refuses, and the second is tried at once.
    RUN_PASSES_UNTIL(runloop_connect_get_failures(connect, NULL, 0) == 1);
    run_at(DELAY - 1, &outcome);
    EXPECT_EQ(outcome.calls, 0);
    shown_ns = DELAY;
    RUN_PASSES_UNTIL(outcome.calls == 1);
    EXPECT_EQ(outcome.error, -ETIMEDOUT);
    EXPECT_EQ(outcome.count, 2);
    EXPECT_EQ(outcome.failures[0].error, -ECONNREFUSED);
    EXPECT_EQ(outcome.failures[1].error, -ETIMEDOUT);
    runloop_source_release(connect);
    end_black_hole(hole);
}

TEST("attempts without a descriptor have failed, each with its error, and the first one's counts") {
    struct outcome outcome = {0};
    make_loop();
    runloop_connect *connect =
        add_connect((runloop_connect_config){.host = "127.0.0.1,127.0.0.2", .port = 9}, &outcome);
    WAIT_UNTIL(results == 1);
    use_up_descriptors(0);
    RUN_UNTIL(MODE, outcome.calls == 1);
    give_back_descriptors();
    EXPECT_EQ(outcome.error, -EMFILE);
    EXPECT_EQ(outcome.count, 2);
    EXPECT_EQ(outcome.failures[0].error, -EMFILE);
    EXPECT_EQ(outcome.failures[1].error, -EMFILE);
    runloop_source_release(connect);
    EXPECT_EQ(outcome.contexts, 0);
}

TEST("a name that was looked up while it was in no loop is connected by a loop that sleeps") {
    struct worker worker = {0};
    struct outcome outcome = {0};
    int reserved;
    uint16_t port = dead_port(&reserved);
    runloop_connect *connect =
        add_connect((runloop_connect_config){.host = "127.0.0.1,127.0.0.2", .port = port}, &outcome);
    EXPECT_EQ(runloop_remove_source(runloop_current(), connect, MODE), 0);
    WAIT_UNTIL(results == 1 && lookups_now == 0);
    start_worker(&worker);
    wait_for_sleep(&worker);
    EXPECT_EQ(runloop_add_source(worker.loop, connect, MODE), 0);
    WAIT_UNTIL(outcome.calls == 1);
    stop_worker(&worker);
    EXPECT_EQ(outcome.error, -ECONNREFUSED);
    runloop_source_release(connect);
    EXPECT_EQ(outcome.contexts, 0);
    close(reserved);
}

TEST("a look-up in the family of the address of this side") {
    int listening = listen_on("127.0.0.1", 0);
    struct outcome outcome = outcome_of(
        (runloop_connect_config){.host = "127.0.0.1,::1", .port = port_of(listening), .local_address = "127.0.0.5"});
    EXPECT_EQ(last_family, AF_INET);
    EXPECT_EQ(outcome.error, 0);
    expect_talk(outcome.descriptor, listening);
    close(listening);
}

//===-- failures of look-ups -----------------------------------------------------------------------------------------===//

static void expect_name_error(int code, int expected) {
    char host[16];
    snprintf(host, sizeof host, "!%d", code);
    struct outcome outcome = outcome_of((runloop_connect_config){.host = host, .port = 1});
    EXPECT_EQ(outcome.error, expected);
    EXPECT_EQ(outcome.count, 0);
    if (code == EAI_SYSTEM)
        EXPECT(outcome.name_error == NULL);
    else
        EXPECT_TEXT(outcome.name_error, gai_strerror(code));
}

TEST("a name that is not found, and other failures of a look-up, in numbers and in words") {
    expect_name_error(EAI_NONAME, -ENOENT);
    expect_name_error(EAI_SERVICE, -ENOENT);
    expect_name_error(EAI_AGAIN, -EAGAIN);
    expect_name_error(EAI_FAIL, -EIO);
    expect_name_error(EAI_MEMORY, -ENOMEM);
    expect_name_error(EAI_SYSTEM, -EMFILE);
}

//===-- look-ups that take long --------------------------------------------------------------------------------------===//

static void let_names_answer(void) {
    names_answer = true;
    WAIT_UNTIL(lookups_now == 0 && results == 0);
}

TEST("a look-up that does not end is left behind at the deadline, and not before") {
    names_answer = false;
    struct outcome outcome = outcome_of((runloop_connect_config){.host = "127.0.0.1", .port = 1});
    EXPECT_EQ(outcome.error, -ECONNREFUSED); // a number needs no look-up
    EXPECT_EQ(lookups_begun, 0);
    int64_t deadline_ns = runloop_now_ns() + 50 * MS;
    outcome = outcome_of((runloop_connect_config){.host = "127.0.0.1,::1", .port = 1, .deadline_ns = deadline_ns});
    EXPECT_EQ(outcome.error, -ETIMEDOUT);
    EXPECT(outcome.at_ns >= deadline_ns);
    EXPECT_EQ(outcome.count, 0);
    EXPECT(outcome.name_error == NULL);
    let_names_answer();
}

TEST("an end while the name is looked up leaves no descriptor and no late result") {
    names_answer = false;
    make_loop();
    int before = count_descriptors();
    for (int i = 0; i < 3; i++) {
        struct outcome outcome = {0};
        runloop_connect *connect = add_connect((runloop_connect_config){.host = "127.0.0.1,::1", .port = 1}, &outcome);
        WAIT_UNTIL(lookups_begun == i + 1);
        if (i > 0)
            run_for(MODE, 5 * MS);
        if (i > 1)
            runloop_source_invalidate(connect);
        else
            EXPECT_EQ(runloop_remove_source(runloop_current(), connect, MODE), 0);
        runloop_source_release(connect);
        EXPECT_EQ(outcome.contexts, 0);
        EXPECT_EQ(count_descriptors(), before);
        run_for(MODE, 1);
        EXPECT_EQ(outcome.calls, 0);
    }
    let_names_answer();
    EXPECT_EQ(count_descriptors(), before);
}

TEST("an end after the look-up, before the loop has seen its result") {
    make_loop();
    int before = count_descriptors();
    struct outcome outcome = {0};
    runloop_connect *connect = add_connect((runloop_connect_config){.host = "127.0.0.1,::1", .port = 1}, &outcome);
    WAIT_UNTIL(results == 1 && lookups_now == 0);
    end_source(connect);
    WAIT_UNTIL(results == 0);
    EXPECT_EQ(outcome.contexts, 0);
    EXPECT_EQ(count_descriptors(), before);
}

static void *begin_and_end(void *info) {
    runloop_source_release(add_connect((runloop_connect_config){.host = "127.0.0.1,::1", .port = 1}, info));
    run_for(MODE, 5 * MS);
    return NULL;
}

TEST("the loop's thread ends while a name is looked up") {
    struct outcome outcome = {0};
    names_answer = false;
    on_new_thread(begin_and_end, &outcome);
    int before = count_descriptors();
    on_new_thread(begin_and_end, &outcome);
    EXPECT_EQ(outcome.calls, 0);
    EXPECT_EQ(outcome.contexts, 0);
    EXPECT_EQ(count_descriptors(), before);
    let_names_answer();
}

TEST("at most sixteen names are looked up at a time, and those that wait come after them or leave") {
    enum { NAMES = 40 };
    struct outcome outcomes[NAMES] = {0};
    runloop_connect *connects[NAMES];
    int reserved;
    uint16_t port = dead_port(&reserved);
    names_answer = false;
    for (int i = 0; i < NAMES; i++)
        connects[i] = add_connect((runloop_connect_config){.host = "127.0.0.1,127.0.0.2", .port = port}, outcomes + i);
    WAIT_UNTIL(lookups_now == 16);
    end_source(connects[NAMES - 1]);
    run_for(MODE, 5 * MS);
    names_answer = true;
    for (int i = 0; i < NAMES - 1; i++) {
        RUN_UNTIL(MODE, outcomes[i].calls == 1);
        EXPECT_EQ(outcomes[i].error, -ECONNREFUSED);
        runloop_source_release(connects[i]);
    }
    EXPECT_EQ(outcomes[NAMES - 1].calls, 0);
    EXPECT_EQ(lookups_begun, NAMES - 1);
    EXPECT_EQ(lookups_most, 16);
    EXPECT_EQ(results, 0);
    close(reserved);
}

static struct outcome forked;
static runloop_connect *forking;

static void expect_nothing_inherited(void) {
    int before = count_descriptors();
    runloop_source_release(forking);
    runloop_source_release(forking); // the inherited loop's, whose thread is not here
    EXPECT_EQ(count_descriptors(), before - 1);
    EXPECT_EQ(forked.contexts, 0);
    // The threads are the parent's, and so is who waits for them. (The thread sanitizer and the emulator forbid threads here.)
    names_answer = true;
    if (!UNDER_THREAD_SANITIZER && !is_emulated()) {
        struct outcome outcome = {0};
        runloop_connect *connect = add_connect((runloop_connect_config){.host = "!-2", .port = 1}, &outcome);
        RUN_UNTIL(MODE, outcome.calls == 1);
        EXPECT_EQ(outcome.error, -ENOENT);
        runloop_source_release(connect);
    }
    EXPECT_EQ(forked.calls, 0);
}

TEST("R123 a fork while a name is looked up: the child is never called and frees its copies, the parent goes on") {
    int reserved;
    uint16_t port = dead_port(&reserved);
    names_answer = false;
    runloop_connect_config config = {.host = "127.0.0.1,127.0.0.2", .port = port};
    forking = add_connect(config, &forked);
    struct outcome others[20] = {0};
    runloop_connect *other[20];
    for (int i = 0; i < 20; i++)
        other[i] = add_connect(config, others + i);
    run_for(MODE, 1);
    WAIT_UNTIL(lookups_now == 16);
    EXPECT_EQ(status_of_child(expect_nothing_inherited), 0);
    EXPECT_EQ(forked.calls, 0);
    names_answer = true;
    RUN_UNTIL(MODE, forked.calls == 1);
    EXPECT_EQ(forked.error, -ECONNREFUSED);
    EXPECT_EQ(forked.count, 2);
    runloop_source_release(forking);
    for (int i = 0; i < 20; i++) {
        RUN_UNTIL(MODE, others[i].calls == 1);
        runloop_source_release(other[i]);
    }
    EXPECT_EQ(results, 0);
    close(reserved);
}

static void exit_now(void) {
    struct outcome *outcome = calloc(1, sizeof *outcome);
    add_connect((runloop_connect_config){.host = "127.0.0.1,127.0.0.2", .port = 1}, outcome);
    run_for(MODE, 1);
    WAIT_UNTIL(lookups_now == 1);
    exit(7);
}

TEST("the process ends while a name is looked up") {
    names_answer = false;
    int status = status_of_child(exit_now);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

//===-- several threads ----------------------------------------------------------------------------------------------===//

static _Atomic bool ends_all;

static void *end_soon(void *info) {
    runloop_source *source = info;
    while (!ends_all)
        ;
    end_source(source);
    return NULL;
}

TEST("an end on another thread while the result comes: reported once or not at all, and nothing is left") {
    make_loop();
    int listening = listen_on("127.0.0.1", 0), before = count_descriptors();
    int rounds = UNDER_SANITIZER ? 50 : 200;
    for (int i = 0; i < rounds; i++) {
        struct outcome outcome = {.descriptor = -1};
        pthread_t thread;
        ends_all = false;
        runloop_connect_config config = {.host = i % 4 < 2 ? "127.0.0.1,127.0.0.2" : "127.0.0.1",
                                         .port = port_of(listening)};
        runloop_connect *connect = add_connect(config, &outcome);
        REQUIRE(pthread_create(&thread, NULL, end_soon, runloop_source_retain(connect)) == 0);
        if (i % 2)
            run_for(MODE, 1);
        ends_all = true;
        run_for(MODE, i % 7 * MS / 10);
        pthread_join(thread, NULL);
        EXPECT(outcome.calls <= 1);
        if (outcome.calls)
            EXPECT_EQ(outcome.error, 0);
        if (outcome.descriptor >= 0)
            close(outcome.descriptor);
        runloop_source_release(connect);
        EXPECT_EQ(outcome.contexts, 0);
    }
    WAIT_UNTIL(lookups_now == 0 && results == 0 && count_descriptors() == before);
    close(listening);
}
