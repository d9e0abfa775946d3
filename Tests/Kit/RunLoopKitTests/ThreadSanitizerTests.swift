import Glibc
import RunLoopKit
import Synchronization
import Testing

/// What these check can fail only under the thread sanitizer, and does unless Tests/bin/under-thread-sanitizer runs them.
@Suite struct ThreadSanitizerTests {
    private final class Gift: Sendable {
        let value: Int
        init(_ value: Int) { self.value = value }
    }

    /// Relaxed, so that the waiting for it orders nothing.
    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }

    @Test("What a task is given that is resumed before it waits is no race to the sanitizer")
    func resumedEarly() async throws {
        let thread = try RunLoop.Thread()
        defer { thread.stop() }
        let isResumed = Flag()
        let gift = await withUnsafeContinuation { (waiter: UnsafeContinuation<Gift, Never>) in
            thread.loop.perform {
                waiter.resume(returning: Gift(3))
                isResumed.set()
            }
            while !isResumed.isSet { sched_yield() }
        }
        #expect(gift.value == 3)
    }
}
