import RunLoopKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// In a program with a window, the thread belongs to a toolkit's loop. Ours is hosted there: the toolkit waits for one
/// descriptor more, and lets our run go on when that is readable.
enum Hosted: Act {
    static let title = "In another loop"
    static let shows = "Another loop owns the thread; a timer, a task and a thread still reach ours, and nobody polls."

    static func perform(on stage: Stage) throws {
        let loop = RunLoop.main
        let run = try RunLoop.HostedRun()
        let toolkit = Toolkit()
        toolkit.wait(for: run.fileDescriptor) {
            stage.tell("the toolkit hands over")
            run.iterate(for: .milliseconds(5))
        }

        loop.perform(after: .milliseconds(40)) { stage.tell("a timer of ours") }
        let worker = Thread("worker") {
            Thread.sleep(for: .milliseconds(80))
            loop.perform { stage.tell("a closure from the worker") }
        }
        Task { @MainActor in
            stage.tell("a task on the main actor")
            try? await Task.sleep(for: .milliseconds(120))
            stage.tell("the task again, after a sleep")
            // Ends our run, and not the toolkit's.
            loop.stop()
        }
        toolkit.run(for: .seconds(20)) { run.status == .ended(.stopped) }
        worker.join()

        try stage.check(
            "each reached our loop, on the toolkit's thread", stage.story.filter { $0 != "the toolkit hands over" },
            is: [
                "a task on the main actor", "a timer of ours", "a closure from the worker",
                "the task again, after a sleep",
            ])
        try stage.check("our run was ended by a stop", run.status, is: .ended(.stopped))
        try stage.check(
            "the toolkit was woken for these, and not to look whether there is something", toolkit.wakeUps <= 12)
    }
}

/// A loop as toolkits have one: it waits for descriptors, and calls whoever asked for them.
@MainActor final class Toolkit {
    private var waited: [(descriptor: CInt, action: @MainActor () -> Void)] = []
    private(set) var wakeUps = 0

    func wait(for descriptor: CInt, _ action: @escaping @MainActor () -> Void) {
        waited.append((descriptor, action))
    }

    func run(for limit: Duration, until isOver: () -> Bool) {
        let deadline = RunLoop.Instant.now + limit
        while !isOver() && .now < deadline {
            var descriptors = waited.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            poll(&descriptors, nfds_t(descriptors.count), 1000)
            for (descriptor, entry) in zip(descriptors, waited) where descriptor.revents != 0 {
                wakeUps += 1
                entry.action()
            }
        }
    }
}
