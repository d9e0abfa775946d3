#if os(Linux)
internal import RunLoopKit

/// The tasks that wait until a channel takes their messages, in a line. The loop's thread sends for them when there is space, so a task is
/// resumed once, and nobody overtakes it.
final class ChannelSenders: Sendable {
    typealias Outcome = Result<Void, RunLoop.ChannelError>
    /// Sends now, or gives `full`. No user code.
    typealias Send = (UnsafePointer<UInt8>?, Int, [CInt]) -> Int32

    private static let full = -ErrorNumber.tryAgain

    private struct Sender {
        let bytes: [UInt8]
        let descriptors: [CInt]
        let answer: PortAnswer<Outcome>

        func attempt(_ send: Send) -> Int32 {
            unsafe bytes.withUnsafeBufferPointer { unsafe send($0.baseAddress, $0.count, descriptors) }
        }
    }

    private let line = Guarded(Line<Sender>())

    /// Calls `body` unless tasks wait, whose turn it is.
    func attempt(_ body: () -> Int32) -> Int32 {
        line.withLock { $0.isEmpty ? body() : Self.full }
    }

    /// Sends now if that is possible, and when it is its turn otherwise; then the answer is settled.
    ///
    /// - Returns: the number by which it can be withdrawn.
    func enqueue(_ bytes: [UInt8], _ descriptors: [CInt], _ answer: PortAnswer<Outcome>, _ send: Send) -> UInt {
        let (number, result) = line.withLock { line in
            let number = line.makeNumber()
            let sender = Sender(bytes: bytes, descriptors: descriptors, answer: answer)
            let result = unsafe line.isEmpty ? sender.attempt(send) : Self.full
            if result == Self.full { line.append(sender, number) }
            return (number, result)
        }
        if result != Self.full { answer.settle(.success(Self.outcome(result))) }
        return number
    }

    /// - Returns: `false` if it was sent, or can't be, which is about to be said.
    func withdraw(_ number: UInt) -> Bool {
        line.withLock { $0.remove(number) } != nil
    }

    /// There is space again, or there will never be any.
    func drained(_ send: Send) {
        while let (sender, result) = line.withLock({ unsafe Self.sendFirst(&$0, send) }) {
            sender.answer.settle(.success(Self.outcome(result)))
        }
    }

    /// `nil` if there is none, or no space for it.
    private static func sendFirst(_ line: inout Line<Sender>, _ send: Send) -> (Sender, Int32)? {
        guard let number = line.first, let sender = line[number] else { return nil }
        let result = unsafe sender.attempt(send)
        if result == full { return nil }
        line.remove(number)
        return (sender, result)
    }

    /// The channel takes nothing any more.
    func finish() {
        for sender in line.withLock({ $0.removeAll() }) { sender.answer.settle(.success(.failure(.closed))) }
    }

    private static func outcome(_ result: Int32) -> Outcome {
        result < 0 ? .failure(RunLoop.ChannelError(result: result)) : .success(())
    }
}
#endif
