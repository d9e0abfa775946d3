// item.c — what sources, observers and timers share: counting owners, and converting orders and descriptions for the core.

#include "loop/loop.h"
#include "strings/strings.h"

void cf__item_init(struct cf_item *item) {
    atomic_init(&item->owners, 1);
}

void cf__item_retain(struct cf_item *item) {
    atomic_fetch_add_explicit(&item->owners, 1, memory_order_relaxed);
}

bool cf__item_release(struct cf_item *item) {
    return atomic_fetch_sub_explicit(&item->owners, 1, memory_order_acq_rel) == 1;
}

int32_t cf__order(CFIndex order) {
    return order > INT32_MAX ? INT32_MAX : order < INT32_MIN ? INT32_MIN : (int32_t)order;
}

char *cf__copy_info_description(CFStringRef (*describe)(const void *info), const void *info) {
    CFStringRef description = describe ? describe(info) : NULL;
    char *text = description ? cf__string_copy_utf8(description) : NULL;
    CFRelease(description);
    return text;
}
