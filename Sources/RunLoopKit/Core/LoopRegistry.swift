internal import Synchronization

/// One `RunLoop` per C loop, for as long as the loop's thread lives.
///
/// The registry owns the object, and gives it up when the thread ends: the core then calls the function registered with
/// `atEnd`, after every source was cancelled, so no call-out needs the object any more. Who still holds it then has a
/// loop on which nothing ever runs.
enum LoopRegistry {
    private static let loops = Mutex<[LoopCore: RunLoop]>([:])

    /// The object of a loop that the caller knows to be alive.
    static func object(of core: LoopCore) -> RunLoop {
        loops.withLock { loops in
            if let loop = loops[core] { return loop }
            let loop = RunLoop(retaining: core)
            let info = lendBox(loop)
            if core.atEnd(info, endCallOut) {
                loops[core] = loop
            } else {
                // The thread is ending, or the loop is another process's: an object for this call only.
                returnBox(info)
            }
            return loop
        }
    }

    fileprivate static func end(_ loop: RunLoop) {
        loops.withLock { loops in
            _ = loops.removeValue(forKey: loop.core)  // `loop` is still held by the caller: nothing is freed in here.
        }
        loop.keeper.letGoOfAll()
    }
}

@Sendable
private func endCallOut(_ info: UnsafeMutableRawPointer?) {
    guard let info else { return }
    LoopRegistry.end(Unmanaged<RunLoop>.fromOpaque(info).takeRetainedValue())
}
