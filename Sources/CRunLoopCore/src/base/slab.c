// slab.c — blocks of two sizes, for tasks and timers, which come and go by the million.
//
// Blocks are cut from chunks, which are aligned to their size, so that a block's chunk is found from its address. A thread keeps up to
// two batches of free blocks of each size and mostly uses these; whole batches go back to the chunks under a lock, whichever thread
// took them. A chunk whose blocks are all back goes back to the kernel, except a few that are kept for the next burst. So after a burst
// the process keeps at most KEPT_CHUNKS of each size, and what its threads keep.
//
// A forked child starts with an empty store if another thread was changing it at the time of the fork. Sanitizers see each block as an
// allocation of its own.

#include <pthread.h>
#include <sys/mman.h>

#include "base/base.h"

static const uint32_t sizes[SLAB_CLASSES] = {SLAB_TASK_SIZE, SLAB_TIMER_SIZE};

#ifdef RUNLOOP_SLAB_IS_MALLOC

void *runloop__slab_new(enum slab_class class) {
    return malloc(sizes[class]);
}

void runloop__slab_free(enum slab_class class, void *block) {
    (void)class;
    free(block);
}

#else

enum { CHUNK_SIZE = 1 << 16, KEPT_CHUNKS = 16, BATCH = 64 };

struct block {
    struct block *next;
};

struct chunk {
    struct list in_store; ///< while it has free blocks
    struct block *free;
    uint32_t used, cut; ///< blocks in use, and blocks cut so far
};

/// All chunks with free blocks. Guarded by its lock, which is not held while the kernel is asked for memory.
static struct store {
    struct process_lock lock;
    uint32_t empty; ///< chunks that nobody uses
    struct list chunks;
} stores[SLAB_CLASSES] = {{.chunks = {&stores[0].chunks, &stores[0].chunks}},
                          {.chunks = {&stores[1].chunks, &stores[1].chunks}}};

static void lock_store(struct store *store) {
    if (!runloop__process_lock(&store->lock)) {
        list_init(&store->chunks);
        store->empty = 0;
    }
}

static uint32_t capacity_of(enum slab_class class) {
    return (CHUNK_SIZE - sizeof(struct chunk) - 63) / sizes[class];
}

static struct block *cut(struct chunk *chunk, enum slab_class class) {
    uintptr_t first = ((uintptr_t)(chunk + 1) + 63) & ~(uintptr_t)63;
    return (struct block *)(first + (uintptr_t)chunk->cut++ * sizes[class]);
}

static struct chunk *map_chunk(void) {
    char *memory = mmap(NULL, 2 * CHUNK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)memory % CHUNK_SIZE;
    if (before)
        munmap(memory, before);
    munmap(memory + before + CHUNK_SIZE, CHUNK_SIZE - before);
    return (struct chunk *)(void *)(memory + before);
}

/// With the store locked. Up to `count` blocks of one chunk, as a list; NULL when the store has none.
static struct block *take_from_store(struct store *store, enum slab_class class, uint32_t *count) {
    if (list_is_empty(&store->chunks))
        return NULL;
    struct chunk *chunk = LIST_ENTRY(store->chunks.next, struct chunk, in_store);
    store->empty -= chunk->used == 0;
    struct block *taken = NULL;
    uint32_t wanted = *count, got = 0;
    for (; got < wanted; got++) {
        struct block *block = chunk->free;
        if (block)
            chunk->free = block->next;
        else if (chunk->cut < capacity_of(class))
            block = cut(chunk, class);
        else
            break;
        block->next = taken;
        taken = block;
    }
    chunk->used += got;
    if (!chunk->free && chunk->cut == capacity_of(class))
        list_remove(&chunk->in_store);
    *count = got;
    return taken;
}

/// With the store locked. A chunk that is empty and not kept goes to `unused`.
static void give_to_store(struct store *store, enum slab_class class, struct block *block, struct list *unused) {
    struct chunk *chunk = (struct chunk *)((uintptr_t)block & ~(uintptr_t)(CHUNK_SIZE - 1));
    if (!chunk->free && chunk->cut == capacity_of(class))
        list_append(&store->chunks, &chunk->in_store);
    block->next = chunk->free;
    chunk->free = block;
    if (--chunk->used > 0)
        return;
    if (store->empty < KEPT_CHUNKS) {
        store->empty++;
    } else {
        list_remove(&chunk->in_store);
        list_append(unused, &chunk->in_store);
    }
}

//===-- what a thread keeps ------------------------------------------------------------------------------------------===//

static _Thread_local FAST_TLS struct {
    struct {
        struct block *free;
        uint32_t count;
        uint32_t
            batch; ///< how many it took the last time: more each time, so that a thread that needs a few takes a few
    } classes[SLAB_CLASSES];
    bool is_set_up, has_ended;
} kept;

static void give_back(enum slab_class class, uint32_t left) {
    struct list unused;
    list_init(&unused);
    lock_store(&stores[class]);
    while (kept.classes[class].count > left) {
        struct block *block = kept.classes[class].free;
        kept.classes[class].free = block->next;
        kept.classes[class].count--;
        give_to_store(&stores[class], class, block, &unused);
    }
    process_unlock(&stores[class].lock);
    for (struct list *node; (node = list_take_first(&unused));)
        munmap(LIST_ENTRY(node, struct chunk, in_store), CHUNK_SIZE);
}

static pthread_key_t key;
static bool has_key;

static void thread_ends(void *unused) {
    (void)unused;
    kept.has_ended = true;
    for (int class = 0; class < SLAB_CLASSES; class ++)
        give_back((enum slab_class) class, 0);
}

static __attribute__((constructor)) void make_key(void) {
    has_key = pthread_key_create(&key, thread_ends) == 0;
}

/// A thread that can't be notified of its end keeps nothing.
static void set_up_thread(void) {
    kept.is_set_up = true;
    kept.has_ended = !has_key || pthread_setspecific(key, &kept) != 0;
}

static COLD void *refill(enum slab_class class) {
    if (!kept.is_set_up)
        set_up_thread();
    struct store *store = &stores[class];
    uint32_t batch = kept.classes[class].batch, count = kept.has_ended || batch == 0 ? 1 : 2 * batch;
    kept.classes[class].batch = count = count < BATCH ? count : BATCH;
    lock_store(store);
    struct block *taken = take_from_store(store, class, &count);
    if (!taken) {
        process_unlock(&store->lock);
        struct chunk *chunk = map_chunk();
        if (!chunk)
            return NULL;
        lock_store(store);
        list_append(&store->chunks, &chunk->in_store);
        store->empty++;
        taken = take_from_store(store, class, &count);
    }
    process_unlock(&store->lock);
    kept.classes[class].free = taken->next;
    kept.classes[class].count = count - 1;
    return taken;
}

void *runloop__slab_new(enum slab_class class) {
    struct block *block = kept.classes[class].free;
    if (!block)
        return refill(class);
    kept.classes[class].free = block->next;
    kept.classes[class].count--;
    return block;
}

static COLD void give_back_some(enum slab_class class) {
    if (!kept.is_set_up)
        set_up_thread();
    if (kept.has_ended)
        give_back(class, 0);
    else if (kept.classes[class].count > 2 * BATCH)
        give_back(class, BATCH);
}

void runloop__slab_free(enum slab_class class, void *pointer) {
    struct block *block = pointer;
    block->next = kept.classes[class].free;
    kept.classes[class].free = block;
    if (++kept.classes[class].count > 2 * BATCH || !kept.is_set_up || kept.has_ended)
        give_back_some(class);
}

#endif
