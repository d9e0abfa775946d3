import Glibc
import RunLoopKit
import RunLoopKitLinux
import RunLoopKitSimulation
import Testing

@Suite struct LinkTests {
    @Test("A message takes as long as the link says at least, and as it says at most")
    func delays() async throws {
        let times = Guarded<Set<Duration>>([])
        try await simulate(seeds: 200) { simulation in
            let (near, far) = try simulation.makeMessageLink(delay: .milliseconds(10) ... .milliseconds(18))
            defer { for end in [near, far] { close(end) } }
            let start = ContinuousClock.now
            let isThere = await Task {
                var polled = pollfd(fd: far, events: Int16(POLLIN), revents: 0)
                send(near, "x", 1, 0)
                return poll(&polled, 1, 1000) == 1
            }.value
            try simulation.require(isThere, "the message arrives")
            let time = ContinuousClock.now - start
            _ = times.withLock { $0.insert(time) }
        }
        #expect(times.withLock { $0 } == Set((10...18).map { .milliseconds($0) }))
    }

    @Test("A connection that is lost is so for both of its ends, and of the other ones nothing is lost")
    func lost() async throws {
        let losses = Guarded(0)
        for percentage in [0, 50] {
            try await simulate(seeds: 50) { simulation in
                let (near, far) = try simulation.makeConnections(lossPercentage: percentage)
                try await near.writer.write("ping\n")
                let received = try? await far.makeReader().line()
                try simulation.require(received == "ping" || percentage > 0, "it is \(received ?? "nothing")")
                if received == nil {
                    let answer = try? await near.makeReader().line()
                    try simulation.require(answer == nil, "the first one sees the end, too")
                    let isWritten = (try? await near.writer.write("more")) != nil
                    try simulation.require(!isWritten, "and has nobody to write to")
                    losses.withLock { $0 += 1 }
                }
                // Until then, none has gone.
                near.abort()
                far.abort()
            }
        }
        #expect(losses.withLock { $0 } > 0)
    }

    @Test("The end of a stream comes after its bytes, and the other direction goes on")
    func end() async throws {
        try await simulate(seeds: 50) { simulation in
            let (near, far) = try simulation.makeStreamLink()
            defer { for end in [near, far] { close(end) } }
            @Sendable func receive(_ end: CInt) -> [UInt8] {
                var (all, bytes) = ([UInt8](), [UInt8](repeating: 0, count: 16))
                var polled = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
                while poll(&polled, 1, -1) == 1, case let count = recv(end, &bytes, bytes.count, 0), count > 0 {
                    all += bytes.prefix(count)
                }
                return all
            }
            let there = Task {
                let bytes = receive(far)
                send(far, "answer", 6, CInt(MSG_NOSIGNAL))
                shutdown(far, CInt(SHUT_WR))
                return bytes
            }
            let back = Task {
                send(near, "question", 8, CInt(MSG_NOSIGNAL))
                shutdown(near, CInt(SHUT_WR))
                return receive(near)
            }
            let (first, second) = await (there.value, back.value)
            try simulation.require(first.elementsEqual("question".utf8), "the question has come, and its end")
            try simulation.require(second.elementsEqual("answer".utf8), "the answer has come, and its end")
        }
    }

    @Test("Every byte arrives in order, however small the buffers are")
    func smallBuffers() async throws {
        let all = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 / 251) }
        try await simulate(seeds: 60) { simulation in
            simulation.faults = [.smallBuffers]
            let (near, far) = try simulation.makeConnections()
            let writing = Task { try await near.writer.write(all) }
            try await Task.sleep(for: .seconds(60))
            var (iterator, received) = (far.makeReader().chunks.makeAsyncIterator(), [UInt8]())
            while received.count < all.count, let chunk = try await iterator.next() { received += chunk }
            try simulation.require(received == all, "everything arrives, in order")
            _ = try await writing.value
        }
    }

    @Test("What has run out of descriptors while it made a link has closed those that it had")
    func descriptors() async throws {
        await #expect(processExitsWith: .success) {
            let failed = Guarded(0)
            let make: @Sendable (Int) async throws -> Void = { count in
                try await simulate(seeds: count) { simulation in
                    simulation.faults = .descriptorsRunOut
                    do {
                        let (near, far) = try simulation.makeStreamLink()
                        for end in [near, far] { close(end) }
                        let connections = try simulation.makeConnections()
                        connections.0.abort()
                        connections.1.abort()
                    } catch {
                        failed.withLock { $0 += 1 }
                    }
                }
            }
            // The threads of the first runs keep some for the next ones.
            try await make(100)
            let before = countDescriptors()
            failed.withLock { $0 = 0 }
            try await make(300)
            #expect(failed.withLock { $0 } > 50)
            #expect(countDescriptors() <= before + 20)
        }
    }

    @Test("Connections of a loop that has ended can't be made, and leave nothing open")
    func endedLoop() async throws {
        await #expect(processExitsWith: .success) {
            let thread = try RunLoop.Thread()
            let ended = thread.loop
            thread.stop()
            await thread.join()
            let make: @Sendable (Int) async throws -> Void = { count in
                try await simulate(seeds: count) { simulation in
                    let isMade = (try? simulation.makeConnections(on: ended)) != nil
                    let isOtherMade = (try? simulation.makeConnections(and: ended)) != nil
                    try simulation.require(!isMade && !isOtherMade, "a loop that has ended has none")
                }
            }
            try await make(30)
            let before = countDescriptors()
            try await make(100)
            #expect(countDescriptors() <= before + 20)
        }
    }
}

private func countDescriptors() -> Int { (0..<CInt(1024)).count { fcntl($0, F_GETFD) >= 0 } }
