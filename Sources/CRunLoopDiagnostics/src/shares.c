// shares.c — counting with a fixed number of places.

#include "shares.h"

static void enter(struct shares *shares, const struct callout *callout) {
    struct share *share = &shares->items[shares->count++];
    callout_copy(callout, &share->callout);
    bool has_descriptor = share->callout.kind == RUNLOOP_CALLOUT_DESCRIPTOR_SOURCE;
    void *source = (void *)(uintptr_t)share->callout.object;
    share->descriptor = has_descriptor ? runloop_source_get_descriptor(source) : -1;
    share->calls = 1;
}

/// No place is free: a call of each item that has one, and this one, cancel each other out.
static void cancel_out(struct shares *shares) {
    int left = 0;
    for (int i = 0; i < shares->count; i++) {
        if (--shares->items[i].calls > 0)
            shares->items[left++] = shares->items[i];
    }
    shares->count = left;
}

void shares_add(struct shares *shares, const struct callout *callout) {
    const void *object = atomic_load_explicit(&callout->object, memory_order_relaxed);
    int kind = atomic_load_explicit(&callout->kind, memory_order_relaxed);
    shares->calls++;
    for (int i = 0; i < shares->count; i++) {
        if (shares->items[i].callout.object == object && shares->items[i].callout.kind == kind) {
            shares->items[i].calls++;
            return;
        }
    }
    if (shares->count < SHARES)
        enter(shares, callout);
    else
        cancel_out(shares);
}

void shares_sort(struct shares *shares) {
    for (int i = 1; i < shares->count; i++) {
        for (int j = i; j > 0 && shares->items[j].calls > shares->items[j - 1].calls; j--) {
            struct share share = shares->items[j];
            shares->items[j] = shares->items[j - 1];
            shares->items[j - 1] = share;
        }
    }
}

int shares_percent(const struct shares *shares, const struct share *share) {
    return (int)(((uint64_t)share->calls * 100 + shares->calls / 2) / shares->calls);
}
