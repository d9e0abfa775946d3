import Glibc
import RunLoopKit
import RunLoopKitLinux
import RunLoopKitSimulation
import Testing

@Suite struct ResourceTests {
    @Test("A disk is full for all that write to a file, and what was written before is there")
    func fullDisks() async throws {
        let outcomes = Guarded<Set<String>>([])
        try await simulate(seeds: 100) { simulation in
            var path = Array("/tmp/runloop-simulated-XXXXXX\0".utf8CString)
            let file = mkstemp(&path)
            try simulation.require(file >= 0, "there is a file")
            unlink(path)
            defer { close(file) }
            simulation.faults = [.fullDisks]
            let word = Array("word".utf8)
            let calls = [
                ("write", write(file, word, 4)), ("pwrite", pwrite(file, word, 4, 4)),
                ("writev", writePiece(word, to: file)),
            ]
            for (name, result) in calls where result < 0 { outcomes.withLock { _ = $0.insert(name) } }
            let writer = try RunLoop.Writer(borrowing: file, on: simulation.loop)
            do {
                try await writer.write("words\n")
                _ = try await writer.flush()
            } catch {
                try simulation.require(error as? RunLoop.Error == .noSpaceLeft, "that is why: \(error)")
                outcomes.withLock { _ = $0.insert("Writer") }
            }
            writer.invalidate()
            simulation.faults = []
            var text = [UInt8](repeating: 0, count: 4)
            if calls[0].1 == 4 {
                try simulation.require(pread(file, &text, 4, 0) == 4 && text == word, "it is there: \(text)")
            }
        }
        #expect(outcomes.withLock { $0 } == ["write", "pwrite", "writev", "Writer"])
    }

    @Test("Somebody else has waited for a child: its end comes all the same, without usage, and it is gone")
    func lostChildren() async throws {
        let (lost, kept) = (Guarded(0), Guarded(0))
        try await simulate(seeds: 100) { simulation in
            simulation.faults = [.lostChildren]
            let child = try RunLoop.Child.start(["sh", "-c", "exit 3"], on: simulation.loop)
            let exit = try await child.exit()
            simulation.faults = []
            (exit.usage == nil ? lost : kept).withLock { $0 += 1 }
            try simulation.require(exit.reason == .exited(3) || exit.usage == nil, "its end is known: \(exit)")
            var status: CInt = 0
            try simulation.require(
                exit.process.map { waitpid($0, &status, 0) } == -1 && errno == ECHILD, "nobody has to wait for it")
        }
        #expect(lost.withLock { $0 } > 0 && kept.withLock { $0 } > 0)
    }

    @Test("The links of a simulation are freed at its end")
    func freedLinks() async throws {
        let (relays, ended) = (Guarded<[Weak]>([]), Guarded<[RunLoop.Simulation]>([]))
        try await simulate(seeds: 1) { simulation in
            // Also if the program still has that.
            ended.withLock { $0 = [simulation] }
            let (near, far) = try simulation.makeConnections()
            try await near.writer.write("on its way")
            near.abort()
            far.abort()
            relays.withLock { $0 = simulation.relays.withLock { $0.map { Weak(object: $0) } } }
        }
        #expect(relays.withLock { $0.count } == 2)
        #expect(relays.withLock { $0.filter { $0.object != nil }.count } == 0)
    }

    @Test("A peer whose buffer is full takes no more until it reads, and then everything")
    func smallBuffers() async throws {
        let taken = Guarded<Set<Int>>([])
        try await simulate(seeds: 50) { simulation in
            simulation.faults = [.smallBuffers]
            var ends: [CInt] = [-1, -1]
            let type = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
            try simulation.require(socketpair(AF_UNIX, type, 0, &ends) == 0, "there are two ends")
            let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 / 251) }
            let count = send(ends[0], bytes, bytes.count, CInt(MSG_NOSIGNAL))
            _ = taken.withLock { $0.insert(count) }
            let near = try RunLoop.Connection(adopting: ends[0], on: simulation.loop)
            let far = try RunLoop.Connection(adopting: ends[1], on: simulation.loop)
            let writing = Task { try await near.writer.write(bytes.dropFirst(count)) }
            var (iterator, received) = (far.makeReader().chunks.makeAsyncIterator(), [UInt8]())
            while received.count < bytes.count, let chunk = try await iterator.next() { received += chunk }
            _ = try await writing.value
            try simulation.require(received == bytes, "everything arrives, in order")
        }
        let counts = taken.withLock { $0 }
        #expect(counts.contains(100_000) && counts.contains { $0 < 10_000 }, "\(counts)")
    }
}

private func writePiece(_ bytes: [UInt8], to file: CInt) -> Int {
    bytes.withUnsafeBytes { bytes in
        var piece = iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
        return writev(file, &piece, 1)
    }
}

private struct Weak {
    weak var object: (any AnyObject & Sendable)?
}
