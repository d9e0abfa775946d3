/// The sources in a loop of an iteration over the input of a descriptor, and the buffer into which the loop's thread reads.
///
/// The buffer is filled only while a task waits for it, and is not changed until that task waits again. So one buffer is enough,
/// nothing is read that was not requested, and when no wait is active the descriptor is not read.
final class DescriptorReader: @unchecked Sendable {
    /// The result of a wait.
    enum Outcome {
        /// The bytes at the beginning of the buffer.
        case bytes(Int)
        case end
        case cancelled
        case failure(RunLoop.Error)
    }

    private struct State {
        var sources: Sources?
        /// The loop has the descriptor's source. It keeps it while the reader is as fast as the writer; the first report that
        /// nobody waits for takes it out.
        var isArmed = false
        /// The kernel does not report the descriptor, because a read of it never waits: a regular file, /dev/null.
        var isAlwaysReady = false
        var waiter: UnsafeContinuation<Outcome, Never>?
        /// What every further wait comes to.
        var verdict: Outcome?

        mutating func arm(in loop: RunLoop, _ mode: RunLoop.Mode) {
            guard !isArmed, let sources else { return }
            if isAlwaysReady { return sources.presence.signal(waking: loop) }
            do throws(RunLoop.Error) {
                try loop.add(sources.descriptor, forMode: mode)
                isArmed = true
            } catch .permissionDenied {
                isAlwaysReady = true
                sources.presence.signal(waking: loop)
            } catch {
                verdict = .failure(error)
            }
        }

        mutating func disarm(in loop: RunLoop, _ mode: RunLoop.Mode) {
            guard isArmed, let sources else { return }
            loop.remove(sources.descriptor, forMode: mode)
            isArmed = false
        }
    }

    private struct Sources {
        let descriptor: RunLoop.Source
        /// Keeps the mode from being empty while the other one is out, and tells of the end of the loop's thread. Signalled once
        /// per wait when the kernel does not report the descriptor, so there too the loop reads once per iteration.
        let presence: RunLoop.Source

        func invalidate() {
            descriptor.invalidate()
            presence.invalidate()
        }
    }

    private let loop: RunLoop
    private let mode: RunLoop.Mode
    private let input: DescriptorInput
    private let socket: ConnectedSocket?
    private let buffer: UnsafeMutableRawBufferPointer
    /// The loop is called under this lock; the loop never takes it while it holds a lock of its own.
    private let state = Guarded(State())

    /// Throws the errors of making and adding a source.
    init(_ input: InputOfDescriptor) throws(RunLoop.Error) {
        loop = input.loop
        mode = input.mode
        socket = input.socket
        self.input = try DescriptorInput(input.descriptor)
        buffer = .allocate(byteCount: input.bufferSize, alignment: 1)
        let source = try RunLoop.Source(fileDescriptor: input.descriptor) { [weak self] _ in self?.fill() }
        let presence = RunLoop.Source(
            onCancel: { [weak self] _, _ in self?.finish(.failure(.loopFinished)) },
            perform: { [weak self] in self?.fill() })
        state.withLock { $0.sources = Sources(descriptor: source, presence: presence) }
        try loop.add(presence, forMode: mode)
    }

    deinit {
        state.withLock { $0.sources }?.invalidate()
        buffer.deallocate()
    }

    /// The first bytes of the buffer, until the next wait.
    func bytes(_ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: buffer[..<count])
    }

    /// Waits until the buffer has been filled. One wait at a time.
    func wait(isolation actor: isolated (any Actor)?) async -> Outcome {
        await withTaskCancellationHandler(
            operation: { await withUnsafeContinuation(isolation: actor) { begin($0) } },
            onCancel: { finish(.cancelled) },
            isolation: actor)
    }

    private func begin(_ waiter: UnsafeContinuation<Outcome, Never>) {
        let verdict: Outcome? = state.withLock { state in
            if state.verdict == nil { state.arm(in: loop, mode) }
            if state.verdict == nil {
                precondition(
                    state.waiter == nil, "Only one task at a time may wait for an iteration over a descriptor.")
                state.waiter = waiter
                socket?.limits.beginWait()
            }
            return state.verdict
        }
        guard let verdict else { return }
        invalidateSources()
        waiter.resume(returning: verdict)
    }

    /// The descriptor was reported, or is always ready: on the loop's thread.
    private func fill() {
        let reading: (UnsafeContinuation<Outcome, Never>, Outcome)? = state.withLock { state in
            guard let waiter = state.waiter else {
                state.disarm(in: loop, mode)
                return nil
            }
            let outcome: Outcome
            switch input.read(into: buffer) {
            case .nothing:
                // A descriptor that the kernel reports is reported again. The next iteration reads the other kind again.
                if state.isAlwaysReady { state.arm(in: loop, mode) }
                return nil
            case .bytes(let count):
                socket?.noteMove(at: Nanoseconds.now)
                outcome = .bytes(count)
            case .end: outcome = socket?.failure.map(Outcome.failure) ?? .end
            case .failure(let error): outcome = .failure(socket?.failure ?? error)
            }
            state.waiter = nil
            socket?.limits.endWait()
            if case .bytes = outcome {} else { state.verdict = outcome }
            return (waiter, outcome)
        }
        guard let (waiter, outcome) = reading else { return }
        if case .bytes = outcome {} else { invalidateSources() }
        waiter.resume(returning: outcome)
    }

    /// Ends the wait and every further one, unless that has been done. No thread is reading when this returns.
    private func finish(_ verdict: Outcome) {
        let waiter = state.withLock { state in
            if state.verdict == nil { state.verdict = verdict }
            defer { state.waiter = nil }
            socket?.limits.endWait()
            return state.waiter
        }
        invalidateSources()
        waiter?.resume(returning: verdict)
    }

    private func invalidateSources() {
        let sources = state.withLock { state in
            defer { state.sources = nil }
            return state.sources
        }
        sources?.invalidate()
    }
}
