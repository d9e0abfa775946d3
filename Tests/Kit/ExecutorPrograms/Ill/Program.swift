import Dispatch
import RunLoopKit
import RunLoopKitCLibrary
import RunLoopKitDiagnostics
import RunLoopKitLinux

/// A program with one of the illnesses of the article Troubleshooting, each as its author would have written it, with a watchdog. What is said of
/// it is on standard error.
@main @MainActor struct Ill {
    static func main() throws {
        let limit = try RunLoop.Thread(name: "limit")
        limit.loop.perform(after: .seconds(60)) { _exit(0) }
        try RunLoop.current.startWatchdog(hangLimit: .milliseconds(250), spinLimit: 1000)
        try RunLoop.main.add(RunLoop.Timer(every: .seconds(1)) { _ in }, forMode: .common)
        switch CommandLine.arguments.dropFirst().first ?? "" {
        case "blocked main actor":
            Task { showAnswer() }
            Task { print("another task") }
        case "starved main queue":
            DispatchQueue.main.async { showDialog() }
            DispatchQueue.main.async { print("second block") }
        case "task that never suspends":
            Task { await findPrimes() }
        case "deaf signal":
            try listenForHangUps()
        case "full pipe of a child":
            try runCompiler()
        case "descriptor closed under its source":
            try watchPipe()
        case "timer on a Dispatch thread":
            DispatchQueue.global().async { startPolling() }
        default:
            exit(2)
        }
        _ = RunLoop.main.run(mode: .default, for: .seconds(60))
        withExtendedLifetime(limit) {}
    }

    static var kept: [Any] = []
}

/// It waits for what only the main actor could bring.
@MainActor private func showAnswer() {
    let answer = DispatchSemaphore(value: 0)
    Task { @MainActor in answer.signal() }
    answer.wait()
}

@MainActor private func showDialog() {
    RunLoop.main.run(mode: .default, for: .seconds(60))
}

@MainActor private func findPrimes() async {
    var (number, primes) = (2, 0)
    while number > 0 {
        if (2..<number).allSatisfy({ number % $0 != 0 }) { primes += 1 }
        number += 1
    }
}

/// Something else, a library perhaps, catches the signal later.
@MainActor private func listenForHangUps() throws {
    let hangUps = try RunLoop.Source(signal: SIGHUP) { _ in print("hang-up") }
    try RunLoop.main.add(hangUps, forMode: .common)
    _ = signal(SIGHUP) { _ in }
    Ill.kept.append(hangUps)
}

/// It writes more than a pipe takes before it ends, and only its end is awaited.
@MainActor private func runCompiler() throws {
    let child = try RunLoop.Child.start(["head", "-c", "200000", "/dev/zero"], output: .pipe, on: .main)
    Task { print("ended: \(try await child.exit())") }
    Ill.kept.append(child)
}

@MainActor private func watchPipe() throws {
    var ends: [CInt] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { exit(1) }
    let source = try RunLoop.Source(fileDescriptor: ends[0], events: .read) { _ in print("readable") }
    try RunLoop.main.add(source, forMode: .common)
    close(ends[0])
    // Another part of the program gets the number.
    guard open("/dev/zero", O_RDONLY) == ends[0] else { exit(1) }
    Ill.kept.append(source)
}

private func startPolling() {
    do {
        try RunLoop.current.add(RunLoop.Timer(every: .milliseconds(100)) { _ in print("poll") }, forMode: .common)
    } catch {
        print(error)
    }
}
