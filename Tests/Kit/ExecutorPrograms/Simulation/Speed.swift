import Glibc
import RunLoopKit
import RunLoopKitLinux
import RunLoopKitSimulation

/// Seeds in a second of processor time, which one thread after another has, or two at a time: of a small body, and of a server with ten clients.
func printSpeed() async throws {
    for (name, count, body) in [("a small body", 20_000, twoTasks), ("a server with ten clients", 1000, tenClients)] {
        for jobs in [1, 2] {
            let (start, begin) = (clock(), ContinuousClock.now)
            try await simulate(seeds: count, jobs: jobs, body)
            let (time, duration) = (Duration.microseconds(clock() - start), ContinuousClock.now - begin)
            let (used, passed) = (Int(.seconds(count) / time), Int(.seconds(count) / duration))
            print("\(name), \(jobs) at a time: \(used) seeds a second of processor time, \(passed) on the clock")
        }
    }
}

private actor Sum {
    private(set) var value = 0

    func add(_ number: Int) -> Int {
        value += number
        return value
    }
}

@Sendable private func twoTasks(_ simulation: RunLoop.Simulation) async throws {
    let sum = Sum()
    await withTaskGroup(of: Void.self) { group in
        for number in 1...2 {
            group.addTask {
                try? await Task.sleep(for: .milliseconds(number))
                _ = await sum.add(number)
            }
        }
    }
    try simulation.require(await sum.value == 3, "both have added")
}

/// Each client sends five numbers over a connection of its own, and awaits the sum so far for each.
@Sendable private func tenClients(_ simulation: RunLoop.Simulation) async throws {
    let sum = Sum()
    try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<10 {
            let (near, far) = try simulation.makeConnections()
            group.addTask { await serve(far, sum) }
            group.addTask {
                let reader = near.makeReader()
                for number in 1...5 {
                    try await near.writer.write("\(number)\n")
                    let line = try await reader.line() ?? ""
                    try simulation.require(Int(line) ?? 0 >= number, "the sum has the number: \(line)")
                }
                near.abort()
            }
        }
        try await group.waitForAll()
    }
    try simulation.require(await sum.value == 150, "all numbers were added")
}

private func serve(_ connection: RunLoop.Connection, _ sum: Sum) async {
    let reader = connection.makeReader()
    while let line = try? await reader.line(), let number = Int(line) {
        _ = try? await connection.writer.write("\(await sum.add(number))\n")
    }
    connection.abort()
}
