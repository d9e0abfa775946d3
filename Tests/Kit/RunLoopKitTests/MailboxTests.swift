import RunLoopKit
import Testing

/// What sequences have for their consumers.
@Suite struct MailboxTests {
    @Test("Of what nobody has taken all is kept, in order, or the newest alone", arguments: [true, false])
    func keeps(all: Bool) async {
        let mailbox = Mailbox<Int>(keeping: all ? .all : .newest)
        for number in 1...3 { mailbox.put(number) }
        mailbox.finish()
        var taken: [Int] = []
        while let number = await mailbox.next(isolation: nil) { taken.append(number) }
        #expect(taken == (all ? [1, 2, 3] : [3]))
    }

    @Test("What comes after the end is dropped, whoever has brought it about")
    func nothingAfterTheEnd() async {
        let finished = Mailbox<Int>(keeping: .all)
        finished.finish()
        finished.put(1)
        #expect(await finished.next(isolation: nil) == nil)
        let cancelled = Mailbox<Int>(keeping: .all)
        let waiting = Task { await cancelled.next(isolation: nil) }
        waiting.cancel()
        #expect(await waiting.value == nil)
        cancelled.put(2)
        #expect(await cancelled.next(isolation: nil) == nil)
    }
}
