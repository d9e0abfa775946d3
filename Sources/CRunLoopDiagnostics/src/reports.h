// reports.h — the reports on all loops that are followed, as the attendant makes them on request.
#ifndef RUNLOOP_REPORTS_H
#define RUNLOOP_REPORTS_H

#include "runloop_report.h"

/// Writes them to standard error.
void reports_write(runloop_report_form form);
/// As one array of JSON, from malloc. NULL when memory ran out.
char *reports_copy(void);

#endif // RUNLOOP_REPORTS_H
