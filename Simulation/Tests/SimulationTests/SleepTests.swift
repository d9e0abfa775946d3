import Dispatch
import Glibc
import RunLoopKit
import RunLoopKitSimulation
import Testing

import struct Foundation.Date
import class Foundation.NSCondition
import class Foundation.Thread

/// Of virtual time: nobody would wait for that.
private let hour = Duration.seconds(3600)
private let seconds = 3600

/// A wait of libc's, of Foundation's or of Dispatch's for something that never comes.
private struct LimitedWait: Sendable, CustomStringConvertible {
    let description: String
    let wait: @Sendable () -> Void

    static let sleeps = [
        LimitedWait(description: "nanosleep") {
            var time = timespec(tv_sec: seconds, tv_nsec: 0)
            _ = unsafe nanosleep(&time, nil)
        },
        LimitedWait(description: "clock_nanosleep") {
            var time = timespec(tv_sec: seconds, tv_nsec: 0)
            _ = unsafe clock_nanosleep(CLOCK_REALTIME, 0, &time, nil)
        },
        LimitedWait(description: "clock_nanosleep, until an instant") {
            var time = after(hour: CLOCK_REALTIME)
            _ = unsafe clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &time, nil)
        },
        LimitedWait(description: "usleep") { usleep(UInt32(seconds) * 1_000_000) },
        LimitedWait(description: "sleep") { sleep(UInt32(seconds)) },
        LimitedWait(description: "Thread.sleep") { Thread.sleep(forTimeInterval: Double(seconds)) },
    ]

    static let limits = [
        LimitedWait(description: "poll") { _ = poll(nil, 0, Int32(seconds) * 1000) },
        LimitedWait(description: "select") {
            var time = timeval(tv_sec: seconds, tv_usec: 0)
            _ = unsafe select(0, nil, nil, nil, &time)
        },
        LimitedWait(description: "pselect") {
            var time = timespec(tv_sec: seconds, tv_nsec: 0)
            _ = unsafe pselect(0, nil, nil, nil, &time, nil)
        },
        LimitedWait(description: "sem_timedwait") {
            let waits = Waits()
            waits.take(until: after(hour: CLOCK_REALTIME))
        },
        LimitedWait(description: "pthread_cond_timedwait") {
            let waits = Waits()
            waits.lock()
            waits.wait(until: after(hour: CLOCK_REALTIME))
            waits.unlock()
        },
        LimitedWait(description: "NSCondition.wait(until:)") {
            let condition = NSCondition()
            condition.lock()
            while condition.wait(until: Date(timeIntervalSinceNow: Double(seconds))) {}
            condition.unlock()
        },
        LimitedWait(description: "DispatchSemaphore.wait(timeout:)") {
            _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .seconds(seconds))
        },
        LimitedWait(description: "DispatchGroup.wait(timeout:)") {
            let group = DispatchGroup()
            group.enter()
            _ = group.wait(timeout: .now() + .seconds(seconds))
            group.leave()
        },
    ]
}

private func after(hour clock: clockid_t) -> timespec {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    time.tv_sec += seconds
    return time
}

@Suite struct SleepTests {
    @Test(
        "What sleeps, or waits with a limit, in the middle of a task lets others go on, and ends by the simulation's clock",
        arguments: LimitedWait.sleeps + LimitedWait.limits)
    fileprivate func virtual(wait: LimitedWait) async throws {
        try await simulate(seeds: 3) { simulation in
            let start = ContinuousClock.now
            let others = Task {
                try await Task.sleep(for: hour / 2)
                return ContinuousClock.now - start
            }
            let time = await Task {
                wait.wait()
                return ContinuousClock.now - start
            }.value
            // Dispatch and Foundation turn the limit into another clock's.
            try simulation.require(time >= hour && time < hour + .seconds(1), "\(wait) takes an hour, and took \(time)")
            try simulation.require(await others.result.get() == hour / 2, "another task slept meanwhile")
        }
    }

    @Test("A lock with a limit is given up then, and it can be had before")
    func lock() async throws {
        let errors = try await withSimulation { _ in
            let waits = Waits()
            let holder = Task {
                waits.lock()
                sleep(UInt32(seconds) * 2)
                waits.unlock()
            }
            try await Task.sleep(for: .seconds(1))
            let start = ContinuousClock.now
            let first = await Task { waits.lock(until: after(hour: CLOCK_REALTIME)) }.value
            let time = ContinuousClock.now - start
            let second = await Task { waits.lock(until: after(hour: CLOCK_REALTIME)) }.value
            await holder.value
            return (first, time, second)
        }
        #expect(errors.0 == ETIMEDOUT && errors.1 == hour && errors.2 == 0, "\(errors)")
    }

    @Test("A descriptor that becomes readable ends a wait before its limit, whichever call it is")
    func readable() async throws {
        let waits: [@Sendable (Int32) -> Int32] = [
            { descriptor in
                var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                return unsafe poll(&polled, 1, Int32(seconds) * 1000)
            },
            { descriptor in
                var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                return unsafe poll(&polled, 1, -1)
            },
            { descriptor in
                // The tests beside this one may have so many that select can't take the next number: then it is poll once more.
                if descriptor >= 1024 {
                    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                    return unsafe poll(&polled, 1, Int32(seconds) * 1000)
                }
                var set = fd_set()
                unsafe withUnsafeMutableBytes(of: &set) { $0[Int(descriptor) / 8] = 1 << UInt8(descriptor % 8) }
                var time = timeval(tv_sec: seconds, tv_usec: 0)
                let count = unsafe select(descriptor + 1, &set, nil, nil, &time)
                return time.tv_sec == seconds / 2 ? count : -1
            },
        ]
        for wait in waits {
            let (count, time) = try await withSimulation { _ in
                var ends: [Int32] = [-1, -1]
                try #require(unsafe pipe(&ends) == 0)
                let (reader, writer) = (ends[0], ends[1])
                defer { _ = (close(reader), close(writer)) }
                let start = ContinuousClock.now
                Task {
                    try await Task.sleep(for: hour / 2)
                    unsafe write(writer, "x", 1)
                }
                let count = await Task { wait(reader) }.value
                return (count, ContinuousClock.now - start)
            }
            #expect(count == 1 && time == hour / 2)
        }
    }

    @Test("Time passes for a loop that looks at the clock until an instant has come, and others go on")
    func clockLoops() async throws {
        let loops: [@Sendable (Duration) -> Void] = [
            { limit in
                let end = ContinuousClock.now + limit
                while ContinuousClock.now < end {}
            },
            { limit in
                let end = Date(timeIntervalSinceNow: limit / .seconds(1))
                while Date() < end { sched_yield() }
            },
            { limit in
                let end = DispatchTime.now() + .seconds(Int(limit / .seconds(1)))
                while DispatchTime.now() < end { usleep(0) }
            },
        ]
        for loop in loops {
            try await simulate(seeds: 3) { simulation in
                let start = ContinuousClock.now
                let other = Task {
                    try await Task.sleep(for: .seconds(1))
                    return ContinuousClock.now - start
                }
                await Task { loop(hour) }.value
                let time = ContinuousClock.now - start
                try simulation.require(time >= hour && time < hour + hour / 7, "it takes an hour: \(time)")
                try simulation.require(try await other.value == .seconds(1), "another task goes on meanwhile")
            }
        }
    }

    @Test("A thread that goes round until another one has done something lets it do that")
    func yields() async throws {
        try await simulate(seeds: 100) { _ in
            let isDone = Guarded(false)
            let other = Task {
                try await Task.sleep(for: .seconds(1))
                isDone.withLock { $0 = true }
            }
            await Task { while !isDone.withLock({ $0 }) { sched_yield() } }.value
            try await other.value
        }
    }

    @Test("A thread that asks for the time and never ends is a livelock, which has its line", arguments: [false, true])
    func livelock(isOnMainActor: Bool) async throws {
        let failure = await #expect(throws: RunLoop.Simulation.Failure.self) {
            try await simulate(seeds: 1) { _ in
                let end = isOnMainActor ? Task { @MainActor in Self.goRound() } : Task { Self.goRound() }
                await end.value
            }
        }
        let found = try #require(failure?.error as? RunLoop.Simulation.Livelock, "\(String(describing: failure))")
        let place = found.functions.first ?? ""
        #expect(place.contains("goRound") && place.contains("SimulationTests/SleepTests.swift:"), "\(found)")
        #expect(failure?.isRepeatable == true)
    }

    private static func goRound() {
        let start = ContinuousClock.now
        while ContinuousClock.now >= start {}
    }

    @Test("What sleeps when the body has ended goes on to its end")
    func afterTheEnd() async throws {
        let ended = Guarded(0)
        try await simulate(seeds: 10) { simulation in
            _ = Task {
                sleep(UInt32(seconds))
                ended.withLock { $0 += 1 }
            }
            try await Task.sleep(for: .seconds(1))
        }
        #expect(ended.withLock { $0 } == 10)
    }

    @Test("A sleep ends up to so much later as the test allows, and on time without that")
    func late() async throws {
        for delay in [0, 100] {
            let ends = Guarded<Set<Duration>>([])
            try await simulate(seeds: 200) { simulation in
                simulation.greatestDelay = .milliseconds(delay)
                let start = ContinuousClock.now
                try await Task.sleep(for: .seconds(1))
                let time = ContinuousClock.now - start
                _ = ends.withLock { $0.insert(time) }
            }
            let late = (0...4).map { Duration.seconds(1) + .milliseconds(delay / 4 * $0) }
            #expect(ends.withLock { $0 } == Set(late))
        }
    }
}
