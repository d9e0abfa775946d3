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
            unsafe runloop_visit_items(
                runloop_current(), mode.name,
                { context, kind, item in
                    guard let item = unsafe item, kind == .RUNLOOP_ITEM_TIMER else { return }
                    unsafe withInfo(context, as: Timers.self) { unsafe $0.add(OpaquePointer(item)) }
                }, Unmanaged.passUnretained(timers).toOpaque())
            return count + timers.invalidate()
        }
    }
}

/// Retained, since what is invalidated releases what it has.
@safe private final class Timers {
    @safe private var all: [OpaquePointer] = unsafe []

    func add(_ timer: OpaquePointer) { unsafe all.append(runloop_timer_retain(timer)) }

    func invalidate() -> Int {
        for index in unsafe all.indices {
            unsafe runloop_timer_invalidate(all[index])
            unsafe runloop_timer_release(all[index])
        }
        return unsafe all.count
    }
}

/// The virtual time that a loop has at present, for its thread.
final class VirtualTimeOfLoop: @unchecked Sendable {
    var time: RunLoop.VirtualTime?

    private nonisolated(unsafe) static let key = UnsafeRawPointer(UnsafeMutablePointer<UInt8>.allocate(capacity: 1))

    /// Of the calling thread's loop, if that ever had a virtual time.
    static var known: VirtualTimeOfLoop? {
        unsafe runloop_current_associated(key).map {
            unsafe Unmanaged<VirtualTimeOfLoop>.fromOpaque($0).takeUnretainedValue()
        }
    }

    static var current: VirtualTimeOfLoop {
        if let known { return known }
        let made = VirtualTimeOfLoop()
        let error = unsafe runloop_set_associated(
            runloop_current(), key, Unmanaged.passRetained(made).toOpaque(),
            { unsafe Unmanaged<VirtualTimeOfLoop>.fromOpaque($0!).retain().toOpaque() },
            {
                let ended = unsafe Unmanaged<VirtualTimeOfLoop>.fromOpaque($0!)
                unsafe ended.takeUnretainedValue().time?.leave()
                unsafe ended.release()
            })
        precondition(error == 0, "A loop's virtual time needs memory.")
        return made
    }
}
