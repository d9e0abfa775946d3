internal import CRunLoopCore
public import RunLoopKit

extension RunLoop.VirtualTime {
    /// A test has left timers in a loop whose virtual time has ended.
    public struct TimersLeftBehind: Error, CustomStringConvertible {
        /// How many there were.
        public let count: Int
        /// What was in the loop.
        public let loopDescription: String

        /// All of that, in sentences.
        public var description: String {
            "\(count) timers were left in a loop when its virtual time ended. The loop:\n\(loopDescription)"
        }
    }
}

extension RunLoop {
    /// Those of all modes. How many there were.
    func invalidateTimers() -> Int {
        allModes.reduce(0) { count, mode in
            let timers = Timers()
            mode.rawValue.withCString { name in
                let context = Unmanaged.passUnretained(timers).toOpaque()
                _ = runloop_visit_items(
                    runloop_current(), name,
                    { context, kind, item in
                        guard let context, let item, kind == .RUNLOOP_ITEM_TIMER else { return }
                        Unmanaged<Timers>.fromOpaque(context).takeUnretainedValue().add(OpaquePointer(item))
                    }, context)
            }
            return count + timers.invalidate()
        }
    }
}

/// Retained, since what is invalidated releases what it has.
private final class Timers {
    private var all: [OpaquePointer] = []

    func add(_ timer: OpaquePointer) { all.append(runloop_timer_retain(timer)) }

    func invalidate() -> Int {
        for timer in all {
            runloop_timer_invalidate(timer)
            runloop_timer_release(timer)
        }
        return all.count
    }
}

/// The virtual time that a loop has at present, for its thread.
final class VirtualTimeOfLoop: @unchecked Sendable {
    var time: RunLoop.VirtualTime?

    private nonisolated(unsafe) static let key = UnsafeRawPointer(UnsafeMutablePointer<UInt8>.allocate(capacity: 1))

    /// Of the calling thread's loop, if that ever had a virtual time.
    static var known: VirtualTimeOfLoop? {
        runloop_current_associated(key).map { Unmanaged<VirtualTimeOfLoop>.fromOpaque($0).takeUnretainedValue() }
    }

    static var current: VirtualTimeOfLoop {
        if let known { return known }
        let made = VirtualTimeOfLoop()
        let error = runloop_set_associated(
            runloop_current(), key, Unmanaged.passRetained(made).toOpaque(),
            { Unmanaged<VirtualTimeOfLoop>.fromOpaque($0!).retain().toOpaque() },
            {
                let ended = Unmanaged<VirtualTimeOfLoop>.fromOpaque($0!)
                ended.takeUnretainedValue().time?.leave()
                ended.release()
            })
        precondition(error == 0, "A loop's virtual time needs memory.")
        return made
    }
}
