import AllocationCount
import RunLoopKit
import RunLoopKitSimulation

/// Sleeps of a day that are cancelled keep neither memory nor time.
func cancelledSleeps() async throws {
    try await simulate(seeds: 3) { simulation in
        simulation.mostSteps = .max
        try await cancelSleeps(2000)
        let begin = allocated_bytes()
        try await cancelSleeps(10_000)
        let kept = allocated_bytes() - begin
        // The journal and the numbers of the tasks stay, some two hundred bytes of each round; a sleep would be as much again.
        check(kept < 10_000 * 350, "10,000 sleeps that were cancelled keep \(kept) bytes")
    }
    // The body waits for ever after a millisecond, and nothing else is to come.
    do {
        try await withSimulation { _ in
            try await cancelSleeps(1)
            await withUnsafeContinuation { waiter in forever.withLock { $0 = waiter } }
        }
        check(false, "it stands still")
    } catch {
        let failure = error as? RunLoop.Simulation.Failure
        check(failure?.error is RunLoop.Simulation.Standstill, "it stands still: \(error)")
        let story = failure?.story ?? []
        check(
            !story.isEmpty && story.allSatisfy { $0.hasPrefix("0.0 ") || $0.hasPrefix("0.001 ") },
            "no time has passed for a sleep that was cancelled: \(story)")
    }
    print("sleeps: done")
}

/// Who is never resumed; kept, so that no sanitizer takes it for lost.
private let forever = Guarded<UnsafeContinuation<Void, Never>?>(nil)

private func cancelSleeps(_ count: Int) async throws {
    let begin = ContinuousClock.now
    for _ in 0..<count {
        let task = Task { try await Task.sleep(for: .seconds(86400)) }
        // It sleeps by then.
        try await Task.sleep(for: .milliseconds(1))
        task.cancel()
        check(await task.result.isCancelled, "it was cancelled")
    }
    check(ContinuousClock.now - begin == .milliseconds(count), "nobody waits for the ends of the others")
}

extension Result where Success == Void, Failure == any Error {
    fileprivate var isCancelled: Bool { if case .failure(is CancellationError) = self { true } else { false } }
}
