import Glibc
import RunLoopKit
import RunLoopKitLinux
import Testing

@Suite struct CounterTests {
    @Test("A counter reports the sum of what was added")
    func counter() async throws {
        let thread = try RunLoop.Thread()
        let sum = Guarded<UInt64>(0)
        let counter = try RunLoop.Counter(on: thread.loop) { more in sum.withLock { $0 += more } }
        for number in 1...100 { try counter.add(UInt64(number)) }
        try counter.add()
        #expect(try await eventually { sum.withLock { $0 } == 5051 })
        addToCounter(counter.fileDescriptor)
        #expect(try await eventually { sum.withLock { $0 } == 5052 })
        #expect(throws: RunLoop.Error.invalid) { try counter.add(0) }
        counter.invalidate()
        try counter.add()
    }

    @Test("A counter that is freed has left its loop, and its closure is freed")
    func freed() async throws {
        try await withRunLoopThread {
            let (freed, mode) = (Count(), RunLoop.Mode("counter"))
            do {
                let token = Token(freed)
                let counter = try RunLoop.Counter(on: .current, inMode: mode) { _ in token.touch() }
                #expect(!RunLoop.current.isEmpty(inMode: mode))
                withExtendedLifetime(counter) {}
            }
            #expect(freed.value == 1)
            #expect(RunLoop.current.isEmpty(inMode: mode))
        }
    }
}
