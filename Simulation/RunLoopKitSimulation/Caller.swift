#if os(Linux)
internal import CRunLoopSimulation
internal import RunLoopKitTasks

/// The calls that led to a place, of which no more is known yet.
struct Calls {
    private let addresses: [UInt]

    /// Here.
    init() {
        var calls = unsafe [UnsafeMutableRawPointer?](repeating: nil, count: 32)
        let count = unsafe Int(runloop_simulation_calls(&calls, Int32(calls.count)))
        addresses = unsafe calls.prefix(count).map { UInt(bitPattern: $0) }
    }

    /// The innermost that is not this library's. `nil` if the program was stripped of its lines.
    var place: CodePlace? { places(1).first }

    /// The innermost ones, with those that are not in the file of the very first: that is often a lock's own.
    var placesAroundLock: [CodePlace] {
        let places = places(8)
        let inner = places.prefix { $0.source?.path == places.first?.source?.path }.count
        return Array(places.prefix(max(3, inner + 2)))
    }

    /// The innermost ones that are not this library's.
    func places(_ most: Int) -> [CodePlace] {
        var places: [CodePlace] = []
        for address in addresses where address != 0 && places.count < most {
            // Where it returns to may be the next line.
            guard let place = CodePlace(function: address - 1), let path = place.source?.path,
                !CodePlace.isOurs(path)
            else { continue }
            places.append(place)
        }
        return places
    }
}

extension CodePlace {
    /// The innermost call that led here and is not this library's.
    static var ofCaller: CodePlace? { Calls().place }
}
#endif
