import RunLoopKit
import RunLoopKitFoundationCompat
import Testing

import class RunLoopKitFoundationCompat.RunLoop

/// Longer than any operation takes on a machine that works. No test depends on a time that is shorter.
let generous: TimeInterval = 600

/// Runs `body` on a thread of its own, and so with a loop of its own.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}

/// The events, in their order, on any thread.
final class Trace: @unchecked Sendable {
    private let lock = DispatchQueue(label: "trace")
    private var lines: [String] = []

    var all: [String] { lock.sync { lines } }
    func note(_ line: String) { lock.sync { lines.append(line) } }
}

/// Records its deinitialization: captured by a block, it shows when the block is freed.
final class Token: Sendable {
    private let trace: Trace
    private let name: String

    init(_ name: String, _ trace: Trace) {
        self.name = name
        self.trace = trace
    }

    func touch() {}
    deinit { trace.note("\(name) freed") }
}

/// Runs the default mode until a condition holds.
func run(until condition: () -> Bool) -> Bool {
    let deadline = Date() + generous
    while !condition() {
        if Date() > deadline { return false }
        RunLoop.current.run(mode: .default, before: Date() + 0.02)
    }
    return true
}

/// Waits for a condition that another thread makes true.
func wait(until condition: () -> Bool) -> Bool {
    let deadline = Date() + generous
    while !condition() {
        if Date() > deadline { return false }
        Thread.sleep(forTimeInterval: 0.0005)
    }
    return true
}

/// A pipe, closed at the end.
func withPipe(_ body: (_ reader: CInt, _ writer: CInt) throws -> Void) throws {
    var ends: [CInt] = [-1, -1]
    let result = pipe(&ends)
    try #require(result == 0)
    for end in ends {
        _ = fcntl(end, F_SETFL, O_NONBLOCK)
        _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    defer { for end in ends { close(end) } }
    try body(ends[0], ends[1])
}

func writeByte(_ descriptor: CInt) {
    var byte: UInt8 = 1
    _ = write(descriptor, &byte, 1)
}

@discardableResult
func readByte(_ descriptor: CInt) -> Bool {
    var byte: UInt8 = 0
    return read(descriptor, &byte, 1) == 1
}

/// Keeps a mode of the current loop from being empty.
func keep(_ mode: RunLoop.Mode) {
    RunLoop.current.add(Port(), forMode: mode)
}

extension Unguarded: @unchecked Sendable {}

/// A value that is not Sendable, passed to a thread that may use it.
struct Unguarded<Object> {
    let object: Object
}
