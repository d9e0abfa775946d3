// signal_tree.c — a loop's tree of signals: which of its sources were signalled since the loop last looked.
//
// Signals come from any thread and from signal handlers, so they take no lock. Each source has a bit in its loop's tree; a page has 64
// bits, and pages above others have a bit for each of them. A signal sets its bit and then those above it, up to the root. The loop takes
// the bits from the root down. Setting a bit twice is the same as setting it once, so nobody needs to know what others are doing.
//
// Why no signal is lost: a signaller sets bits from the leaf up, and passes over one that it finds set; the loop clears each bit before
// it looks below it. If a signaller finds a bit set, the loop has yet to clear it, and looks at everything below, which was set before,
// after that. All of these are sequentially consistent. The leaf's bit itself is always set by a read-modify-write.
//
// A place may be given to another source while somebody is about to set its bit: then the loop looks at a source that was not signalled, as
// its mark shows. For the same reason pages are never freed, only reused, by any loop: a late signaller always writes to a page.

#ifdef __linux__
#include "items/items.h"

static struct process_lock pool_lock;
static struct signal_page *pool; ///< linked by their first members

enum { MEMBERS = 64 };

UNCHECKED static struct signal_page *new_page(uint32_t level) {
    process_lock(&pool_lock);
    struct signal_page *page = pool;
    if (page)
        pool = page->members[0];
    process_unlock(&pool_lock);
    if (!page && !(page = aligned_alloc(MEMBERS, (sizeof *page + MEMBERS - 1) & ~(size_t)(MEMBERS - 1))))
        return NULL;
    atomic_store(&page->bits, 0);
    atomic_store(&page->parent, NULL);
    page->level = level;
    page->full = 0;
    memset(page->members, 0, sizeof page->members);
    return page;
}

UNCHECKED static void free_page(struct signal_page *page) {
    process_lock(&pool_lock);
    page->members[0] = pool;
    pool = page;
    process_unlock(&pool_lock);
}

static struct signal_page *page_of(uintptr_t cell) {
    return (struct signal_page *)(cell & ~(uintptr_t)(MEMBERS - 1));
}

HOLDS_LOCK static void set_member(struct signal_page *page, uint32_t index, struct signal_page *child) {
    page->members[index] = child;
    atomic_store(&child->index, index);
    atomic_store(&child->parent, page);
}

/// A root above the old one. A signaller that still takes the old one for the root has set its bits by now, so it is looked at once.
HOLDS_LOCK static bool grow(struct signal_tree *tree) {
    struct signal_page *former = atomic_load(&tree->root);
    struct signal_page *root = new_page(former ? former->level + 1 : 0);
    if (!root)
        return false;
    if (former) {
        set_member(root, 0, former);
        root->full = former->full == UINT64_MAX;
        atomic_fetch_or(&root->bits, 1);
    }
    atomic_store(&tree->root, root);
    return true;
}

/// A leaf with a free place below a page that is not full, made if need be.
HOLDS_LOCK static struct signal_page *leaf_below(struct signal_page *page) {
    while (page->level > 0) {
        uint32_t index = (uint32_t)__builtin_ctzll(~page->full);
        struct signal_page *child = page->members[index];
        if (!child) {
            if (!(child = new_page(page->level - 1)))
                return NULL;
            set_member(page, index, child);
        }
        page = child;
    }
    return page;
}

uintptr_t runloop__signal_tree_add(struct signal_tree *tree, void *member) {
    struct signal_page *root = atomic_load(&tree->root);
    if ((!root || root->full == UINT64_MAX) && !grow(tree))
        return 0;
    struct signal_page *leaf = leaf_below(atomic_load(&tree->root));
    if (!leaf)
        return 0;
    uint32_t index = (uint32_t)__builtin_ctzll(~leaf->full);
    leaf->members[index] = member;
    leaf->full |= UINT64_C(1) << index;
    for (struct signal_page *page = leaf, *parent; page->full == UINT64_MAX && (parent = atomic_load(&page->parent));
         page = parent)
        parent->full |= UINT64_C(1) << atomic_load(&page->index);
    return (uintptr_t)leaf | index;
}

void runloop__signal_tree_remove(uintptr_t cell) {
    struct signal_page *page = page_of(cell);
    uint32_t index = cell & (MEMBERS - 1);
    ASSERT(page->level == 0 && page->members[index], "A source lost its place among the signals.");
    page->members[index] = NULL;
    for (;;) {
        bool was_full = page->full == UINT64_MAX;
        page->full &= ~(UINT64_C(1) << index);
        struct signal_page *parent = atomic_load(&page->parent);
        if (!was_full || !parent)
            return;
        index = atomic_load(&page->index);
        page = parent;
    }
}

void runloop__signal_tree_set(uintptr_t cell) {
    struct signal_page *page = page_of(cell);
    atomic_fetch_or(&page->bits, UINT64_C(1) << (cell & (MEMBERS - 1)));
    for (struct signal_page *parent; (parent = atomic_load(&page->parent)); page = parent) {
        uint64_t bit = UINT64_C(1) << atomic_load(&page->index);
        if (!(atomic_load(&parent->bits) & bit))
            atomic_fetch_or(&parent->bits, bit);
    }
}

UNCHECKED static void free_below(struct signal_page *page) {
    for (uint32_t i = 0; page->level > 0 && i < MEMBERS; i++) {
        if (page->members[i])
            free_below(page->members[i]);
    }
    free_page(page);
}

void runloop__signal_tree_free(struct signal_tree *tree) {
    struct signal_page *root = atomic_load(&tree->root);
    if (root)
        free_below(root);
    atomic_store(&tree->root, NULL);
}
#endif // __linux__
