import Glibc
import RunLoopKit
import RunLoopKitDiagnostics
import Testing

@Suite struct LookingInsideTests {
    @Test("An item is named by the place where it was first added, or by its name")
    func names() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let timer = RunLoop.Timer(every: .seconds(100)) { _ in }
            #expect(timer.name == nil)
            let place = #line + 1
            try loop.add(timer, forMode: .default)
            #expect(timer.name == "\(#fileID):\(place)")
            try loop.add(timer, forMode: .common)
            #expect(timer.name == "\(#fileID):\(place)")
            timer.name = "heartbeat"
            #expect(timer.name == "heartbeat")

            let source = RunLoop.Source {}
            source.name = "bell"
            try loop.add(source, forMode: .default)
            #expect(source.name == "bell")
            let observer = RunLoop.Observer(.entry) { _, _ in }
            try loop.add(observer, forMode: .default, fileID: "elsewhere", line: 7)
            #expect(observer.name == "elsewhere:7")
            for text in [loop.description, loop.report()] {
                #expect(text.contains("“heartbeat”") && text.contains("“bell”"))
            }
            timer.invalidate()
            source.invalidate()
            observer.invalidate()
        }
    }

    @Test("A timeout is named by the place that started it")
    func timeoutName() async throws {
        try await withRunLoopThread {
            let place = #line + 1
            let timeout = RunLoop.Timeout(on: .current, after: .seconds(100)) {}
            #expect(RunLoop.current.report().contains("“\(#fileID):\(place)”, due in "))
            timeout.cancel()
        }
    }

    @Test("A report says what waits for a run")
    func report() async throws {
        try await withRunLoopThread {
            let source = RunLoop.Source {}
            source.name = "bell"
            try RunLoop.current.add(source, forMode: .default)
            #expect(!RunLoop.current.report().contains("sleeping"))
            source.signal()
            #expect(RunLoop.current.report().contains("“bell”, signalled  <- waits for a run in this mode"))
            #expect(RunLoop.current.report(.json).contains(#""name":"bell","isDue":true"#))
            #expect(RunLoop.current.report(.json).contains(#""state":"not running""#))
            RunLoop.current.startStatistics()
            RunLoop.current.perform {
                #expect(RunLoop.current.report(.textWithStack).contains("  now in a task "))
            }
            RunLoop.current.run(mode: .default, until: .now)
            source.invalidate()
        }
    }

    @Test("Statistics count what a loop does, from when they are started until they are stopped")
    func statistics() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            #expect(loop.statistics == nil)
            loop.startStatistics()
            let timer = RunLoop.Timer(after: .milliseconds(5)) { _ in }
            timer.name = "once"
            try loop.add(timer, forMode: .default)
            loop.perform {}
            #expect(loop.run(mode: .default, until: .now + .seconds(100)) == .finished)
            let statistics = try #require(loop.statistics)
            #expect(statistics.runs == 1)
            #expect(statistics.callouts[.timer] == 1)
            #expect(statistics.callouts[.task] == 1)
            #expect(statistics.callouts[.mainQueue] == 0)
            #expect(statistics.sleeps == statistics.sleepDurations.count)
            #expect(statistics.asleep <= statistics.running)
            #expect(statistics.running <= statistics.elapsed)
            #expect((0...1).contains(statistics.busyShare))
            #expect(statistics.timerLateness.count == 1)
            #expect(statistics.timerLateness.quantile(0.5) >= .zero)
            #expect(statistics.timerLateness.quantile(1) == statistics.timerLateness.max)
            #expect(statistics.calloutDurations.count == 2)
            #expect(statistics.longestCallout != nil)
            #expect(statistics.postToRun.count == 1)
            loop.stopStatistics()
            loop.perform {}
            loop.run(mode: .default, until: .now)
            #expect(loop.statistics?.callouts[.task] == 1)
            loop.startStatistics()
            #expect(loop.statistics?.runs == 0)
        }
    }

    @Test("A recording is a trace with the names of items")
    func trace() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            #expect(RunLoop.trace(of: []).isEmpty)
            #expect(!RunLoop.trace(of: [loop]).contains("\"ph\""))
            loop.startRecording(capacity: 100)
            let timer = RunLoop.Timer(after: .zero) { _ in }
            timer.name = "blink"
            try loop.add(timer, forMode: .default)
            loop.run(mode: .default, until: .now)
            loop.stopRecording()
            loop.perform {}
            loop.run(mode: .default, until: .now)
            let trace = RunLoop.trace(of: [loop])
            #expect(trace.contains(#""name":"timer blink""#))
            #expect(trace.components(of: #""ph":"B""#) == trace.components(of: #""ph":"E""#))
            #expect(!trace.contains("task"))
        }
    }

    @Test("A hang is reported once while it lasts, and once when it is over, with the name of the item")
    func watchdog() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let seen = Guarded<[RunLoop.Diagnosis]>([])
            try loop.startWatchdog(hangLimit: .milliseconds(300)) { diagnosis in seen.withLock { $0.append(diagnosis) }
            }
            let timer = RunLoop.Timer(after: .zero) { _ in
                while seen.withLock({ $0.isEmpty }) { usleep(1000) }
            }
            timer.name = "sleeper"
            try loop.add(timer, forMode: .default)
            loop.run(mode: .default, until: .now)
            while seen.withLock({ $0.count }) < 2 { usleep(1000) }
            loop.stopWatchdog()
            let (hang, end) = seen.withLock { ($0[0], $0[1]) }
            #expect(hang.kind == .hang && end.kind == .hangEnded)
            #expect(hang.name == "sleeper" && hang.callout == .timer)
            #expect(hang.duration >= .milliseconds(300) && end.duration >= hang.duration)
            #expect(hang.iterations == 0 && hang.description.contains("sleeper"))
        }
    }

    @Test("A spin is reported with the item that is called most, beside a timer, and its share")
    func spin() async throws {
        try await withRunLoopThread {
            let loop = RunLoop.current
            let seen = Guarded<[RunLoop.Diagnosis]>([])
            try loop.startWatchdog(hangLimit: nil, spinLimit: 1000) { spin in seen.withLock { $0.append(spin) } }
            loop.startStatistics()
            let again = Guarded<RunLoop.Source?>(nil)
            let source = RunLoop.Source {
                again.withLock { $0?.signal() }
                if seen.withLock({ !$0.isEmpty }) { RunLoop.current.stop() }
            }
            again.withLock { $0 = source }
            source.name = "again"
            let timer = RunLoop.Timer(every: .microseconds(100)) { _ in }
            try loop.add(source, forMode: .default)
            try loop.add(timer, forMode: .default)
            source.signal()
            loop.run()
            loop.stopWatchdog()
            timer.invalidate()
            source.invalidate()
            again.withLock { $0 = nil }
            let spin = seen.withLock { $0[0] }
            #expect(spin.kind == .spin && spin.name == "again" && spin.callout == .signalledSource)
            #expect(spin.iterations == 1000 && spin.share > 0.5 && spin.share <= 1 && spin.duration > .zero)
            #expect(loop.statistics?.sleeps == 0)
        }
    }

    @Test("A publication answers who connects with reports, one at a time, until it is invalid or released")
    func publication() async throws {
        let path = "/tmp/runloop-\(getpid())-publication"
        try await withRunLoopThread {
            try addLighthouse()
            var publication: RunLoop.Publication? = try RunLoop.Publication(at: path)
            #expect(publication?.isValid == true)
            #expect(answer(at: path)?.contains(#""name":"lighthouse""#) == true)
            #expect(throws: RunLoop.Error.inUse) { try RunLoop.Publication() }
            publication?.invalidate()
            #expect(publication?.isValid == false && answer(at: path) == nil)
            let other = try RunLoop.Publication(at: path)
            // It is not this one's.
            publication?.invalidate()
            publication = nil
            #expect(other.isValid && answer(at: path)?.hasPrefix("[{") == true)
        }
        #expect(answer(at: path) == nil && access(path, F_OK) != 0)
        #expect(throws: RunLoop.Error.invalid) { try RunLoop.Publication(at: "") }
        #expect {
            try RunLoop.Publication(at: "/nowhere/at/all")
        } throws: {
            "\($0)" == "/nowhere/at/all: No such file or directory (error 2)."
        }
        #expect(throws: RunLoop.Error.addressInUse) { try RunLoop.Publication(at: "/etc/passwd") }
    }

    @Test("A signal has the reports written, unless the program handles it")
    func reportOnSignal() async {
        await #expect(processExitsWith: .success) {
            try addLighthouse()
            do {
                signal(SIGUSR2) { _ in }
                try RunLoop.writeReports(onSignal: SIGUSR2)
                preconditionFailure("It is in use.")
            } catch let error as RunLoop.Error where error == .inUse {}
            var ends: [CInt] = [0, 0]
            precondition(pipe(&ends) == 0 && dup2(ends[1], STDERR_FILENO) >= 0)
            try RunLoop.writeReports(onSignal: SIGUSR1)
            kill(getpid(), SIGUSR1)
            var text = ""
            var buffer = [UInt8](repeating: 0, count: 4096)
            while !text.contains("“lighthouse”") {
                let count = read(ends[0], &buffer, buffer.count)
                precondition(count > 0)
                text += String(decoding: buffer.prefix(count), as: UTF8.self)
            }
        }
    }

    @Test("Statistics are started and stopped on the loop's own thread")
    func wrongThread() async {
        await #expect(processExitsWith: .failure) { RunLoop.main.startStatistics() }
        await #expect(processExitsWith: .failure) { RunLoop.main.stopStatistics() }
    }
}

/// What the socket at a path sends; `nil` if there is none.
private func answer(at path: String) -> String? {
    let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
    }
    guard result == 0 else { return nil }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0 && errno == EINTR { continue }
        if count <= 0 { break }
        bytes += buffer.prefix(count)
    }
    return String(decoding: bytes, as: UTF8.self)
}

/// To this thread's loop.
private func addLighthouse() throws {
    let source = RunLoop.Source {}
    source.name = "lighthouse"
    try RunLoop.current.add(source, forMode: .default)
}

extension String {
    /// How often the part occurs.
    fileprivate func components(of part: String) -> Int { ranges(of: part).count }
}
