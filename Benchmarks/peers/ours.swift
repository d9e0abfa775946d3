// ours.swift — the C core through the Swift overlay. Each handle is an object of the overlay, kept by one reference; each
// call-out goes through a closure.

import BenchmarkPeer
import RunLoopKit

typealias Info = UnsafeMutableRawPointer?

private func made(_ object: AnyObject) -> OpaquePointer {
    OpaquePointer(Unmanaged.passRetained(object).toOpaque())
}

/// Borrowed, as a program borrows a property of one of its objects, without counting references.
private func with<Object: AnyObject, Result>(
    _ handle: OpaquePointer, _: Object.Type, _ body: (Object) throws -> Result
) rethrows -> Result {
    try Unmanaged<Object>.fromOpaque(UnsafeRawPointer(handle))._withUnsafeGuaranteedRef(body)
}

private func withLoop<Result>(_ handle: OpaquePointer, _ body: (RunLoop) throws -> Result) rethrows -> Result {
    try with(handle, RunLoop.self, body)
}

private func loop(_ handle: OpaquePointer) -> RunLoop { withLoop(handle) { $0 } }

@_cdecl("peer_open") func peerOpen() -> OpaquePointer { made(RunLoop.current) }

@_cdecl("peer_close") func peerClose(_ handle: OpaquePointer) {}

@_cdecl("peer_run") func peerRun(_ handle: OpaquePointer, _ limit: Int64) {
    if limit == .max {
        withLoop(handle) { _ = $0.run(mode: .default) }
    } else {
        withLoop(handle) { _ = $0.run(mode: .default, for: .nanoseconds(limit)) }
    }
}

@_cdecl("peer_stop") func peerStop(_ handle: OpaquePointer) { withLoop(handle) { $0.stop() } }

@_cdecl("peer_poll") func peerPoll(_ handle: OpaquePointer) {
    withLoop(handle) { _ = $0.run(mode: .default, for: .zero) }
}

// MARK: Sources

private final class Wake {
    let loop: RunLoop
    let source: RunLoop.Source

    init(loop: RunLoop, source: RunLoop.Source) {
        self.loop = loop
        self.source = source
    }
}

private func added(_ source: RunLoop.Source, to loop: RunLoop) -> RunLoop.Source {
    do { try loop.add(source, forMode: .default) } catch { fatalError("\(error)") }
    return source
}

@_cdecl("peer_wake_create") func peerWakeCreate(_ handle: OpaquePointer, _ info: Info) -> OpaquePointer {
    nonisolated(unsafe) let info = info
    let source = RunLoop.Source { peer_calls.on_wake(info) }
    return made(Wake(loop: loop(handle), source: added(source, to: loop(handle))))
}

@_cdecl("peer_wake_send") func peerWakeSend(_ handle: OpaquePointer) {
    with(handle, Wake.self) {
        $0.source.signal()
        $0.loop.wakeUp()
    }
}

@_cdecl("peer_signal_create") func peerSignalCreate(_ handle: OpaquePointer, _ info: Info) -> OpaquePointer {
    nonisolated(unsafe) let info = info
    return made(added(RunLoop.Source { peer_calls.on_signal(info) }, to: loop(handle)))
}

@_cdecl("peer_signal_send") func peerSignalSend(_ handle: OpaquePointer) {
    with(handle, RunLoop.Source.self) { $0.signal() }
}

@_cdecl("peer_submit")
func peerSubmit(_ handle: OpaquePointer, _ function: @escaping @convention(c) (Info) -> Void, _ info: Info) {
    withLoop(handle) { _ = $0.perform { function(info) } }
}

@_cdecl("peer_watch_add") func peerWatchAdd(_ handle: OpaquePointer, _ descriptor: CInt, _ info: Info) -> OpaquePointer
{
    nonisolated(unsafe) let info = info
    guard
        let source = try? RunLoop.Source(
            fileDescriptor: descriptor, events: .read, perform: { _ in peer_calls.on_ready(info) })
    else { fatalError("no source for descriptor \(descriptor)") }
    return made(added(source, to: loop(handle)))
}

// MARK: Timers

// A repeating timer is a `Timer`; one that fires once is a `Timeout`, whose one word is the handle. Programs keep it in their own
// objects.

/// In a Swift program an object waits, and the closure captures it. Here one object is enough for all timers with the same `info`.
private final class Owner {
    let info: Info

    init(info: Info) {
        self.info = info
    }

    func wait(for delay: Duration, tolerance: Duration, on loop: RunLoop) -> RunLoop.Timeout {
        // In one mode, as timers of other loops, which have no modes.
        RunLoop.Timeout(on: loop, after: delay, tolerance: tolerance, inMode: .default) { [self] in
            peer_calls.on_timer(info)
        }
    }
}

private nonisolated(unsafe) var lastOwner: Unmanaged<Owner>?

private func owner(of info: Info) -> Unmanaged<Owner> {
    if let lastOwner, lastOwner._withUnsafeGuaranteedRef({ $0.info == info }) { return lastOwner }
    let owner = Unmanaged.passRetained(Owner(info: info))
    lastOwner = owner
    return owner
}

private func made(_ timeout: consuming RunLoop.Timeout) -> OpaquePointer {
    var timeout = Optional(timeout)
    var handle = OpaquePointer(bitPattern: 1).unsafelyUnwrapped
    withUnsafeMutableBytes(of: &handle) {
        _ = $0.baseAddress!.initializeMemory(as: RunLoop.Timeout.self, to: timeout.take()!)
    }
    return handle
}

private func withTimeout<Result>(
    _ handle: OpaquePointer, _ body: (UnsafeMutablePointer<RunLoop.Timeout>) -> Result
) -> Result {
    var handle = handle
    return withUnsafeMutableBytes(of: &handle) { body($0.baseAddress!.assumingMemoryBound(to: RunLoop.Timeout.self)) }
}

@_cdecl("peer_timer_start") func peerTimerStart(_ handle: OpaquePointer, _ delay: Int64, _ info: Info) -> OpaquePointer
{
    let delay = Duration.nanoseconds(delay)
    let tolerance = Duration.nanoseconds(peer_calls.tolerance_ns)
    if peer_calls.interval_ns == 0 {
        return withLoop(handle) { loop in
            owner(of: info)._withUnsafeGuaranteedRef { made($0.wait(for: delay, tolerance: tolerance, on: loop)) }
        }
    }
    let interval = Duration.nanoseconds(peer_calls.interval_ns)
    let timer = RunLoop.Timer(after: delay, every: interval, tolerance: tolerance) { _ in peer_calls.on_timer(info) }
    withLoop(handle) { try! $0.add(timer, forMode: .default) }
    return made(timer)
}

@_cdecl("peer_timer_move") func peerTimerMove(_ handle: OpaquePointer, _ delay: Int64) {
    if peer_calls.interval_ns == 0 {
        withTimeout(handle) { $0.pointee.reschedule(after: .nanoseconds(delay)) }
    } else {
        with(handle, RunLoop.Timer.self) { $0.reschedule(after: .nanoseconds(delay)) }
    }
}

@_cdecl("peer_timer_cancel") func peerTimerCancel(_ handle: OpaquePointer) {
    if peer_calls.interval_ns == 0 { return withTimeout(handle) { $0.move().cancel() } }
    Unmanaged<RunLoop.Timer>.fromOpaque(UnsafeRawPointer(handle)).takeRetainedValue().invalidate()
}

// MARK: Modes

@_cdecl("peer_observe_all") func peerObserveAll(_ handle: OpaquePointer, _ observe: @escaping @convention(c) () -> Void)
{
    try! loop(handle).add(RunLoop.Observer(.all) { _, _ in observe() }, forMode: .default)
}

@_cdecl("peer_add_modes") func peerAddModes(_ handle: OpaquePointer, _ count: CUnsignedInt, _ areCommon: Bool) {
    for number in 0..<count {
        let mode = RunLoop.Mode(rawValue: "mode \(number)")
        do { try loop(handle).add(RunLoop.Source {}, forMode: mode) } catch { fatalError("\(error)") }
        if areCommon { loop(handle).addCommonMode(mode) }
    }
}

private let common = RunLoop.Source {}

@_cdecl("peer_add_remove_common") func peerAddRemoveCommon(_ handle: OpaquePointer) {
    withLoop(handle) {
        try? $0.add(common, forMode: .common)
        $0.remove(common, forMode: .common)
    }
}

private let inner: RunLoop.Mode = "mode 0"
private nonisolated(unsafe) var innerIsMade = false

@_cdecl("peer_run_inner") func peerRunInner(_ handle: OpaquePointer) {
    if !innerIsMade {
        innerIsMade = true
        peerAddModes(handle, 1, false)
    }
    withLoop(handle) { _ = $0.run(mode: inner, for: .zero) }
}
