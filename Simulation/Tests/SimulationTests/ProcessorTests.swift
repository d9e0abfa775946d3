import Glibc
import RunLoopKit
import RunLoopKitSimulation
import Testing

@Suite struct ProcessorTests {
    @Test("Runs one after another need no more threads, and have freed what their tasks had")
    func again() async throws {
        // The tests beside this one have threads of their own.
        await #expect(processExitsWith: .success) {
            let objects = Guarded<[Weak]>([])
            let run: @Sendable (Int) async throws -> Void = { count in
                try await simulate(seeds: count) { simulation in
                    objects.withLock { $0.append(Weak(object: simulation)) }
                    await withTaskGroup(of: Void.self) { group in
                        for _ in 0..<3 { group.addTask { try? await Task.sleep(for: .seconds(1)) } }
                    }
                }
            }
            try await run(100)
            let before = countThreads()
            try await run(300)
            #expect(before > 0 && countThreads() < before + 100)
            // A thread may be on its way to its end.
            for _ in 0..<10_000 where objects.withLock({ $0.contains { $0.object != nil } }) { usleep(1000) }
            #expect(objects.withLock { $0.count { $0.object != nil } } == 0)
        }
    }

    @Test("Any number of tasks may wait in the middle of something, under a lock as well")
    func many() async throws {
        try await simulate(seeds: 3) { simulation in
            let (waits, count) = (Waits(), Guarded(0))
            @Sendable func add(_ number: Int) {
                // So that most are under way before the first one takes the lock.
                usleep(UInt32(100 * number))
                waits.lock()
                usleep(1000)
                count.withLock { $0 += 1 }
                waits.unlock()
            }
            await withTaskGroup(of: Void.self) { group in for number in 0..<150 { group.addTask { add(number) } } }
            try simulation.require(count.withLock { $0 } == 150, "each has had the lock")
        }
    }
}

private struct Weak {
    weak var object: (any AnyObject & Sendable)?
}

/// Those on which tasks of simulations run.
private func countThreads() -> Int {
    guard let folder = opendir("/proc/self/task") else { return 0 }
    defer { closedir(folder) }
    var count = 0
    while let entry = readdir(folder) {
        let name = withUnsafePointer(to: entry.pointee.d_name) { name in
            name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        guard let file = fopen("/proc/self/task/\(name)/comm", "r") else { continue }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 64)
        if fgets(&line, CInt(line.count), file) != nil, strncmp(line, "simulated task", 14) == 0 { count += 1 }
    }
    return count
}
