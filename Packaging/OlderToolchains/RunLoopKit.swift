#if os(Linux)
// What Package@swift-5.9.swift has in place of the Swift modules.
#error(
    "RunLoopKit's Swift modules need Swift 6.3. An older Swift can use CRunLoopMainQueue, which serves DispatchQueue.main and @MainActor in GLib's loop, CRunLoopCore, CRunLoopLinux and CRunLoopDiagnostics."
)
#endif
