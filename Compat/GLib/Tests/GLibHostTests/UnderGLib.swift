import CGLib
import RunLoopKit
import XCTest

import class RunLoopKit.RunLoop

/// A source of the default context, which counts how often it is called. With an interval of 0 it is always ready.
@MainActor
final class Turns {
    private(set) var count = 0
    private var id: guint = 0

    init(everyMilliseconds interval: guint, priority: gint) {
        let tick: GSourceFunc = { turns in
            MainActor.assumeIsolated { Unmanaged<Turns>.fromOpaque(turns!).takeUnretainedValue().count += 1 }
            return 1
        }
        let info = Unmanaged.passUnretained(self).toOpaque()
        id =
            interval == 0
            ? g_idle_add_full(priority, tick, info, nil) : g_timeout_add_full(priority, interval, tick, info, nil)
    }

    func end() { g_source_remove(id) }
}

/// Calls a closure once from the default context.
@MainActor
func callFromGLib(_ body: @escaping @MainActor () -> Void) {
    final class Box {
        let body: @MainActor () -> Void
        init(_ body: @escaping @MainActor () -> Void) { self.body = body }
    }
    g_timeout_add_full(
        G_PRIORITY_DEFAULT, 1,
        { box in
            MainActor.assumeIsolated { Unmanaged<Box>.fromOpaque(box!).takeUnretainedValue().body() }
            return 0
        }, Unmanaged.passRetained(Box(body)).toOpaque(), { Unmanaged<Box>.fromOpaque($0!).release() })
}

/// Runs a GMainLoop, nested if need be, until the condition holds; fails after 30 s.
@MainActor
func iterate(until condition: @escaping @autoclosure @MainActor () -> Bool) {
    let loop = g_main_loop_new(nil, 0)
    let deadline = RunLoop.Instant.now + .seconds(30)
    func look() {
        if condition() || RunLoop.Instant.now > deadline {
            g_main_loop_quit(loop)
        } else {
            callFromGLib(look)
        }
    }
    callFromGLib(look)
    g_main_loop_run(loop)
    g_main_loop_unref(loop)
    XCTAssertTrue(condition())
}

/// Runs a GMainLoop, nested if need be, until `quit` is called, on any thread; fails after 30 s. Meanwhile nothing but the events of the test
/// wakes the thread.
@MainActor
func runGLib(_ begin: (_ quit: @escaping @Sendable () -> Void) -> Void) {
    nonisolated(unsafe) let loop = g_main_loop_new(nil, 0)
    // Called while the loop runs, from anywhere.
    begin { g_main_loop_quit(loop) }
    let limit = g_timeout_source_new_seconds(30)
    g_source_set_callback(
        limit,
        { loop in
            XCTFail("Nothing ended GLib's loop.")
            g_main_loop_quit(OpaquePointer(loop))
            return 0
        }, UnsafeMutableRawPointer(loop), nil)
    g_source_attach(limit, nil)
    g_main_loop_run(loop)
    g_source_destroy(limit)
    g_source_unref(limit)
}
