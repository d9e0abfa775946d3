// mode.c — names of modes: string objects in this layer, text in the core.
//
// Callbacks get the string object with which the mode was first used, so that a program may compare its address with that of the
// constant that it passed.

#include "loop/loop.h"
#include "strings/strings.h"

static struct cf_table names;

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

/// The text of an entry is that of the core's table: equal names, equal pointers.
static bool make(struct cf_entry *entry, const char *text, CFStringRef string) {
    entry->text = runloop_mode_name(text);
    if (!entry->text)
        return false;
    if (strcmp(entry->text, RUNLOOP_DEFAULT_MODE) == 0)
        string = kCFRunLoopDefaultMode;
    else if (strcmp(entry->text, RUNLOOP_COMMON_MODES) == 0)
        string = kCFRunLoopCommonModes;
    entry->string = string ? CFRetain(string) : cf__string_from_utf8(entry->text);
    return entry->string;
}

/// If the name is new, `string` is stored as its string object. NULL: an object is made from the text.
static const struct cf_entry *find_or_make(const char *text, CFStringRef string) {
    return cf__table_find_or_make(&names, text, make, string);
}

/// A string that is not ASCII is always entered in the table, since its UTF-8 text must be stored somewhere.
static const struct cf_entry *name_of_wide(CFStringRef mode) {
    char *utf8 = cf__string_copy_utf8(mode);
    const struct cf_entry *name = utf8 ? find_or_make(utf8, mode) : NULL;
    free(utf8);
    return name;
}

const char *cf__mode_text(CFStringRef mode) {
    if (mode == kCFRunLoopDefaultMode)
        return RUNLOOP_DEFAULT_MODE;
    if (!CF_IS(mode, CF_TYPE_STRING))
        return NULL;
    struct cf_text text = cf__text(mode);
    const struct cf_entry *name = text.is_wide ? name_of_wide(mode) : cf__table_find(&names, text.units);
    return name ? name->text : text.is_wide ? NULL : text.units;
}

const char *cf__mode_name(CFStringRef mode) {
    if (!CF_IS(mode, CF_TYPE_STRING))
        return NULL;
    struct cf_text text = cf__text(mode);
    const struct cf_entry *name = text.is_wide ? name_of_wide(mode) : find_or_make(text.units, mode);
    return name ? name->text : NULL;
}

CFStringRef cf__mode_string(const char *text) {
    const struct cf_entry *name = text ? find_or_make(text, NULL) : NULL;
    return name ? name->string : NULL;
}
