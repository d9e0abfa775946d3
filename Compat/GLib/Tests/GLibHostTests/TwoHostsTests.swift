import CGLib
import CoreFoundation
import Dispatch
import Foundation
import RunLoopKit
import RunLoopKitFoundation
import RunLoopKitGLib
import XCTest

import class RunLoopKit.RunLoop

private typealias FoundationLoop = Foundation.RunLoop
private typealias FoundationTimer = Foundation.Timer

/// Foundation's loop and ours under GLib's, on the initial thread.
final class TwoHostsTests: XCTestCase {
    // R106 beside a GLibHost a FoundationHost has Foundation's timers served under GLib, too, whichever began first
    func testEverybodyTicks() throws {
        try MainActor.assumeIsolated {
            for foundationIsFirst in [false, true] {
                let first = foundationIsFirst ? try RunLoop.FoundationHost() : nil
                let glib = try RunLoop.GLibHost()
                let host = try first ?? RunLoop.FoundationHost()
                let ticks = Ticks()
                runGLib { quit in ticks.begin(until: 20, then: quit) }
                runGLib { quit in
                    FoundationLoop.main.perform(quit)
                    CFRunLoopWakeUp(CFRunLoopGetMain())
                }
                ticks.end()
                XCTAssertNil(glib.result)
                XCTAssertNil(host.result)
                if foundationIsFirst { glib.end() }
                host.end()
                glib.end()
                XCTAssertEqual(host.result, .stopped)
                XCTAssertEqual(glib.result, .stopped)
            }
        }
    }

    // R106 a ToolkitHost is both, ends with both, and can be made again
    func testToolkitHost() throws {
        try MainActor.assumeIsolated {
            for _ in 0..<2 {
                let host = try RunLoop.ToolkitHost()
                let ticks = Ticks()
                runGLib { quit in ticks.begin(until: 10, then: quit) }
                ticks.end()
                XCTAssertNil(host.result)
                host.end()
                host.end()
                XCTAssertEqual(host.result, .stopped)
                XCTAssertNil(RunLoop.main.currentMode)
            }
        }
    }

    // R38 in a GMainLoop inside a callback of GLib's, of Foundation's or of ours, everybody goes on, and after it
    func testNestedLoops() throws {
        try MainActor.assumeIsolated {
            let glib = try RunLoop.GLibHost()
            let host = try RunLoop.FoundationHost()
            let ticks = Ticks()
            let nested: @Sendable () -> Void = {
                MainActor.assumeIsolated {
                    // More descriptors than GLib has space for.
                    let sources = Descriptors(count: 100)
                    runGLib { quit in ticks.begin(until: 10, then: quit) }
                    sources.end()
                }
            }
            runGLib { quit in
                callFromGLib {
                    nested()
                    quit()
                }
            }
            runGLib { quit in
                _ = FoundationTimer.scheduledTimer(withTimeInterval: 0.001, repeats: false) { _ in
                    nested()
                    quit()
                }
            }
            runGLib { quit in
                RunLoop.main.perform {
                    nested()
                    quit()
                }
            }
            runGLib { quit in ticks.begin(until: 10, then: quit) }
            ticks.end()
            host.end()
            glib.end()
        }
    }

    // R106 everybody but GLib goes on while a callback of GLib's waits for a process
    func testProcessIsWaitedForInGLibsCallback() throws {
        try MainActor.assumeIsolated {
            let glib = try RunLoop.GLibHost()
            let host = try RunLoop.FoundationHost()
            let ticks = Ticks()
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sleep")
            process.arguments = ["30"]
            let waiting = Unchecked(process)
            runGLib { quit in
                callFromGLib {
                    try! process.run()
                    ticks.begin(until: 10, butGLib: true) { waiting.value.terminate() }
                    process.waitUntilExit()
                    quit()
                }
            }
            ticks.end()
            XCTAssertEqual(process.terminationReason, .uncaughtSignal)
            host.end()
            glib.end()
        }
    }

    // R42 with nothing to do the thread sleeps, without a timeout
    func testIdleThreadSleeps() throws {
        try MainActor.assumeIsolated {
            let glib = try RunLoop.GLibHost()
            let host = try RunLoop.FoundationHost()
            func switches() -> Int {
                let status = try! String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)
                let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
                return Int(line!.split(separator: "\t").last!)!
            }
            // What other tests have left may end now; a loop that polled would be awake each time.
            let fewest = (0..<20).lazy.map { _ in
                let before = switches()
                let limit = RunLoop.Instant.now + .milliseconds(200)
                g_timeout_add(200, { _ in 0 }, nil)
                while RunLoop.Instant.now < limit { g_main_context_iteration(nil, 1) }
                return switches() - before
            }.first { $0 <= 1 }
            XCTAssertNotNil(fewest)
            host.end()
            glib.end()
        }
    }

    // R104 what Foundation calls just before a sleep may give GLib something to do, and the other way round
    func testWorkThatEachGivesTheOther() throws {
        try MainActor.assumeIsolated {
            let glib = try RunLoop.GLibHost()
            let host = try RunLoop.FoundationHost()
            for delay: guint in [0, 1] {
                runGLib { quit in
                    nonisolated(unsafe) let box = Unmanaged.passRetained(Box(quit)).toOpaque()
                    let attach = {
                        let call: GSourceFunc = {
                            Unmanaged<Box>.fromOpaque($0!).takeRetainedValue().body()
                            return 0
                        }
                        if delay == 0 { g_idle_add(call, box) } else { g_timeout_add(delay, call, box) }
                    }
                    // In the last observer of Foundation's before its sleep.
                    let activity = CFRunLoopActivity.beforeWaiting.rawValue
                    let observer = CFRunLoopObserverCreateWithHandler(nil, activity, false, .max - 1) { _, _ in attach()
                    }
                    CFRunLoopAddObserver(CFRunLoopGetMain(), observer, kCFRunLoopCommonModes)
                }
            }
            for _ in 0..<100 {
                // In a block that Foundation calls, which nobody has woken it for but GLib's own callback.
                runGLib { quit in
                    callFromGLib { FoundationLoop.main.perform { MainActor.assumeIsolated { callFromGLib(quit) } } }
                }
            }
            host.end()
            glib.end()
        }
    }

    // R87 another thread may give Foundation's loop a timer while GLib's sleeps
    func testTimerFromAnotherThread() throws {
        try MainActor.assumeIsolated {
            let glib = try RunLoop.GLibHost()
            let host = try RunLoop.FoundationHost()
            runGLib { quit in
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(5)) {
                    let timer = CFRunLoopTimerCreateWithHandler(nil, CFAbsoluteTimeGetCurrent(), 0, 0, 0) { _ in quit()
                    }
                    CFRunLoopAddTimer(CFRunLoopGetMain(), timer, kCFRunLoopCommonModes)
                }
            }
            host.end()
            glib.end()
        }
    }

    // R104 a GLib that always has work and a Foundation that does leave each other, and us, their turns
    func testBusyLoops() throws {
        try MainActor.assumeIsolated {
            let glib = try RunLoop.GLibHost()
            let host = try RunLoop.FoundationHost()
            let ticks = Ticks()
            let alwaysReady = Turns(everyMilliseconds: 0, priority: RunLoop.GLibHost.defaultPriority)
            runGLib { quit in ticks.begin(until: 20, then: quit) }
            let busy = BusySource()
            let before = alwaysReady.count
            runGLib { quit in ticks.begin(until: 20, then: quit) }
            XCTAssertGreaterThan(alwaysReady.count, before + 5)
            alwaysReady.end()
            runGLib { quit in ticks.begin(until: 20, then: quit) }
            busy.end()
            ticks.end()
            host.end()
            glib.end()
        }
    }

    // R38 iterations of GLib inside Foundation's callbacks, each beside work of the other's that has just come
    func testNestedIterations() throws {
        try MainActor.assumeIsolated {
            let glib = try RunLoop.GLibHost()
            let host = try RunLoop.FoundationHost()
            let ticks = Ticks()
            let sources = (0..<3).map { Turns(everyMilliseconds: $0, priority: RunLoop.GLibHost.defaultPriority) }
            let attaching = CFRunLoopObserverCreateWithHandler(nil, CFRunLoopActivity.beforeWaiting.rawValue, true, 0) {
                _, _ in
                g_idle_add({ _ in 0 }, nil)
            }
            CFRunLoopAddObserver(CFRunLoopGetMain(), attaching, kCFRunLoopCommonModes)
            let timers = (1...3).map { index in
                FoundationTimer.scheduledTimer(withTimeInterval: 0.0007 * Double(index), repeats: true) { _ in
                    for _ in 0..<index where g_main_context_pending(nil) != 0 { g_main_context_iteration(nil, 0) }
                }
            }
            runGLib { quit in ticks.begin(until: 100, then: quit) }
            sources[0].end()
            runGLib { quit in ticks.begin(until: 100, then: quit) }
            for timer in timers { timer.invalidate() }
            for source in sources.dropFirst() { source.end() }
            CFRunLoopObserverInvalidate(attaching)
            ticks.end()
            host.end()
            glib.end()
        }
    }

    // R36 a stop ends the run that the hosts share, and each is notified
    func testStop() throws {
        try MainActor.assumeIsolated {
            var ends: [String] = []
            let glib = try RunLoop.GLibHost { ends.append("GLib \($0)") }
            let host = try RunLoop.FoundationHost { ends.append("Foundation \($0)") }
            RunLoop.main.stop()
            iterate(until: ends.count == 2)
            XCTAssertEqual(Set(ends), ["GLib stopped", "Foundation stopped"])
            XCTAssertEqual(glib.result, .stopped)
            XCTAssertEqual(host.result, .stopped)
            XCTAssertNil(RunLoop.main.currentMode)
        }
    }

    // R22 hosts that have ended are freed, and leave no descriptor open
    func testHostsAreFreed() throws {
        try MainActor.assumeIsolated {
            func count() -> Int { try! FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
            var counts: [Int] = []
            weak var glib: RunLoop.GLibHost?
            weak var host: RunLoop.FoundationHost?
            for _ in 0..<10 {
                glib = try RunLoop.GLibHost()
                host = try RunLoop.FoundationHost()
                runGLib { quit in RunLoop.main.perform(quit) }
                glib?.end()
                host?.end()
                XCTAssertNil(glib)
                XCTAssertNil(host)
                counts.append(count())
            }
            // Other threads of the process may open and close some.
            XCTAssertLessThan(counts.last!, counts.first! + 10)
        }
    }

    // R22 each host may end in a callback of the other loop, and the other goes on
    func testEndsInCallbacks() throws {
        try MainActor.assumeIsolated {
            for glibIsFirst in [true, false] {
                let glib = try RunLoop.GLibHost()
                let host = try RunLoop.FoundationHost()
                let hosts = Unchecked((glib, host))
                let ticks = Ticks()
                runGLib { quit in
                    _ = FoundationTimer.scheduledTimer(withTimeInterval: 0.001, repeats: false) { _ in
                        if glibIsFirst { hosts.value.0.end() } else { hosts.value.1.end() }
                        quit()
                    }
                }
                if glibIsFirst {
                    XCTAssertNil(host.result)
                    ticks.begin(until: 10, butGLib: true) { MainActor.assumeIsolated { RunLoop.main.stop() } }
                    XCTAssertEqual(host.run(), .stopped)
                } else {
                    XCTAssertNil(glib.result)
                    runGLib { quit in RunLoop.main.perform(quit) }
                }
                ticks.end()
                host.end()
                glib.end()
            }
        }
    }

    // R106 a poll function that was there before is still called, and there again when the hosts are gone
    func testPollFunction() throws {
        try MainActor.assumeIsolated {
            let original = g_main_context_get_poll_func(nil)
            Polls.count = 0
            g_main_context_set_poll_func(nil) { descriptors, count, timeout in
                Polls.count += 1
                return g_poll(descriptors, count, timeout)
            }
            let ours = g_main_context_get_poll_func(nil)
            let glib = try RunLoop.GLibHost()
            let host = try RunLoop.FoundationHost()
            let ticks = Ticks()
            runGLib { quit in ticks.begin(until: 10, then: quit) }
            XCTAssertGreaterThanOrEqual(Polls.count, 10)
            // One that comes later calls the earlier one.
            Polls.earlier = g_main_context_get_poll_func(nil)
            g_main_context_set_poll_func(nil) { Polls.earlier!($0, $1, $2) }
            runGLib { quit in ticks.begin(until: 10, then: quit) }
            host.end()
            ticks.end()
            runGLib { quit in RunLoop.main.perform(quit) }
            g_main_context_set_poll_func(nil, Polls.earlier)
            glib.end()
            g_main_context_set_poll_func(nil, ours)
            let second = try RunLoop.FoundationHost()
            let under = try RunLoop.GLibHost()
            second.end()
            under.end()
            XCTAssertEqual(address(g_main_context_get_poll_func(nil)), address(ours))
            g_main_context_set_poll_func(nil, original)
        }
    }

    // R41 on another thread, in a context of its own
    func testOtherThread() {
        let ended = expectation(description: "the thread has ended")
        Thread {
            let context = g_main_context_new()
            g_main_context_push_thread_default(context)
            let counts = Counts()
            let keep = RunLoop.Timer(every: .milliseconds(1)) { _ in counts.ours += 1 }
            try! RunLoop.current.add(keep, forMode: .common)
            let glib = try! RunLoop.GLibHost()
            let host = try! RunLoop.FoundationHost()
            let timer = FoundationTimer.scheduledTimer(withTimeInterval: 0.001, repeats: true) { _ in counts.theirs += 1
            }
            let limit = RunLoop.Instant.now + .seconds(30)
            while counts.ours < 20 || counts.theirs < 20, RunLoop.Instant.now < limit {
                g_main_context_iteration(context, 1)
            }
            timer.invalidate()
            keep.invalidate()
            XCTAssertGreaterThanOrEqual(counts.theirs, 20)
            host.end()
            glib.end()
            g_main_context_pop_thread_default(context)
            g_main_context_unref(context)
            ended.fulfill()
        }.start()
        wait(for: [ended], timeout: 60)
    }

    // R38 a run of another mode that a closure begins is what the hosts let go on, until it ends
    func testRunOfAnotherModeInAClosure() throws {
        try MainActor.assumeIsolated {
            let glib = try RunLoop.GLibHost()
            let host = try RunLoop.FoundationHost()
            runGLib { quit in
                RunLoop.main.perform {
                    let timer = RunLoop.Timer(every: .milliseconds(1)) { _ in RunLoop.main.stop() }
                    try! RunLoop.main.add(timer, forMode: "dialog")
                    let dialog = try! RunLoop.HostedRun(mode: "dialog")
                    while dialog.status != .ended(.stopped) { g_main_context_iteration(nil, 1) }
                    timer.invalidate()
                    quit()
                }
            }
            XCTAssertNil(glib.result)
            XCTAssertNil(host.result)
            runGLib { quit in RunLoop.main.perform(quit) }
            host.end()
            glib.end()
        }
    }
}

private func address(_ function: GPollFunc?) -> Int { unsafeBitCast(function, to: Int.self) }

/// Used on one thread.
private enum Polls {
    nonisolated(unsafe) static var count = 0
    nonisolated(unsafe) static var earlier: GPollFunc?
}

private final class Box {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
}

private final class Counts: @unchecked Sendable {
    var ours = 0
    var theirs = 0
}

private struct Unchecked<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
