/// One `RunLoop` per C loop, for as long as the loop's thread lives.
///
/// The registry owns the object, and gives it up when the thread ends: the core then calls the function registered with
/// `atEnd`, after every source was cancelled, so no call-out needs the object any more. Who still holds it then has a
/// loop on which nothing ever runs.
enum LoopRegistry {
    private static let loops = Guarded<[UInt: RunLoop]>([:])

    /// The object of a loop that the caller knows to be alive.
    static func object(of core: LoopCore) -> RunLoop {
        loops.withLock { loops in
            if let loop = loops[core.address] { return loop }
            let loop = RunLoop(retaining: core)
            let info = lendBox(loop)
            if core.atEnd(info, endCallOut) {
                loops[core.address] = loop
            } else {
                // The thread is ending, or the loop is another process's: an object for this call only.
                returnBox(info)
            }
            return loop
        }
    }

    /// The object of a loop, if there is such a loop.
    static func object(at address: UInt) -> RunLoop? {
        loops.withLock { $0[address] }
    }

    fileprivate static func end(_ loop: RunLoop) {
        // The caller still holds `loop`: nothing is freed under the lock.
        _ = loops.withLock { $0.removeValue(forKey: loop.core.address) }
        loop.keeper.letGoOfAll()
    }
}

@Sendable
private func endCallOut(_ info: UnsafeMutableRawPointer?) {
    guard let info else { return }
    LoopRegistry.end(Unmanaged<RunLoop>.fromOpaque(info).takeRetainedValue())
}
