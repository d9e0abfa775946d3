#if os(Linux)
public import RunLoopKit

extension RunLoop {
    /// Writes to a descriptor as fast as the other side reads, and no faster.
    ///
    ///     let writer = try RunLoop.Writer(borrowing: descriptor, on: loop)
    ///     for text in messages { try await writer.write(text) }
    ///     try await writer.finish()
    ///
    /// What the kernel does not take at once waits in a buffer with a limit, which the loop's thread sends when the descriptor is
    /// writable. A caller that writes more waits (`write`) or learns that the buffer is full (`enqueue`), so a slow reader costs bounded
    /// memory. The loop watches the descriptor only while output waits.
    ///
    /// Any thread and any number of tasks may write: the bytes of one call are never mixed with another's, and those of a task that
    /// waits come before those of a task that comes later. The mode is not empty (R23) until the writer is invalidated or freed,
    /// or has closed its descriptor.
    /// Regular files, and devices like /dev/null, never wait: they are written at once, on the caller's thread.
    ///
    /// Bytes that were *accepted*, by a call that has returned, are sent in order, even if the task that wrote them is cancelled.
    /// They are lost if the descriptor fails, if the loop's thread ends, and if the writer is invalidated or freed before they are
    /// sent: `flush()` waits for that. A forked child sends none of its parent's.
    ///
    /// Each call throws the error of the descriptor once there was one: `brokenPipe` and `connectionReset` if nobody reads any
    /// more, `noSpaceLeft` if the disk of a file is full, and others. There is no SIGPIPE: sockets are asked not to raise it, and around a
    /// write to a pipe the signal is blocked in the calling thread and taken back. `loopFinished` after the end of the loop's thread;
    /// `invalid` after `invalidate()`;
    /// `inheritedAcrossFork`.
    public final class Writer: Sendable {
        private let output: OutputHandle
        private let queue: OutputQueue
        /// The descriptor's owner, if it is a connection's.
        private let socket: ConnectedSocket?

        /// Makes a writer for a descriptor that stays the caller's: close it after the writer's end. Any thread. O(1), a few system calls.
        ///
        /// - Parameters:
        ///   - descriptor: open for writing: a socket, a pipe, a terminal, a file. Need not be non-blocking: one that is not is
        ///     given at most 4,096 bytes at a time, when the kernel says that it is writable.
        ///   - loop: on whose thread waiting output is sent.
        ///   - limit: how many bytes may wait, greater than zero (anything else is a precondition failure).
        ///   - mode: in which mode, or in all common ones.
        /// - Throws: `badDescriptor`, `tooManyDescriptors` (for a moment it needs one, unless it is for a socket), `loopFinished`,
        ///   `inheritedAcrossFork`, `outOfMemory`.
        public convenience init(
            borrowing descriptor: CInt, on loop: RunLoop, limit: Int = 65_536, inMode mode: Mode = .common
        ) throws {
            try self.init(descriptor, loop, limit, false, mode, nil)
        }

        /// Makes a writer that alone closes the descriptor from this call on: when it is finished, invalidated or freed, and also if this
        /// throws. Otherwise as borrowing it.
        public convenience init(
            adopting descriptor: CInt, on loop: RunLoop, limit: Int = 65_536, inMode mode: Mode = .common
        ) throws {
            try self.init(descriptor, loop, limit, true, mode, nil)
        }

        init(
            _ descriptor: CInt, _ loop: RunLoop, _ limit: Int, _ owns: Bool, _ mode: Mode, _ socket: ConnectedSocket?,
            resets: Bool = false
        ) throws(RunLoop.Error) {
            precondition(limit > 0, "The buffer of a writer has at least one byte.")
            queue = OutputQueue()
            do throws(RunLoop.Error) {
                output = try OutputHandle(descriptor, of: loop, limit: limit, owns: owns, resets: resets, queue)
            } catch {
                if owns { closeDescriptor(descriptor) }
                throw error
            }
            self.socket = socket
            // If the loop refuses it, it is freed, and closes what it owns.
            try loop.admit(output.source, to: mode)
        }

        deinit {
            if let socket { socket.noteMove(at: max(socket.lastMove, lastMove)) }
            invalidate()
        }

        /// Writes bytes, and waits while the buffer is full.
        ///
        /// - Returns: how many bytes were accepted: all, or fewer if the task was cancelled while it waited, which is no error. A
        ///   call that need not wait writes even if its task is cancelled.
        @discardableResult
        public func write(
            _ bytes: some Collection<UInt8>, isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> Int {
            // The bytes first: a collection may be computed, by code that uses the writer.
            let (attempt, ticket) = unsafe withBytes(bytes) { start, count in
                count == 0 ? (.taken(0), nil) : queue.begin(count) { unsafe output.write(start, count) }
            }
            if let ticket { return try await writeRest(bytes, ticket, after: attempt, isolation: actor) }
            switch attempt {
            case .taken(let count): return count
            case .failure(let error): throw reason(for: error)
            case .mustWait: preconditionFailure("A write that waits has no place in the line.")
            }
        }

        /// What the first attempt has not taken, with a place in the line.
        private func writeRest(
            _ bytes: some Collection<UInt8>, _ ticket: OutputQueue.Ticket, after first: OutputQueue.Attempt,
            isolation actor: isolated (any Actor)?
        ) async throws -> Int {
            defer { queue.leave(ticket) }
            let count = bytes.count
            var (accepted, attempt) = (0, first)
            while true {
                switch attempt {
                case .taken(let more): accepted += more
                case .failure(let error): throw reason(for: error)
                case .mustWait(let changes):
                    if await queue.wait(ticket, after: changes, isolation: actor) == .cancelled { return accepted }
                }
                if accepted >= count { return accepted }
                attempt = unsafe withBytes(bytes.dropFirst(accepted)) { start, count in
                    queue.attempt(.first(ticket)) { unsafe output.write(start, count) }
                }
            }
        }

        /// Writes text, as UTF-8, and waits until there is space in the queue. As above.
        @discardableResult
        public func write(
            _ text: String, isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> Int {
            try await write(text.utf8, isolation: actor)
        }

        /// Takes all bytes, or none if there is not enough space for them now, and does not wait. The loop sends what many calls
        /// have enqueued at once. Any thread. O(bytes).
        ///
        /// - Returns: were they accepted? `false` also while a task waits with an earlier write.
        /// - Throws: also `outputTooLarge` if there are more bytes than the limit.
        public func enqueue(_ bytes: some Collection<UInt8>) throws -> Bool {
            let attempt = unsafe withBytes(bytes) { start, count in
                queue.attempt(.lineIsEmpty) { unsafe output.enqueue(start, count) }
            }
            switch attempt {
            case .taken: return true
            case .mustWait: return false
            case .failure(let error): throw reason(for: error)
            }
        }

        /// Queues text, as UTF-8, without waiting. As above.
        public func enqueue(_ text: String) throws -> Bool { try enqueue(text.utf8) }

        /// Waits until everything that was accepted before has been sent: the kernel has it then, the peer not necessarily.
        ///
        /// - Returns: was it? `false` if the task was cancelled while it waited; the output is still sent then.
        @discardableResult
        public func flush(isolation actor: isolated (any Actor)? = #isolation) async throws -> Bool {
            let (ticket, accepted) = (queue.makeTicket(), queue.accepted)
            while true {
                switch queue.attempt(.any, output.flush) {
                case .taken: return true
                case .failure(let error): throw reason(for: error)
                case .mustWait(let changes):
                    // Others may have written more meanwhile.
                    if sentCount >= accepted { return true }
                    let wait = await queue.wait(ticket, isInLine: false, after: changes, isolation: actor)
                    if wait == .cancelled { return false }
                }
            }
        }

        /// Ends the output, when everything before has been written: writes that wait already come first, and then everything that was
        /// accepted is sent. After that the sending half of a socket is shut down, so that the peer reads an end and may go on sending;
        /// another descriptor is closed if the writer closes it. Further writes throw `brokenPipe`. A second call waits for the same.
        ///
        /// - Returns: as `flush()`. If the task is cancelled while it waits for output to be sent, the output is finished all the
        ///   same.
        @discardableResult
        public func finish(isolation actor: isolated (any Actor)? = #isolation) async throws -> Bool {
            let ticket = queue.join()
            defer { queue.leave(ticket) }
            while true {
                switch queue.attemptFinish(ticket, output.finish) {
                case .taken: return true
                case .failure(let error): throw reason(for: error)
                case .mustWait(let changes):
                    if await queue.wait(ticket, after: changes, isolation: actor) == .cancelled { return false }
                }
            }
        }

        /// How many bytes wait to be sent. Any thread. O(1).
        public var waitingCount: Int { output.waitingCount }

        /// How many bytes were accepted so far.
        var acceptedCount: Int64 { queue.accepted }

        /// How many of them were sent. Never too many: those that wait are counted last.
        var sentCount: Int64 { queue.accepted - Int64(output.waitingCount) }

        /// Can it still write? `false` after `invalidate()` and in a forked child; `true` after an error, and after `finish()`. Any thread.
        /// O(1).
        public var isValid: Bool { !queue.isEnded }

        /// When the kernel last took bytes, by the loop's clock.
        var lastMove: Int64 { output.lastMove }

        /// Ends the writer at once, and drops what waits. Tasks that wait throw `invalid`. Any thread; a second call has no effect.
        public func invalidate() { end(because: .invalid) }

        func end(because error: RunLoop.Error) {
            queue.fail(error, isEnd: true)
            output.source.invalidate()
        }

        /// A connection that the program has ended says why.
        private func reason(for error: RunLoop.Error) -> RunLoop.Error { socket?.failure ?? error }
    }
}
#endif
