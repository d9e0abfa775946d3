// block.c — blocks of one cache line, recycled: timers and posts come and go by the million, most of them with one thread.
//
// Blocks stand in pages. The first line of a page is its head, with a bit for each block that nobody has; so taking a block touches
// neither it nor its neighbours, and what is taken at a time stands together. All pages are in the store, which all threads
// share. A thread takes a batch of blocks from it at a time, and keeps what it frees until that is a batch, to use it first: so it
// seldom needs the store's lock, and what one thread takes and another frees (posts) goes round in batches. A burst goes
// back: pages come in chunks, and a chunk whose blocks are all back is freed.
//
// Sanitizers see each block as an allocation of its own.

#include "internal.h"

#ifdef RUNLOOP_BLOCKS_ARE_ALLOCATIONS

void *runloop__block_new(void) {
    return malloc(RUNLOOP__BLOCK_SIZE);
}

void runloop__block_free(void *block) {
    free(block);
}

#else

enum {
    PAGE = 4096,
    BLOCKS_PER_PAGE = PAGE / RUNLOOP__BLOCK_SIZE - 1,
    PAGES_AT_MOST = 8, ///< of a chunk: one block that somebody keeps keeps them all; the first chunk has one page
    /// Chunks, a megabyte in all: less, and a queue that is now long, now short asks the kernel all the time.
    UNUSED_AT_MOST = 32,
    FIRST_BATCH = 4,
    BATCH = BLOCKS_PER_PAGE,
};

struct block {
    struct block *next;
};

struct chunk {
    uint32_t pages, pages_in_use;
};

union page {
    char bytes[PAGE];
    struct {
        uint64_t free;        ///< a bit for each block of the page; that of the head itself is never set
        struct list in_store; ///< while a bit is set
        union page *first;    ///< of its chunk
        struct chunk chunk;   ///< in the first page
    } head;
};

#define ALL_FREE (~(uint64_t)1)

//===-- the store: guarded by its lock, which is taken last and not held to allocate ---------------------------------===//

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list store = {&store, &store};
static uint32_t next_pages = 1;
static uint32_t unused_chunks; ///< in the store

static union page *page_of(const void *block) {
    return (union page *)((uintptr_t)block & ~(uintptr_t)(PAGE - 1));
}

/// At most `count` of the page's free blocks, as bits.
static uint64_t take_from(union page *page, uint32_t count) {
    uint64_t free = page->head.free, left = count >= BLOCKS_PER_PAGE ? 0 : free;
    if (free == ALL_FREE && page->head.first->head.chunk.pages_in_use++ == 0)
        unused_chunks--;
    for (; left && count > 0; count--)
        left &= left - 1;
    page->head.free = left;
    if (!left)
        list_remove(&page->head.in_store);
    return free & ~left;
}

/// A chunk that nobody uses any more and that need not be kept goes to `unused`, by its first page.
static void give_to(union page *page, uint64_t blocks, struct list *unused) {
    if (!page->head.free)
        list_append(&store, &page->head.in_store);
    page->head.free |= blocks;
    union page *first = page->head.first;
    if (page->head.free != ALL_FREE || --first->head.chunk.pages_in_use > 0)
        return;
    if (unused_chunks < UNUSED_AT_MOST) {
        unused_chunks++;
        return;
    }
    for (uint32_t i = 0; i < first->head.chunk.pages; i++)
        list_remove(&first[i].head.in_store);
    list_append(unused, &first->head.in_store);
}

/// With the lock held, which it lets go of to allocate. False when memory ran out.
static bool restock(void) {
    uint32_t pages = next_pages;
    pthread_mutex_unlock(&lock);
    union page *first = aligned_alloc(PAGE, pages * sizeof *first);
    for (uint32_t i = 0; first && i < pages; i++) {
        first[i].head.free = ALL_FREE;
        first[i].head.first = first;
        first[i].head.chunk = (struct chunk){.pages = pages};
    }
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; first && i < pages; i++)
        list_append(&store, &first[i].head.in_store);
    unused_chunks += first != NULL;
    next_pages = first && pages < PAGES_AT_MOST ? 2 * pages : pages;
    return !list_is_empty(&store);
}

//===-- what a thread keeps ------------------------------------------------------------------------------------------===//

static _Thread_local FAST_TLS struct {
    struct block *freed; ///< used first, being warm
    uint32_t room;       ///< for how many more, before they are given back: 0 if the thread keeps none
    uint32_t batch;      ///< grows with what the thread takes, so that one that needs a few takes a few
    union page *page;    ///< blocks of this page …
    uint64_t in_page;    ///< … which it took and hasn't used
    bool is_set_up, has_ended;
} kept;

/// Some blocks of one page.
struct share {
    union page *page;
    uint64_t blocks;
};

static struct share *share_of(union page *page, struct share *shares, uint32_t *count) {
    for (uint32_t i = *count; i > 0; i--) {
        if (shares[i - 1].page == page)
            return &shares[i - 1];
    }
    shares[*count] = (struct share){.page = page};
    return &shares[(*count)++];
}

/// Sorts what the thread has freed by pages: mostly they are of one or two, since they were taken a page at a time.
static uint32_t sort_freed(struct share *shares) {
    uint32_t count = 0;
    struct block *block = kept.freed;
    while (block) {
        union page *page = page_of(block);
        struct share *share = share_of(page, shares, &count);
        do {
            share->blocks |= (uint64_t)1 << ((char *)block - page->bytes) / RUNLOOP__BLOCK_SIZE;
            block = block->next;
        } while (block && page_of(block) == page);
    }
    kept.freed = NULL;
    kept.room = kept.has_ended ? 0 : BATCH - 1;
    return count;
}

/// The lock is held for a few pages, not for each block: who loses the processor inside holds all others up.
static RUNLOOP__COLD void give_back(void) {
    struct share shares[BATCH];
    uint32_t count = sort_freed(shares);
    struct list unused;
    list_init(&unused);
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < count; i++)
        give_to(shares[i].page, shares[i].blocks, &unused);
    pthread_mutex_unlock(&lock);
    for (struct list *node; (node = list_take_first(&unused));)
        free(LIST_ENTRY(node, union page, head.in_store));
}

static void *next_in_page(void) {
    unsigned index = (unsigned)__builtin_ctzll(kept.in_page);
    kept.in_page &= kept.in_page - 1;
    return &kept.page->bytes[index * RUNLOOP__BLOCK_SIZE];
}

static void thread_ends(void *unused) {
    (void)unused;
    kept.has_ended = true;
    kept.room = 0;
    while (kept.in_page)
        runloop__block_free(next_in_page());
    give_back();
}

//===-- fork: the child gets the store as it is between two changes --------------------------------------------------===//

static void before_fork(void) {
    pthread_mutex_lock(&lock);
}

static void after_fork(void) {
    pthread_mutex_unlock(&lock);
}

static void after_fork_in_child(void) {
    pthread_mutex_init(&lock, NULL);
}

static pthread_key_t key;

static void set_up(void) {
    // A fork may come in between, and then the child does this again: handlers that are there twice would lock twice.
    static bool has_begun;
    if (!has_begun) {
        has_begun = true;
        pthread_atfork(before_fork, after_fork, after_fork_in_child);
    }
    pthread_key_create(&key, thread_ends);
}

/// Whoever keeps blocks has to be told when the thread ends; one that can't be told keeps none.
static void set_up_thread(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_up);
    kept.is_set_up = true;
    kept.batch = FIRST_BATCH;
    kept.has_ended = pthread_setspecific(key, &kept) != 0;
    kept.room = kept.has_ended ? 0 : BATCH - 1;
}

//===-- blocks -------------------------------------------------------------------------------------------------------===//

static RUNLOOP__COLD void *take_batch(void) {
    if (!kept.is_set_up)
        set_up_thread();
    pthread_mutex_lock(&lock);
    bool any = !list_is_empty(&store) || restock();
    if (any) {
        kept.page = LIST_ENTRY(store.next, union page, head.in_store);
        kept.in_page = take_from(kept.page, kept.has_ended ? 1 : kept.batch);
    }
    pthread_mutex_unlock(&lock);
    kept.batch = 2 * kept.batch < BATCH ? 2 * kept.batch : BATCH;
    return any ? next_in_page() : NULL;
}

void *runloop__block_new(void) {
    struct block *block = kept.freed;
    if (!block)
        return kept.in_page ? next_in_page() : take_batch();
    kept.freed = block->next;
    kept.room++;
    return block;
}

static void keep(struct block *block) {
    block->next = kept.freed;
    kept.freed = block;
}

static RUNLOOP__COLD void free_without_room(struct block *block) {
    keep(block);
    if (!kept.is_set_up)
        set_up_thread();
    if (kept.room > 0)
        kept.room--;
    else
        give_back();
}

void runloop__block_free(void *block) {
    if (kept.room == 0) {
        free_without_room(block);
        return;
    }
    kept.room--;
    keep(block);
}

#endif
