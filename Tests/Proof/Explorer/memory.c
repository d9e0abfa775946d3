// memory.c — the program's variables and its heap: set back before each execution, and watched for accesses that race or come too late.
//
// A block is never used again within an execution, so whoever accesses one that was freed is found out. Each thread has a part of the heap
// of its own: in all executions its blocks have the same addresses as long as it does the same.

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "internal.h"

enum { HEAP = 1 << 18, GAP = 16 };

struct block {
    size_t size;
};

KEPT static struct {
    char *data, *kept, *kept_end, *data_end; ///< the program's variables, and the explorer's among them
    char *first_values;
    char *heap, *free[THREADS + 1];
    struct cell *data_cells, *heap_cells;
    uint32_t execution;
} memory;

extern char __data_start[], _end[], __start_kept[], __stop_kept[];

static void *map(size_t size) {
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        abort();
    return pages;
}

static char *heap_of(unsigned thread) {
    return memory.heap + (size_t)thread * HEAP;
}

void memory_set_up(void) {
    memory.data = __data_start;
    memory.kept = __start_kept;
    memory.kept_end = __stop_kept;
    memory.data_end = _end;
    size_t size = (size_t)(memory.data_end - memory.data), heap_size = (THREADS + 1) * (size_t)HEAP;
    memory.heap = map(heap_size);
    memory.data_cells = map(size * sizeof(struct cell));
    memory.heap_cells = map(heap_size * sizeof(struct cell));
    memory.first_values = map(size);
    memcpy(memory.first_values, memory.data, size);
}

void memory_set_back(void) {
    memory.execution++;
    memcpy(memory.data, memory.first_values, (size_t)(memory.kept - memory.data));
    memcpy(memory.kept_end, memory.first_values + (memory.kept_end - memory.data),
           (size_t)(memory.data_end - memory.kept_end));
    for (unsigned i = 0; i <= THREADS; i++)
        memory.free[i] = heap_of(i);
}

bool memory_is_ours(const void *block) {
    return (uintptr_t)block - (uintptr_t)memory.heap < (THREADS + 1) * (size_t)HEAP;
}

//===-- cells --------------------------------------------------------------------------------------------------------===//

static struct cell *cell_at(struct cell *cell, bool is_dead) {
    if (cell->execution != memory.execution)
        *cell = (struct cell){.execution = memory.execution, .writer = NOBODY, .is_dead = is_dead};
    return cell;
}

struct cell *cell_of(const volatile void *address) {
    uintptr_t in_data = (uintptr_t)address - (uintptr_t)memory.data;
    if (memory_is_ours((const void *)address))
        return cell_at(&memory.heap_cells[(uintptr_t)address - (uintptr_t)memory.heap], true);
    if (in_data < (uintptr_t)(memory.data_end - memory.data))
        return cell_at(&memory.data_cells[in_data], false);
    return NULL;
}

//===-- blocks -------------------------------------------------------------------------------------------------------===//

void *memory_new(size_t size, size_t alignment) {
    unsigned owner = thread_number();
    if (alignment < GAP)
        alignment = GAP;
    uintptr_t start = ((uintptr_t)memory.free[owner] + GAP + alignment - 1) & ~(uintptr_t)(alignment - 1);
    char *block = (char *)start;
    if (block + size > heap_of(owner) + HEAP)
        fail("The heap of the thread is used up.");
    memory.free[owner] = block + size;
    ((struct block *)(void *)(block - GAP))->size = size;
    // What it holds is nobody's business, but the same each time.
    memset(block, 0xa5, size);
    for (size_t i = 0; i < size; i++)
        cell_of(block + i)->is_dead = false;
    return block;
}

size_t memory_size(const void *block) {
    return ((const struct block *)(const void *)((const char *)block - GAP))->size;
}

/// Counts as a write: whoever accesses it at the same time, or later, is wrong.
void memory_free(void *block) {
    if (cell_of(block)->is_dead)
        fail("A block is freed that is none, or was freed before.");
    size_t size = memory_size(block);
    memory_write(block, size, __builtin_return_address(0));
    for (size_t i = 0; i < size; i++)
        cell_of((char *)block + i)->is_dead = true;
}

//===-- plain accesses -----------------------------------------------------------------------------------------------===//

static void check_alive(const struct cell *cell, const volatile void *address) {
    if (cell->is_dead)
        fail("Memory is accessed that was freed or never allocated: %p.", (const void *)address);
}

static void check_written(const struct cell *cell, const struct thread *thread, const void *code) {
    if (cell->writer != NOBODY && thread->happened.of[cell->writer] < cell->written) {
        trace(code, "races with a write by thread %u at %p", cell->writer, cell->written_at);
        fail("Two threads access a variable that is not atomic at the same time, and one writes.");
    }
}

static void check_read(const struct cell *cell, const struct thread *thread, const void *code) {
    for (unsigned other = 0; other < THREADS; other++) {
        if (thread->happened.of[other] < cell->read[other]) {
            trace(code, "races with a read by thread %u", other);
            fail("Two threads access a variable that is not atomic at the same time, and one writes.");
        }
    }
}

static void note_write(struct cell *cell, const struct thread *thread, const void *code) {
    check_read(cell, thread, code);
    cell->writer = (uint8_t)thread_number();
    cell->written = thread->happened.of[cell->writer];
    cell->written_at = code;
}

static void access(const volatile void *address, size_t size, bool writes, const void *code) {
    struct cell *cell = is_executing() ? cell_of(address) : NULL;
    if (!cell)
        return;
    search_step();
    const struct thread *thread = thread_current();
    unsigned me = thread_number();
    for (size_t i = 0; i < size; i++) {
        cell = cell_of((const volatile char *)address + i);
        check_alive(cell, address);
        check_written(cell, thread, code);
        if (cell->location)
            location_check(cell->location, writes, code);
        if (writes) {
            note_write(cell, thread, code);
            cell->location = NULL;
        } else {
            cell->read[me] = thread->happened.of[me];
        }
    }
}

void memory_read(const volatile void *address, size_t size, const void *code) {
    access(address, size, false, code);
}

void memory_write(const volatile void *address, size_t size, const void *code) {
    access(address, size, true, code);
}
