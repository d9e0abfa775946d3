import Glibc
import RunLoopKit
import RunLoopKitLinux
import Testing

/// Two inputs of one loop: one has more lines than anybody wants, the other one has one.
private actor Server: RunLoop.BoundActor {
    private let thread: RunLoop.Thread
    nonisolated var loop: RunLoop { thread.loop }
    private var floodedLines = 0
    private(set) var waitingTasks = 0

    init() throws { thread = try RunLoop.Thread() }

    /// Takes lines as fast as it can, to the end.
    func takeFlood(from descriptor: CInt) async throws -> Int {
        let reader = RunLoop.Reader(borrowing: descriptor, on: loop)
        waitingTasks += 1
        for try await _ in reader.lines() { floodedLines += 1 }
        return floodedLines
    }

    /// How many lines of the flood were taken before the line of the other input.
    func takeLine(from descriptor: CInt) async throws -> Int {
        let reader = RunLoop.Reader(borrowing: descriptor, on: loop)
        waitingTasks += 1
        #expect(try await reader.line() == "me")
        return floodedLines
    }

    /// Both inputs at once, while both tasks wait, and the loop is busy here.
    func send(_ lines: Int, to flood: CInt, andOneTo other: CInt) {
        let text = String(repeating: "x\n", count: lines)
        _ = text.withCString { write(flood, $0, strlen($0)) }
        _ = write(other, "me\n", 3)
    }
}

@Suite struct FairnessTests {
    @Test("A peer that has sent thousands of lines does not keep another one waiting until they are all taken")
    func flood() async throws {
        let server = try Server()
        let (flooded, flood) = try makePipe()
        let (input, output) = try makePipe()
        async let total = server.takeFlood(from: flooded)
        async let before = server.takeLine(from: input)
        // Each has come to its wait when the actor does anything else.
        while await server.waitingTasks < 2 { await Task.yield() }
        await server.send(20_000, to: flood, andOneTo: output)
        #expect(try await before <= 200)
        close(flood)
        #expect(try await total == 20_000)
        for descriptor in [flooded, input, output] { close(descriptor) }
    }

    @Test("What was read stays while its task waits for its turn, and the end of the loop ends that wait")
    func endOfLoop() async throws {
        let thread = try RunLoop.Thread()
        let (input, output) = try makePipe()
        let text = String(repeating: "x\n", count: 1000)
        _ = text.withCString { write(output, $0, strlen($0)) }
        let count = try await thread.performAndWait {
            let loop = thread.loop
            return Task(executorPreference: loop.taskExecutor) {
                let reader = RunLoop.Reader(borrowing: input, on: loop)
                var count = 0
                while count < 1000, try await reader.line() == "x" {
                    count += 1
                    if count == 100 { thread.stop() }
                }
                return count
            }
        }.value
        #expect(count == 1000)
        await thread.join()
        close(input)
        close(output)
    }
}
