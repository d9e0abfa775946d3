import Dispatch
import RunLoopKit
import RunLoopKitTesting
import XCTest

import class RunLoopKit.RunLoop

/// The helpers of RunLoopKitTesting on the main loop, and in asynchronous methods of XCTest.
final class TestingOnMainThreadTests: XCTestCase {
    // R25 R106 an iteration of the main loop serves the main queue and the main actor
    func testIterationServesMainQueue() throws {
        RunLoop.main.iterate(times: .max)
        var ran = false
        nonisolated(unsafe) let note = { ran = true }
        DispatchQueue.main.async { note() }
        XCTAssertTrue(RunLoop.main.hasWork())
        XCTAssertGreaterThan(RunLoop.main.iterate(times: .max), 0)
        XCTAssertTrue(ran)
        XCTAssertFalse(RunLoop.main.hasWork())
    }

    // R110 a run until a condition holds serves the main actor
    func testConditionOfMainActor() throws {
        let task = Task { @MainActor in
            try? await Task.sleep(for: .milliseconds(5))
            isDone = true
        }
        try RunLoop.main.runUntil("the task is done") { MainActor.assumeIsolated { isDone } }
        XCTAssertFalse(task.isCancelled)
    }

    // A condition that does not hold is an error with a description
    func testConditionInVain() {
        XCTAssertThrowsError(try RunLoop.main.runUntil("never", within: .milliseconds(10)) { false }) { error in
            XCTAssertTrue("\(error)".hasPrefix("never did not come about within 0.01 seconds"))
        }
    }

    // An asynchronous method has a loop on a thread of its own
    func testLoopOfItsOwn() async throws {
        let iterations = await withRunLoop { loop in
            loop.perform {}
            return loop.iterate(times: .max)
        }
        XCTAssertEqual(iterations, 1)
    }
}

@MainActor private var isDone = false
