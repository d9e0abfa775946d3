// command.c — a program is started, fed, read and awaited, by a loop or by the calling thread.
//
// Its pidfd and its pipes are in an epoll set of its own, which is readable while there is something to do for it. That set is the descriptor of
// a source, or what the thread waits for, and everything else is the same for both.

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "commands/command.h"
#include "runloop_bionic.h"

#define DEFAULT_OUTPUT_LIMIT_NS INT64_C(2000000000)

static struct command *command_of(runloop_source *source) {
    return runloop__object_of(source, OBJECT_COMMAND);
}

static runloop_command_result result_of(const struct command *command) {
    return (runloop_command_result){.pid = command->process.pid,
                                    .exit = command->exit,
                                    .output = runloop__collected_get(&command->outputs[0]),
                                    .error = runloop__collected_get(&command->outputs[1]),
                                    .input_left = command->input_left,
                                    .timed_out = command->timed_out};
}

//===-- run by a loop ------------------------------------------------------------------------------------------------===//

static void ready(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)reasons;
    struct command *command = info;
    steady_take(&command->lock);
    // Another thread may have ended it, or another loop reports it.
    if (!runloop_source_is_valid(source)) {
        steady_give(&command->lock);
        return;
    }
    int64_t now_ns = runloop_now_ns();
    // In a loop for the first time.
    if (command->timeout_ns) {
        command->timeout_due_ns = later(now_ns, command->timeout_ns);
        command->timeout_ns = 0;
    }
    // Another loop may have been first.
    bool was_over = command->has_ended && !has_output(command), is_over = runloop__command_step(command, now_ns);
    // Without memory for the deadline it comes again at once.
    if (!is_over && runloop_source_set_deadline(source, runloop__command_next_due(command, now_ns)) < 0)
        runloop_source_wake(source);
    steady_give(&command->lock);
    if (was_over || !is_over)
        return;
    runloop_source_invalidate(source);
    const runloop_command_result result = result_of(command);
    if (command->ended && !object_is_inherited(&command->object))
        command->ended(source, &result, command->object.context.info);
}

/// The time begins to count, though nothing is ready.
static void schedule(void *info, runloop *loop, const char *mode) {
    (void)loop, (void)mode;
    struct command *command = info;
    runloop_source_wake(command->object.source);
}

static void invalidated(void *info) {
    struct command *command = info;
    steady_take(&command->lock);
    runloop__command_close_pipes(command);
    steady_give(&command->lock);
}

/// What it has, but the process.
static void discard(struct command *command) {
    runloop__command_close_pipes(command);
    for (int i = 0; i < 2; i++) {
        free(command->outputs[i].bytes);
        free(command->outputs[i].scratch);
    }
    free(command->input_copy);
    if (command->set >= 0)
        close(command->set);
}

UNCHECKED static void free_command(void *info) {
    struct command *command = info;
    discard(command);
    if (command->process.foreground.terminal >= 0)
        close(command->process.foreground.terminal);
    if (command->process.pidfd >= 0)
        close(command->process.pidfd);
    runloop__object_end(&command->object);
    free(command);
}

static const struct object_class command_class = {
    .kind = OBJECT_COMMAND, .ready = ready, .schedule = schedule, .invalidated = invalidated, .free = free_command};

//===-- its start ----------------------------------------------------------------------------------------------------===//

/// What is wrong with it, but for its start; NULL: nothing.
static const char *fault_of(const runloop_command_config *config) {
    if (!config->input && config->input_count > 0)
        return "input";
    if (config->timeout_ns < 0)
        return "timeout";
    if (config->output_limit_ns < 0)
        return "output limit";
    return config->excess > RUNLOOP_COMMAND_CLOSE || config->limit >= PTRDIFF_MAX ? "limit" : NULL;
}

static int check(const runloop_command_config *config, const void *out) {
    if (!config || !out)
        return -EINVAL;
    const char *fault = fault_of(config);
    if (fault && config->start.failed)
        snprintf(config->start.failed, config->start.failed_size, "%s", fault);
    return fault ? -EINVAL : 0;
}

/// Zeros but for what the configuration says, and has no descriptor yet.
static void begin(struct command *command, const runloop_command_config *config) {
    *command = (struct command){
        .ended = config->ended,
        .set = -1,
        .process = {.pidfd = -1, .foreground.terminal = -1},
        .timeout_ns = config->timeout_ns,
        .output_limit_ns = config->output_limit_ns ? config->output_limit_ns : DEFAULT_OUTPUT_LIMIT_NS,
        .leads_group = config->start.group < 0,
        .input_descriptor = -1,
        .input = config->input,
        .input_left = config->input_count,
        .timeout_due_ns = RUNLOOP_NEVER,
        .output_due_ns = RUNLOOP_NEVER,
    };
    for (int i = 0; i < 2; i++)
        command->outputs[i] = (struct collected){
            .descriptor = -1, .limit = config->limit, .closes_at_limit = config->excess == RUNLOOP_COMMAND_CLOSE};
}

static int open_set(void *info) {
    struct command *command = info;
    command->set = epoll_create1(EPOLL_CLOEXEC);
    return command->set < 0 ? -errno : 0;
}

/// The same for one that a loop runs, which is an object from then on.
static int make_object(void *info) {
    struct command *command = info;
    struct object_config object = {
        .context = command->object.context, .cancel = command->object.cancel, .class = &command_class};
    int result = open_set(command);
    object.descriptor = command->set;
    return result < 0 ? result : runloop__object_begin(&command->object, &object);
}

static int watch(struct command *command, int descriptor, uint32_t events) {
    struct epoll_event event = {.events = events};
    return descriptor < 0 || epoll_ctl(command->set, EPOLL_CTL_ADD, descriptor, &event) == 0 ? 0 : -errno;
}

static int watch_all(struct command *command) {
    int result = watch(command, command->process.pidfd, EPOLLIN);
    if (result == 0)
        result = watch(command, command->input_descriptor, EPOLLOUT);
    for (int i = 0; i < 2 && result == 0; i++)
        result = watch(command, command->outputs[i].descriptor, EPOLLIN);
    return result;
}

static bool lists(const runloop_child_start_config *start, int number) {
    for (size_t i = 0; start->descriptors && i < start->descriptor_count; i++)
        if (start->descriptors[i].number == number)
            return true;
    return false;
}

/// With the descriptors that are the command's. `prepare` makes what needs one.
static int start(struct command *command, const runloop_command_config *config, int (*prepare)(void *info)) {
    runloop_child_start_config start = config->start;
    size_t count = start.descriptors ? start.descriptor_count : 0;
    runloop_child_descriptor *descriptors = calloc(count + 3, sizeof *descriptors);
    if (!descriptors)
        return -ENOMEM;
    if (count > 0)
        memcpy(descriptors, start.descriptors, count * sizeof *descriptors);
    int *ends[] = {&command->input_descriptor, &command->outputs[0].descriptor, &command->outputs[1].descriptor};
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++)
        if (!lists(&config->start, number))
            descriptors[count++] = (runloop_child_descriptor){
                .number = number,
                .kind = number > 0      ? RUNLOOP_CHILD_OUTPUT_PIPE
                        : config->input ? RUNLOOP_CHILD_INPUT_PIPE
                                        : RUNLOOP_CHILD_NULL,
                .parent_end = ends[number],
            };
    // If there are some, but no array, that is refused as ever.
    if (start.descriptors || start.descriptor_count == 0) {
        start.descriptors = descriptors;
        start.descriptor_count = count;
    }
    int result = runloop__start(&start, prepare, command, &command->process);
    free(descriptors);
    if (result < 0)
        return result;
    result = watch_all(command);
    if (result < 0) {
        runloop__start_undo(&command->process);
        command->process.pidfd = -1;
    }
    return result;
}

int runloop_command_create(const runloop_command_config *config, runloop_command **out) {
    int result = check(config, out);
    if (result < 0)
        return result;
    struct command *command = malloc(sizeof *command);
    char *input = config->input_count ? malloc(config->input_count) : NULL;
    if (!command || (config->input_count && !input)) {
        free(command);
        free(input);
        return -ENOMEM;
    }
    begin(command, config);
    if (input)
        command->input = memcpy(input, config->input, config->input_count);
    command->input_copy = input;
    command->object.context = config->context;
    command->object.cancel = config->cancel;
    result = start(command, config, make_object);
    if (result < 0 && command->object.source) {
        object_give_up(&command->object);
    } else if (result < 0) {
        discard(command);
        free(command);
    } else {
        *out = command->object.source;
    }
    return result;
}

//===-- run by a thread ----------------------------------------------------------------------------------------------===//

/// The thread is cancelled: nobody will have the process.
static void abandon(void *info) {
    struct command *command = info;
    runloop__start_undo(&command->process);
    discard(command);
}

static void wait_until(struct command *command, int64_t due_ns, int64_t now_ns) {
    struct epoll_event event;
    int64_t rest_ms = (due_ns - now_ns) / 1000000 + 1;
    int timeout = due_ns == RUNLOOP_NEVER ? -1 : rest_ms < 0 ? 0 : rest_ms > INT32_MAX ? INT32_MAX : (int)rest_ms;
    // A signal is a reason to look.
    epoll_wait(command->set, &event, 1, timeout);
}

static void run_to_end(struct command *command) {
    int cancellation, unused;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
    pthread_cleanup_push(abandon, command);
    int64_t now_ns = runloop_get_now_ns(NULL);
    command->timeout_due_ns = command->timeout_ns ? later(now_ns, command->timeout_ns) : RUNLOOP_NEVER;
    while (!runloop__command_step(command, now_ns)) {
        int64_t due_ns = runloop__command_next_due(command, now_ns);
        pthread_setcancelstate(cancellation, &unused);
        wait_until(command, due_ns, now_ns);
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &unused);
        now_ns = runloop_get_now_ns(NULL);
    }
    pthread_cleanup_pop(0);
    close(command->process.pidfd);
    pthread_setcancelstate(cancellation, &unused);
}

int runloop_command_run(const runloop_command_config *config, runloop_command_result *out) {
    int result = check(config, out);
    if (result < 0)
        return result;
    struct command command;
    begin(&command, config);
    result = start(&command, config, open_set);
    if (result == 0) {
        run_to_end(&command);
        *out = result_of(&command);
        // They are the caller's.
        for (int i = 0; i < 2; i++)
            if (command.outputs[i].count > 0)
                command.outputs[i].bytes = NULL;
    }
    discard(&command);
    return result;
}

static void free_output(runloop_command_output *output) {
    // Without a byte there is no memory of its own.
    if (output->count > 0)
        free((void *)output->bytes);
}

void runloop_command_result_free(runloop_command_result *result) {
    free_output(&result->output);
    free_output(&result->error);
    *result = (runloop_command_result){0};
}

//===-- calls --------------------------------------------------------------------------------------------------------===//

int32_t runloop_command_get_pid(runloop_command *source) {
    struct command *command = command_of(source);
    return command ? command->process.pid : 0;
}

int runloop_command_end_by(runloop_command *source, const runloop_child_step *steps, size_t count, bool of_group) {
    struct command *command = command_of(source);
    int result = runloop__ending_is_valid(steps, count) ? object_check(command) : -EINVAL;
    if (result)
        return result;
    steady_take(&command->lock);
    const struct ended_process process = process_of(command);
    result = command->has_ended ? -ESRCH : runloop__ending_begin(&command->ending, &process, steps, count, of_group);
    if (result == 0)
        runloop_source_wake(command->object.source);
    steady_give(&command->lock);
    return result;
}
#endif // __linux__
