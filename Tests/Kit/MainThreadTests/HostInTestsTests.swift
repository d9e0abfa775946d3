import Foundation
import RunLoopKit
import RunLoopKitFoundation
import XCTest

import class RunLoopKit.RunLoop

/// The place of the host that TestsThatWait.md names.
class HostedTestCase: XCTestCase {
    /// On the initial thread only.
    private nonisolated(unsafe) static var host: RunLoop.FoundationHost?

    override func setUpWithError() throws {
        if Self.host == nil || Self.host?.result != nil { Self.host = try RunLoop.FoundationHost() }
    }

    /// The other tests of this bundle have hosts of their own.
    override class func tearDown() {
        host?.end()
        host = nil
    }
}

final class HostInTestsTests: HostedTestCase {
    private func addTimer(thatFulfills isDone: XCTestExpectation) {
        RunLoop.main.perform(after: .milliseconds(1)) { isDone.fulfill() }
    }

    // XCTest's own wait serves the main loop
    func testAsyncMethod() async {
        let isDone = expectation(description: "A timer of the main loop has fired.")
        addTimer(thatFulfills: isDone)
        await fulfillment(of: [isDone], timeout: 60)
    }

    // after a stop, which ends the host's run, the next test has a new one
    func testAStop() {
        let isDone = expectation(description: "The run has ended.")
        RunLoop.main.perform {
            RunLoop.main.stop()
            isDone.fulfill()
        }
        wait(for: [isDone], timeout: 60)
    }

    // so does a wait for an expectation
    func testSynchronousMethod() {
        let isDone = expectation(description: "A timer of the main loop has fired.")
        addTimer(thatFulfills: isDone)
        wait(for: [isDone], timeout: 60)
    }
}
