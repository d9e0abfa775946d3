#if os(Linux)
internal import CRunLoopCore
public import RunLoopKit

extension RunLoop.VirtualTime {
    /// A test has left timers, or deadlines of sources, in a loop whose virtual time has ended.
    ///
    ///     let timer = RunLoop.Timer(after: .seconds(60)) { _ in }
    ///     try loop.add(timer, forMode: .default)
    ///     // Throws this error, unless the timer has fired or is invalid.
    ///     try time.end()
    public struct TimersLeftBehind: Error, CustomStringConvertible {
        let count: Int
        let loopDescription: String

        /// How many there were, and what was in the loop, in sentences.
        public var description: String {
            "\(count) timers or deadlines were left in a loop when its virtual time ended. The loop:\n\(loopDescription)"
        }
    }
}

extension RunLoop {
    /// Invalidates the timers of all modes, and takes back the deadlines of sources. How many there were.
    func removeDates() -> Int {
        var count = 0
        for mode in allModes {
            unsafe runloop_visit_items(
                runloop_current(), mode.name,
                { count, kind, item in
                    guard let count = unsafe count?.assumingMemoryBound(to: Int.self), let item = unsafe item else {
                        return
                    }
                    if unsafe removeDate(of: OpaquePointer(item), kind) { unsafe count.pointee += 1 }
                }, &count)
        }
        return count
    }
}

/// Did the item have one?
private func removeDate(of item: OpaquePointer, _ kind: runloop_item_kind) -> Bool {
    switch kind {
    case .RUNLOOP_ITEM_TIMER:
        // A task goes on. One that has been cancelled would sleep no less, so nobody has left that behind.
        if unsafe Hooks.endSleep?(item) == true { return false }
        unsafe runloop_timer_invalidate(item)
        return true
    case .RUNLOOP_ITEM_DESCRIPTOR_SOURCE where unsafe runloop_source_get_deadline(item) != Nanoseconds.never:
        return unsafe runloop_source_set_deadline(item, Nanoseconds.never) == 0
    default:
        return false
    }
}

/// The virtual time that a loop has at present, for its thread.
final class VirtualTimeOfLoop: @unchecked Sendable {
    var time: RunLoop.VirtualTime?

    private static var registry: LoopRegistry<VirtualTimeOfLoop> { unsafe LoopRegistry(end: endCallOut) }

    /// Of the calling thread's loop, if that ever had a virtual time.
    static var known: VirtualTimeOfLoop? { registry.currentObject }

    static var current: VirtualTimeOfLoop { registry.object(of: .current) { VirtualTimeOfLoop() } }
}

@Sendable
private func endCallOut(_ info: UnsafeMutableRawPointer?) {
    guard let info = unsafe info else { return }
    unsafe Unmanaged<VirtualTimeOfLoop>.fromOpaque(info).takeRetainedValue().time?.leave()
}
#endif
