/// One `RunLoop` per C loop, for as long as the loop's thread lives.
///
/// The C loop has the object, and lets go of it as the last thing when its thread ends. Who still holds it then has a loop on
/// which nothing ever runs. No lock and no table: the thread finds its object by a few loads, and a fork at any moment does no harm.
enum LoopRegistry {
    /// The object of the calling thread's loop.
    @inline(__always)
    static func currentObject() -> RunLoop? {
        LoopCore.currentAssociated.map { Unmanaged<RunLoop>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The object of a loop that the caller knows to be alive, from any thread.
    static func object(of core: LoopCore) -> RunLoop {
        while true {
            if let known = core.copyAssociated() { return Unmanaged<RunLoop>.fromOpaque(known).takeRetainedValue() }
            let loop = RunLoop(retaining: core)
            let info = lendBox(loop)
            let result = core.setAssociated(info, retain: retainCallOut, release: endCallOut)
            if result == 0 { return loop }
            returnBox(info)
            if result == -ErrorNumber.outOfMemory { outOfMemory() }
            // The thread is ending, or the loop is another process's: an object for this call only. Otherwise another thread
            // was faster.
            if result != -ErrorNumber.alreadyThere { return loop }
        }
    }
}

@Sendable
private func retainCallOut(_ info: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let info else { return nil }
    return Unmanaged<RunLoop>.fromOpaque(info).retain().toOpaque()
}

@Sendable
private func endCallOut(_ info: UnsafeMutableRawPointer?) {
    guard let info else { return }
    let loop = Unmanaged<RunLoop>.fromOpaque(info).takeRetainedValue()
    loop.keeper.letGoOfAll()
    loop.end.reach()
}
