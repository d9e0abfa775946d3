// command_steps.c — one step of a command: its input is fed, its outputs are read, its end and its limits are seen.

#ifdef __linux__
#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <unistd.h>

#include "commands/command.h"
#include "process/pidfd.h"
#include "streams/sink.h"

static const runloop_child_step default_steps[] = {{SIGTERM, INT64_C(5000000000)}, {SIGKILL, 0}};

//===-- its pipes ----------------------------------------------------------------------------------------------------===//

/// Is this a forked child, which has the same set as its parent?
static bool is_inherited(const struct command *command) {
    return command->object.source && object_is_inherited(&command->object);
}

static void unwatch(const struct command *command, int descriptor) {
    if (command->set >= 0 && !is_inherited(command))
        epoll_ctl(command->set, EPOLL_CTL_DEL, descriptor, NULL);
}

/// A forked child may have a copy of the descriptor, so that it would remain in the set.
static void close_pipe(struct command *command, int *descriptor) {
    if (*descriptor < 0)
        return;
    unwatch(command, *descriptor);
    close(*descriptor);
    *descriptor = -1;
}

void runloop__command_close_pipes(struct command *command) {
    close_pipe(command, &command->input_descriptor);
    for (int i = 0; i < 2; i++)
        close_pipe(command, &command->outputs[i].descriptor);
}

static void feed(struct command *command) {
    const struct sink sink = {.descriptor = command->input_descriptor, .is_pipe = true};
    while (command->input_left > 0) {
        struct iovec piece = {.iov_base = (void *)command->input, .iov_len = command->input_left};
        ptrdiff_t count = runloop__sink_write(&sink, &piece, 1);
        if (count == 0)
            return;
        // It reads no more.
        if (count < 0)
            break;
        command->input += count;
        command->input_left -= (size_t)count;
    }
    close_pipe(command, &command->input_descriptor);
}

//===-- what is to do ------------------------------------------------------------------------------------------------===//

/// Others may have its pipes still. Its pidfd is readable from now on, for ever.
static void note_end(struct command *command, int64_t now_ns) {
    command->has_ended = true;
    unwatch(command, command->process.pidfd);
    command->timeout_due_ns = RUNLOOP_NEVER;
    command->output_due_ns = later(now_ns, command->output_limit_ns);
    runloop__foreground_end(&command->process.foreground);
    close_pipe(command, &command->input_descriptor);
}

/// Someone else's signals go on, if it is ended already.
static void time_out(struct command *command) {
    const struct ended_process process = process_of(command);
    command->timeout_due_ns = RUNLOOP_NEVER;
    command->timed_out = true;
    bool of_group = command->leads_group && getpgid(command->process.pid) == command->process.pid;
    if (command->ending.count == 0)
        runloop__ending_begin(&command->ending, &process, default_steps, 2, of_group);
}

bool runloop__command_step(struct command *command, int64_t now_ns) {
    if (command->input_descriptor >= 0)
        feed(command);
    // Before the outputs: what it has written is there.
    if (!command->has_ended && runloop__child_take_exit(command->process.pidfd, true, &command->exit))
        note_end(command, now_ns);
    for (int i = 0; i < 2; i++)
        if (command->outputs[i].descriptor >= 0 && runloop__collected_read(&command->outputs[i]))
            close_pipe(command, &command->outputs[i].descriptor);
    if (command->output_due_ns <= now_ns)
        for (int i = 0; i < 2; i++)
            if (command->outputs[i].descriptor >= 0) {
                runloop__collected_cut_off(&command->outputs[i]);
                close_pipe(command, &command->outputs[i].descriptor);
            }
    if (command->timeout_due_ns <= now_ns)
        time_out(command);
    return command->has_ended && !has_output(command);
}

int64_t runloop__command_next_due(struct command *command, int64_t now_ns) {
    if (command->has_ended)
        return command->output_due_ns;
    const struct ended_process process = process_of(command);
    int64_t due_ns = runloop__ending_go_on(&command->ending, &process, now_ns);
    return due_ns < command->timeout_due_ns ? due_ns : command->timeout_due_ns;
}
#endif // __linux__
