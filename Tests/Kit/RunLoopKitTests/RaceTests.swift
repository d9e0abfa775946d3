import Glibc
import RunLoopKit
import Synchronization
import Testing

/// What several threads do at once to an answer and to an executor's jobs: for the thread sanitizer, and counted. RUNLOOP_STRESS_SECONDS: for how
/// long, in place of a few hundred rounds.
@Suite struct RaceTests {
    private func repeated(_ rounds: Int, _ body: (Int) async throws -> Void) async rethrows {
        let seconds = getenv("RUNLOOP_STRESS_SECONDS").flatMap { Double(String(cString: $0)) }
        let end = RunLoop.Instant.now + .seconds(seconds ?? 0)
        var round = 0
        while seconds == nil ? round < rounds : .now < end {
            try await body(round)
            round += 1
        }
    }

    private final class First: Sendable {
        let number = Atomic(-1)
    }

    /// What an answer is settled with, and destroyed if another one was first.
    private final class Value: Sendable {
        let number: Int
        let freed: Count
        init(_ number: Int, _ freed: Count) {
            self.number = number
            self.freed = freed
        }
        deinit { freed.increment() }
    }

    @Test("Of several threads and a cancellation that settle an answer one is the first")
    func answer() async throws {
        let threads = try (0..<3).map { _ in try RunLoop.Thread() }
        defer { for thread in threads { thread.stop() } }
        try await repeated(300) { round in
            let answer = Answer<Value, RunLoop.Error>()
            let firsts = Count()
            let freed = Count()
            let begun = Count()
            let done = Count()
            let performed = Count()
            let first = First()
            let settle: @Sendable (Int) -> Void = { number in
                begun.increment()
                if answer.settle(.success(Value(number, freed))) {
                    firsts.increment()
                    first.number.store(number, ordering: .relaxed)
                }
                done.increment()
            }
            let waiting = Task {
                try await answer.wait(isolation: nil) { settle(3) }.number
            }
            for (number, thread) in threads.enumerated() where number <= round % 4 {
                thread.loop.perform {
                    settle(number)
                    performed.increment()
                }
            }
            if round % 2 == 0 || round % 4 == 3 { waiting.cancel() }
            let settlers = min(round % 4 + 1, 3)
            let number = try await waiting.value
            // The first has resumed the task before it counts. A cancellation that comes after the answer calls nothing.
            while performed.value < settlers || done.value < begun.value { await Task.yield() }
            while freed.value < done.value { await Task.yield() }
            #expect(firsts.value == 1)
            #expect(number == first.number.load(ordering: .relaxed))
            #expect(freed.value == done.value)
            #expect(!answer.isOpen)
        }
    }

    /// Jobs of a loop, which come one at a time.
    private actor Worker: RunLoop.BoundActor {
        private let thread: RunLoop.Thread
        nonisolated var loop: RunLoop { thread.loop }
        private var last: [Int: Int] = [:]
        private(set) var count = 0

        init() throws { thread = try RunLoop.Thread() }

        func work(_ number: Int, of sender: Int) {
            #expect(loop.isCurrent)
            count += 1
            #expect(last[sender, default: -1] < number)
            last[sender] = number
        }

        nonisolated func end() async {
            thread.stop()
            await thread.join()
        }
    }

    @Test("Jobs that several threads give a loop's executor are run, each once, those of one task in its order")
    func jobs() async throws {
        try await repeated(20) { round in
            let worker = try Worker()
            let began = Count()
            let ended = Count()
            await withTaskGroup { group in
                for sender in 0..<4 {
                    group.addTask {
                        for number in 0..<100 {
                            began.increment()
                            await worker.work(number, of: sender)
                            // Also those that are given to the executor itself, in a run that is nested in one of them.
                            if number % 10 == round % 10 {
                                await Task(executorPreference: worker.loop.taskExecutor) {
                                    began.increment()
                                    RunLoop.runNested()
                                    ended.increment()
                                }.value
                            }
                            ended.increment()
                        }
                    }
                }
            }
            #expect(await worker.count == 400)
            await worker.end()
            #expect(began.value == ended.value)
        }
    }
}

extension RunLoop {
    /// What is there, and no more.
    fileprivate static func runNested() {
        _ = RunLoop.current.run(mode: .default, for: .zero)
    }
}
