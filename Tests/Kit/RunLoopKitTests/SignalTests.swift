import Dispatch
import ForkedChild
import Glibc
import RunLoopKit
import RunLoopKitLinux
import Testing

/// Each test has a signal of its own, since signals belong to the whole process.
@Suite struct SignalTests {
    @Test("A signal performs its source on the loop's thread; several before that are one")
    func performsOnce() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let performed = Count()
            let source = try RunLoop.Source(signal: SIGUSR1) { _ in if loop.isCurrent { performed.increment() } }
            defer { source.invalidate() }
            // Before the source is in a loop.
            raiseHere(SIGUSR1)
            raiseHere(SIGUSR1)
            try loop.add(source, forMode: .default)
            loop.run(until: { performed.value == 1 }, deadline: .now + generous)
            #expect(performed.value == 1)
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
            #expect(performed.value == 1)
            raiseHere(SIGUSR1)
            loop.run(until: { performed.value == 2 }, deadline: .now + generous)
            #expect(performed.value == 2)
        }
    }

    @Test("A real-time signal performs its source for each arrival, with its sender")
    func arrivals() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let trace = Trace()
            let source = try RunLoop.Source(signal: 40) { signal in
                let isOurs = signal.sender?.process == getpid() && signal.sender?.user == getuid()
                trace.note("\(signal.number) \(signal.count) \(isOurs)")
            }
            defer { source.invalidate() }
            try loop.add(source, forMode: .default)
            for _ in 1...3 {
                raiseHere(40)
                loop.run(mode: .default, for: generous, returnAfterSourceHandled: true)
            }
            #expect(trace.all == ["40 1 true", "40 1 true", "40 1 true"])
        }
    }

    @Test("The arrivals of a signal are a sequence, in which none is lost while the consumer is busy")
    func sequence() async throws {
        let thread = try RunLoop.Thread()
        var iterator = thread.loop.signals(47).makeAsyncIterator()
        let sender = Task {
            // Caught from the first call of next() on.
            if try await eventually({ !isDefault(47) }) { raiseHere(47) }
        }
        let first = try await iterator.next()
        #expect(first?.number == 47)
        try await sender.value
        for _ in 1...3 { raiseHere(47) }
        var count = 0
        while count < 3 { count += try await iterator.next()?.count ?? 3 }
        #expect(count == 3)
        thread.stop()
        #expect(try await iterator.next() == nil)
    }

    @Test("A signal shuts a program down: work in order, then its effect")
    func shutsDown() async throws {
        await #expect(processExitsWith: .signal(SIGTERM)) {
            try await withRunLoopThread {
                let work = Trace()
                let shutdown = try RunLoop.Shutdown(signals: [SIGINT, SIGTERM], within: .seconds(60), on: .current)
                shutdown.addWork(order: 1) { if work.all != ["first"] || shutdown.signal != SIGTERM { _exit(9) } }
                shutdown.addWork { work.note("first") }
                raiseHere(SIGTERM)
                RunLoop.current.run(mode: .default, for: .seconds(30))
            }
        }
        #expect(throws: RunLoop.Error.invalid) { try RunLoop.Shutdown(signals: []) }
        #expect(throws: RunLoop.Error.invalid) { try RunLoop.Shutdown(signals: [SIGTERM], within: .zero) }
    }

    @Test("A shutdown begins where libdispatch catches the signal as well")
    func shutsDownBesideDispatch() async {
        await #expect(processExitsWith: .exitCode(7)) {
            try await withRunLoopThread {
                let theirs = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
                let seen = Handed<Bool>()
                theirs.setEventHandler { seen.put(true) }
                let shutdown = try RunLoop.Shutdown(signals: [SIGTERM], within: .seconds(60), on: .current)
                shutdown.addWork { _exit(seen.take() == true ? 7 : 8) }
                theirs.resume()
                // Until libdispatch has its handler, and ours was looked for.
                for _ in 1...4 { RunLoop.current.run(mode: .default, for: .milliseconds(100)) }
                kill(getpid(), SIGTERM)
                RunLoop.current.run(mode: .default, for: .seconds(30))
            }
        }
    }

    @Test("Asynchronous work of a shutdown is served until it returns, before the next is performed")
    func asynchronousWork() async {
        await #expect(processExitsWith: .signal(SIGTERM)) {
            try await withRunLoopThread {
                let work = Trace()
                let loop = RunLoop.current
                let shutdown = try RunLoop.Shutdown(signals: [SIGTERM], within: .seconds(60), on: loop)
                shutdown.addWork(order: 1) { if work.all != ["begun", "slept"] { _exit(9) } }
                shutdown.addWork {
                    work.note("begun")
                    try? await loop.clock.sleep(for: .milliseconds(20))
                    work.note("slept")
                }
                raiseHere(SIGTERM)
                loop.run(mode: .default, for: .seconds(30))
            }
        }
    }

    @Test("A shutdown ends at its limit, though its work does not, and may begin with a signal that was ignored")
    func limit() async {
        await #expect(processExitsWith: .signal(SIGHUP)) {
            try await withRunLoopThread {
                signal(SIGHUP, SIG_IGN)
                let shutdown = try RunLoop.Shutdown(
                    signals: [SIGHUP], evenIfIgnored: true, within: .milliseconds(50), on: .current)
                shutdown.addWork { while true { sleep(1) } }
                raiseHere(SIGHUP)
                RunLoop.current.run(mode: .default, for: .seconds(30))
            }
        }
    }

    @Test("A shutdown that is freed releases the work that it did not perform")
    func releasesWork() async throws {
        try await withRunLoopThread {
            final class Token: Sendable {}
            weak var left: Token?
            do {
                let token = Token()
                left = token
                let shutdown = try RunLoop.Shutdown(signals: [SIGTERM], on: .current)
                shutdown.addWork { _ = token }
                shutdown.addWork {
                    await Task.yield()
                    _ = token
                }
                shutdown.invalidate()
            }
            #expect(left == nil)
        }
    }

    @Test("A signal ends the sleep of a loop on another thread")
    func wakes() async throws {
        try await withRunLoopThread {
            try withLoopElsewhere { loop in
                let performed = Handed<Bool>()
                let source = try RunLoop.Source(signal: 41) { _ in performed.put(loop.isCurrent) }
                defer { source.invalidate() }
                try loop.add(source, forMode: .default)
                #expect(waitUntil { loop.isWaiting })
                kill(getpid(), 41)
                #expect(performed.take() == true)
            }
        }
    }

    @Test("A signal waits for a mode of its source")
    func waitsForMode() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let performed = Count()
            let source = try RunLoop.Source(signal: 42) { _ in performed.increment() }
            defer { source.invalidate() }
            try loop.add(source, forMode: "signals")
            raiseHere(42)
            loop.run(mode: .default, for: .milliseconds(1))
            #expect(performed.value == 0)
            loop.run(mode: "signals", until: { performed.value == 1 }, deadline: .now + generous)
            #expect(performed.value == 1)
        }
    }

    @Test("All sources for a signal are called, and the first invalidation leaves the others")
    func severalSources() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let (first, second) = (Count(), Count())
            let one = try RunLoop.Source(signal: 43) { _ in first.increment() }
            let two = try RunLoop.Source(signal: 43) { _ in second.increment() }
            defer { two.invalidate() }
            for source in [one, two] { try loop.add(source, forMode: .default) }
            raiseHere(43)
            loop.run(until: { first.value == 1 && second.value == 1 }, deadline: .now + generous)
            one.invalidate()
            raiseHere(43)
            loop.run(until: { second.value == 2 }, deadline: .now + generous)
            #expect(first.value == 1)
            #expect(second.value == 2)
        }
    }

    @Test("When the last source is freed, the signal has its former effect again")
    func restores() throws {
        #expect(isIgnored(44) == false)
        _ = signal(44, SIG_IGN)
        let left = try RunLoop.Source(signal: 44) { _ in }
        #expect(isIgnored(44) == true)
        left.invalidate()
        let invalidated = try RunLoop.Source(signal: 44, evenIfIgnored: true) { _ in }
        var released: RunLoop.Source? = try RunLoop.Source(signal: 44) { _ in }
        #expect(isIgnored(44) == false)
        invalidated.invalidate()
        invalidated.invalidate()
        #expect(isIgnored(44) == false)
        #expect(released?.isValid == true)
        released = nil
        #expect(isIgnored(44) == true)
        let another = try RunLoop.Source(signal: 44, evenIfIgnored: true) { _ in }
        #expect(isIgnored(44) == false)
        another.invalidate()
        #expect(isIgnored(44) == true)
    }

    @Test("A source is not called for signals that arrived before it was made")
    func nothingOld() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let performed = Count()
            var old: RunLoop.Source? = try RunLoop.Source(signal: 45) { _ in }
            raiseHere(45)
            old?.invalidate()
            old = nil
            let source = try RunLoop.Source(signal: 45) { _ in performed.increment() }
            defer { source.invalidate() }
            try loop.add(source, forMode: .default)
            loop.run(mode: .default, for: .milliseconds(1))
            #expect(performed.value == 0)
        }
    }

    @Test(
        "A signal that cannot be caught is refused",
        arguments: [0, -1, 65, 1000, SIGKILL, SIGSTOP, SIGSEGV, SIGILL, SIGFPE, SIGBUS, SIGTRAP])
    func refused(number: CInt) {
        #expect(throws: RunLoop.Error.invalid) { try RunLoop.Source(signal: number) { _ in } }
    }

    @Test("Of signals that arrive at any time, on any thread, the last one is never lost")
    func noneLost() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let (sent, seen) = (Count(), Count())
            let source = try RunLoop.Source(signal: 46) { _ in
                while seen.value < sent.value { seen.increment() }
            }
            defer { source.invalidate() }
            try loop.add(source, forMode: .default)
            let sender = TestThread {
                for number in 1...200 {
                    sent.increment()
                    kill(getpid(), 46)
                    // The next one is sent only when this one was seen, so a lost signal would end the test.
                    if !waitUntil({ seen.value >= number }) { return }
                }
            }
            loop.run(until: { seen.value == 200 }, deadline: .now + generous)
            sender.join()
            #expect(seen.value == 200)
        }
    }
}

private func isIgnored(_ number: CInt) -> Bool { handler(of: number) == unsafeBitCast(SIG_IGN, to: Int.self) }

private func isDefault(_ number: CInt) -> Bool { handler(of: number) == 0 }

private func handler(of number: CInt) -> Int {
    var action = sigaction()
    sigaction(number, nil, &action)
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
}

/// Handled when this returns, on this thread. (Sent to the process, it would be handled on any thread, at any time.) Threads
/// that were started by a task have all signals blocked, as those of the tasks have.
private func raiseHere(_ number: CInt) {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, number)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    raise(number)
}
