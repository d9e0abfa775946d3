import RunLoopKit
import RunLoopKitLinux

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// All loops, from the beginning to the end. The main loop waits for the signal that ends the program.
@MainActor final class Server {
    private let options: Options
    private let threads: [RunLoop.Thread]
    private let workers: [Worker]
    private let peers: [Worker.Peer]
    private let sockets: [Socket]
    private let port: UInt16

    init(_ options: Options) throws {
        self.options = options
        threads = try (0..<options.loops).map { number in try RunLoop.Thread(name: "loop \(number)") }
        let workers = threads.enumerated().map { number, thread in
            Worker(number, on: thread.loop, slack: options.slack)
        }
        self.workers = workers
        peers = try workers.map { worker in try worker.makePeer() }
        (sockets, port) = try Socket.listening(on: options.port, count: options.loops)
    }

    /// Serves until SIGINT or SIGTERM. A second signal ends the program at once.
    func run() throws {
        let shutdown = try RunLoop.Shutdown(signals: [SIGINT, SIGTERM])
        shutdown.addWork(
            RunLoop.onMainActor { [self] in
                end()
                exit(0)
            })
        let result = wait { [self] in
            for (worker, socket) in zip(workers, sockets) {
                try await worker.begin(at: .adopting(socket.take()), peers)
            }
        }
        try result.get()
        report("scale-out: listens on port \(port) with \(workers.count) loops")
        RunLoop.main.run(mode: .default)
    }

    private func end() {
        let result = wait { [self] in
            for worker in workers { try await worker.beginEnd(within: options.patience) }
            for worker in workers { await worker.finishEnd() }
        }
        if case .failure(let error) = result { complain("scale-out: \(error)") }
        for thread in threads {
            thread.stop()
            thread.join()
        }
        for worker in workers { report("loop \(worker.number): \(worker.counters.summary)") }
    }

    /// Runs the main loop until the task has ended.
    private func wait(_ body: @escaping @MainActor () async throws -> Void) -> Result<Void, any Error> {
        var result: Result<Void, any Error>?
        Task {
            do { result = .success(try await body()) } catch { result = .failure(error) }
        }
        while true {
            if let result { return result }
            RunLoop.main.run(mode: .default, until: { result != nil }, deadline: nil)
        }
    }
}
