#if os(Linux)
internal import CRunLoopDiagnostics
public import RunLoopKit

extension RunLoop {
    /// What a loop has done since its statistics were started.
    ///
    ///     loop.startStatistics()
    ///     loop.run(mode: .default, for: .seconds(10))
    ///     if let statistics = loop.statistics {
    ///         print("\(statistics.iterations) iterations, \(statistics.sleeps) sleeps")
    ///         print("busy for", statistics.busyShare)
    ///     }
    public struct Statistics: Sendable {
        /// The kinds of call-outs that are counted apart.
        ///
        ///     if let statistics = loop.statistics {
        ///         for kind in RunLoop.Statistics.Callout.allCases {
        ///             print(kind, statistics.callouts[kind, default: 0])
        ///         }
        ///     }
        public enum Callout: Int, CaseIterable, Sendable {
            /// An observer was notified.
            case observer
            /// A timer, a timeout or a delayed perform fired.
            case timer
            /// A signalled source was performed.
            case signalledSource
            /// A descriptor source was called for its descriptor.
            case descriptorSource
            /// A closure was performed, or a job of the loop's executor.
            case task
            /// The main dispatch queue was served.
            case mainQueue
        }

        /// How long it is since the statistics were started, or was until they were stopped.
        public let elapsed: Duration
        /// How much of that was in runs, asleep or busy.
        public let running: Duration
        /// How much of that the loop was asleep.
        public let asleep: Duration
        /// How many runs began, nested ones included.
        public let runs: Int
        /// How many iterations began, those of nested runs included.
        public let iterations: Int
        /// How often the loop has waited in the kernel. A wait that finds something to do at once is no sleep.
        public let sleeps: Int
        /// How many iterations it has made since the last sleep, or since the outermost run began: many, if it spins.
        public let iterationsSinceSleep: Int
        /// How many call-outs there were of each kind.
        public let callouts: [Callout: Int]
        /// How long the loop has slept each time.
        public let sleepDurations: Histogram
        /// How long the iterations of the outermost runs took, without their sleep.
        public let iterationDurations: Histogram
        /// How long the call-outs took; a run inside one counts for it, too.
        public let calloutDurations: Histogram
        /// How much later than their dates timers have fired.
        public let timerLateness: Histogram
        /// How long it took from a post to when the loop took it up; of posts in a burst, the first.
        public let postToRun: Histogram
        /// Of which item the longest call-out was: its kind, and the name of its item if there is one.
        public let longestCallout: (kind: Callout, name: String?)?

        /// The busy share of the elapsed time, from 0 to 1.
        public var busyShare: Double {
            let busy = running - asleep
            return elapsed > .zero ? max(0, busy / elapsed) : 0
        }

        fileprivate init(_ counted: borrowing runloop_statistics) {
            elapsed = .nanoseconds(counted.elapsed_ns)
            running = .nanoseconds(counted.running_ns)
            asleep = .nanoseconds(counted.asleep_ns)
            runs = Int(clamping: counted.runs)
            iterations = Int(clamping: counted.iterations)
            sleeps = Int(clamping: counted.sleeps)
            iterationsSinceSleep = Int(clamping: counted.awake_iterations)
            let counts = unsafe withUnsafeBytes(of: counted.callouts) { unsafe Array($0.bindMemory(to: UInt64.self)) }
            callouts = .init(uniqueKeysWithValues: zip(Callout.allCases, counts.map { Int(clamping: $0) }))
            sleepDurations = Histogram(counted.sleep)
            iterationDurations = Histogram(counted.iteration)
            calloutDurations = Histogram(counted.callout)
            timerLateness = Histogram(counted.lateness)
            postToRun = Histogram(counted.post_to_run)
            let name = unsafe withUnsafeBytes(of: counted.longest_name) {
                unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            longestCallout =
                counted.callout.count == 0
                ? nil : Callout(rawValue: Int(counted.longest_kind)).map { ($0, name.isEmpty ? nil : name) }
        }
    }

    /// Starts the loop's statistics, from zero. From then on an iteration reads the clock some times, and counts. No effect if they are
    /// started already. On the loop's own thread only: anything else is a precondition failure. O(1).
    ///
    ///     loop.startStatistics()
    ///     …
    ///     print(loop.statistics?.calloutDurations.quantile(0.99) ?? .zero)
    public func startStatistics() {
        precondition(isCurrent, "The statistics of a run loop are started on its own thread.")
        let result = runloop_statistics_start()
        if result < 0, Error(result: result) == .outOfMemory { outOfMemory() }
    }

    /// Stops the statistics of the calling thread's loop. What they have counted stays readable. No effect if they are not started. On the
    /// loop's own thread only: anything else is a precondition failure. O(1).
    public func stopStatistics() {
        precondition(isCurrent, "The statistics of a run loop are stopped on its own thread.")
        runloop_statistics_stop()
    }

    /// What the loop has done since ``startStatistics()``; `nil` if they were never started, or the loop's thread has ended. Any
    /// thread, without a lock: each number is right for some moment of the call, not all of them for the same one. O(1).
    public var statistics: Statistics? {
        var counted = runloop_statistics()
        return unsafe runloop_statistics_copy(core, &counted) == 0 ? Statistics(counted) : nil
    }
}
#endif
