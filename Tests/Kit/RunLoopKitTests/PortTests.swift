import ForkedChild
import Glibc
import RunLoopKit
import RunLoopKitTesting
import Synchronization
import Testing

private typealias Echo = RunLoop.Port<String, String>

/// What is not Sendable.
private final class Box {
    var value: Int
    init(_ value: Int) { self.value = value }
}

/// The number that each sender has next.
private final class Next: Sendable {
    private let numbers = Mutex([0, 0, 0, 0])
    var all: [Int] { numbers.withLock { $0 } }
    func number(of sender: Int) -> Int {
        numbers.withLock { numbers in
            defer { numbers[sender] += 1 }
            return numbers[sender]
        }
    }
}

private actor Owner: RunLoop.BoundActor {
    nonisolated let loop: RunLoop
    private var received: [Int] = []

    init(on loop: RunLoop) { self.loop = loop }

    nonisolated func makePort() throws -> RunLoop.Port<Int, Int> {
        try RunLoop.Port(
            on: loop,
            receive: self.isolated { owner, message in
                owner.received.append(message.request)
                message.reply(owner.received.count)
            })
    }
}

/// On which nobody can sleep.
private struct FailingClock: Clock {
    var now: ContinuousClock.Instant { .now }
    var minimumResolution: Duration { .nanoseconds(1) }
    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        throw RunLoop.Error.loopFinished
    }
}

@Suite struct PortTests {
    @Test("A request is received on the loop's thread and replied to")
    func replies() async throws {
        let thread = try RunLoop.Thread()
        let loop = thread.loop
        let port = try Echo(on: loop) { message in
            let text = message.request + (loop.isCurrent ? "!" : "?")
            let isAwaited = message.isAwaited
            let isHeard = message.reply(text)
            #expect(isAwaited && isHeard)
        }
        #expect(try await port.request("a") == "a!")
        #expect(try await port.request("b", timeout: generous) == "b!")
        #expect(port.isValid && port.count == 0 && port.loop === loop)
        thread.stop()
    }

    @Test("Values that are not Sendable are handed over, in both directions")
    func handsOver() async throws {
        let thread = try RunLoop.Thread()
        let port = try RunLoop.Port<Box, Box>(on: thread.loop) { message in
            let sum = message.request.value + 1
            message.reply(Box(sum))
        }
        let reply = try await port.request(Box(41))
        reply.value += 1
        #expect(reply.value == 43)
        try port.send(Box(1))
        thread.stop()
    }

    @Test("Messages are received in order, each in a handling of its own; send refuses when there is no space")
    func refuses() async throws {
        try await withRunLoopThread {
            let trace = Trace()
            let port = try Echo(on: .current, capacity: 2, inMode: "ports") { message in
                trace.note(message.request)
                let isAwaited = message.isAwaited
                let isHeard = message.reply("unheard")
                #expect(!isAwaited && !isHeard)
            }
            try port.send("a")
            try port.send("b")
            #expect(throws: RunLoop.PortError.full) { try port.send("c") }
            #expect(port.count == 2)
            #expect(
                RunLoop.current.run(mode: "ports", for: generous, returnAfterSourceHandled: true) == .handledSource)
            #expect(trace.all == ["a"])
            try port.send("c")
            runUntilIdle(mode: "ports")
            #expect(trace.all == ["a", "b", "c"])
            port.invalidate()
            #expect(RunLoop.current.isEmpty(inMode: "ports"))
        }
    }

    @Test("A message that is destroyed without a reply is dropped, and a request in no mode that runs times out")
    func dropsAndTimesOut() async throws {
        let thread = try RunLoop.Thread()
        let dropping = try Echo(on: thread.loop) { _ in }
        await #expect(throws: RunLoop.PortError.dropped) { try await dropping.request("a") }
        let received = Count()
        let deaf = try Echo(on: thread.loop, inMode: "never") { _ in received.increment() }
        let begin = ContinuousClock.now
        await #expect(throws: RunLoop.PortError.timedOut) {
            try await deaf.request("a", timeout: .milliseconds(20))
        }
        #expect(ContinuousClock.now - begin >= .milliseconds(20))
        // It has been withdrawn.
        #expect(deaf.count == 0)
        thread.stop()
        #expect(received.value == 0)
    }

    @Test("The end of a port and the end of its loop's thread answer what was not received")
    func ends() async throws {
        let thread = try RunLoop.Thread()
        let first = try Echo(on: thread.loop, inMode: "never") { _ in }
        let second = try Echo(on: thread.loop, capacity: 1, inMode: "never") { _ in }
        let asking = [first, second].map { port in Task { try await port.request("a") } }
        #expect(try await eventually { first.count == 1 && second.count == 1 })
        let waiting = Task { try await second.send("b", timeout: nil) }
        #expect(try await eventually { second.count == 2 })
        first.invalidate()
        await #expect(throws: RunLoop.PortError.closed) { try await asking[0].value }
        #expect(throws: RunLoop.PortError.closed) { try first.send("b") }
        await #expect(throws: RunLoop.PortError.closed) { try await first.send("b", timeout: nil) }
        #expect(second.isValid)
        thread.stop()
        await #expect(throws: RunLoop.PortError.closed) { try await asking[1].value }
        await #expect(throws: RunLoop.PortError.closed) { try await waiting.value }
        #expect(!first.isValid && !second.isValid)
        await thread.join()
        #expect(throws: RunLoop.Error.loopFinished) { try Echo(on: thread.loop) { _ in } }
    }

    @Test("The last reference to the object ends the port, and frees its closure")
    func freed() async throws {
        try await withRunLoopThread {
            let freed = Count()
            do {
                let token = Token(freed)
                let port = try Echo(on: .current, inMode: "ports") { _ in token.touch() }
                try port.send("a")
            }
            #expect(freed.value == 1)
            #expect(RunLoop.current.isEmpty(inMode: "ports"))
        }
    }

    @Test("The end of a port frees its closure, after a call of it, while the object is still there")
    func endFreesClosure() async throws {
        try await withRunLoopThread {
            let freed = Count()
            let port = Guarded<RunLoop.Port<Int, Int>?>(nil)
            let made = try endingPort(port, Token(freed))
            port.withLock { $0 = made }
            try made.send(1)
            RunLoop.current.run(mode: .default, for: .zero)
            #expect(!made.isValid && freed.value == 1)
            port.withLock { $0 = nil }
            let other = try endingPort(port, Token(freed))
            other.invalidate()
            #expect(freed.value == 2)
        }
    }

    @Test("A clock that fails ends the wait for a reply, as the timeout does")
    func failingClock() async throws {
        let thread = try RunLoop.Thread()
        let port = try Echo(on: thread.loop, inMode: "never run") { _ in }
        await #expect(throws: RunLoop.PortError.timedOut) {
            try await port.request("a", timeout: .seconds(1), clock: FailingClock())
        }
        #expect(port.count == 0)
        thread.stop()
    }

    @Test("A cancelled task does not wait, and its request is not received")
    func cancels() async throws {
        let thread = try RunLoop.Thread()
        let trace = Trace()
        let port = try Echo(on: thread.loop, inMode: "later") { message in trace.note(message.request) }
        let asking = Task { try await port.request("cancelled") }
        #expect(try await eventually { port.count == 1 })
        asking.cancel()
        await #expect(throws: RunLoop.PortError.cancelled) { try await asking.value }
        #expect(port.count == 0)
        let before = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await port.request("before")
        }
        await #expect(throws: RunLoop.PortError.cancelled) { try await before.value }
        try port.send("last")
        thread.loop.perform { RunLoop.current.run(mode: "later", for: .milliseconds(1)) }
        #expect(try await eventually { trace.all == ["last"] })
        thread.stop()
    }

    @Test("A replier learns that nobody waits any more")
    func learns() async throws {
        let thread = try RunLoop.Thread()
        let received = Handed<Bool>()
        let cancelled = Handed<Bool>()
        let heard = Handed<Bool>()
        let port = try Echo(on: thread.loop) { message in
            received.put(message.isAwaited)
            _ = cancelled.take()
            let isAwaited = message.isAwaited
            let isHeard = message.reply("late")
            heard.put(isAwaited || isHeard)
        }
        let asking = Task { try await port.request("a") }
        #expect(try await withRunLoopThread { received.take() } == true)
        asking.cancel()
        await #expect(throws: RunLoop.PortError.cancelled) { try await asking.value }
        cancelled.put(true)
        #expect(try await withRunLoopThread { heard.take() } == false)
        thread.stop()
    }

    @Test("A task waits for space, in its turn; one that gives up makes space for the next")
    func waitsForSpace() async throws {
        let thread = try RunLoop.Thread()
        let trace = Trace()
        let port = try Echo(on: thread.loop, capacity: 1, inMode: "later") { message in trace.note(message.request) }
        try await port.send("first", timeout: nil)
        await #expect(throws: RunLoop.PortError.timedOut) {
            try await port.send("impatient", timeout: .milliseconds(5))
        }
        let second = Task { try await port.send("second", timeout: nil) }
        #expect(try await eventually { port.count == 2 })
        let third = Task { try await port.send("third", timeout: nil) }
        #expect(try await eventually { port.count == 3 })
        #expect(throws: RunLoop.PortError.full) { try port.send("refused") }
        second.cancel()
        await #expect(throws: RunLoop.PortError.cancelled) { try await second.value }
        thread.loop.perform {
            RunLoop.current.run(mode: "later", until: { trace.all.count == 2 }, deadline: .now + generous)
        }
        try await third.value
        #expect(try await eventually { trace.all == ["first", "third"] })
        thread.stop()
    }

    @Test("A message whose sender is cancelled as it gets within the capacity is received, or the sender gets an error")
    func cancelsAtAdmission() async throws {
        let thread = try RunLoop.Thread()
        let (accepted, received) = (Count(), Count())
        let port = try RunLoop.Port<Void, Void>(on: thread.loop, capacity: 1) { _ in received.increment() }
        for _ in 0..<2000 {
            let senders = (0..<8).map { _ in
                Task { if (try? await port.send((), timeout: nil)) != nil { accepted.increment() } }
            }
            for sender in senders { sender.cancel() }
            for sender in senders { await sender.value }
        }
        #expect(try await eventually { port.count == 0 })
        try await thread.loop.performAndWait {}
        #expect(received.value == accepted.value)
        thread.stop()
    }

    @Test("A message can be kept and replied to elsewhere, after the end of the port too")
    func keeps() async throws {
        let thread = try RunLoop.Thread()
        let port = try Echo(on: thread.loop) { message in
            var kept: Echo.Message? = consume message
            Task {
                if let message = kept.take() {
                    let text = message.request
                    message.reply(text + " later")
                }
            }
        }
        #expect(try await port.request("a") == "a later")
        thread.stop()
    }

    @Test("A run nested in the closure receives further messages")
    func nests() async throws {
        try await withRunLoopThread {
            let trace = Trace()
            let port = try Echo(on: .current, inMode: "ports") { message in
                trace.note(message.request)
                if message.request == "a" {
                    RunLoop.current.run(mode: "ports", for: generous, returnAfterSourceHandled: true)
                }
                trace.note("end")
            }
            for text in ["a", "b", "c"] { try port.send(text) }
            runUntilIdle(mode: "ports")
            #expect(trace.all == ["a", "b", "end", "end", "c", "end"])
            port.invalidate()
        }
    }

    @Test("A port that is isolated to an actor calls it, and drops requests when that is gone")
    func isolated() async throws {
        let thread = try RunLoop.Thread()
        var owner: Owner? = Owner(on: thread.loop)
        let port = try #require(try owner?.makePort())
        #expect(try await port.request(7) == 1)
        #expect(try await port.request(8) == 2)
        owner = nil
        await #expect(throws: RunLoop.PortError.dropped) { try await port.request(9) }
        thread.stop()
    }

    @Test("Several senders lose nothing, and each keeps its order")
    func stress() async throws {
        let thread = try RunLoop.Thread()
        let next = Next()
        let port = try RunLoop.Port<(sender: Int, number: Int), Int>(on: thread.loop, capacity: 8) { message in
            let (sender, number) = message.request
            #expect(next.number(of: sender) == number)
            message.reply(number)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for sender in 0..<4 {
                group.addTask {
                    for number in 0..<500 {
                        if number % 3 == 0 {
                            #expect(try await port.request((sender, number)) == number)
                        } else {
                            try await port.send((sender, number), timeout: nil)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await eventually { next.all == [500, 500, 500, 500] })
        thread.stop()
    }

    @Test("A forked child has no inherited port")
    func forks() async {
        await #expect(processExitsWith: .success) {
            try await withRunLoop { loop in
                let port = try RunLoop.Port<String, String>(on: loop) { message in _ = message.reply("a") }
                try port.send("a")
                let status = statusOfChild {
                    precondition(!port.isValid && port.count == 0)
                    do {
                        try port.send("a")
                        preconditionFailure("An inherited port has taken a message.")
                    } catch {
                        precondition(error as? RunLoop.PortError == .closed)
                    }
                }
                precondition(status == 0, "The child ended with status \(status).")
                precondition(port.isValid && port.count == 1)
            }
        }
    }
}

/// One that ends what `port` has, in its closure.
private func endingPort(
    _ port: Guarded<RunLoop.Port<Int, Int>?>, _ token: Token
) throws -> RunLoop.Port<Int, Int> {
    try RunLoop.Port(on: .current) { _ in
        port.withLock { $0 }?.invalidate()
        token.touch()
    }
}

/// Until nothing has been received for a while.
private func runUntilIdle(mode: RunLoop.Mode) {
    while RunLoop.current.run(mode: mode, for: .milliseconds(10), returnAfterSourceHandled: true) == .handledSource {}
}
