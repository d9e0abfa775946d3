// base.h — what all objects of this library have in common: references, types, tables of texts, time.
//
// The library is built on the public header of the run loop, and on runloop_lock.h, which all C libraries share. The CF names are public; a
// name that several files use begins with `cf__`; everything else is static.
#ifndef RUNLOOP_CF_BASE_H
#define RUNLOOP_CF_BASE_H

/// Calls that take blocks are defined here with plain pointers, whichever compiler builds them (block.c).
#define RUNLOOP_CF_BUILDING

#include <CoreFoundation/CFArray.h>
#include <CoreFoundation/CFBase.h>
#include <CoreFoundation/CFData.h>
#include <CoreFoundation/CFDate.h>
#include <CoreFoundation/CFFileDescriptor.h>
#include <CoreFoundation/CFNotificationCenter.h>
#include <CoreFoundation/CFNumber.h>
#include <CoreFoundation/CFPriv.h>
#include <CoreFoundation/CFRunLoop.h>
#include <CoreFoundation/CFSet.h>
#include <CoreFoundation/CFSocket.h>
#include <CoreFoundation/CFString.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runloop.h"
#include "runloop_lock.h"

//===-- objects (object.c) ------------------------------------------------------------------------------------------===//

enum cf_type {
    CF_TYPE_NULL = 1,
    CF_TYPE_ALLOCATOR,
    CF_TYPE_STRING,
    CF_TYPE_ARRAY,
    CF_TYPE_SET,
    CF_TYPE_DATE,
    CF_TYPE_LOOP,
    CF_TYPE_SOURCE,
    CF_TYPE_OBSERVER,
    CF_TYPE_TIMER,
    CF_TYPE_DESCRIPTOR,
    CF_TYPE_DATA,
    CF_TYPE_SOCKET,
    CF_TYPE_NOTIFICATION_CENTER,
    CF_TYPE_BOOLEAN,
    CF_TYPE_COUNT
};

struct cf_class {
    CFTypeID type;
    bool is_constant; ///< laid out by the compiler: references are not counted
    /// Called when the last reference has been released. NULL: objects of this class are never freed.
    void (*finalize)(CFTypeRef object);
    /// Called when the number of references rises from 0 to 1, which happens to objects that only a loop still owns (item.c).
    void (*revive)(CFTypeRef object);
    Boolean (*equal)(CFTypeRef object, CFTypeRef other); ///< NULL: identity
    CFHashCode (*hash)(CFTypeRef object);
    CFStringRef (*describe)(CFTypeRef object);
};

/// The first two fields of every object. Clang's constant strings begin in the same way, with a class and an int.
struct cf_object {
    const struct cf_class *class;
    _Atomic int32_t references; ///< negative: not counted
};

#define CF_UNCOUNTED INT32_MIN

/// An object of `size` bytes, zeroed, with one reference. NULL when memory ran out.
void *cf__new(const struct cf_class *class, size_t size);
/// For callers without a reference of their own: retains the object unless its last reference has been released.
bool cf__retain_if_referenced(CFTypeRef object);
_Noreturn void cf__misuse(const char *caller, const char *sentence);
/// NULL if there is no such type.
const char *cf__type_name(CFTypeID type);
_Noreturn void cf__wrong_type(CFTypeRef object, enum cf_type type, const char *caller);

/// A string literal that is used as a constant string (CFSTR) begins with these letters instead of a class.
#define CF_LITERAL_MAGIC "\377\376CFSTR\377"
enum { CF_LITERAL_MAGIC_SIZE = sizeof CF_LITERAL_MAGIC - 1 };

static inline bool cf__is_literal(CFTypeRef object) {
    return memcmp(object, CF_LITERAL_MAGIC, CF_LITERAL_MAGIC_SIZE) == 0;
}

static inline enum cf_type cf__type_of(CFTypeRef object) {
    return cf__is_literal(object) ? CF_TYPE_STRING : ((const struct cf_object *)object)->class->type;
}

/// False for NULL. An object of another type ends the program, with the name of the caller.
static inline bool cf__is(CFTypeRef object, enum cf_type type, const char *caller) {
    if (object && cf__type_of(object) != type)
        cf__wrong_type(object, type, caller);
    return object;
}
#define CF_IS(object, type) cf__is(object, type, __func__)

//===-- tables of texts (table.c) ------------------------------------------------------------------------------------===//

enum { CF_TABLE_BUCKETS = 64 };

struct cf_entry {
    struct cf_entry *next;
    const char *text;   ///< lives as long as the process
    CFStringRef string; ///< never released
};

/// A table that only grows; all zeros at first.
struct cf_table {
    struct cf_entry *_Atomic buckets[CF_TABLE_BUCKETS]; ///< atomic; written under the lock
    struct process_lock lock;
};

/// Sets the text and the string of a new entry, under the table's lock. False when memory ran out.
typedef bool (*cf_make_entry)(struct cf_entry *entry, const char *text, CFStringRef string);

/// NULL if there is none.
const struct cf_entry *cf__table_find(const struct cf_table *table, const char *text);
/// A new entry is made from the text and `string`. NULL when memory ran out.
const struct cf_entry *cf__table_find_or_make(struct cf_table *table, const char *text, cf_make_entry make,
                                              CFStringRef string);

//===-- time (clock.c) -----------------------------------------------------------------------------------------------===//

#define CF_GREATEST_DATE 4039289856.0 // 2129-01-01 00:57:36 UTC
#define CF_GREATEST_DELAY 504911232.0 // 16 years

/// The instant of a date on the loop's clock. Equal dates give equal instants, until the wall clock is stepped.
int64_t cf__instant_of_date(CFAbsoluteTime date);
CFAbsoluteTime cf__date_of_instant(int64_t instant_ns);
/// A duration in nanoseconds: 0 if it is not positive or not a number, otherwise at least 1 and at most INT64_MAX.
int64_t cf__nanoseconds(CFTimeInterval seconds);

#endif // RUNLOOP_CF_BASE_H
