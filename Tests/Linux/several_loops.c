// several_loops.c — one source in the loops of several threads: plain ones, and those of numbers, dates, clocks, signals and files.
// Streams and messages: several_loops_streams.c. What has one event, which is its end: several_loops_ends.c.
#include "several_loops.h"
#include "clocks.h"
#include "files.h"

//===-- signalled by hand --------------------------------------------------------------------------------------------===//

static void note_perform(runloop_source *source, void *info) {
    (void)source, (void)info;
    deliver(fed);
    may_end();
}

static runloop_source *make_plain(int event) {
    (void)event;
    runloop_source *source = NULL;
    REQUIRE(runloop_source_create(&(runloop_source_config){.context = COUNTED, .perform = note_perform}, &source) == 0);
    return source;
}

static void wake_source(int event) {
    (void)event;
    runloop_source_wake(object);
}

//===-- a descriptor, a signal and a deadline at once ----------------------------------------------------------------===//

static int descriptor = -1;
static _Atomic uint32_t parts;

enum { ALL_PARTS = RUNLOOP_READABLE | RUNLOOP_SIGNALLED | RUNLOOP_DUE };

/// Whichever loop has the last of the three delivers the event.
static void note_parts(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)info;
    uint32_t came = reasons & (RUNLOOP_SIGNALLED | RUNLOOP_DUE);
    // The descriptor is reported to each loop, and one of them reads it.
    if (take(runloop_source_get_descriptor(source)) == 1)
        came |= RUNLOOP_READABLE;
    uint32_t before = atomic_fetch_or(&parts, came);
    EXPECT_EQ(before & came, 0);
    if (came && (before | came) == ALL_PARTS)
        deliver(fed);
    may_end();
}

static runloop_source *make_parts(int event) {
    (void)event;
    const runloop_descriptor_config config = {
        .context = COUNTED, .descriptor = descriptor, .events = RUNLOOP_READABLE, .ready = note_parts};
    runloop_source *source = NULL;
    take(descriptor);
    REQUIRE(runloop_descriptor_source_create(&config, &source) == 0);
    return source;
}

static void make_part(int part) {
    if (part == 0)
        bump(descriptor);
    else if (part == 1)
        runloop_source_wake(object);
    else
        runloop_source_set_deadline(object, runloop_now_ns());
}

/// In each order.
static void feed_parts(int event) {
    // What came for an object that has ended meanwhile is taken along.
    if (situation == INVALIDATED)
        take(descriptor);
    parts = 0;
    int first = event % 3, second = (first + 1 + event / 3 % 2) % 3;
    make_part(first);
    make_part(second);
    make_part(3 - first - second);
}

static void open_eventfd(void) {
    descriptor = make_eventfd(0);
}

static void close_eventfd(void) {
    close(descriptor);
}

//===-- a counter of the kernel's that the loop reads, and one of the library's --------------------------------------===//

static void note_counter(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)source, (void)info;
    EXPECT_EQ(reasons, RUNLOOP_READABLE);
    deliver(fed);
    may_end();
}

static runloop_source *make_read_counter(int event) {
    (void)event;
    const runloop_descriptor_config config = {.context = COUNTED,
                                              .descriptor = descriptor,
                                              .events = RUNLOOP_READABLE,
                                              .counter = true,
                                              .ready = note_counter};
    runloop_source *source = NULL;
    take(descriptor);
    REQUIRE(runloop_descriptor_source_create(&config, &source) == 0);
    return source;
}

static void bump_counter(int event) {
    (void)event;
    bump(descriptor);
}

static void note_sum(runloop_counter *counter, uint64_t sum, void *info) {
    (void)counter, (void)info;
    deliver_count(sum);
    may_end();
}

static runloop_source *make_sum(int event) {
    (void)event;
    runloop_counter *counter = NULL;
    REQUIRE(runloop_counter_create(&(runloop_counter_config){.context = COUNTED, .counted = note_sum}, &counter) == 0);
    return counter;
}

static void add_one(int event) {
    (void)event;
    EXPECT_EQ(runloop_counter_add(object, 1), 0);
}

//===-- dates and clocks ---------------------------------------------------------------------------------------------===//

static void note_alarm(runloop_alarm *fired, int64_t date_ns, uint64_t missed, void *info) {
    (void)fired, (void)date_ns, (void)info;
    EXPECT_EQ(missed, 0);
    deliver(fed);
    may_end();
}

static runloop_source *make_alarm(int event) {
    const runloop_alarm_config config = {.context = COUNTED,
                                         .clock = event % 2 ? RUNLOOP_CLOCK_BOOT : RUNLOOP_CLOCK_WALL,
                                         .date_ns = RUNLOOP_NEVER,
                                         .fire = note_alarm};
    runloop_alarm *made = NULL;
    REQUIRE(runloop_alarm_create(&config, &made) == 0);
    return made;
}

static void set_date(int event) {
    (void)event;
    int64_t now_ns = runloop_clock_get_now_ns(runloop_alarm_get_clock(object));
    int result = runloop_alarm_set_date(object, now_ns);
    EXPECT(result == 0 || (situation == INVALIDATED && result == -EINVAL));
}

/// A schedule whose dates come at once: each is in one call, as its date or as one that was missed.
static void note_dates(runloop_alarm *fired, int64_t date_ns, uint64_t missed, void *info) {
    (void)fired, (void)date_ns, (void)info;
    deliver_count(1 + missed);
    may_end();
}

static runloop_source *make_schedule(int event) {
    (void)event;
    const runloop_alarm_config config = {
        .context = COUNTED, .date_ns = wall() + HOUR, .interval_ns = HOUR, .fire = note_dates};
    runloop_alarm *made = NULL;
    REQUIRE(runloop_alarm_create(&config, &made) == 0);
    return made;
}

static void let_an_hour_pass(int event) {
    (void)event;
    step(HOUR);
}

static void note_step(runloop_clock_watch *watch, const runloop_clock_change *change, void *info) {
    (void)watch, (void)info;
    EXPECT_EQ(change->suspended_ns, 0);
    EXPECT_EQ((change->step_ns + HOUR / 2) / HOUR, 1);
    deliver(fed);
    may_end();
}

static runloop_source *make_clock_watch(int event) {
    (void)event;
    runloop_clock_watch *watch = NULL;
    const runloop_clock_watch_config config = {.context = COUNTED, .changed = note_step};
    REQUIRE(runloop_clock_watch_create(&config, &watch) == 0);
    return watch;
}

//===-- signals ------------------------------------------------------------------------------------------------------===//

/// In no loop: between two objects the signal does not end the process.
static runloop_signal *keeper;

static void note_arrival(runloop_signal *caught, const runloop_signal_arrival *arrival, void *info) {
    (void)caught, (void)info;
    EXPECT_EQ(arrival->count, 1);
    deliver((int)arrival->value);
    may_end();
}

static runloop_source *make_signal(int event) {
    (void)event;
    const runloop_signal_config config = {.context = COUNTED, .number = SIGRTMIN + 3, .receive = note_arrival};
    runloop_signal *caught = NULL;
    REQUIRE(runloop_signal_create(&config, &caught) == 0);
    return caught;
}

static void send_signal(int event) {
    REQUIRE(sigqueue(getpid(), SIGRTMIN + 3, (union sigval){.sival_int = event}) == 0);
}

static void keep_signal(void) {
    REQUIRE(runloop_signal_create(&(runloop_signal_config){.number = SIGRTMIN + 3}, &keeper) == 0);
}

static void give_up_signal(void) {
    end_source(keeper);
}

//===-- files --------------------------------------------------------------------------------------------------------===//

static int plays;

static void note_created(runloop_watch *watch, const runloop_change *changes, size_t count, void *info) {
    (void)watch, (void)info;
    for (size_t i = 0; i < count; i++) {
        EXPECT_EQ(changes[i].kind, RUNLOOP_CHANGE_CREATED);
        deliver(atoi(strrchr(changes[i].path, '/') + 1));
    }
    may_end();
}

static runloop_source *make_watch(int event) {
    (void)event;
    const runloop_watch_config config = {
        .context = COUNTED, .path = "t", .scope = RUNLOOP_WATCH_TREE, .changed = note_created};
    runloop_watch *watch = NULL;
    REQUIRE(runloop_watch_create(&config, &watch) == 0);
    return watch;
}

static void make_directory(int event) {
    char path[32];
    snprintf(path, sizeof path, "t/%d", event);
    REQUIRE(mkdir(path, 0777) == 0);
}

static void begin_files(void) {
    if (plays++ == 0)
        enter_folder();
    REQUIRE(mkdir("t", 0777) == 0);
}

static void remove_files(void) {
    char path[32];
    for (int event = 0; event < EVENTS; event++) {
        snprintf(path, sizeof path, "t/%d", event);
        REQUIRE(rmdir(path) == 0);
    }
    REQUIRE(rmdir("t") == 0);
}

static struct kind kinds[] = {
    {.name = "a source that is signalled",
     .make = make_plain,
     .feed = wake_source,
     .lifetime = LIFETIME,
     .merges = true,
     .is_plain = true},
    {.name = "a source with a descriptor, a signal and a deadline",
     .make = make_parts,
     .feed = feed_parts,
     .begin = open_eventfd,
     .end = close_eventfd,
     .lifetime = LIFETIME,
     .merges = true,
     .is_plain = true},
    {.name = "a source whose counter the loop reads",
     .make = make_read_counter,
     .feed = bump_counter,
     .begin = open_eventfd,
     .end = close_eventfd,
     .lifetime = LIFETIME,
     .merges = true,
     .is_plain = true},
    {.name = "a counter", .make = make_sum, .feed = add_one, .lifetime = LIFETIME},
    {.name = "an alarm", .make = make_alarm, .feed = set_date, .lifetime = LIFETIME, .merges = true},
    {.name = "an alarm with an interval", .make = make_schedule, .feed = let_an_hour_pass, .lifetime = LIFETIME},
    {.name = "a clock watch", .make = make_clock_watch, .feed = let_an_hour_pass, .lifetime = LIFETIME, .merges = true},
    {.name = "a signal",
     .make = make_signal,
     .feed = send_signal,
     .begin = keep_signal,
     .end = give_up_signal,
     .lifetime = LIFETIME},
    {.name = "a file watch",
     .make = make_watch,
     .feed = make_directory,
     .begin = begin_files,
     .end = remove_files,
     .lifetime = LIFETIME}};

TEST_SEVERAL_LOOPS("a source", kinds)
