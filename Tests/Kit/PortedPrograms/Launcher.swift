import RunLoopKit
import RunLoopKitLinux

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Starts a program, passes on the signals that it gets itself, and ends as that ends. It was Process, `waitUntilExit()` and
/// `exit(process.terminationStatus)`. What a terminal sends reaches both, so SIGINT only waits for the program here.
@MainActor final class Launcher {
    private var child: RunLoop.Child?

    func run(_ command: [String]) throws {
        // Before there is a program that could rely on it.
        for number in [SIGTERM, SIGHUP, SIGUSR1] {
            let source = try RunLoop.Source(
                signal: number, perform: RunLoop.onMainActor { [self] _ in try? child?.send(number) })
            try RunLoop.main.add(source, forMode: .common)
        }
        let interrupt = try RunLoop.Source(signal: SIGINT) { _ in print("waits for its end") }
        try RunLoop.main.add(interrupt, forMode: .common)
        child = try RunLoop.Child.start(command, input: .inherited, on: .main) { end in
            switch end.reason {
            case .exited(let status): exit(status)
            case .signalled(let number, _):
                fflush(nil)
                RunLoop.Signal.endProcess(by: number)
            case .unknown: exit(1)
            }
        }
        RunLoop.main.run()
    }
}
