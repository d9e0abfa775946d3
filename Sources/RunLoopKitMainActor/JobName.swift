#if compiler(>=6.3) && compiler(<6.4)

    internal import CRunLoopExecutors
    internal import CRunLoopOverlay
    @_spi(ExperimentalCustomExecutors) internal import _Concurrency

    /// What is left of a job when it has run: enough to find it in the program.
    @safe struct JobName {
        private let id: UInt32
        /// Code of the program: its name is looked up by the address.
        @safe private let function: UnsafeRawPointer?

        init(_ job: JobLink) {
            id = job.id
            function = unsafe job.function
        }

        /// Tells once per process that the job kept the main loop for so many nanoseconds.
        func tell(_ duration: Int64) {
            if !runloop__diagnostic_is_due(RUNLOOP__JOB_BLOCKS) { return }
            let place = unsafe runloop_copy_code_name(function)
            defer { unsafe runloop_free_code_name(place) }
            unsafe runloop__diagnostic_write(
                RUNLOOP__JOB_BLOCKS,
                unsafe """
                Task \(id) kept the main loop for \(duration / 1_000_000) ms without an await, in \
                \(place.map { unsafe String(cString: $0) } ?? "a function without a name"). Nothing else of the main loop \
                happened meanwhile. What has to block belongs into runBlocking.
                """)
        }
    }

#endif
