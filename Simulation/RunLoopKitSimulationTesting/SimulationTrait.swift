#if os(Linux)
internal import RunLoopKit
internal import RunLoopKitSimulation
public import Testing

/// Has a test of Swift Testing run in a simulation, under one seed after another, until it fails.
///
///     @Test(.simulated(seeds: 1_000)) func drains() async {
///         await server.drain()
///         #expect(server.hasAnswered)
///     }
///
/// It is written as `.simulated(seeds: 1_000)` or `.simulated(replaying: journal)`.
public struct SimulationTrait: TestTrait, SuiteTrait, TestScoping {
    fileprivate enum Runs {
        case seeds(Int, from: UInt64, jobs: Int)
        case journal([Int])
    }

    fileprivate let runs: Runs

    /// A suite's tests have it, too.
    public var isRecursive: Bool { true }

    /// Runs the test's body under each seed; Swift Testing calls it.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withoutActuallyEscaping(function) { function in
            let lent = LentFunction(function)
            let references = lent.references
            defer { lent.takeBack(but: references) }
            let body: @Sendable (RunLoop.Simulation) async throws -> Void = { _ in
                let findings = Findings()
                try await findings.throwFirst {
                    let handling = IssueHandlingTrait.compactMapIssues { issue in
                        // An issue that is recorded where there is no test goes to all tests under way, and to the run, which reports it.
                        Test.current == test ? findings.take(issue) : nil
                    }
                    try await handling.provideScope(for: test, testCase: testCase, performing: lent.function)
                }
            }
            let place = test.sourceLocation
            let simulated = RunLoopKitSimulation.Runs(of: body, place.fileID, UInt(place.line))
            do {
                switch runs {
                case .seeds(let count, let first, let jobs):
                    _ = try await simulate(seeds: count, from: first, jobs: jobs, of: simulated)
                case .journal(let journal): try await replay(journal, of: simulated)
                }
            } catch let failure as RunLoop.Simulation.Failure {
                // With --attachments-path, a file has this with all steps. The seed is in its name.
                let name = failure.seed.map { "seed \($0).txt" } ?? "journal.txt"
                Attachment.record(failure.wholeDescription, named: name)
                throw failure
            }
        }
    }
}

extension Trait where Self == SimulationTrait {
    /// The test is run in a simulation under each seed, until one makes it fail: as `simulate` does it with a body.
    ///
    ///     @Test(.simulated(seeds: 1000)) func sleepsAreNeverShort() async throws {
    ///         let start = ContinuousClock.now
    ///         try await Task.sleep(for: .seconds(3600))
    ///         #expect(ContinuousClock.now - start >= .seconds(3600))
    ///     }
    ///
    /// It fails if it throws, if an expectation does not hold, if it traps, or if it waits for something that never comes. Other tests
    /// follow in each case. The report of the failure is that of `simulate`: the seed, the shortest journal, and what happens, step by
    /// step. The simulation is `RunLoop.Simulation.current`. An expectation in a detached task belongs to no test, as anywhere, and so ends
    /// no search.
    ///
    /// With `--attachments-path` of `swift test`, the report is also an attachment whose name has the seed, "seed 104.txt". Of a long story the
    /// log has the last hundred steps, and the attachment has all.
    ///
    /// With `jobs`, so many seeds are tried at a time; the bodies of a test then run beside each other, as those of several tests do.
    ///
    /// The environment decides, if it has RUNLOOP_SIMULATION_SEED, RUNLOOP_SIMULATION_SEEDS or RUNLOOP_SIMULATION_JOBS, as for `simulate`. Each
    /// case of a test with arguments is simulated by itself. Other traits of the test are applied once, around all of its runs, if they come before this one,
    /// and in each run if they come after it.
    public static func simulated(seeds count: Int = 100, from first: UInt64 = 0, jobs: Int = 1) -> Self {
        SimulationTrait(runs: .seeds(count, from: first, jobs: jobs))
    }

    /// The test is run once, as a journal has it, that of a failure for instance.
    public static func simulated(replaying journal: [Int]) -> Self {
        SimulationTrait(runs: .journal(journal))
    }
}

extension Findings {
    /// An issue of a run is not one of the test: the search goes on after it, for the shortest way there.
    fileprivate func take(_ issue: Issue) -> Issue? {
        if issue.isFailure {
            let place = issue.sourceLocation
            let text = (["\(issue.kind)"] + issue.comments.map { "\($0)" }).joined(separator: " — ")
            add(text, file: place?.fileID ?? "", line: place?.line ?? 0)
        }
        return nil
    }
}
#endif
