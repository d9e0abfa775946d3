#if os(Linux)
internal import RunLoopKit

/// The source in a loop of an iteration over the input of a descriptor, and what the loop's thread has read for it.
///
/// It is read only while a task waits for it, into the buffer of that thread; what was read is kept here until the task waits again. So nothing is
/// read that was not requested, when no wait is active the descriptor is not read, and a connection that is idle has no buffer. That also is why it
/// is Sendable: what was read and the outcome belong to the loop's thread, under the lock, from the beginning of a wait to its end, and to the task
/// otherwise.
@safe final class DescriptorReader: @unchecked Sendable {
    /// The result of a wait.
    enum Outcome {
        /// So many.
        case bytes(Int)
        /// Other descriptors have had their turn.
        case turn
        case end
        case cancelled
        case failure(RunLoop.Error)
    }

    private typealias Waiter = UnsafeContinuation<Void, Never>

    /// The thread that takes the waiter out resumes it, so that happens once.
    @safe private struct State {
        /// In the loop until there is a verdict, so the mode is not empty.
        var source: RunLoop.Source?
        /// The source asks for input. It does so while the reader is as fast as the writer; the first report that nobody waits for
        /// pauses it.
        var isArmed = false
        /// The kernel does not report the descriptor, because a read of it never waits: a regular file, /dev/null. The source is
        /// signalled once per wait, so there too the loop reads once per iteration.
        var isAlwaysReady = false
        @safe var waiter: Waiter?
        /// A task that has not taken everything, and waits until other descriptors have had their turn.
        @safe var yielding: Waiter?
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
    private let bufferSize: Int
    /// What was read last.
    private var held = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// Of the last wait.
    private(set) var outcome = Outcome.end
    /// The next wait lets everything that is ready have its turn, if it begins on the loop's thread: the source goes to the end of the line, and
    /// the wait ends when its turn has come. What was read stays.
    var waitsForTurn = false
    /// The loop is called under this lock; the loop never takes it while it holds a lock of its own.
    private let state = Guarded(State())

    /// Throws the errors of making and adding a source.
    init(_ input: InputOfDescriptor) throws(RunLoop.Error) {
        loop = input.loop
        socket = input.socket
        pipe = input.pipe
        self.input = try DescriptorInput(input.descriptor)
        bufferSize = input.bufferSize
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
        unsafe held.deallocate()
    }

    /// What the last wait has found, until the next one.
    func bytes(_ count: Int) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: held[..<count])
    }

    //===-- waiting --------------------------------------------------------------------------------------------------===//

    /// Waits until something has been read. One wait at a time.
    func wait(isolation actor: isolated (any Actor)?) async {
        await withTaskCancellationHandler(
            operation: {
                unsafe await withUnsafeContinuation(isolation: actor) { (waiter: Waiter) in
                    unsafe waiter.resumes(on: actor)
                    if waitsForTurn { unsafe beginTurn(waiter) } else { unsafe begin(waiter) }
                }
            }, onCancel: { finish(.cancelled, ifAwaited: true) }, isolation: actor)
    }

    private func begin(_ waiter: Waiter) {
        let isKnown = state.withLock { state in
            unsafe precondition(
                state.waiter == nil, "Only one task at a time may wait for an iteration over a descriptor.")
            unsafe held.deallocate()
            unsafe held = UnsafeMutableRawBufferPointer(start: nil, count: 0)
            if state.verdict == nil && Task.isCancelled { state.verdict = .cancelled }
            if state.verdict == nil { state.arm(in: loop, atOnce: pipe?.hasKept == true) }
            if state.verdict == nil { state.limitLine(socket?.limits) }
            if let verdict = state.verdict {
                outcome = verdict
                return true
            }
            state.waiter = unsafe waiter
            socket?.limits.beginWait()
            return false
        }
        if !isKnown { return }
        invalidateSource()
        unsafe waiter.resume()
    }

    private func beginTurn(_ waiter: Waiter) {
        waitsForTurn = false
        outcome = .turn
        let source: RunLoop.Source? = state.withLock { state in
            guard loop.isCurrent, state.verdict == nil, let source = state.source else { return nil }
            state.yielding = unsafe waiter
            return source
        }
        if let source { source.signal() } else { unsafe waiter.resume() }
    }

    //===-- on the loop's thread -------------------------------------------------------------------------------------===//

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

    /// The descriptor was reported, or is always ready; or a task has waited for its turn.
    private func fill() {
        let (waiter, isOver): (Waiter?, Bool) = unsafe state.withLock { state in
            if let yielding = unsafe state.yielding.take() { return unsafe (yielding, false) }
            if unsafe state.waiter == nil {
                state.disarm()
                return (nil, false)
            }
            guard let outcome = read() else {
                // A descriptor that the kernel reports is reported again. The next iteration reads the other kind again.
                if state.isAlwaysReady { state.arm(in: loop) }
                return (nil, false)
            }
            self.outcome = outcome
            socket?.limits.endWait()
            if case .bytes = outcome { return unsafe (state.waiter.take(), false) }
            state.verdict = outcome
            return unsafe (state.waiter.take(), true)
        }
        if isOver { invalidateSource() }
        unsafe waiter?.resume()
    }

    /// - Returns: `nil` if there is nothing to read.
    private func read() -> Outcome? {
        let buffer = unsafe loop.inputBuffer.space(of: bufferSize)
        switch unsafe pipe?.read(input, into: buffer) ?? input.read(into: buffer) {
        case .nothing: return nil
        case .bytes(let count):
            unsafe held = loop.inputBuffer.take(count)
            socket?.noteInput(count)
            return .bytes(count)
        case .end: return socket?.failure.map(Outcome.failure) ?? .end
        case .failure(let error): return .failure(socket?.failure ?? error)
        }
    }

    /// Ends the wait and every further one, unless that has been done. No thread is reading when this returns.
    ///
    /// - Parameter ifAwaited: only if a task waits. One that is cancelled later has its bytes, and the next wait is another task's.
    private func finish(_ verdict: Outcome, ifAwaited: Bool = false) {
        let waiters: (Waiter?, Waiter?)? = unsafe state.withLock { state in
            if unsafe state.verdict != nil || (ifAwaited && state.waiter == nil) { return nil }
            state.verdict = verdict
            socket?.limits.endWait()
            if unsafe state.waiter != nil { outcome = verdict }
            return unsafe (state.waiter.take(), state.yielding.take())
        }
        guard let (waiter, yielding) = unsafe waiters else { return }
        invalidateSource()
        unsafe waiter?.resume()
        unsafe yielding?.resume()
    }

    private func invalidateSource() { state.withLock { $0.source.take() }?.invalidate() }
}
#endif
