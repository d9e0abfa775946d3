import Dispatch
import Foundation
import RunLoopKit
import Toolkit

import class RunLoopKit.RunLoop

/// Loops inside callbacks: in each everything goes on, until each kind has ticked forty times. What can't be served there is not counted.
@MainActor
enum Nested {
    private static var run: () -> Void = {}
    private static var isDone: (() -> Void)?
    private static let all = Set(Ticks.Kind.allCases)

    static func measure() async {
        Ticks.begin()
        await nest("a callback of the toolkit's") { toolkit_call { MainActor.assumeIsolated { Nested.run() } } }
        await nest("a dialog in a callback", with: toolkit_run_dialog) {
            toolkit_call { MainActor.assumeIsolated { Nested.run() } }
        }
        await nest("a task of the main actor") { Task { run() } }
        await nest("a timer of ours") {
            let timer = RunLoop.Timer(after: .milliseconds(1), RunLoop.onMainActor { _ in run() })
            try! RunLoop.main.add(timer, forMode: .common)
        }
        await nest("a timer of Foundation's") {
            Timer.scheduledTimer(withTimeInterval: 0.001, repeats: false) { _ in
                MainActor.assumeIsolated { Nested.run() }
            }
        }
        // libdispatch serves no block of the main queue inside another one.
        await nest("a block of the main queue", counting: all.subtracting([.queue])) {
            DispatchQueue.main.async { MainActor.assumeIsolated { Nested.run() } }
        }
        // The toolkit waits, as with any call that blocks.
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sleep")
        process.arguments = ["60"]
        let wait = {
            try! process.run()
            process.waitUntilExit()
        }
        await nest(
            "Process.waitUntilExit()", with: wait, quit: process.terminate, counting: all.subtracting([.toolkit])
        ) {
            toolkit_call { MainActor.assumeIsolated { Nested.run() } }
        }
    }

    private static func nest(
        _ name: String, with nested: @escaping () -> Void = toolkit_run_nested,
        quit: @escaping () -> Void = toolkit_quit_nested,
        counting kinds: Set<Ticks.Kind> = all, from call: () -> Void
    ) async {
        await withCheckedContinuation { continuation in
            run = {
                let begin = RunLoop.Instant.now
                Ticks.count(kinds, then: quit)
                let limit = DispatchWorkItem {
                    print("\(name): after 30 s there have been \(Ticks.counts)")
                    exit(1)
                }
                DispatchQueue.global().asyncAfter(deadline: .now() + 30, execute: limit)
                nested()
                limit.cancel()
                let counts = Ticks.Kind.allCases.map { kind in
                    kinds.contains(kind) ? "\(min(Ticks.counts[kind, default: 0], Ticks.wanted))" : "-"
                }
                print("\(name): \(counts.joined(separator: " ")) \(Int(((.now - begin) / .milliseconds(1)).rounded()))")
                continuation.resume()
            }
            call()
        }
    }
}
