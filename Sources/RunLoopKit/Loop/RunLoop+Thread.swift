#if os(Linux)
internal import Synchronization

extension RunLoop {
    /// A thread whose loop runs until the thread is stopped.
    ///
    /// The loop runs in the default mode, and is never finished: it sleeps while it has nothing to do. `stop()` of the loop ends a
    /// run that a closure has nested there, but not the thread; `stop()` of this object ends the thread.
    ///
    /// Nothing on the thread refers to this object. When the last reference to it is released, the thread is stopped.
    ///
    /// Like every POSIX thread, it inherits the mask of blocked signals from the thread that makes it. A daemon that blocks
    /// signals in its `main`, to wait for them itself, relies on that. But the threads that run tasks block nearly all signals,
    /// so a thread made by a task does too, and so does a program that is started there without a mask of its own. Sources for
    /// signals work as long as any thread of the process does not block the signal. Where it matters, make the thread in
    /// synchronous code, before the first task, or set the mask as the first thing on it:
    ///
    ///     thread.perform {
    ///         var none = sigset_t()
    ///         sigemptyset(&none)
    ///         pthread_sigmask(SIG_SETMASK, &none, nil)
    ///     }
    public final class Thread: Sendable {
        /// The thread's loop, which is running. After the end of the thread it is a loop on which nothing ever runs (R10).
        public let loop: RunLoop

        private let thread: PosixThread
        private let request: StopRequest
        private let isJoined = Guarded(false)
        private let process = ForkGeneration()

        /// Starts a thread, and waits until its loop runs, which takes about as long as starting a thread.
        ///
        /// - Parameters:
        ///   - name: what debuggers and `/proc` show. Linux keeps 15 bytes; the rest is cut off.
        ///   - stackSize: in bytes, rounded up to whole pages and to 64 KiB. `nil`: the system's default.
        /// - Throws: `tooManyThreads`, `tooManyDescriptors`, `outOfMemory`; then no thread is left behind.
        public init(name: String? = nil, stackSize: Int? = nil) throws {
            let request = StopRequest()
            let started = Handover<Result<RunLoop, any Swift.Error>>()
            thread = try PosixThread(name: name, stackSize: stackSize) {
                do {
                    try serve(until: request) { started.put(.success($0)) }
                } catch {
                    started.put(.failure(error))
                }
            }
            self.request = request
            switch started.wait() {
            case .success(let loop):
                self.loop = loop
            case .failure(let error):
                thread.join()
                throw error
            }
        }

        deinit {
            stop()
            // No other thread can be here; the lock is taken because `isJoined` is behind it.
            if !process.isOver && !isJoined.withLock({ $0 }) { thread.detach() }
        }

        /// Calls `body` once on the thread, and does not wait for it. As `RunLoop.perform`, except that an accepted closure is
        /// always called: if the thread ends first, `body` is called while it ends, after the `onCancel` of every source.
        ///
        /// Any thread, this one too: then `body` is called later. O(modes).
        ///
        /// - Parameter modes: in which modes of the loop. The thread runs its loop in the default mode; nested runs may use
        ///   others.
        /// - Returns: `false` if the thread has ended already, or if the object was made before a fork and this is the child:
        ///   `body` is freed and never called.
        @discardableResult
        public func perform(inModes modes: Set<Mode>, _ body: sending @escaping () -> Void) -> Bool {
            RunLoop.wasAccepted(loop.post(modes, atEnd: .perform, consume body))
        }

        /// Calls `body` once on the thread, in the common modes of its loop, and does not wait for it.
        ///
        /// The same as `perform(inModes:)` with the common modes, without a set of modes.
        ///
        /// - Returns: as `perform(inModes:)`.
        @discardableResult
        public func perform(_ body: sending @escaping () -> Void) -> Bool {
            RunLoop.wasAccepted(loop.post(.common, atEnd: .perform, consume body))
        }

        /// Calls `body` once on the thread, waits for it, and returns or throws what it returned or threw.
        ///
        /// On the thread itself `body` is called at once. From any other thread it is called in the order of performed closures,
        /// and must not wait for the caller. If the thread is ending, `body` is called while it ends. If the thread has ended, or
        /// this is a forked child, there is no thread to call it, and that is a precondition failure. It cannot happen to a
        /// caller that holds a reference to an object which nobody stops. O(modes), and at least two switches of threads.
        ///
        /// - Parameter modes: in which modes of the loop; `nil`: in the common ones.
        @available(*, noasync, message: "It blocks. At top level await it with the argument isolation: #isolation.")
        @discardableResult
        public func performAndWait<Value, Failure: Swift.Error>(
            inModes modes: Set<Mode>? = nil, _ body: sending () throws(Failure) -> sending Value
        ) throws(Failure) -> sending Value {
            if loop.isCurrent { return try body() }
            return try withoutActuallyEscaping(body) { body throws(Failure) in
                // It is called by the one thread while the other waits, and released before that goes on.
                nonisolated(unsafe) let body = body
                let (call, done) = unsafe (AwaitedCall(atEnd: .perform, body), Handover<Void>())
                let result = loop.post(modes ?? RunLoop.commonModes, atEnd: .perform) {
                    call.run()
                    done.put(())
                }
                if result == -ErrorNumber.outOfMemory { outOfMemory() }
                precondition(result == 0, Error(result: result).description)
                done.wait()
                return try call.takeResultOfBody()
            }
        }

        /// Ends the thread, at the end of the current iteration of its loop, or when the runs that are nested there have ended.
        ///
        /// The request is never lost, however early it comes. A nested run is ended too. If several runs are nested in each other,
        /// those in common modes are ended, and the thread waits until the others have ended by themselves. Closures that were
        /// accepted until then are called while the thread ends. A second call, or one after the end, has no effect. Any thread,
        /// this one too; does not wait. O(1).
        public func stop() {
            request.isMade.store(true, ordering: .sequentiallyConsistent)
            loop.stop(remembered: true)
        }

        /// Waits until the thread has ended and its loop has been freed. Does not stop it. Several threads may wait, and a
        /// second call returns at once.
        ///
        /// Not on the thread itself: that would wait for ever, and is a precondition failure.
        @available(*, noasync, message: "It blocks. At top level await it with the argument isolation: #isolation.")
        public func join() {
            precondition(!loop.isCurrent, "A thread cannot wait for its own end.")
            precondition(!process.isOver, "The thread is one of the process before the fork.")
            isJoined.withLock { isJoined in
                if !isJoined { thread.join() }
                isJoined = true
            }
        }

        /// Waits until the thread's loop has been freed, and the thread is about to exit. Does not stop it. The task waits, and
        /// blocks no thread: an asynchronous program ends its thread with this.
        ///
        ///     thread.stop()
        ///     await thread.join()
        ///
        /// In the top-level code of a main.swift the compiler takes that for the function that blocks, and refuses it. There it is
        /// `await thread.join(isolation: #isolation)`.
        ///
        /// By then every accepted closure has been called, every other closure of the loop has been freed, and every `onCancel`
        /// has been called. Cancelling the task does not end the wait. Several tasks may wait, and a wait after the end returns.
        ///
        /// Not on the thread itself, in an actor on its loop's executor for instance: the task could not continue there, and that
        /// is a precondition failure.
        public func join(isolation actor: isolated (any Actor)? = #isolation) async {
            precondition(!loop.isCurrent, "A thread cannot wait for its own end.")
            precondition(!process.isOver, "The thread is one of the process before the fork.")
            await loop.end.wait(isolation: actor)
        }
    }
}

/// Whether a thread was asked to end. It is kept apart from the stop of the loop, because a nested run may consume that.
private final class StopRequest: Sendable {
    let isMade = Atomic(false)
}

/// The body of the thread. An error comes before `started` is called.
private func serve(
    until request: StopRequest, started: @escaping @Sendable (RunLoop) -> Void
) throws {
    let loop = try RunLoop.makeCurrent()
    let keepAlive = try RunLoop.KeepAlive(on: loop)
    defer { keepAlive.invalidate() }
    // Whichever run consumed the stop, the next iteration and the next sleep check the request.
    let watch = RunLoop.Observer([.beforeTimers, .beforeWaiting], order: .max) { _, _ in
        if request.isMade.load(ordering: .sequentiallyConsistent) { loop.stop() }
    }
    loop.addUnlessOver(watch, forMode: .common)
    loop.addUnlessOver(
        RunLoop.Observer(.entry, repeats: false) { _, _ in started(loop) }, forMode: .default)
    repeat {
        _ = loop.run(.default, limit: Nanoseconds.never)
    } while !request.isMade.load(ordering: .sequentiallyConsistent)
}
#endif
