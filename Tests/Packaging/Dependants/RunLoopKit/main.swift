import RunLoopKit

func runUntilTheThirdTick() throws -> RunLoop.RunResult {
    var ticks = 0
    let timer = RunLoop.Timer(every: .milliseconds(1)) { _ in
        ticks += 1
        if ticks == 3 { RunLoop.main.stop() }
    }
    try RunLoop.main.add(timer, forMode: .common)
    return RunLoop.main.run(mode: .default, for: .seconds(60))
}

let result = try runUntilTheThirdTick()
precondition(result == .stopped, "The loop ended with \(result).")
