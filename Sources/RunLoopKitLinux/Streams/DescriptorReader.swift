#if os(Linux)
internal import RunLoopKit

/// The source in a loop of an iteration over the input of a descriptor, and the buffer into which the loop's thread reads.
///
/// The buffer is filled only while a task waits for it, and is not changed until that task waits again. So one buffer is enough,
/// nothing is read that was not requested, and when no wait is active the descriptor is not read. That also is why it is Sendable: the
/// buffer belongs to the loop's thread, under the lock, from the beginning of a wait to its outcome, and to the task otherwise.
@safe final class DescriptorReader: @unchecked Sendable {
    /// The result of a wait.
    enum Outcome {
        /// The bytes at the beginning of the buffer.
        case bytes(Int)
        case end
        case cancelled
        case failure(RunLoop.Error)
    }

    /// Whoever takes the waiter out resumes it, so that happens once.
    @safe private struct State {
        /// In the loop until there is a verdict, so the mode is not empty.
        var source: RunLoop.Source?
        /// The source asks for input. It does so while the reader is as fast as the writer; the first report that nobody waits for
        /// pauses it.
        var isArmed = false
        /// The kernel does not report the descriptor, because a read of it never waits: a regular file, /dev/null. The source is
        /// signalled once per wait, so there too the loop reads once per iteration.
        var isAlwaysReady = false
        @safe var waiter: WaitingTasks<Outcome>.Waiter?
        /// What every further wait comes to.
        var verdict: Outcome?

        mutating func arm(in loop: RunLoop, atOnce: Bool = false) {
            guard let source else { return }
            if isAlwaysReady || atOnce { return source.signal(waking: loop) }
            if isArmed { return }
            do throws(RunLoop.Error) {
                try source.request(.read)
                isArmed = true
            } catch .permissionDenied {
                isAlwaysReady = true
                source.signal(waking: loop)
            } catch {
                verdict = .failure(error)
            }
        }

        /// The source has a deadline from the time on when a line begins. It is not moved for each line: one that has passed is a
        /// reason to look, and there is none while no line is awaited.
        mutating func limitLine(_ limits: ConnectionLimits?) {
            guard let deadline = limits?.lineDeadline, let source, source.deadline == nil else { return }
            do throws(RunLoop.Error) { try source.setDeadline(deadline) } catch { verdict = .failure(error) }
        }

        mutating func disarm() {
            if isArmed { source?.pause() }
            isArmed = false
        }
    }

    private let loop: RunLoop
    private let input: DescriptorInput
    private let socket: ConnectedSocket?
    private let pipe: ChildPipe?
    private let buffer: UnsafeMutableRawBufferPointer
    /// The loop is called under this lock; the loop never takes it while it holds a lock of its own.
    private let state = Guarded(State())

    /// Throws the errors of making and adding a source.
    init(_ input: InputOfDescriptor) throws(RunLoop.Error) {
        loop = input.loop
        socket = input.socket
        pipe = input.pipe
        self.input = try DescriptorInput(input.descriptor)
        unsafe buffer = .allocate(byteCount: input.bufferSize, alignment: 1)
        let source = try RunLoop.Source(
            inputDescriptor: input.descriptor,
            onEndOfLoop: { [weak self] in self?.finish(.failure(.loopFinished)) },
            perform: { [weak self] in self?.called($0) })
        state.withLock { $0.source = source }
        try loop.admit(source, to: input.mode)
        if pipe?.begin(self) == false { stopWaiting() }
    }

    /// From now on the descriptor counts as always ready: what is there is read, and then it is at its end.
    func stopWaiting() {
        state.withLock { state in
            state.disarm()
            state.isAlwaysReady = true
            if unsafe state.waiter != nil { state.arm(in: loop) }
        }
    }

    deinit {
        state.withLock { $0.source }?.invalidate()
        unsafe buffer.deallocate()
    }

    /// The first bytes of the buffer, until the next wait.
    func bytes(_ count: Int) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count])
    }

    /// Waits until the buffer has been filled. One wait at a time.
    func wait(isolation actor: isolated (any Actor)?) async -> Outcome {
        unsafe await WaitingTasks<Outcome>.wait(
            isolation: actor, begin: { unsafe begin($0) }, cancel: { finish(.cancelled, ifAwaited: true) })
    }

    private func begin(_ waiter: WaitingTasks<Outcome>.Waiter) {
        let verdict: Outcome? = state.withLock { state in
            if state.verdict == nil && Task.isCancelled { state.verdict = .cancelled }
            if state.verdict == nil { state.arm(in: loop, atOnce: pipe?.hasKept == true) }
            if state.verdict == nil { state.limitLine(socket?.limits) }
            if state.verdict == nil {
                unsafe precondition(
                    state.waiter == nil, "Only one task at a time may wait for an iteration over a descriptor.")
                state.waiter = unsafe waiter
                socket?.limits.beginWait()
            }
            return state.verdict
        }
        guard let verdict else { return }
        invalidateSource()
        unsafe waiter.resume(returning: verdict)
    }

    /// On the loop's thread.
    private func called(_ reasons: RunLoop.Source.Readiness) {
        if reasons.contains(.due) { lookAtLine() }
        if reasons != .due { fill() }
    }

    /// The line for which a task waits is late. If none waits any more, the next wait begins with a look.
    private func lookAtLine() {
        guard let socket, state.withLock({ unsafe $0.waiter != nil }) else { return }
        guard let deadline = socket.limits.lookAtLine(of: socket) else { return }
        state.withLock { try? $0.source?.setDeadline(deadline) }
    }

    /// The descriptor was reported, or is always ready.
    private func fill() {
        let reading: (WaitingTasks<Outcome>.Waiter, Outcome)? = unsafe state.withLock { state in
            guard let waiter = state.waiter else {
                state.disarm()
                return nil
            }
            let outcome: Outcome
            switch unsafe pipe?.read(input, into: buffer) ?? input.read(into: buffer) {
            case .nothing:
                // A descriptor that the kernel reports is reported again. The next iteration reads the other kind again.
                if state.isAlwaysReady { state.arm(in: loop) }
                return nil
            case .bytes(let count):
                socket?.noteInput(count)
                outcome = .bytes(count)
            case .end: outcome = socket?.failure.map(Outcome.failure) ?? .end
            case .failure(let error): outcome = .failure(socket?.failure ?? error)
            }
            state.waiter = nil
            socket?.limits.endWait()
            if case .bytes = outcome {} else { state.verdict = outcome }
            return unsafe (waiter, outcome)
        }
        guard let (waiter, outcome) = unsafe reading else { return }
        if case .bytes = outcome {} else { invalidateSource() }
        unsafe waiter.resume(returning: outcome)
    }

    /// Ends the wait and every further one, unless that has been done. No thread is reading when this returns.
    ///
    /// - Parameter ifAwaited: only if a task waits. One that is cancelled later has its bytes, and the next wait is another task's.
    private func finish(_ verdict: Outcome, ifAwaited: Bool = false) {
        let waiter: WaitingTasks<Outcome>.Waiter?? = unsafe state.withLock { state in
            if unsafe state.verdict != nil || (ifAwaited && state.waiter == nil) { return nil }
            state.verdict = verdict
            socket?.limits.endWait()
            return unsafe .some(state.waiter.take())
        }
        guard let waiter = unsafe waiter else { return }
        invalidateSource()
        unsafe waiter?.resume(returning: verdict)
    }

    private func invalidateSource() { state.withLock { $0.source.take() }?.invalidate() }
}
#endif
