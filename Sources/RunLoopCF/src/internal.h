// internal.h — what all objects of this library have in common, and what its rooms offer each other.
//
// Everything here stands on the public header of the run loop. Public are the CF names; what crosses rooms begins with
// `cf__`; everything else is static.
#ifndef RUNLOOP_CF_INTERNAL_H
#define RUNLOOP_CF_INTERNAL_H

/// Calls that take blocks are defined here with plain pointers, whichever compiler builds them (block.c).
#define RUNLOOP_CF_BUILDING

#include <CoreFoundation/CFArray.h>
#include <CoreFoundation/CFBase.h>
#include <CoreFoundation/CFDate.h>
#include <CoreFoundation/CFFileDescriptor.h>
#include <CoreFoundation/CFPriv.h>
#include <CoreFoundation/CFRunLoop.h>
#include <CoreFoundation/CFSet.h>
#include <CoreFoundation/CFString.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runloop.h"

//===-- objects (object.c) -------------------------------------------------------------------------------------------===//

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
    CF_TYPE_COUNT
};

struct cf_class {
    CFTypeID type;
    const char *name;
    bool is_constant; ///< objects that the compiler laid out: never counted
    /// The last reference is gone. NULL: objects of this class live for ever.
    void (*finalize)(CFTypeRef object);
    /// A first reference is taken again: for objects that a loop keeps when nobody else does (item.c).
    void (*revive)(CFTypeRef object);
    Boolean (*equal)(CFTypeRef object, CFTypeRef other); ///< NULL: identity
    CFHashCode (*hash)(CFTypeRef object);
    CFStringRef (*describe)(CFTypeRef object);
};

/// The first two words of every object. A constant string of clang's has the same: its class and an int.
struct cf_object {
    const struct cf_class *class;
    _Atomic int32_t references; ///< negative: not counted
};

#define CF_UNCOUNTED INT32_MIN

/// An object of `size` bytes, zeroed, with one reference. NULL when memory ran out.
void *cf__new(const struct cf_class *class, size_t size);
/// For those who know an object without keeping it: takes a reference, if there is one still.
bool cf__retain_if_referenced(CFTypeRef object);
_Noreturn void cf__misuse(const char *caller, const char *sentence);
_Noreturn void cf__wrong_type(CFTypeRef object, enum cf_type type, const char *caller);

extern const struct cf_class cf__null_class, cf__allocator_class, cf__string_class, cf__array_class, cf__set_class,
    cf__date_class, cf__loop_class, cf__source_class, cf__observer_class, cf__timer_class, cf__descriptor_class;

/// A string literal that stands for a constant string (CFSTR) begins with these letters instead of a class.
#define CF_LITERAL_MAGIC "\377\376CFSTR\377"
enum { CF_LITERAL_MAGIC_SIZE = sizeof CF_LITERAL_MAGIC - 1 };

static inline bool cf__is_literal(CFTypeRef object) {
    return memcmp(object, CF_LITERAL_MAGIC, CF_LITERAL_MAGIC_SIZE) == 0;
}

static inline const struct cf_class *cf__class_of(CFTypeRef object) {
    return cf__is_literal(object) ? &cf__string_class : ((const struct cf_object *)object)->class;
}

/// False for NULL. An object of another type ends the program, with the name of the caller.
static inline bool cf__is(CFTypeRef object, enum cf_type type, const char *caller) {
    if (object && cf__class_of(object)->type != type)
        cf__wrong_type(object, type, caller);
    return object;
}
#define CF_IS(object, type) cf__is(object, type, __func__)

//===-- strings (string.c, encoding.c, constant.c, format.c) ---------------------------------------------------------===//

/// What a string is made of, wherever it is kept. Narrow text is ASCII and ends with a zero byte.
struct cf_text {
    const void *units;
    CFIndex length;
    bool is_wide;
};

struct cf_text cf__text(CFStringRef string);
UniChar cf__text_at(const struct cf_text *text, CFIndex index);
/// Copies the units; wide text that is all ASCII becomes narrow. NULL when memory ran out.
CFStringRef cf__string_create(const struct cf_text *text);
CFStringRef cf__string_from_utf8(const char *utf8);
/// malloc'ed; NULL when memory ran out.
char *cf__string_copy_utf8(CFStringRef string);
/// The object that stands for a string literal with the magic letters, or NULL when memory ran out.
CFStringRef cf__constant_of_literal(CFTypeRef literal);
void cf__constants_after_fork(void);

/// Decodes to UTF-16 units, malloc'ed. False: not text in that encoding, or memory ran out.
bool cf__decode(const UInt8 *bytes, CFIndex count, CFStringEncoding encoding, UniChar **units, CFIndex *length);
/// Encodes one code point to at most 4 bytes: how many, or 0 if the encoding does not have it.
int cf__encode(UTF32Char character, CFStringEncoding encoding, UInt8 bytes[4]);
bool cf__encoding_is_narrow(CFStringEncoding encoding); ///< contains ASCII as single bytes

//===-- time (clock.c) -----------------------------------------------------------------------------------------------===//

#define CF_GREATEST_DATE 4039289856.0 // 2129-01-01 00:57:36 UTC
#define CF_GREATEST_DELAY 504911232.0 // 16 years

/// The instant of a date on the loop's clock: equal dates, equal instants, until the wall clock is stepped.
int64_t cf__instant_of_date(CFAbsoluteTime date);
CFAbsoluteTime cf__date_of_instant(int64_t instant_ns);
/// Nanoseconds of a duration: 0 if not positive or no number, at least 1 otherwise; saturates.
int64_t cf__nanoseconds(CFTimeInterval seconds);

//===-- modes and loops (mode.c, loop.c) -----------------------------------------------------------------------------===//

/// The name as the core wants it. NULL if it is no string. `cf__mode_name` is for additions: it remembers this very
/// string as the one that callbacks and getters hand out for the mode.
const char *cf__mode_text(CFStringRef mode);
const char *cf__mode_name(CFStringRef mode);
/// The string for a name that the core handed out; lives for ever. NULL when memory ran out.
CFStringRef cf__mode_string(const char *name);
void cf__modes_after_fork(void);

runloop *cf__core_of_loop(CFRunLoopRef loop);
/// The object of a loop, retained. NULL when memory ran out.
CFRunLoopRef cf__copy_loop(runloop *core);

//===-- items: sources, observers and timers (item.c) ----------------------------------------------------------------===//

/// An item is kept by those who reference it and by its core item, in whose loops it may live on when nobody references it
/// any more, and come back when a callback hands it out. References, as one, own a reference of the core item; and the
/// object is freed when there are no references and no core item whose context it is.
struct cf_item {
    struct cf_object object;
    _Atomic int32_t keepers; ///< the references as one, and each core item
};

void cf__item_init(struct cf_item *item);
void cf__item_keep(struct cf_item *item);
/// True for the last one, who frees.
bool cf__item_leave(struct cf_item *item);
int32_t cf__order(CFIndex order);
/// For runloop_context.describe.
char *cf__copy_info_description(CFStringRef (*describe)(const void *info), const void *info);

/// The date of an instant at which some timer is due, as that timer was given it (timer.c).
CFAbsoluteTime cf__timer_date_of_instant(int64_t instant_ns);
void cf__timers_after_fork(void);

/// Blocks, whichever compiler built this: the runtime is asked for weakly (block.c).
const void *cf__block_copy(const void *block);
void cf__block_release(const void *block);

#endif // RUNLOOP_CF_INTERNAL_H
