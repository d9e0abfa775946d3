#if os(Linux)
internal import CRunLoopSimulation

/// The function of a test, which Swift Testing lends for the time of a call.
///
/// A run that never ends, since it waits for ever or has come to a trap, has a reference to it for ever. Nobody runs anything of such a run any more,
/// so the reference is of no use, but it would end the process: the compiler checks that what is lent does not stay. It is taken back.
@safe struct LentFunction: Sendable {
    typealias Function = @Sendable () async throws -> Void

    private struct Box { let function: Function }

    /// Of a closure, which the reference does not keep: its code, and what it has captured.
    private struct Words: Sendable { let code, captured: UInt }

    private let words: Words

    @inline(never) init(_ function: @escaping Function) {
        words = unsafe unsafeBitCast(Box(function: function), to: Words.self)
    }

    /// Those of the lender, before the first run.
    var references: Int {
        unsafe runloop_simulation_count_references(UnsafeMutableRawPointer(bitPattern: words.captured))
    }

    var function: Function { unsafe unsafeBitCast(words, to: Box.self).function }

    /// After the last run, all but those.
    func takeBack(but references: Int) {
        unsafe runloop_simulation_drop_references(UnsafeMutableRawPointer(bitPattern: words.captured), references)
    }
}
#endif
