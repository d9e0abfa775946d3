import RunLoopKit
import Testing

@Suite struct IterationTests {
    @Test("Work is marked any number of times and done once, in order, before the loop sleeps")
    func coalesced() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            try loop.add(RunLoop.Source {}, forMode: .default)
            let trace = Trace()
            let second = RunLoop.CoalescedWork(on: loop, order: 2) { trace.note("second") }
            let first = RunLoop.CoalescedWork(on: loop, order: 1) { trace.note("first") }
            loop.perform {
                for _ in 0..<3 {
                    second.setNeeded()
                    first.setNeeded()
                }
                trace.note("marked")
            }
            #expect(loop.run(mode: .default, for: .milliseconds(5)) == .timedOut)
            #expect(trace.all == ["marked", "first", "second"])
            #expect(!first.isNeeded)
        }
    }

    @Test("Work that is marked by other work is done before the loop sleeps")
    func markedByWork() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            try loop.add(RunLoop.Source {}, forMode: .default)
            let trace = Trace()
            let first = RunLoop.CoalescedWork(on: loop, order: 1) { trace.note("first") }
            let second = RunLoop.CoalescedWork(on: loop, order: 2) {
                trace.note("second")
                if trace.all.count < 4 { first.setNeeded() }
            }
            let third = RunLoop.CoalescedWork(on: loop, order: 3) {
                trace.note("third")
                second.setNeeded()
                // The mark is not lost in the wait of this run, in whose mode the work is not.
                try? loop.add(RunLoop.Source {}, forMode: "private")
                loop.run(mode: "private", for: .milliseconds(1))
            }
            third.setNeeded()
            #expect(loop.run(until: { trace.all.count == 3 }, deadline: .now + generous))
            #expect(trace.all == ["third", "second", "first"])
        }
    }

    @Test("Work that is made and marked in the last moment before the sleep is done before it")
    func madeLate() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            try loop.add(RunLoop.Source {}, forMode: .default)
            let done = Count()
            let made = Made()
            try loop.add(
                RunLoop.Observer(.beforeWaiting) { _, _ in
                    if made.work != nil { return }
                    made.work = RunLoop.CoalescedWork(on: loop) { done.increment() }
                    made.work?.setNeeded()
                }, forMode: .default)
            #expect(try sleepsMarked(loop, made, until: { done.value == 1 }) == 0)
        }
    }

    @Test("Work that is marked in a run nested in its body is done again before the loop sleeps")
    func markedInNestedRun() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            try loop.add(RunLoop.Source {}, forMode: .default)
            let done = Count()
            let made = Made()
            made.work = RunLoop.CoalescedWork(on: loop) {
                done.increment()
                if done.value > 1 { return }
                // What wakes the nested run does not wake the outer one. There, too, the loop sleeps: the work is not called inside itself.
                let marks = RunLoop.Timer(after: .zero) { _ in made.work?.setNeeded() }
                loop.addUnlessOver(marks, forMode: .default)
                made.isInside = true
                loop.run(until: { made.work?.isNeeded == true }, deadline: nil)
                made.isInside = false
            }
            made.work?.setNeeded()
            #expect(try sleepsMarked(loop, made, until: { done.value == 2 }) == 0)
        }
    }

    @Test("Work that another thread marks wakes the loop")
    func markedFromOutside() async throws {
        try await withRunLoopThread {
            let thread = try RunLoop.Thread()
            let done = Handed<Bool>()
            let loop = thread.loop
            let work = RunLoop.CoalescedWork(on: loop) { done.put(loop.isCurrent) }
            for _ in 0..<200 {
                work.setNeeded()
                #expect(done.take() == true)
            }
        }
    }

    @Test("Work that is marked when a run ends, or in a run that never sleeps, is done at its end")
    func doneAtExit() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            try loop.add(RunLoop.Source {}, forMode: .default)
            let done = Count()
            let work = RunLoop.CoalescedWork(on: loop) { done.increment() }
            work.setNeeded()
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
            #expect(done.value == 1)
        }
    }

    @Test("R98 Invalidated work is not done, and its closure is freed")
    func invalidated() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            try loop.add(RunLoop.Source {}, forMode: .default)
            let freed = Count()
            let token = Token(freed)
            let done = Count()
            let work = RunLoop.CoalescedWork(on: loop) { [token] in
                token.touch()
                done.increment()
            }
            work.setNeeded()
            work.invalidate()
            work.setNeeded()
            loop.run(mode: .default, for: .zero)
            #expect(done.value == 0)

            // Work that was marked before it was released is still done.
            RunLoop.CoalescedWork(on: loop) { done.increment() }.setNeeded()
            loop.run(mode: .default, for: .zero)
            #expect(done.value == 1)
            loop.run(mode: .default, for: .zero)
            #expect(done.value == 1)
        }
    }

    @Test("R99 A scope surrounds what happens between two sleeps, in nested runs too")
    func scopes() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            try loop.add(RunLoop.Source {}, forMode: .default)
            let trace = Trace()
            let scope = numberedScope(on: loop, trace)
            loop.perform {
                trace.note("outer")
                loop.perform { trace.note("inner") }
                loop.run(mode: .default, for: .zero)
            }
            loop.run(mode: .default, for: .zero)
            #expect(trace.all == ["open 1", "outer", "open 2", "inner", "close 2", "close 1"])
            loop.run(mode: .default, for: .milliseconds(1))
            #expect(trace.all.suffix(4) == ["open 3", "close 3", "open 4", "close 4"])
            loop.perform {
                scope.invalidate()
                trace.note("cancelled")
                scope.invalidate()
            }
            loop.run(mode: .default, for: .zero)
            #expect(trace.all.suffix(3) == ["open 5", "close 5", "cancelled"])
        }
    }

    @Test(
        "R99 A scope that ends in one of its own closures is closed, and no other one is opened",
        arguments: [true, false])
    func scopesThatEndThemselves(inOpen: Bool) async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let keepAlive = try RunLoop.KeepAlive(on: loop)
            let (opened, closed) = (Count(), Count())
            let scope = Guarded<RunLoop.IterationScope?>(nil)
            let made = RunLoop.IterationScope(on: loop) {
                opened.increment()
                if inOpen { scope.withLock { $0 }?.invalidate() }
            } close: {
                closed.increment()
                if !inOpen { scope.withLock { $0 }?.invalidate() }
            }
            scope.withLock { $0 = made }
            loop.run(mode: .default, for: .milliseconds(1))
            #expect(opened.value == 1 && closed.value == 1)
            scope.withLock { $0 = nil }
            keepAlive.invalidate()
        }
    }

    @Test("A nested run that ends the scopes closes all that are open, the innermost first")
    func scopesEndedInNestedRun() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let keepAlive = try RunLoop.KeepAlive(on: loop)
            let trace = Trace()
            let scope = numberedScope(on: loop, trace)
            loop.perform {
                loop.perform {
                    scope.invalidate()
                    trace.note("inner")
                }
                loop.run(mode: .default, for: .zero)
            }
            loop.run(mode: .default, for: .zero)
            #expect(trace.all == ["open 1", "open 2", "close 2", "close 1", "inner"])
            keepAlive.invalidate()
        }
    }

    @Test("A run in the closure that opens a scope, or closes it, has no scope", arguments: [true, false])
    func runsInClosures(inOpen: Bool) async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let keepAlive = try RunLoop.KeepAlive(on: loop)
            let (opened, closed) = (Count(), Count())
            let runs: @Sendable () -> Void = { if opened.value < 9 { loop.run(mode: .default, for: .zero) } }
            let scope = RunLoop.IterationScope(on: loop) {
                opened.increment()
                if inOpen { runs() }
            } close: {
                closed.increment()
                if !inOpen { runs() }
            }
            loop.run(mode: .default, for: .zero)
            #expect(opened.value == 1 && closed.value == 1)
            withExtendedLifetime(scope) { keepAlive.invalidate() }
        }
    }

    @Test("Scopes that are cancelled from another thread are closed on the loop's")
    func scopesCancelledElsewhere() async throws {
        try await withRunLoopThread {
            let thread = try RunLoop.Thread()
            let loop = thread.loop
            let opened = Handed<Bool>()
            let closed = Handed<Bool>()
            let scope = RunLoop.IterationScope(on: loop) {
                opened.put(true)
            } close: {
                closed.put(loop.isCurrent)
            }
            loop.wakeUp()
            #expect(opened.take() == true)
            scope.invalidate()
            #expect(closed.take() == true)
        }
    }
}

/// Notes "open 1", "open 2" and so on, and "close" with the same numbers.
private func numberedScope(on loop: RunLoop, _ trace: Trace) -> RunLoop.IterationScope {
    let count = Count()
    return RunLoop.IterationScope(on: loop) {
        count.increment()
        trace.note("open \(count.value)")
        return count.value
    } close: {
        trace.note("close \($0)")
    }
}

/// On one thread.
private final class Made: @unchecked Sendable {
    var work: RunLoop.CoalescedWork?
    var isInside = false
}

/// Runs until the condition, and returns how often the loop was about to sleep meanwhile while the work was marked.
private func sleepsMarked(_ loop: RunLoop, _ made: Made, until condition: @escaping () -> Bool) throws -> Int {
    let count = Count()
    let observer = RunLoop.Observer(.beforeWaiting, order: .max) { _, _ in
        if !made.isInside && made.work?.isNeeded == true && loop.isIdle { count.increment() }
    }
    let wakes = RunLoop.Timer(every: .milliseconds(100)) { _ in }
    try loop.add(observer, forMode: .default)
    try loop.add(wakes, forMode: .default)
    #expect(loop.run(until: condition, deadline: .now + generous))
    made.work = nil
    return count.value
}
