// glib.c — the main dispatch queue as a source of GLib's default context. GLib's functions are looked up, because a program whose loop is
// GLib's has linked it, or loaded it: so the target builds where GLib's headers are not.
#ifdef __linux__
#include "runloop_main_queue.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/// GLib's types: gint, guint, gboolean, GIOCondition.
typedef int (*descriptor_function)(int descriptor, unsigned condition, void *info);
typedef unsigned (*add_function)(int priority, int descriptor, unsigned condition, descriptor_function function,
                                 void *info, void (*destroy)(void *));

enum { READABLE = 1 }; // G_IO_IN

/// NULL if GLib is not in the process. What is found stays, as the library is never unloaded.
static add_function find_add(void) {
    // Loaded for a plug-in's sake, its names may be hidden from everybody else. Linked into the program, it is no library.
    void *library = dlopen("libglib-2.0.so.0", RTLD_LAZY | RTLD_NOLOAD);
    return (add_function)(uintptr_t)dlsym(library ? library : RTLD_DEFAULT, "g_unix_fd_add_full");
}

/// Whether GLib is to call again.
static int serve(int descriptor, unsigned condition, void *info) {
    (void)condition, (void)info;
    // A queue that was given away has closed its descriptor, whose number may be another file's by now.
    if (runloop_main_queue_descriptor() != descriptor)
        return 0;
    // On another thread the descriptor would stay readable, and GLib would spin.
    return runloop_main_queue_serve() != -EPERM;
}

int runloop_main_queue_serve_under_glib(int priority, unsigned *source_id) {
    int descriptor = runloop_main_queue_descriptor();
    if (descriptor < 0)
        return descriptor;
    if (getpid() != (pid_t)syscall(SYS_gettid))
        return -EPERM;
    add_function add = find_add();
    if (!add)
        return -ELIBACC;
    unsigned id = add(priority, descriptor, READABLE, serve, NULL, NULL);
    if (source_id)
        *source_id = id;
    return 0;
}
#endif // __linux__
