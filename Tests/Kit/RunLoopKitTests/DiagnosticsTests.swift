import CRunLoopOverlay
import Dispatch
import Glibc
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

    @Test("R150 What a task adds to a main loop that nobody runs is reported")
    func mainLoopOfAsyncMain() async {
        await #expect(processExitsWith: .success) {
            let standardError = try StandardError()
            let source = RunLoop.Source {}
            try RunLoop.main.add(source, forMode: .common)
            let line = try await standardError.line()
            precondition(line.contains("the main loop. Below an async main"))
            source.invalidate()
        }
    }

    @Test("R150 What a task adds to the loop of a thread of the pool is reported")
    func poolThread() async {
        await #expect(processExitsWith: .success) {
            let standardError = try StandardError()
            try withoutActuallyRunning()
            let sentence = try await standardError.line()
            precondition(sentence.contains("a thread of the task pool"))
        }
    }

    @Test("R150 What a task has performed later on a loop that nobody runs is reported")
    func performedLater() async {
        await #expect(processExitsWith: .success) {
            let standardError = try StandardError()
            precondition(RunLoop.main.perform(after: .milliseconds(1)) {})
            let sentence = try await standardError.line()
            precondition(sentence.contains("the main loop. Below an async main"))
        }
    }

    @Test("R150 What a block of a dispatch queue adds to the loop of its thread is reported")
    func dispatchThread() async {
        await #expect(processExitsWith: .success) {
            let standardError = try StandardError()
            for queue in [DispatchQueue.global(), DispatchQueue(label: "own")] {
                queue.async { precondition(addWithoutRunning()) }
            }
            let sentence = try await standardError.line()
            precondition(sentence.contains("or of libdispatch"))
        }
    }

    @Test("R150 A loop that runs within the second, and an item that is gone by then, are not reported")
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

/// What the process writes to its standard error from now on.
private struct StandardError {
    private let reader: CInt

    init() throws {
        let (reader, writer) = try makePipe()
        precondition(dup2(writer, STDERR_FILENO) >= 0)
        self.reader = reader
    }

    func line() async throws -> String {
        try await withRunLoopThread {
            var bytes: [UInt8] = []
            var byte: UInt8 = 0
            precondition(
                waitUntil {
                    while read(reader, &byte, 1) == 1 { bytes.append(byte) }
                    return bytes.last == UInt8(ascii: "\n")
                })
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}

/// As a synchronous helper that was called from a task would.
private func withoutActuallyRunning() throws {
    try RunLoop.current.add(RunLoop.Timer(every: .seconds(3600)) { _ in }, forMode: .default)
}

private func addWithoutRunning() -> Bool { RunLoop.current.perform(after: .seconds(3600)) {} }

private func runOnce() throws {
    try RunLoop.current.add(RunLoop.Timer(every: .seconds(3600)) { _ in }, forMode: .default)
    RunLoop.current.run(mode: .default, for: .zero)
}
