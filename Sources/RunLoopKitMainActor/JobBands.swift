#if os(Linux)
#if compiler(<6.4)

@_spi(ExperimentalCustomExecutors) internal import _Concurrency

/// A job with its executor and its band, in the two words that the runtime has in each job for the queue that holds it: the next job, and
/// the job itself with the other two in the bits that are zero in its address.
@safe struct JobLink {
    /// A job is freed by its run, which the queue that has this link begins.
    @safe let words: UnsafeMutablePointer<UInt>

    init(_ job: consuming ExecutorJob, _ executor: MainLoopJobs.Executor) {
        let band = JobBands.band(of: job.priority)
        let words = unsafe job.withUnsafeExecutorPrivateData {
            unsafe $0.baseAddress?.assumingMemoryBound(to: UInt.self)
        }
        guard let words = unsafe words else {
            preconditionFailure("The jobs of this runtime have no words for the queue that holds them.")
        }
        self.words = unsafe words
        unsafe words[1] = unsafeBitCast(UnownedJob(job), to: UInt.self) | executor.rawValue | UInt(band) << 1
    }

    init(_ words: UnsafeMutableRawPointer) {
        self.words = unsafe words.assumingMemoryBound(to: UInt.self)
    }

    init?(bits: UInt) {
        guard let words = unsafe UnsafeMutablePointer<UInt>(bitPattern: bits) else { return nil }
        self.words = unsafe words
    }

    var bits: UInt { UInt(bitPattern: words) }

    /// The bits of the next job, or 0.
    var next: UInt {
        get { words[0] }
        nonmutating set { words[0] = newValue }
    }

    var job: UnownedJob { unsafe unsafeBitCast(words[1] & ~7, to: UnownedJob.self) }
    var executor: MainLoopJobs.Executor { words[1] & 1 == 0 ? .main : .byDefault }
    var band: Int { Int(words[1] >> 1 & 3) }
}

/// Jobs in three bands: high priority and above, medium, and low or background. In a band the oldest is the first.
///
/// The highest band that has jobs goes first, except that one job in 32 is the first of the lowest band, so that none starves.
struct JobBands {
    private struct Band {
        var oldest: JobLink?
        var newest: JobLink?
    }

    private static let count = 3
    private static let turnOfLowest = 32

    private var bands = InlineArray<3, Band>(repeating: Band())
    private var turn = 0

    static func band(of priority: JobPriority) -> Int {
        switch priority.rawValue {
        case TaskPriority.high.rawValue...: 0
        case 1...TaskPriority.low.rawValue: 2
        default: 1
        }
    }

    var isEmpty: Bool { bands[0].oldest == nil && bands[1].oldest == nil && bands[2].oldest == nil }

    mutating func append(_ job: JobLink) {
        job.next = 0
        let band = job.band
        if let newest = bands[band].newest { newest.next = job.bits } else { bands[band].oldest = job }
        bands[band].newest = job
    }

    mutating func takeNext() -> JobLink? {
        turn += 1
        let isTurnOfLowest = turn == Self.turnOfLowest
        if isTurnOfLowest { turn = 0 }
        for step in 0..<Self.count {
            let band = isTurnOfLowest ? Self.count - 1 - step : step
            guard let job = bands[band].oldest else { continue }
            bands[band].oldest = JobLink(bits: job.next)
            if bands[band].oldest == nil { bands[band].newest = nil }
            return job
        }
        return nil
    }
}

#endif
#endif
