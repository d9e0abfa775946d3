@preconcurrency import Dispatch
import RunLoopKit
import RunLoopKitLinux

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A signal that a sequence over sources of libdispatch traps as well, in the manner of swift-service-lifecycle: a queue of its own, a stream, and a
/// wait until libdispatch has registered the source.
@MainActor final class Owners {
    private var shutdown: RunLoop.Shutdown?
    private var source: RunLoop.Source?

    func run(oursFirst: Bool, with what: String) throws {
        Task {
            if oursFirst { try catchIt(with: what) }
            let signals = await trap(SIGTERM)
            if !oursFirst { try catchIt(with: what) }
            // A second is what the notes on other owners are promised within.
            if oursFirst { try await RunLoop.main.clock.sleep(for: .seconds(1)) }
            print("ready")
            fflush(nil)
            for await number in signals {
                print("theirs: \(number)")
                fflush(nil)
            }
        }
        RunLoop.main.run()
    }

    private func catchIt(with what: String) throws {
        if what == "shutdown" {
            shutdown = try RunLoop.Shutdown(signals: [SIGTERM])
            shutdown?.addWork { print("ours: work") }
        } else {
            let source = try RunLoop.Source(signal: SIGTERM) { signal in
                print("ours: \(signal.number) × \(signal.count)")
                fflush(nil)
            }
            try RunLoop.main.add(source, forMode: .common)
            self.source = source
        }
    }
}

/// The signals that come to a source of libdispatch, from when it is registered on.
private func trap(_ number: CInt) async -> AsyncStream<CInt> {
    let source = DispatchSource.makeSignalSource(signal: number, queue: DispatchQueue(label: "of the sequence"))
    let stream = AsyncStream<CInt> { continuation in
        source.setEventHandler { continuation.yield(number) }
        // The stream keeps it.
        continuation.onTermination = { _ in source.cancel() }
    }
    await withCheckedContinuation { (registered: CheckedContinuation<Void, Never>) in
        source.setRegistrationHandler { registered.resume() }
        source.resume()
    }
    return stream
}
