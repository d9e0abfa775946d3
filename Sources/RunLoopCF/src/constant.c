// constant.c — constant strings: one object for each text, never freed.

#include "internal.h"

enum { BUCKETS = 64 };

struct constant {
    struct constant *next;
    CFStringRef string;
    char text[];
};

static struct constant *_Atomic buckets[BUCKETS];
static struct lock lock;

static size_t bucket_of(const char *text) {
    size_t hash = 5381;
    for (; *text; text++)
        hash = hash * 33 + (unsigned char)*text;
    return hash % BUCKETS;
}

// Lists grow only at their head and never shrink, so they can be read without the lock.
static CFStringRef find(size_t bucket, const char *text) {
    for (struct constant *entry = atomic_load_explicit(&buckets[bucket], memory_order_acquire); entry;
         entry = entry->next) {
        if (strcmp(entry->text, text) == 0)
            return entry->string;
    }
    return NULL;
}

/// HOLDS: lock.
static CFStringRef make(size_t bucket, const char *text) {
    size_t size = strlen(text) + 1;
    struct constant *entry = malloc(sizeof *entry + size);
    if (!entry)
        return NULL;
    entry->string = cf__string_from_utf8(text);
    if (!entry->string)
        entry->string = CFStringCreateWithCString(NULL, text, kCFStringEncodingISOLatin1);
    if (!entry->string) {
        free(entry);
        return NULL;
    }
    atomic_store(&((struct cf_object *)(uintptr_t)entry->string)->references, CF_UNCOUNTED);
    memcpy(entry->text, text, size);
    entry->next = atomic_load_explicit(&buckets[bucket], memory_order_relaxed);
    atomic_store_explicit(&buckets[bucket], entry, memory_order_release);
    return entry->string;
}

CFStringRef __CFStringMakeConstantString(const char *cStr) {
    if (!cStr)
        return NULL;
    size_t bucket = bucket_of(cStr);
    CFStringRef string = find(bucket, cStr);
    if (string)
        return string;
    lock_take(&lock);
    string = find(bucket, cStr);
    if (!string)
        string = make(bucket, cStr);
    lock_give(&lock);
    return string;
}

CFStringRef cf__constant_of_literal(CFTypeRef literal) {
    return __CFStringMakeConstantString((const char *)literal + CF_LITERAL_MAGIC_SIZE);
}
