// dispatch.c — a signal that libdispatch catches is noticed through libdispatch.
//
// For a signal source it has a thread with a signalfd, and a handler that passes on what other threads receive. Whoever replaces that handler
// takes some of the signals from it, and gets only some itself: the thread reads most of them before a handler can run. But its sources share a
// signal; so this asks for one more of them. The functions are looked up in the process: a program without libdispatch needs no library for it.

#ifdef __linux__
#include "process/dispatch.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct functions {
    void *(*queue)(intptr_t identifier, uintptr_t flags);
    void *(*create)(const void *type, uintptr_t handle, uintptr_t mask, void *queue);
    void (*set_context)(void *object, void *context);
    void (*set_handler)(void *source, void (*handler)(void *context));
    void (*set_registered)(void *source, void (*handler)(void *context));
    void (*set_finalizer)(void *object, void (*finalizer)(void *context));
    uintptr_t (*data)(void *source);
    void (*resume)(void *object);
    void (*cancel)(void *source);
    void (*release)(void *object);
    const void *type;
};

struct share {
    void *source;
    int number;
    void (*arrived)(int number, unsigned long count);
    uintptr_t (*data)(void *source);
    _Atomic bool is_registered;
};

static bool find(const char *name, void *out) {
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(out, &found, sizeof found);
    return found;
}

static bool find_all(struct functions *out) {
    return find("dispatch_get_global_queue", &out->queue) && find("dispatch_source_create", &out->create) &&
           find("dispatch_set_context", &out->set_context) && find("dispatch_set_finalizer_f", &out->set_finalizer) &&
           find("dispatch_source_set_event_handler_f", &out->set_handler) &&
           find("dispatch_source_set_registration_handler_f", &out->set_registered) &&
           find("dispatch_source_get_data", &out->data) && find("dispatch_resume", &out->resume) &&
           find("dispatch_source_cancel", &out->cancel) && find("dispatch_release", &out->release) &&
           find("_dispatch_source_type_signal", &out->type);
}

/// By the name of its file: in a program that has it linked in, its handler looks like one of the program's own.
bool runloop__dispatch_handles(const struct sigaction *action) {
    Dl_info found;
    if (action->sa_handler == SIG_IGN || action->sa_handler == SIG_DFL ||
        !dladdr((void *)(uintptr_t)action->sa_handler, &found) || !found.dli_fname)
        return false;
    const char *slash = strrchr(found.dli_fname, '/');
    return strncmp(slash ? slash + 1 : found.dli_fname, "libdispatch", strlen("libdispatch")) == 0;
}

static void arrived(void *context) {
    const struct share *share = context;
    share->arrived(share->number, share->data(share->source));
}

static void note_registered(void *context) {
    atomic_store(&((struct share *)context)->is_registered, true);
}

/// What arrives before is not reported. The threads of libdispatch may be busy, so there is a limit.
static void await_registration(const struct share *share) {
    enum { LIMIT_MS = 200, MS = 1000000 };
    for (int i = 0; i < LIMIT_MS && !atomic_load(&share->is_registered); i++)
        nanosleep(&(struct timespec){.tv_nsec = MS}, NULL);
}

void *runloop__dispatch_share(int number, void (*receive)(int number, unsigned long count)) {
    struct functions dispatch;
    struct share *share = find_all(&dispatch) ? malloc(sizeof *share) : NULL;
    if (!share)
        return NULL;
    void *source = dispatch.create(dispatch.type, (uintptr_t)number, 0, dispatch.queue(0, 0));
    *share = (struct share){.source = source, .number = number, .arrived = receive, .data = dispatch.data};
    if (!source) {
        free(share);
        return NULL;
    }
    dispatch.set_context(source, share);
    dispatch.set_handler(source, arrived);
    dispatch.set_finalizer(source, free);
    dispatch.set_registered(source, note_registered);
    dispatch.resume(source);
    await_registration(share);
    return source;
}

void runloop__dispatch_end_share(void *source) {
    struct functions dispatch;
    if (!find_all(&dispatch))
        return;
    dispatch.cancel(source);
    dispatch.release(source);
}
#endif // __linux__
