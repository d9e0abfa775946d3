// associated.c — objects of language bindings that belong to a loop: one for each key, kept until the loop's thread ends.
//
// Associations are pushed onto a list that is never shortened while the loop's memory is there, so reading it needs no lock, and a
// fork no care. The object goes when the thread ends. The thread itself therefore borrows it; other threads announce themselves as
// readers, look, and retain. Either the ending thread sees the reader and waits for these few instructions, or the reader finds the
// object gone: both sides use sequentially consistent operations on the two words.

#ifdef __linux__
#include "model/model.h"

struct association {
    const void *key;        ///< constant
    _Atomic(void *) object; ///< set under lock; NULL when it has gone
    void *(*retain)(void *object);
    void (*release)(void *object);
    struct association *next; ///< constant
};

static struct association *find(runloop *loop, const void *key) {
    struct association *found = atomic_load_explicit(&loop->associations, memory_order_acquire);
    while (found && found->key != key)
        found = found->next;
    return found;
}

int runloop_set_associated(runloop *loop, const void *key, void *object, void *(*retain)(void *),
                           void (*release)(void *)) {
    int error = loop_check(loop);
    if (error)
        return error;
    if (!key || !object || !retain || !release)
        return -EINVAL;
    struct association *association = malloc(sizeof *association);
    if (!association)
        return -ENOMEM;
    *association = (struct association){.key = key, .object = object, .retain = retain, .release = release};
    loop_lock(loop);
    if (atomic_load(&loop->is_finished))
        error = -ESHUTDOWN;
    else if (find(loop, key))
        error = -EEXIST;
    if (!error) {
        association->next = atomic_load_explicit(&loop->associations, memory_order_relaxed);
        atomic_store_explicit(&loop->associations, association, memory_order_release);
    }
    loop_unlock(loop);
    if (error)
        free(association);
    return error;
}

void *runloop_current_associated(const void *key) {
    runloop *loop = runloop__thread_loop();
    struct association *found = loop && !is_from_parent_process(loop) ? find(loop, key) : NULL;
    return found ? atomic_load_explicit(&found->object, memory_order_relaxed) : NULL;
}

void *runloop_copy_associated(runloop *loop, const void *key) {
    if (loop_check(loop))
        return NULL;
    struct association *found = find(loop, key);
    if (!found)
        return NULL;
    atomic_fetch_add(&loop->association_readers, 1);
    void *object = atomic_load(&found->object);
    if (object)
        object = found->retain(object);
    if (atomic_fetch_sub(&loop->association_readers, 1) == 1 && atomic_load(&loop->is_finished))
        futex_wake(&loop->association_readers, 1);
    return object;
}

void runloop__associations_end(runloop *loop) {
    struct association *association = atomic_load_explicit(&loop->associations, memory_order_acquire);
    for (; association; association = association->next) {
        void *object = atomic_exchange(&association->object, NULL);
        for (uint32_t readers; (readers = atomic_load(&loop->association_readers)) > 0;)
            futex_wait(&loop->association_readers, readers);
        if (object)
            runloop__IS_CALLING_OUT_TO_A_CONTEXT_RELEASE(association->release, object);
    }
}

void runloop__associations_free(runloop *loop) {
    for (struct association *association = atomic_load(&loop->associations), *next; association; association = next) {
        next = association->next;
        free(association);
    }
}
#endif // __linux__
