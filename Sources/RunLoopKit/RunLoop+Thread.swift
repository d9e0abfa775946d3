internal import Synchronization

extension RunLoop {
    /// A thread whose loop runs until the thread is stopped.
    ///
    /// The loop runs in the default mode, and is never finished: it sleeps while it has nothing to do. A `stop()` of the
    /// loop ends a run that a closure has nested there, but not the thread; that is what `RunLoop.Thread.stop()` is for.
    ///
    /// Nothing on the thread refers to this object: when the last reference to it is gone, the thread is stopped.
    ///
    /// Which signals are blocked on it, it inherits from the thread that makes it, as every POSIX thread does. A daemon that
    /// blocks signals in its `main`, to wait for them itself, relies on that. But the threads that run tasks have nearly all
    /// signals blocked, and a thread made by a task as well; so has a program that is started there, unless it is started with
    /// a mask of its own. Sources for signals don't mind, as long as any thread of the process lets the signal through. Where
    /// it matters, make the thread in synchronous code, before the first task, or set the mask as the first thing on it:
    ///
    ///     thread.perform {
    ///         var none = sigset_t()
    ///         sigemptyset(&none)
    ///         pthread_sigmask(SIG_SETMASK, &none, nil)
    ///     }
    public final class Thread: Sendable {
        /// The thread's loop. It runs already. Kept longer than the thread, it is a loop on which nothing ever runs (R10).
        public let loop: RunLoop

        private let thread: PosixThread
        private let request: StopRequest
        private let isJoined = Guarded(false)
        private let process = ForkGeneration()

        /// Starts a thread, and returns when its loop runs. Waits for that, for about as long as starting a thread takes.
        ///
        /// - Parameters:
        ///   - name: what debuggers and `/proc` show. Linux keeps 15 bytes; what does not fit is left off.
        ///   - stackSize: in bytes, rounded up to whole pages and to 64 KiB. `nil`: as the system thinks fit.
        /// - Throws: `tooManyThreads`, `tooManyDescriptors`, `outOfMemory`; no thread is left behind.
        public init(name: String? = nil, stackSize: Int? = nil) throws(RunLoop.Error) {
            let request = StopRequest()
            let started = Handover<Result<RunLoop, RunLoop.Error>>()
            thread = try PosixThread(name: name, stackSize: stackSize) { serve(until: request, announceTo: started) }
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
            // Under the lock for the reader's sake only: nobody else can be here any more.
            if !process.isOver && !isJoined.withLock({ $0 }) { thread.detach() }
        }

        /// Calls `body` once on the thread, and does not wait for it. As `RunLoop.perform`, but for this: what was accepted
        /// is never dropped. If the thread ends first, `body` runs while it ends, after the `onCancel` of every source.
        ///
        /// Any thread, this one too: then `body` runs in a later round. O(modes).
        ///
        /// - Parameter modes: in which modes of the loop; as long as nobody nests runs there, it runs in the default mode.
        /// - Returns: `false` if the thread has ended already, or if the object was made before a fork and this is the child:
        ///   `body` is freed and never called.
        @discardableResult
        public func perform(inModes modes: Set<Mode> = [.common], _ body: sending @escaping () -> Void) -> Bool {
            RunLoop.wasAccepted(loop.core.post(modes, atEnd: .perform, consume body))
        }

        /// Calls `body` once on the thread, in the common modes of its loop, and does not wait for it.
        ///
        /// What `perform(inModes:)` does with the common modes, without a set of modes to be made for each closure.
        ///
        /// - Returns: as above.
        @discardableResult
        public func perform(_ body: sending @escaping () -> Void) -> Bool {
            RunLoop.wasAccepted(loop.core.post(.common, atEnd: .perform, consume body))
        }

        /// Calls `body` once on the thread, waits for it, and returns or throws what it returned or threw.
        ///
        /// From the thread itself `body` is called at once. From any other it waits its turn like every performed closure,
        /// and what it waits for must not wait for the caller. If the thread is ending, `body` runs while it ends; if it has
        /// ended, or this is a forked child, there is nobody to call it: that is a precondition failure. Who keeps a reference
        /// to the object and does not stop it is safe from that. O(modes), and at least two switches of threads.
        ///
        /// - Parameter modes: in which modes of the loop.
        @available(*, noasync, message: "This blocks the calling thread: use an actor on the loop's executor instead.")
        @discardableResult
        public func performAndWait<Value, Failure: Swift.Error>(
            inModes modes: Set<Mode> = [.common], _ body: sending () throws(Failure) -> sending Value
        ) throws(Failure) -> sending Value {
            if loop.isCurrent { return try body() }
            return try withoutActuallyEscaping(body) { body throws(Failure) in
                let call = WaitedCall(body)
                let result = loop.core.post(modes, atEnd: .perform) { call.run() }
                if case .outOfMemory = Error(result: result) { outOfMemory() }
                precondition(result == 0, Error(result: result).description)
                return try call.wait()
            }
        }

        /// Ends the thread: at the end of the iteration that its loop is in, or when the runs that are nested there allow it.
        ///
        /// Cannot be lost, however early it comes. A nested run is ended too; if several are nested in each other, those in
        /// common modes are, and others as soon as they end by themselves. Closures that were accepted until then run while
        /// the thread ends. Twice is once, late is nothing. Any thread, this one too; does not wait. O(1).
        public func stop() {
            request.isMade.store(true, ordering: .sequentiallyConsistent)
            loop.core.stopLatched()
        }

        /// Waits until the thread has ended and its loop is gone. Does not stop it. Several may wait; twice is once.
        ///
        /// Not on the thread itself: that would wait for ever, and is a precondition failure.
        @available(*, noasync, message: "This blocks the calling thread until another thread ends.")
        public func join() {
            precondition(!loop.isCurrent, "A thread cannot wait for its own end.")
            precondition(!process.isOver, "The thread is one of the process before the fork.")
            isJoined.withLock { isJoined in
                if !isJoined { thread.join() }
                isJoined = true
            }
        }

        /// Waits until the thread's loop is gone, and the thread has nothing left to do but to leave. Does not stop it. The task
        /// waits, no thread does: what an asynchronous program ends its thread with.
        ///
        ///     thread.stop()
        ///     await thread.join()
        ///
        /// Every closure that was accepted has run by then, every other one of the loop has been freed, and every `onCancel`
        /// called. Cancelling the task does not end the wait. Several may wait, and as late as they like.
        ///
        /// Not on the thread itself, in an actor on its loop's executor for instance: nobody could go on there afterwards, and
        /// that is a precondition failure.
        public func join(isolation actor: isolated (any Actor)? = #isolation) async {
            precondition(!loop.isCurrent, "A thread cannot wait for its own end.")
            precondition(!process.isOver, "The thread is one of the process before the fork.")
            await loop.end.wait(isolation: actor)
        }
    }
}

/// Whether a thread was asked to end: a nested run may use up the stop that tells its loop so.
private final class StopRequest: Sendable {
    let isMade = Atomic(false)
}

/// What the thread does from its beginning to its end.
private func serve(
    until request: StopRequest, announceTo started: Handover<Result<RunLoop, RunLoop.Error>>
) {
    let loop: RunLoop
    switch LoopCore.makeCurrent() {
    case .success(let core): loop = RunLoop.object(of: core)
    case .failure(let error): return started.put(.failure(error))
    }
    let keepAlive: RunLoop.KeepAlive
    do {
        keepAlive = try RunLoop.KeepAlive(on: loop)
    } catch {
        return started.put(.failure(error))
    }
    defer { keepAlive.invalidate() }
    // Whatever used up the stop, the next sleep and the next iteration see the request.
    let watch = RunLoop.Observer([.beforeTimers, .beforeWaiting], order: .max) { [core = loop.core] _, _ in
        if request.isMade.load(ordering: .sequentiallyConsistent) { core.stop() }
    }
    loop.add(watch, forMode: .common)
    loop.add(RunLoop.Observer(.entry, repeats: false) { _, _ in started.put(.success(loop)) }, forMode: .default)
    repeat {
        _ = LoopCore.run(.default, limit: Nanoseconds.never, returnAfterSourceHandled: false)
    } while !request.isMade.load(ordering: .sequentiallyConsistent)
}

/// A call that somebody waits for: the closure lives on the stack of who waits, so it is let go of before that is told.
private final class WaitedCall<Value, Failure: Error>: @unchecked Sendable {
    private let done = Handover<Void>()
    // Both are touched by the thread that calls, before it says that it is done, and by the other one afterwards.
    private var body: (() throws(Failure) -> Value)?
    private var result: Result<Value, Failure>?

    init(_ body: @escaping () throws(Failure) -> Value) {
        self.body = body
    }

    func run() {
        callBody()
        done.put(())
    }

    private func callBody() {
        guard let body else { return }
        do throws(Failure) {
            result = .success(try body())
        } catch {
            result = .failure(error)
        }
        self.body = nil
    }

    func wait() throws(Failure) -> Value {
        done.wait()
        guard let result else { preconditionFailure("A call was reported as done before it was.") }
        self.result = nil
        return try result.get()
    }
}
