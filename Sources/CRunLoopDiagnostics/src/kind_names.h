// kind_names.h — the words for kinds of items and of call-outs, in every text that this library writes.
#ifndef RUNLOOP_KIND_NAMES_H
#define RUNLOOP_KIND_NAMES_H

#include <stddef.h>

/// By runloop_item_kind, and by RUNLOOP_CALLOUT_….
extern const char *const item_kind_names[], *const callout_kind_names[];

/// A call-out as the part of a sentence: "the timer “main.c:12”", or "a task without a name".
void write_callout(char *text, size_t size, int kind, const char *name);

#endif // RUNLOOP_KIND_NAMES_H
