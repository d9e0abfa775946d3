#if os(Linux)
internal import CRunLoopDiagnostics
public import RunLoopKit

extension RunLoop {
    /// Records what the loop does from now on: the latest `capacity` events, 64 bytes each. An event then costs a read of the clock, and a
    /// copy of the item's name. What was recorded before is forgotten. On the loop's own thread only: anything else is a precondition
    /// failure, as is a capacity out of range. O(capacity).
    ///
    ///     loop.startRecording()
    ///     …
    ///     print(RunLoop.trace(of: [loop]))
    ///
    /// - Parameter capacity: from 1 to 16,777,216.
    public func startRecording(capacity: Int = 16_384) {
        precondition(isCurrent, "A run loop is recorded from its own thread on.")
        precondition((1...16_777_216).contains(capacity), "A recording keeps from 1 to 16,777,216 events.")
        let result = runloop_recorder_start(UInt32(capacity))
        if result < 0, Error(result: result) == .outOfMemory { outOfMemory() }
    }

    /// Ends the recording of the calling thread's loop. What was recorded stays. No effect if nothing is recorded.
    /// On the loop's own thread only: anything else is a precondition failure. O(1).
    public func stopRecording() {
        precondition(isCurrent, "The recording of a run loop is stopped on its own thread.")
        runloop_recorder_stop()
    }

    /// What was recorded of these loops, as a timeline for [Perfetto](https://ui.perfetto.dev) or `chrome://tracing`: a JSON object in the
    /// trace event format, with slices for runs, iterations, sleeps and call-outs, and their names. Any thread; the loops go on. Loops
    /// that were never recorded, or whose threads have ended, have no part in it. Empty if memory ran out. O(events).
    public static func trace(of loops: [RunLoop]) -> String {
        let cores = unsafe loops.map { unsafe Optional($0.core) }
        return withExtendedLifetime(loops) { unsafe takeString(runloop_copy_trace(cores, cores.count)) } ?? ""
    }
}
#endif
