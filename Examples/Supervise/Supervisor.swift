import RunLoopKit
import RunLoopKitLinux

/// A program that is started again and again, until the task is cancelled.
@MainActor
final class Supervisor {
    private let command: [String]
    private let shortest, longest: Duration

    init(_ command: [String], _ shortest: Duration, _ longest: Duration) {
        (self.command, self.shortest, self.longest) = (command, shortest, longest)
    }

    /// - Throws: if the program can't be started, which another attempt would not change.
    func run() async throws {
        var pause = shortest
        while true {
            let begun = RunLoop.Instant.now
            let exit = try await runOnce()
            Message.print("[\(exit.process ?? 0)] \(text(of: exit))")
            if begun.duration(to: .now) > longest { pause = shortest }
            do {
                try await RunLoop.main.clock.sleep(for: pause)
            } catch {
                return  // The task is cancelled.
            }
            pause = min(pause * 2, longest)
        }
    }

    private func runOnce() async throws -> RunLoop.Child.Exit {
        var options = RunLoop.Child.Options()
        // Whatever it starts by itself is ended with it.
        options.group = .new
        let child = try RunLoop.Child.start(
            command, output: .pipe, error: .same(as: 1), options: options, on: .main)
        let (process, output) = (child.process, child.output)
        // Not a part of this task: what the program says at its end is printed as well.
        let log = Task {
            do {
                for try await line in output.lines() { Message.print("[\(process)] \(line)") }
            } catch RunLoop.Error.outputCutOff {
                Message.print("[\(process)] left a process behind, whose output is not shown any more")
            } catch {
                Message.print("[\(process)] \(error)")
            }
        }
        let exit: RunLoop.Child.Exit
        do {
            exit = try await child.exit()
        } catch is CancellationError {
            exit = try await child.end(by: [.terminate(pause: .seconds(3)), .kill], ofGroup: true)
        }
        // It ends at the latest some time after the child.
        await log.value
        return exit
    }

    private func text(of exit: RunLoop.Child.Exit) -> String {
        switch exit.reason {
        case .exited(let status): "exited with status \(status)"
        case .signalled(let number, _): "was ended by signal \(number)"
        case .unknown: "has ended"
        }
    }
}
