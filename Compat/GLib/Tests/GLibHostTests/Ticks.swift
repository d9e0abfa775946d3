import CGLib
import CoreFoundation
import Dispatch
import Foundation
import RunLoopKit
import XCTest

import class RunLoopKit.RunLoop

/// Everything that may call on the initial thread, each again and again.
@MainActor
final class Ticks {
    private var counts: [String: Int] = [:]
    private var timers: [Foundation.Timer] = []
    private var ours: [RunLoop.Timer] = []
    private var isOver = false
    private var generation = 0

    /// Calls `then` when each has ticked so often.
    func begin(until count: Int, butGLib: Bool = false, then: @escaping @Sendable () -> Void) {
        end()
        isOver = false
        generation += 1
        let names = ["timer", "task", "visitor", "queue", "Foundation"] + (butGLib ? [] : ["GLib"])
        counts = [:]
        var then: (@Sendable () -> Void)? = then
        let note: @MainActor @Sendable (String) -> Void = { [self] name in
            XCTAssertTrue(RunLoop.main.isCurrent)
            counts[name, default: 0] += 1
            if names.allSatisfy({ counts[$0, default: 0] >= count }) {
                then?()
                then = nil
            }
        }
        let timer = RunLoop.Timer(every: .milliseconds(1), RunLoop.onMainActor { _ in note("timer") })
        try! RunLoop.main.add(timer, forMode: .common)
        ours.append(timer)
        timers.append(
            Foundation.Timer.scheduledTimer(withTimeInterval: 0.001, repeats: true) { _ in
                MainActor.assumeIsolated { note("Foundation") }
            })
        let current = generation
        let isOn: @MainActor @Sendable () -> Bool = { [self] in !isOver && generation == current }
        Task {
            while isOn() {
                try await Task.sleep(for: .milliseconds(1))
                note("task")
            }
        }
        Task.detached {
            while await isOn() { await note("visitor") }
        }
        queueTick(note, isOn)
        if !butGLib { glibTick(note, isOn) }
    }

    private func queueTick(
        _ note: @escaping @MainActor @Sendable (String) -> Void, _ isOn: @escaping @MainActor @Sendable () -> Bool
    ) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) {
            DispatchQueue.main.async {
                note("queue")
                if isOn() { self.queueTick(note, isOn) }
            }
        }
    }

    private func glibTick(
        _ note: @escaping @MainActor @Sendable (String) -> Void, _ isOn: @escaping @MainActor @Sendable () -> Bool
    ) {
        callFromGLib {
            note("GLib")
            if isOn() { self.glibTick(note, isOn) }
        }
    }

    func end() {
        isOver = true
        for timer in timers { timer.invalidate() }
        for timer in ours { timer.invalidate() }
        timers = []
        ours = []
    }
}

/// Sources of GLib's that wait for descriptors which never become readable.
@MainActor
final class Descriptors {
    private var ids: [guint] = []
    private var pipes: [Pipe] = []

    init(count: Int) {
        for _ in 0..<count {
            let pipe = Pipe()
            pipes.append(pipe)
            ids.append(g_unix_fd_add(pipe.fileHandleForReading.fileDescriptor, G_IO_IN, { _, _, _ in 1 }, nil))
        }
    }

    func end() {
        for id in ids { g_source_remove(id) }
        pipes = []
    }
}

/// A source of Foundation's loop that always has work.
@MainActor
final class BusySource {
    private nonisolated(unsafe) static var source: CFRunLoopSource?

    init() {
        var context = CFRunLoopSourceContext()
        context.perform = { _ in CFRunLoopSourceSignal(BusySource.source) }
        Self.source = CFRunLoopSourceCreate(nil, 0, &context)
        CFRunLoopAddSource(CFRunLoopGetMain(), Self.source, kCFRunLoopDefaultMode)
        CFRunLoopSourceSignal(Self.source)
        CFRunLoopWakeUp(CFRunLoopGetMain())
    }

    func end() { CFRunLoopSourceInvalidate(Self.source) }
}
