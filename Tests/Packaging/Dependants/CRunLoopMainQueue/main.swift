import CRunLoopMainQueue
import Dispatch
import Glibc

// A toolkit links GLib. This program builds where GLib is not installed, so it loads what there is.
guard let library = dlopen("libglib-2.0.so.0", RTLD_NOW), let symbol = dlsym(library, "g_main_context_iteration") else {
    precondition(runloop_main_queue_serve_under_glib(RUNLOOP_MAIN_QUEUE_PRIORITY, nil) == -ELIBACC)
    print("GLib is not installed here: the program builds, and has nothing to run under.")
    exit(0)
}
let iterate = unsafeBitCast(symbol, to: (@convention(c) (OpaquePointer?, CInt) -> CInt).self)
precondition(runloop_main_queue_serve_under_glib(RUNLOOP_MAIN_QUEUE_PRIORITY, nil) == 0)
Task { @MainActor in exit(0) }
while true { _ = iterate(nil, 1) }
