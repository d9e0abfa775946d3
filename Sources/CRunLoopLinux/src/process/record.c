// record.c — what the kernel says of a signal, as a record. For the handler: nothing but system calls.

#ifdef __linux__
#include <signal.h>

#include "process/catcher.h"

/// The pointer or the int that was sent. Where the first byte of a number is the highest, an int is the upper half of the pointer, if its sender
/// has cleared the rest, and a pointer whose lower half is 0 looks the same.
static int64_t value_of(union sigval sent) {
    uint64_t value = (uintptr_t)sent.sival_ptr;
    bool is_upper_half = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ && sizeof sent.sival_int < sizeof sent.sival_ptr;
    return (int64_t)(is_upper_half && (uint32_t)value == 0 ? value >> 32 : value);
}

/// Other codes use the same bytes of siginfo_t for something else.
struct catcher_record runloop__catcher_record_of(int number, const siginfo_t *info) {
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

/// A library that saved this handler and put it back with `signal` has dropped its flags; then the kernel passes nothing but the number.
bool runloop__signal_has_info(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && (action.sa_flags & SA_SIGINFO);
}
#endif // __linux__
