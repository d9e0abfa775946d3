#if os(Linux)
internal import RunLoopKit

/// A thread on which tasks of simulations run, of one at a time. It is used again, since a simulation is often shorter than the start of a thread.
final class Processor: @unchecked Sendable {
    private let turn = Turn()
    private var work: (@Sendable () -> Void)?

    private static let idle = Guarded<[Processor]>([])

    /// Calls `work` on such a thread.
    static func start(_ work: @escaping @Sendable () -> Void) {
        let processor = idle.withLock { $0.popLast() } ?? Processor()
        processor.work = work
        processor.turn.give()
    }

    private init() {
        PosixThread.start("simulated task") { self.run() }.detach()
    }

    private func run() {
        while true {
            turn.wait()
            work?()
            work = nil
            Self.idle.withLock { $0.append(self) }
        }
    }
}
#endif
