#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopOverlay
internal import CRunLoopSimulation
public import RunLoopKit
internal import RunLoopKitTasks

extension RunLoop {
    /// A run of a program in which nothing is left to chance: its tasks, its loops and its time are one thread's, and a seed decides what
    /// comes next wherever several things might.
    ///
    ///     try await simulate { simulation in
    ///         await withTaskGroup(of: Void.self) { group in
    ///             for name in ["first", "second"] {
    ///                 group.addTask { simulation.note(name) }
    ///             }
    ///         }
    ///         try simulation.require(
    ///             simulation.lines.count == 2, "both tasks note something, in any order"
    ///         )
    ///     }
    ///
    /// What a seed decides: which of the tasks that are ready goes on; which of several loops; how much later than asked a sleep ends; what
    /// happens to a message on a simulated link. What a loop guarantees stays so: posts in order, timers at one instant by their order.
    /// Time is virtual, and passes when nobody has anything to do.
    ///
    /// The program needs no change for that. Whatever the body starts belongs to the simulation: `Task { }` and `Task.detached`, actors,
    /// the main actor and `RunLoop.main`, groups, libraries that are built on them. `Task.sleep`, `ContinuousClock`, `SuspendingClock` and
    /// `Date` follow its time,
    /// `SystemRandomNumberGenerator` its dice. What can't belong to it are threads, Dispatch's queues, and descriptors of the world
    /// outside: if one of them resumes a task, the simulation fails with ``Escape``, since the same seed need not give the same run then.
    /// (With compilers other than Swift 6.3 only tasks that prefer ``executor`` belong to it, and they sleep by the clock of ``loop``.)
    @safe public final class Simulation: Sendable {
        /// The simulation's main loop: on the simulation's threads it is `RunLoop.main`, and it performs the jobs of the main actor.
        public let loop: RunLoop
        let schedule: Schedule
        let waits = Guarded(Line<String>())
        var tasks: SimulatedTasks { schedule.jobs }
        private let owned = Guarded(OwnedTasks())
        private let threads = Guarded<[LoopThread]>([])
        private let notes = Guarded<[String]>([])
        private let descriptors = Guarded<[CInt]>([])
        /// What the body has come to.
        private let outcome = Guarded<Result<Void, any Swift.Error>?>(nil)
        /// The directions of its links, whose sources refer to them.
        package let relays = Guarded<[any AnyObject & Sendable]>([])
        private let start: Int64
        /// Of the main loop, compared only.
        @safe private nonisolated(unsafe) let core: OpaquePointer?

        /// The simulation to which the caller belongs, a task or a loop; `nil` outside of simulations. Any thread.
        public static var current: RunLoop.Simulation? { unsafe at(runloop_simulation_current()) }

        static func at(_ simulation: UnsafeMutableRawPointer?) -> RunLoop.Simulation? {
            unsafe simulation.map { unsafe Unmanaged<RunLoop.Simulation>.fromOpaque($0).takeUnretainedValue() }
        }

        /// On a new thread, whose place the `heir` takes if it can't go on.
        init(_ choices: Choices, named name: String, patience: Int32, tellsStory: Bool, follows: Followed?, heir: Turn)
        {
            loop = .current
            core = unsafe runloop_current()
            start = 1_000_000_000_000
            schedule = Schedule(choices, startingAt: start)
            schedule.patience = patience
            if tellsStory { schedule.story = Story(startingAt: start) }
            schedule.followTasks()
            if let follows { schedule.follow(follows, since: start) }
            join("main")
            schedule.expectTraps(heir: heir)
            unsafe runloop_simulation_begin_run(schedule.world, name)
            runloop_simulation_exit()
            tasks.serveMainActor()
        }

        /// For how many milliseconds a thread outside is awaited when nothing can happen, where it is to be found out at all. For tests of
        /// that on a busy machine.
        package func awaitThreadsOutside(for milliseconds: Int32) {
            if schedule.patience > 0 { schedule.patience = milliseconds }
        }

        /// The executor on which the simulation's tasks run.
        public var executor: any _Concurrency.TaskExecutor { tasks }

        /// Writes a line, with the time, which a failure shows. The same seed gives the same lines. Without effect when the body has ended.
        public func note(_ text: String) {
            // What is under way at the end of the run comes to its own end in any order.
            if schedule.isOver { return }
            let time = Nanoseconds.inSeconds(schedule.now - start)
            notes.withLock { $0.append("\(time) \(text)") }
            schedule.tell(.noted(text))
        }

        /// The lines that were noted so far, each with its time.
        public var lines: [String] { notes.withLock { $0 } }

        /// Throws if the condition does not hold, and so ends the search for a seed that breaks it.
        public func require(
            _ condition: Bool, _ what: String, fileID: StaticString = #fileID, line: UInt = #line
        ) throws {
            if !condition { throw UnmetRequirement(what, file: "\(fileID)", line: line) }
        }

        /// Starts a thread whose loop takes part, and runs in the default mode until the simulation ends.
        ///
        /// From a task of the simulation. Posts, signals and descriptors between the loops are real; when they arrive is the seed's.
        public func makeLoop(_ name: String) throws -> RunLoop {
            try mayFailToOpen()
            // The thread that is waited for has no turn.
            let isSimulated = runloop_simulation_enter()
            defer { if isSimulated { runloop_simulation_exit() } }
            let made = Handover<LoopThread.Place>()
            let thread = try PosixThread(name: name, stackSize: nil) { [self] in
                let loop = RunLoop.current
                let member = join(name)
                // The caller that gets the loop finds it running, as in a `RunLoop.Thread`, which some of the library's own checks look at.
                loop.addUnlessOver(
                    Observer(.entry, repeats: false) { _, _ in
                        unsafe made.put(
                            LoopThread.Place(loop: loop, core: runloop_current(), name: name, member: member.number))
                        member.turn.wait()
                        runloop_simulation_exit()
                    }, forMode: .default)
                defer {
                    schedule.leave(member.number)
                    // The end of the thread has no turn.
                    runloop_simulation_join(nil, nil, 0)
                }
                guard let keepAlive = try? KeepAlive(on: loop) else {
                    preconditionFailure("A simulation needs memory for its loops.")
                }
                loop.run(mode: .default)
                keepAlive.invalidate()
            }
            let place = made.wait()
            threads.withLock { $0.append(LoopThread(thread: thread, place: place)) }
            return place.loop
        }

        /// Gives the calling thread the simulation's time, and its loop its turns. It decides nothing before its first turn: it has none
        /// that it could give away, to a thread that has a lock that it wants.
        @discardableResult
        private func join(_ name: String) -> (number: Int, turn: Turn) {
            let member = unsafe schedule.join(name, descriptor: runloop__set_descriptor(runloop_current()))
            let address = unsafe Unmanaged.passUnretained(self).toOpaque()
            unsafe runloop_simulation_join(schedule.world, address, Int32(member.number))
            _ = runloop_simulation_enter()
            let place = Place(schedule, member.number)
            var clock = unsafe runloop_clock(
                context: Unmanaged.passUnretained(place).toOpaque(),
                now: { unsafe Place.at($0).schedule.now },
                wait: { unsafe Place.at($0).wait($1) })
            precondition(unsafe runloop_set_clock(&clock) == 0, "A simulation needs a thread whose loop has no timers.")
            // Retained by an observer of the loop, as long as that.
            RunLoop.current.addUnlessOver(
                Observer(.beforeTimers, order: .min) { _, _ in place.beginIteration() }, forMode: .common)
            return member
        }

        /// Runs the body as a task, until it ends or nothing can happen any more.
        func run(
            _ body: @escaping @Sendable (Simulation) async throws -> Void, by starter: Starter
        ) -> Result<Void, any Swift.Error> {
            let perform: @Sendable () async -> Void = { [schedule, outcome] in
                let result: Result<Void, any Swift.Error>
                do {
                    result = .success(try await body(self))
                } catch {
                    result = .failure(error)
                }
                outcome.withLock { $0 = result }
                schedule.end()
            }
            // Nobody else has anything to do yet.
            _ = runloop_simulation_enter()
            starter.run { [executor] in
                if ownsTasks {
                    Task(operation: perform)
                } else {
                    Task(executorPreference: executor, operation: perform)
                }
            }
            runloop_simulation_exit()
            // It has no items of its own.
            let keepAlive = try? KeepAlive(on: loop)
            while !schedule.isOver { loop.run(mode: .default) }
            keepAlive?.invalidate()
            return conclude()
        }

        /// The thread of the first member stays where it is, and the calling one takes its place: for the end of the run.
        func inherit() -> Result<Void, any Swift.Error> {
            let address = unsafe Unmanaged.passUnretained(self).toOpaque()
            unsafe runloop_simulation_join(schedule.world, address, 0)
            _ = runloop_simulation_enter()
            schedule.noteTrap()
            runloop_simulation_exit()
            return conclude()
        }

        /// Ends the run. What is under way elsewhere may come to a trap then.
        private func conclude() -> Result<Void, any Swift.Error> {
            // Which places a failure names is no part of the program.
            _ = runloop_simulation_enter()
            let result = result
            runloop_simulation_exit()
            end()
            unsafe runloop_simulation_end_run(schedule.world)
            return schedule.trap.map { .failure($0) } ?? result
        }

        private var result: Result<Void, any Swift.Error> {
            let outsiders = owned.withLock { $0.outsiders }
            return
                if let trap = schedule.trap
            {
                .failure(trap)
            } else if let leak = schedule.leak {
                .failure(leak.waited(by: schedule.waiting(since: start, but: tasks.expected)))
            } else if !outsiders.isEmpty {
                .failure(Escape(functions: outsiders, lines: lines))
            } else if let result = outcome.withLock({ $0 }) {
                result
            } else if let wait = schedule.exceeded {
                .failure(standstill(.limit("\(wait.what), for \(Nanoseconds.inSeconds(wait.end - wait.since))")))
            } else if schedule.isStuck(owned.withLock { $0.first }) {
                .failure(standstill(.others(schedule.busiest)))
            } else if schedule.goesRound {
                .failure(Livelock(steps: schedule.steps, functions: schedule.busiest, lines: lines))
            } else {
                .failure(standstill(.nothingHappens))
            }
        }

        private func standstill(_ reason: Standstill.Reason) -> Standstill {
            let goOn = reason == .nothingHappens ? [] : tasks.expected.union(schedule.busyTasks)
            return Standstill(
                reason: reason, waiters: waiters, tasks: schedule.waiting(since: start, but: goOn), loops: descriptions,
                lines: lines)
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
            let name = place?.full ?? "a function without a name"
            owned.withLock { owned in
                if !owned.outsiders.contains(name) { owned.outsiders.append(name) }
            }
        }

        /// Of the loop's, for people.
        func name(of core: OpaquePointer?) -> String {
            if unsafe core == self.core { return "main" }
            return threads.withLock { $0.first { unsafe $0.place.core == core }?.place.name } ?? "of the world outside"
        }

        private var descriptions: [String] {
            ([loop] + threads.withLock { $0.map(\.place.loop) }).map(\.description)
        }

        private func end() {
            if outcome.withLock({ $0 }) == nil { owners.keepFromGoingOn(tasks.known.numbers) }
            tasks.end()
            let threads = threads.withLock { $0 }
            for thread in threads { thread.place.loop.stop(remembered: true) }
            let gone = schedule.finish()
            owners.remove(owned.withLock { $0.tasks })
            runloop_simulation_join(nil, nil, 0)
            for thread in threads where gone.contains(thread.place.member) { thread.thread.join() }
            relays.withLock { $0 = [] }
            closeAll(descriptors.withLock { $0 })
        }

        /// Closes them then.
        func keepUntilEnd(_ more: [CInt]) {
            descriptors.withLock { $0 += more }
        }
    }
}

/// A thread of a simulation with a loop, and the number of that.
private struct LoopThread: Sendable {
    @safe struct Place: Sendable {
        let loop: RunLoop
        /// Compared only.
        @safe nonisolated(unsafe) let core: OpaquePointer?
        let name: String
        let member: Int
    }

    let thread: PosixThread
    let place: Place
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
        guard let context = unsafe context else { preconditionFailure("A loop has lost its place in a simulation.") }
        return unsafe Unmanaged<Place>.fromOpaque(context).takeUnretainedValue()
    }

    func beginIteration() {
        schedule.beginIteration()
        stopIfOver()
    }

    func wait(_ duration: Int64) -> Int64 {
        if schedule.wakesNow {
            RunLoop.current.wakeUp()
            return 0
        }
        schedule.wait(member, for: duration)
        stopIfOver()
        return 0
    }

    /// The others are stopped later.
    private func stopIfOver() {
        if member == 0 && schedule.isOver { RunLoop.current.stop(remembered: true) }
    }
}
#endif
