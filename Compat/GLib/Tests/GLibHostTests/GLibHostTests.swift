import CGLib
import Dispatch
import Glibc
import RunLoopKit
import RunLoopKitGLib
import RunLoopKitTesting
import XCTest

import class RunLoopKit.RunLoop

/// What has been called, each on the initial thread.
@MainActor
private final class Seen {
    private(set) var names: Set<String> = []

    func note(_ name: String) {
        XCTAssertTrue(RunLoop.main.isCurrent)
        names.insert(name)
    }

    /// Has every kind of callback note its name, with a suffix.
    func askEverybody(_ suffix: String = "") {
        try! RunLoop.main.add(
            RunLoop.Timer(after: .milliseconds(2), RunLoop.onMainActor { [self] _ in note("timer" + suffix) }),
            forMode: .common)
        Task {
            try await Task.sleep(for: .milliseconds(1))
            note("task" + suffix)
        }
        Task.detached { [self] in await note("visitor" + suffix) }
        DispatchQueue.global().async { [self] in
            DispatchQueue.main.async { [self] in MainActor.assumeIsolated { note("queue" + suffix) } }
            RunLoop.main.perform { [self] in MainActor.assumeIsolated { note("closure" + suffix) } }
        }
        callFromGLib { [self] in note("GLib" + suffix) }
    }

    func containsEverybody(_ suffix: String = "") -> Bool {
        names.isSuperset(of: ["timer", "task", "visitor", "queue", "closure", "GLib"].map { $0 + suffix })
    }
}

/// Tasks of the main actor that yield, and always have more to do.
@MainActor
private final class Busy {
    private(set) var count = 0
    private var isOver = false

    func work() {
        Task {
            while !isOver {
                count += 1
                let end = RunLoop.Instant.now + .microseconds(100)
                while RunLoop.Instant.now < end {}
                await Task.yield()
            }
        }
    }

    func end() { isOver = true }
}

/// The loop under a real GMainLoop, without a display. Synchronous methods, because XCTest runs those on the initial thread.
final class GLibHostTests: XCTestCase {
    // R106 under GLib's main loop our timers and closures, tasks of the main actor, the main queue and GLib's timeouts share the thread
    func testEverybodySharesTheThread() throws {
        try MainActor.assumeIsolated {
            let seen = Seen()
            var results: [RunLoop.RunResult] = []
            let host = try RunLoop.GLibHost { results.append($0) }
            XCTAssertNil(host.result)
            seen.askEverybody()
            iterate(until: seen.containsEverybody())
            RunLoop.main.stop()
            iterate(until: !results.isEmpty)
            host.end()
            XCTAssertEqual(results, [.stopped])
            XCTAssertEqual(host.result, .stopped)
        }
    }

    // R106 a GMainLoop that runs inside a closure of our loop serves them all, too, and the run goes on after it
    func testNestedLoopInClosure() throws {
        try MainActor.assumeIsolated {
            let seen = Seen()
            let host = try RunLoop.GLibHost()
            try RunLoop.main.add(
                RunLoop.Timer(
                    after: .milliseconds(1),
                    RunLoop.onMainActor { _ in
                        seen.askEverybody(" inside")
                        iterate(until: seen.containsEverybody(" inside"))
                        seen.note("dialog")
                    }), forMode: .common)
            iterate(until: seen.names.contains("dialog"))
            seen.askEverybody(" after")
            iterate(until: seen.containsEverybody(" after"))
            host.end()
            XCTAssertEqual(host.result, .stopped)
        }
    }

    // R104 tasks that always have more to do and what GTK would draw take turns
    func testDrawingHasItsTurns() throws {
        try MainActor.assumeIsolated {
            let host = try RunLoop.GLibHost()
            let busy = Busy()
            for _ in 0..<50 { busy.work() }
            let redraws = Turns(everyMilliseconds: 1, priority: 120)
            let alwaysReady = Turns(everyMilliseconds: 0, priority: 120)
            iterate(until: redraws.count >= 20 && busy.count >= 2000)
            // After each of the fifty has had its turn, or sooner.
            XCTAssertGreaterThanOrEqual(alwaysReady.count, busy.count / 100)
            for turns in [redraws, alwaysReady] { turns.end() }
            busy.end()
            host.end()
        }
    }

    // R104 below GTK's priority everything is drawn first
    func testLowerPriority() throws {
        try MainActor.assumeIsolated {
            let seen = Seen()
            let host = try RunLoop.GLibHost(priority: G_PRIORITY_DEFAULT_IDLE)
            let alwaysReady = Turns(everyMilliseconds: 0, priority: 120)
            RunLoop.main.perform { MainActor.assumeIsolated { seen.note("closure") } }
            for _ in 0..<100 { g_main_context_iteration(nil, 1) }
            XCTAssertEqual(alwaysReady.count, 100)
            XCTAssertFalse(seen.names.contains("closure"))
            alwaysReady.end()
            iterate(until: seen.names.contains("closure"))
            host.end()
        }
    }

    // R22 the context keeps the host until the run is over, and the run of an empty mode is over at once
    func testLifetime() throws {
        try MainActor.assumeIsolated {
            let seen = Seen()
            XCTAssertEqual(try RunLoop.GLibHost(mode: "empty").result, .finished)
            weak var kept: RunLoop.GLibHost?
            do {
                let host = try RunLoop.GLibHost()
                kept = host
            }
            seen.askEverybody()
            iterate(until: seen.containsEverybody())
            XCTAssertNotNil(kept)
            kept?.end()
            XCTAssertNil(kept)
            let keepAlive = RunLoop.Source {}
            try RunLoop.main.add(keepAlive, forMode: "emptied")
            let emptied = try RunLoop.GLibHost(mode: "emptied")
            keepAlive.invalidate()
            iterate(until: emptied.result == .finished)
        }
    }

    // R41 another thread's loop is served in the context that is its default
    func testOtherThread() async throws {
        try await withRunLoop { loop in
            let context = g_main_context_new()
            g_main_context_push_thread_default(context)
            let timer = RunLoop.Timer(after: .milliseconds(1)) { _ in }
            try loop.add(timer, forMode: "other")
            let host = try RunLoop.GLibHost(mode: "other")
            let limit = g_timeout_source_new_seconds(30)
            g_source_set_callback(limit, { _ in 0 }, nil, nil)
            g_source_attach(limit, context)
            while host.result == nil && g_source_is_destroyed(limit) == 0 { g_main_context_iteration(context, 1) }
            XCTAssertEqual(host.result, .finished)
            XCTAssertFalse(timer.isValid)
            g_source_destroy(limit)
            g_source_unref(limit)
            g_main_context_pop_thread_default(context)
            g_main_context_unref(context)
        }
    }
}
