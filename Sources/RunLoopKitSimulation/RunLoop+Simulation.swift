internal import CRunLoopCore
internal import CRunLoopOverlay
public import RunLoopKit
internal import Synchronization

extension RunLoop {
    /// A run of a program in which nothing is left to chance: its tasks, its loops and its time are one thread's, and a seed decides what
    /// comes next wherever several things might.
    ///
    ///     try await simulate { simulation in
    ///         await withTaskGroup(of: Void.self) { group in
    ///             for name in ["first", "second"] { group.addTask { simulation.note(name) } }
    ///         }
    ///         try simulation.require(simulation.lines.count == 2, "both tasks note something, in any order")
    ///     }
    ///
    /// What a seed decides: which of the tasks that are ready goes on; which of several loops; how much later than asked a sleep ends; what
    /// happens to a message on a simulated link. What a loop guarantees stays so: posts in order, timers at one instant by their order.
    /// Time is virtual, and passes when nobody has anything to do.
    ///
    /// Tasks follow the simulation if they inherit the executor of its body: child tasks and `Task(executorPreference: simulation.executor)`,
    /// with all default actors that they call. They sleep by `simulation.clock`. A task elsewhere, the main actor and `Task.sleep` are real, and
    /// make runs differ.
    public final class Simulation: Sendable {
        /// The loop of the tasks.
        public let loop: RunLoop
        let schedule: Schedule
        let failsToOpen = Guarded(false)
        let waits = Guarded(Waits())
        private let tasks: SimulatedTasks
        private let threads = Guarded<[(PosixThread, RunLoop)]>([])
        private let notes = Guarded<[String]>([])
        private let descriptors = Guarded<[CInt]>([])
        private let start: Int64

        /// On a new thread.
        init(_ choices: Choices) throws(RunLoop.Error) {
            loop = .current
            start = 1_000_000_000_000
            schedule = Schedule(choices, startingAt: start)
            Self.joinSchedule(schedule, "main")
            tasks = try SimulatedTasks(schedule, on: loop)
        }

        /// The executor of the tasks.
        public var executor: any _Concurrency.TaskExecutor { tasks }

        /// The clock by which tasks sleep.
        public var clock: RunLoop.Clock { loop.clock }

        /// Writes a line, with the time, which a failure shows. The same seed gives the same lines.
        public func note(_ text: String) {
            let time = Duration.nanoseconds(schedule.now - start)
            notes.withLock { $0.append("\(time) \(text)") }
        }

        /// What was noted so far.
        public var lines: [String] { notes.withLock { $0 } }

        /// Throws if the condition does not hold, and so ends the search for a seed that breaks it.
        public func require(
            _ condition: Bool, _ what: String, fileID: StaticString = #fileID, line: UInt = #line
        ) throws {
            if !condition { throw UnmetRequirement(what: what, fileID: fileID, line: line) }
        }

        /// Starts a thread whose loop takes part, and runs in the default mode until the simulation ends.
        ///
        /// From a task of the simulation. Posts, signals and descriptors between the loops are real; when they arrive is the seed's.
        public func makeLoop(_ name: String) throws(RunLoop.Error) -> RunLoop {
            try mayFailToOpen()
            let made = Handover<RunLoop>()
            let thread = try PosixThread(name: name, stackSize: nil) { [schedule] in
                let loop = RunLoop.current
                let member = Self.joinSchedule(schedule, name)
                made.put(loop)
                schedule.awaitTurn(of: member)
                guard let keepAlive = try? KeepAlive(on: loop) else { return schedule.leave(member) }
                loop.run(mode: .default)
                keepAlive.invalidate()
                schedule.leave(member)
            }
            let loop = made.wait()
            threads.withLock { $0.append((thread, loop)) }
            return loop
        }

        /// Gives the calling thread's loop the simulation's time, and its turns.
        @discardableResult
        private static func joinSchedule(_ schedule: Schedule, _ name: String) -> Int {
            let member = schedule.join(name, descriptor: runloop__set_descriptor(runloop_current()))
            let place = Place(schedule, member)
            var clock = runloop_clock(
                context: Unmanaged.passUnretained(place).toOpaque(),
                now: { Place.at($0).schedule.now },
                wait: { Place.at($0).wait($1) })
            precondition(runloop_set_clock(&clock) == 0, "A simulation needs a thread whose loop has no timers.")
            // Retained by an observer of the loop, as long as that.
            RunLoop.current.addUnlessOver(
                Observer(.beforeTimers, order: .min) { _, _ in place.schedule.yield(from: place.member) },
                forMode: .common)
            return member
        }

        /// Runs the body as a task, until it ends or nothing can happen any more.
        func run(_ body: @escaping @Sendable (Simulation) async throws -> Void) -> Result<Void, any Swift.Error> {
            let outcome = Guarded<Result<Void, any Swift.Error>?>(nil)
            Task(executorPreference: executor) {
                let result: Result<Void, any Swift.Error>
                do {
                    result = .success(try await body(self))
                } catch {
                    result = .failure(error)
                }
                outcome.withLock { $0 = result }
                self.loop.stopCurrentOrNextRun()
            }
            while outcome.withLock({ $0 == nil }) && !schedule.standsStill { loop.run(mode: .default) }
            let result =
                outcome.withLock { $0 } ?? .failure(Standstill(waiters: waiters, loops: descriptions, lines: lines))
            end()
            return result
        }

        private var descriptions: [String] {
            ([loop] + threads.withLock { $0.map(\.1) }).map(\.description)
        }

        private func end() {
            tasks.end()
            let threads = threads.withLock { $0 }
            for (_, loop) in threads { loop.stopCurrentOrNextRun() }
            schedule.leave(0)
            for (thread, _) in threads { thread.join() }
            closeAll(descriptors.withLock { $0 })
        }

        /// Closes them then.
        func keepUntilEnd(_ more: [CInt]) {
            descriptors.withLock { $0 += more }
        }
    }
}

/// A loop's place in the schedule, which its clock is asked by.
private final class Place: Sendable {
    let schedule: Schedule
    let member: Int

    init(_ schedule: Schedule, _ member: Int) {
        self.schedule = schedule
        self.member = member
    }

    static func at(_ context: UnsafeMutableRawPointer?) -> Place {
        guard let context else { preconditionFailure("A loop has lost its place in a simulation.") }
        return Unmanaged<Place>.fromOpaque(context).takeUnretainedValue()
    }

    func wait(_ duration: Int64) -> Int64 {
        if schedule.wakesNow {
            RunLoop.current.wakeUp()
            return 0
        }
        schedule.wait(member, for: duration)
        if member == 0 && schedule.standsStill { RunLoop.current.stopCurrentOrNextRun() }
        return 0
    }
}

extension RunLoop.Simulation {
    /// Nothing can ever happen: no task is ready, no loop has anything to do, and nobody waits for an instant.
    public struct Standstill: Error, CustomStringConvertible {
        /// Who waits: the body, and whoever said so by ``awaiting(_:fileID:line:isolation:_:)``.
        public let waiters: [Waiter]
        /// What is in each loop.
        public let loops: [String]
        /// What the simulation has noted.
        public let lines: [String]

        /// All of that, in sentences.
        public var description: String {
            """
            Nothing can happen any more, and the body has not ended: it waits for something that never comes.
            \(waiters.map { "Waiting for \($0)" }.joined(separator: "\n"))
            \(lines.suffix(20).joined(separator: "\n"))
            The loops:
            \(loops.joined(separator: "\n"))
            """
        }
    }

    /// A condition that does not hold.
    public struct UnmetRequirement: Error, CustomStringConvertible {
        /// The condition, in words.
        public let what: String
        /// The file that requires it, `Module/File.swift`.
        public let fileID: StaticString
        /// The line in that file.
        public let line: UInt

        /// All of that, in a sentence.
        public var description: String { "It is required that \(what): \(fileID):\(line)." }
    }
}
