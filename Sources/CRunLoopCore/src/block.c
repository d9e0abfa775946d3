// block.c — blocks of one cache line, recycled: timers and posts come and go by the million, most of them with one thread.
//
// Blocks stand in pages. One line of a page is its head, with a bit for each block that nobody has; so taking a block touches
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

struct head {
    uint64_t free;        ///< a bit for each block of the page; that of the head itself is always set
    struct list in_store; ///< while another bit is set
    struct head *first;   ///< of its chunk
    struct chunk chunk;   ///< in the first page
};

static char *page_of(const void *pointer) {
    return (char *)((uintptr_t)pointer & ~(uintptr_t)(PAGE - 1));
}

static uint64_t bit_of(const void *pointer) {
    return (uint64_t)1 << (uintptr_t)pointer % PAGE / RUNLOOP__BLOCK_SIZE;
}

/// On another line in each page: on the same one, the heads would compete for a few lines of the processor's cache.
static struct head *head_of(const void *pointer) {
    char *page = page_of(pointer);
    return (struct head *)(void *)(page + (uintptr_t)page / PAGE % (BLOCKS_PER_PAGE + 1) * RUNLOOP__BLOCK_SIZE);
}

#define ALL_FREE UINT64_MAX

//===-- the store: guarded by its lock, which is taken last and not held to allocate ---------------------------------===//

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list store = {&store, &store};
static uint32_t next_pages = 1;
static uint32_t unused_chunks; ///< in the store

/// At most `count` of the page's free blocks, as bits.
static uint64_t take_from(struct head *head, uint32_t count) {
    if (head->free == ALL_FREE && head->first->chunk.pages_in_use++ == 0)
        unused_chunks--;
    uint64_t own = bit_of(head), free = head->free & ~own, left = count >= BLOCKS_PER_PAGE ? 0 : free;
    for (; left && count > 0; count--)
        left &= left - 1;
    head->free = left | own;
    if (!left)
        list_remove(&head->in_store);
    return free & ~left;
}

static struct head *in_chunk(struct head *first, uint32_t index) {
    return head_of(page_of(first) + index * (size_t)PAGE);
}

/// A chunk that nobody uses any more and that need not be kept goes to `unused`, by its first page.
static void give_to(struct head *head, uint64_t blocks, struct list *unused) {
    uint64_t free = head->free;
    bool was_used_up = (free & (free - 1)) == 0;
    if (was_used_up)
        list_append(&store, &head->in_store);
    head->free = free | blocks;
    struct head *first = head->first;
    if (head->free != ALL_FREE || --first->chunk.pages_in_use > 0)
        return;
    if (unused_chunks < UNUSED_AT_MOST) {
        unused_chunks++;
        return;
    }
    for (uint32_t i = 0; i < first->chunk.pages; i++)
        list_remove(&in_chunk(first, i)->in_store);
    list_append(unused, &first->in_store);
}

/// With the lock held, which it lets go of to allocate. False when memory ran out.
static bool restock(void) {
    uint32_t pages = next_pages;
    pthread_mutex_unlock(&lock);
    void *memory = aligned_alloc(PAGE, pages * (size_t)PAGE);
    struct head *first = memory ? head_of(memory) : NULL;
    for (uint32_t i = 0; first && i < pages; i++) {
        struct head *head = in_chunk(first, i);
        head->free = ALL_FREE;
        head->first = first;
        head->chunk = (struct chunk){.pages = pages};
    }
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; first && i < pages; i++)
        list_append(&store, &in_chunk(first, i)->in_store);
    unused_chunks += first != NULL;
    next_pages = first && pages < PAGES_AT_MOST ? 2 * pages : pages;
    return !list_is_empty(&store);
}

//===-- what a thread keeps ------------------------------------------------------------------------------------------===//

static _Thread_local FAST_TLS struct {
    struct block *freed; ///< used first, being warm
    uint32_t room;       ///< for how many more, before they are given back: 0 if the thread keeps none
    uint32_t batch;      ///< grows with what the thread takes, so that one that needs a few takes a few
    char *page;          ///< blocks of this page …
    uint64_t in_page;    ///< … which it took and hasn't used
    bool is_set_up, has_ended;
} kept;

/// Some blocks of one page.
struct share {
    struct head *head;
    uint64_t blocks;
};

enum { NO_SHARES = 2 }; ///< in front, to be compared with

/// Those of one page that were freed one after another, or in turn with those of another page, since two threads had taken them. What
/// was freed at random makes a share each, for looking for others of its page would take longer than it spares.
static uint32_t share_freed(struct share *shares) {
    uint32_t count = NO_SHARES;
    shares[0].head = shares[1].head = NULL;
    for (struct block *block = kept.freed; block; block = block->next) {
        const char *page = page_of(block);
        struct share *share = &shares[count - 1];
        if (page_of(share[-1].head) == page) {
            share--;
        } else if (page_of(share->head) != page) {
            share = &shares[count++];
            *share = (struct share){.head = head_of(block)};
            __builtin_prefetch(share->head, 1);
        }
        share->blocks |= bit_of(block);
    }
    kept.freed = NULL;
    kept.room = kept.has_ended ? 0 : BATCH - 1;
    return count;
}

/// The lock is held for a few pages, not for each block: who loses the processor inside holds all others up.
static RUNLOOP__COLD void give_back(void) {
    struct share shares[NO_SHARES + BATCH];
    uint32_t count = share_freed(shares);
    struct list unused;
    list_init(&unused);
    pthread_mutex_lock(&lock);
    for (uint32_t i = NO_SHARES; i < count; i++)
        give_to(shares[i].head, shares[i].blocks, &unused);
    pthread_mutex_unlock(&lock);
    for (struct list *node; (node = list_take_first(&unused));)
        free(page_of(node));
}

static void *next_in_page(void) {
    unsigned index = (unsigned)__builtin_ctzll(kept.in_page);
    kept.in_page &= kept.in_page - 1;
    return &kept.page[index * RUNLOOP__BLOCK_SIZE];
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
        struct head *head = LIST_ENTRY(store.next, struct head, in_store);
        kept.page = page_of(head);
        kept.in_page = take_from(head, kept.has_ended ? 1 : kept.batch);
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
