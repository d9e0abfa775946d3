// linux_scenarios.c — signals, children, shutdown, changes of files, clocks, counters.
#include "faults.h"

#include <signal.h>
#include <sys/wait.h>

#include "runloop_linux.h"

static _Atomic int calls;

static void count_signal(runloop_signal *signal, const runloop_signal_arrival *arrival, void *info) {
    (void)signal, (void)info;
    calls += (int)arrival->count;
}

/// The action is that of before.
static enum outcome told_without_handler(const char *call, int error, int number) {
    struct sigaction action;
    OWN(MUST(sigaction(number, NULL, &action) == 0));
    return action.sa_handler == SIG_DFL ? told_by_call(call, error) : LOST;
}

static enum outcome a_signal(void) {
    SOURCE source = NULL;
    calls = 0;
    begin_faults();
    GET_LOOP(loop);
    int error = runloop_signal_create(&(runloop_signal_config){.number = SIGUSR1, .receive = count_signal}, &source);
    if (error)
        return told_without_handler("runloop_signal_create", error, SIGUSR1);
    TRY(runloop_add_source(loop, source, MODE));
    OWN(raise(SIGUSR1));
    RUN_UNTIL(calls == 1);
    return outcome_of(calls == 1, 0);
}

static enum outcome two_real_time_signals(void) {
    SOURCE first = NULL;
    SOURCE second = NULL;
    calls = 0;
    begin_faults();
    GET_LOOP(loop);
    runloop_signal_config config = {.number = SIGRTMIN + 1, .receive = count_signal};
    TRY(runloop_signal_create(&config, &first));
    config.number++;
    TRY(runloop_signal_create(&config, &second));
    TRY(runloop_add_source(loop, first, MODE));
    TRY(runloop_add_source(loop, second, MODE));
    OWN(raise(SIGRTMIN + 1), raise(SIGRTMIN + 2));
    RUN_UNTIL(calls == 2);
    return outcome_of(calls == 2, 0);
}

//===-- children -----------------------------------------------------------------------------------------------------===//

static runloop_child_exit last_exit;

static void note_exit(runloop_child *child, const runloop_child_exit *exit, void *info) {
    (void)child, (void)info;
    last_exit = *exit;
    calls++;
}

static enum outcome a_child(void) {
    SOURCE source = NULL;
    int ends[2];
    MUST(pipe2(ends, O_CLOEXEC) == 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        char byte;
        ssize_t count = read(ends[0], &byte, 1);
        _exit(count == 0 ? 3 : 4);
    }
    MUST(child > 0);
    leave_alone(child);
    close(ends[0]);
    DESCRIPTOR end = ends[1];
    calls = 0;
    begin_faults();
    runloop_child_config config = {.pid = child, .reaps = true, .exited = note_exit};
    const char *call = "runloop_child_create";
    int error = runloop_current() ? runloop_child_create(&config, &source) : -ENOMEM;
    if (!error) {
        error = runloop_add_source(runloop_current(), source, MODE);
        call = "runloop_add_source";
    }
    close(end);
    end = -1;
    if (error) {
        OWN(end_source(&source), source = NULL, waitpid(child, NULL, 0));
        return told_by_call(call, error);
    }
    RUN_UNTIL(calls == 1);
    // Without an exit status the end itself is what was told: as a failure to ask for it is.
    return last_exit.end == RUNLOOP_CHILD_UNKNOWN && calls == 1 ? told_of("runloop_child_exit", -ECHILD)
                                                                : outcome_of(calls == 1 && last_exit.status == 3, 0);
}

static enum outcome run_child(const char *script, bool is_ended, int status) {
    SOURCE source = NULL;
    DESCRIPTOR output = -1;
    const char *const arguments[] = {"/bin/sh", "-c", script, NULL};
    runloop_child_descriptor descriptors[] = {{.number = 0, .kind = RUNLOOP_CHILD_NULL},
                                              {.number = 1, .kind = RUNLOOP_CHILD_OUTPUT_PIPE, .parent_end = &output}};
    runloop_child_start_config config = {.child.exited = note_exit,
                                         .arguments = arguments,
                                         .program = arguments[0],
                                         .group = RUNLOOP_CHILD_NEW_GROUP,
                                         .descriptors = descriptors,
                                         .descriptor_count = 2};
    static const runloop_child_step steps[] = {{SIGTERM, 0}};
    calls = 0;
    begin_faults();
    GET_LOOP(loop);
    TRY(runloop_child_start(&config, &source));
    const char *call = "runloop_add_source";
    int error = runloop_add_source(loop, source, MODE);
    if (!error && is_ended) {
        error = runloop_child_end_by(source, steps, 1, true);
        call = "runloop_child_end_by";
    }
    if (error) {
        OWN(kill(-runloop_child_get_pid(source), SIGKILL));
        return told_of(call, error);
    }
    RUN_UNTIL(calls == 1);
    if (calls == 1 && last_exit.end == RUNLOOP_CHILD_UNKNOWN)
        return told_of("runloop_child_exit", -ECHILD);
    if (calls == 1 && last_exit.status != status && injector_starves_programs())
        return told_of("program", -ENOEXEC);
    return outcome_of(calls == 1 && last_exit.status == status, 0);
}

static enum outcome a_started_child(void) {
    return run_child("echo hello; exit 3", false, 3);
}

static enum outcome a_child_that_is_ended(void) {
    return run_child("exec sleep 60", true, SIGTERM);
}

static bool was_all_there, was_said_not_to_be;

static void note_command(runloop_command *command, const runloop_command_result *result, void *info) {
    note_exit(command, &result->exit, info);
    was_all_there = result->output.count == 6 && result->output.end == RUNLOOP_COMMAND_COMPLETE;
    was_said_not_to_be = result->output.end != RUNLOOP_COMMAND_COMPLETE || result->input_left > 0;
}

static enum outcome outcome_of_command(void) {
    if (last_exit.end == RUNLOOP_CHILD_UNKNOWN)
        return told_of("runloop_child_exit", -ECHILD);
    if (last_exit.status != 3 && injector_starves_programs())
        return told_of("program", -ENOEXEC);
    // Without memory less is kept, which is said, and a pipe that is not reported is read when the program has ended.
    if (!was_all_there)
        return was_said_not_to_be ? told_of("end of output", -ENOMEM) : LOST;
    return outcome_of(last_exit.status == 3, 0);
}

static enum outcome a_command(void) {
    SOURCE source = NULL;
    const char *const arguments[] = {"/bin/sh", "-c", "cat; exit 3", NULL};
    const runloop_command_config config = {
        .start.arguments = arguments, .input = "hello\n", .input_count = 6, .limit = 100, .ended = note_command};
    calls = 0;
    was_all_there = false;
    begin_faults();
    GET_LOOP(loop);
    TRY(runloop_command_create(&config, &source));
    int error = runloop_add_source(loop, source, MODE);
    if (error) {
        OWN(kill(runloop_command_get_pid(source), SIGKILL));
        return told_of("runloop_add_source", error);
    }
    RUN_UNTIL(calls == 1);
    return outcome_of_command();
}

static enum outcome a_command_of_a_thread(void) {
    const char *const arguments[] = {"/bin/sh", "-c", "cat; exit 3", NULL};
    const runloop_command_config config = {
        .start.arguments = arguments, .input = "hello\n", .input_count = 6, .limit = 100};
    runloop_command_result result;
    begin_faults();
    TRY(runloop_command_run(&config, &result));
    last_exit = result.exit;
    was_all_there = result.output.count == 6 && result.output.end == RUNLOOP_COMMAND_COMPLETE;
    was_said_not_to_be = result.output.end != RUNLOOP_COMMAND_COMPLETE || result.input_left > 0;
    runloop_command_result_free(&result);
    return outcome_of_command();
}

static enum outcome a_shutdown(void) {
    SOURCE source = NULL;
    static const int32_t numbers[] = {SIGUSR2, SIGTERM};
    calls = 0;
    begin_faults();
    GET_LOOP(loop);
    int error = runloop_shutdown_create(&(runloop_shutdown_config){numbers, 2, SECOND}, &source);
    if (error)
        return told_without_handler("runloop_shutdown_create", error, SIGUSR2);
    TRY(runloop_shutdown_add_work(source, 1, count_call, (void *)&calls, count_call));
    TRY(runloop_add_source(loop, source, MODE));
    TRY(runloop_run_in_mode(MODE, MS, false));
    end_source(&source);
    source = NULL;
    // The work that was never done is discarded.
    return outcome_of(calls == 1, 0);
}

//===-- files --------------------------------------------------------------------------------------------------------===//

static int change_error;
static char folder[64];

static void count_changes(runloop_watch *watch, const runloop_change *changes, size_t count, void *info) {
    (void)watch, (void)info;
    for (size_t i = 0; i < count; i++) {
        if (changes[i].kind == RUNLOOP_CHANGE_FAILED)
            change_error = changes[i].error ? changes[i].error : -EIO;
        else if (changes[i].kind == RUNLOOP_CHANGE_OVERFLOW || strstr(changes[i].path, "news"))
            calls++;
    }
}

static void touch(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
    MUST(file >= 0 && write(file, "news\n", 5) == 5);
    close(file);
}

static void end_folder(char (*path)[64]) {
    static const char *const names[] = {"more news", "inner/more news", "news", "inner/news", "inner", ""};
    char name[128];
    pause_faults();
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "%s/%s", *path, names[i]);
        remove(name);
    }
    begin_faults();
}

static enum outcome watch(runloop_watch_scope scope, const char *name, const char *touched) {
    strcpy(folder, "/tmp/runloop-faults-XXXXXX");
    MUST(mkdtemp(folder));
    __attribute__((cleanup(end_folder))) char created[64];
    strcpy(created, folder);
    char path[128];
    snprintf(path, sizeof path, "%s/inner", folder);
    MUST(mkdir(path, 0700) == 0);
    touch("news");
    touch("inner/news");
    snprintf(path, sizeof path, "%s%s", folder, name);
    SOURCE source = NULL;
    calls = change_error = 0;
    begin_faults();
    GET_LOOP(loop);
    TRY(runloop_watch_create(&(runloop_watch_config){.path = path, .scope = scope, .changed = count_changes}, &source));
    TRY(runloop_add_source(loop, source, MODE));
    TRY(runloop_run_in_mode(MODE, MS, false));
    OWN(touch(touched));
    RUN_UNTIL(calls > 0 || change_error);
    return outcome_or(calls > 0, "runloop_change", change_error);
}

static enum outcome a_watched_file(void) {
    return watch(RUNLOOP_WATCH_FILE, "/news", "news");
}
static enum outcome a_watched_directory(void) {
    return watch(RUNLOOP_WATCH_DIRECTORY, "", "more news");
}
static enum outcome a_watched_tree(void) {
    return watch(RUNLOOP_WATCH_TREE, "", "inner/more news");
}

//===-- clocks, counters ---------------------------------------------------------------------------------------------===//

static void count_alarm(runloop_alarm *alarm, int64_t date_ns, uint64_t missed, void *info) {
    (void)alarm, (void)date_ns, (void)missed, (void)info;
    calls++;
}

static enum outcome alarms(void) {
    SOURCE wall = NULL;
    SOURCE boot = NULL;
    calls = 0;
    begin_faults();
    GET_LOOP(loop);
    runloop_alarm_config config = {.clock = RUNLOOP_CLOCK_WALL, .fire = count_alarm};
    config.date_ns = runloop_clock_get_now_ns(RUNLOOP_CLOCK_WALL) + MS;
    TRY(runloop_alarm_create(&config, &wall));
    config.clock = RUNLOOP_CLOCK_BOOT;
    config.date_ns = runloop_clock_get_now_ns(RUNLOOP_CLOCK_BOOT) + SECOND;
    TRY(runloop_alarm_create(&config, &boot));
    TRY(runloop_add_source(loop, wall, MODE));
    TRY(runloop_add_source(loop, boot, MODE));
    TRY(runloop_alarm_set_date(boot, runloop_clock_get_now_ns(RUNLOOP_CLOCK_BOOT)));
    RUN_UNTIL(calls == 2);
    return outcome_of(calls == 2, 0);
}

static void note_change(runloop_clock_watch *watch, const runloop_clock_change *change, void *info) {
    (void)watch, (void)change, (void)info;
}

static enum outcome a_clock_watch(void) {
    SOURCE source = NULL;
    begin_faults();
    GET_LOOP(loop);
    TRY(runloop_clock_watch_create(&(runloop_clock_watch_config){.changed = note_change}, &source));
    TRY(runloop_add_source(loop, source, MODE));
    TRY(runloop_run_in_mode(MODE, MS, true));
    return outcome_of(runloop_contains_source(loop, source, MODE) && runloop_source_is_valid(source), 0);
}

static void add_sum(runloop_counter *counter, uint64_t sum, void *info) {
    (void)counter, (void)info;
    calls += (int)sum;
}

static enum outcome a_counter(void) {
    SOURCE source = NULL;
    calls = 0;
    begin_faults();
    GET_LOOP(loop);
    TRY(runloop_counter_create(&(runloop_counter_config){.counted = add_sum}, &source));
    TRY(runloop_add_source(loop, source, MODE));
    TRY(runloop_counter_add(source, 3));
    RUN_UNTIL(calls == 3);
    return outcome_of(calls == 3, 0);
}

/// By themselves, since the kernel takes its time to end a watch.
const struct scenario file_scenarios[] = {
    {"a watched file", a_watched_file},
    {"a watched directory", a_watched_directory},
    {"a watched tree", a_watched_tree},
    {0},
};

const struct scenario linux_scenarios[] = {
    {"a signal", a_signal},
    {"two real-time signals", two_real_time_signals},
    {"a child", a_child},
    {"a started child", a_started_child},
    {"a child that is ended", a_child_that_is_ended},
    {"a command", a_command},
    {"a command of a thread", a_command_of_a_thread},
    {"a shutdown", a_shutdown},
    {"alarms", alarms},
    {"a clock watch", a_clock_watch},
    {"a counter", a_counter},
    {0},
};
