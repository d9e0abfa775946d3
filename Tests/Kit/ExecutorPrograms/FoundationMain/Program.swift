import Dispatch
import Foundation
import RunLoopKit

import class RunLoopKit.RunLoop

/// With RunLoopKitSingleThread linked, and Foundation's loop run by the program, in short waits, as XCTest does it.
@main struct Program {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        switch arguments.first {
        case "exit": addAtExit(order: -1, fromOtherThread: false)
        case "exit-last": addAtExit(order: .max, fromOtherThread: false)
        case "exit-thread": addAtExit(order: .max, fromOtherThread: true)
        case "exit-sleep": sleepAcrossExit()
        case "exit-races": addWhileRunsEnd()
        case "idle": waitIdly()
        case "nested": waitInsideJob()
        case "inside": waitInsideJobOfRun()
        case "polled": pollForWork()
        default: preconditionFailure("There is no such case.")
        }
        print("\(arguments.first ?? ""): done")
    }
}

private typealias FoundationLoop = Foundation.RunLoop

@MainActor private func serveFoundation(while isGoingOn: () -> Bool) {
    let limit = Date() + 60
    while isGoingOn() {
        precondition(Date() < limit, "Nothing happened for a long time.")
        _ = FoundationLoop.main.run(mode: .default, before: Date() + 0.1)
    }
}

@MainActor private final class Progress {
    var count = 0
}

//===-- jobs that come while a run ends --------------------------------------------------------------------------===//

/// A run's last observer has a job added, and no other job ever comes.
@MainActor private func addAtExit(order: Int, fromOtherThread: Bool) {
    let progress = Progress()
    let observer = RunLoop.Observer(.exit, repeats: false, order: order) { _, _ in
        if !fromOtherThread {
            Task { @MainActor in progress.count += 1 }
            return
        }
        let isAdded = DispatchSemaphore(value: 0)
        let thread = Foundation.Thread {
            Task { @MainActor in progress.count += 1 }
            isAdded.signal()
        }
        thread.start()
        isAdded.wait()
    }
    try! RunLoop.main.add(observer, forMode: .default)
    RunLoop.main.run(mode: .default, for: .milliseconds(1))
    precondition(progress.count == 0)
    serveFoundation { progress.count == 0 }
}

/// The job comes during the run, and its instant after it.
@MainActor private func sleepAcrossExit() {
    let progress = Progress()
    RunLoop.main.perform {
        Task { @MainActor in
            try? await Task.sleep(for: .milliseconds(20))
            progress.count += 1
        }
    }
    RunLoop.main.run(mode: .default, for: .milliseconds(1))
    serveFoundation { progress.count == 0 }
}

/// A thread adds a job at about the time when a run ends; the next round follows when it has run.
@MainActor private func addWhileRunsEnd() {
    let progress = Progress()
    let next = DispatchSemaphore(value: 0)
    let rounds = 100
    // The end takes as long as the thread, so that many jobs come then.
    let observer = RunLoop.Observer(.exit, order: .max) { _, _ in usleep(500) }
    try! RunLoop.main.add(observer, forMode: .default)
    let thread = Foundation.Thread {
        for _ in 0..<rounds {
            next.wait()
            usleep(.random(in: 0..<600))
            Task { @MainActor in progress.count += 1 }
        }
    }
    thread.start()
    for round in 1...rounds {
        next.signal()
        RunLoop.main.run(mode: .default, for: .microseconds(Int.random(in: 0..<60)))
        serveFoundation { progress.count < round }
    }
}

//===-- waits ----------------------------------------------------------------------------------------------------===//

/// What an idle wait costs does not depend on a task that waits for something far away.
@MainActor private func waitIdly() {
    let progress = Progress()
    var resume: CheckedContinuation<Void, Never>?
    let before = costOfWait()
    Task {
        progress.count = 1
        await withCheckedContinuation { resume = $0 }
        progress.count = 2
    }
    serveFoundation { progress.count == 0 }
    // The guest has become idle.
    _ = costOfWait()
    let with = costOfWait()
    precondition(with.runs < before.runs + 20, "\(with.runs) runs of Foundation's loop, \(before.runs) before")
    precondition(with.switches < before.switches + 200, "\(with.switches) context switches, \(before.switches) before")
    precondition(with.threads < before.threads + 10, "\(with.threads) threads, \(before.threads) before")
    resume?.resume()
    serveFoundation { progress.count == 1 }
}

@MainActor private func costOfWait() -> (runs: Int, switches: Int, threads: Int) {
    let before = contextSwitches()
    let end = Date() + 0.5
    var runs = 0
    while Date() < end {
        _ = FoundationLoop.main.run(mode: .default, before: Date() + 0.1)
        runs += 1
    }
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
    return (runs, contextSwitches() - before, threads)
}

private func contextSwitches() -> Int {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_nvcsw + usage.ru_nivcsw
}

/// Tasks, the main actor, sleeps and the main queue go on.
@MainActor private func waitInsideJob() {
    let progress = Progress()
    Task {
        Task.detached {
            await MainActor.run { progress.count += 1 }
            try? await Task.sleep(for: .milliseconds(1))
            await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
            await MainActor.run { progress.count += 1 }
        }
        serveFoundation { progress.count < 2 }
        progress.count += 1
    }
    serveFoundation { progress.count < 3 }
}

/// The same inside a run of ours, which performs the job: other jobs, a sleep, our timers and the main queue are served meanwhile, in a second wait
/// inside that, too; and afterwards the run goes on.
@MainActor private func waitInsideJobOfRun() {
    let progress = Progress()
    var isOver = false
    Task {
        for round in 1...2 {
            let before = progress.count
            Task { progress.count += 1 }
            Task.detached {
                await MainActor.run { progress.count += 1 }
                try? await Task.sleep(for: .milliseconds(1))
                await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
                await MainActor.run { progress.count += 1 }
            }
            RunLoop.main.perform(after: .milliseconds(1)) { Task { @MainActor in progress.count += 1 } }
            Task {
                Task { progress.count += 1 }
                serveFoundation { progress.count < before + 5 }
            }
            serveFoundation { progress.count < before + 5 }
            precondition(progress.count == before + 5, "round \(round)")
        }
        isOver = true
    }
    let isDone = RunLoop.main.run(mode: .default, until: { isOver }, deadline: .now + .seconds(60))
    precondition(isDone && progress.count == 10)
    // Nothing of it is left.
    Task { progress.count += 1 }
    serveFoundation { progress.count < 11 }
}

/// Another loop looks for Foundation's work now and then. Nothing is run inside anything, and no diagnostic says so.
@MainActor private func pollForWork() {
    let progress = Progress()
    let thread = Foundation.Thread {
        while !Foundation.Thread.current.isCancelled {
            DispatchQueue.main.async {}
            Task { @MainActor in progress.count += 1 }
            usleep(1000)
        }
    }
    thread.start()
    for _ in 0..<100 {
        _ = FoundationLoop.main.limitDate(forMode: .default)
        usleep(10_000)
    }
    thread.cancel()
    precondition(progress.count > 0)
}
