import FaultDriver
import Glibc
import RunLoopKit
import RunLoopKitLinux

func aTimer() -> outcome {
    attempt {
        let count = Count()
        let timer = RunLoop.Timer(every: .milliseconds(1)) { _ in count.add() }
        defer { timer.invalidate() }
        try RunLoop.current.add(timer, forMode: .default)
        run { count.value >= 2 }
        return count.value >= 2
    }
}

func aDescriptor() -> outcome {
    let (near, far) = makePair()
    defer { end(near, far) }
    return attempt {
        let count = Count()
        let source = try RunLoop.Source(fileDescriptor: near) { readiness in
            if readiness.contains(.read) { count.add() }
        }
        defer { source.invalidate() }
        try RunLoop.current.add(source, forMode: .default)
        try source.watch(for: [.read, .write])
        own { must(send(far, "x", 1, 0) == 1) }
        run { count.value > 0 }
        return count.value > 0
    }
}

func aSignalledSourceAndAnObserver() -> outcome {
    attempt {
        let (count, seen) = (Count(), Count())
        let source = RunLoop.Source { count.add() }
        let observer = RunLoop.Observer(.beforeWaiting) { _, _ in seen.add() }
        defer {
            source.invalidate()
            observer.invalidate()
        }
        try RunLoop.current.add(source, forMode: .default)
        try RunLoop.current.add(observer, forMode: .default)
        source.signal()
        run { count.value == 1 }
        RunLoop.current.run(mode: .default, for: .milliseconds(1))
        return count.value == 1 && seen.value > 0
    }
}

func performedClosuresAndANestedRun() -> outcome {
    attempt {
        let count = Count()
        let loop = RunLoop.current
        let isTaken = loop.perform {
            count.add()
            RunLoop.current.perform(inModes: ["nested"]) { count.add() }
            run("nested") { count.value == 2 }
            _ = RunLoop.current.perform(after: .milliseconds(1)) { count.add() }
        }
        run { count.value == 3 }
        return isTaken && count.value == 3
    }
}

func aHostedRun() -> outcome {
    attempt {
        let count = Count()
        let timer = RunLoop.Timer(after: .milliseconds(1)) { _ in count.add() }
        defer { timer.invalidate() }
        try RunLoop.current.add(timer, forMode: .default)
        let hosted = try RunLoop.HostedRun()
        defer { hosted.end() }
        let end = RunLoop.Instant.now.advanced(by: patience)
        while count.value == 0 && RunLoop.Instant.now < end {
            var waited = pollfd(fd: hosted.fileDescriptor, events: Int16(POLLIN), revents: 0)
            poll(&waited, 1, 20)
            _ = hosted.iterate()
        }
        return count.value == 1
    }
}

func aThread() -> outcome {
    attempt {
        let count = Count()
        let thread = try RunLoop.Thread(name: "faults")
        thread.perform { count.add() }
        let value = thread.performAndWait { count.value }
        thread.stop()
        thread.join()
        return value == 1
    }
}

func aSignal() -> outcome {
    attempt {
        let count = Count()
        let source = try RunLoop.Source(signal: SIGUSR1) { _ in count.add() }
        defer { source.invalidate() }
        try RunLoop.current.add(source, forMode: .default)
        own { must(raise(SIGUSR1) == 0) }
        run { count.value == 1 }
        return count.value == 1
    }
}

func changesOfAFile() -> outcome {
    let path = "/tmp/\(makeName())"
    own { must(close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)) == 0) }
    defer { unlink(path) }
    return attempt {
        let (changes, failures) = (Count(), Count())
        let source = try RunLoop.Source(watching: path) {
            for change in $0 {
                if case .failed = change.kind { failures.add() } else { changes.add() }
            }
        }
        defer { source.invalidate() }
        try RunLoop.current.add(source, forMode: .default)
        own { must(truncate(path, 7) == 0) }
        run { changes.value + failures.value > 0 }
        if changes.value == 0 && failures.value > 0 { throw RunLoop.Error(errorNumber: EIO) }
        return changes.value > 0
    }
}

func anAlarm() -> outcome {
    attempt {
        let count = Count()
        let date = RunLoop.WallClock.Instant.now.advanced(by: .milliseconds(2))
        let alarm = try RunLoop.Alarm(at: date) { _, _ in count.add() }
        defer { alarm.source.invalidate() }
        try RunLoop.current.add(alarm.source, forMode: .default)
        run { count.value == 1 }
        return count.value == 1
    }
}

func aCounter() -> outcome {
    attempt {
        let sum = Count()
        let counter = try RunLoop.Counter(on: .current) { sum.add(Int($0)) }
        defer { counter.invalidate() }
        try counter.add(3)
        try counter.add(4)
        run { sum.value == 7 }
        return sum.value == 7
    }
}

func aShutdown() -> outcome {
    attempt {
        let count = Count()
        let shutdown = try RunLoop.Shutdown(signals: [SIGUSR2], on: .current)
        defer { shutdown.invalidate() }
        shutdown.addWork { count.add() }
        RunLoop.current.run(mode: .default, for: .milliseconds(1))
        return count.value == 0
    }
}
