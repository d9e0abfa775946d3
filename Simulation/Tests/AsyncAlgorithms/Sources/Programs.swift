import AsyncAlgorithms
import RunLoopKit
import RunLoopKitSimulation
import Synchronization

/// What a program got, in order, and when.
final class Results: Sendable {
    private let begin = ContinuousClock.now
    private let all = Mutex<[String]>([])

    func add(_ value: some Any) {
        let time = Int((ContinuousClock.now - begin) / .milliseconds(1))
        all.withLock { $0.append("\(value)@\(time)") }
    }

    var text: String { all.withLock { $0.joined(separator: " ") } }
}

/// The numbers that one of several readers got.
private final class Numbers: Sendable {
    private let numbers = Mutex<[Int]>([])

    func add(_ number: Int) { numbers.withLock { $0.append(number) } }
    var all: [Int] { numbers.withLock { $0 } }
}

/// Ordinary code with an algorithm of the package, and what holds of it in every order.
struct Program: Sendable {
    let name: String
    let body: @Sendable (RunLoop.Simulation, Results) async throws -> Void

    static let all = [
        Program(name: "zip") { simulation, results in
            var pairs: [String] = []
            for await pair in zip([1, 2, 3].async, ticks(3)) {
                results.add(pair)
                pairs.append("\(pair.0)\(pair.1)")
            }
            try simulation.require(pairs == ["10", "21", "32"], "the elements come in pairs: \(pairs)")
        },
        Program(name: "merge") { simulation, results in
            var numbers: [Int] = []
            for await number in merge(ticks(3), [10, 20, 30].async, ticks(3).map { $0 + 100 }) {
                results.add(number)
                numbers.append(number)
            }
            try simulation.require(
                numbers.sorted() == [0, 1, 2, 10, 20, 30, 100, 101, 102], "each element comes once: \(numbers)")
        },
        Program(name: "debounce") { simulation, results in
            var numbers: [Int] = []
            // A pause after the third.
            for await number in ticks(5, pauses: [2: 50]).debounce(for: .milliseconds(20)) {
                results.add(number)
                numbers.append(number)
            }
            try simulation.require(numbers == [2, 4], "only the last ones come: \(numbers)")
        },
        Program(name: "throttle") { simulation, results in
            var (numbers, last) = ([Int](), ContinuousClock.Instant?.none)
            for await number in ticks(9)._throttle(for: .milliseconds(20)) {
                results.add(number)
                numbers.append(number)
                // What is left at the end comes at once.
                if let last, number < 8 {
                    try simulation.require(
                        ContinuousClock.now - last >= .milliseconds(20), "there is time between them")
                }
                last = .now
            }
            try simulation.require(numbers == numbers.sorted() && numbers.first == 0, "they come in order: \(numbers)")
        },
        Program(name: "chunked") { simulation, results in
            var numbers: [Int] = []
            for await chunk in ticks(6).chunked(by: .repeating(every: .milliseconds(12))) {
                results.add(chunk)
                numbers += chunk
            }
            try simulation.require(numbers == Array(0..<6), "nothing is lost: \(numbers)")
        },
        Program(name: "share") { simulation, results in
            let shared = ticks(4).share()
            let sums = await withTaskGroup(of: Int.self) { group in
                for name in ["a", "b"] {
                    group.addTask {
                        var sum = 0
                        for await number in shared {
                            results.add("\(name)\(number)")
                            sum += number
                        }
                        return sum
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            try simulation.require(sums == [6, 6], "both get all: \(sums)")
        },
        Program(name: "channel") { simulation, results in
            let channel = AsyncChannel<Int>()
            let senders = Task {
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<3 {
                        group.addTask {
                            await channel.send(number)
                            results.add("sent \(number)")
                        }
                    }
                }
                channel.finish()
            }
            var numbers: [Int] = []
            for await number in channel {
                results.add(number)
                numbers.append(number)
            }
            await senders.value
            try simulation.require(numbers.sorted() == [0, 1, 2], "each element comes once: \(numbers)")
        },
        Program(name: "channel whose reader is cancelled") { simulation, results in
            let channel = AsyncChannel<Int>()
            let sender = Task {
                for number in 0..<4 { await channel.send(number) }
                channel.finish()
            }
            let numbers = Numbers()
            let first = Task {
                for await number in channel {
                    numbers.add(number)
                    try? await Task.sleep(for: .milliseconds(5))
                }
            }
            try await Task.sleep(for: .milliseconds(7))
            first.cancel()
            for await number in channel { numbers.add(number) }
            await (sender.value, first.value)
            let all = numbers.all
            results.add(all)
            try simulation.require(all.sorted() == [0, 1, 2, 3], "nothing is lost: \(all)")
        },
    ]
}

/// Numbers from 0, one in each five milliseconds, or so many after one.
private func ticks(_ count: Int, pauses: [Int: Int] = [:]) -> AsyncStream<Int> {
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    Task {
        for number in 0..<count {
            try? await Task.sleep(for: .milliseconds(1))
            continuation.yield(number)
            try? await Task.sleep(for: .milliseconds(pauses[number] ?? 4))
        }
        continuation.finish()
    }
    return stream
}
