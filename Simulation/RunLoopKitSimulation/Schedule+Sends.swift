#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopOverlay
internal import CRunLoopSimulation
internal import RunLoopKit

extension Schedule {
    /// When the program is loaded: a call that would be made on a thread of its own is one more thing that a processor does.
    static func followOutsideWork() {
        OutsideWork.follow { call in
            guard let call, let simulation = RunLoop.Simulation.current else {
                return .outside(end: nil)
            }
            simulation.tasks.add(.init(call))
            return .taken
        }
    }

    /// When the program is loaded: whatever a thread of a simulation sends to a loop, others may act upon before it goes on.
    static func followSends() {
        unsafe runloop__set_send_hook { loop, kind, what in
            guard let simulation = RunLoop.Simulation.current else { return }
            unsafe simulation.schedule.pause(
                .sent(kind, what: what.map { UInt(bitPattern: $0) }, to: unsafe simulation.name(of: loop)))
        }
    }
}
#endif
