import RunLoopKit
import RunLoopKitLinux

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Shows the last lines of a program above a bar with its state and for how long it has run.
///
///     swift run panel ping example.org
///
/// Space holds the picture while the program goes on, `r` starts the program again, and `q`, Control-C or the end of the terminal ends all.
/// Control-Z gives the terminal to the shell until `fg`.
@main
struct Main {
    static let usage = "usage, in a terminal: panel PROGRAM [ARGUMENT ...]"

    static func end(_ status: CInt, _ words: String) -> Never {
        _ = (words + "\n").withCString { write(STDERR_FILENO, $0, strlen($0)) }
        exit(status)
    }

    @MainActor static func main() {
        // An answer, and no error.
        if CommandLine.arguments.dropFirst() == ["--help"] { return print(usage) }
        guard CommandLine.arguments.count > 1, let screen = Screen() else { end(2, usage) }
        let panel = Panel(Array(CommandLine.arguments.dropFirst()), screen)
        do {
            for signal in [SIGWINCH, SIGTSTP, SIGINT, SIGTERM, SIGHUP] {
                let source = try RunLoop.Source(signal: signal) { _ in Task { await panel.receive(signal) } }
                try RunLoop.main.add(source, forMode: .common)
            }
        } catch {
            end(1, "panel: \(error)")
        }
        // From here on each end gives the terminal back.
        screen.take()
        panel.begin()
        Task { for await _ in RunLoop.main.ticks(every: .seconds(1)) { panel.draw() } }
        Task {
            // A terminal that is gone ends with an error, which is an end.
            do { for try await key in RunLoop.main.bytes(of: STDIN_FILENO) { await panel.press(key) } } catch {}
            await panel.end()
        }
        RunLoop.main.run()
    }
}

@MainActor
final class Panel {
    private let command: [String]
    private let screen: Screen
    private var lines: [String] = []
    private var count = 0, begun = RunLoop.Instant.now
    private var state = "", isHeld = false
    private var program: Task<Void, Never>?, drawing: Task<Void, any Error>?

    init(_ command: [String], _ screen: Screen) { (self.command, self.screen) = (command, screen) }

    func press(_ key: UInt8) async {
        switch key {
        case UInt8(ascii: " "): isHeld.toggle()
        case UInt8(ascii: "r"): begin()
        case UInt8(ascii: "q"): await end()
        default: return
        }
        draw()
    }

    func receive(_ signal: CInt) async {
        switch signal {
        case SIGWINCH: draw()
        case SIGTSTP:
            screen.release()
            kill(getpid(), SIGSTOP)  // Until `fg`.
            screen.take()
            draw()
        default: await end()
        }
    }

    func begin() {
        let former = program
        former?.cancel()
        program = Task {
            await former?.value
            if !Task.isCancelled { await run() }
        }
    }

    private func run() async {
        (lines, count, begun, state) = ([], 0, .now, "runs")
        var options = RunLoop.Child.Options()
        options.group = .new
        do {
            let child = try RunLoop.Child.start(
                command, output: .pipe, error: .same(as: 1), options: options, on: .main)
            let output = child.output
            let reading = Task { for try await line in output.lines(limit: 4096) { add(line) } }
            do {
                state = "\(try await child.exit().reason)"
            } catch is CancellationError {
                try await child.end(by: [.terminate(pause: .seconds(1)), .kill], ofGroup: true)
            }
            _ = await reading.result
        } catch {
            state = "\(error)"
        }
        draw()
    }

    func end() async {
        program?.cancel()
        await program?.value
        screen.release()
        exit(0)
    }

    private func add(_ line: String) {
        count += 1
        lines.append(line.filter { !$0.isASCII || $0 >= " " })
        if lines.count > 500 { lines.removeFirst(250) }
        // However many lines come, a picture each fiftieth of a second.
        if drawing != nil { return }
        drawing = Task {
            try await RunLoop.main.clock.sleep(for: .milliseconds(20))
            drawing = nil
            draw()
        }
    }

    func draw() {
        let (rows, columns) = screen.size
        let seconds = begun.duration(to: .now).components.seconds
        let bar = "\(state) | \(seconds) s | \(count) lines\(isHeld ? " | held" : "")"
        let newest = lines.suffix(rows - 1).map { $0.prefix(columns) + "\u{1B}[K\n" }
        screen.show(
            (isHeld ? "" : "\u{1B}[H\(newest.joined())\u{1B}[J")
                + "\u{1B}[\(rows)H\u{1B}[7m\(bar.prefix(columns))\u{1B}[0m\u{1B}[K")
    }
}
