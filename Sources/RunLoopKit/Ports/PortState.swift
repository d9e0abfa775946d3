#if os(Linux)
/// A port: its messages, and the source that has the loop serve them.
///
/// What is beyond the capacity belongs to tasks that wait: a message without a reply *admits* its sender when it gets within the capacity, and a
/// request waits for its answer in any case.
///
/// Sendable because requests are sent in and taken by the loop's thread, which alone calls the closure.
final class PortState<Request, Reply>: @unchecked Sendable {
    typealias Message = RunLoop.Port<Request, Reply>.Message

    private struct Entry {
        let request: Request
        let answer: PortAnswer<Reply>?
        var admission: PortAnswer<Void>?
    }

    private struct Taken {
        let receive: (consuming Message) -> Void
        let entry: Entry
        let admission: PortAnswer<Void>?
        let marked: RunLoop.Source?
    }

    private struct Content {
        /// Within the capacity, and beyond it.
        var admitted = Line<Entry>()
        var waiting = Line<Entry>()
        /// `nil` before the port has begun, and after it has ended.
        var source: RunLoop.Source?
        /// Called on the loop's thread only, without the lock. `nil` after the end.
        var receive: ((consuming Message) -> Void)?
        /// The source is signalled, and the loop was woken, for the entries that there are.
        var isMarked = false

        var count: Int { admitted.count + waiting.count }

        /// There is space for one of those that wait.
        mutating func admitNext() -> PortAnswer<Void>? {
            guard let number = waiting.first, var entry = waiting.removeFirst() else { return nil }
            defer { admitted.append(entry, number) }
            return entry.admission.take()
        }
    }

    let loop: RunLoop
    private let capacity: Int
    private let generation = ForkGeneration()
    private let content: Guarded<Content>

    init(_ loop: RunLoop, capacity: Int, _ receive: sending @escaping (consuming Message) -> Void) {
        self.loop = loop
        self.capacity = capacity
        content = Guarded(Content(receive: receive))
    }

    /// The source keeps this object, until the end.
    func begin(inMode mode: RunLoop.Mode, order: Int) throws {
        // The source is never removed from a mode, so a cancellation is the end of the port, or of the loop's thread.
        let source = RunLoop.Source(order: order, onCancel: { _, _ in self.end() }, perform: { self.perform() })
        content.withLock { $0.source = source }
        do {
            try loop.add(source, forMode: mode)
        } catch {
            end()
            throw error
        }
    }

    var count: Int { generation.isOver ? 0 : content.withLock { $0.count } }

    var isValid: Bool { !generation.isOver && content.withLock { $0.source != nil } }

    /// - Parameters:
    ///   - admission: settled when the message has space.
    ///   - mayWait: the message may be beyond the capacity.
    /// - Returns: a number by which the message can be removed.
    @discardableResult
    func enqueue(
        _ request: sending Request, answer: PortAnswer<Reply>? = nil, admission: PortAnswer<Void>? = nil,
        mayWait: Bool = true
    ) throws(RunLoop.PortError) -> UInt {
        if generation.isOver { throw .closed }
        let result: Result<(number: UInt, marked: RunLoop.Source?), RunLoop.PortError> = content.withLock { content in
            guard let source = content.source else { return .failure(.closed) }
            let hasSpace = content.admitted.count < capacity
            if !hasSpace && !mayWait { return .failure(.full) }
            if hasSpace { admission?.settle(.success(())) }
            let number = content.waiting.makeNumber()
            let entry = Entry(request: request, answer: answer, admission: hasSpace ? nil : admission)
            if hasSpace {
                content.admitted.append(entry, number)
            } else {
                content.waiting.append(entry, number)
            }
            defer { content.isMarked = true }
            return .success((number, content.isMarked ? nil : source))
        }
        let (number, marked) = try result.get()
        if let marked { wake(marked) }
        return number
    }

    private func wake(_ source: RunLoop.Source) {
        source.signal()
        if loop.needsWakeUp { loop.wakeUp() }
    }

    /// One message. What else there is signals the source again before that, so that a nested run receives it.
    private func perform() {
        let taken: Taken? = content.withLock { content in
            content.isMarked = false
            guard let receive = content.receive, let entry = content.admitted.removeFirst() else { return nil }
            let admission = content.admitNext()
            content.isMarked = content.count > 0
            return Taken(
                receive: receive, entry: entry, admission: admission, marked: content.isMarked ? content.source : nil)
        }
        guard let taken else { return }
        taken.marked?.signal()
        taken.admission?.settle(.success(()))
        taken.receive(Message(taken.entry.request, taken.entry.answer))
    }

    /// No effect if the message has been received.
    func remove(_ number: UInt) {
        // Requests are freed without the lock.
        let removed: (entry: Entry?, admission: PortAnswer<Void>?) = content.withLock { content in
            guard let entry = content.admitted.remove(number) else { return (content.waiting.remove(number), nil) }
            return (entry, content.admitNext())
        }
        removed.admission?.settle(.success(()))
    }

    /// No effect, and `false`, if the message has been admitted: its sender is about to learn it.
    func removeWaiting(_ number: UInt) -> Bool {
        let removed: Entry? = content.withLock { $0.waiting.remove(number) }
        return removed != nil
    }

    func end() {
        if generation.isOver { return }
        // All of it is freed without the lock.
        let (source, entries, receive) = content.withLock { content in
            (content.source.take(), content.admitted.removeAll() + content.waiting.removeAll(), content.receive.take())
        }
        _ = receive
        source?.invalidate()
        for entry in entries {
            entry.answer?.settle(.failure(.closed))
            entry.admission?.settle(.failure(.closed))
        }
    }
}
#endif
