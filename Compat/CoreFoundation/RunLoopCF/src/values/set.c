// set.c — sets: a hash table with linear probing. One thread may not change a set while another uses it.

#include "values/values.h"

struct slot {
    const void *value;
    bool is_used;
};

struct __CFSet {
    struct cf_object object;
    CFSetCallBacks callbacks;
    struct slot *slots;
    CFIndex count, capacity; ///< the capacity is 0 or a power of two; at least a quarter of it is free
};

static const void *copy_string(CFAllocatorRef allocator, const void *value) {
    return CFStringCreateCopy(allocator, value);
}

const CFSetCallBacks kCFTypeSetCallBacks = {0, cf__retain_value, cf__release_value, CFCopyDescription, CFEqual, CFHash};
const CFSetCallBacks kCFCopyStringSetCallBacks = {0,       copy_string, cf__release_value, CFCopyDescription,
                                                  CFEqual, CFHash};

CFTypeID CFSetGetTypeID(void) {
    return CF_TYPE_SET;
}

//===-- the table ----------------------------------------------------------------------------------------------------===//

static size_t first_slot_of(const struct __CFSet *set, const void *value) {
    CFHashCode code = set->callbacks.hash ? set->callbacks.hash(value) : (CFHashCode)(uintptr_t)value >> 4;
    return (size_t)(code * 11400714819323198485U >> 16) & (size_t)(set->capacity - 1);
}

/// The slot that holds the value, or the free slot for it. NULL if the capacity is 0.
static struct slot *find(const struct __CFSet *set, const void *value) {
    if (set->capacity == 0)
        return NULL;
    for (size_t at = first_slot_of(set, value);; at = (at + 1) & (size_t)(set->capacity - 1)) {
        struct slot *slot = &set->slots[at];
        if (!slot->is_used || slot->value == value ||
            (set->callbacks.equal && set->callbacks.equal(slot->value, value)))
            return slot;
    }
}

static bool reserve(struct __CFSet *set, CFIndex count) {
    struct __CFSet larger = *set;
    while (count * 4 > larger.capacity * 3)
        larger.capacity = larger.capacity ? larger.capacity * 2 : 8;
    if (larger.capacity == set->capacity)
        return true;
    larger.slots = calloc((size_t)larger.capacity, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (CFIndex i = 0; i < set->capacity; i++) {
        if (set->slots[i].is_used)
            *find(&larger, set->slots[i].value) = set->slots[i];
    }
    free(set->slots);
    set->slots = larger.slots;
    set->capacity = larger.capacity;
    return true;
}

/// Frees a slot. The values in the slots behind it may have been displaced by it, so they are inserted again.
static void clear_slot(struct __CFSet *set, struct slot *slot) {
    slot->is_used = false;
    size_t mask = (size_t)(set->capacity - 1);
    for (size_t at = ((size_t)(slot - set->slots) + 1) & mask; set->slots[at].is_used; at = (at + 1) & mask) {
        struct slot moved = set->slots[at];
        set->slots[at].is_used = false;
        *find(set, moved.value) = moved;
    }
}

static const void *retain_in(const struct __CFSet *set, const void *value) {
    return set->callbacks.retain ? set->callbacks.retain(NULL, value) : value;
}

static void release_in(const struct __CFSet *set, const void *value) {
    if (set->callbacks.release)
        set->callbacks.release(NULL, value);
}

//===-- the class ----------------------------------------------------------------------------------------------------===//

static void finalize(CFTypeRef object) {
    struct __CFSet *set = (struct __CFSet *)(uintptr_t)object;
    CFSetRemoveAllValues(set);
    free(set->slots);
    free(set);
}

static Boolean equal(CFTypeRef object, CFTypeRef other) {
    CFSetRef left = object, right = other;
    if (left->count != right->count)
        return false;
    for (CFIndex i = 0; i < left->capacity; i++) {
        if (left->slots[i].is_used && !CFSetContainsValue(right, left->slots[i].value))
            return false;
    }
    return true;
}

static CFHashCode hash(CFTypeRef object) {
    return (CFHashCode)((CFSetRef)object)->count;
}

static const struct cf_class class = {.type = CF_TYPE_SET, .finalize = finalize, .equal = equal, .hash = hash};

//===-- creating -----------------------------------------------------------------------------------------------------===//

/// An empty set, which takes so many values without more memory.
static struct __CFSet *make(CFIndex count, const CFSetCallBacks *callbacks) {
    struct __CFSet *set = cf__new(&class, sizeof *set);
    if (!set || !reserve(set, count)) {
        free(set);
        return NULL;
    }
    if (callbacks)
        set->callbacks = *callbacks;
    return set;
}

CFMutableSetRef CFSetCreateMutable(CFAllocatorRef allocator, CFIndex capacity, const CFSetCallBacks *callBacks) {
    (void)allocator, (void)capacity;
    return make(0, callBacks);
}

CFSetRef CFSetCreate(CFAllocatorRef allocator, const void **values, CFIndex numValues,
                     const CFSetCallBacks *callBacks) {
    (void)allocator;
    struct __CFSet *set = make(values ? numValues : 0, callBacks);
    for (CFIndex i = 0; set && values && i < numValues; i++)
        CFSetAddValue(set, values[i]);
    return set;
}

CFMutableSetRef CFSetCreateMutableCopy(CFAllocatorRef allocator, CFIndex capacity, CFSetRef theSet) {
    (void)allocator, (void)capacity;
    if (!CF_IS(theSet, CF_TYPE_SET))
        return NULL;
    struct __CFSet *set = make(theSet->count, &theSet->callbacks);
    for (CFIndex i = 0; set && i < theSet->capacity; i++) {
        if (theSet->slots[i].is_used)
            CFSetAddValue(set, theSet->slots[i].value);
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
    struct slot *slot = CF_IS(theSet, CF_TYPE_SET) ? find(theSet, candidate) : NULL;
    if (!slot || !slot->is_used)
        return false;
    if (value)
        *value = slot->value;
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
        if (theSet->slots[i].is_used)
            *values++ = theSet->slots[i].value;
    }
}

void CFSetApplyFunction(CFSetRef theSet, CFSetApplierFunction applier, void *context) {
    if (!CF_IS(theSet, CF_TYPE_SET) || !applier)
        return;
    for (CFIndex i = 0; i < theSet->capacity; i++) {
        if (theSet->slots[i].is_used)
            applier(theSet->slots[i].value, context);
    }
}

//===-- changing -----------------------------------------------------------------------------------------------------===//

void CFSetAddValue(CFMutableSetRef theSet, const void *value) {
    if (!CF_IS(theSet, CF_TYPE_SET) || CFSetContainsValue(theSet, value) || !reserve(theSet, theSet->count + 1))
        return;
    // The copy that a retain callback may make is equal to the value, so the slot is the right one for it.
    struct slot *slot = find(theSet, value);
    *slot = (struct slot){retain_in(theSet, value), true};
    theSet->count++;
}

void CFSetReplaceValue(CFMutableSetRef theSet, const void *value) {
    if (!CFSetContainsValue(theSet, value))
        return;
    struct slot *slot = find(theSet, value);
    const void *old = slot->value;
    slot->value = retain_in(theSet, value);
    release_in(theSet, old);
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
    struct slot *slot = find(theSet, value);
    const void *old = slot->value;
    clear_slot(theSet, slot);
    theSet->count--;
    release_in(theSet, old);
}

void CFSetRemoveAllValues(CFMutableSetRef theSet) {
    if (!CF_IS(theSet, CF_TYPE_SET))
        return;
    struct __CFSet old = *theSet;
    theSet->slots = NULL;
    theSet->count = theSet->capacity = 0;
    for (CFIndex i = 0; i < old.capacity; i++) {
        if (old.slots[i].is_used)
            release_in(&old, old.slots[i].value);
    }
    free(old.slots);
}
