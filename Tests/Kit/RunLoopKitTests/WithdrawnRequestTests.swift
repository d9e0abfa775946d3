import RunLoopKit
import Testing

/// Requests whose tasks are cancelled before anybody has received them.
@Suite struct WithdrawnRequestTests {
    @Test("A withdrawn request makes space for a sender that waits, though the loop does not run")
    func makesSpace() async throws {
        let (thread, trace) = (try RunLoop.Thread(), Trace())
        let port = try NotedPort(on: thread.loop, capacity: 1, inMode: "later") { trace.note($0.request) }
        let asking = Task { try await port.request("withdrawn") }
        #expect(try await eventually { port.count == 1 })
        let sending = Task { try await port.send("second", timeout: nil) }
        #expect(try await eventually { port.count == 2 })
        asking.cancel()
        await #expect(throws: RunLoop.PortError.cancelled) { try await asking.value }
        try await sending.value
        #expect(port.count == 1 && trace.all.isEmpty)
        thread.stop()
    }

    @Test("After an iteration that found a withdrawn request, the next message is received")
    func leavesNoMark() async throws {
        let (thread, trace) = (try RunLoop.Thread(), Trace())
        let port = try NotedPort(on: thread.loop, capacity: 1, inMode: "later") { trace.note($0.request) }
        let asking = Task { try await port.request("withdrawn") }
        #expect(try await eventually { port.count == 1 })
        asking.cancel()
        await #expect(throws: RunLoop.PortError.cancelled) { try await asking.value }
        await thread.performAndWait { RunLoop.current.run(mode: "later", for: .zero) }
        try port.send("next")
        await thread.performAndWait { RunLoop.current.run(mode: "later", for: .zero) }
        #expect(trace.all == ["next"])
        thread.stop()
    }
}

private typealias NotedPort = RunLoop.Port<String, Void>
