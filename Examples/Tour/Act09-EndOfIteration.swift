import RunLoopKit
import Synchronization

/// Much of a program's work is best finished once, at the end of an iteration: a window is drawn once, however many of its
/// parts were changed. An observer that is notified before the loop sleeps does that, and the order of the observers
/// decides which work comes first.
enum EndOfIteration: Act {
    static let title = "End of a turn"
    static let shows = "Changes are committed once per turn, and what a turn has left behind is thrown away after that."

    static func perform(on stage: Stage) throws {
        let loop = RunLoop.current
        let transaction = Transaction(stage)
        let pool = Pool(stage)

        // The pool comes before all other observers, and is emptied after all others. `exit` is for the run's last iteration,
        // which does not sleep.
        let observers = [
            RunLoop.Observer(.entry, order: .min) { _, _ in MainActor.assumeIsolated { pool.open() } },
            RunLoop.Observer([.beforeWaiting, .exit], order: .max) { _, activity in
                MainActor.assumeIsolated { pool.drain(reopen: activity != .exit) }
            },
            RunLoop.Observer([.beforeWaiting, .exit], order: 1000) { _, _ in
                MainActor.assumeIsolated { transaction.commit() }
            },
        ]
        for observer in observers { try loop.add(observer, forMode: .default) }
        defer { for observer in observers { observer.invalidate() } }

        func change(_ parts: String...) {
            for part in parts {
                transaction.change(part)
                pool.keep(Scrap())
            }
        }
        loop.perform { MainActor.assumeIsolated { change("title", "body", "title") } }
        loop.perform { MainActor.assumeIsolated { change("body", "footer") } }
        loop.perform(after: .milliseconds(30)) {
            MainActor.assumeIsolated { change("title") }
            // Started here and not above: two timers that are due when the loop wakes would share an iteration.
            loop.perform(after: .milliseconds(30)) {
                MainActor.assumeIsolated { change("footer", "footer") }
                loop.stop()
            }
        }
        let result = loop.run(mode: .default, for: .seconds(20))

        try stage.check(
            "each turn's changes were committed once, and its scraps freed after that", stage.story,
            is: [
                "pool opened",
                "changes the title", "changes the body", "changes the title", "changes the body", "changes the footer",
                "commits body, footer, title", "pool drained, scraps freed: 5",
                "changes the title", "commits title", "pool drained, scraps freed: 1",
                "changes the footer", "changes the footer", "commits footer", "pool drained, scraps freed: 2",
                "pool closed",
            ])
        try stage.check("the last turn was ended by a stop, and finished its work all the same", result, is: .stopped)
        try stage.check("no scrap is left", Scrap.alive.load(ordering: .relaxed), is: 0)
    }
}

/// Changes that are deferred until the end of the iteration.
@MainActor final class Transaction {
    private var changed: Set<String> = []
    private let stage: Stage

    init(_ stage: Stage) {
        self.stage = stage
    }

    func change(_ part: String) {
        changed.insert(part)
        stage.tell("changes the \(part)")
    }

    func commit() {
        if changed.isEmpty { return }
        stage.tell("commits " + changed.sorted().joined(separator: ", "))
        changed = []
    }
}

/// Retains objects until the end of the iteration.
@MainActor final class Pool {
    private var scraps: [Scrap]?
    private let stage: Stage

    init(_ stage: Stage) {
        self.stage = stage
    }

    func open() {
        scraps = []
        stage.tell("pool opened")
    }

    func keep(_ scrap: Scrap) { scraps?.append(scrap) }

    func drain(reopen: Bool) {
        let before = Scrap.alive.load(ordering: .relaxed)
        scraps = reopen ? [] : nil
        let freed = before - Scrap.alive.load(ordering: .relaxed)
        if freed > 0 { stage.tell("pool drained, scraps freed: \(freed)") }
        if !reopen { stage.tell("pool closed") }
    }
}

/// An object that a program creates often and needs briefly.
final class Scrap: Sendable {
    static let alive = Atomic(0)

    init() { Self.alive.add(1, ordering: .relaxed) }
    deinit { Self.alive.subtract(1, ordering: .relaxed) }
}
