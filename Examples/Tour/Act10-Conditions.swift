import RunLoopKit
import Synchronization

/// A test of asynchronous work waits until a condition holds, but not for ever. It must not block the thread on which that
/// work happens, so it runs the loop.
enum Conditions: Act {
    static let title = "Conditions"
    static let shows = "The loop runs until a condition holds, or a time is over: both outcomes."

    static func perform(on stage: Stage) throws {
        let loop = RunLoop.current
        let ticker = RunLoop.Timer(every: .milliseconds(30)) { _ in stage.tell("meanwhile, a timer") }
        loop.add(ticker, forMode: .default)
        defer { ticker.invalidate() }

        // A condition that becomes true on another thread.
        let primes = Atomic(0)
        let worker = Thread("worker") {
            Thread.sleep(for: .milliseconds(70))
            let count = (2..<2000).count { number in !(2..<number).contains { $0 * $0 <= number && number % $0 == 0 } }
            primes.store(count, ordering: .releasing)
            stage.tell("has counted \(count) primes")
            // The loop itself waits for nothing of this, so it must be woken to check.
            loop.wakeUp()
        }
        let found = loop.run(upTo: .seconds(10)) { primes.load(ordering: .acquiring) > 0 }
        let foundAfter = stage.tell(found ? "the primes are there" : "no primes")
        worker.join()

        // A condition that never becomes true.
        let vain = loop.run(upTo: .milliseconds(90)) { primes.load(ordering: .acquiring) > 1_000_000 }
        let vainAfter = stage.tell(vain ? "more than a million primes" : "gave up") - foundAfter

        // A condition that is already true.
        let atOnce = loop.run(upTo: .seconds(10)) { true }
        stage.tell("what holds already needs no run")

        try stage.check(
            "the first came true, the second did not, the third was true already", [found, vain, atOnce],
            is: [true, false, true])
        try stage.check("the primes are right", primes.load(ordering: .relaxed), is: 303)
        try stage.check("nobody gave up before the time was over", vainAfter >= .milliseconds(90))
        try stage.check(
            "the loop went on with its work while it waited",
            stage.story.contains("meanwhile, a timer"))
    }
}

extension RunLoop {
    /// Runs a mode until a condition holds, but for no longer than `limit`. On the loop's own thread.
    ///
    /// The condition is checked before the loop sleeps, that is, after all work of the loop itself. A thread that makes it true
    /// from outside must then call `wakeUp()`.
    ///
    /// - Returns: whether the condition holds.
    func run(upTo limit: Duration, inMode mode: Mode = .default, until holds: @escaping @Sendable () -> Bool) -> Bool {
        let deadline = Instant.now + limit
        let judge = Observer(.beforeWaiting) { [unowned self] _, _ in
            if holds() { stop() }
        }
        add(judge, forMode: mode)
        defer { judge.invalidate() }
        // The run may have been stopped for another reason; then it starts again.
        while !holds() {
            if run(mode: mode, until: deadline) != .stopped || .now >= deadline { return holds() }
        }
        return true
    }
}
