// several_loops_ends.c — an object with one event, which is its end, in the loops of several threads: children, commands, connects.
// several_loops.h explains it.
#include "children.h"
#include "several_loops.h"

static int event_of(void *info) {
    return (int)(intptr_t)info;
}

/// Counted as others are, and with the event.
static runloop_context context_of(int event) {
    runloop_context context = COUNTED;
    context.info = (void *)(intptr_t)event;
    return context;
}

//===-- children -----------------------------------------------------------------------------------------------------===//

static pid_t pids[EVENTS];
static bool is_known[EVENTS]; ///< the end, where the object was invalidated
static int looks;

static void note_exit(runloop_child *child, const runloop_child_exit *exit, void *info) {
    (void)child;
    EXPECT(exit->end == RUNLOOP_CHILD_SIGNALLED && exit->status == SIGKILL && exit->has_usage);
    deliver(event_of(info));
    may_end();
}

static runloop_source *make_child(int event) {
    runloop_child *child = NULL;
    pids[event] = fork_child();
    const runloop_child_config config = {
        .context = context_of(event), .pid = pids[event], .reaps = true, .exited = note_exit};
    REQUIRE(runloop_child_create(&config, &child) == 0);
    return child;
}

/// From here on it is known whether a loop reports the end, or the process is left to its owner.
static void look_at_exit(runloop_source *child) {
    runloop_child_exit exit;
    int event = 0;
    while (pids[event] != runloop_child_get_pid(child))
        event++;
    is_known[event] = runloop_child_get_exit(child, &exit) == 0;
    looks++;
}

static void begin_children(void) {
    memset(is_known, 0, sizeof is_known);
    memset(pids, 0, sizeof pids);
    looks = 0;
}

static void kill_child(int event) {
    REQUIRE(kill(pids[event], SIGKILL) == 0 || situation == INVALIDATED);
}

static void compare_looks(void) {
    EXPECT_EQ(looks, situation == INVALIDATED ? EVENTS : 0);
    for (int event = 0; event < EVENTS && situation == INVALIDATED; event++)
        EXPECT_EQ(delivered[event], is_known[event]);
}

/// A child that is not reported is left to be waited for.
static void wait_for_children(void) {
    for (int event = 0; event < EVENTS; event++)
        if (!delivered[event])
            EXPECT_EQ(waitpid(pids[event], NULL, 0), pids[event]);
    EXPECT(situation == FORKED || (waitpid(-1, NULL, 0) == -1 && errno == ECHILD));
}

static void end_children(void) {
    compare_looks();
    wait_for_children();
}

//===-- commands -----------------------------------------------------------------------------------------------------===//

static runloop_command *command_of[EVENTS];

static void note_result(runloop_command *command, const runloop_command_result *result, void *info) {
    (void)command;
    EXPECT(result->exit.end == RUNLOOP_CHILD_EXITED && result->exit.status == 0);
    EXPECT_EQ(result->output.count, 2);
    EXPECT_EQ(result->output.end, RUNLOOP_COMMAND_COMPLETE);
    deliver(event_of(info));
    may_end();
}

static runloop_source *make_command(int event) {
    need_starts();
    static const char *const words[] = {"echo", "x", NULL};
    const runloop_command_config config = {.context = context_of(event),
                                           .start = {.arguments = words, .searches = true},
                                           .limit = 10,
                                           .ended = note_result};
    REQUIRE(runloop_command_create(&config, &command_of[event]) == 0);
    pids[event] = runloop_command_get_pid(command_of[event]);
    return command_of[event];
}

//===-- connects -----------------------------------------------------------------------------------------------------===//

static int listening;

static void note_connection(runloop_connect *connect, int descriptor, int error, void *info) {
    (void)connect;
    EXPECT_EQ(error, 0);
    EXPECT_EQ(close(descriptor), 0);
    deliver(event_of(info));
    may_end();
}

static runloop_source *make_connect(int event) {
    const runloop_connect_config local = {
        .context = context_of(event), .abstract_name = own_name(), .connected = note_connection};
    runloop_connect *connect = NULL;
    REQUIRE(runloop_connect_create(&local, &connect) == 0);
    return connect;
}

static void accept_all(int event) {
    (void)event;
    int accepted;
    while ((accepted = accept4(listening, NULL, NULL, SOCK_CLOEXEC)) >= 0)
        close(accepted);
}

static void listen_locally(void) {
    listening = runloop_listen_abstract(own_name(), 0);
    REQUIRE(listening >= 0);
}

static void stop_listening(void) {
    accept_all(0);
    close(listening);
}

static uint16_t port;

static runloop_source *make_tcp_connect(int event) {
    const runloop_connect_config remote = {
        .context = context_of(event), .host = "127.0.0.1", .port = port, .connected = note_connection};
    runloop_connect *connect = NULL;
    REQUIRE(runloop_connect_create(&remote, &connect) == 0);
    return connect;
}

static void listen_remotely(void) {
    listening = runloop_listen_tcp("127.0.0.1", 0, 0);
    REQUIRE(listening >= 0);
    port = (uint16_t)runloop_socket_get_port(listening, false);
}

static void do_nothing(int event) {
    (void)event;
}

static struct kind kinds[] = {
    {.name = "a child",
     .make = make_child,
     .feed = kill_child,
     .look = look_at_exit,
     .begin = begin_children,
     .end = end_children,
     .lifetime = 1},
    {.name = "a command", .make = make_command, .feed = do_nothing, .end = wait_for_children, .lifetime = 1},
    {.name = "a connect",
     .make = make_connect,
     .feed = accept_all,
     .begin = listen_locally,
     .end = stop_listening,
     .lifetime = 1},
    {.name = "a connect by TCP",
     .make = make_tcp_connect,
     .feed = accept_all,
     .begin = listen_remotely,
     .end = stop_listening,
     .lifetime = 1}};

TEST_SEVERAL_LOOPS("what ends by itself", kinds)
