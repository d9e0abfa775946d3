import CoreFoundation
import Dispatch
import Foundation
import RunLoopKit
import Toolkit

import class RunLoopKit.RunLoop

/// One of everything that calls on the main thread every 50 ms, for as long as the program runs.
@MainActor
enum Ticks {
    enum Kind: String, CaseIterable {
        case timer, perform, mainActor, queue, foundationTimer, foundationPerform, toolkit
    }

    static let wanted = 40
    private nonisolated static let interval = 50
    // Written on the main thread; read on another one when that is stuck.
    private(set) nonisolated(unsafe) static var counts: [Kind: Int] = [:]
    private static var counted: Set<Kind> = []
    private static var whenAllHave: (() -> Void)?
    private static let queueTimer = DispatchSource.makeTimerSource(queue: .main)

    static func begin() {
        let timer = RunLoop.Timer(every: .milliseconds(interval), RunLoop.onMainActor { _ in tick(.timer) })
        try! RunLoop.main.add(timer, forMode: .common)
        Task {
            var next = ContinuousClock.now
            while true {
                next += .milliseconds(interval)
                try await Task.sleep(until: next)
                tick(.mainActor)
            }
        }
        queueTimer.schedule(deadline: .now(), repeating: .milliseconds(interval))
        queueTimer.setEventHandler { MainActor.assumeIsolated { tick(.queue) } }
        queueTimer.activate()
        Foundation.Timer.scheduledTimer(withTimeInterval: Double(interval) / 1000, repeats: true) { _ in
            MainActor.assumeIsolated { tick(.foundationTimer) }
        }
        Thread.detachNewThread {
            while true {
                usleep(useconds_t(interval * 1000))
                RunLoop.main.perform { MainActor.assumeIsolated { tick(.perform) } }
                Foundation.RunLoop.main.perform { MainActor.assumeIsolated { tick(.foundationPerform) } }
                CFRunLoopWakeUp(CFRunLoopGetMain())
            }
        }
        toolkit_repeat(CInt(interval)) { MainActor.assumeIsolated { Ticks.tick(.toolkit) } }
    }

    /// Counts from 0 on, and calls once when all of these have ticked as often as wanted.
    static func count(_ kinds: Set<Kind>, then: @escaping () -> Void) {
        counts = [:]
        counted = kinds
        whenAllHave = then
    }

    private static func tick(_ kind: Kind) {
        counts[kind, default: 0] += 1
        guard let then = whenAllHave, counted.allSatisfy({ counts[$0, default: 0] >= wanted }) else { return }
        whenAllHave = nil
        then()
    }
}
