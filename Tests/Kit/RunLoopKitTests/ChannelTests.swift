import ForkedChild
import Glibc
import RunLoopKit
import RunLoopKitLinux
import RunLoopKitTesting
import Synchronization
import Testing

private typealias Channel = RunLoop.Channel

/// Messages that a closure keeps.
private final class Kept: Sendable {
    private let messages = Mutex<[Channel.Message]>([])
    private let total = Atomic<Int>(0)

    var count: Int { total.load(ordering: .sequentiallyConsistent) }

    func keep(_ message: Channel.Message) {
        messages.withLock { $0.append(message) }
        total.add(1, ordering: .sequentiallyConsistent)
    }

    func removeAll() { messages.withLock { $0 = [] } }
}

/// Two channels that are connected, on two loops.
private final class Pair: Sendable {
    let threads: [RunLoop.Thread]
    let asking: Channel
    let replying: Channel
    let trace = Trace()

    init(
        options: Channel.Options = .init(), replyingMode mode: RunLoop.Mode = .common,
        receive: @escaping @Sendable (Channel, Channel.Message) -> Void,
        onEnd: (@Sendable (RunLoop.ChannelError) -> Void)? = nil
    ) throws {
        threads = [try RunLoop.Thread(), try RunLoop.Thread()]
        let (first, second) = try makeSockets(SOCK_SEQPACKET)
        let trace = trace
        asking = try Channel(
            adopting: first, on: threads[0].loop, options: options,
            receive: { _, message in trace.note(String(decoding: message.bytes, as: UTF8.self)) }, onEnd: onEnd)
        replying = try Channel(
            adopting: second, on: threads[1].loop, options: options, inMode: mode, receive: receive)
    }

    deinit {
        for thread in threads { thread.stop() }
    }
}

@Suite struct ChannelTests {
    @Test("Messages go both ways, whole and in order, and are received on the loop's thread")
    func messages() async throws {
        let pair = try Pair { channel, message in
            let isExpected = !message.isRequest && channel.loop.isCurrent
            #expect(isExpected)
            try? channel.send(message.bytes + "!".utf8)
            try? message.reply("unheard".utf8)
        }
        for text in ["a", "", "b"] { try pair.asking.send(text.utf8) }
        #expect(try await eventually { pair.trace.all == ["a!", "!", "b!"] })
        #expect(pair.asking.peer.process == getpid() && pair.asking.peer.user == geteuid())
        #expect(pair.asking.peer.group == getegid() && pair.asking.isValid)
    }

    @Test("A request is replied to with bytes and a descriptor; a descriptor that nobody takes is closed")
    func replies() async throws {
        let pair = try Pair { _, message in
            let isExpected = message.isRequest && message.descriptorCount == 1
            let beyond = message.takeDescriptor(at: 1)
            #expect(isExpected && beyond == nil)
            let descriptor = message.takeDescriptor() ?? -1
            let bytes = message.bytes
            try? message.reply(bytes, descriptors: [descriptor])
            close(descriptor)
        }
        let (reader, writer) = try makePipe()
        do {
            let bytes = [UInt8](repeating: 7, count: 200_000)
            let reply = try await pair.asking.request(bytes, descriptors: [writer], timeout: generous)
            #expect(reply.bytes == bytes && reply.descriptorCount == 1)
            close(writer)
            let taken = try #require(reply.takeDescriptor())
            #expect(reply.takeDescriptor() == nil)
            writeByte(taken)
            #expect(readByte(reader))
            // The last one that is not closed.
            let again = try await pair.asking.request([], descriptors: [taken])
            close(taken)
            #expect(again.descriptorCount == 1)
        }
        // The replying side closes its own after it has replied.
        let isEnd = try await eventually {
            var byte: UInt8 = 0
            return read(reader, &byte, 1) == 0
        }
        #expect(isEnd)
        close(reader)
    }

    @Test("A message that is destroyed without a reply is dropped, and one that is kept times out, or is given up")
    func dropsAndTimesOut() async throws {
        let kept = Kept()
        let pair = try Pair { _, message in
            if message.bytes.isEmpty { return }
            kept.keep(message)
        }
        await #expect(throws: RunLoop.ChannelError.dropped) { try await pair.asking.request([]) }
        let begin = ContinuousClock.now
        await #expect(throws: RunLoop.ChannelError.timedOut) {
            try await pair.asking.request([1], timeout: .milliseconds(20))
        }
        #expect(ContinuousClock.now - begin >= .milliseconds(20))
        await #expect(throws: RunLoop.ChannelError.timedOut) {
            try await pair.asking.request([1], timeout: .seconds(-5_000_000_000))
        }
        let cancelled = Task { try await pair.asking.request([1]) }
        #expect(try await eventually { kept.count == 3 })
        cancelled.cancel()
        await #expect(throws: RunLoop.ChannelError.cancelled) { try await cancelled.value }
        let waiting = Task { try await pair.asking.request([1]) }
        #expect(try await eventually { kept.count == 4 })
        kept.removeAll()
        await #expect(throws: RunLoop.ChannelError.dropped) { try await waiting.value }
    }

    @Test("The end of one side answers the requests of the other, which is reported once, after what was sent")
    func ends() async throws {
        let kept = Kept()
        let trace = Trace()
        let pair = try Pair(receive: { kept.keep($1) }, onEnd: { trace.note("\($0)") })
        let asking = (0..<3).map { _ in Task { try await pair.asking.request([1]) } }
        #expect(try await eventually { kept.count == 3 })
        try pair.replying.send("last".utf8)
        pair.replying.invalidate()
        pair.replying.invalidate()
        for task in asking { await #expect(throws: RunLoop.ChannelError.closed) { try await task.value } }
        #expect(try await eventually { !trace.all.isEmpty })
        #expect(pair.trace.all == ["last"])
        #expect(!pair.asking.isValid && !pair.replying.isValid)
        for channel in [pair.asking, pair.replying] {
            #expect(throws: RunLoop.ChannelError.closed) { try channel.send([1]) }
            await #expect(throws: RunLoop.ChannelError.closed) { try await channel.request([1]) }
        }
        pair.asking.invalidate()
        kept.removeAll()
        for thread in pair.threads {
            thread.stop()
            await thread.join()
        }
        #expect(trace.all == ["\(RunLoop.ChannelError.closed)"])
    }

    @Test("The end of the loop's thread ends a channel, and its requests")
    func endOfThread() async throws {
        let ended = Handed<RunLoop.ChannelError>()
        let pair = try Pair(receive: { _, _ in }, onEnd: { ended.put($0) })
        let quiet = try Pair(replyingMode: "never") { _, _ in }
        pair.threads[0].stop()
        await pair.threads[0].join()
        #expect(try await withRunLoopThread { ended.take() } == .failed(.loopFinished))
        #expect(try await eventually { !pair.replying.isValid })
        let asking = Task { try await quiet.asking.request([1]) }
        quiet.threads[0].stop()
        await #expect(throws: RunLoop.ChannelError.closed) { try await asking.value }
        let (first, second) = try makeSockets(SOCK_SEQPACKET)
        #expect(throws: RunLoop.ChannelError.failed(.loopFinished)) {
            try Channel(adopting: first, on: pair.threads[0].loop) { _, _ in }
        }
        var byte: UInt8 = 0
        #expect(read(second, &byte, 1) == 0)
        close(second)
    }

    @Test("Messages wait up to the limit and are refused then; what is larger than one may be is refused at once")
    func refuses() async throws {
        let options = Channel.Options(messageLimit: 2, byteLimit: 60_000, descriptorLimit: 1)
        let pair = try Pair(options: options, replyingMode: "never") { _, _ in }
        #expect(throws: RunLoop.ChannelError.failed(.badDescriptor)) { try pair.asking.send([], descriptors: [-1]) }
        let bytes = [UInt8](repeating: 0, count: 30_000)
        var sent = 0
        let refusal = #expect(throws: RunLoop.ChannelError.self) {
            while true {
                try pair.asking.send(bytes)
                sent += 1
            }
        }
        #expect(refusal == .full && sent > 2)
        await #expect(throws: RunLoop.ChannelError.full) { try await pair.asking.request(bytes) }
        #expect(throws: RunLoop.ChannelError.tooLarge) { try pair.asking.send(bytes + bytes + [1]) }
        #expect(throws: RunLoop.ChannelError.tooLarge) { try pair.asking.send([], descriptors: [0, 0]) }
    }

    @Test("A channel's object ends it and frees its closure; what is no channel's socket is refused and closed")
    func freed() async throws {
        try await withRunLoopThread {
            let freed = Count()
            let (first, second) = try makeSockets(SOCK_SEQPACKET)
            do {
                let token = Token(freed)
                let channel = try Channel(adopting: first, on: .current, inMode: "channels") { _, _ in token.touch() }
                #expect(channel.isValid && !RunLoop.current.isEmpty(inMode: "channels"))
            }
            #expect(freed.value == 1 && RunLoop.current.isEmpty(inMode: "channels"))
            var byte: UInt8 = 0
            #expect(read(second, &byte, 1) == 0)
            close(second)
            let (reader, writer) = try makePipe()
            #expect(throws: RunLoop.ChannelError.failed(.invalid)) {
                try Channel(adopting: writer, on: .current) { _, _ in }
            }
            #expect(waitUntil { read(reader, &byte, 1) == 0 })
            close(reader)
            #expect(throws: RunLoop.ChannelError.failed(.badDescriptor)) {
                try Channel(adopting: -1, on: .current) { _, _ in }
            }
        }
    }

    @Test("A listener has a channel for each process that connects, keeps it until its end, and ends them")
    func listening() async throws {
        let threads = [try RunLoop.Thread(), try RunLoop.Thread()]
        let path = "/tmp/runloop-channel-\(getpid())"
        #expect(throws: RunLoop.ChannelError.failed(.connectionRefused)) {
            try Channel(connectingTo: path, on: threads[1].loop) { _, _ in }
        }
        for path in ["@abstract", "a\0b", ""] {
            #expect(throws: RunLoop.ChannelError.failed(.invalid)) {
                try Channel(connectingTo: path, on: threads[1].loop) { _, _ in }
            }
            #expect(throws: RunLoop.ChannelError.failed(.invalid)) {
                try Channel.Listener(on: path, of: threads[0].loop) { _, _ in }
            }
        }
        do {
            // Whether somebody listens is found out by connecting.
            let former = try Channel.Listener(on: path, of: threads[0].loop) { _, _ in }
            #expect(throws: RunLoop.ChannelError.failed(.addressInUse)) {
                try Channel.Listener(on: path, of: threads[0].loop) { _, _ in }
            }
            former.invalidate()
        }
        let ends = Trace()
        let listener = try Channel.Listener(
            on: path, of: threads[0].loop,
            receive: { channel, message in
                let text = "\(channel.peer.process ?? 0)"
                try? message.reply(text.utf8)
            }, onEnd: { ends.note("\($1)") })
        let first = try Channel(connectingTo: path, on: threads[1].loop) { _, _ in }
        let clientEnds = Trace()
        let second = try Channel(
            connectingTo: path, on: threads[1].loop, receive: { _, _ in }, onEnd: { clientEnds.note("\($0)") })
        for channel in [first, second] {
            let reply = try await channel.request([], timeout: generous)
            #expect(String(decoding: reply.bytes, as: UTF8.self) == "\(getpid())")
        }
        #expect(listener.channels.count == 2)
        first.invalidate()
        #expect(try await eventually { listener.channels.count == 1 })
        #expect(try await eventually { ends.all == ["\(RunLoop.ChannelError.closed)"] })
        let left = listener.channels
        listener.invalidate()
        #expect(left.allSatisfy { !$0.isValid })
        #expect(try await eventually { clientEnds.all == ["\(RunLoop.ChannelError.closed)"] })
        #expect(listener.channels.isEmpty && !second.isValid && access(path, F_OK) == -1)
        #expect(ends.all == ["\(RunLoop.ChannelError.closed)"])
        for thread in threads { thread.stop() }
    }

    @Test("A program that was started with the socket is at the other end, by its own process number, until its end")
    func startedProgram() async throws {
        let thread = try RunLoop.Thread()
        let trace = Trace()
        let (own, inherited) = try makeSockets(SOCK_SEQPACKET)
        // Only the other end is inherited; the program has it as the same number.
        try #require(fcntl(inherited, F_SETFD, 0) == 0)
        let ending = Task { try await runProgram("synchronous-main-program", "\(inherited) echo") }
        let channel = try RunLoop.Channel(
            adopting: own, on: thread.loop,
            receive: { _, message in trace.note(String(decoding: message.bytes, as: UTF8.self)) },
            onEnd: { _ in trace.note("end") })
        let reply = try await channel.request("text".utf8, timeout: generous)
        #expect(reply.bytes == Array("text".utf8))
        try channel.send("who?".utf8)
        #expect(try await eventually { trace.all.count == 1 })
        let process = try #require(trace.all.first.flatMap { pid_t($0) })
        #expect(process != getpid() && kill(process, 0) == 0)
        close(inherited)
        let cancelled = Task { try await channel.request("cancelled".utf8) }
        cancelled.cancel()
        _ = try? await cancelled.value
        #expect(try await channel.request("after".utf8, timeout: generous).bytes == Array("after".utf8))
        channel.invalidate()
        #expect(try await ending.value == Ending(status: 0, output: "echo: done\n"))
        #expect(trace.all.count == 1)
        thread.stop()
    }

    @Test("What no channel sends ends it, and so does more than the limits allow")
    func violatedProtocol() async throws {
        for bytes in [[UInt8](repeating: 1, count: 3), [UInt8](repeating: 0, count: 200)] {
            let thread = try RunLoop.Thread()
            let ends = Handed<RunLoop.ChannelError>()
            let (own, hostile) = try makeSockets(SOCK_SEQPACKET)
            let channel = try Channel(
                adopting: own, on: thread.loop,
                receive: { _, _ in Issue.record("Nothing was sent that could be received.") }, onEnd: { ends.put($0) })
            let waiting = Task { try await channel.request([]) }
            try #require(Glibc.send(hostile, bytes, bytes.count, 0) == bytes.count)
            await #expect(throws: RunLoop.ChannelError.closed) { try await waiting.value }
            #expect(try await eventually { !channel.isValid })
            #expect(ends.take() == .protocolViolated)
            close(hostile)
            thread.stop()
        }
    }

    @Test("A forked child has no inherited channel, and may have one of the inherited socket")
    func forks() async {
        await #expect(processExitsWith: .success) {
            try await withRunLoop { loop in
                let (own, others) = try makeSockets(SOCK_SEQPACKET)
                let trace = Trace()
                let channel = try RunLoop.Channel(
                    adopting: own, on: loop,
                    receive: { _, message in trace.note(String(decoding: message.bytes, as: UTF8.self)) },
                    onEnd: { _ in trace.note("end") })
                try channel.send("of the parent".utf8)
                let status = statusOfChild {
                    precondition(!channel.isValid)
                    do {
                        try channel.send("a".utf8)
                        preconditionFailure("An inherited channel has taken a message.")
                    } catch {
                        precondition(error as? RunLoop.ChannelError == .closed)
                    }
                    channel.invalidate()
                    let received = Trace()
                    let mine = try? RunLoop.Channel(adopting: others, on: .current) { _, message in
                        received.note(String(decoding: message.bytes, as: UTF8.self))
                    }
                    try? RunLoop.current.runUntil("the parent's message") { received.all == ["of the parent"] }
                    try? mine?.send("of the child".utf8)
                }
                precondition(status == 0, "The child ended with status \(status).")
                close(others)
                precondition(channel.isValid)
                try loop.runUntil("the child's message, and the end") { trace.all == ["of the child", "end"] }
            }
        }
    }

    @Test("Each error is a sentence")
    func sentences() {
        let errors: [RunLoop.ChannelError] = [
            .full, .tooLarge, .closed, .protocolViolated, .dropped, .timedOut, .cancelled, .failed(.connectionRefused),
            .failed(.notPermitted), .failed(.invalid),
        ]
        for error in errors { #expect(error.description.hasSuffix(".")) }
        #expect(Set(errors.map(\.description)).count == errors.count)
    }
}
