import Glibc
import RunLoopKit
import Synchronization
import Testing

/// Ownership: every closure is freed exactly once, when nothing can call it any more.
@Suite struct LifetimeTests {
    @Test("A timer that was never added is freed with its action")
    func timerNeverAdded() {
        let freed = Count()
        weak var timer: RunLoop.Timer?
        do {
            let token = Token(freed)
            let made = RunLoop.Timer(every: .seconds(1)) { _ in token.touch() }
            timer = made
            #expect(timer != nil)
            _ = made
        }
        #expect(timer == nil)
        #expect(freed.value == 1)
    }

    @Test("R88 R98 Invalidation frees the action at once, even if the object is retained")
    func invalidationFreesAction() async throws {
        try await withRunLoopThread {
            let timers = Count()
            let observers = Count()
            let (timer, observer) = (ticking(timers), watching(observers))
            try RunLoop.current.add(timer, forMode: .common)
            try RunLoop.current.add(observer, forMode: .common)
            #expect(timers.value == 0 && observers.value == 0)
            timer.invalidate()
            timer.invalidate()
            observer.invalidate()
            observer.invalidate()
            #expect(timers.value == 1 && observers.value == 1)
            withExtendedLifetime((timer, observer)) {}
        }
    }

    @Test("R88 An action that invalidates its timer is freed after it has returned")
    func invalidationInsideAction() async throws {
        try await withRunLoopThread {
            let freed = Count()
            let during = Trace()
            do {
                let token = Token(freed)
                try RunLoop.current.add(
                    RunLoop.Timer(at: .now, every: .seconds(1)) { timer in
                        timer.invalidate()
                        during.note("\(freed.value)")
                        token.touch()
                    }, forMode: .default)
            }
            RunLoop.current.run()
            #expect(during.all == ["0"])
            #expect(freed.value == 1)
        }
    }

    @Test("A released timer and observer live as long as they are in a loop")
    func releasedItemsLiveWithLoop() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let timers = Count()
            let observers = Count()
            weak var timer: RunLoop.Timer?
            weak var observer: RunLoop.Observer?
            do {
                let (newTimer, newObserver) = (ticking(timers), watching(observers))
                for mode: RunLoop.Mode in [.default, "a", .common] {
                    try loop.add(newTimer, forMode: mode)
                    try loop.add(newObserver, forMode: mode)
                }
                (timer, observer) = (newTimer, newObserver)
            }
            #expect(timer != nil && observer != nil)
            for mode: RunLoop.Mode in ["a", .common] {
                timer.map { loop.remove($0, forMode: mode) }
                observer.map { loop.remove($0, forMode: mode) }
            }
            #expect(timer == nil && observer == nil)
            #expect(timers.value == 1 && observers.value == 1)
        }
    }

    @Test("R9 A thread that ends frees the items that only its loop retains, and leaves the others valid")
    func endOfThread() async throws {
        try await withRunLoopThread {
            let released = Count()
            let sources = Count()
            let held = Count()
            let kept = Handed<RunLoop.Timer>()
            TestThread {
                let loop = RunLoop.current
                try! loop.add(ticking(released), forMode: .default)
                try! loop.add(watching(released), forMode: .common)
                let timer = ticking(held)
                try! loop.add(timer, forMode: .default)
                kept.put(timer)
                let token = Token(sources)
                try? loop.add(RunLoop.Source { token.touch() }, forMode: .default)
                loop.run(mode: .default, for: .milliseconds(3))
            }.join()
            #expect(released.value == 2)
            #expect(sources.value == 1)
            #expect(held.value == 0)
            let timer = try #require(kept.take())
            kept.clear()
            #expect(timer.isValid)
            try RunLoop.current.add(timer, forMode: .default)
            #expect(RunLoop.current.contains(timer, inMode: .default))
            timer.invalidate()
            #expect(held.value == 1)
        }
    }

    @Test("R57 The closures of a source are freed with the source")
    func sourceClosures() async throws {
        try await withRunLoopThread {
            let freed = Count()
            do {
                let token = Token(freed)
                let source = RunLoop.Source { token.touch() }
                try RunLoop.current.add(source, forMode: .default)
                source.signal()
                RunLoop.current.run(mode: .default, for: .zero)
                source.invalidate()
                #expect(freed.value == 0)
                _ = source
            }
            #expect(freed.value == 1)
        }
    }

    @Test("A source that its creator released lives with its loop")
    func releasedSource() async throws {
        try await withRunLoopThread {
            try withPipe { reader, writer in
                let freed = Count()
                let called = Count()
                TestThread {
                    let token = Token(freed)
                    let source = try? RunLoop.Source(fileDescriptor: reader) { _ in
                        readByte(reader)
                        token.touch()
                        called.increment()
                    }
                    try? RunLoop.current.add(source!, forMode: .default)
                    writeByte(writer)
                    RunLoop.current.run(mode: .default, for: generous, returnAfterSourceHandled: true)
                }.join()
                #expect(called.value == 1)
                #expect(freed.value == 1)
            }
        }
    }

    @Test("Timers that threads add, remove and release while they fire are all freed")
    func concurrentTimers() async throws {
        try await withRunLoopThread {
            let freed = Count()
            let attempts = 300
            try withLoopElsewhere { loop in
                let threads = (0..<2).map { _ in
                    TestThread {
                        for attempt in 0..<attempts {
                            let timer = RunLoop.Timer(at: .now, every: .microseconds(50)) { [token = Token(freed)] in
                                token.touch()
                                if attempt % 3 == 0 { $0.invalidate() }
                            }
                            try! loop.add(timer, forMode: .default)
                            if attempt % 2 == 0 { usleep(50) }
                            switch attempt % 3 {
                            case 1: timer.invalidate()
                            default: loop.remove(timer, forMode: .default)
                            }
                        }
                    }
                }
                for thread in threads { thread.join() }
            }
            #expect(freed.value == 2 * attempts)
        }
    }
}

private func ticking(_ freed: Count) -> RunLoop.Timer {
    let token = Token(freed)
    return RunLoop.Timer(every: .milliseconds(1)) { _ in token.touch() }
}

private func watching(_ freed: Count) -> RunLoop.Observer {
    let token = Token(freed)
    return RunLoop.Observer(.all) { _, _ in token.touch() }
}
