import RunLoopKit
import Testing

@Suite struct KeepAliveTests {
    @Test("R23 A mode that is kept alive is not empty, until that is invalidated, once or twice")
    func keeps() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let keepAlive = try RunLoop.KeepAlive(on: loop, inMode: "kept")
            #expect(keepAlive.isValid)
            #expect(!loop.isEmpty(inMode: "kept"))
            #expect(loop.isEmpty(inMode: .default))
            #expect(loop.run(mode: "kept", for: .milliseconds(1)) == .timedOut)
            keepAlive.invalidate()
            keepAlive.invalidate()
            #expect(!keepAlive.isValid)
            #expect(loop.isEmpty(inMode: "kept"))
            #expect(loop.run(mode: "kept") == .finished)
        }
    }

    @Test("It lasts as long as there is a reference to it, and not longer")
    func released() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            var keepAlive: RunLoop.KeepAlive? = try RunLoop.KeepAlive(on: loop)
            #expect(!loop.isEmpty(inMode: .default))
            withExtendedLifetime(keepAlive) {}
            keepAlive = nil
            #expect(loop.isEmpty(inMode: .default))
        }
    }

    @Test("Several for a mode are independent, and one for the common modes is in all of them")
    func several() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let first = try RunLoop.KeepAlive(on: loop, inMode: .common)
            let second = try RunLoop.KeepAlive(on: loop)
            loop.addCommonMode("late")
            #expect(!loop.isEmpty(inMode: "late"))
            first.invalidate()
            #expect(loop.isEmpty(inMode: "late"))
            #expect(!loop.isEmpty(inMode: .default))
            second.invalidate()
            #expect(loop.isEmpty(inMode: .default))
        }
    }

    @Test("R25 Another thread that invalidates it ends a run which it alone has kept")
    func endedElsewhere() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let keepAlive = try RunLoop.KeepAlive(on: loop)
            let other = TestThread {
                _ = waitUntil { loop.isWaiting }
                keepAlive.invalidate()
            }
            #expect(loop.run(mode: .default) == .finished)
            other.join()
        }
    }

    @Test("A loop whose thread has ended cannot be kept alive")
    func refused() async throws {
        let thread = try await withRunLoopThread { try RunLoop.Thread() }
        thread.stop()
        await thread.join()
        #expect(throws: RunLoop.Error.loopFinished) { try RunLoop.KeepAlive(on: thread.loop) }
    }
}
