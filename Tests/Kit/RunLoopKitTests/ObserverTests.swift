import RunLoopKit
import Testing

@Suite struct ObserverTests {
    @Test("An observer has the properties that it was made with")
    func asMade() {
        let observer = RunLoop.Observer([.entry, .exit], repeats: false, order: 7) { _, _ in }
        #expect(observer.activities == [.entry, .exit])
        #expect(!observer.repeats)
        #expect(observer.order == 7)
        #expect(observer.isValid)
        observer.invalidate()
        observer.invalidate()
        #expect(!observer.isValid)
        #expect(observer.activities == [.entry, .exit])
        #expect(RunLoop.Observer(.all, order: .min) { _, _ in }.order == Int(Int32.min))
    }

    @Test("R41 An observer is notified of every step of a run")
    func everyStep() async throws {
        try await withRunLoopThread {
            let names: [RunLoop.Observer.Activities: String] = [
                .entry: "entry", .beforeTimers: "timers", .beforeSources: "sources", .beforeWaiting: "waiting",
                .afterWaiting: "waited", .exit: "exit",
            ]
            let trace = Trace()
            let observer = RunLoop.Observer(.all) { _, activity in trace.note(names[activity] ?? "unknown") }
            try RunLoop.current.add(observer, forMode: .default)
            try RunLoop.current.add(RunLoop.Timer(after: .zero) { _ in trace.note("timer") }, forMode: .default)
            RunLoop.current.run()
            #expect(trace.all == ["entry", "timers", "sources", "waiting", "waited", "timer", "exit"])
        }
    }

    @Test("R93 Observers are notified by order, those of equal order as they were added")
    func orderOfObservers() async throws {
        try await withRunLoopThread {
            let trace = Trace()
            for (name, order) in [("c", 1), ("a", -5), ("d", 1), ("b", 0)] {
                try RunLoop.current.add(
                    RunLoop.Observer(.entry, order: order) { _, _ in trace.note(name) }, forMode: .default)
            }
            RunLoop.current.perform {}
            RunLoop.current.run()
            #expect(trace.all == ["a", "b", "c", "d"])
        }
    }

    @Test("R95 An observer that does not repeat is notified once")
    func notifiedOnce() async throws {
        try await withRunLoopThread {
            let trace = Trace()
            let observer = RunLoop.Observer([.beforeTimers, .exit], repeats: false) { observer, activity in
                trace.note("\(activity == .beforeTimers) \(observer.isValid)")
            }
            try RunLoop.current.add(observer, forMode: .default)
            for _ in 0..<2 {
                RunLoop.current.perform {}
                RunLoop.current.run()
            }
            #expect(trace.all == ["true true"])
            #expect(!observer.isValid)
        }
    }

    @Test("The action gets the very object that was added, even if its creator released it")
    func sameObject() async throws {
        try await withRunLoopThread {
            let trace = Trace()
            let observer = RunLoop.Observer(.entry) { trace.note("\(ObjectIdentifier($0)) \($1 == .entry)") }
            let identity = "\(ObjectIdentifier(observer))"
            try RunLoop.current.add(observer, forMode: .default)
            try RunLoop.current.add(
                RunLoop.Observer(.entry) { observer, _ in
                    observer.invalidate()
                    trace.note("\(observer.isValid)")
                }, forMode: .default)
            RunLoop.current.perform {}
            RunLoop.current.run()
            #expect(trace.all == ["\(identity) true", "false"])
        }
    }

    @Test("R97 An observer is in one loop, is removed and added again")
    func addAndRemove() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let observer = RunLoop.Observer(.entry) { _, _ in }
            try loop.add(observer, forMode: .default)
            try loop.add(observer, forMode: .default)
            #expect(loop.contains(observer, inMode: .default))
            loop.remove(observer, forMode: .default)
            loop.remove(observer, forMode: .default)
            #expect(!loop.contains(observer, inMode: .default))
            try withLoopElsewhere { try $0.add(observer, forMode: .common) }
            try loop.add(observer, forMode: .default)
            observer.invalidate()
            #expect(!loop.contains(observer, inMode: .default))
            #expect(throws: RunLoop.Error.invalid) { try loop.add(observer, forMode: .default) }
        }
    }

    @Test("R97 An observer of another loop is refused")
    func inAnotherLoop() async throws {
        try await withRunLoopThread {
            try withLoopElsewhere { other in
                let observer = RunLoop.Observer(.all) { _, _ in }
                try other.add(observer, forMode: .default)
                #expect(throws: RunLoop.Error.inAnotherLoop) { try RunLoop.current.add(observer, forMode: .default) }
                #expect(other.contains(observer, inMode: .default))
                observer.invalidate()
            }
        }
    }
}
