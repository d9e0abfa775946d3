import CGtk

// What Swift does not see of GTK: its casts and its connections are macros.

func cast<From, To>(_ object: UnsafeMutablePointer<From>?) -> UnsafeMutablePointer<To>? {
    UnsafeMutableRawPointer(object)?.assumingMemoryBound(to: To.self)
}

func cast<From>(_ object: UnsafeMutablePointer<From>?) -> OpaquePointer? {
    OpaquePointer(object)
}

private final class Handler {
    let call: @MainActor () -> Void
    init(_ call: @escaping @MainActor () -> Void) { self.call = call }
}

/// Connects a signal without arguments. The handler is kept as long as the object, and called on GTK's thread.
@MainActor
func connect<Object>(
    _ object: UnsafeMutablePointer<Object>?, _ signal: String, _ handler: @escaping @MainActor () -> Void
) {
    let callback: @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void = { _, handler in
        let handler = Unmanaged<Handler>.fromOpaque(handler).takeUnretainedValue()
        MainActor.assumeIsolated { handler.call() }
    }
    g_signal_connect_data(
        object, signal, unsafeBitCast(callback, to: GCallback.self),
        Unmanaged.passRetained(Handler(handler)).toOpaque(),
        { handler, _ in Unmanaged<AnyObject>.fromOpaque(handler!).release() }, GConnectFlags(rawValue: 0))
}
