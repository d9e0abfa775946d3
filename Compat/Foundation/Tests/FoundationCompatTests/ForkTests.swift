import ForkedChild
import RunLoopKit
import RunLoopKitFoundationCompat
import Synchronization
import Testing

import class RunLoopKitFoundationCompat.RunLoop

/// Each test forks in a process of its own, in which no threads of other tests are running.
@Suite struct ForkTests {
    @Test("R123 R124 A forked child has a new loop that works, with the observers and without the timers of its parent")
    func childHasNewLoop() async {
        await #expect(processExitsWith: .success) {
            try await onThread {
                let inherited = RunLoop.current
                let fired = Atomic(0)
                let timer = Timer(timeInterval: 0.001, repeats: true) { _ in fired.add(1, ordering: .relaxed) }
                let port = Port()
                inherited.add(timer, forMode: .common)
                inherited.add(port, forMode: .default)
                let notified = Atomic(0)
                let token = NotificationCenter.default.addObserver(forName: kept, object: nil, queue: nil) { _ in
                    notified.add(1, ordering: .relaxed)
                }
                let status = statusOfChild {
                    useNewLoop(not: inherited)
                    NotificationCenter.default.post(name: kept, object: nil)
                    precondition(notified.load(ordering: .relaxed) == 1)
                    inherited.add(Timer(timeInterval: 0, repeats: false) { _ in }, forMode: .default)
                    inherited.add(Port(), forMode: .default)
                    precondition(!inherited.run(mode: .default, before: Date() + 0.01))
                    timer.invalidate()
                    port.invalidate()
                    precondition(fired.load(ordering: .relaxed) == 0)
                }
                precondition(status == 0, "The child ended with status \(status).")
                // The parent is not affected.
                precondition(RunLoop.current === inherited && timer.isValid && port.isValid)
                precondition(notified.load(ordering: .relaxed) == 0)
                precondition(run { fired.load(ordering: .relaxed) >= 3 })
                NotificationCenter.default.removeObserver(token)
            }
        }
    }

    @Test(
        "R123 A fork while other threads use loops and notifications leaves no lock that the child needs held",
        .disabled(
            if: isUnderThreadSanitizer,
            """
            This sanitizer makes the Swift runtime lock at every use of a lazily made value, so a child may find such a lock held for \
            ever. The locks of run loops are tested with it one by one, by the C tests of forks.
            """))
    func forkAmongThreads() async {
        await #expect(processExitsWith: .success) {
            try await onThread {
                let loop = RunLoop.current
                let handed = Unguarded(object: loop)
                let isOver = Atomic(false)
                let attempts = Atomic(0)
                let shared = Timer(timeInterval: 3600, repeats: true) { _ in }
                loop.add(shared, forMode: .default)
                let workers = (0..<3).map { _ in
                    Thread {
                        while !isOver.load(ordering: .relaxed) {
                            useLoops(handed)
                            attempts.add(1, ordering: .relaxed)
                        }
                    }
                }
                // The Swift runtime itself takes locks at the first use of many things, and does not prepare for forks. This is before the
                // workers start, so that none of them has the last reference to an observer, whose end would be such a first use.
                use(loop)
                for worker in workers { worker.start() }
                precondition(wait { attempts.load(ordering: .relaxed) >= 6 })
                for _ in 0..<100 {
                    let status = statusOfChild {
                        // The locks of its loop may be held by another thread, which does not exist here.
                        shared.invalidate()
                        loop.add(Timer(timeInterval: 0, repeats: false) { _ in }, forMode: .default)
                        useNewLoop(not: loop)
                    }
                    precondition(status == 0, "A child ended with status \(status).")
                }
                isOver.store(true, ordering: .relaxed)
                precondition(wait { workers.allSatisfy(\.isFinished) })
                precondition(shared.isValid)
            }
        }
    }
}

private let kept = Notification.Name("kept")
private let name = Notification.Name("served")

/// The calling thread's loop is another one than before, is the main loop, and works.
private func useNewLoop(not inherited: RunLoop) {
    let loop = RunLoop.current
    precondition(loop !== inherited && loop === RunLoop.current && loop === RunLoop.main)
    use(loop)
}

/// A timer, a block, a port and a notification of the calling thread's loop are served.
private func use(_ loop: RunLoop) {
    let served = Atomic(0)
    loop.add(Timer(timeInterval: 0.001, repeats: false) { _ in served.add(1, ordering: .relaxed) }, forMode: .default)
    loop.perform { served.add(1, ordering: .relaxed) }
    let token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in
        served.add(1, ordering: .relaxed)
    }
    NotificationQueue.default.enqueue(Notification(name: name), postingStyle: .asap)
    let port = Port()
    loop.add(port, forMode: .default)
    precondition(run { served.load(ordering: .relaxed) >= 3 })
    port.invalidate()
    NotificationCenter.default.removeObserver(token)
}

/// Makes, finds, fills and ends loops, and observers of notifications.
private func useLoops(_ shared: Unguarded<RunLoop>) {
    let worker = Thread {
        let loop = RunLoop.current
        for _ in 0..<20 {
            let timer = Timer(timeInterval: 3600, repeats: true) { _ in }
            precondition(RunLoop.main !== loop)
            loop.add(timer, forMode: .default)
            timer.invalidate()
            let port = Port()
            loop.add(port, forMode: .default)
            port.invalidate()
            let other = Timer(timeInterval: 3600, repeats: true) { _ in }
            shared.object.add(other, forMode: .default)
            other.invalidate()
            NotificationCenter.default.post(name: .init("other"), object: nil)
        }
    }
    worker.start()
    precondition(wait { worker.isFinished })
}
