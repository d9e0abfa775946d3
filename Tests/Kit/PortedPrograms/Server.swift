@preconcurrency import Dispatch
import RunLoopKit
import RunLoopKitLinux

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A server of a web framework: a request a line, answered by asynchronous work, and an end that finishes what is under way. The framework's own
/// sources of libdispatch for the same signals stay, as they do where it comes from another package.
@MainActor final class Server {
    private var requests = 0
    private var answered = 0

    func run(at path: String) throws {
        let framework = [SIGINT, SIGTERM].map(catchInFramework)
        defer { withExtendedLifetime(framework) {} }
        let shutdown = try RunLoop.Shutdown(signals: [SIGINT, SIGTERM], within: .seconds(30))
        let listener = try RunLoop.Listener(.unix(path), on: .main)
        try listener.accept { connection in MainActor.assumeIsolated { self.serve(connection) } }
        shutdown.addWork {
            listener.invalidate()
            await self.finish()
        }
        print("serves")
        fflush(nil)
        RunLoop.main.run()
    }

    private func serve(_ connection: RunLoop.Connection) {
        Task { @MainActor in
            do {
                for try await line in connection.makeReader().lines() {
                    requests += 1
                    // The client hears that it has begun, and a database is asked.
                    try await connection.writer.write("begun\n")
                    try await RunLoop.main.clock.sleep(for: .milliseconds(100))
                    try await connection.writer.write("\(line.uppercased())\n")
                    try await connection.writer.flush()
                    answered += 1
                }
            } catch {
                print("a connection has failed: \(error)")
            }
        }
    }

    private func finish() async {
        while answered < requests { try? await RunLoop.main.clock.sleep(for: .milliseconds(5)) }
        print("answered \(answered)")
    }
}

/// Returns when libdispatch has registered the source.
private func catchInFramework(_ number: CInt) -> any DispatchSourceSignal {
    let source = DispatchSource.makeSignalSource(signal: number, queue: DispatchQueue(label: "of the framework"))
    let registered = DispatchSemaphore(value: 0)
    source.setRegistrationHandler { registered.signal() }
    source.setEventHandler { print("the framework has seen it too") }
    source.resume()
    registered.wait()
    return source
}
