import Dispatch
import Glibc
import RunLoopKit
import Testing

@Suite struct ThreadTests {
    @Test("A thread offers its loop when the loop runs")
    func loopRuns() async throws {
        try await withRunLoopThread {
            for _ in 0..<50 {
                let thread = try RunLoop.Thread()
                #expect(thread.loop.currentMode == .default)
                #expect(!thread.loop.isCurrent)
            }
        }
    }

    @Test("A thread has its name, at most 15 bytes of whole characters, and its stack")
    func nameAndStack() async throws {
        try await withRunLoopThread {
            let named = try RunLoop.Thread(name: "fourteen bytesé", stackSize: 8 << 20)
            #expect(named.performAndWait { nameOfThread() } == "fourteen bytes")
            #expect(named.performAndWait { useStack(6 << 20) } == 6 << 20)
            let tiny = try RunLoop.Thread(stackSize: 1)
            #expect(tiny.performAndWait { 1 } == 1)
        }
    }

    @Test("R102 A thread calls its performed closures, in order, on itself")
    func performsInOrder() async throws {
        try await withRunLoopThread {
            let thread = try RunLoop.Thread()
            let trace = Trace()
            let loop = thread.loop
            for number in 0..<100 {
                thread.perform { trace.note("\(number) \(loop.isCurrent)") }
            }
            thread.performAndWait {}
            #expect(trace.all == (0..<100).map { "\($0) true" })
        }
    }

    @Test("A waited call returns its value, and throws its error, typed or not")
    func valuesAndErrors() async throws {
        try await withRunLoopThread {
            let thread = try RunLoop.Thread()
            #expect(thread.performAndWait { 42 } == 42)
            do throws(RunLoop.Error) {
                try thread.performAndWait { () throws(RunLoop.Error) in throw .badDescriptor }
                Issue.record("Nothing was thrown.")
            } catch {
                #expect(error == .badDescriptor)
            }
            #expect(throws: Refusal.self) { try thread.performAndWait { throw Refusal() } }
        }
    }

    @Test("A waited call on the thread itself is made at once")
    func reentrant() async throws {
        try await withRunLoopThread {
            let thread = try RunLoop.Thread()
            let inner = thread.performAndWait { [thread] in
                thread.performAndWait { thread.loop.isCurrent }
            }
            #expect(inner)
        }
    }

    @Test("A waited call may use the stack of its caller")
    func usesCallersState() async throws {
        try await withRunLoopThread {
            let thread = try RunLoop.Thread()
            var list = [1, 2]
            list = thread.performAndWait { [list] in list + [3] }
            #expect(list == [1, 2, 3])
        }
    }

    @Test("A stop that comes at once, and twice, is not lost")
    func earlyStop() async throws {
        try await withRunLoopThread {
            for _ in 0..<100 {
                let thread = try RunLoop.Thread()
                thread.stop()
                thread.stop()
                thread.join()
                #expect(!thread.perform {})
            }
        }
    }

    @Test("Stops of the loop do not end the thread")
    func stopsOfLoop() async throws {
        try await withRunLoopThread {
            let thread = try RunLoop.Thread()
            thread.loop.stop()
            thread.loop.stop(remembered: true)
            #expect(thread.performAndWait { 1 } == 1)
            thread.loop.stop()
            #expect(thread.performAndWait { 2 } == 2)
        }
    }

    @Test("A stop ends the runs that are nested in common modes, and the thread")
    func stopsNestedRuns() async throws {
        try await withRunLoopThread {
            let thread = try RunLoop.Thread()
            let inside = Handed<Bool>()
            thread.perform {
                let loop = RunLoop.current
                loop.perform {
                    loop.perform(inModes: ["private"]) { inside.put(true) }
                    try? loop.add(RunLoop.Source {}, forMode: "private")
                    loop.run(mode: "private")
                }
                loop.run()
            }
            #expect(inside.take() == true)
            thread.stop()
            thread.join()
        }
    }

    @Test("Closures that were accepted before the stop are called, even if the thread ends first")
    func acceptedIsCalled() async throws {
        try await withRunLoopThread {
            for _ in 0..<50 {
                let thread = try RunLoop.Thread()
                let ran = Count()
                let gate = DispatchSemaphore(value: 0)
                thread.perform { gate.wait() }
                for _ in 0..<10 { thread.perform(inModes: ["never run"]) { ran.increment() } }
                for _ in 0..<10 { thread.perform { ran.increment() } }
                thread.stop()
                gate.signal()
                thread.join()
                #expect(ran.value == 20)
            }
        }
    }

    @Test("A waited call that the thread has accepted is made while the thread ends")
    func waitedCallAtEnd() async throws {
        try await withRunLoopThread {
            let thread = try RunLoop.Thread()
            let gate = DispatchSemaphore(value: 0)
            let mode = RunLoop.Mode("never run")
            let answer = Handed<Int>()
            let caller = TestThread { answer.put(thread.performAndWait(inModes: [mode]) { 7 }) }
            // The call makes the mode, which shows that the call was accepted, or is about to be.
            #expect(waitUntil { thread.loop.allModes.contains(mode) })
            thread.perform { gate.wait() }
            usleep(20_000)
            thread.stop()
            gate.signal()
            #expect(answer.take() == 7)
            caller.join()
            thread.join()
        }
    }

    @Test("Releasing the last reference stops the thread, on any thread")
    func releasingStops() async throws {
        try await withRunLoopThread {
            let ended = Count()
            var thread: RunLoop.Thread? = try RunLoop.Thread()
            let token = Token(ended)
            thread?.perform(inModes: ["never run"]) { token.touch() }
            weak let loop = thread?.loop
            thread = nil
            #expect(waitUntil { loop == nil })

            // Here the last reference is released on the thread itself.
            thread = try RunLoop.Thread()
            weak let other = thread?.loop
            let gate = DispatchSemaphore(value: 0)
            thread?.perform { [thread] in
                gate.wait()
                withExtendedLifetime(thread) {}
            }
            thread = nil
            gate.signal()
            #expect(waitUntil { other == nil })
        }
    }

    @Test("Several threads may wait for the end of a thread")
    func severalJoin() async throws {
        try await withRunLoopThread {
            let thread = try RunLoop.Thread()
            let joined = Count()
            let waiters = (0..<4).map { _ in
                TestThread {
                    thread.join()
                    joined.increment()
                }
            }
            #expect(joined.value == 0)
            thread.stop()
            for waiter in waiters { waiter.join() }
            #expect(joined.value == 4)
        }
    }

    @Test("Tasks that wait for the ends of threads block no thread of the pool")
    func tasksJoin() async throws {
        let threads = try await withRunLoopThread { try (0..<64).map { _ in try RunLoop.Thread() } }
        let freed = threads.map { _ in Count() }
        for (thread, count) in zip(threads, freed) {
            let token = Token(count)
            try thread.loop.add(RunLoop.Timer(every: .seconds(1000)) { _ in token.touch() }, forMode: "never run")
            thread.loop.perform(inModes: ["never run"]) { token.touch() }
        }
        let joined = Count()
        await withTaskGroup { tasks in
            for (thread, count) in zip(threads, freed) {
                tasks.addTask {
                    await thread.join()
                    #expect(count.value == 1)
                    joined.increment()
                }
            }
            // This task comes after the others in the pool: if they blocked it, the threads would never be stopped.
            tasks.addTask {
                #expect(joined.value == 0)
                for thread in threads { thread.stop() }
            }
        }
        #expect(joined.value == 64)
        for thread in threads { #expect(!thread.perform {}) }
    }

    @Test("A task may wait for a thread's end late, twice, and while it is cancelled")
    func tasksJoinLate() async throws {
        let thread = try await withRunLoopThread { try RunLoop.Thread() }
        let ran = Count()
        let waiter = Task {
            await thread.join()
            return ran.value
        }
        waiter.cancel()
        thread.perform(inModes: ["never run"]) { ran.increment() }
        thread.stop()
        #expect(await waiter.value == 1)
        await thread.join()
        try await withRunLoopThread { thread.join() }
        await thread.join()
    }

    @Test("A thread inherits the mask of blocked signals, and the threads of tasks block signals")
    func signalMask() async throws {
        try await withRunLoopThread {
            var some = sigset_t()
            sigemptyset(&some)
            sigaddset(&some, SIGUSR2)
            pthread_sigmask(SIG_SETMASK, &some, nil)
            let thread = try RunLoop.Thread()
            #expect(thread.performAndWait { isBlocked(SIGUSR2) && !isBlocked(SIGTERM) })
        }
        let thread = try makeThreadInTask()
        #expect(await thread.performAndWait { isBlocked(SIGTERM) })
        await thread.performAndWait {
            var none = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, nil)
        }
        #expect(await thread.performAndWait { !isBlocked(SIGTERM) })
    }

    @Test("Threads are started, used and stopped by many threads at once")
    func manyAtOnce() async throws {
        try await withRunLoopThread {
            let ran = Count()
            let workers = (0..<4).map { _ in
                TestThread {
                    for _ in 0..<25 {
                        guard let thread = try? RunLoop.Thread() else { return }
                        thread.perform { ran.increment() }
                        thread.performAndWait { ran.increment() }
                        thread.perform { ran.increment() }
                    }
                }
            }
            for worker in workers { worker.join() }
            #expect(waitUntil { ran.value == 300 })
        }
    }
}

private struct Refusal: Error {}

/// Any thread of the pool.
private func makeThreadInTask() throws -> RunLoop.Thread { try RunLoop.Thread() }

private func isBlocked(_ signal: CInt) -> Bool {
    var blocked = sigset_t()
    pthread_sigmask(SIG_SETMASK, nil, &blocked)
    return sigismember(&blocked, signal) == 1
}

private func nameOfThread() -> String {
    let file = open("/proc/thread-self/comm", O_RDONLY)
    defer { close(file) }
    var name = [UInt8](repeating: 0, count: 16)
    let count = read(file, &name, name.count)
    return String(decoding: name.prefix(max(0, count - 1)), as: UTF8.self)
}

/// Writes to that many bytes of stack, and returns their number.
private func useStack(_ size: Int) -> Int {
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 16) { page in
        page[0] = 1
        return size <= 4096 ? size : 4096 + useStack(size - 4096)
    }
}
