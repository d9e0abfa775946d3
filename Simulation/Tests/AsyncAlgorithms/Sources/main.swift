import RunLoopKit
import RunLoopKitSimulation
import Synchronization

// async-algorithms-in-simulations [SEEDS]: a line for each program and seed, with what happened; after those of a program one of all of them.
let seeds = CommandLine.arguments.dropFirst().first.flatMap { UInt64($0) } ?? 1000

final class Made: Sendable {
    let results = Mutex<Results?>(nil)
}

for program in Program.all {
    var (texts, failures) = (Set<String>(), 0)
    for seed in 0..<seeds {
        let made = Made()
        var text: String
        do {
            try await simulate(seeds: 1, from: seed) { simulation in
                let results = Results()
                made.results.withLock { $0 = results }
                try await program.body(simulation, results)
            }
            text = made.results.withLock { $0?.text ?? "" }
        } catch let error as RunLoop.Simulation.Failure {
            failures += 1
            text = "fails: \(error.error) \(error.journal)".replacing("\n", with: " | ")
        }
        texts.insert(text)
        print("\(program.name) \(seed): \(text)")
    }
    print("# \(program.name): \(seeds) seeds, \(texts.count) results, \(failures) failures")
}
