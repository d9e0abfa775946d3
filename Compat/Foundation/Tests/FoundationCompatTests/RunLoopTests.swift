import RunLoopKit
import RunLoopKitFoundationCompat
import RunLoopKitTesting
import Testing

import class RunLoopKitFoundationCompat.RunLoop

@Suite struct RunLoopTests {
    @Test("R124 A thread has one loop, the same object each time, and no mode outside runs")
    func identity() async throws {
        try await onThread {
            let loop = RunLoop.current
            #expect(loop === RunLoop.current)
            #expect(loop == RunLoop.current)
            #expect(loop !== RunLoop.main)
            #expect(RunLoop.main === RunLoop.main)
            #expect(loop.currentMode == nil)
            keep(.init("mode"))
            loop.perform(inModes: [.init("mode")]) { #expect(RunLoop.current.currentMode == .init("mode")) }
            #expect(loop.run(mode: .init("mode"), before: Date()))
            #expect(loop.currentMode == nil)
            #expect(!loop.description.isEmpty)
        }
    }

    @Test("R124 A loop's object, its timers, ports and blocks are freed when its thread has ended")
    func freedAfterThread() async throws {
        let trace = Trace()
        try await onThread {
            let worker = Thread {
                let loop = RunLoop.current
                let token = Token("timer", trace)
                let timer = Timer(timeInterval: 1000, repeats: true) { _ in token.touch() }
                loop.add(timer, forMode: .common)
                loop.add(Port(), forMode: .default)
                let unused = Token("block", trace)
                loop.perform { unused.touch() }
                let note = Token("notification", trace)
                NotificationQueue.default.enqueue(
                    Notification(name: .init("never"), object: note), postingStyle: .whenIdle)
            }
            worker.start()
            #expect(wait { trace.all.count == 3 })
            #expect(trace.all.sorted() == ["block freed", "notification freed", "timer freed"])
        }
    }

    @Test("R124 R141 The default queue of notifications is freed with its thread")
    func queueFreedAfterThread() async throws {
        try await onThread {
            nonisolated(unsafe) weak var queue: NotificationQueue?
            let worker = Thread {
                queue = NotificationQueue.default
                NotificationQueue.default.enqueue(Notification(name: .init("never")), postingStyle: .asap)
            }
            worker.start()
            #expect(wait { worker.isFinished && queue == nil })
        }
    }

    @Test("R125 A run returns whether there was anything to run, and nothing else")
    func runSaysWhether() async throws {
        try await onThread {
            let loop = RunLoop.current
            let far = Date.distantFuture
            #expect(!loop.run(mode: .default, before: far))
            #expect(!loop.run(mode: .init("unknown"), before: far))
            keep(.common)
            #expect(!loop.run(mode: .common, before: far))
            #expect(!RunLoop.main.run(mode: .default, before: far))
            #expect(loop.run(mode: .default, before: .distantPast))
            #expect(loop.run(mode: .default, before: Date() + 0.001))
            loop.perform { RunLoop.current.native.stop() }
            #expect(loop.run(mode: .default, before: far))
            loop.perform(inModes: [.init("only a block")]) {}
            #expect(loop.run(mode: .init("only a block"), before: far))
            #expect(!loop.run(mode: .init("only a block"), before: far))
        }
    }

    @Test("R126 A run ends after a port, not after a timer or a block")
    func whatEndsARun() async throws {
        try await onThread {
            try withPipe { reader, writer in
                let trace = Trace()
                let loop = RunLoop.current
                let port = try FileDescriptorPort(fileDescriptor: reader) { port, _ in
                    readByte(port.fileDescriptor)
                    trace.note("port")
                }
                loop.add(port, forMode: .default)
                let timer = Timer(timeInterval: 0.001, repeats: false) { _ in
                    trace.note("timer")
                    RunLoop.current.perform {
                        trace.note("block")
                        writeByte(writer)
                    }
                }
                loop.add(timer, forMode: .default)
                #expect(loop.run(mode: .default, before: .distantFuture))
                #expect(trace.all == ["timer", "block", "port"])
                port.invalidate()
            }
        }
    }

    @Test("R127 A stop ends a run of run(until:), not the method; a limit ends it, and so does an empty mode")
    func runUntil() async throws {
        try await onThread {
            let loop = RunLoop.current
            let trace = Trace()
            let timer = Timer.scheduledTimer(withTimeInterval: 0.001, repeats: true) { timer in
                trace.note("tick")
                RunLoop.current.native.stop()
                if trace.all.count == 3 { timer.invalidate() }
            }
            loop.run(until: Date() + generous)
            #expect(trace.all == ["tick", "tick", "tick"])
            #expect(!timer.isValid)
            loop.run(until: .distantFuture)
            keep(.default)
            let limit = Date() + 0.01
            loop.run(until: limit)
            #expect(Date() >= limit)
            loop.perform { trace.note("block") }
            loop.run(until: .distantPast)
            #expect(trace.all.last == "block")
            let elsewhere = Date() + generous
            RunLoop.main.run(until: elsewhere)
            #expect(Date() < elsewhere)
        }
    }

    @Test("R128 run() continues after stops until nothing can happen any more")
    func runForever() async throws {
        try await onThread {
            let trace = Trace()
            RunLoop.current.run()
            let port = Port()
            RunLoop.current.add(port, forMode: .default)
            let ports = Unguarded(object: port)
            RunLoop.current.perform {
                RunLoop.current.native.stop()
                trace.note("stopped")
                RunLoop.current.perform {
                    trace.note("goes on")
                    ports.object.invalidate()
                }
            }
            RunLoop.current.run()
            #expect(trace.all == ["stopped", "goes on"])
            RunLoop.main.run()
        }
    }

    @Test("R129 Accepting input is one run, by a mode or its name")
    func acceptInput() async throws {
        try await onThread {
            let trace = Trace()
            let loop = RunLoop.current
            loop.acceptInput(forMode: RunLoop.Mode("mode"), before: .distantFuture)
            loop.perform(inModes: [.init("mode")]) { trace.note("one") }
            loop.acceptInput(forMode: "mode", before: .distantPast)
            loop.perform(inModes: [.init("mode")]) { trace.note("two") }
            loop.acceptInput(forMode: RunLoop.Mode("mode"), before: .distantPast)
            RunLoop.main.acceptInput(forMode: .default, before: .distantFuture)
            #expect(trace.all == ["one", "two"])
        }
    }

    @Test("R130 The limit date is that of the next timer, after an iteration that does not wait")
    func limitDate() async throws {
        try await onThread {
            let loop = RunLoop.current
            let trace = Trace()
            #expect(loop.limitDate(forMode: .default) == nil)
            #expect(RunLoop.main.limitDate(forMode: .default) == nil)
            #expect(loop.limitDate(forMode: .common) == nil)
            keep(.default)
            #expect(loop.limitDate(forMode: .default) == .distantFuture)
            let timer = Timer(fire: Date() + 500, interval: 0, repeats: false) { _ in }
            let due = Timer(fire: Date(), interval: 0, repeats: false) { _ in trace.note("due") }
            let parked = Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }
            for timer in [parked, timer, due] { loop.add(timer, forMode: .default) }
            let date = try #require(loop.limitDate(forMode: .default))
            #expect(abs(date.timeIntervalSince(timer.fireDate)) < 1)
            #expect(trace.all == ["due"])
            loop.perform(inModes: [.init("once")]) {}
            #expect(loop.limitDate(forMode: .init("once")) == nil)
        }
    }

    @Test(
        "R131 A block from another thread wakes the loop; for no mode, or after its end, it is freed without a call"
    )
    func performs() async throws {
        let trace = Trace()
        try await onThread {
            let loop = RunLoop.current
            keep(.default)
            let limit = Date() + generous
            let native = loop.native
            Thread.detachNewThread {
                while !native.isWaiting { Thread.sleep(forTimeInterval: 0.001) }
                native.perform { trace.note("native") }
                native.stop(remembered: true)
            }
            #expect(loop.run(mode: .default, before: limit))
            let sent = Unguarded(object: loop)
            Thread.detachNewThread {
                while !native.isWaiting { Thread.sleep(forTimeInterval: 0.001) }
                sent.object.perform {
                    trace.note("block")
                    native.stop()
                }
            }
            #expect(loop.run(mode: .default, before: limit))
            #expect(Date() < limit)
            #expect(trace.all == ["native", "block"])
            let token = Token("no mode", trace)
            loop.perform(inModes: []) { token.touch() }
            #expect(loop.run(mode: .default, before: .distantPast))
        }
        #expect(wait { trace.all.count == 3 })
        #expect(trace.all == ["native", "block", "no mode freed"])
        let ended = try await onThread { Unguarded(object: RunLoop.current) }
        #expect(wait { !ended.object.native.perform {} })
        let late = Trace()
        ended.object.perform { [token = Token("late", late)] in token.touch() }
        #expect(late.all == ["late freed"])
        ended.object.add(
            Timer(timeInterval: 1, repeats: true) { [token = Token("timer", late)] _ in token.touch() },
            forMode: .default)
        #expect(late.all == ["late freed", "timer freed"])
        try await onThread {
            let timer = Timer(timeInterval: 0, repeats: false) { _ in late.note("added elsewhere") }
            ended.object.add(timer, forMode: .default)
            RunLoop.current.add(timer, forMode: .default)
            #expect(run { !timer.isValid })
            #expect(late.all.last == "added elsewhere")
        }
    }

    @Test("R134 Modes of equal names are equal; the default and the common modes have their known names")
    func modes() {
        #expect(RunLoop.Mode.default.rawValue == "kCFRunLoopDefaultMode")
        #expect(RunLoop.Mode.common.rawValue == "kCFRunLoopCommonModes")
        #expect(RunLoop.Mode(rawValue: "kCFRunLoopCommonModes") == .common)
        #expect(RunLoop.Mode("kCFRunLoopDefaultMode") == .default)
        #expect(RunLoop.Mode("a") != RunLoop.Mode("b"))
        #expect(RunLoop.Mode.eventTracking.rawValue == "NSEventTrackingRunLoopMode")
        #expect(RunLoop.Mode.modalPanel.rawValue == "NSModalPanelRunLoopMode")
        #expect(RunLoop.Mode.tracking.rawValue == "UITrackingRunLoopMode")
    }

    @Test("A thread has the properties of its object, and its own dictionary")
    func threads() async throws {
        try await onThread {
            let trace = Trace()
            let thread = Thread {
                trace.note("\(Thread.current.name ?? "") \(Thread.isMainThread) \(Thread.current.isExecuting)")
                Thread.current.threadDictionary["key"] = 5
                trace.note("\(Thread.current.threadDictionary["key"] ?? 0)")
            }
            thread.name = "a thread"
            thread.stackSize = 1 << 20
            thread.qualityOfService = .utility
            #expect(thread.qualityOfService == .utility && Thread.current.qualityOfService == .default)
            #expect(!thread.isExecuting && !thread.isFinished && !thread.isCancelled)
            thread.cancel()
            thread.start()
            #expect(wait { thread.isFinished })
            #expect(!thread.isExecuting && thread.isCancelled)
            #expect(trace.all == ["a thread false true", "5"])
            #expect(Thread.current === Thread.current)
            #expect(Thread.current !== Thread.mainThread && Thread.mainThread.isMainThread)
            let end = Date() + 0.003
            Thread.sleep(until: end)
            #expect(Date() >= end)
            Thread.sleep(forTimeInterval: -1)
        }
    }

    @Test("A thread with virtual time sleeps as long as it asked for")
    func sleepInVirtualTime() async throws {
        await withVirtualTime { _, time in
            let start = time.now
            Thread.sleep(forTimeInterval: 0.003)
            #expect(time.now == start)
        }
    }

    @Test("The initial thread is named as the program, and a thread that names itself is renamed")
    func threadNames() async throws {
        #expect(Thread.mainThread.name == systemName("/proc/self/comm"))
        try await onThread {
            Thread.current.name = "sixteen letters!"
            #expect(Thread.current.name == "sixteen letters!")
            #expect(systemName("/proc/thread-self/comm") == "sixteen letters")
        }
    }

    private func systemName(_ path: String) -> String? {
        let line = try? Data(contentsOf: URL(filePath: path))
        return line.map { String(decoding: $0.dropLast(), as: UTF8.self) }
    }

    @Test("The CFRunLoop functions run, stop and ask the loop of RunLoop")
    func cfRunLoop() async throws {
        try await onThread {
            let loop = CFRunLoopGetCurrent()
            #expect(loop == RunLoop.current.getCFRunLoop() && CFRunLoopGetMain() == RunLoop.main.getCFRunLoop())
            #expect(CFRunLoopCopyCurrentMode(loop) == nil && !CFRunLoopIsWaiting(loop))
            #expect(CFRunLoopRunInMode(.defaultMode, 1e9, false) == .finished)
            RunLoop.current.add(Port(), forMode: .default)
            #expect(CFRunLoopRunInMode(.defaultMode, 0, false) == .timedOut)
            let trace = Trace()
            CFRunLoopAddCommonMode(loop, CFRunLoopMode("another"))
            CFRunLoopPerformBlock(loop, kCFRunLoopCommonModes) {
                trace.note(CFRunLoopCopyCurrentMode(loop)?.rawValue ?? "")
                CFRunLoopStop(loop)
            }
            #expect(CFRunLoopRunInMode(CFRunLoopMode("another"), .infinity, true) == .stopped)
            #expect(trace.all == ["another"])
            CFRunLoopPerformBlock(loop, CFRunLoopMode.defaultMode.rawValue) { CFRunLoopStop(loop) }
            CFRunLoopRun()
            RunLoop.current.perform { RunLoop.current._stop() }
            #expect(RunLoop.current.run(mode: .default, before: .distantFuture))
            let thread = Thread {
                while !CFRunLoopIsWaiting(loop) { Thread.sleep(forTimeInterval: 0.0005) }
                CFRunLoopWakeUp(loop)
                CFRunLoopStop(loop)
            }
            thread.start()
            #expect(CFRunLoopRunInMode(kCFRunLoopDefaultMode, .infinity, true) == .stopped)
        }
    }
}
