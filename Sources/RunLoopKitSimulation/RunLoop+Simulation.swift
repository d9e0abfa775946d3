internal import CRunLoopCore
internal import CRunLoopOverlay
internal import CRunLoopSimulation
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
    /// The program needs no change for that. Whatever the body starts belongs to the simulation: `Task { }` and `Task.detached`, actors, the main
    /// actor, groups, libraries that are built on them. `Task.sleep`, `ContinuousClock`, `SuspendingClock` and `Date` follow its time,
    /// `SystemRandomNumberGenerator` its dice. What can't belong to it are threads, Dispatch's queues, and descriptors of the world
    /// outside: if one of them resumes a task, the simulation fails with ``Escape``, since the same seed need not give the same run then.
    /// (With compilers other than Swift 6.3 only tasks that prefer ``executor`` belong to it, and they sleep by ``clock``.)
    public final class Simulation: Sendable {
        /// The loop of the tasks.
        public let loop: RunLoop
        let schedule: Schedule
        let failsToOpen = Guarded(false)
        let waits = Guarded(Waits())
        let tasks: SimulatedTasks
        private let owned = Guarded(OwnedTasks())
        private let threads = Guarded<[(PosixThread, RunLoop)]>([])
        private let notes = Guarded<[String]>([])
        private let descriptors = Guarded<[CInt]>([])
        private let start: Int64

        static func at(_ simulation: UnsafeMutableRawPointer?) -> RunLoop.Simulation? {
            simulation.map { Unmanaged<RunLoop.Simulation>.fromOpaque($0).takeUnretainedValue() }
        }

        /// On a new thread.
        init(_ choices: Choices, patience: Int32) throws(RunLoop.Error) {
            loop = .current
            start = 1_000_000_000_000
            schedule = Schedule(choices, startingAt: start)
            schedule.patience = patience
            tasks = try SimulatedTasks(schedule, on: loop)
            join("main")
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
            let thread = try PosixThread(name: name, stackSize: nil) { [self] in
                let loop = RunLoop.current
                let member = join(name)
                made.put(loop)
                schedule.awaitTurn(of: member)
                defer { schedule.leave(member) }
                guard let keepAlive = try? KeepAlive(on: loop) else { return }
                loop.run(mode: .default)
                keepAlive.invalidate()
            }
            let loop = made.wait()
            threads.withLock { $0.append((thread, loop)) }
            return loop
        }

        /// Gives the calling thread the simulation's time, and its loop its turns.
        @discardableResult
        private func join(_ name: String) -> Int {
            runloop_simulation_join(schedule.world, Unmanaged.passUnretained(self).toOpaque())
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
            let perform: @Sendable () async -> Void = {
                let result: Result<Void, any Swift.Error>
                do {
                    result = .success(try await body(self))
                } catch {
                    result = .failure(error)
                }
                outcome.withLock { $0 = result }
                self.loop.stop(remembered: true)
            }
            if ownsTasks { Task(operation: perform) } else { Task(executorPreference: executor, operation: perform) }
            while outcome.withLock({ $0 == nil }) && !schedule.standsStill && !schedule.goesRound {
                loop.run(mode: .default)
            }
            let outsiders = owned.withLock { $0.outsiders }
            let result: Result<Void, any Swift.Error> =
                if !outsiders.isEmpty {
                    .failure(Escape(functions: outsiders, lines: lines))
                } else if let result = outcome.withLock({ $0 }) {
                    result
                } else if schedule.goesRound {
                    .failure(Livelock(steps: schedule.steps, functions: tasks.busiest, lines: lines))
                } else {
                    .failure(Standstill(waiters: waiters, loops: descriptions, lines: lines))
                }
            end()
            return result
        }

        /// A task is to go on, on a thread of the simulation: is it the simulation's? Not if it is older.
        func adopt(_ task: UInt32) -> Bool {
            // An actor's own job, which is no task.
            if task == 0 { return true }
            return owned.withLock { owned in
                if owned.first == 0 { owned.first = task }
                if task < owned.first { return false }
                if owned.tasks.insert(task).inserted { owners.add(task, self) }
                return true
            }
        }

        /// A task of the simulation's is to go on, as a thread outside has said.
        func noteOutsider(_ place: CodePlace?) {
            let name = place.map { "\($0)" } ?? "a function without a name"
            owned.withLock { owned in
                if !owned.outsiders.contains(name) { owned.outsiders.append(name) }
            }
        }

        private var descriptions: [String] {
            ([loop] + threads.withLock { $0.map(\.1) }).map(\.description)
        }

        private func end() {
            tasks.end()
            owners.remove(owned.withLock { $0.tasks })
            runloop_simulation_join(nil, nil)
            let threads = threads.withLock { $0 }
            for (_, loop) in threads { loop.stop(remembered: true) }
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

/// The tasks of a simulation, by their numbers.
private struct OwnedTasks {
    /// The body's. Those of older tasks are smaller. 0 belongs to none.
    var first: UInt32 = 0
    var tasks: Set<UInt32> = []
    /// Where tasks went on that a thread outside has resumed.
    var outsiders: [String] = []
}

/// Whose task it is, for all simulations of the process.
final class Owners: Sendable {
    private let simulations = Guarded<[UInt32: RunLoop.Simulation]>([:])
    private let count = Atomic(0)

    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    func add(_ task: UInt32, _ simulation: RunLoop.Simulation) {
        simulations.withLock { $0[task] = simulation }
        count.add(1, ordering: .relaxed)
    }

    func remove(_ tasks: Set<UInt32>) {
        simulations.withLock { simulations in
            for task in tasks { simulations[task] = nil }
        }
        count.subtract(tasks.count, ordering: .relaxed)
    }

    func owner(of task: UInt32) -> RunLoop.Simulation? { simulations.withLock { $0[task] } }
}

let owners = Owners()

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
        if member == 0 && schedule.standsStill { RunLoop.current.stop(remembered: true) }
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

    /// The program goes round, and never ends: there were more steps than ``mostSteps``.
    public struct Livelock: Error, CustomStringConvertible {
        /// How many there were.
        public let steps: Int
        /// The functions in which the latest of them were, the most frequent first.
        public let functions: [String]
        /// What the simulation has noted.
        public let lines: [String]

        /// All of that, in sentences.
        public var description: String {
            """
            The body has not ended after \(steps) steps: the program goes round. The latest were in
            \(functions.joined(separator: "\n"))
            \(lines.suffix(20).joined(separator: "\n"))
            """
        }
    }

    /// A thread outside the simulation, of a Dispatch queue for instance, has resumed a task of it.
    public struct Escape: Error, CustomStringConvertible {
        /// Where the tasks went on.
        public let functions: [String]
        /// What the simulation has noted.
        public let lines: [String]

        /// All of that, in sentences.
        public var description: String {
            """
            The program has left the simulation: a thread outside has resumed a task, so the same seed need not give the same run. It went on in
            \(functions.joined(separator: "\n"))
            \(lines.suffix(20).joined(separator: "\n"))
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
