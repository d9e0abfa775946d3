import Glibc
import RunLoopKit
import RunLoopKitLinux
import RunLoopKitTesting
import Synchronization
import Testing

private typealias Channel = RunLoop.Channel

/// Two channels that are connected: one that sends, of which few messages may wait, and one whose messages tasks take.
private final class TaskPair: Sendable {
    let threads: [RunLoop.Thread]
    let sender: Channel
    let receiver: Channel

    init(requestLimit: Int = 3) throws {
        threads = [try RunLoop.Thread(), try RunLoop.Thread()]
        let ends = try makeSockets(SOCK_SEQPACKET)
        sender = try Channel(adopting: ends.0, on: threads[0].loop, options: .init(messageLimit: 2)) { _, _ in }
        receiver = try Channel(adopting: ends.1, on: threads[1].loop, options: .init(requestLimit: requestLimit))
    }

    deinit {
        for thread in threads { thread.stop() }
    }
}

/// A channel that takes nothing any more: its peer is a socket from which nobody reads, until a channel is made of it.
private final class FilledSender: Sendable {
    let threads: [RunLoop.Thread]
    let sender: Channel
    let peer: CInt
    private let count: Int

    init(_ options: Channel.Options = .init(messageLimit: 2)) throws {
        threads = [try RunLoop.Thread(), try RunLoop.Thread()]
        let ends = try makeSockets(SOCK_SEQPACKET)
        sender = try Channel(adopting: ends.0, on: threads[0].loop, options: options) { _, _ in }
        peer = ends.1
        var count = 0
        do {
            while true {
                try sender.send([UInt8](repeating: 255, count: 40_000))
                count += 1
            }
        } catch {
            #expect(error as? RunLoop.ChannelError == .full)
        }
        self.count = count
    }

    deinit {
        for thread in threads { thread.stop() }
    }

    /// What comes to the other end after what has filled it.
    func messages() async throws -> some AsyncIteratorProtocol<Channel.Message, any Error> {
        let receiver = try Channel(adopting: peer, on: threads[1].loop, options: .init(requestLimit: 3))
        var messages = receiver.messages.makeAsyncIterator()
        for _ in 0..<count { #expect(try await messages.next()?.bytes.count == 40_000) }
        return messages
    }
}

private func nextMessage(of channel: Channel) async throws -> Channel.Message? {
    var messages = channel.messages.makeAsyncIterator()
    return try await messages.next(isolation: nil)
}

@Suite struct ChannelTaskTests {
    @Test("A task that sends waits while nobody takes what was sent, and goes on in order; nobody overtakes it")
    func sendsWhenThereIsSpace() async throws {
        let filled = try FilledSender()
        let sent = Count()
        // Each begins to wait before the next.
        let sending = (0..<20).map { number in
            Task.immediate {
                try await filled.sender.send([UInt8(number)], timeout: nil)
                sent.increment()
            }
        }
        #expect(throws: RunLoop.ChannelError.full) { try filled.sender.send([]) }
        await #expect(throws: RunLoop.ChannelError.full) { try await filled.sender.request([]) }
        #expect(sent.value == 0)
        var messages = try await filled.messages()
        for number in 0..<20 { #expect(try await messages.next()?.bytes == [UInt8(number)]) }
        for task in sending { try await task.value }
        #expect(sent.value == 20)
    }

    @Test("A small message for which there is space does not overtake a large one that waits")
    func smallMessages() async throws {
        let filled = try FilledSender(.init(byteLimit: 100_000))
        let large = Task.immediate {
            try await filled.sender.send([UInt8](repeating: 1, count: 40_000), timeout: nil)
        }
        #expect(throws: RunLoop.ChannelError.full) { try filled.sender.send([2]) }
        let small = Task.immediate { try await filled.sender.send([3], timeout: nil) }
        var messages = try await filled.messages()
        #expect(try await messages.next()?.bytes.count == 40_000)
        #expect(try await messages.next()?.bytes == [3])
        for task in [large, small] { try await task.value }
    }

    @Test("Many tasks that wait send one message each, whole")
    func manySenders() async throws {
        let filled = try FilledSender()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    try await filled.sender.send([UInt8](repeating: UInt8(number), count: 1000), timeout: nil)
                }
            }
            var messages = try await filled.messages()
            var numbers: Set<UInt8> = []
            for _ in 0..<200 {
                let bytes = try #require(try await messages.next()).bytes
                #expect(bytes == [UInt8](repeating: bytes[0], count: 1000))
                numbers.insert(bytes[0])
            }
            #expect(numbers.count == 200)
            try await group.waitForAll()
        }
    }

    @Test("A task that is cancelled, or whose timeout passes, has not sent; one that need not wait sends all the same")
    func withdraws() async throws {
        let filled = try FilledSender()
        let cancelled = Task { try await filled.sender.send("cancelled".utf8, timeout: nil) }
        cancelled.cancel()
        await #expect(throws: RunLoop.ChannelError.cancelled) { try await cancelled.value }
        let begin = ContinuousClock.now
        await #expect(throws: RunLoop.ChannelError.timedOut) {
            try await filled.sender.send("late".utf8, timeout: .milliseconds(20))
        }
        #expect(ContinuousClock.now - begin >= .milliseconds(20))
        var messages = try await filled.messages()
        let isCancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await filled.sender.send("sent".utf8, timeout: nil)
        }
        try await isCancelled.value
        #expect(try await messages.next()?.bytes == Array("sent".utf8))
        await #expect(throws: RunLoop.ChannelError.tooLarge) {
            try await filled.sender.send([UInt8](repeating: 0, count: 2 << 20), timeout: nil)
        }
    }

    @Test("When the other end goes, or this one ends, every task that waits to send learns it")
    func closes() async throws {
        for isPeer in [true, false] {
            let filled = try FilledSender()
            let waiting = (0..<3).map { number in
                Task.immediate { try await filled.sender.send([UInt8(number)], timeout: nil) }
            }
            if isPeer { close(filled.peer) } else { filled.sender.invalidate() }
            for task in waiting {
                await #expect(throws: RunLoop.ChannelError.closed) { try await task.value }
            }
            await #expect(throws: RunLoop.ChannelError.closed) { try await filled.sender.send([], timeout: nil) }
            if !isPeer { close(filled.peer) }
        }
    }

    @Test("Requests are replied to by whoever takes them, once, and dropped with their object")
    func answers() async throws {
        let pair = try TaskPair()
        let replying = Task {
            var second: RunLoop.ChannelError?
            for try await message in pair.receiver.messages where message.isRequest {
                if message.bytes.isEmpty { continue }
                try message.reply(message.bytes + [0])
                do { try message.reply([9]) } catch { second = error as? RunLoop.ChannelError }
            }
            return second
        }
        #expect(try await pair.sender.request([1]).bytes == [1, 0])
        await #expect(throws: RunLoop.ChannelError.dropped) { try await pair.sender.request([]) }
        #expect(try await pair.sender.request([2]).bytes == [2, 0])
        pair.sender.invalidate()
        #expect(try await replying.value == .failed(.invalid))
    }

    @Test(
        "An iteration ends after what the other end had sent, or at once if its own end is invalidated or its task cancelled"
    )
    func iterationEnds() async throws {
        let pair = try TaskPair(requestLimit: 8)
        let iterating = Task { try await nextMessage(of: pair.receiver)?.bytes }
        iterating.cancel()
        #expect(try await iterating.value == nil)
        for number in 0..<5 { try pair.sender.send([UInt8(number)]) }
        pair.sender.invalidate()
        var received: [UInt8] = []
        for try await message in pair.receiver.messages { received += message.bytes }
        #expect(received == [0, 1, 2, 3, 4])

        // What was not taken is dropped when the own end is invalidated, although the other was gone before.
        let left = try TaskPair(requestLimit: 8)
        for number in 0..<3 { try left.sender.send([UInt8(number)]) }
        #expect(try await nextMessage(of: left.receiver)?.bytes == [0])
        left.sender.invalidate()
        #expect(try await eventually { !left.receiver.isValid })
        left.receiver.invalidate()
        #expect(try await nextMessage(of: left.receiver) == nil)

        let other = try TaskPair()
        try other.sender.send([1])
        let first = try await nextMessage(of: other.receiver)
        #expect(first?.bytes == [1] && first?.isRequest == false)
        let request = Task { try await other.sender.request([2]) }
        let waiting = Task { try await nextMessage(of: other.receiver) }
        let taken = try await waiting.value
        #expect(taken?.isRequest == true)
        for number in 0..<2 { try other.sender.send([UInt8(number)]) }
        other.receiver.invalidate()
        #expect(try await nextMessage(of: other.receiver) == nil)
        await #expect(throws: RunLoop.ChannelError.closed) { try await request.value }
        #expect(throws: RunLoop.ChannelError.closed) { try taken?.reply([]) }
    }

    @Test("What no channel sends is an error of the iteration")
    func protocolIsViolated() async throws {
        let thread = try RunLoop.Thread()
        defer { thread.stop() }
        let ends = try makeSockets(SOCK_SEQPACKET)
        let channel = try Channel(adopting: ends.0, on: thread.loop)
        #expect(send(ends.1, "?", 1, CInt(MSG_NOSIGNAL)) == 1)
        var messages = channel.messages.makeAsyncIterator()
        await #expect(throws: RunLoop.ChannelError.protocolViolated) { _ = try await messages.next(isolation: nil) }
        #expect(try await messages.next(isolation: nil) == nil)
        #expect(!channel.isValid)
        close(ends.1)
    }

    @Test("A channel is freed although nobody has taken what it has received")
    func isFreed() async throws {
        let thread = try RunLoop.Thread()
        defer { thread.stop() }
        let ends = try makeSockets(SOCK_SEQPACKET)
        let sender = try Channel(adopting: ends.1, on: thread.loop) { _, _ in }
        do {
            let channel = try Channel(adopting: ends.0, on: thread.loop)
            try sender.send([1])
            _ = Task { try await sender.request([2]) }
            #expect(try await nextMessage(of: channel)?.bytes == [1])
            try sender.send([3])
        }
        await #expect(throws: RunLoop.ChannelError.closed) { try await sender.request([3], timeout: generous) }
    }

    @Test("A request whose task is cancelled is withdrawn; a late reply to it is ignored, and disturbs no other")
    func lateReplyIsIgnored() async throws {
        let pair = try TaskPair()
        let asking = Task { try await pair.sender.request("first".utf8) }
        var messages = pair.receiver.messages.makeAsyncIterator()
        let first = try #require(try await messages.next())
        asking.cancel()
        await #expect(throws: RunLoop.ChannelError.cancelled) { try await asking.value }
        let other = Task { try await pair.sender.request("second".utf8) }
        let second = try #require(try await messages.next())
        try first.reply("late".utf8)
        try second.reply("in time".utf8)
        #expect(try await other.value.bytes == Array("in time".utf8))
        #expect(pair.sender.isValid && pair.receiver.isValid)
    }
}
