import ForkedChild
import Glibc
import RunLoopKit
import RunLoopKitDiagnostics
import RunLoopKitLinux
import RunLoopKitTesting
import Synchronization
import Testing

/// Each test forks in a process of its own, in which no threads of other tests are running.
@Suite struct ForkTests {
    @Test("R123 A forked child has a new loop that works, and the inherited one refuses")
    func childHasNewLoop() async {
        await #expect(processExitsWith: .success) {
            try await withRunLoop { inherited in
                let fired = Count()
                let timer = RunLoop.Timer(every: .milliseconds(1)) { _ in fired.increment() }
                let observer = RunLoop.Observer(.all) { _, _ in }
                let source = RunLoop.Source {}
                try inherited.add(timer, forMode: .default)
                try inherited.add(observer, forMode: .default)
                try inherited.add(source, forMode: .common)
                let status = statusOfChild {
                    useInherited(inherited, timer, source)
                    observer.invalidate()
                    useNewLoop(not: inherited)
                }
                precondition(status == 0, "The child ended with status \(status).")
                // The parent's loop is not affected.
                precondition(RunLoop.current === inherited && RunLoop.main !== inherited)
                precondition(timer.isValid && observer.isValid && source.isValid)
                try inherited.runUntil("the parent's timer fires") { fired.value >= 3 }
                precondition(inherited.perform {} && inherited.iterate() == 1)
            }
        }
    }

    @Test("A child that is forked in virtual time has the machine's")
    func childOfVirtualTime() async {
        await #expect(processExitsWith: .success) {
            await withVirtualTime { _, time in
                let status = statusOfChild {
                    let start = ContinuousClock.now
                    let timer = RunLoop.Timer(after: .milliseconds(1)) { _ in RunLoop.current.stop() }
                    try! RunLoop.current.add(timer, forMode: .default)
                    precondition(RunLoop.current.run(mode: .default) == .stopped)
                    precondition(ContinuousClock.now - start >= .milliseconds(1) && RunLoop.Instant.now < time.now)
                }
                precondition(status == 0, "The child ended with status \(status).")
            }
        }
    }

    @Test("R123 A child that a closure of the main loop forks has a new main loop, and so has a child of that child")
    func childOfChild() async {
        await #expect(processExitsWith: .success) {
            await withRunLoop { loop in
                let status = Handed<CInt>()
                loop.perform {
                    status.put(
                        statusOfChild {
                            useNewLoop(not: loop)
                            let child = RunLoop.current
                            let grandchild = statusOfChild {
                                precondition(!child.perform {} && !loop.perform {})
                                useNewLoop(not: child)
                            }
                            precondition(grandchild == 0, "The child's child ended with status \(grandchild).")
                            useNewLoop(not: loop)
                        })
                }
                loop.iterate()
                precondition(status.take() == 0)
                precondition(loop.perform {} && loop.iterate() == 1)
            }
        }
    }

    @Test("R123 A forked child calls no inherited timeout, and frees the closure of one that it destroys")
    func inheritedTimeout() async {
        await #expect(processExitsWith: .success) {
            await withRunLoop { loop in
                let freed = Count()
                let called = Count()
                func timeout(on loop: RunLoop) -> RunLoop.Timeout {
                    RunLoop.Timeout(on: loop, after: .zero) { [token = Token(freed)] in
                        token.touch()
                        called.increment()
                    }
                }
                var inherited = Optional(timeout(on: loop))
                let status = statusOfChild {
                    inherited?.reschedule(after: .zero)
                    inherited = nil
                    precondition(freed.value == 1)
                    let refused = timeout(on: loop)
                    precondition(!refused.isValid && freed.value == 2)
                    let own = timeout(on: .current)
                    precondition(RunLoop.current.run(until: { called.value == 1 }, deadline: nil))
                    precondition(!own.isValid && freed.value == 3)
                }
                precondition(status == 0, "The child ended with status \(status).")
                precondition(freed.value == 0)
                loop.run(mode: .default)
                precondition(freed.value == 1 && called.value == 1)
                _ = consume inherited
            }
        }
    }

    @Test(
        "R123 A fork while other threads use loops leaves no lock that the child needs held",
        .exceptWithThreadSanitizer)
    func forkAmongThreads() async {
        await #expect(processExitsWith: .success) {
            try await withRunLoop { loop in
                let isOver = Count()
                let shared = RunLoop.Timer(every: .seconds(3600)) { _ in }
                try loop.add(shared, forMode: .default)
                let attempts = Count()
                let threads = (0..<3).map { _ in TestThread { useLoops(loop, until: isOver, attempts) } }
                // The Swift runtime itself takes locks at the first use of many things, and does not prepare for forks.
                precondition(waitUntil { attempts.value >= 6 })
                use(loop)
                throwOnce()
                for _ in 0..<100 {
                    let status = statusOfChild {
                        // The lock of its keeper may be held by another thread, which does not exist here.
                        shared.invalidate()
                        refuses {
                            try loop.add(RunLoop.Timer(after: .zero) { _ in }, forMode: .default)
                        }
                        useNewLoop(not: loop)
                    }
                    precondition(status == 0, "A child ended with status \(status).")
                }
                isOver.increment()
                for thread in threads { thread.join() }
                precondition(shared.isValid)
            }
        }
    }

    @Test("A forked child's own publication is not ended by one that it has inherited", .exceptWithThreadSanitizer)
    func publication() async {
        await #expect(processExitsWith: .success) {
            try await withRunLoopThread {
                let (path, other) = ("/tmp/runloop-\(getpid())-parent", "/tmp/runloop-\(getpid())-child")
                let publication = try RunLoop.Publication(at: path)
                let status = statusOfChild {
                    precondition(!publication.isValid)
                    let own = try! RunLoop.Publication(at: other)
                    publication.invalidate()
                    precondition(own.isValid && access(other, F_OK) == 0)
                    own.invalidate()
                    precondition(access(other, F_OK) != 0)
                }
                precondition(status == 0, "The child ended with status \(status).")
                precondition(publication.isValid && access(path, F_OK) == 0)
                publication.invalidate()
            }
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// For tests that fork while other threads run, or on a thread that ends.
    fileprivate static var exceptWithThreadSanitizer: Self {
        .disabled(
            if: isUnderThreadSanitizer,
            """
            This sanitizer makes the Swift runtime lock at every use of a lazily made value, so a child may find such a lock held for \
            ever. The locks of run loops are tested with it one by one, by the C tests of forks.
            """)
    }
}

/// What is left at the end of a thread that forks is the parent's, as it is in a run.
@Suite struct ForkAtTheEndTests {
    @Test(
        "R123 A child that the rest of an ending thread's jobs forks does not run the others",
        .exceptWithThreadSanitizer)
    func jobs() async {
        await #expect(processExitsWith: .success) {
            let (reader, writer) = try makePipe()
            let parent = getpid()
            let child = Handed<pid_t>()
            let thread = TestThread {
                let loop = RunLoop.current
                for number in 0..<3 {
                    Task(executorPreference: loop.taskExecutor) {
                        if number == 0 { child.put(forkProcess()) } else { writeByte(writer) }
                    }
                }
            }
            thread.join()
            precondition(getpid() == parent)
            guard let process = child.take() else { preconditionFailure("Nothing has forked.") }
            precondition(waitpid(process, nil, 0) == process)
            var buffer = [UInt8](repeating: 0, count: 16)
            precondition(read(reader, &buffer, buffer.count) == 2)
        }
    }

    @Test(
        "R123 A child that an action at a loop's end forks does not call the others",
        .exceptWithThreadSanitizer)
    func actions() async {
        await #expect(processExitsWith: .success) {
            let (reader, writer) = try makePipe()
            let parent = getpid()
            let child = Handed<pid_t>()
            let thread = TestThread {
                let loop = RunLoop.current
                _ = loop.end.notify { child.put(forkProcess()) }
                _ = loop.end.notify { writeByte(writer) }
            }
            thread.join()
            precondition(getpid() == parent)
            guard let process = child.take() else { preconditionFailure("Nothing has forked.") }
            precondition(waitpid(process, nil, 0) == process)
            var buffer = [UInt8](repeating: 0, count: 16)
            precondition(read(reader, &buffer, buffer.count) == 1)
        }
    }
}

/// Objects of a descriptor, which other threads use at the time of the fork.
@Suite struct ForkedStreamTests {
    @Test(
        "R123 A forked child finds no lock of a writer held, and gets the error that it is inherited",
        .exceptWithThreadSanitizer)
    func writer() async {
        await #expect(processExitsWith: .success) {
            let thread = try RunLoop.Thread()
            let (_, output) = try makePipe()
            let writer = try RunLoop.Writer(adopting: output, on: thread.loop)
            let (isOver, attempts) = (Count(), Count())
            let writing = TestThread {
                while isOver.value == 0 {
                    _ = try? writer.enqueue("x")
                    attempts.increment()
                }
            }
            precondition(waitUntil { attempts.value >= 100_000 })
            throwOnce()
            for _ in 0..<200 {
                let status = statusOfChild {
                    do {
                        _ = try writer.enqueue("x")
                        preconditionFailure("The child has written to an inherited writer.")
                    } catch {
                        precondition(error as? RunLoop.Error == .inheritedAcrossFork)
                    }
                    precondition(!writer.isValid)
                    writer.invalidate()
                }
                precondition(status == 0, "A child ended with status \(status).")
            }
            isOver.increment()
            writing.join()
            precondition(writer.isValid)
        }
    }
}

private func useInherited(_ loop: RunLoop, _ timer: RunLoop.Timer, _ source: RunLoop.Source) {
    precondition(!loop.isCurrent && !loop.isWaiting && loop.currentMode == nil)
    precondition(!loop.perform {})
    refuses { try loop.add(RunLoop.Timer(after: .zero) { _ in }, forMode: .default) }
    refuses { try loop.add(RunLoop.Observer(.all) { _, _ in }, forMode: .default) }
    refuses { try loop.add(RunLoop.Source {}, forMode: .default) }
    loop.stop()
    loop.wakeUp()
    source.signal(waking: loop)
    loop.remove(timer, forMode: .default)
}

/// The testing library looks at each error that is thrown, in a child too, and the first time that takes locks.
private func throwOnce() {
    func failing() throws(RunLoop.Error) { throw .invalid }
    do { try failing() } catch { precondition(error == .invalid) }
}

/// An inherited loop takes no item.
private func refuses(_ addition: () throws -> Void) {
    do {
        try addition()
        preconditionFailure("An item was added to an inherited loop.")
    } catch {
        precondition(error as? RunLoop.Error == .inheritedAcrossFork)
    }
}

/// The calling thread's loop is another one than before, is the main loop, and works.
private func useNewLoop(not inherited: RunLoop) {
    let loop = RunLoop.current
    precondition(loop !== inherited && loop != inherited)
    precondition(loop === RunLoop.current && loop === RunLoop.main && loop.isCurrent)
    use(loop)
}

/// A source, a timer and a closure of the calling thread's loop are served.
private func use(_ loop: RunLoop) {
    let served = Count()
    let source = RunLoop.Source { served.increment() }
    try! loop.add(source, forMode: "child")
    source.signal()
    try! loop.add(RunLoop.Timer(after: .milliseconds(1)) { _ in served.increment() }, forMode: "child")
    loop.perform(inModes: ["child"]) { served.increment() }
    // Without a limit: in a forked child the thread sanitizer's `epoll_pwait2` asks the kernel twice, and returns the second answer.
    precondition(loop.run(mode: "child", until: { served.value == 3 }, deadline: nil))
    source.invalidate()
}

/// Makes, finds, fills and ends loops.
private func useLoops(_ shared: RunLoop, until isOver: Count, _ attempts: Count) {
    while isOver.value == 0 {
        TestThread {
            let loop = RunLoop.current
            for _ in 0..<20 {
                let timer = RunLoop.Timer(every: .seconds(3600)) { _ in }
                precondition(RunLoop.main !== loop)
                try! loop.add(timer, forMode: .default)
                loop.remove(timer, forMode: .default)
                try! shared.add(timer, forMode: .default)
                timer.invalidate()
            }
        }.join()
        attempts.increment()
    }
}
