import Dispatch
import RunLoopKit
import XCTest

import class RunLoopKit.RunLoop

/// XCTest waits in Foundation's loop, on the initial thread; the main loop is its guest there.
final class WaitingTests: XCTestCase {
    func testAsync() async throws {
        for _ in 0..<20 {
            try await Task.sleep(for: .milliseconds(1))
            await MainActor.run { XCTAssertTrue(RunLoop.main.isCurrent) }
        }
    }

    @MainActor func testMainActor() async throws {
        for _ in 0..<20 {
            XCTAssertTrue(isOnMainLoop())
            await Task.detached {}.value
            try await Task.sleep(for: .milliseconds(1))
        }
        await withCheckedContinuation { continuation in
            let timer = RunLoop.Timer(after: .milliseconds(1), RunLoop.onMainActor { _ in continuation.resume() })
            try! RunLoop.main.add(timer, forMode: .common)
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async { continuation.resume() }
        }
    }

    func testExpectation() {
        let isDone = expectation(description: "The task of the main actor has ended.")
        Task { @MainActor in
            try await Task.sleep(for: .milliseconds(1))
            isDone.fulfill()
        }
        wait(for: [isDone], timeout: 60)
    }

    // The wait is in the middle of a job of the main actor.
    @MainActor func testExpectationInsideAsyncTest() async {
        let isDone = expectation(description: "Tasks and the main queue go on.")
        Task {
            try await Task.sleep(for: .milliseconds(1))
            await withCheckedContinuation { continuation in
                DispatchQueue.main.async { continuation.resume() }
            }
            isDone.fulfill()
        }
        waitSynchronously(for: isDone)
    }

    private func waitSynchronously(for isDone: XCTestExpectation) { wait(for: [isDone], timeout: 60) }

    @MainActor func testNestedRun() {
        var isDone = false
        Task { isDone = true }
        XCTAssertTrue(RunLoop.main.run(until: { isDone }, deadline: .now + .seconds(60)))
    }
}

private func isOnMainLoop() -> Bool { RunLoop.main.isCurrent }
