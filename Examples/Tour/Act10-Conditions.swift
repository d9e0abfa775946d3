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
        try loop.add(ticker, forMode: .default)
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
        let found = loop.run(
            until: { primes.load(ordering: .acquiring) > 0 }, deadline: .now + .seconds(10))
        let foundAfter = stage.tell(found ? "the primes are there" : "no primes")
        worker.join()

        // A condition that never becomes true.
        let vain = loop.run(
            until: { primes.load(ordering: .acquiring) > 1_000_000 }, deadline: .now + .milliseconds(90))
        let vainAfter = stage.tell(vain ? "more than a million primes" : "gave up") - foundAfter

        // A condition that is already true.
        let atOnce = loop.run(until: { true }, deadline: .now + .seconds(10))
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
