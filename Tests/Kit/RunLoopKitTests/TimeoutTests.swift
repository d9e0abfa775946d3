import RunLoopKit
import RunLoopKitTesting
import Testing

@Suite struct TimeoutTests {
    @Test("R85 R88 A timeout calls its action once, not early, is valid during the call, and frees it then")
    func fires() async throws {
        try await withRunLoopThread {
            let trace = Trace()
            let freed = Count()
            let owner = TimeoutOwner()
            let due = RunLoop.Instant.now + .milliseconds(2)
            owner.begin(on: .current, after: .milliseconds(2)) { [token = Token(freed)] in
                token.touch()
                trace.note("\(owner.isValid) \(owner.fireDate! >= due) \(RunLoop.Instant.now >= due)")
            }
            #expect(owner.isValid)
            #expect(owner.fireDate! >= due)
            #expect(RunLoop.current.run(mode: .default) == .finished)
            #expect(trace.all == ["true true true"])
            #expect(freed.value == 1)
            #expect(!owner.isValid)
            #expect(owner.fireDate == nil)
            owner.reschedule(after: .zero)
            #expect(RunLoop.current.run(mode: .default, for: .zero) == .finished)
            owner.end()
            #expect(trace.all.count == 1)
        }
    }

    @Test("R88 Destroying a timeout cancels it and frees its closure at once")
    func destroying() async throws {
        try await withRunLoopThread {
            let freed = Count()
            let called = Count()
            for way in 0..<3 {
                let token = Token(freed)
                let timeout = RunLoop.Timeout(on: .current, after: .zero) { [token] in
                    token.touch()
                    called.increment()
                }
                #expect(!RunLoop.current.isEmpty(inMode: .default))
                switch way {
                case 0: timeout.cancel()
                case 1: _ = consume timeout
                default: break
                }
                _ = token
            }
            #expect(RunLoop.current.isEmpty(inMode: .default))
            #expect(RunLoop.current.run(mode: .default, for: .zero) == .finished)
            #expect(freed.value == 3)
            #expect(called.value == 0)
        }
    }

    @Test("R88 A timeout may be cancelled by a defer, and again, and is over then")
    func deferred() async throws {
        try await withRunLoopThread {
            let called = Count()
            do {
                let timeout = RunLoop.Timeout(on: .current, after: .zero) { called.increment() }
                defer {
                    timeout.cancel()
                    timeout.cancel()
                    let isOver = !timeout.isValid && timeout.fireDate == nil
                    #expect(isOver)
                }
                let isValid = timeout.isValid
                #expect(isValid)
            }
            #expect(RunLoop.current.run(mode: .default, for: .zero) == .finished)
            #expect(called.value == 0)
        }
    }

    @Test("R88 R119 A timeout that is cancelled in its own action frees its closure after that")
    func cancelledInside() async throws {
        try await withRunLoopThread {
            let freed = Count()
            let seen = Trace()
            let owner = TimeoutOwner()
            for tolerance in [Duration.zero, .milliseconds(1)] {
                owner.begin(on: .current, after: .zero, tolerance: tolerance) { [token = Token(freed)] in
                    owner.end()
                    seen.note("\(freed.value)")
                    token.touch()
                }
                #expect(RunLoop.current.run(mode: .default) == .finished)
            }
            #expect(seen.all == ["0", "1"])
            #expect(freed.value == 2)
        }
    }

    @Test("R119 An action may replace its timeout, or release its owner; the closure stays until it returns")
    func replacedInside() async throws {
        try await withRunLoopThread {
            let freed = Count()
            let seen = Trace()
            let shelf = Shelf()
            shelf.owner = TimeoutOwner()
            shelf.owner?.begin(on: .current, after: .zero) { [token = Token(freed)] in
                shelf.owner?.reschedule(after: .zero)
                shelf.owner?.begin(on: .current, after: .zero) { [token = Token(freed)] in
                    shelf.owner = nil
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

    @Test("R119 A timeout that another thread cancels while its action runs frees its closure after that")
    func cancelledElsewhere() async throws {
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

    @Test("An object that its timeout's closure retains is freed when the timeout is over: called, or cancelled")
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

    @Test("R83 A timeout can be moved in both directions, from another thread too")
    func reschedule() async throws {
        try await withRunLoopThread {
            let owner = TimeoutOwner()
            let called = Count()
            owner.begin(on: .current, after: .zero) { called.increment() }
            owner.reschedule(after: .seconds(1000))
            #expect(owner.fireDate! > .now + .seconds(900))
            #expect(RunLoop.current.run(mode: .default, for: .zero) == .timedOut)
            owner.reschedule(after: .seconds(Int64.max))
            #expect(owner.fireDate == nil)
            #expect(owner.isValid)
            owner.reschedule(after: .seconds(-1))
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

    @Test("R18 A timeout may be in all common modes, and in a mode that did not exist")
    func modes() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let trace = Trace()
            loop.addCommonMode("common")
            let common = RunLoop.Timeout(on: loop, after: .zero, inMode: .common) { trace.note("common") }
            let other = RunLoop.Timeout(on: loop, after: .zero, inMode: "other") { trace.note("other") }
            #expect(loop.run(mode: "common", for: generous) == .finished)
            #expect(trace.all == ["common"])
            #expect(loop.isEmpty(inMode: .default))
            #expect(loop.run(mode: "other", for: generous) == .finished)
            #expect(trace.all == ["common", "other"])
            #expect(!common.isValid && !other.isValid)
        }
    }

    @Test("R8 R10 The end of the loop's thread frees the closure, and a later timeout is over at once")
    func endOfThread() async throws {
        let freed = Count()
        let called = Count()
        let owner = TimeoutOwner()
        let thread = try RunLoop.Thread()
        owner.begin(on: thread.loop, after: .seconds(1000)) { [token = Token(freed)] in
            token.touch()
            called.increment()
        }
        #expect(freed.value == 0)
        thread.stop()
        await thread.join()
        #expect(freed.value == 1)
        #expect(!owner.isValid)
        owner.reschedule(after: .zero)
        owner.begin(on: thread.loop, after: .zero) { [token = Token(freed)] in
            token.touch()
            called.increment()
        }
        #expect(!owner.isValid)
        #expect(freed.value == 2)
        #expect(called.value == 0)
    }

    @Test("R119 If threads reschedule and cancel timeouts while they fire, every closure is freed once")
    func races() async throws {
        let freed = Count()
        let attempts = 2000
        await withRunningLoop { thread in
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        for attempt in 0..<attempts {
                            let timeout = RunLoop.Timeout(on: thread.loop, after: .microseconds(attempt % 50)) {
                                [token = Token(freed)] in token.touch()
                            }
                            timeout.reschedule(after: .microseconds(attempt % 3))
                        }
                    }
                }
            }
        }
        #expect(freed.value == 4 * attempts)
    }

    @Test("A timeout is one word, and an optional one as well")
    func size() {
        #expect(MemoryLayout<RunLoop.Timeout>.size == MemoryLayout<UnsafeRawPointer>.size)
        #expect(MemoryLayout<RunLoop.Timeout?>.size == MemoryLayout<UnsafeRawPointer>.size)
    }
}

/// The closure of its timeout retains it.
private final class Connection: @unchecked Sendable {
    private var idle: RunLoop.Timeout?
    private let token: Token

    init(on loop: RunLoop, after delay: Duration, _ token: Token) {
        self.token = token
        idle = RunLoop.Timeout(on: loop, after: delay) { [self] in close() }
    }

    func close() { idle = nil }
}

/// A place from which another thread may release an object.
private final class Shelf: @unchecked Sendable {
    var owner: TimeoutOwner?
}

/// An object that owns a timeout, and reads its properties.
private final class TimeoutOwner: @unchecked Sendable {
    private var timeout: RunLoop.Timeout?

    func begin(
        on loop: RunLoop, after delay: Duration, tolerance: Duration = .zero,
        _ action: @escaping @Sendable () -> Void
    ) {
        timeout = RunLoop.Timeout(on: loop, after: delay, tolerance: tolerance, action)
    }

    func reschedule(after delay: Duration) { timeout?.reschedule(after: delay) }
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
