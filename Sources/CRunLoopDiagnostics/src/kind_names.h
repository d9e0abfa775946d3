// kind_names.h — the words for kinds of items and of call-outs, in every text that this library writes.
#ifndef RUNLOOP_KIND_NAMES_H
#define RUNLOOP_KIND_NAMES_H

/// By runloop_item_kind, and by RUNLOOP_CALLOUT_….
extern const char *const item_kind_names[], *const callout_kind_names[];

#endif // RUNLOOP_KIND_NAMES_H
