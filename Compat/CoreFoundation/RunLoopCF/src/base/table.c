// table.c — texts and the string objects that stand for them.
//
// Entries are added at the head of a list and never removed, so a table can be read without its lock. A reader that finds an entry
// (acquire) sees all of it, since it was complete before it was linked (release); one that finds none looks again under the lock.

#include "base/base.h"

static size_t bucket_of(const char *text) {
    size_t hash = 5381;
    for (; *text; text++)
        hash = hash * 33 + (unsigned char)*text;
    return hash % CF_TABLE_BUCKETS;
}

const struct cf_entry *cf__table_find(const struct cf_table *table, const char *text) {
    const struct cf_entry *entry = atomic_load_explicit(&table->buckets[bucket_of(text)], memory_order_acquire);
    while (entry && entry->text != text && strcmp(entry->text, text) != 0)
        entry = entry->next;
    return entry;
}

static const struct cf_entry *add(struct cf_table *table, const char *text, cf_make_entry make, CFStringRef string)
    HOLDS(table->lock) {
    ASSERT_HOLDS(&table->lock);
    struct cf_entry *entry = malloc(sizeof *entry);
    if (!entry || !make(entry, text, string)) {
        free(entry);
        return NULL;
    }
    struct cf_entry *_Atomic *bucket = &table->buckets[bucket_of(text)];
    entry->next = atomic_load_explicit(bucket, memory_order_relaxed);
    atomic_store_explicit(bucket, entry, memory_order_release);
    return entry;
}

const struct cf_entry *cf__table_find_or_make(struct cf_table *table, const char *text, cf_make_entry make,
                                              CFStringRef string) {
    const struct cf_entry *entry = cf__table_find(table, text);
    if (entry)
        return entry;
    process_lock(&table->lock);
    entry = cf__table_find(table, text);
    if (!entry)
        entry = add(table, text, make, string);
    process_unlock(&table->lock);
    return entry;
}
