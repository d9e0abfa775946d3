// Work.swift — what the programs have in common: clocks, random dates, a thread, and how a figure is printed.

import Glibc

/// What a request is answered with.
public let page = "Hello, world!\n"

/// How often a workload is repeated within its process; the last time counts, when everything has been used once.
public let rounds = 3

/// The workload, and how many operations.
public func arguments() -> (workload: String, count: Int) {
    let arguments = CommandLine.arguments
    return (arguments.count > 1 ? arguments[1] : "", arguments.count > 2 ? Int(arguments[2]) ?? 0 : 0)
}

/// Random numbers that are the same in each program.
public struct Random: Sendable {
    private var state: UInt64 = 88_172_645_463_325_252

    public init() {}

    public mutating func next(below limit: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(limit))
    }

    /// How far ahead a timeout is that never passes here, in milliseconds.
    public mutating func far() -> Int64 { Int64(60_000 + next(below: 1_000_000)) }
}

//===-- times -------------------------------------------------------------------------------------------------------===//

private func nanoseconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

/// Instants of the wall clock and of the process's CPU time.
public struct Times: Sendable {
    let wall = nanoseconds(CLOCK_MONOTONIC), processor = nanoseconds(CLOCK_PROCESS_CPUTIME_ID)

    public init() {}

    public func perOperation(_ count: Int) -> KeyValuePairs<String, Double> {
        let now = Times()
        return ["cpu": (now.processor - processor) / Double(count), "wall": (now.wall - wall) / Double(count)]
    }
}

/// Nanoseconds of CPU time for each of `count` operations.
public func measured(_ count: Int, _ operations: () throws -> Void) rethrows -> Double {
    let start = nanoseconds(CLOCK_PROCESS_CPUTIME_ID)
    try operations()
    return (nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - start) / Double(count)
}

/// A line `name=value name=value`.
public func printFigures(_ figures: KeyValuePairs<String, Double>) {
    print(figures.map { name, value in "\(name)=\(value.rounded())" }.joined(separator: " "))
    fflush(nil)
}

public func printPort(_ port: Int) {
    print("port=\(port)")
    fflush(nil)
}

//===-- a thread ----------------------------------------------------------------------------------------------------===//

private final class Body: Sendable {
    let call: @Sendable () -> Void
    init(_ call: @escaping @Sendable () -> Void) { self.call = call }
}

/// Calls the closure on a thread of its own.
public func inAThread(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let result = pthread_create(
        &thread, nil,
        { body in
            Unmanaged<Body>.fromOpaque(body!).takeRetainedValue().call()
            return nil
        }, Unmanaged.passRetained(Body(body)).toOpaque())
    precondition(result == 0, "The thread could not be created.")
    pthread_detach(thread)
}
