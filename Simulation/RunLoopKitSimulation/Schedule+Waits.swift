#if os(Linux)
internal import CRunLoopSimulation
internal import RunLoopKitCLibrary
internal import RunLoopKitTasks

// What members wait for.
extension Schedule {
    func mayGoOn(_ member: Member) -> Bool {
        switch member.status {
        case .ready: true
        case .waiting(let end): end <= now || isReadable(member.descriptor)
        case .blocked(let wait): wait.end <= now || wait.isReady
        case .idle, .gone: false
        }
    }

    /// The member has looked at the clock so often, and done nothing else: each is a step.
    func countLooks(of count: Int32, by member: Int) {
        if count == 0 { return }
        steps += Int(count)
        // It takes longer than the looks, so it is done near the end only.
        if steps > mostSteps - 2 * Int(count) { roundabout = members[member].wait?.place ?? roundabout }
        if goesRound { isOver = true }
    }

    /// So long another process, a child that has to start for instance, is given in any case, in milliseconds.
    private static let patienceWithKernel: Int32 = 500

    /// Nothing can happen, unless a thread outside does something. Whether one has: it has sent something to a loop, or given what is waited for.
    func awaitOutsiders() -> Bool {
        let isAnyBlocked = members.contains { $0.wait != nil }
        var waited = members.filter { !$0.isGone && !$0.isProcessor }.map {
            pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0)
        }
        let isAnyOfKernel = members.contains { $0.wait?.isOfKernel == true }
        var left = isAnyOfKernel ? max(patience, Self.patienceWithKernel) : patience
        let step = isAnyBlocked ? min(left, 5) : left
        while left > 0 {
            if unsafe poll(&waited, nfds_t(waited.count), step) > 0 { return true }
            if isAnyBlocked && members.contains(where: { $0.wait != nil && mayGoOn($0) }) { return true }
            left -= step
            spentPatience += step
        }
        return false
    }
}

private func isReadable(_ descriptor: Int32) -> Bool {
    var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&waited, 1, 0) == 1
}
#endif
