import Glibc
import RunLoopKit
import RunLoopKitSimulation

/// What is said of a simulation's process: RunLoopKitTests runs each case in one of its own.
@main struct Program {
    static func main() async throws {
        let argument = CommandLine.arguments.dropFirst().first ?? ""
        switch argument.prefix(while: \.isLetter) {
        case "search":
            do { try await simulate(seeds: 1000, overdraw) } catch { print(error) }
        case "replay":
            // As it was printed: replay([0, 1, 2]).
            let journal = argument.split { !$0.isNumber }.compactMap { Int($0) }
            do { try await replay(journal, overdraw) } catch { print(error) }
        case "sleeps": try await cancelledSleeps()
        case "heap": try await breakHeap()
        case "speed": try await printSpeed()
        default: preconditionFailure("There is no such case.")
        }
    }
}

func check(_ condition: Bool, _ sentence: String) {
    if condition { return }
    print("Not true: \(sentence)")
    exit(1)
}
