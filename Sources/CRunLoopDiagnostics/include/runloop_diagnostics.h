// runloop_diagnostics.h — what loops do and have, to look at: statistics, traces, reports, a watchdog. The header of
// librunloop-diagnostics, built on the public interface of librunloop (runloop_inspect.h), whose general rules hold here too. Nothing of it
// costs anything before it is started for a loop.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_DIAGNOSTICS_H
#define RUNLOOP_DIAGNOSTICS_H
#ifdef __linux__
#include "runloop_code.h"
#include "runloop_publish.h"
#include "runloop_recorder.h"
#include "runloop_report.h"
#include "runloop_statistics.h"
#include "runloop_watchdog.h"
#endif // __linux__
#endif // RUNLOOP_DIAGNOSTICS_H
