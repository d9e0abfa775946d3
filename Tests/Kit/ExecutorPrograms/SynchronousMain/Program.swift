import Dispatch
import Glibc
import RunLoopKit
import RunLoopKitLinux

/// With RunLoopKitSingleThread linked, and a synchronous main: who runs the main loop is up to the program.
@main struct Program {
    static func main() {
        switch CommandLine.arguments.last {
        case "run":
            startTask { RunLoop.main.stop() }
            RunLoop.main.run()
        case "hosted":
            startTask { RunLoop.main.stop() }
            host()
        case "guest":
            serveGuest()
        case "later":
            serveMainQueueAfterRun()
        case "quiet":
            serveMainQueueQuietly()
        case "polled":
            pollMainQueue()
        case "elsewhere":
            waitElsewhere()
        case "echo":
            try? echo(CInt(CommandLine.arguments[1]) ?? -1)
        case "end":
            Task {
                await Task.yield()
                print("end: done")
                exit(0)
            }
            pthread_exit(nil)
        case "end-cancel":
            // No variable holds it: what one holds when its thread ends is never released.
            try? RunLoop.main.add(
                RunLoop.Source(onCancel: { _, _ in endInTask() }, perform: {}), forMode: .default)
            // What was posted when the program was loaded, so that the end has no post.
            RunLoop.main.run(mode: .default, for: .zero)
            pthread_exit(nil)
        default:
            preconditionFailure("There is no such case.")
        }
    }
}

/// Tasks with hops, sleeps and a timer; the last thing it does is `end`.
private func startTask(_ end: @escaping @MainActor @Sendable () -> Void) {
    Task.detached {
        precondition(RunLoop.main.isCurrent, "A detached task is not on the main loop.")
        for _ in 0..<1000 { await MainActor.run {} }
        try await Task.sleep(for: .milliseconds(2))
        await withCheckedContinuation { continuation in
            let timer = RunLoop.Timer(after: .milliseconds(1)) { _ in continuation.resume() }
            try! RunLoop.main.add(timer, forMode: .common)
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async { continuation.resume() }
        }
        print("\(CommandLine.arguments.last ?? ""): done")
        await end()
    }
}

@Sendable
private func endInTask() {
    nonisolated(unsafe) var hasReturned = false
    Task {
        precondition(hasReturned, "A job runs in the call that adds it.")
        print("end-cancel: done")
        exit(0)
    }
    hasReturned = true
}

/// As a host does whose loop waits by poll.
private func host() {
    guard let run = try? RunLoop.HostedRun() else { preconditionFailure("There is no hosted run.") }
    while run.iterate() == .waiting {
        var waited = pollfd(fd: run.fileDescriptor, events: Int16(POLLIN), revents: 0)
        poll(&waited, 1, -1)
    }
}

/// As a program does that serves the main queue and knows of no run loop.
@MainActor private func serveMainQueue(until condition: () -> Bool) {
    while !condition() { serveMainQueueOnce(for: -1) }
}

@MainActor private func serveMainQueueOnce(for milliseconds: CInt) {
    guard let descriptor = RunLoop.MainQueue.fileDescriptor else { preconditionFailure("There is no main queue.") }
    var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    poll(&waited, 1, milliseconds)
    RunLoop.MainQueue.serve()
}

@MainActor private func serveGuest() {
    var isDone = false
    Task {
        // Ends no run of the program's, so the guest stays.
        RunLoop.main.stop()
        try? await Task.sleep(for: .milliseconds(1))
        isDone = true
    }
    serveMainQueue { isDone }
    isDone = false
    startTask { isDone = true }
    serveMainQueue { isDone }
    isDone = false
    // A run of the program's own is nested in that of the guest.
    Task { isDone = true }
    precondition(
        RunLoop.main.run(until: { isDone }, deadline: .now + .seconds(60)), "A run does not serve the tasks.")
    // So is a hosted one.
    Task {
        try? await Task.sleep(for: .milliseconds(2))
        RunLoop.main.stop()
    }
    host()
}

/// The program's own run is over before the task is, and then another loop serves the main queue.
@MainActor private func serveMainQueueAfterRun() {
    var isDone = false
    Task {
        try? await Task.sleep(for: .milliseconds(20))
        isDone = true
    }
    RunLoop.main.run(until: .now)
    serveMainQueue { isDone }
    print("later: done")
}

/// A task that waits for something far away wakes nobody who serves the main queue, also after a run of the loop, which watched it.
@MainActor private func serveMainQueueQuietly() {
    RunLoop.main.run(until: .now)
    var isDone = false
    var resume: CheckedContinuation<Void, Never>?
    Task {
        isDone = true
        await withCheckedContinuation { resume = $0 }
    }
    serveMainQueue { isDone }
    var count = 0
    let end = RunLoop.Instant.now + .milliseconds(300)
    while .now < end {
        serveMainQueueOnce(for: 50)
        count += 1
    }
    resume?.resume()
    precondition(count < 50, "The main queue had work \(count) times.")
    print("quiet: done")
}

/// Another loop looks for the main queue's work now and then. Nothing is run inside anything, and no diagnostic says so.
@MainActor private func pollMainQueue() {
    DispatchQueue.global().async {
        for _ in 0..<1000 {
            DispatchQueue.main.async {}
            Task { @MainActor in }
            usleep(1000)
        }
    }
    for _ in 0..<100 {
        RunLoop.MainQueue.serve()
        usleep(10_000)
    }
    print("polled: done")
}

/// The main queue has left the thread: the task never runs, and the process says so before it is ended from outside.
private func waitElsewhere() {
    Task { preconditionFailure("A task runs on a thread that is not the main loop's.") }
    // Behind the invitation, on a thread that is not the main actor's, so it is no closure.
    DispatchQueue.main.async(execute: endProgram)
    dispatchMain()
}

@Sendable
private func endProgram() { exit(0) }

/// The other end of a channel whose socket was inherited, until that has ended.
private func echo(_ descriptor: CInt) throws {
    let loop = RunLoop.main
    let channel = try RunLoop.Channel(
        adopting: descriptor, on: loop,
        receive: { channel, message in
            if message.isRequest {
                let bytes = message.bytes
                try? message.reply(bytes)
            } else {
                try? channel.send("\(getpid())".utf8)
            }
        }, onEnd: { _ in loop.stop() })
    loop.run()
    channel.invalidate()
    print("echo: done")
}
