// atomics.c — atomic variables as C11 has them: which of the stores to a variable a load may find, and what a thread knows after it.
//
// A variable's stores are kept in the order in which they were executed, which is its modification order. A load may find the newest,
// or an older one as long as nothing that this thread knows of comes after it: neither a store, nor what anybody has loaded. To find an older
// one is a deviation. Sequentially consistent operations on a variable do not find anything older than others of their kind did or stored.
// A read-modify-write finds the newest store. What "knows" means is kept in two numbers for each other thread: what happened
// before (acquire and release), and what can't be overlooked any more, which fences add to.

#include <string.h>
#include <sys/mman.h>

#include "internal.h"

enum { LOCATIONS = 4096, STORES = 8, SHARINGS = 1 << 14 };
/// As compilers number them. Consume and acquire are between the first two, what acquires and releases between the others.
enum { RELAXED = 0, RELEASE = 3, SEQUENTIAL = 5 };

struct store {
    uint64_t value;
    uint32_t seen[THREADS]; ///< when each thread stored or first loaded it; 0: never
    struct known happened, visible;
};

struct location {
    uint64_t newest;                          ///< numbers stores, from 0
    uint64_t in_sequence;                     ///< what sequentially consistent loads have to find at least
    uint32_t read[THREADS], written[THREADS]; ///< when each thread did last
    struct store stores[STORES];
};

/// Which threads access an address, in all executions of a search.
struct sharing {
    const volatile void *address;
    uint32_t threads, writers; ///< a bit each
    bool is_shared;
};

KEPT static struct {
    struct location *locations;
    unsigned count;
    struct known fences; ///< what all fences so far have made visible
    struct sharing *sharings;
} atomics;

void atomics_forget_sharing(void) {
    memset(atomics.sharings, 0, SHARINGS * sizeof(struct sharing));
}

void atomics_set_back(void) {
    atomics.count = 0;
    atomics.fences = (struct known){0};
}

void atomics_set_up(void) {
    size_t size = LOCATIONS * sizeof(struct location) + SHARINGS * sizeof(struct sharing);
    char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    atomics.locations = (struct location *)(void *)pages;
    atomics.sharings = (struct sharing *)(void *)(pages + LOCATIONS * sizeof(struct location));
}

void known_join(struct known *known, const struct known *other) {
    for (unsigned i = 0; i < THREADS; i++) {
        if (known->of[i] < other->of[i])
            known->of[i] = other->of[i];
    }
}

static bool acquires(int order) {
    return order != RELAXED && order != RELEASE;
}

static bool releases(int order) {
    return order >= RELEASE;
}

/// What this thread does from now on is later than what it did.
static void advance(struct thread *thread) {
    unsigned me = thread_number();
    thread->visible.of[me] = ++thread->happened.of[me];
}

void atomics_pass(void) {
    advance(thread_current());
}

//===-- which variables are worth a choice ---------------------------------------------------------------------------===//

static struct sharing *sharing_of(const volatile void *address) {
    size_t place = (uintptr_t)address * UINT64_C(0x9E3779B97F4A7C15) >> 50;
    struct sharing *sharing = &atomics.sharings[place];
    while (sharing->address && sharing->address != address)
        sharing = &atomics.sharings[++place % SHARINGS];
    sharing->address = address;
    return sharing;
}

/// Before an access to a variable that only one thread uses, or nobody writes, the order of events doesn't matter.
static void choose_thread(const volatile void *address, bool writes) {
    if (!is_exploring())
        return;
    struct sharing *sharing = sharing_of(address);
    uint32_t me = UINT32_C(1) << thread_number();
    sharing->threads |= me;
    sharing->writers |= writes ? me : 0;
    if (!sharing->is_shared && sharing->writers && (sharing->threads & (sharing->threads - 1))) {
        sharing->is_shared = true;
        search_anew();
    }
    if (sharing->is_shared || search_repeats())
        thread_may_switch();
    else
        choose(1); // The point is numbered all the same.
}

//===-- locations ----------------------------------------------------------------------------------------------------===//

static uint64_t value_at(const volatile void *address, size_t size) {
    switch (size) {
    case 1: return *(const volatile uint8_t *)address;
    case 2: return *(const volatile uint16_t *)address;
    case 4: return *(const volatile uint32_t *)address;
    default: return *(const volatile uint64_t *)address;
    }
}

static void set_value_at(volatile void *address, size_t size, uint64_t value) {
    switch (size) {
    case 1: *(volatile uint8_t *)address = (uint8_t)value; break;
    case 2: *(volatile uint16_t *)address = (uint16_t)value; break;
    case 4: *(volatile uint32_t *)address = (uint32_t)value; break;
    default: *(volatile uint64_t *)address = value;
    }
}

static uint64_t cut(uint64_t value, size_t size) {
    return size == 8 ? value : value & ((UINT64_C(1) << 8 * size) - 1);
}

/// The variable, as the plain accesses before have left it.
static struct location *make_location(const volatile void *address, size_t size) {
    if (atomics.count == LOCATIONS)
        fail("There are too many atomic variables.");
    struct location *location = &atomics.locations[atomics.count++];
    memset(location, 0, sizeof *location);
    location->stores[0].value = value_at(address, size);
    return location;
}

/// Nobody initialises or frees it at the same time.
static void check_plain(const struct cell *cell, const struct thread *thread, bool writes, const void *code) {
    for (unsigned other = 0; other < THREADS; other++) {
        bool is_later = cell->writer == other && thread->happened.of[other] < cell->written;
        if (is_later || (writes && thread->happened.of[other] < cell->read[other])) {
            trace(code, "races with a plain access by thread %u, write at %p", other, cell->written_at);
            fail("A plain access and an atomic one of another thread come at the same time.");
        }
    }
}

/// NULL: it is not observed.
static struct location *location_of(const volatile void *address, size_t size, bool writes, const void *code) {
    struct cell *cell = is_executing() ? cell_of(address) : NULL;
    if (!cell)
        return NULL;
    search_step();
    choose_thread(address, writes);
    cell = cell_of(address);
    if (cell->is_dead)
        fail("An atomic variable is accessed that was freed: %p.", (const void *)address);
    const struct thread *thread = thread_current();
    check_plain(cell, thread, writes, code);
    if (!cell->location)
        cell->location = make_location(address, size);
    unsigned me = thread_number();
    (writes ? cell->location->written : cell->location->read)[me] = thread->happened.of[me];
    return cell->location;
}

void location_check(struct location *location, bool writes, const void *code) {
    const struct thread *thread = thread_current();
    for (unsigned other = 0; other < THREADS; other++) {
        uint32_t last = location->written[other];
        if (writes && last < location->read[other])
            last = location->read[other];
        if (thread->happened.of[other] < last) {
            trace(code, "races with an atomic access by thread %u", other);
            fail("A plain access and an atomic one of another thread come at the same time.");
        }
    }
}

static struct store *store_at(struct location *location, uint64_t number) {
    return &location->stores[number % STORES];
}

//===-- loads --------------------------------------------------------------------------------------------------------===//

static bool is_known(const struct store *store, const struct thread *thread) {
    for (unsigned i = 0; i < THREADS; i++) {
        if (store->seen[i] && store->seen[i] <= thread->visible.of[i])
            return true;
    }
    return false;
}

/// How many stores a load may choose from, counted from the newest.
static unsigned count_of_candidates(struct location *location, const struct thread *thread, int order) {
    unsigned count = 1;
    for (uint64_t number = location->newest; number > 0 && count < STORES - 1; number--, count++) {
        if (is_known(store_at(location, number), thread) || (order == SEQUENTIAL && number <= location->in_sequence))
            break;
    }
    return count;
}

static void acquire(struct thread *thread, const struct store *store, int order) {
    if (acquires(order)) {
        known_join(&thread->happened, &store->happened);
        known_join(&thread->visible, &store->visible);
    } else {
        known_join(&thread->acquired_happened, &store->happened);
        known_join(&thread->acquired_visible, &store->visible);
    }
}

static void see(struct location *location, uint64_t number, int order) {
    struct store *store = store_at(location, number);
    unsigned me = thread_number();
    if (!store->seen[me])
        store->seen[me] = thread_current()->happened.of[me];
    if (order == SEQUENTIAL && location->in_sequence < number)
        location->in_sequence = number;
}

uint64_t atomics_load(const volatile void *address, size_t size, int order, const void *code) {
    struct location *location = location_of(address, size, false, code);
    if (!location)
        return value_at(address, size);
    struct thread *thread = thread_current();
    unsigned count = is_exploring() ? count_of_candidates(location, thread, order) : 1;
    unsigned age = count > 1 ? choose(count) : 0;
    uint64_t number = location->newest - age;
    see(location, number, order);
    const struct store *store = store_at(location, number);
    acquire(thread, store, order);
    trace(code, "load  %p -> %#llx%s", (const void *)address, (unsigned long long)store->value, age ? " (old)" : "");
    advance(thread);
    return store->value;
}

//===-- stores -------------------------------------------------------------------------------------------------------===//

static void append(struct location *location, volatile void *address, size_t size, uint64_t value, int order,
                   const struct store *replaced) {
    struct thread *thread = thread_current();
    struct store new_store = {.value = cut(value, size)};
    if (replaced) {
        new_store.happened = replaced->happened;
        new_store.visible = replaced->visible;
    }
    known_join(&new_store.happened, releases(order) ? &thread->happened : &thread->released_happened);
    known_join(&new_store.visible, releases(order) ? &thread->visible : &thread->released_visible);
    *store_at(location, ++location->newest) = new_store;
    see(location, location->newest, order);
    set_value_at(address, size, value);
}

void atomics_store(volatile void *address, size_t size, uint64_t value, int order, const void *code) {
    struct location *location = location_of(address, size, true, code);
    if (!location) {
        set_value_at(address, size, value);
        return;
    }
    append(location, address, size, value, order, NULL);
    trace(code, "store %p <- %#llx", (void *)address, (unsigned long long)value);
    advance(thread_current());
}

static uint64_t changed(uint64_t value, enum change change, uint64_t operand) {
    switch (change) {
    case ADD: return value + operand;
    case SUB: return value - operand;
    case AND: return value & operand;
    case OR: return value | operand;
    case XOR: return value ^ operand;
    default: return operand;
    }
}

static uint64_t change_location(struct location *location, volatile void *address, size_t size, enum change change,
                                uint64_t operand, int order, const void *code) {
    struct store former = *store_at(location, location->newest);
    see(location, location->newest, order);
    acquire(thread_current(), &former, order);
    uint64_t value = cut(changed(former.value, change, operand), size);
    append(location, address, size, value, order, &former);
    trace(code, "change %p %#llx -> %#llx", (void *)address, (unsigned long long)former.value,
          (unsigned long long)value);
    advance(thread_current());
    return former.value;
}

uint64_t atomics_change(volatile void *address, size_t size, enum change change, uint64_t operand, int order,
                        const void *code) {
    struct location *location = location_of(address, size, true, code);
    if (location)
        return change_location(location, address, size, change, operand, order, code);
    uint64_t former = value_at(address, size);
    set_value_at(address, size, changed(former, change, operand));
    return former;
}

bool atomics_compare_exchange(volatile void *address, size_t size, uint64_t *expected, uint64_t value,
                              struct orders orders, const void *code) {
    struct location *location = location_of(address, size, true, code);
    uint64_t found = location ? store_at(location, location->newest)->value : value_at(address, size);
    bool is_equal = found == cut(*expected, size);
    if (is_equal && !location) {
        set_value_at(address, size, value);
    } else if (is_equal && !(orders.is_weak && is_exploring() && choose(2))) {
        change_location(location, address, size, EXCHANGE, value, orders.success, code);
        return true;
    } else if (location) {
        see(location, location->newest, orders.failure);
        acquire(thread_current(), store_at(location, location->newest), orders.failure);
        trace(code, "change %p fails at %#llx", (void *)address, (unsigned long long)found);
        advance(thread_current());
        is_equal = false;
    }
    *expected = found;
    return is_equal;
}

//===-- fences -------------------------------------------------------------------------------------------------------===//

void atomics_fence(int order) {
    struct thread *thread = thread_current();
    if (acquires(order)) {
        known_join(&thread->happened, &thread->acquired_happened);
        known_join(&thread->visible, &thread->acquired_visible);
    }
    if (order == SEQUENTIAL) {
        known_join(&thread->visible, &atomics.fences);
        known_join(&atomics.fences, &thread->visible);
    }
    if (releases(order)) {
        thread->released_happened = thread->happened;
        thread->released_visible = thread->visible;
    }
    advance(thread);
}
