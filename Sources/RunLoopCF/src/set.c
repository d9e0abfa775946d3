// set.c — sets: a table of places, probed one after the other. Not to be changed by one thread while another uses them.

#include "internal.h"

struct place {
    const void *value;
    bool is_taken;
};

struct __CFSet {
    struct cf_object object;
    CFSetCallBacks callbacks;
    struct place *places;
    CFIndex count, capacity; ///< the capacity is 0 or a power of two, at least a quarter of it free
};

static const void *retain_value(CFAllocatorRef allocator, const void *value) {
    (void)allocator;
    return CFRetain(value);
}

static void release_value(CFAllocatorRef allocator, const void *value) {
    (void)allocator;
    CFRelease(value);
}

static const void *copy_string(CFAllocatorRef allocator, const void *value) {
    return CFStringCreateCopy(allocator, value);
}

const CFSetCallBacks kCFTypeSetCallBacks = {0, retain_value, release_value, CFCopyDescription, CFEqual, CFHash};
const CFSetCallBacks kCFCopyStringSetCallBacks = {0, copy_string, release_value, CFCopyDescription, CFEqual, CFHash};

CFTypeID CFSetGetTypeID(void) {
    return CF_TYPE_SET;
}

//===-- the table ----------------------------------------------------------------------------------------------------===//

static size_t home_of(const struct __CFSet *set, const void *value) {
    CFHashCode code = set->callbacks.hash ? set->callbacks.hash(value) : (CFHashCode)(uintptr_t)value >> 4;
    return (size_t)(code * 11400714819323198485U >> 16) & (size_t)(set->capacity - 1);
}

/// Where the value is, or the free place where it belongs. NULL without any places.
static struct place *find(const struct __CFSet *set, const void *value) {
    if (set->capacity == 0)
        return NULL;
    for (size_t at = home_of(set, value);; at = (at + 1) & (size_t)(set->capacity - 1)) {
        struct place *place = &set->places[at];
        if (!place->is_taken || place->value == value ||
            (set->callbacks.equal && set->callbacks.equal(place->value, value)))
            return place;
    }
}

static bool reserve(struct __CFSet *set) {
    if ((set->count + 1) * 4 <= set->capacity * 3)
        return true;
    struct __CFSet larger = *set;
    larger.capacity = set->capacity ? set->capacity * 2 : 8;
    larger.places = calloc((size_t)larger.capacity, sizeof *larger.places);
    if (!larger.places)
        return false;
    for (CFIndex i = 0; i < set->capacity; i++) {
        if (set->places[i].is_taken)
            *find(&larger, set->places[i].value) = set->places[i];
    }
    free(set->places);
    set->places = larger.places;
    set->capacity = larger.capacity;
    return true;
}

/// Frees a place, and puts those behind it, which may have been displaced, in their places again.
static void vacate(struct __CFSet *set, struct place *place) {
    place->is_taken = false;
    size_t mask = (size_t)(set->capacity - 1);
    for (size_t at = ((size_t)(place - set->places) + 1) & mask; set->places[at].is_taken; at = (at + 1) & mask) {
        struct place moved = set->places[at];
        set->places[at].is_taken = false;
        *find(set, moved.value) = moved;
    }
}

static const void *keep(const struct __CFSet *set, const void *value) {
    return set->callbacks.retain ? set->callbacks.retain(NULL, value) : value;
}

static void let_go(const struct __CFSet *set, const void *value) {
    if (set->callbacks.release)
        set->callbacks.release(NULL, value);
}

//===-- the class ----------------------------------------------------------------------------------------------------===//

static void finalize(CFTypeRef object) {
    struct __CFSet *set = (struct __CFSet *)(uintptr_t)object;
    CFSetRemoveAllValues(set);
    free(set->places);
    free(set);
}

static Boolean equal(CFTypeRef object, CFTypeRef other) {
    CFSetRef left = object, right = other;
    if (left->count != right->count)
        return false;
    for (CFIndex i = 0; i < left->capacity; i++) {
        if (left->places[i].is_taken && !CFSetContainsValue(right, left->places[i].value))
            return false;
    }
    return true;
}

static CFHashCode hash(CFTypeRef object) {
    return (CFHashCode)((CFSetRef)object)->count;
}

const struct cf_class cf__set_class = {
    .type = CF_TYPE_SET, .name = "CFSet", .finalize = finalize, .equal = equal, .hash = hash};

//===-- creating -----------------------------------------------------------------------------------------------------===//

CFMutableSetRef CFSetCreateMutable(CFAllocatorRef allocator, CFIndex capacity, const CFSetCallBacks *callBacks) {
    (void)allocator, (void)capacity;
    struct __CFSet *set = cf__new(&cf__set_class, sizeof *set);
    if (set && callBacks)
        set->callbacks = *callBacks;
    return set;
}

CFSetRef CFSetCreate(CFAllocatorRef allocator, const void **values, CFIndex numValues,
                     const CFSetCallBacks *callBacks) {
    struct __CFSet *set = CFSetCreateMutable(allocator, numValues, callBacks);
    for (CFIndex i = 0; set && values && i < numValues; i++)
        CFSetAddValue(set, values[i]);
    return set;
}

CFMutableSetRef CFSetCreateMutableCopy(CFAllocatorRef allocator, CFIndex capacity, CFSetRef theSet) {
    if (!CF_IS(theSet, CF_TYPE_SET))
        return NULL;
    struct __CFSet *set = CFSetCreateMutable(allocator, capacity, &theSet->callbacks);
    for (CFIndex i = 0; set && i < theSet->capacity; i++) {
        if (theSet->places[i].is_taken)
            CFSetAddValue(set, theSet->places[i].value);
    }
    return set;
}

CFSetRef CFSetCreateCopy(CFAllocatorRef allocator, CFSetRef theSet) {
    return CFSetCreateMutableCopy(allocator, 0, theSet);
}

//===-- reading ------------------------------------------------------------------------------------------------------===//

CFIndex CFSetGetCount(CFSetRef theSet) {
    return CF_IS(theSet, CF_TYPE_SET) ? theSet->count : 0;
}

Boolean CFSetGetValueIfPresent(CFSetRef theSet, const void *candidate, const void **value) {
    struct place *place = CF_IS(theSet, CF_TYPE_SET) ? find(theSet, candidate) : NULL;
    if (!place || !place->is_taken)
        return false;
    if (value)
        *value = place->value;
    return true;
}

Boolean CFSetContainsValue(CFSetRef theSet, const void *value) {
    return CFSetGetValueIfPresent(theSet, value, NULL);
}

CFIndex CFSetGetCountOfValue(CFSetRef theSet, const void *value) {
    return CFSetContainsValue(theSet, value);
}

const void *CFSetGetValue(CFSetRef theSet, const void *value) {
    const void *found = NULL;
    CFSetGetValueIfPresent(theSet, value, &found);
    return found;
}

void CFSetGetValues(CFSetRef theSet, const void **values) {
    if (!CF_IS(theSet, CF_TYPE_SET) || !values)
        return;
    for (CFIndex i = 0; i < theSet->capacity; i++) {
        if (theSet->places[i].is_taken)
            *values++ = theSet->places[i].value;
    }
}

void CFSetApplyFunction(CFSetRef theSet, CFSetApplierFunction applier, void *context) {
    if (!CF_IS(theSet, CF_TYPE_SET) || !applier)
        return;
    for (CFIndex i = 0; i < theSet->capacity; i++) {
        if (theSet->places[i].is_taken)
            applier(theSet->places[i].value, context);
    }
}

//===-- changing -----------------------------------------------------------------------------------------------------===//

void CFSetAddValue(CFMutableSetRef theSet, const void *value) {
    if (!CF_IS(theSet, CF_TYPE_SET) || CFSetContainsValue(theSet, value) || !reserve(theSet))
        return;
    // Keeping may copy the value; it is equal to the one whose place was found.
    struct place *place = find(theSet, value);
    *place = (struct place){keep(theSet, value), true};
    theSet->count++;
}

void CFSetReplaceValue(CFMutableSetRef theSet, const void *value) {
    if (!CFSetContainsValue(theSet, value))
        return;
    struct place *place = find(theSet, value);
    const void *old = place->value;
    place->value = keep(theSet, value);
    let_go(theSet, old);
}

void CFSetSetValue(CFMutableSetRef theSet, const void *value) {
    if (CFSetContainsValue(theSet, value))
        CFSetReplaceValue(theSet, value);
    else
        CFSetAddValue(theSet, value);
}

void CFSetRemoveValue(CFMutableSetRef theSet, const void *value) {
    if (!CFSetContainsValue(theSet, value))
        return;
    struct place *place = find(theSet, value);
    const void *old = place->value;
    vacate(theSet, place);
    theSet->count--;
    let_go(theSet, old);
}

void CFSetRemoveAllValues(CFMutableSetRef theSet) {
    if (!CF_IS(theSet, CF_TYPE_SET))
        return;
    struct __CFSet old = *theSet;
    theSet->places = NULL;
    theSet->count = theSet->capacity = 0;
    for (CFIndex i = 0; i < old.capacity; i++) {
        if (old.places[i].is_taken)
            let_go(&old, old.places[i].value);
    }
    free(old.places);
}
