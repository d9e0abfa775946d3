import RunLoopKit
import RunLoopKitLinux

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The supervisor of a device: services that are started again when they end, their lines with a name before them, and an end that takes time,
/// since a server far away is notified and the services may say goodbye. It was a Process for each, a readabilityHandler, and a signal source of
/// libdispatch with `exit(0)`.
@MainActor final class Supervisor {
    private var services: [String: RunLoop.Child] = [:]
    private var isEnding = false

    func run() throws {
        if getpid() == 1 { try RunLoop.reapOrphans() }
        let shutdown = try RunLoop.Shutdown(signals: [SIGINT, SIGTERM], within: .seconds(30))
        shutdown.addWork { [self] in await reportAndEnd() }
        shutdown.addWork(order: 1) { print("the end") }
        Task { await keep("once", "echo hello; exit 3", times: 2) }
        Task {
            await keep("clock", "trap 'echo goodbye; exit 0' TERM; echo ready; while :; do sleep 0.02; done", times: 1)
        }
        RunLoop.main.run()
    }

    private func keep(_ name: String, _ script: String, times: Int) async {
        for _ in 0..<times where !isEnding {
            do {
                // What the terminal sends is for the supervisor.
                var options = RunLoop.Child.Options()
                options.group = .new
                let child = try RunLoop.Child.start(["sh", "-c", script], output: .pipe, options: options, on: .main)
                services[name] = child
                for try await line in child.output.lines() { print("\(name): \(line)") }
                print("\(name) \(try await child.exit().reason)")
            } catch {
                print("\(name): \(error)")
            }
            services[name] = nil
            // Whoever tests this waits for it.
            fflush(nil)
        }
    }

    private func reportAndEnd() async {
        isEnding = true
        print("reports")
        try? await RunLoop.main.clock.sleep(for: .milliseconds(20))
        print("has reported")
        for (name, child) in services {
            let exit = try? await child.end(by: [.terminate(pause: .seconds(10)), .kill])
            print("\(name) ended:", exit?.isSuccess ?? false)
        }
        // Their last lines come in tasks of their own.
        while !services.isEmpty { try? await RunLoop.main.clock.sleep(for: .milliseconds(5)) }
    }
}
