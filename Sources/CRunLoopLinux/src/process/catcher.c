// catcher.c — who catches which signal of the process, and the handler.
//
// Not a signalfd: that works only if every present and future thread has blocked the signal, and programs that the process starts
// inherit blocked signals. The handler asks nothing of threads, and exec removes it.
//
// The handler may interrupt anything, this file too, on several threads at once. It takes no lock and frees nothing. It walks a list of
// catchers that only grows; a catcher that has ended is used again. So that it never writes to a descriptor that was closed, it enters a
// catcher before it uses it: `users` counts the owner and the handlers inside, and whoever leaves last after the end closes the pipe.
//
// No arrival is lost. An arrival is a record in the pipe. If the pipe is full, it is counted first, and then the handler tries to write
// a record that is no arrival. If that does not fit either, the pipe is full after the counting, so a reader will still read a record,
// and take the count after that.

#ifdef __linux__
#include "process/catcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/lock.h"
#include "runloop_signal.h"

/// In `users`: it has ended, so no handler enters; it may be used again.
enum { ENDED = 1 << 30, IDLE = 1 << 29 };

struct catcher {
    struct catcher *next; ///< constant
    /// The owner and the handlers inside, or ENDED and those that are still inside, or IDLE. Opened with release, entered with acquire: a
    /// handler that is inside sees the fields below.
    _Atomic uint32_t users;
    // Constant while it is open: what is caught and how, and the pipe.
    uint64_t signals;
    /// The process that made the pipe. A forked child has the same pipe, and its signals are not the parent's.
    uint32_t generation;
    int reader, writer;
    unsigned flags;
    /// Arrivals that did not fit in the pipe.
    _Atomic uint64_t unrecorded;
    /// When the first signal arrived, for CATCHER_ONCE. 0: none has.
    _Atomic int64_t first_ns;
};

/// The newest catcher, from which all others are found. Stored with release, once each is complete.
static _Atomic(struct catcher *) newest;

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

/// Everything but `generation`, `process` and the handlers in `formers` is guarded by `lock`.
static struct {
    struct steady_lock lock;
    /// The process whose signals these are: the core's generation, which each forked child changes, even one that has the pid of its parent in a
    /// namespace of its own; and the pid, which is another one in a child that has the memory of its parent, the generation too (vfork).
    _Atomic uint32_t generation;
    _Atomic pid_t process;
    unsigned catchers[LAST_SIGNAL + 1]; ///< how many there are for each signal
    struct former formers[LAST_SIGNAL + 1];
} table;

//===-- the handler --------------------------------------------------------------------------------------------------===//

static bool enter(struct catcher *catcher) {
    uint32_t users = atomic_load_explicit(&catcher->users, memory_order_relaxed);
    while (!(users & (ENDED | IDLE)))
        if (atomic_compare_exchange_weak_explicit(&catcher->users, &users, users + 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    return false;
}

/// The release orders what the caller did before the closing; the acquire, the closing after what others did.
static void leave(struct catcher *catcher) {
    if (atomic_fetch_sub_explicit(&catcher->users, 1, memory_order_acq_rel) != (ENDED | 1))
        return;
    // As `put`.
    syscall(SYS_close, catcher->reader);
    syscall(SYS_close, catcher->writer);
    atomic_store_explicit(&catcher->users, IDLE, memory_order_release);
}

/// Is it the first arrival at a catcher that records only one? Ends the process for one that is neither the first nor belongs to it.
static bool is_first(struct catcher *catcher, const struct catcher_record *record) {
    int64_t now = runloop_get_now_ns(NULL), first = 0;
    if (atomic_compare_exchange_strong(&catcher->first_ns, &first, now))
        return true;
    if (now - first > CATCHER_GRACE_NS || record->code == SI_TIMER)
        runloop_end_process_by_signal(record->number);
    return false;
}

/// Does not block. Not the function of the C library, in which a thread that is to be cancelled would end, inside the handler.
static bool put(struct catcher *catcher, const struct catcher_record *record) {
    return syscall(SYS_write, catcher->writer, record, sizeof *record) == (long)sizeof *record;
}

static void deliver(struct catcher *catcher, const struct catcher_record *record) {
    if ((catcher->flags & CATCHER_ONCE) && !is_first(catcher, record))
        return;
    if (put(catcher, record))
        return;
    atomic_fetch_add(&catcher->unrecorded, 1);
    const struct catcher_record look = {0};
    put(catcher, &look);
}

/// The pointer or the int that was sent. Where the first byte of a number is the highest, an int is the upper half of the pointer, if its sender
/// has cleared the rest, and a pointer whose lower half is 0 looks the same.
static int64_t value_of(union sigval sent) {
    uint64_t value = (uintptr_t)sent.sival_ptr;
    bool is_upper_half = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ && sizeof sent.sival_int < sizeof sent.sival_ptr;
    return (int64_t)(is_upper_half && (uint32_t)value == 0 ? value >> 32 : value);
}

/// Other codes use the same bytes of siginfo_t for something else.
static struct catcher_record record_of(int number, const siginfo_t *info) {
    struct catcher_record record = {.number = number, .code = info->si_code};
    bool has_sender = info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL ||
                      info->si_code == SI_MESGQ || (number == SIGCHLD && info->si_code > 0);
    if (has_sender) {
        record.pid = info->si_pid;
        record.uid = info->si_uid;
    }
    if (info->si_code == SI_QUEUE || info->si_code == SI_TIMER || info->si_code == SI_MESGQ)
        record.value = value_of(info->si_value);
    return record;
}

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

/// A library that saved this handler and put it back with `signal` has dropped its flags; then the kernel passes nothing but the number.
static bool has_info(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && (action.sa_flags & SA_SIGINFO);
}

static __attribute__((noinline)) void receive(int number, siginfo_t *info, void *context) {
    pid_t process = getpid();
    uint32_t generation = runloop_fork_generation();
    if (atomic_load(&table.generation) != generation || atomic_load(&table.process) != process) {
        give_back(number, process, info, context);
        return;
    }
    struct catcher_record record = record_of(number, info);
    for (struct catcher *catcher = atomic_load_explicit(&newest, memory_order_acquire); catcher;
         catcher = catcher->next) {
        if (!enter(catcher))
            continue;
        if (catcher->generation == generation && (catcher->signals & catcher_bit(number)))
            deliver(catcher, &record);
        leave(catcher);
    }
    // Last, because it need not return.
    call_former(number, info, context);
}

static __attribute__((noinline)) void receive_number(int number) {
    siginfo_t none = {.si_signo = number, .si_code = SI_KERNEL};
    receive(number, &none, NULL);
}

/// Where the kernel passes the number alone, an x86 of 32 bits has saved registers in the place of the other arguments. So these must not be
/// changed then, and a compiler keeps in the place of an argument what it makes of it: hence two calls that share nothing.
static void handle(int number, siginfo_t *info, void *context) {
    int saved = errno;
    if (has_info(number))
        receive(number, info, context);
    else
        receive_number(number);
    errno = saved;
}

//===-- the handling of signals --------------------------------------------------------------------------------------===//

/// Also without its flags: see has_info.
static bool is_ours(const struct sigaction *action) {
    return action->sa_sigaction == handle;
}

HOLDS_LOCK static int install(int number) {
    ASSERT_HOLDS(&table.lock.lock);
    struct former *former = &table.formers[number];
    struct sigaction action;
    if (sigaction(number, NULL, &action))
        return -errno;
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
    struct sigaction action, former = former_action(&table.formers[number]);
    if (sigaction(number, NULL, &action) == 0 && is_ours(&action))
        sigaction(number, &former, NULL);
}

static bool is_ignored(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// In a forked child, what the parent caught has its former effect again.
HOLDS_LOCK static void begin_process(void) {
    ASSERT_HOLDS(&table.lock.lock);
    uint32_t generation = runloop_fork_generation();
    pid_t process = getpid();
    if (atomic_load(&table.generation) == generation && atomic_load(&table.process) == process)
        return;
    for (int number = 1; number <= LAST_SIGNAL; number++) {
        if (table.catchers[number])
            restore(number);
        table.catchers[number] = 0;
    }
    atomic_store(&table.process, process);
    atomic_store(&table.generation, generation);
}

HOLDS_LOCK static void end_catching(uint64_t signals) {
    ASSERT_HOLDS(&table.lock.lock);
    for (int number = 1; number <= LAST_SIGNAL; number++)
        if ((signals & catcher_bit(number)) && --table.catchers[number] == 0)
            restore(number);
}

HOLDS_LOCK static int begin_catching(uint64_t signals) {
    for (int number = 1; number <= LAST_SIGNAL; number++) {
        if (!(signals & catcher_bit(number)))
            continue;
        int result = table.catchers[number] ? 0 : install(number);
        if (result < 0) {
            end_catching(signals & (catcher_bit(number) - 1));
            return result;
        }
        table.catchers[number]++;
    }
    return 0;
}

//===-- the life of a catcher ----------------------------------------------------------------------------------------===//

/// An idle one, or a new one that is idle.
HOLDS_LOCK static struct catcher *idle_catcher(void) {
    for (struct catcher *catcher = newest; catcher; catcher = catcher->next)
        if (atomic_load_explicit(&catcher->users, memory_order_acquire) == IDLE)
            return catcher;
    struct catcher *catcher = calloc(1, sizeof *catcher);
    if (!catcher)
        return NULL;
    catcher->next = newest;
    atomic_init(&catcher->users, IDLE);
    atomic_store_explicit(&newest, catcher, memory_order_release);
    return catcher;
}

HOLDS_LOCK static int open_catcher(uint64_t signals, unsigned flags, struct catcher **out) {
    ASSERT_HOLDS(&table.lock.lock);
    int ends[2];
    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC))
        return -errno;
    struct catcher *catcher = idle_catcher();
    if (!catcher) {
        close(ends[0]);
        close(ends[1]);
        return -ENOMEM;
    }
    catcher->signals = signals;
    catcher->flags = flags;
    catcher->generation = atomic_load(&table.generation);
    catcher->reader = ends[0];
    catcher->writer = ends[1];
    atomic_store(&catcher->unrecorded, 0);
    atomic_store(&catcher->first_ns, 0);
    // Before the first signal is caught, or one could be lost.
    atomic_store_explicit(&catcher->users, 1, memory_order_release);
    *out = catcher;
    return 0;
}

int runloop__catcher_open(uint64_t signals, unsigned flags, struct catcher **out) {
    uint64_t wanted = signals;
    steady_take(&table.lock);
    begin_process();
    for (int number = 1; number <= LAST_SIGNAL && !(flags & CATCHER_FORCES); number++)
        if ((signals & catcher_bit(number)) && !table.catchers[number] && is_ignored(number))
            signals &= ~catcher_bit(number);
    int result = open_catcher(signals, flags, out);
    if (result == 0 && (result = begin_catching(signals)) < 0) {
        atomic_fetch_or(&(*out)->users, ENDED);
        leave(*out);
    }
    steady_give(&table.lock);
    if (result == 0 && !signals)
        runloop__note_ignored(wanted);
    return result;
}

HOLDS_LOCK static void end(struct catcher *catcher) {
    if (atomic_load(&catcher->users) & ENDED)
        return;
    // An inherited one is not counted here.
    if (catcher->generation == atomic_load(&table.generation) && catcher->generation == runloop_fork_generation())
        end_catching(catcher->signals);
    atomic_fetch_or(&catcher->users, ENDED);
}

void runloop__catcher_end(struct catcher *catcher) {
    steady_take(&table.lock);
    end(catcher);
    steady_give(&table.lock);
}

void runloop__catcher_release(struct catcher *catcher) {
    runloop__catcher_end(catcher);
    leave(catcher);
}

//===-- reading ------------------------------------------------------------------------------------------------------===//

int runloop__catcher_descriptor(const struct catcher *catcher) {
    return catcher->reader;
}

uint64_t runloop__catcher_signals(struct catcher *catcher) {
    return atomic_load(&catcher->users) & ENDED ? 0 : catcher->signals;
}

size_t runloop__catcher_read(struct catcher *catcher, struct catcher_record *records, size_t capacity) {
    long bytes;
    // As `put`: what was read before would be lost with the thread.
    do
        bytes = syscall(SYS_read, catcher->reader, records, capacity * sizeof *records);
    while (bytes < 0 && errno == EINTR);
    return bytes > 0 ? (size_t)bytes / sizeof *records : 0;
}

uint64_t runloop__catcher_take_unrecorded(struct catcher *catcher) {
    return atomic_exchange(&catcher->unrecorded, 0);
}
#endif // __linux__
