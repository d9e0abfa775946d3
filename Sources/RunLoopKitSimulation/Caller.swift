internal import CRunLoopSimulation
internal import RunLoopKitTasks

extension CodePlace {
    /// The innermost call that led here and is not this library's. `nil` if the program was stripped of its lines.
    static var ofCaller: CodePlace? {
        var calls = [UnsafeMutableRawPointer?](repeating: nil, count: 32)
        let count = Int(runloop_simulation_calls(&calls, Int32(calls.count)))
        for case .some(let call) in calls.prefix(count) {
            // Where it returns to may be the next line.
            guard let place = CodePlace(function: UInt(bitPattern: call) - 1), let path = place.source?.path,
                !isOurs(path)
            else { continue }
            return place
        }
        return nil
    }
}
