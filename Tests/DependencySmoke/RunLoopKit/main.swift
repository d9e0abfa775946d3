import RunLoopKit

func runUntilTheThirdTick() -> RunLoop.RunResult {
    var ticks = 0
    let timer = RunLoop.Timer(every: .milliseconds(1)) { _ in
        ticks += 1
        if ticks == 3 { RunLoop.main.stop() }
    }
    RunLoop.main.add(timer, forMode: .common)
    return RunLoop.main.run(mode: .default, for: .seconds(60))
}

let result = runUntilTheThirdTick()
precondition(result == .stopped, "The loop ended with \(result).")
