// attendant.h — the thread of the process that looks at loops from outside, as long as there is something to look at.
#ifndef RUNLOOP_ATTENDANT_H
#define RUNLOOP_ATTENDANT_H

#include "followed.h"
#include "publication.h"
#include "runloop_diagnostics.h"
#include "watch.h"

/// Any thread: makes the thread run, and keeps it. 0, -ENOMEM, -EMFILE, -EAGAIN. The thread gives it back when what it was for is over.
int attendant_engage(void);
/// Any thread: lets the thread look now. Async-signal-safe.
void attendant_wake(void);
/// Any thread: a loop that is followed is among those that are reported on, until its end.
void attendant_list(struct followed *followed);
/// The loop's thread, at its end.
void attendant_unlist(struct followed *followed);
/// Any thread: the followed loops, retained, and NULL after the last, from malloc. NULL: memory ran out.
runloop **attendant_copy_loops(void);
/// Any thread: from now on the attendant calls this for each form of reports that is wanted. As attendant_engage; once per process.
int attendant_serve_reports(void (*write_reports)(runloop_report_form form));
/// The attendant is to write the reports on all loops. Async-signal-safe.
void attendant_want_reports(runloop_report_form form);
/// Any thread: as attendant_engage, and nobody else publishes. -EBUSY: somebody does. attendant_publish follows.
int attendant_reserve_publication(void);
/// The same thread, next: hands it over, to be served; NULL gives the reservation back.
void attendant_publish(struct publication *publication);
/// Any thread: withdraws what is published, if anything is.
void attendant_unpublish(void);
/// Any thread that has engaged it for this watch: hands the watch over.
void attendant_give_watch(struct watch *watch);

#endif // RUNLOOP_ATTENDANT_H
