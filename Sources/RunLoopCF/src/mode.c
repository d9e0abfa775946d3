// mode.c — names of modes: string objects in this layer, text in the core.
//
// Callbacks get the string object with which the mode was first used, so that a program may compare its address with that of the
// constant that it passed. The table only grows, so it can be read without the lock.

#include "internal.h"

enum { BUCKETS = 64 };

struct name {
    struct name *next;
    const char *text; ///< from the core's table: equal names, equal pointers
    CFStringRef string;
};

static struct name *_Atomic buckets[BUCKETS];
static struct lock lock;

struct constant_name {
    struct cf_object object;
    const void *units;
    long length;
    bool is_wide;
};

static struct constant_name default_mode = {
    {&cf__string_class, CF_UNCOUNTED}, RUNLOOP_DEFAULT_MODE, sizeof RUNLOOP_DEFAULT_MODE - 1, false};
static struct constant_name common_modes = {
    {&cf__string_class, CF_UNCOUNTED}, RUNLOOP_COMMON_MODES, sizeof RUNLOOP_COMMON_MODES - 1, false};

const CFRunLoopMode kCFRunLoopDefaultMode = (CFStringRef)(const void *)&default_mode;
const CFRunLoopMode kCFRunLoopCommonModes = (CFStringRef)(const void *)&common_modes;

static size_t bucket_of(const char *text) {
    size_t hash = 5381;
    for (; *text; text++)
        hash = hash * 33 + (unsigned char)*text;
    return hash % BUCKETS;
}

static struct name *find(const char *text) {
    struct name *name = atomic_load_explicit(&buckets[bucket_of(text)], memory_order_acquire);
    while (name && name->text != text && strcmp(name->text, text) != 0)
        name = name->next;
    return name;
}

/// HOLDS: lock.
static struct name *make(const char *text, CFStringRef string) {
    struct name *name = malloc(sizeof *name);
    const char *interned = name ? runloop_mode_name(text) : NULL;
    if (interned && strcmp(interned, RUNLOOP_DEFAULT_MODE) == 0)
        string = kCFRunLoopDefaultMode;
    else if (interned && strcmp(interned, RUNLOOP_COMMON_MODES) == 0)
        string = kCFRunLoopCommonModes;
    CFStringRef kept = !interned ? NULL : string ? CFRetain(string) : cf__string_from_utf8(interned);
    if (!kept) {
        free(name);
        return NULL;
    }
    struct name *_Atomic *bucket = &buckets[bucket_of(interned)];
    *name = (struct name){atomic_load_explicit(bucket, memory_order_relaxed), interned, kept};
    atomic_store_explicit(bucket, name, memory_order_release);
    return name;
}

/// If the name is new, `string` is stored as its string object and never released. NULL: an object is made from the text.
static struct name *find_or_make(const char *text, CFStringRef string) {
    struct name *name = find(text);
    if (name)
        return name;
    lock_take(&lock);
    name = find(text);
    if (!name)
        name = make(text, string);
    lock_give(&lock);
    return name;
}

/// A string that is not ASCII is always entered in the table, since its UTF-8 text must be stored somewhere.
static struct name *name_of_wide(CFStringRef mode) {
    char *utf8 = cf__string_copy_utf8(mode);
    struct name *name = utf8 ? find_or_make(utf8, mode) : NULL;
    free(utf8);
    return name;
}

const char *cf__mode_text(CFStringRef mode) {
    if (mode == kCFRunLoopDefaultMode)
        return RUNLOOP_DEFAULT_MODE;
    if (!CF_IS(mode, CF_TYPE_STRING))
        return NULL;
    struct cf_text text = cf__text(mode);
    struct name *name = text.is_wide ? name_of_wide(mode) : find(text.units);
    return name ? name->text : text.is_wide ? NULL : text.units;
}

const char *cf__mode_name(CFStringRef mode) {
    if (!CF_IS(mode, CF_TYPE_STRING))
        return NULL;
    struct cf_text text = cf__text(mode);
    struct name *name = text.is_wide ? name_of_wide(mode) : find_or_make(text.units, mode);
    return name ? name->text : NULL;
}

CFStringRef cf__mode_string(const char *text) {
    struct name *name = text ? find_or_make(text, NULL) : NULL;
    return name ? name->string : NULL;
}
