#if os(Linux)
internal import RunLoopKit
internal import RunLoopKitTasks

/// A wait to which a test has given a limit.
struct LimitedWait {
    let what: String
    let since: Int64
    let end: Int64
}

// What a test says must come about, though the program would go on without it.
extension Schedule {
    func limit(_ number: UInt, _ what: String, to duration: Duration) {
        limitedWaits[number] = LimitedWait(
            what: what, since: now, end: Nanoseconds.sum(now, max(0, Nanoseconds.of(duration))))
    }

    /// Nothing happens before that instant. Is a limit earlier? Then the run ends there.
    func exceedsLimit(before instant: Int64) -> Bool {
        if limitedWaits.isEmpty || isOver { return false }
        guard let (_, wait) = limitedWaits.min(by: { ($0.value.end, $0.key) < ($1.value.end, $1.key) }),
            wait.end < instant
        else { return false }
        exceeded = wait
        return true
    }

    /// If there were too many steps: those that did one in the last half of them, also if it is an actor's turn or a yield's at present.
    var busyTasks: Set<UInt32> {
        goesRound ? jobs.known.busy(since: mostSteps / 2) : []
    }

    /// There were too many steps. Did only others than `task` go on, in the last half of them, while it waits for none of these?
    func isStuck(_ task: UInt32) -> Bool {
        goesRound && jobs.known.isStuck(task, since: mostSteps / 2, but: jobs.expected, self)
    }
}
#endif
