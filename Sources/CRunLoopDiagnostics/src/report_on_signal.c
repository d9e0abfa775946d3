// report_on_signal.c — a signal to the process asks for reports; its handler only passes that on.

#ifdef __linux__
#include <signal.h>

#include "attendant.h"
#include "reports.h"

static _Atomic int forms[_NSIG];

static void pass_on(int number) {
    attendant_want_reports((runloop_report_form)forms[number]);
}

/// What was there before, too. Does nothing if the handler is there already.
static int install(int number, struct sigaction *before) {
    struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, before))
        return -errno;
    if (before->sa_handler == pass_on)
        return 0;
    if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
        return -EBUSY;
    return sigaction(number, &action, NULL) ? -errno : 0;
}

static int start(void) {
    int error = attendant_serve_reports(reports_write);
    return error ? error : followed_start_reports();
}

int runloop_report_on_signal(int number, runloop_report_form form) {
    if (number < 1 || number >= _NSIG || form < RUNLOOP_REPORT_TEXT || form > RUNLOOP_REPORT_STACK)
        return -EINVAL;
    // The signal first: what is started for it stays.
    struct sigaction before;
    int form_before = atomic_exchange(&forms[number], (int)form);
    int error = install(number, &before);
    if (!error && (error = start()))
        sigaction(number, &before, NULL);
    if (error)
        forms[number] = form_before;
    return error;
}
#endif // __linux__
