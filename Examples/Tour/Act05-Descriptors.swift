import RunLoopKit
import RunLoopKitLinux

/// A descriptor source is called whenever its descriptor is ready. Everything with a descriptor can share a thread this
/// way: pipes, sockets, terminals, devices. Nothing here blocks, and nothing needs a second thread.
enum Descriptors: Act {
    static let title = "Descriptors"
    static let shows =
        "This thread reads from a command as it writes, and plays a TCP server and its clients meanwhile."

    static func perform(on stage: Stage) throws {
        let loop = RunLoop.current
        let (people, questions) = (4, 25)
        let countdown = Countdown(from: people + 2) { loop.stop() }

        let listing = try Listing(of: "/usr", stage, countdown)
        let server = try Server(for: people, stage, countdown)
        let clients = try (1...people).map { number in
            try Client(number, asking: questions, at: server.port, stage, countdown)
        }

        let result = loop.run(mode: .default, for: .seconds(20))

        // A failure of one of them says more than its consequences.
        try stage.close()
        try stage.check("the command, the server and the clients all came to an end", result, is: .stopped)
        try stage.check(
            "not one of the \(listing.lines) lines was lost: the command has counted them too",
            listing.lines > 0 && listing.count == "\(listing.lines)", "It counted \(listing.count).")
        try stage.check("it ended well", listing.end, is: .exited(0))
        try stage.check(
            "the server had \(people) clients at a time, and answered \(people * questions) questions",
            [server.mostAtATime, server.answers], is: [people, people * questions])
        try stage.check(
            "each client got the answers to its own questions, in order", clients.map(\.answers),
            is: Array(repeating: questions, count: people))
        try stage.check("all on the initial thread", stage.notes.allSatisfy { $0.thread == nil })
    }
}

/// A command that lists a directory on its output, and reports the number of lines on its error output.
@MainActor final class Listing {
    private(set) var lines = 0
    private(set) var count = ""
    private(set) var end: RunLoop.Child.Exit.Reason?
    private var child: RunLoop.Child?
    private let stage: Stage
    private let countdown: Countdown
    private var readers: [Reader] = []
    private var pieces = 0
    private var linesToTell = 1
    /// Both pipes and the process.
    private var parts = 3

    init(of directory: String, _ stage: Stage, _ countdown: Countdown) throws {
        (self.stage, self.countdown) = (stage, countdown)
        let command = "{ find \"$0\" -maxdepth 4 2>/dev/null | tee /dev/fd/3 | wc -l >&2; } 3>&1"
        let (output, outputOfChild) = try Descriptor.makePipe()
        let (errors, errorsOfChild) = try Descriptor.makePipe()
        // This side's ends never block. The child's ends do: it waits while the pipe is full.
        try output.stopBlocking()
        try errors.stopBlocking()
        // The reader sees the end when the last writing end is closed, so this copy must be closed.
        defer {
            outputOfChild.close()
            errorsOfChild.close()
        }
        child = try RunLoop.Child.start(
            ["sh", "-c", command, directory], output: .borrowing(outputOfChild.number),
            error: .borrowing(errorsOfChild.number), on: .main,
            onExit: RunLoop.onMainActor { [weak self] exit in
                self?.end = exit.reason
                self?.partHasEnded()
            })
        stage.tell("find \(directory) has started")
        readers = try [
            Reader(output, stage) { [unowned self] in takeOutput($0) },
            Reader(errors, stage) { [unowned self] in takeErrorOutput($0) },
        ]
    }

    private func takeOutput(_ bytes: [UInt8]) {
        if bytes.isEmpty { return partHasEnded() }
        pieces += 1
        lines += bytes.count { $0 == UInt8(ascii: "\n") }
        if lines < linesToTell { return }
        stage.tell("find: \(lines) lines so far")
        linesToTell = lines * 2
    }

    private func takeErrorOutput(_ bytes: [UInt8]) {
        if bytes.isEmpty { return partHasEnded() }
        count += String(decoding: bytes, as: UTF8.self).filter(\.isNumber)
    }

    private func partHasEnded() {
        parts -= 1
        if parts > 0 { return }
        stage.tell("find: the end, after \(lines) lines in \(pieces) pieces")
        countdown.oneLess()
    }
}
