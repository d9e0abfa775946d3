#if os(Linux)
internal import CRunLoopSimulation
internal import RunLoopKitTasks

extension CodePlace {
    /// The innermost call that led here and is not this library's. `nil` if the program was stripped of its lines.
    static var ofCaller: CodePlace? {
        var calls = unsafe [UnsafeMutableRawPointer?](repeating: nil, count: 32)
        let count = unsafe Int(runloop_simulation_calls(&calls, Int32(calls.count)))
        for address in unsafe calls.prefix(count).map({ UInt(bitPattern: $0) }) where address != 0 {
            // Where it returns to may be the next line.
            guard let place = CodePlace(function: address - 1), let path = place.source?.path,
                !isOurs(path)
            else { continue }
            return place
        }
        return nil
    }
}
#endif
