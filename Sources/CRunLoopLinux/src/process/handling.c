// handling.c — which catchers have which signal of the process, and the handler.
//
// Not a signalfd: that works only if every present and future thread has blocked the signal, and programs that the process starts
// inherit blocked signals. The handler asks nothing of threads, and exec removes it. It may interrupt anything, this file too, on several threads
// at once: it takes no lock and frees nothing.

#ifdef __linux__
#include "process/handling.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "process/catcher.h"
#include "process/dispatch.h"
#include "process/signal_notes.h"
#include "runloop.h"

enum { FOR_EVER, ONCE, SPENT };

/// What a signal did before it was caught.
struct former {
    struct sigaction action; ///< complete before the handler is installed; changed only while it is not installed
    /// The handler that is called as well, of one of the two kinds, or NULL. They outlive the catching, for handlers that run late.
    _Atomic(void (*)(int, siginfo_t *, void *)) informed;
    _Atomic(void (*)(int)) plain;
    /// SA_RESETHAND: it is called once, and then the default action takes its place.
    _Atomic int lifetime;
};

struct steady_lock runloop__handling_lock;

/// Set before the first handler is installed.
static _Atomic(deliver_function *) deliver;

/// Everything but `generation`, `process` and the handlers in `formers` is guarded by the lock.
static struct {
    /// The process whose signals these are: the core's generation, which each forked child changes, even one that has the pid of its parent in a
    /// namespace of its own; and the pid, which is another one in a child that has the memory of its parent, the generation too (vfork).
    _Atomic uint32_t generation;
    _Atomic pid_t process;
    unsigned catchers[LAST_SIGNAL + 1]; ///< how many there are for each signal
    unsigned forces[LAST_SIGNAL + 1];   ///< how many of these catch it even if it is ignored
    void *shares[LAST_SIGNAL + 1];      ///< a source of libdispatch's that notices the signal in our place
    struct former formers[LAST_SIGNAL + 1];
} table;

//===-- the handler --------------------------------------------------------------------------------------------------===//

/// What the former handling is by now.
static struct sigaction former_action(const struct former *former) {
    struct sigaction action = former->action;
    if (atomic_load(&former->lifetime) == SPENT)
        action.sa_handler = SIG_DFL;
    return action;
}

/// Its mask and SA_NODEFER are those of the handler that calls it: see `install`.
static bool call_handler(const struct former *former, int number, siginfo_t *info, void *context) {
    void (*informed)(int, siginfo_t *, void *) = atomic_load(&former->informed);
    void (*plain)(int) = atomic_load(&former->plain);
    if (informed)
        informed(number, info, context);
    else if (plain)
        plain(number);
    return informed || plain;
}

static void call_former(int number, siginfo_t *info, void *context) {
    struct former *former = &table.formers[number];
    int lifetime = ONCE;
    if (atomic_compare_exchange_strong(&former->lifetime, &lifetime, SPENT) || lifetime == FOR_EVER)
        call_handler(former, number, info, context);
}

/// In a process that was forked, and in one that shares the memory of its parent for a while (vfork), so it changes nothing in memory.
static void give_back(int number, pid_t process, siginfo_t *info, void *context) {
    const struct former *former = &table.formers[number];
    struct sigaction action = former_action(former);
    int lifetime = atomic_load(&former->lifetime);
    if (lifetime == ONCE)
        action.sa_handler = SIG_DFL;
    sigaction(number, &action, NULL);
    // Without a handler, the signal takes effect when this handler returns.
    if (lifetime == SPENT || !call_handler(former, number, info, context))
        kill(process, number);
}

static __attribute__((noinline)) void receive(int number, siginfo_t *info, void *context) {
    pid_t process = getpid();
    uint32_t generation = runloop_fork_generation();
    if (atomic_load(&table.generation) != generation || atomic_load(&table.process) != process) {
        give_back(number, process, info, context);
        return;
    }
    const struct catcher_record record = runloop__catcher_record_of(number, info);
    // Loaded in a statement of its own: gcc calls through an atomic pointer by a plain read.
    deliver_function *function = atomic_load(&deliver);
    function(generation, &record);
    // Last, because it need not return.
    call_former(number, info, context);
}

static __attribute__((noinline)) void receive_number(int number) {
    siginfo_t none = {.si_signo = number, .si_code = SI_KERNEL};
    receive(number, &none, NULL);
}

/// Urgent data have another cause: by a timer's signal the Swift products check whether their thread is stuck.
static bool is_busy_check(int number, const siginfo_t *info) {
    return number == SIGURG && info->si_code == SI_TIMER;
}

/// Where the kernel passes the number alone, an x86 of 32 bits has saved registers in the place of the other arguments. So these must not be
/// changed then, and a compiler keeps in the place of an argument what it makes of it: hence two calls that share nothing.
static void handle(int number, siginfo_t *info, void *context) {
    int saved = errno;
    if (!runloop__signal_has_info(number))
        receive_number(number);
    else if (is_busy_check(number, info))
        call_former(number, info, context);
    else
        receive(number, info, context);
    errno = saved;
}

//===-- the handling of signals --------------------------------------------------------------------------------------===//

/// Also without its flags: see has_info.
static bool is_ours(const struct sigaction *action) {
    return action->sa_sigaction == handle;
}

/// libdispatch's thread: so many arrivals, of which nothing else is known.
static void receive_shared(int number, unsigned long count) {
    const struct catcher_record record = {.number = number};
    deliver_function *function = atomic_load(&deliver);
    for (unsigned long i = 0; i < count; i++)
        function(runloop_fork_generation(), &record);
}

/// Where libdispatch catches the signal, it reads it from a signalfd, and we hear of it through libdispatch: a handler of ours would win the
/// race for the signal now and then.
HOLDS_LOCK static bool share(int number, const struct sigaction *action) {
    if (!table.shares[number] && runloop__dispatch_handles(action))
        table.shares[number] = runloop__dispatch_share(number, receive_shared);
    return table.shares[number];
}

HOLDS_LOCK static int install(int number) {
    ASSERT_HOLDS(&runloop__handling_lock.lock);
    struct former *former = &table.formers[number];
    struct sigaction action;
    if (sigaction(number, NULL, &action))
        return -errno;
    if (share(number, &action))
        return 0;
    // If somebody saved our handler and put it back, what was known before is still right.
    if (!is_ours(&action)) {
        bool is_function = action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
        former->action = action;
        atomic_store(&former->informed, is_function && (action.sa_flags & SA_SIGINFO) ? action.sa_sigaction : NULL);
        atomic_store(&former->plain, is_function && !(action.sa_flags & SA_SIGINFO) ? action.sa_handler : NULL);
        atomic_store(&former->lifetime, is_function && (action.sa_flags & SA_RESETHAND) ? ONCE : FOR_EVER);
    }
    // SA_ONSTACK: some languages have threads whose own stack is too small.
    struct sigaction ours = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    // Children that the kernel reaps must not become zombies because somebody counts signals.
    ours.sa_flags |= former->action.sa_flags & (SA_NOCLDSTOP | SA_NOCLDWAIT);
    if (number == SIGCHLD && former->action.sa_handler == SIG_IGN)
        ours.sa_flags |= SA_NOCLDWAIT;
    // A handler that is called as well relies on what is blocked meanwhile.
    sigemptyset(&ours.sa_mask);
    if (atomic_load(&former->informed) || atomic_load(&former->plain)) {
        ours.sa_mask = former->action.sa_mask;
        ours.sa_flags |= former->action.sa_flags & SA_NODEFER;
    }
    return sigaction(number, &ours, NULL) ? -errno : 0;
}

/// Leaves alone what others have installed since.
HOLDS_LOCK static void restore(int number) {
    if (table.shares[number])
        runloop__dispatch_end_share(table.shares[number]);
    table.shares[number] = NULL;
    struct sigaction action, former = former_action(&table.formers[number]);
    if (sigaction(number, NULL, &action) == 0 && is_ours(&action))
        sigaction(number, &former, NULL);
}

HOLDS_LOCK uint64_t runloop__handling_without_ignored(uint64_t signals, unsigned flags) {
    ASSERT_HOLDS(&runloop__handling_lock.lock);
    struct sigaction action;
    for (int number = 1; number <= LAST_SIGNAL && !(flags & CATCHER_FORCES); number++)
        if ((signals & catcher_bit(number)) && !table.catchers[number] && sigaction(number, NULL, &action) == 0 &&
            action.sa_handler == SIG_IGN)
            signals &= ~catcher_bit(number);
    return signals;
}

uint32_t runloop__handling_generation(void) {
    return atomic_load(&table.generation);
}

/// In a forked child, what the parent caught has its former effect again.
HOLDS_LOCK void runloop__handling_begin_process(void) {
    ASSERT_HOLDS(&runloop__handling_lock.lock);
    uint32_t generation = runloop_fork_generation();
    pid_t process = getpid();
    if (atomic_load(&table.generation) == generation && atomic_load(&table.process) == process)
        return;
    for (int number = 1; number <= LAST_SIGNAL; number++) {
        table.shares[number] = NULL;
        if (table.catchers[number])
            restore(number);
        table.catchers[number] = table.forces[number] = 0;
    }
    atomic_store(&table.process, process);
    atomic_store(&table.generation, generation);
}

HOLDS_LOCK void runloop__handling_end(uint64_t signals, unsigned flags) {
    ASSERT_HOLDS(&runloop__handling_lock.lock);
    for (int number = 1; number <= LAST_SIGNAL; number++) {
        if (!(signals & catcher_bit(number)))
            continue;
        table.forces[number] -= (flags & CATCHER_FORCES) != 0;
        if (--table.catchers[number] == 0)
            restore(number);
    }
}

HOLDS_LOCK int runloop__handling_begin(uint64_t signals, unsigned flags, deliver_function *function) {
    atomic_store(&deliver, function);
    for (int number = 1; number <= LAST_SIGNAL; number++) {
        if (!(signals & catcher_bit(number)))
            continue;
        int result = table.catchers[number] ? 0 : install(number);
        if (result < 0) {
            runloop__handling_end(signals & (catcher_bit(number) - 1), flags);
            return result;
        }
        table.catchers[number]++;
        table.forces[number] += (flags & CATCHER_FORCES) != 0;
    }
    return 0;
}

/// Is the handler of a signal that is caught somebody else's by now, and can't that be mended?
HOLDS_LOCK static bool is_taken(int number) {
    struct sigaction action;
    if (table.shares[number] || sigaction(number, NULL, &action) || is_ours(&action) || share(number, &action))
        return false;
    if (action.sa_handler == SIG_IGN && table.forces[number])
        return install(number) < 0;
    return true;
}

void runloop__catchers_check(void) {
    uint64_t taken = 0, caught = 0;
    steady_take(&runloop__handling_lock);
    runloop__handling_begin_process();
    for (int number = 1; number <= LAST_SIGNAL; number++) {
        if (!table.catchers[number])
            continue;
        caught |= table.shares[number] ? 0 : catcher_bit(number);
        taken |= is_taken(number) ? catcher_bit(number) : 0;
    }
    steady_give(&runloop__handling_lock);
    runloop__note_taken(taken);
    runloop__note_blocked(caught & ~taken);
}

bool runloop__signal_is_shared(int number) {
    steady_take(&runloop__handling_lock);
    bool is_shared = table.shares[number];
    steady_give(&runloop__handling_lock);
    return is_shared;
}

uint64_t runloop__signals_caught(uint64_t signals) {
    struct sigaction action;
    for (int number = 1; number <= LAST_SIGNAL; number++)
        if ((signals & catcher_bit(number)) && !runloop__signal_is_shared(number) &&
            !(sigaction(number, NULL, &action) == 0 && is_ours(&action)))
            signals &= ~catcher_bit(number);
    return signals;
}
#endif // __linux__
