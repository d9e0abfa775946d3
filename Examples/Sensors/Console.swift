import RunLoopKit
import RunLoopKitLinux

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The user's side, on the initial thread: prints events, and takes commands.
@MainActor final class Console {
    private(set) var readings = 0
    private let station: Station
    private var closing: Task<Void, Never>?

    init(_ station: Station) {
        self.station = station
    }

    /// Measures until SIGINT, SIGTERM or "quit".
    func run(sensors: [Sensor], fifo: Fifo?) throws {
        let signals = try [SIGINT, SIGTERM].map { number in
            try RunLoop.Source(signal: number, perform: RunLoop.onMainActor { [weak self] _ in self?.end() })
        }
        for source in signals { try RunLoop.main.add(source, forMode: .default) }
        defer { for source in signals { source.invalidate() } }

        // Tasks of the main actor run in the main loop, between its other work.
        let commands = Task { await takeCommands() }
        Task {
            do {
                try await station.measure(sensors)
            } catch {
                Terminal.complain("sensors: \(error)")
            }
            if let fifo { await station.measure(fifo) }
            for await event in station.events { tell(event) }
            // The main loop does not run afterwards, so the other tasks must end before.
            commands.cancel()
            await commands.value
            await closing?.value
            RunLoop.main.stop()
        }
        RunLoop.main.run()
    }

    private func takeCommands() async {
        do {
            for try await line in RunLoop.main.lines(of: STDIN_FILENO, limit: 1000) { await obey(line) }
        } catch {
            // Closed, or a directory: there are no commands, just as at the end of the input.
        }
    }

    private func obey(_ command: String) async {
        switch command {
        case "pause": await station.pause()
        case "resume": await station.resume()
        case "summary":
            for (sensor, summary) in await station.summaries() { Terminal.print("summary of \(sensor): \(summary)") }
            Terminal.print("end of summary")
        case "quit": end()
        case "": break
        default: Terminal.complain("sensors: \"\(command)\" is not a command: pause, resume, summary or quit")
        }
    }

    /// The last events are still printed: the sequence ends after them, which then stops the main loop.
    private func end() {
        if closing == nil { closing = Task { await station.close() } }
    }

    private func tell(_ event: Event) {
        switch event {
        case .reading(let sensor, let value, let unit, let summary):
            readings += 1
            Terminal.print("\(sensor) \(value.rounded2)\(unit.isEmpty ? "" : " " + unit) (\(summary))")
        case .problem(let sensor, let problem): Terminal.complain("sensors: \(sensor): \(problem)")
        case .paused: Terminal.print("paused")
        case .resumed: Terminal.print("resumed")
        }
    }
}
