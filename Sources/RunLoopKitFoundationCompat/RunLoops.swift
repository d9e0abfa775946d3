internal import RunLoopKit

/// One `RunLoop` here per `RunLoop` of RunLoopKit, for as long as its thread lives.
enum RunLoops {
    private static let loops = Guarded<[ObjectIdentifier: Unguarded<RunLoop>]>([:])

    static func object(of native: RunLoopKit.RunLoop) -> RunLoop {
        let key = ObjectIdentifier(native)
        let (loop, isNew) = loops.withLock { loops in
            if let loop = loops[key] { return (loop, false) }
            let loop = Unguarded(RunLoop(native))
            loops[key] = loop
            return (loop, true)
        }
        // What is to be performed in no mode is freed when the thread ends; at once if it has ended already.
        if isNew {
            let end = EndOfThread(key)
            native.perform(inModes: []) { withExtendedLifetime(end) {} }
        }
        return loop.object
    }

    fileprivate static func end(_ key: ObjectIdentifier) {
        let loop = loops.withLock { $0.removeValue(forKey: key) }
        loop?.object.end()
    }
}

/// Its own end is that of the loop's thread.
private final class EndOfThread: Sendable {
    private let key: ObjectIdentifier

    init(_ key: ObjectIdentifier) {
        self.key = key
    }

    deinit {
        RunLoops.end(key)
    }
}
