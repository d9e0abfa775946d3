// W13: what Swift concurrency costs. One source, built twice: with the executors of the runtime, and with RunLoopKitSingleThread.
// Prints per operation: nanoseconds, nanoseconds of the processor, context switches, blocks that malloc gave; and the most threads.

import Counts
import Glibc

#if SINGLE_THREAD
    import RunLoopKit
    import RunLoopKitLinux
    import RunLoopKitSingleThread
#else
    import Dispatch
#endif

actor Counter {
    var count = 0
    func add() { count += 1 }
}

@main struct Program {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let count = Int(arguments[2]) else { fatalError("tasks WORKLOAD OPERATIONS") }
        let counter = Counter()
        switch arguments[1] {
        case "hop": await measure(count) { for _ in 0..<count / 2 { await hop(counter) } }
        case "value": await measure(count) { for _ in 0..<count { await Task { await counter.add() }.value } }
        case "yield": await measure(count) { for _ in 0..<count { await Task.yield() } }
        case "group": await measure(count) { await group(count) { await counter.add() } }
        case "sleep": await measure(count) { await group(count) { try? await Task.sleep(for: .milliseconds(100)) } }
        case "echo": try await echo(count)
        case "bytes": try await bytes(count)
        default: fatalError("There is no workload \(arguments[1]).")
        }
    }
}

/// Two hops: from the main actor to another one, and back.
@MainActor func hop(_ counter: Counter) async { await counter.add() }

func group(_ count: Int, _ body: @escaping @Sendable () async -> Void) async {
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<count { group.addTask(operation: body) }
    }
}

/// A byte to another task and back, over a pair of sockets.
@MainActor func echo(_ count: Int) async throws {
    var ends: [CInt] = [0, 0]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0 else { fatalError() }
    let (near, far) = (Descriptor(ends[0]), Descriptor(ends[1]))
    let server = Task.detached { for _ in 0..<count { far.write(await far.read()) } }
    await measure(count) {
        for _ in 0..<count {
            near.write(1)
            _ = await near.read()
        }
    }
    await server.value
}

/// Bytes of a file, 64 KiB at a time: of a sequence, and in a plain loop.
@MainActor func bytes(_ count: Int) async throws {
    let file = open("/dev/zero", O_RDONLY)
    var rest = count
    #if SINGLE_THREAD
        let bytes = RunLoop.main.bytes(of: file)
        try await measure(count) {
            for try await byte in bytes {
                rest -= 1 + Int(byte)
                if rest == 0 { break }
            }
        }
    #else
        var buffer = [UInt8](repeating: 1, count: 65_536)
        await measure(count) {
            while rest > 0 {
                let read = Glibc.read(file, &buffer, min(rest, buffer.count))
                for byte in buffer[..<read] { rest -= 1 + Int(byte) }
            }
        }
    #endif
    close(file)
}

/// A descriptor, of which one task at a time waits for a byte.
final class Descriptor: @unchecked Sendable {
    private let number: CInt

    func write(_ byte: UInt8) {
        var byte = byte
        _ = Glibc.write(number, &byte, 1)
    }

    func read() async -> UInt8 {
        var byte: UInt8 = 0
        while Glibc.read(number, &byte, 1) != 1 { await waitUntilReadable() }
        return byte
    }

    #if SINGLE_THREAD
        private var waiter: UnsafeContinuation<Void, Never>?

        /// The source stays in the loop: the task reads in the iteration in which it is resumed.
        init(_ number: CInt) {
            self.number = number
            let source = try! RunLoop.Source(fileDescriptor: number, events: .read) { [unowned self] _ in
                waiter.take()?.resume()
            }
            try! RunLoop.main.add(source, forMode: .common)
        }

        private func waitUntilReadable() async {
            await withUnsafeContinuation { waiter = $0 }
        }
    #else
        private var waiter: UnsafeContinuation<Void, Never>?
        private let source: any DispatchSourceRead

        init(_ number: CInt) {
            self.number = number
            source = DispatchSource.makeReadSource(fileDescriptor: number, queue: .global())
            source.setEventHandler { [unowned self] in
                source.suspend()
                waiter?.resume()
            }
        }

        /// A source must not be freed while it is suspended.
        deinit {
            source.cancel()
            source.resume()
        }

        private func waitUntilReadable() async {
            await withUnsafeContinuation { continuation in
                waiter = continuation
                source.resume()
            }
        }
    #endif
}

@MainActor func measure(_ count: Int, _ body: @MainActor () async throws -> Void) async rethrows {
    let before = Sample()
    try await body()
    print((Sample() - before).line(per: Double(count)))
}

struct Sample {
    var wall: Double, processor: Double, switches: Double, blocks: Double
    static func - (a: Sample, b: Sample) -> Sample {
        Sample(
            wall: a.wall - b.wall, processor: a.processor - b.processor, switches: a.switches - b.switches,
            blocks: a.blocks - b.blocks)
    }

    func line(per count: Double) -> String {
        "\(wall / count) \(processor / count) \(switches / count) \(blocks / count) \(threadCount())"
    }
}

extension Sample {
    init() {
        var usage = rusage()
        getrusage(0, &usage)  // RUSAGE_SELF
        func nanoseconds(_ clock: clockid_t) -> Double {
            var time = timespec()
            clock_gettime(clock, &time)
            return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
        }
        wall = nanoseconds(CLOCK_MONOTONIC)
        processor = nanoseconds(CLOCK_PROCESS_CPUTIME_ID)
        switches = Double(usage.ru_nvcsw + usage.ru_nivcsw)
        blocks = Double(allocation_count())
    }
}

func threadCount() -> Int {
    guard let folder = opendir("/proc/self/task") else { return -1 }
    defer { closedir(folder) }
    var count = -2  // . and ..
    while readdir(folder) != nil { count += 1 }
    return count
}
