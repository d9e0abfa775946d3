// slab.c — blocks of a few sizes, for tasks and timers, which come and go by the million.
//
// Blocks are cut from chunks, which are aligned to their size, so that a block's chunk is found from its address. A thread keeps up to
// two batches of free blocks of each size and mostly uses these; whole batches go back to the chunks, whichever thread took their blocks. A
// batch is split into runs of blocks of one chunk before the lock is taken. So that is held for a few stores, and whoever takes blocks gets
// whole runs: mostly one, since blocks that come together go together. A chunk whose blocks are all back goes back to the kernel,
// except a few that are kept for the next burst. So after a burst the process keeps at most KEPT_CHUNKS of each size, and what its
// threads keep.
//
// A forked child starts with an empty store if another thread was changing it at the time of the fork. Sanitizers see each block as an
// allocation of its own.

#ifdef __linux__
#include <pthread.h>
#include <sys/mman.h>

#include "base/base.h"

static const uint32_t sizes[SLAB_CLASSES] = {SLAB_TASK_SIZE, SLAB_TIMER_SIZE, SLAB_REPEATING_TIMER_SIZE};

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
    // Of the first block of a run: its last one, how many there are, and another run.
    struct block *last, *next_run;
    uint32_t count;
};

struct chunk {
    struct list in_store; ///< while it has free blocks
    struct block *runs;   ///< free blocks
    uint32_t used, cut;   ///< blocks in use, and blocks cut so far
};

/// All chunks with free blocks. Guarded by its lock, which is not held while the kernel is asked for memory.
static struct store {
    struct process_lock lock;
    uint32_t empty; ///< chunks that nobody uses
    struct list chunks;
} stores[SLAB_CLASSES] = {{.chunks = {&stores[0].chunks, &stores[0].chunks}},
                          {.chunks = {&stores[1].chunks, &stores[1].chunks}},
                          {.chunks = {&stores[2].chunks, &stores[2].chunks}}};

UNCHECKED static void lock_store(struct store *store) TAKES(store->lock) {
    if (!process_lock(&store->lock)) {
        list_init(&store->chunks);
        store->empty = 0;
    }
}

static uint32_t capacity_of(enum slab_class class) {
    return (CHUNK_SIZE - sizeof(struct chunk) - 63) / sizes[class];
}

static struct chunk *chunk_of(const struct block *block) {
    return (struct chunk *)((uintptr_t)block & ~(uintptr_t)(CHUNK_SIZE - 1));
}

static struct block *cut(struct chunk *chunk, enum slab_class class) {
    uintptr_t first = ((uintptr_t)(chunk + 1) + 63) & ~(uintptr_t)63;
    return (struct block *)(first + (uintptr_t)chunk->cut++ * sizes[class]);
}

static bool has_free(const struct chunk *chunk, enum slab_class class) {
    return chunk->runs || chunk->cut < capacity_of(class);
}

static char *map(size_t size, int flags) {
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/// `flags`: MAP_POPULATE or 0.
static struct chunk *map_chunk(int flags) {
    // The kernel mostly puts a mapping beside the one before, so that it is aligned if that was. No memory is aligned, too.
    char *memory = map(CHUNK_SIZE, flags);
    size_t before = -(uintptr_t)memory % CHUNK_SIZE;
    if (before == 0)
        return (struct chunk *)(void *)memory;
    munmap(memory, CHUNK_SIZE);
    memory = map(2 * CHUNK_SIZE, 0);
    if (!memory)
        return NULL;
    before = -(uintptr_t)memory % CHUNK_SIZE;
    if (before)
        munmap(memory, before);
    munmap(memory + before + CHUNK_SIZE, CHUNK_SIZE - before);
    return (struct chunk *)(void *)(memory + before);
}

/// With the store locked. Blocks of one chunk, as a list; NULL when the store has none. `*count`: how many are wanted, and then how many
/// there are: a batch more than that at most.
static struct block *take_from_store(struct store *store, enum slab_class class, uint32_t *count) {
    if (list_is_empty(&store->chunks))
        return NULL;
    struct chunk *chunk = LIST_ENTRY(store->chunks.next, struct chunk, in_store);
    store->empty -= chunk->used == 0;
    struct block *taken = NULL;
    uint32_t wanted = *count, got = 0;
    for (struct block *run; got < wanted && (run = chunk->runs); got += run->count) {
        chunk->runs = run->next_run;
        // The end of a first run is one already, and may be in another processor's cache.
        if (taken)
            run->last->next = taken;
        taken = run;
    }
    for (; got < wanted && chunk->cut < capacity_of(class); got++) {
        struct block *block = cut(chunk, class);
        block->next = taken;
        taken = block;
    }
    chunk->used += got;
    if (!has_free(chunk, class))
        list_remove(&chunk->in_store);
    *count = got;
    return taken;
}

/// Takes blocks off a list, as runs.
static struct block *split(struct block **blocks, uint32_t count) {
    struct block *runs = NULL, *next = *blocks;
    while (count > 0) {
        struct block *first = next, *last = first;
        uint32_t length = 1;
        while ((next = last->next) && length < count && chunk_of(next) == chunk_of(first)) {
            last = next;
            length++;
        }
        last->next = NULL;
        first->last = last;
        first->next_run = runs;
        first->count = length;
        runs = first;
        count -= length;
    }
    *blocks = next;
    return runs;
}

/// With the store locked. A chunk that is empty and not kept goes to `unused`.
static void give_to_store(struct store *store, enum slab_class class, struct block *run, struct list *unused) {
    struct chunk *chunk = chunk_of(run);
    if (!has_free(chunk, class))
        list_append(&store->chunks, &chunk->in_store);
    run->next_run = chunk->runs;
    chunk->runs = run;
    if ((chunk->used -= run->count) > 0)
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
    uint32_t limit; ///< 0 before it is set up, and when it has ended
    bool is_set_up;
} kept;

static void give_back(enum slab_class class, uint32_t count) {
    struct list unused;
    list_init(&unused);
    struct block *run = split(&kept.classes[class].free, count), *next;
    kept.classes[class].count -= count;
    lock_store(&stores[class]);
    for (; run; run = next) {
        next = run->next_run;
        give_to_store(&stores[class], class, run, &unused);
    }
    process_unlock(&stores[class].lock);
    for (struct list *node; (node = list_take_first(&unused));)
        munmap(LIST_ENTRY(node, struct chunk, in_store), CHUNK_SIZE);
}

static pthread_key_t key;
static bool has_key;

static void thread_ends(void *unused) {
    (void)unused;
    kept.limit = 0;
    for (int class = 0; class < SLAB_CLASSES; class ++)
        give_back((enum slab_class) class, kept.classes[class].count);
}

static __attribute__((constructor)) void make_key(void) {
    has_key = pthread_key_create(&key, thread_ends) == 0;
}

/// A thread that can't be notified of its end keeps nothing.
static void set_up_thread(void) {
    if (!kept.is_set_up)
        kept.limit = has_key && pthread_setspecific(key, &kept) == 0 ? 2 * BATCH : 0;
    kept.is_set_up = true;
}

static COLD void *refill(enum slab_class class) {
    set_up_thread();
    struct store *store = &stores[class];
    uint32_t batch = kept.classes[class].batch, count = kept.limit == 0 || batch == 0 ? 1 : 2 * batch;
    kept.classes[class].batch = count = count < BATCH ? count : BATCH;
    lock_store(store);
    struct block *taken = take_from_store(store, class, &count);
    if (!taken) {
        process_unlock(&store->lock);
        // A program that needs so many needs the whole chunk: one call of the kernel instead of a fault for each page.
        struct chunk *chunk = map_chunk(count == BATCH ? MAP_POPULATE : 0);
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
    if (kept.limit == 0)
        give_back(class, count - 1);
    return taken;
}

void *runloop__slab_new(enum slab_class class) {
    struct block *block = kept.classes[class].free;
    if (!block)
        return refill(class);
    kept.classes[class].free = block->next;
    kept.classes[class].count--;
    // Another thread has used the next one last.
    __builtin_prefetch(block->next, 1);
    return block;
}

static COLD void give_back_some(enum slab_class class) {
    set_up_thread();
    uint32_t count = kept.classes[class].count;
    if (count > kept.limit)
        give_back(class, kept.limit > 0 ? BATCH : count);
}

void runloop__slab_free(enum slab_class class, void *pointer) {
    struct block *block = pointer;
    block->next = kept.classes[class].free;
    kept.classes[class].free = block;
    if (++kept.classes[class].count > kept.limit)
        give_back_some(class);
}

#endif
#endif // __linux__
