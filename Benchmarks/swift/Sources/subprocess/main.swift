// main.swift — W16 on swift-subprocess: children.

import Subprocess
import Work

let (_, count) = arguments()
for _ in 0..<rounds {
    let start = Times()
    for _ in 0..<count {
        let outcome = try await run(
            .path("/bin/echo"), arguments: ["one"], output: .string(limit: 4096), error: .string(limit: 4096))
        precondition(outcome.standardOutput == "one\n", "The child has written something else.")
    }
    printFigures(start.perOperation(count))
}
