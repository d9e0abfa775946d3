import Glibc
import RunLoopKit
import RunLoopKitGLib

// A toolkit links GLib. This program builds where GLib is not installed, so it loads what there is.
guard let library = dlopen("libglib-2.0.so.0", RTLD_NOW), let symbol = dlsym(library, "g_main_context_iteration") else {
    print("GLib is not installed here: the program builds, and has nothing to run under.")
    exit(0)
}
let iterate = unsafeBitCast(symbol, to: (@convention(c) (OpaquePointer?, CInt) -> CInt).self)
let host = try RunLoop.GLibHost()
RunLoop.main.perform { RunLoop.main.stop() }
while host.result == nil { _ = iterate(nil, 1) }
precondition(host.result == .stopped)
