#if os(Linux)
public import RunLoopKit

// Earlier names, so that the compiler says what to use instead.

extension RunLoop.Simulation {
    @available(*, unavailable, message: "Write simulation.loop.clock.")
    public var clock: RunLoop.Clock { fatalError() }

    @available(*, unavailable, message: "Write if simulation.choose(4) == 1 { throw error }.")
    public func mayThrow(_ error: any Swift.Error) throws {}
}

extension RunLoop.Simulation.Report {
    @available(*, unavailable, message: "Write report.duration / report.runs.")
    public var durationPerRun: Duration { fatalError() }
}
#endif
