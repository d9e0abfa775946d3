#if os(Linux)
internal import RunLoopKit
internal import RunLoopKitCLibrary

/// The parent's end of a pipe to which a child writes, or of its terminal, closed when nobody has this object any more.
///
/// The pipe is at its end when all that have its other end have closed it, which may be others than the child. So there is a limit after the
/// child's end: what is in the pipe by then is read still, and then it is cut off, which is an error unless it is at its end.
final class ChildPipe: Sendable {
    private struct State {
        /// The pipes of the same child.
        weak var all: ChildPipes?
        weak var reader: DescriptorReader?
        /// Has anybody begun to read?
        var isRead = false
        /// How much may be read; `nil` before the limit.
        var left: Int?
        var limit: RunLoop.Timer?
        /// Was it closed before its end?
        var isClosed = false
        /// What was read on behalf of a reader to come, and its source.
        var kept: ArraySlice<UInt8> = []
        var keeper: RunLoop.Source?
    }

    let number: CInt
    private let loop: RunLoop
    private let mode: RunLoop.Mode
    private let state = Guarded(State())

    init(_ number: CInt, of all: ChildPipes, _ loop: RunLoop, _ mode: RunLoop.Mode) {
        (self.number, self.loop, self.mode) = (number, loop, mode)
        state.withLock { $0.all = all }
    }

    deinit {
        let (limit, keeper) = state.withLock { ($0.limit, $0.keeper) }
        limit?.invalidate()
        keeper?.invalidate()
        close(number)
    }

    //===-- reading --------------------------------------------------------------------------------------------------===//

    /// What has been read on behalf of a reader is its own now.
    ///
    /// - Returns: may the reader wait?
    func begin(_ reader: DescriptorReader) -> Bool {
        let mayWait = state.withLock { state in
            state.reader = reader
            state.isRead = true
            return state.left == nil && !state.isClosed
        }
        // Nobody begins to keep any more.
        endKeeping()
        return mayWait
    }

    /// Does a reader have to ask at once, whatever the kernel says of the pipe?
    var hasKept: Bool { state.withLock { !$0.kept.isEmpty } }

    /// Reads once, for the one reader.
    func read(_ input: DescriptorInput, into buffer: UnsafeMutableRawBufferPointer) -> DescriptorInput.Result {
        state.withLock { state in
            let count = min(state.kept.count, buffer.count)
            if count == 0 { return unsafe read(input, into: buffer, &state) }
            unsafe buffer.copyBytes(from: state.kept.prefix(count))
            state.kept = state.kept.dropFirst(count)
            return .bytes(count)
        }
    }

    private func read(
        _ input: DescriptorInput, into buffer: UnsafeMutableRawBufferPointer, _ state: inout State
    ) -> DescriptorInput.Result {
        if state.isClosed { return .failure(.outputCutOff) }
        guard let left = state.left else { return unsafe input.read(into: buffer) }
        let end: DescriptorInput.Result = isAtEnd(number) ? .end : .failure(.outputCutOff)
        if left == 0 { return end }
        switch unsafe input.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(left))) {
        case .bytes(let count):
            state.left = left - count
            return .bytes(count)
        case .nothing: return end
        case let other: return other
        }
    }

    /// Closes it before its end: the child's next output is an error there, or SIGPIPE. A later read throws the error. The number remains
    /// that of an open descriptor, which nobody else can get.
    func cutOff() {
        state.withLock { state in
            state.isClosed = true
            state.kept = []
            // Nothing watches the number when it becomes that of another file: its reader has ended what was kept, and is gone.
            replaceByNull(number)
        }
    }

    //===-- keeping --------------------------------------------------------------------------------------------------===//

    /// Nobody reads it, and somebody waits for what the child may only do when it has been read: from now on it is read and kept, up to a limit,
    /// by the loop. What can't be read is left to the reader.
    func beginKeeping(upTo limit: Int) {
        guard let input = try? DescriptorInput(number) else { return }
        let source = try? RunLoop.Source(
            inputDescriptor: number, onEndOfLoop: {}, perform: { [weak self] _ in self?.keep(from: input, limit) })
        let isWanted = state.withLock { state in
            if state.isRead || state.isClosed || state.keeper != nil || state.kept.count >= limit { return false }
            state.keeper = source
            return true
        }
        guard isWanted, let source else { return }
        do throws(RunLoop.Error) {
            try source.request(.read)
            try loop.admit(source, to: mode)
        } catch {
            endKeeping()
        }
    }

    func beginKeepingOthers(upTo limit: Int) {
        for other in others { other.beginKeeping(upTo: limit) }
    }

    func endKeepingOthers() {
        for other in others { other.endKeeping() }
    }

    private var others: [ChildPipe] { state.withLock { $0.all }?.outputPipes.filter { $0 !== self } ?? [] }

    func endKeeping() {
        state.withLock { $0.keeper.take() }?.invalidate()
    }

    /// On the loop's thread.
    private func keep(from input: DescriptorInput, _ limit: Int) {
        let isOver = state.withLock { state in
            if state.keeper == nil { return false }
            let space = min(limit - state.kept.count, 65_536)
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: max(space, 1)) { buffer, count in
                guard
                    case .bytes(let read) = unsafe self.read(input, into: UnsafeMutableRawBufferPointer(buffer), &state)
                else { return }
                count = read
            }
            state.kept += bytes
            return bytes.isEmpty || state.kept.count >= limit
        }
        if isOver { endKeeping() }
    }

    //===-- the end --------------------------------------------------------------------------------------------------===//

    /// The child has ended: on the loop's thread.
    func beginLimit(_ duration: Duration) {
        let limit = RunLoop.Timer(after: duration) { [weak self] _ in self?.passLimit() }
        state.withLock { $0.limit = limit }
        loop.addUnlessOver(limit, forMode: mode)
    }

    private func passLimit() {
        let reader = state.withLock { state in
            state.left = Int(unreadCount(of: number))
            return state.reader
        }
        endKeeping()
        reader?.stopWaiting()
    }
}
#endif
