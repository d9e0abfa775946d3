import Dispatch
import Glibc
import RunLoopKit
import RunLoopKitDiagnostics
import RunLoopKitLinux
import RunLoopKitTesting
import XCTest

import class RunLoopKit.RunLoop

/// The main loop serves the main dispatch queue, and with it the main actor. The methods are synchronous, because XCTest runs
/// those on the initial thread.
final class MainThreadTests: XCTestCase {
    // R2 the main loop is the loop of the initial thread
    func testMainLoopIsInitialThreads() {
        XCTAssertTrue(RunLoop.main === RunLoop.current)
        XCTAssertTrue(RunLoop.main.isCurrent)
    }

    // R24 the default mode of the main loop is never empty
    func testDefaultModeIsNeverEmpty() {
        XCTAssertEqual(RunLoop.main.run(mode: .default, for: .milliseconds(1)), .timedOut)
    }

    // R38 R107 a block on the main queue counts as a handled source
    func testBlockCountsAsHandledSource() {
        let seen = Seen()
        DispatchQueue.main.async { seen.note() }
        XCTAssertEqual(
            RunLoop.main.run(mode: .default, for: .seconds(120), returnAfterSourceHandled: true), .handledSource)
        XCTAssertEqual(seen.threads, [pthread_self()])
    }

    // R110 a block from another thread wakes the sleeping main loop
    func testBlockWakesSleepingLoop() {
        let seen = Seen()
        DispatchQueue.global().async {
            while !RunLoop.main.isWaiting { usleep(200) }
            DispatchQueue.main.async { seen.note() }
        }
        XCTAssertEqual(
            RunLoop.main.run(mode: .default, for: .seconds(120), returnAfterSourceHandled: true), .handledSource)
        XCTAssertEqual(seen.threads, [pthread_self()])
    }

    // R106 the main queue waits while a mode runs that is not common
    func testQueueWaitsForCommonMode() throws {
        let seen = Seen()
        DispatchQueue.main.async { seen.note() }
        let source = RunLoop.Source {}
        try RunLoop.main.add(source, forMode: "private")
        XCTAssertEqual(RunLoop.main.run(mode: "private", for: .milliseconds(5)), .timedOut)
        XCTAssertEqual(seen.threads, [])
        try RunLoop.main.runUntil { seen.threads.count == 1 }
        source.invalidate()
    }

    // R106 a hosted run of the main loop serves the main queue and the main actor, in the host's loop
    func testHostedRunServesMainActor() throws {
        let seen = Seen()
        let run = try RunLoop.HostedRun()
        Task { @MainActor in
            seen.note()
            try? await Task.sleep(for: .milliseconds(1))
            seen.note()
        }
        host(run.fileDescriptor, serving: { run.iterate() }, until: { seen.threads.count == 2 })
        XCTAssertEqual(seen.threads, [pthread_self(), pthread_self()])
        run.end()
    }

    // R106 a host serves the main queue without a loop
    @MainActor
    func testMainQueueWithoutLoop() throws {
        let seen = Seen()
        Task { @MainActor in seen.note() }
        host(
            try XCTUnwrap(RunLoop.MainQueue.fileDescriptor), serving: { RunLoop.MainQueue.serve() },
            until: { seen.threads.count == 1 })
        XCTAssertEqual(seen.threads, [pthread_self()])
        XCTAssertFalse(RunLoop.MainQueue.serve())
    }

    /// A loop that waits for one descriptor.
    private func host<Ignored>(_ descriptor: CInt, serving serve: () -> Ignored, until condition: () -> Bool) {
        while !condition() {
            var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waited, 1, 20_000) == 1 else { return XCTFail("Nothing happened for a long time.") }
            _ = serve()
        }
    }

    // A task on the main actor runs inside a run of the main loop
    func testMainActorTask() throws {
        let seen = Seen()
        Task { @MainActor in seen.note() }
        try RunLoop.main.runUntil { seen.threads.count == 1 }
        XCTAssertEqual(seen.threads, [pthread_self()])
    }

    // A task on the main actor that slept continues on the initial thread
    func testSleepingMainActorTask() throws {
        let seen = Seen()
        let start = RunLoop.Instant.now
        Task { @MainActor in
            seen.note()
            try? await Task.sleep(for: .milliseconds(10))
            seen.note()
        }
        try RunLoop.main.runUntil { seen.threads.count == 2 }
        XCTAssertEqual(seen.threads, [pthread_self(), pthread_self()])
        XCTAssertGreaterThanOrEqual(RunLoop.Instant.now - start, .milliseconds(10))
    }

    // A task elsewhere reaches the main actor
    func testTaskReachesMainActor() throws {
        let seen = Seen()
        Task.detached { await MainActor.run { seen.note() } }
        try RunLoop.main.runUntil { seen.threads.count == 1 }
        XCTAssertEqual(seen.threads, [pthread_self()])
    }

    // The action of a timer of the main loop is on the main actor
    func testTimerIsOnMainActor() throws {
        let seen = Seen()
        let timer = RunLoop.Timer(after: .zero) { _ in MainActor.assumeIsolated { seen.note() } }
        try RunLoop.main.add(timer, forMode: .common)
        try RunLoop.main.runUntil { seen.threads.count == 1 }
        XCTAssertEqual(seen.threads, [pthread_self()])
    }

    // R109 a run inside a main-queue block does not serve the queue
    func testRunInsideBlockLeavesQueueAlone() {
        let order = Order()
        DispatchQueue.main.async {
            DispatchQueue.main.async { order.note("second block") }
            let result = RunLoop.main.run(mode: .default, for: .milliseconds(5))
            order.note("nested \(result)")
        }
        // Nothing else is in the mode, so the nested run has nothing to wait for.
        XCTAssertTrue(RunLoop.main.run(until: { order.lines.count == 2 }, deadline: .now + .seconds(120)))
        XCTAssertEqual(order.lines, ["nested finished", "second block"])
    }

    // a run inside a main-queue block that leaves other blocks waiting is reported to the watchdog's closure
    func testStarvationIsDiagnosed() throws {
        let seen = Order()
        RunLoop.writesDiagnostics = false
        defer { RunLoop.writesDiagnostics = true }
        try RunLoop.main.startWatchdog(hangLimit: .milliseconds(50)) { diagnosis in
            guard diagnosis.kind == .starvation else { return }
            seen.note("\(diagnosis.callout.map { "\($0)" } ?? "") in \(diagnosis.mode?.rawValue ?? "")")
            RunLoop.main.wakeUp()
        }
        DispatchQueue.main.async {
            DispatchQueue.main.async { seen.note("second block") }
            let keepAlive = try? RunLoop.KeepAlive(on: .main, inMode: "starving")
            RunLoop.main.run(mode: "starving", until: { !seen.lines.isEmpty }, deadline: .now + .seconds(120))
            keepAlive?.invalidate()
        }
        XCTAssertTrue(RunLoop.main.run(until: { seen.lines.count == 2 }, deadline: .now + .seconds(120)))
        RunLoop.main.stopWatchdog()
        XCTAssertEqual(seen.lines, ["mainQueue in starving", "second block"])
    }

    // closures of all kinds of items can be isolated to the main actor
    @MainActor func testItemsOfMainActor() throws {
        let state = Notebook()
        let loop = RunLoop.main
        let timer = RunLoop.Timer(
            every: .milliseconds(1),
            RunLoop.onMainActor { timer in
                state.note("ticks")
                timer.invalidate()
            })
        try loop.add(timer, forMode: .default)
        try loop.add(RunLoop.Timer(after: .zero, RunLoop.onMainActor { _ in state.note("fires") }), forMode: .default)
        let later = RunLoop.Timer(
            after: .zero, every: .seconds(1000),
            RunLoop.onMainActor { timer in
                state.note("fires, then ticks")
                timer.invalidate()
            })
        try loop.add(later, forMode: .default)
        let timeout = RunLoop.Timeout(on: .main, after: .zero, RunLoop.onMainActor { state.note("is late") })
        let observer = RunLoop.Observer(
            .entry, repeats: false,
            RunLoop.onMainActor { _, activity in
                state.note("entry \(activity == .entry)")
            })
        try loop.add(observer, forMode: .default)
        let signalled = RunLoop.Source(perform: RunLoop.onMainActor { state.note("signalled") })
        try loop.add(signalled, forMode: .default)
        signalled.signal()
        var ends: [CInt] = [-1, -1]
        XCTAssertEqual(pipe(&ends), 0)
        let writable = try RunLoop.Source(
            fileDescriptor: ends[1], events: .write,
            perform: RunLoop.onMainActor { events in
                state.note("writable \(events == .write)")
                state.stopWriting()
            })
        state.stopWriting = { writable.invalidate() }
        try loop.add(writable, forMode: .default)
        let caught = try RunLoop.Source(signal: SIGWINCH, perform: RunLoop.onMainActor { _ in state.note("caught") })
        try loop.add(caught, forMode: .default)
        raise(SIGWINCH)
        let work = RunLoop.CoalescedWork(on: .main, RunLoop.onMainActor { state.note("worked") })
        work.setNeeded()
        loop.perform(RunLoop.onMainActor { state.note("performed") })
        loop.perform(after: .zero, RunLoop.onMainActor { state.note("performed later") })
        let expected: Set = [
            "ticks", "fires", "fires, then ticks", "is late", "entry true", "signalled", "writable true", "caught",
            "worked", "performed", "performed later",
        ]
        try loop.runUntil { state.lines == expected }
        XCTAssertFalse(timeout.isValid)
        for source in [signalled, writable, caught] { source.invalidate() }
        for end in ends { close(end) }
    }

    // R107 a stop from a main-queue block ends the run after it
    func testStopFromBlock() {
        DispatchQueue.main.async { RunLoop.main.stop() }
        RunLoop.main.run()
    }
}

/// State of the main actor.
@MainActor private final class Notebook {
    private(set) var lines: Set<String> = []
    var stopWriting = {}
    func note(_ line: String) { lines.insert(line) }
}

/// The threads on which something happened.
private final class Seen: @unchecked Sendable {
    private let lock = DispatchQueue(label: "seen")
    private var noted: [pthread_t] = []
    var threads: [pthread_t] { lock.sync { noted } }
    func note() {
        let thread = pthread_self()
        lock.sync { noted.append(thread) }
    }
}

/// The events, in their order.
private final class Order: @unchecked Sendable {
    private let lock = DispatchQueue(label: "order")
    private var noted: [String] = []
    var lines: [String] { lock.sync { noted } }
    func note(_ line: String) { lock.sync { noted.append(line) } }
}
