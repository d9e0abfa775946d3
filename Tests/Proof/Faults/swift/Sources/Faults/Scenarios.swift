import FaultDriver
import Glibc
import RunLoopKit
import RunLoopKitLinux
import Synchronization

/// The test's own: a failure here is a fault of the test.
func must(_ condition: Bool, _ line: UInt = #line) {
    if condition { return }
    perror("line \(line): the scenario's own call failed")
    _exit(99)
}

/// Calls what does not fail.
func own<Result>(_ body: () throws -> Result) rethrows -> Result {
    pause_faults()
    defer { begin_faults() }
    return try body()
}

func told(_ error: any Error) -> outcome {
    switch error {
    case let error as RunLoop.Error: FaultDriver.told(-error.errorNumber)
    case RunLoop.ChannelError.failed(let error): FaultDriver.told(-error.errorNumber)
    // The other side learns why in its own way, and the request that it has ended.
    case is RunLoop.ChannelError, is RunLoop.PortError: FaultDriver.told(-ECONNRESET)
    default: LOST
    }
}

/// The body says whether all is as expected, or throws what it was told.
func attempt(_ body: () throws -> Bool) -> outcome {
    begin_faults()
    do {
        return try body() ? AS_EXPECTED : LOST
    } catch {
        return told(error)
    }
}

let patience = Duration.seconds(3)

/// Runs the loop until the condition holds, for three seconds at most.
func run(_ mode: RunLoop.Mode = .default, until condition: () -> Bool) {
    let end = RunLoop.Instant.now.advanced(by: patience)
    while !condition() && RunLoop.Instant.now < end {
        let result = RunLoop.current.run(mode: mode, for: .milliseconds(20), returnAfterSourceHandled: true)
        if result == .finished { usleep(1000) }
    }
}

/// Runs the main loop until a task of the main actor has an answer. It is cancelled when it takes too long.
func attemptInTask(_ body: @escaping @MainActor () async throws -> Bool) -> outcome {
    begin_faults()
    nonisolated(unsafe) var result: outcome?
    let task = Task { @MainActor in
        do {
            result = try await body() ? AS_EXPECTED : LOST
        } catch {
            result = told(error)
        }
    }
    run { result != nil }
    if let result { return result }
    task.cancel()
    run { result != nil }
    return LOST
}

/// Two connected sockets.
func makePair(_ type: __socket_type = SOCK_STREAM) -> (CInt, CInt) {
    var ends: [CInt] = [0, 0]
    own { must(socketpair(AF_UNIX, CInt(type.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &ends) == 0) }
    return (ends[0], ends[1])
}

func end(_ near: CInt, _ far: CInt) {
    close(near)
    close(far)
}

/// A name of an abstract socket that no other process has.
func makeName() -> String { "runloop-faults-\(getpid())-\(UInt32.random(in: 0 ... .max))" }

/// What closures count in.
final class Count: Sendable {
    private let storage = Atomic(0)
    var value: Int { storage.load(ordering: .relaxed) }
    func add(_ count: Int = 1) { storage.add(count, ordering: .relaxed) }
}
