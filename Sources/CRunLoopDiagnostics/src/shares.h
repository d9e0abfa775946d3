// shares.h — whom a loop calls most. Eight items are counted at a time, by Misra and Gries: each with more than a ninth of all calls is among
// them, and no count is too high, or too low by more than a ninth of all.
#ifndef RUNLOOP_SHARES_H
#define RUNLOOP_SHARES_H

#include "activity.h"

enum { SHARES = 8 };

struct share {
    struct callout_copy callout;
    int descriptor; ///< or -1
    uint32_t calls;
};

struct shares {
    struct share items[SHARES];
    int count;
    uint32_t calls; ///< of all items
};

/// The loop's thread: counts a call-out that begins.
void shares_add(struct shares *shares, const struct callout *callout);
/// The greatest first.
void shares_sort(struct shares *shares);
/// In percent.
int shares_percent(const struct shares *shares, const struct share *share);

#endif // RUNLOOP_SHARES_H
