import RunLoopKit
import RunLoopKitTesting
import Testing

@Suite struct TimeoutTests {
    @Test("R85 R88 A timeout calls its action once, not early, is valid meanwhile, and frees it then")
    func fires() async throws {
        try await withRunLoopThread {
            let trace = Trace()
            let freed = Count()
            let patience = Patience()
            let due = RunLoop.Instant.now + .milliseconds(2)
            patience.begin(on: .current, after: .milliseconds(2)) { [token = Token(freed)] in
                token.touch()
                trace.note("\(patience.isValid) \(patience.fireDate! >= due) \(RunLoop.Instant.now >= due)")
            }
            #expect(patience.isValid)
            #expect(patience.fireDate! >= due)
            #expect(RunLoop.current.run(mode: .default) == .finished)
            #expect(trace.all == ["true true true"])
            #expect(freed.value == 1)
            #expect(!patience.isValid)
            #expect(patience.fireDate == nil)
            patience.putOff(by: .zero)
            #expect(RunLoop.current.run(mode: .default, for: .zero) == .finished)
            patience.end()
            #expect(trace.all.count == 1)
        }
    }

    @Test("R88 A timeout that is let go of is called off, and its closure freed at once")
    func letGo() async throws {
        try await withRunLoopThread {
            let freed = Count()
            let called = Count()
            for way in 0..<3 {
                let token = Token(freed)
                let timeout = RunLoop.Timeout(on: .current, after: .zero) { [token] in
                    token.touch()
                    called.increment()
                }
                #expect(!RunLoop.current.isEmpty(.default))
                switch way {
                case 0: timeout.cancel()
                case 1: _ = consume timeout
                default: break
                }
                _ = token
            }
            #expect(RunLoop.current.isEmpty(.default))
            #expect(RunLoop.current.run(mode: .default, for: .zero) == .finished)
            #expect(freed.value == 3)
            #expect(called.value == 0)
        }
    }

    @Test("R88 R119 A timeout that is called off in its own action frees its closure after that")
    func calledOffInside() async throws {
        try await withRunLoopThread {
            let freed = Count()
            let seen = Trace()
            let patience = Patience()
            for tolerance in [Duration.zero, .milliseconds(1)] {
                patience.begin(on: .current, after: .zero, tolerance: tolerance) { [token = Token(freed)] in
                    patience.end()
                    seen.note("\(freed.value)")
                    token.touch()
                }
                #expect(RunLoop.current.run(mode: .default) == .finished)
            }
            #expect(seen.all == ["0", "1"])
            #expect(freed.value == 2)
        }
    }

    @Test("R119 An action may begin its timeout anew, or let go of its owner; the closure stays until it returns")
    func replacedInside() async throws {
        try await withRunLoopThread {
            let freed = Count()
            let seen = Trace()
            let shelf = Shelf()
            shelf.patience = Patience()
            shelf.patience?.begin(on: .current, after: .zero) { [token = Token(freed)] in
                shelf.patience?.putOff(by: .zero)
                shelf.patience?.begin(on: .current, after: .zero) { [token = Token(freed)] in
                    shelf.patience = nil
                    seen.note("second \(freed.value)")
                    token.touch()
                }
                seen.note("first \(freed.value)")
                token.touch()
            }
            #expect(RunLoop.current.run(mode: .default) == .finished)
            #expect(seen.all == ["first 0", "second 1"])
            #expect(freed.value == 2)
        }
    }

    @Test("R119 A timeout that another thread calls off while its action runs frees its closure after that")
    func calledOffElsewhere() async throws {
        try await withRunLoopThread {
            let freed = Count()
            let hasBegun = Handed<Bool>()
            let mayEnd = Handed<Bool>()
            try withLoopElsewhere { loop in
                let timeout = RunLoop.Timeout(on: loop, after: .zero) { [token = Token(freed)] in
                    hasBegun.put(true)
                    _ = mayEnd.take()
                    token.touch()
                }
                #expect(hasBegun.take() == true)
                timeout.cancel()
                #expect(freed.value == 0)
                mayEnd.put(true)
                #expect(waitUntil { freed.value == 1 })
            }
            #expect(freed.value == 1)
        }
    }

    @Test("An object that its timeout's closure keeps is freed when the timeout is over: called, or called off")
    func circle() async throws {
        try await withRunLoopThread {
            let freed = Count()
            for isClosed in [true, false] {
                var connection: Connection? = Connection(on: .current, after: .zero, Token(freed))
                if isClosed { connection?.close() }
                connection = nil
                #expect(freed.value == 1)
                #expect(RunLoop.current.run(mode: .default) == .finished)
            }
            #expect(freed.value == 2)
        }
    }

    @Test("R83 A timeout can be put off and brought forward, from another thread too")
    func putOff() async throws {
        try await withRunLoopThread {
            let patience = Patience()
            let called = Count()
            patience.begin(on: .current, after: .zero) { called.increment() }
            patience.putOff(by: .seconds(1000))
            #expect(patience.fireDate! > .now + .seconds(900))
            #expect(RunLoop.current.run(mode: .default, for: .zero) == .timedOut)
            patience.putOff(by: .seconds(Int64.max))
            #expect(patience.fireDate == nil)
            #expect(patience.isValid)
            patience.putOff(by: .seconds(-1))
            RunLoop.current.run(mode: .default, for: .zero)
            #expect(called.value == 1)
            try withLoopElsewhere { loop in
                let fired = Handed<Bool>()
                let timeout = RunLoop.Timeout(on: loop, after: .seconds(1000)) { fired.put(loop.isCurrent) }
                #expect(waitUntil { loop.isWaiting })
                timeout.reschedule(after: .zero)
                #expect(fired.take() == true)
                #expect(waitUntil { !timeout.isValid })
            }
        }
    }

    @Test("R18 A timeout may wait in all common modes, and in a mode that nobody made")
    func modes() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let trace = Trace()
            loop.addCommonMode("common")
            let common = RunLoop.Timeout(on: loop, after: .zero, inMode: .common) { trace.note("common") }
            let other = RunLoop.Timeout(on: loop, after: .zero, inMode: "other") { trace.note("other") }
            #expect(loop.run(mode: "common", for: generous) == .finished)
            #expect(trace.all == ["common"])
            #expect(loop.isEmpty(.default))
            #expect(loop.run(mode: "other", for: generous) == .finished)
            #expect(trace.all == ["common", "other"])
            #expect(!common.isValid && !other.isValid)
        }
    }

    @Test("R8 R10 The end of the loop's thread frees the closure, and after it there is no timeout")
    func endOfThread() async throws {
        let freed = Count()
        let called = Count()
        let patience = Patience()
        let thread = try RunLoop.Thread()
        patience.begin(on: thread.loop, after: .seconds(1000)) { [token = Token(freed)] in
            token.touch()
            called.increment()
        }
        #expect(freed.value == 0)
        thread.stop()
        await thread.join()
        #expect(freed.value == 1)
        #expect(!patience.isValid)
        patience.putOff(by: .zero)
        patience.begin(on: thread.loop, after: .zero) { [token = Token(freed)] in
            token.touch()
            called.increment()
        }
        #expect(!patience.isValid)
        #expect(freed.value == 2)
        #expect(called.value == 0)
    }

    @Test("R119 Threads that put off and call off timeouts while they fire leave every closure freed once")
    func races() async throws {
        let freed = Count()
        let rounds = 2000
        try await withRunningLoop { thread in
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        for round in 0..<rounds {
                            let timeout = RunLoop.Timeout(on: thread.loop, after: .microseconds(round % 50)) {
                                [token = Token(freed)] in token.touch()
                            }
                            timeout.reschedule(after: .microseconds(round % 3))
                        }
                    }
                }
            }
        }
        #expect(freed.value == 4 * rounds)
    }

    @Test("A timeout is one word, and an optional one as well")
    func size() {
        #expect(MemoryLayout<RunLoop.Timeout>.size == MemoryLayout<UnsafeRawPointer>.size)
        #expect(MemoryLayout<RunLoop.Timeout?>.size == MemoryLayout<UnsafeRawPointer>.size)
    }
}

/// Its timeout's closure keeps it.
private final class Connection: @unchecked Sendable {
    private var idle: RunLoop.Timeout?
    private let token: Token

    init(on loop: RunLoop, after delay: Duration, _ token: Token) {
        self.token = token
        idle = RunLoop.Timeout(on: loop, after: delay) { [self] in close() }
    }

    func close() { idle = nil }
}

/// Where somebody else may let go of an object.
private final class Shelf: @unchecked Sendable {
    var patience: Patience?
}

/// An object that has timeouts, and asks them.
private final class Patience: @unchecked Sendable {
    private var timeout: RunLoop.Timeout?

    func begin(
        on loop: RunLoop, after delay: Duration, tolerance: Duration = .zero,
        _ action: @escaping @Sendable () -> Void
    ) {
        timeout = RunLoop.Timeout(on: loop, after: delay, tolerance: tolerance, action)
    }

    func putOff(by delay: Duration) { timeout?.reschedule(after: delay) }
    func end() { timeout = nil }

    var isValid: Bool {
        switch timeout {
        case .some(let timeout): timeout.isValid
        case .none: false
        }
    }

    var fireDate: RunLoop.Instant? {
        switch timeout {
        case .some(let timeout): timeout.fireDate
        case .none: nil
        }
    }
}
