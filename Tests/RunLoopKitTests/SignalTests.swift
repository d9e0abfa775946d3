import Glibc
import RunLoopKit
import Testing

/// Each test has a signal of its own, since signals belong to the whole process.
@Suite struct SignalTests {
    @Test("A signal performs its source on the loop's thread; several before that are one")
    func performsOnce() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let performed = Count()
            let source = try RunLoop.Source(signal: 40) { if loop.isCurrent { performed.increment() } }
            defer { source.invalidate() }
            // Before the source is in a loop.
            raiseHere(40)
            raiseHere(40)
            try loop.add(source, forMode: .default)
            loop.run(until: .now + generous) { performed.value == 1 }
            #expect(performed.value == 1)
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
            #expect(performed.value == 1)
            raiseHere(40)
            loop.run(until: .now + generous) { performed.value == 2 }
            #expect(performed.value == 2)
        }
    }

    @Test("A signal ends the sleep of a loop on another thread")
    func wakes() async throws {
        try await withRunLoopThread {
            try withLoopElsewhere { loop in
                let performed = Handed<Bool>()
                let source = try RunLoop.Source(signal: 41) { performed.put(loop.isCurrent) }
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
            let source = try RunLoop.Source(signal: 42) { performed.increment() }
            defer { source.invalidate() }
            try loop.add(source, forMode: "signals")
            raiseHere(42)
            loop.run(mode: .default, for: .milliseconds(1))
            #expect(performed.value == 0)
            loop.run(mode: "signals", until: .now + generous) { performed.value == 1 }
            #expect(performed.value == 1)
        }
    }

    @Test("All sources for a signal are called, and the first invalidation leaves the others")
    func severalSources() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let (first, second) = (Count(), Count())
            let one = try RunLoop.Source(signal: 43) { first.increment() }
            let two = try RunLoop.Source(signal: 43) { second.increment() }
            defer { two.invalidate() }
            for source in [one, two] { try loop.add(source, forMode: .default) }
            raiseHere(43)
            loop.run(until: .now + generous) { first.value == 1 && second.value == 1 }
            one.invalidate()
            raiseHere(43)
            loop.run(until: .now + generous) { second.value == 2 }
            #expect(first.value == 1)
            #expect(second.value == 2)
        }
    }

    @Test("When the last source is freed, the signal has its former effect again")
    func restores() throws {
        #expect(isIgnored(44) == false)
        _ = signal(44, SIG_IGN)
        let invalidated = try RunLoop.Source(signal: 44) {}
        var released: RunLoop.Source? = try RunLoop.Source(signal: 44) {}
        #expect(isIgnored(44) == false)
        invalidated.invalidate()
        invalidated.invalidate()
        #expect(isIgnored(44) == false)
        #expect(released?.isValid == true)
        released = nil
        #expect(isIgnored(44) == true)
        let another = try RunLoop.Source(signal: 44) {}
        #expect(isIgnored(44) == false)
        another.invalidate()
        #expect(isIgnored(44) == true)
    }

    @Test("A source is not called for signals that arrived before it was made")
    func nothingOld() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let performed = Count()
            var old: RunLoop.Source? = try RunLoop.Source(signal: 45) {}
            raiseHere(45)
            old?.invalidate()
            old = nil
            let source = try RunLoop.Source(signal: 45) { performed.increment() }
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
        #expect(throws: RunLoop.Error.invalid) { try RunLoop.Source(signal: number) {} }
    }

    @Test("Of signals that arrive at any time, on any thread, the last one is never lost")
    func noneLost() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let (sent, seen) = (Count(), Count())
            let source = try RunLoop.Source(signal: 46) {
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
            loop.run(until: .now + generous) { seen.value == 200 }
            sender.join()
            #expect(seen.value == 200)
        }
    }
}

/// The handling of a signal can be read in the same way with every C library only by setting it.
private func isIgnored(_ number: CInt) -> Bool {
    let former = signal(number, SIG_IGN)
    let isIgnored = unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    _ = signal(number, former)
    return isIgnored
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
