import CRunLoopOverlay
import RunLoopKit
import Testing

@Suite struct DiagnosticsTests {
    @Test("R109 Diagnostics are on, and can be disabled")
    func switchedOff() async {
        await #expect(processExitsWith: .success) {
            precondition(RunLoop.writesDiagnostics)
            RunLoop.writesDiagnostics = false
            precondition(!RunLoop.writesDiagnostics)
        }
    }

    @Test("R150 What a task adds to a main loop that nobody runs is told")
    func mainLoopOfAsyncMain() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            let source = RunLoop.Source {}
            try RunLoop.main.add(source, forMode: .common)
            await untilTold()
            source.invalidate()
        }
        #expect(text(of: result).contains("the main loop. Below an async main"))
    }

    @Test("R150 What a task adds to the loop of a thread of the pool is told")
    func poolThread() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            try withoutActuallyRunning()
            await untilTold()
        }
        #expect(text(of: result).contains("a thread of the task pool"))
    }

    @Test("R150 A loop that runs within the second, and an item that is gone by then, are not told")
    func hasRun() async throws {
        await #expect(processExitsWith: .success) {
            let source = RunLoop.Source {}
            try RunLoop.main.add(source, forMode: .common)
            source.invalidate()
            try await Task.sleep(for: .milliseconds(1500))
            precondition(runloop__diagnostic_is_due(RUNLOOP__NEVER_RUN))
            try runOnce()
            try await Task.sleep(for: .milliseconds(1500))
            precondition(runloop__diagnostic_is_due(RUNLOOP__NEVER_RUN))
        }
    }
}

private func untilTold() async {
    while runloop__diagnostic_is_due(RUNLOOP__NEVER_RUN) { try? await Task.sleep(for: .milliseconds(20)) }
}

/// As a synchronous helper that was called from a task would.
private func withoutActuallyRunning() throws {
    try RunLoop.current.add(RunLoop.Timer(every: .seconds(3600)) { _ in }, forMode: .default)
}

private func runOnce() throws {
    try RunLoop.current.add(RunLoop.Timer(every: .seconds(3600)) { _ in }, forMode: .default)
    RunLoop.current.run(mode: .default, for: .zero)
}

private func text(of result: ExitTest.Result) -> String { String(decoding: result.standardErrorContent, as: UTF8.self) }
