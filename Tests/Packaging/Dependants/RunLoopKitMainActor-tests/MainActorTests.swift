import Dispatch
import RunLoopKit
import Testing

/// Tests of the main actor are on the main loop.
@MainActor @Suite(.serialized) struct MainActorTests {
    private final class Flag {
        var isSet = false
    }

    private let flag = Flag()

    @Test("After each await the test is on the initial thread, and the pool is not") func initialThread() async throws {
        for _ in 0..<20 {
            #expect(RunLoop.main.isCurrent)
            await Task.detached { #expect(!RunLoop.main.isCurrent) }.value
            try await Task.sleep(for: .microseconds(100))
        }
        #expect(RunLoop.main.isCurrent)
    }

    @Test("A run nested in a test runs other jobs of the main actor") func nestedJob() {
        Task { flag.isSet = true }
        runUntilSet()
    }

    @Test("A run nested in a test serves the main queue") func nestedMainQueue() {
        DispatchQueue.main.async { MainActor.assumeIsolated { flag.isSet = true } }
        runUntilSet()
    }

    @Test("A timer of the main loop fires while a test awaits") func timer() async {
        await withCheckedContinuation { continuation in
            let timer = RunLoop.Timer(after: .milliseconds(1), RunLoop.onMainActor { _ in continuation.resume() })
            try! RunLoop.main.add(timer, forMode: .common)
        }
    }

    private func runUntilSet() {
        let deadline = RunLoop.Instant.now + .seconds(60)
        while !flag.isSet && .now < deadline { RunLoop.main.run(mode: .default, for: .milliseconds(100)) }
        #expect(flag.isSet)
    }
}
