// process_works.c — children, signals of the process, changes of files, alarms.
#include <fcntl.h>
#include <signal.h>

#include "soak.h"

//===-- children -----------------------------------------------------------------------------------------------------===//

enum { CHILDREN = 2 };

static runloop_child *children_[CHILDREN]; ///< by the main place's thread
static struct count children = {.name = "children"};

static void note_exit(runloop_child *child, const runloop_child_exit *status, void *info) {
    (void)child;
    if (status->end != RUNLOOP_CHILD_EXITED || status->status != 7)
        complain("the end of a child", status->status);
    take(&children, 1);
    end_source(info);
}

static void start_children(struct place *place) {
    static const char *const arguments[] = {"/bin/sh", "-c", "exit 7", NULL};
    for (int i = 0; place->index == MAIN_PLACE && i < CHILDREN; i++) {
        // One pump in sixteen.
        if (children_[i] || dice(&place->seed, 16) > 0)
            continue;
        runloop_child_start_config config = {.child = {.context.info = &children_[i], .exited = note_exit},
                                             .arguments = arguments};
        MUST(runloop_child_start(&config, &children_[i]) == 0);
        give(&children, 1);
        MUST(runloop_add_source(place->loop, children_[i], MODE) == 0);
    }
}

//===-- signals ------------------------------------------------------------------------------------------------------===//

// A real-time signal, of which none is merged; each is counted in two loops.
static runloop_signal *catchers[2];
static struct count arrivals = {.name = "signals of the process"};

static void take_signal(runloop_signal *own, const runloop_signal_arrival *arrival, void *info) {
    (void)own, (void)info;
    take(&arrivals, arrival->count);
}

static void begin_signals(void) {
    for (int i = 0; i < 2; i++) {
        MUST(runloop_signal_create(&(runloop_signal_config){.number = SIGRTMIN + 3, .receive = take_signal},
                                   &catchers[i]) == 0);
        MUST(runloop_add_source(places[2 * i].loop, catchers[i], MODE) == 0);
    }
}

static void send_signals(unsigned *seed) {
    if (dice(seed, 8) == 0 && !is_behind(&arrivals, 1000) &&
        sigqueue(getpid(), SIGRTMIN + 3, (union sigval){.sival_int = 1}) == 0)
        give(&arrivals, 2);
}

static void end_signals(void) {
    end_source(&catchers[0]);
    end_source(&catchers[1]);
}

//===-- files --------------------------------------------------------------------------------------------------------===//

enum { FILES = 100 };

static runloop_watch *watch;
static char folder[64];
static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_there[FILES]; ///< under the lock
static bool is_known[FILES]; ///< by the thread of the watch's place
/// A gauge, to which each file adds its own number: what is there, and what the watch has told of.
static struct count files = {.name = "files that are there", .kind = GAUGE};

static void note_changes(runloop_watch *own, const runloop_change *changes, size_t count, void *info) {
    (void)own, (void)info;
    for (size_t i = 0; i < count; i++) {
        const char *name = strrchr(changes[i].path, '/');
        unsigned number = name && name[1] == 'f' ? (unsigned)atoi(name + 2) : FILES;
        bool is_new = changes[i].kind == RUNLOOP_CHANGE_CREATED;
        if (changes[i].kind == RUNLOOP_CHANGE_FAILED || changes[i].kind == RUNLOOP_CHANGE_MOVED)
            complain("a change of a file", changes[i].error);
        if (number >= FILES || (!is_new && changes[i].kind != RUNLOOP_CHANGE_REMOVED) || is_known[number] == is_new)
            continue;
        is_known[number] = is_new;
        take(&files, is_new ? number + 1 : -(uint64_t)(number + 1));
    }
}

static void begin_files(void) {
    strcpy(folder, "/tmp/runloop-soak-XXXXXX");
    MUST(mkdtemp(folder));
    memset(is_there, 0, sizeof is_there);
    memset(is_known, 0, sizeof is_known);
    files.given = files.taken = 0;
    runloop_watch_config config = {.path = folder, .scope = RUNLOOP_WATCH_DIRECTORY, .changed = note_changes};
    MUST(runloop_watch_create(&config, &watch) == 0);
    MUST(runloop_add_source(places[EPOLL_HOST].loop, watch, MODE) == 0);
}

static void change_files(unsigned *seed) {
    if (dice(seed, 8) > 0)
        return;
    unsigned number = dice(seed, FILES);
    char path[128];
    snprintf(path, sizeof path, "%s/f%u", folder, number);
    pthread_mutex_lock(&files_lock);
    if (is_there[number])
        MUST(unlink(path) == 0);
    else
        close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    is_there[number] = !is_there[number];
    give(&files, is_there[number] ? number + 1 : -(uint64_t)(number + 1));
    pthread_mutex_unlock(&files_lock);
}

static void end_files(void) {
    end_source(&watch);
    for (unsigned number = 0; number < FILES; number++) {
        char path[128];
        snprintf(path, sizeof path, "%s/f%u", folder, number);
        unlink(path);
    }
    MUST(rmdir(folder) == 0);
}

//===-- alarms -------------------------------------------------------------------------------------------------------===//

enum { ALARMS = 2 * PLACES };

static runloop_alarm *alarms[ALARMS];
static struct count dates = {.name = "dates of alarms"};

static void fire(runloop_alarm *alarm, int64_t date_ns, uint64_t missed, void *info) {
    (void)missed;
    struct place *place = info;
    runloop_clock_id clock = runloop_alarm_get_clock(alarm);
    if (runloop_clock_get_now_ns(clock) < date_ns)
        complain("an alarm came early", (long)date_ns);
    take(&dates, 1);
    if (is_over)
        return;
    give(&dates, 1);
    MUST(runloop_alarm_set_date(alarm, runloop_clock_get_now_ns(clock) + dice(&place->seed, 10000) * 1000) == 0);
}

static void begin_alarms(void) {
    for (int i = 0; i < ALARMS; i++) {
        struct place *place = &places[i % PLACES];
        runloop_clock_id clock = i < PLACES ? RUNLOOP_CLOCK_WALL : RUNLOOP_CLOCK_BOOT;
        runloop_alarm_config config = {{.info = place}, clock, runloop_clock_get_now_ns(clock) + MS, 0, fire};
        give(&dates, 1);
        MUST(runloop_alarm_create(&config, &alarms[i]) == 0);
        MUST(runloop_add_source(place->loop, alarms[i], MODE) == 0);
    }
}

static void end_alarms(void) {
    for (int i = 0; i < ALARMS; i++)
        end_source(&alarms[i]);
}

const struct work process_works[] = {
    {"children", NULL, NULL, start_children, NULL, {&children}},
    {"signals of the process", begin_signals, send_signals, NULL, end_signals, {&arrivals}},
    {"files", begin_files, change_files, NULL, end_files, {&files}},
    {"alarms", begin_alarms, NULL, NULL, end_alarms, {&dates}},
    {0},
};
