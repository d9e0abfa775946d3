import Foundation
import RunLoopKit
import RunLoopKitFoundation
import Synchronization
import XCTest

import class RunLoopKit.RunLoop

private typealias FoundationLoop = Foundation.RunLoop
private typealias FoundationTimer = Foundation.Timer

/// Foundation's loop and ours on one thread. What hangs without the other loop's work ends by the patience of the test alone.
final class FoundationHostTests: XCTestCase {
    // R109 R24 inside a block that Foundation's loop drains, a run of ours without items finishes
    func testRunInsideBlockOfFoundationsLoop() {
        let order = Order()
        DispatchQueue.main.async {
            DispatchQueue.main.async { order.note("second block") }
            order.note("nested \(RunLoop.main.run(mode: .default, for: .seconds(120), returnAfterSourceHandled: true))")
        }
        FoundationLoop.run { order.lines.count == 2 }
        XCTAssertEqual(order.lines, ["nested finished", "second block"])
    }

    func testBothHaveTheirTimers() throws {
        let order = Order()
        let host = try RunLoop.FoundationHost()
        let timer = RunLoop.Timer(after: .milliseconds(1), every: .milliseconds(1)) { _ in order.note("ours") }
        try RunLoop.current.add(timer, forMode: .default)
        let other = FoundationTimer.scheduledTimer(withTimeInterval: 0.001, repeats: true) { _ in order.note("theirs") }
        FoundationLoop.run { order.count(of: "ours") > 9 && order.count(of: "theirs") > 9 }
        timer.invalidate()
        other.invalidate()
        XCTAssertNil(host.result)
        host.end()
        XCTAssertEqual(host.result, .stopped)
    }

    // Between two frames both loops are served, and the next frame comes in time though ours always has work.
    func testFrames() throws {
        let order = Order()
        let host = try RunLoop.FoundationHost()
        let timer = RunLoop.Timer(after: .milliseconds(1), every: .milliseconds(1)) { _ in order.note("ours") }
        try RunLoop.current.add(timer, forMode: .default)
        let other = FoundationTimer.scheduledTimer(withTimeInterval: 0.001, repeats: true) { _ in order.note("theirs") }
        @Sendable func work() { if order.count(of: "over") == 0 { RunLoop.main.perform(work) } }
        RunLoop.main.perform(work)
        var frames = 0
        while frames < 10 || order.count(of: "ours") < 10 || order.count(of: "theirs") < 10 {
            let next = RunLoop.Instant.now + .milliseconds(5)
            XCTAssertEqual(host.run(until: next), .timedOut)
            XCTAssertGreaterThanOrEqual(RunLoop.Instant.now, next)
            frames += 1
        }
        XCTAssertEqual(host.run(until: .now - .seconds(1)), .timedOut)
        order.note("over")
        timer.invalidate()
        other.invalidate()
        RunLoop.main.stop()
        XCTAssertEqual(host.run(until: .now + .seconds(60)), .stopped)
        XCTAssertEqual(host.run(until: .now + .seconds(60)), .stopped)
    }

    // A timer of ours ends the process, during Foundation's wait for that inside a closure of ours.
    func testProcessIsWaitedForInAClosure() throws {
        let host = try RunLoop.FoundationHost()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sleep")
        process.arguments = ["20"]
        let waiting = Unchecked(process)
        RunLoop.current.perform {
            try? waiting.value.run()
            let timer = RunLoop.Timer(after: .milliseconds(10)) { _ in waiting.value.terminate() }
            try! RunLoop.current.add(timer, forMode: .default)
            waiting.value.waitUntilExit()
            RunLoop.current.stop()
        }
        XCTAssertEqual(host.run(), .stopped)
        XCTAssertEqual(process.terminationReason, .uncaughtSignal)
    }

    func testNotificationsArePosted() throws {
        let order = Order()
        let pipe = Pipe()
        let idle = Notification.Name("RunLoopKit.idle")
        let observers = [
            NotificationCenter.default.addObserver(forName: idle, object: nil, queue: nil) { _ in order.note("idle") },
            NotificationCenter.default.addObserver(
                forName: FileHandle.readCompletionNotification, object: pipe.fileHandleForReading, queue: nil
            ) { _ in
                order.note("read")
                RunLoop.current.stop()
            },
        ]
        let host = try RunLoop.FoundationHost()
        NotificationQueue.default.enqueue(Notification(name: idle), postingStyle: .whenIdle)
        pipe.fileHandleForReading.readInBackgroundAndNotify()
        let writer = Unchecked(pipe.fileHandleForWriting)
        RunLoop.current.perform(after: .milliseconds(10)) { try? writer.value.write(contentsOf: Data("x".utf8)) }
        XCTAssertEqual(host.run(), .stopped)
        XCTAssertEqual(order.lines, ["idle", "read"])
        for observer in observers { NotificationCenter.default.removeObserver(observer) }
    }

    func testIdleLoopsSleep() throws {
        let host = try RunLoop.FoundationHost()
        let order = Order()
        let observer = RunLoop.Observer([.beforeTimers, .afterWaiting]) { _, _ in order.note("awake") }
        try RunLoop.current.add(observer, forMode: .default)
        // What other tests have left may end now; a loop that polled would be awake each time.
        let wasQuiet = (0..<20).contains { _ in
            let before = order.lines.count
            _ = FoundationLoop.current.run(mode: .default, before: Date() + 0.1)
            return order.lines.count == before
        }
        XCTAssertTrue(wasQuiet)
        observer.invalidate()
        host.end()
    }

    // The main queue goes on when the block that runs Foundation's loop has returned; our timers do inside it.
    func testTimersInsideABlockOfFoundationsLoop() throws {
        let order = Order()
        let host = try RunLoop.FoundationHost()
        DispatchQueue.main.async {
            DispatchQueue.main.async { order.note("second block") }
            let timer = RunLoop.Timer(after: .milliseconds(1)) { _ in order.note("timer") }
            try! RunLoop.main.add(timer, forMode: .default)
            FoundationLoop.run { order.lines.count == 1 }
        }
        FoundationLoop.run { order.lines.count == 2 }
        XCTAssertEqual(order.lines, ["timer", "second block"])
        host.end()
    }

    func testEndOfItselfAndOfTheThread() {
        let order = Order()
        let thread = Foundation.Thread {
            // Nothing is in the mode.
            if let host = try? RunLoop.FoundationHost(), host.run() == .finished { order.note("empty") }
            RunLoop.current.perform(after: .milliseconds(1)) { order.note("last") }
            let host = try? RunLoop.FoundationHost { order.note("\($0)") }
            if host?.run() == .finished { order.note("over") }
            RunLoop.current.perform(after: .seconds(1000)) {}
            let freed = AtEnd { order.note("freed") }
            _ = try? RunLoop.FoundationHost { _ in withExtendedLifetime(freed) { order.note("called at the end") } }
            FoundationLoop.current.run(until: Date() + 0.001)
        }
        thread.start()
        FoundationLoop.run { order.lines.count == 5 }
        XCTAssertEqual(order.lines, ["empty", "last", "finished", "over", "freed"])
    }
}

extension FoundationLoop {
    fileprivate static func run(until condition: () -> Bool) {
        let limit = Date() + 20
        while !condition() {
            guard Date() < limit else { return XCTFail("Nothing happened for a long time.") }
            _ = current.run(mode: .default, before: Date() + 0.05)
        }
    }
}

/// The events, in their order.
private final class Order: Sendable {
    private let noted = Mutex<[String]>([])
    var lines: [String] { noted.withLock { $0 } }
    func count(of line: String) -> Int { lines.count { $0 == line } }
    func note(_ line: String) { noted.withLock { $0.append(line) } }
}

private final class AtEnd: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    deinit { body() }
}

private struct Unchecked<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
