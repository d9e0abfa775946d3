// internal.h — the structures of the core, who guards each field, and the few functions that cross rooms.
//
// Guards named at the fields:
//   lock       the loop's one lock; taken for a few instructions, never while user code runs
//   thread     only the loop's own thread touches it
//   atomic     see the comment at its room for the ordering and the partner
//   constant   written before the object is published, never after
//
// Locks are taken in this order: a loop's lock, then an item's owner word or a source's chain. Two loops' locks are never
// held together, and the registry's lock is never held with another.
#ifndef RUNLOOP_INTERNAL_H
#define RUNLOOP_INTERNAL_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "list.h"
#include "lock.h"
#include "runloop.h"
#include "runloop_overlay.h"

struct mode;
struct port;
struct run;
struct post;
struct binding;

#if defined(__GNUC__) && !defined(RUNLOOP_DYNAMIC_TLS)
#define FAST_TLS __attribute__((tls_model("initial-exec")))
#else
#define FAST_TLS
#endif

/// Rarely needed, and so not to make its caller larger.
#define RUNLOOP__COLD __attribute__((noinline, cold, unused))

// Each builds on those before it.
// clang-format off
#include "item.h"
#include "mode.h"
#include "source.h"
#include "timer.h"
#include "observer.h"
#include "loop.h"
#include "run.h"
// clang-format on

#endif // RUNLOOP_INTERNAL_H
