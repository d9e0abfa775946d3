// ending.c — a process is ended by signals, each some time after the one before.

#ifdef __linux__
#include "process/ending.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "process/catcher.h"
#include "process/pidfd.h"

static int send(const struct ended_process *process, int32_t number, bool to_group) {
    if (!to_group)
        return pidfd_signal(process->pidfd, number);
    return kill(-process->pid, number) < 0 ? -errno : 0;
}

/// A process that is stopped, by SIGTTIN in the background for instance, gets no other signal than SIGKILL before it goes on.
static bool needs_running_process(int32_t number) {
    static const int others[] = {SIGKILL, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (number == others[i])
            return false;
    return true;
}

static int send_step(const struct ended_process *process, int32_t number, bool to_group) {
    int result = send(process, number, to_group);
    if (result == 0 && needs_running_process(number))
        send(process, SIGCONT, to_group);
    return result;
}

bool runloop__ending_is_valid(const runloop_child_step *steps, size_t count) {
    if (!steps || count == 0 || count > MOST_STEPS)
        return false;
    for (size_t i = 0; i < count; i++)
        if (steps[i].signal <= 0 || steps[i].signal > LAST_SIGNAL || steps[i].pause_ns < 0)
            return false;
    return true;
}

int runloop__ending_begin(struct ending *ending, const struct ended_process *process, const runloop_child_step *steps,
                          size_t count, bool of_group) {
    // Somebody else, or the kernel, may have reaped it: then its number is not its own any more.
    if (of_group && pidfd_signal(process->pidfd, 0) == -ESRCH)
        return -ESRCH;
    if (of_group && (!process->is_ours || process->pid == 0 || getpgid(process->pid) != process->pid))
        return -EINVAL;
    int result = send_step(process, steps[0].signal, of_group);
    if (result < 0)
        return result;
    *ending = (struct ending){.count = count, .next = 1, .of_group = of_group, .due_ns = RUNLOOP_NEVER};
    memcpy(ending->steps, steps, count * sizeof *steps);
    return 0;
}

/// A pause without an end has one, too: no instant is one whose pause has not begun.
static int64_t end_of_pause(int64_t now_ns, int64_t pause_ns) {
    int64_t instant_ns;
    if (__builtin_add_overflow(now_ns, pause_ns, &instant_ns) || instant_ns == RUNLOOP_NEVER)
        return RUNLOOP_NEVER - 1;
    return instant_ns;
}

int64_t runloop__ending_go_on(struct ending *ending, const struct ended_process *process, int64_t now_ns) {
    if (ending->next == ending->count)
        return RUNLOOP_NEVER;
    if (ending->due_ns <= now_ns) {
        // A process that may not be signalled is not an error here: its owner awaits the end, and the next signal may do.
        send_step(process, ending->steps[ending->next++].signal, ending->of_group);
        ending->due_ns = RUNLOOP_NEVER;
    }
    if (ending->next < ending->count && ending->due_ns == RUNLOOP_NEVER)
        ending->due_ns = end_of_pause(now_ns, ending->steps[ending->next - 1].pause_ns);
    return ending->due_ns;
}
#endif // __linux__
