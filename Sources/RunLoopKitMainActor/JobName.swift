#if os(Linux)
#if compiler(<6.4)

internal import CRunLoopOverlay
internal import RunLoopKitTasks

/// What is left of a job when it has run: enough to find it in the program.
struct JobName {
    private let number: UInt32
    /// Code of the program: its name is looked up by the address.
    private let function: UInt
    private let closure: UInt

    init(_ job: JobLink) {
        let task = TaskWords(job.job)
        number = task.number
        function = task.function
        closure = task.closure
    }

    /// Writes once per process that the job kept the main loop for so many nanoseconds.
    func report(_ duration: Int64) {
        if !runloop__diagnostic_is_due(RUNLOOP__JOB_BLOCKS) { return }
        let place = CodePlace(function: function, closure: closure)
        unsafe runloop__diagnostic_write(
            RUNLOOP__JOB_BLOCKS,
            """
            Task \(number) kept the main loop for \(duration / 1_000_000) ms without an await, in \
            \(place?.full ?? "a function without a name"). Nothing else of the main loop happened meanwhile. \
            What has to block belongs into runBlocking.
            """)
    }
}

#endif
#endif
