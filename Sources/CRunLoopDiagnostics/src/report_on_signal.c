// report_on_signal.c — a signal to the process asks for reports; its handler only passes that on.

#include <signal.h>

#include "attendant.h"
#include "reports.h"

static _Atomic int forms[_NSIG];

static void pass_on(int number) {
    attendant_want_reports((runloop_report_form)forms[number]);
}

/// Does nothing if it is there already.
static int install(int number) {
    struct sigaction before, action = {.sa_handler = pass_on, .sa_flags = SA_RESTART | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    int error = 0;
    if (sigaction(number, NULL, &before))
        error = -errno;
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN && before.sa_handler != pass_on)
        error = -EBUSY;
    else if (before.sa_handler != pass_on && sigaction(number, &action, NULL))
        error = -errno;
    return error;
}

int runloop_report_on_signal(int number, runloop_report_form form) {
    if (number < 1 || number >= _NSIG || form < RUNLOOP_REPORT_TEXT || form > RUNLOOP_REPORT_STACK)
        return -EINVAL;
    int error = followed_start_reports();
    if (!error)
        error = attendant_serve_reports(reports_write);
    if (error)
        return error;
    int before = atomic_exchange(&forms[number], (int)form);
    error = install(number);
    if (error)
        forms[number] = before;
    return error;
}
