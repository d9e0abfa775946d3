// stacks.c — how much stack a loop's thread needs: every object is used on a thread with little of it, and how deep that goes is measured.
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "linux_items.h"
#include "runloop_diagnostics.h"

// What runloop.h says: MOST_USED is the libraries' part with what they call of the C library, so the least stack of a thread will do.
enum { LEAST_STACK = 16 << 10, MOST_USED = 8 << 10, MEASURED_STACK = 256 << 10, PAINT = 0x5a };

/// A scenario is on the stack alone: the harness prints nothing there but failures.
struct scenario {
    const char *name;
    void (*run)(void);
    size_t used;
};

static int done;

static void count_call(void *info) {
    (void)info;
    done++;
}

static void fire(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    done++;
}

static void observe(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
}

static void note_readable(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)reasons, (void)info;
    runloop_source_invalidate(source);
    done++;
}

static void use_items(void) {
    int ends[2];
    add_observer(MODE, RUNLOOP_ACTIVITY_ALL, observe, NULL);
    add_timer(MODE, runloop_now_ns() + MS, 0, fire, "");
    make_pipe(ends);
    const runloop_descriptor_config config = {
        .descriptor = ends[0], .events = RUNLOOP_READABLE, .ready = note_readable};
    runloop_source *source = NULL;
    REQUIRE(runloop_descriptor_source_create(&config, &source) == 0);
    REQUIRE(runloop_add_source(runloop_current(), source, MODE) == 0);
    REQUIRE(runloop_perform(runloop_current(), MODE, count_call, NULL, NULL) == 0 && write(ends[1], "a", 1) == 1);
    RUN_UNTIL(MODE, done == 3);
    free(runloop_copy_description(runloop_current()));
    for (int form = RUNLOOP_REPORT_TEXT; form <= RUNLOOP_REPORT_JSON; form++) {
        char *report = runloop_copy_report(runloop_current(), (runloop_report_form)form);
        EXPECT(report);
        free(report);
    }
    end_source(source);
    close(ends[0]), close(ends[1]);
}

static void count_sum(runloop_counter *counter, uint64_t sum, void *info) {
    (void)counter, (void)sum, (void)info;
    done++;
}

static void note_alarm(runloop_alarm *alarm, int64_t date_ns, uint64_t missed, void *info) {
    (void)alarm, (void)date_ns, (void)missed, (void)info;
    done++;
}

static void note_signal(runloop_signal *signal, const runloop_signal_arrival *arrival, void *info) {
    (void)signal, (void)arrival, (void)info;
    done++;
}

static void add(runloop_source *source) {
    REQUIRE(source && runloop_add_source(runloop_current(), source, MODE) == 0);
}

static void use_clocks_and_signals(void) {
    runloop_source *made[4] = {NULL};
    REQUIRE(runloop_counter_create(&(runloop_counter_config){.counted = count_sum}, &made[0]) == 0);
    REQUIRE(runloop_alarm_create(&(runloop_alarm_config){.date_ns = 1, .fire = note_alarm}, &made[1]) == 0);
    REQUIRE(runloop_clock_watch_create(&(runloop_clock_watch_config){0}, &made[2]) == 0);
    REQUIRE(runloop_signal_create(&(runloop_signal_config){.number = SIGUSR1, .receive = note_signal}, &made[3]) == 0);
    for (int i = 0; i < 4; i++)
        add(made[i]);
    REQUIRE(runloop_counter_add(made[0], 1) == 0 && pthread_kill(pthread_self(), SIGUSR1) == 0);
    RUN_UNTIL(MODE, done == 3);
    // It is asked whether somebody else has the signal by now, or all threads have blocked it.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    runloop_source *again = NULL;
    REQUIRE(runloop_signal_create(&(runloop_signal_config){.number = SIGUSR2, .receive = note_signal}, &again) == 0);
    add(again);
    poll_mode(MODE);
    sigemptyset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    end_source(again);
    for (int i = 0; i < 4; i++)
        end_source(made[i]);
}

static void note_exit(runloop_child *child, const runloop_child_exit *exit, void *info) {
    (void)child, (void)info;
    EXPECT_EQ(exit->status, 0);
    done++;
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void use_processes(void) {
    runloop_source *shutdown = NULL, *child = NULL;
    REQUIRE(runloop_shutdown_create(
                &(runloop_shutdown_config){.numbers = &(int32_t){SIGTERM}, .count = 1, .limit_ns = SECOND},
                &shutdown) == 0);
    add(shutdown);
    const runloop_child_start_config config = {
        .child.exited = note_exit, .arguments = WORDS("sh", "-c", "exit 0"), .searches = true};
    int result = runloop_child_start(&config, &child);
    if (result == -ENOSYS) // an emulator
        return;
    REQUIRE(result == 0);
    add(child);
    RUN_UNTIL(MODE, done == 1);
    runloop_command_config command = {
        .start = {.arguments = WORDS("sh", "-c", "head -c 9000 /dev/zero"), .searches = true}, .limit = 10};
    runloop_command_result end;
    REQUIRE(runloop_command_run(&command, &end) == 0);
    EXPECT_EQ(end.output.dropped, 8990);
    runloop_command_result_free(&end);
    end_source(child);
    end_source(shutdown);
}

static void note_changes(runloop_watch *watch, const runloop_change *changes, size_t count, void *info) {
    (void)watch, (void)info;
    EXPECT(count > 0 && changes->error == 0);
    done += (int)count;
}

/// A link that is followed is watched by its number in /proc.
static void use_files(void) {
    need_proc();
    static char folder[] = "/tmp/runloop-stacks-XXXXXX", link[64], inside[64], new[72];
    REQUIRE(mkdtemp(folder));
    snprintf(link, sizeof link, "%s/link", folder);
    snprintf(inside, sizeof inside, "%s/folder", folder);
    REQUIRE(mkdir(inside, 0755) == 0 && symlink("folder", link) == 0);
    runloop_watch *watch = NULL;
    const runloop_watch_config config = {
        .path = link, .follows_link = true, .scope = RUNLOOP_WATCH_TREE, .changed = note_changes};
    REQUIRE(runloop_watch_create(&config, &watch) == 0);
    add(watch);
    snprintf(new, sizeof new, "%s/new", inside);
    REQUIRE(mkdir(new, 0755) == 0);
    RUN_UNTIL(MODE, done >= 1);
    end_source(watch);
    EXPECT(rmdir(new) == 0 && rmdir(inside) == 0);
    EXPECT(unlink(link) == 0 && rmdir(folder) == 0);
}

static size_t take_all(runloop_input *input, const char *bytes, size_t count, void *info) {
    (void)input, (void)bytes, (void)info;
    done += (int)count;
    return count;
}

static void keep_connection(runloop_listener *listener, int descriptor, void *info) {
    (void)listener;
    *(int *)info = descriptor;
}

static void keep_connected(runloop_connect *connect, int descriptor, int error, void *info) {
    (void)connect;
    EXPECT_EQ(error, 0);
    *(int *)info = descriptor;
}

/// A listener, a connection by a name that is looked up, where it can be, and a stream in both directions.
static void use_streams(void) {
    int listening = runloop_listen_tcp("127.0.0.1", 0, 0), accepted = -1, connected = -1;
    runloop_source *made[4] = {NULL};
    const runloop_listener_config config = {
        .context.info = &accepted, .descriptor = listening, .owns = true, .accepted = keep_connection};
    REQUIRE(listening >= 0 && runloop_listener_create(&config, &made[0]) == 0);
    const runloop_connect_config target = {.context.info = &connected,
                                           .host = access("/etc/hosts", R_OK) == 0 ? "localhost" : "127.0.0.1",
                                           .port = (uint16_t)runloop_socket_get_port(listening, false),
                                           .connected = keep_connected};
    REQUIRE(runloop_connect_create(&target, &made[1]) == 0);
    add(made[0]), add(made[1]);
    RUN_UNTIL(MODE, accepted >= 0 && connected >= 0);
    const runloop_input_config input = {.descriptor = accepted, .owns = true, .limit = 100, .received = take_all};
    const runloop_output_config output = {.descriptor = connected, .owns = true, .limit = 100};
    REQUIRE(runloop_input_create(&input, &made[2]) == 0 && runloop_output_create(&output, &made[3]) == 0);
    add(made[2]), add(made[3]);
    EXPECT_EQ(runloop_output_enqueue(made[3], "text", 4), 0);
    RUN_UNTIL(MODE, done == 4);
    for (int i = 0; i < 4; i++)
        end_source(made[i]);
}

static void take_message(runloop_channel *channel, runloop_channel_message *message, void *info) {
    (void)channel, (void)info;
    if (message->call)
        EXPECT_EQ(runloop_call_reply(message->call, message->bytes, message->length, message->descriptors, 1), 0);
    done++;
}

static void take_reply(const runloop_reply *reply, int *taken, size_t count, void *info) {
    (void)taken, (void)info;
    EXPECT(reply->result == 0 && count == 1);
    done++;
}

static void use_channels(void) {
    static char large[200000];
    int sockets[2], sent[] = {STDERR_FILENO};
    runloop_channel *channels[2];
    const runloop_channel_config config = {.receive = take_message};
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0);
    for (int i = 0; i < 2; i++) {
        REQUIRE(runloop_channel_create(sockets[i], &config, &channels[i]) == 0);
        add(channels[i]);
    }
    EXPECT_EQ(runloop_channel_send(channels[0], large, sizeof large, sent, 1), 0);
    const runloop_channel_request_config request = {.replied = take_reply};
    EXPECT_EQ(runloop_channel_request(channels[1], large, sizeof large, sent, 1, &request, NULL), 0);
    RUN_UNTIL(MODE, done == 3);
    end_source(channels[0]), end_source(channels[1]);
}

static struct scenario scenarios[] = {
    {"items", use_items, 0},         {"clocks and signals", use_clocks_and_signals, 0},
    {"processes", use_processes, 0}, {"files", use_files, 0},
    {"streams", use_streams, 0},     {"channels", use_channels, 0}};
enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

static void *run_scenario(void *scenario) {
    done = 0;
    ((struct scenario *)scenario)->run();
    return NULL;
}

static void run_on(pthread_attr_t *attributes, struct scenario *scenario) {
    pthread_t thread;
    REQUIRE(pthread_create(&thread, attributes, run_scenario, scenario) == 0);
    REQUIRE(pthread_join(thread, NULL) == 0);
}

/// What a thread that does nothing has on its stack: the C library's block of the thread, and its variables.
static void do_nothing(void) {}

static size_t measure(struct scenario *scenario) {
    unsigned char *stack = mmap(NULL, MEASURED_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(stack != MAP_FAILED);
    memset(stack, PAINT, MEASURED_STACK);
    pthread_attr_t attributes;
    REQUIRE(pthread_attr_init(&attributes) == 0);
    REQUIRE(pthread_attr_setstack(&attributes, stack, MEASURED_STACK) == 0);
    run_on(&attributes, scenario);
    size_t untouched = 0;
    while (untouched < MEASURED_STACK && stack[untouched] == PAINT)
        untouched++;
    pthread_attr_destroy(&attributes);
    munmap(stack, MEASURED_STACK);
    return MEASURED_STACK - untouched;
}

#define IS_SANITIZED (UNDER_ADDRESS_SANITIZER || UNDER_THREAD_SANITIZER)

TEST("no object uses more of its thread's stack than the documentation says, call-outs excluded") {
    if (IS_SANITIZED)
        LEAVE_OUT("A sanitizer makes frames larger.");
    struct scenario nothing = {"nothing", do_nothing, 0};
    size_t least = measure(&nothing);
    for (int i = 0; i < SCENARIOS; i++) {
        size_t used = measure(&scenarios[i]) - least;
        if (used > MOST_USED)
            fprintf(stderr, "    %s: %zu bytes of stack\n", scenarios[i].name, used);
        if (getenv("RUNLOOP_PRINT_STACKS"))
            printf("%s: %zu\n", scenarios[i].name, used);
        EXPECT(used <= MOST_USED);
    }
}

TEST("every object works on a thread with as little stack as the documentation asks for") {
    if (IS_SANITIZED)
        LEAVE_OUT("A sanitizer makes frames larger.");
    pthread_attr_t attributes;
    REQUIRE(pthread_attr_init(&attributes) == 0);
    // Some processors save more registers for a signal, and some kernels have larger pages.
    size_t least = PTHREAD_STACK_MIN > LEAST_STACK ? PTHREAD_STACK_MIN : LEAST_STACK;
    REQUIRE(pthread_attr_setstacksize(&attributes, least) == 0);
    for (int i = 0; i < SCENARIOS; i++)
        run_on(&attributes, &scenarios[i]);
    pthread_attr_destroy(&attributes);
}
