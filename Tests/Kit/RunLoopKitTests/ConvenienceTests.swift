import RunLoopKit
import Testing

@Suite struct ConvenienceTests {
    @Test("Sets of activities and conditions are described by their names")
    func descriptions() {
        #expect("\(RunLoop.Observer.Activities.entry)" == "entry")
        #expect("\([.beforeTimers, .exit] as RunLoop.Observer.Activities)" == "[beforeTimers, exit]")
        #expect("\(RunLoop.Observer.Activities.all)" == "all")
        #expect("\(RunLoop.Observer.Activities())" == "[]")
        #expect("\(RunLoop.Observer.Activities(rawValue: 9))" == "[entry, 0x8]")
        #expect("\([.hangUp, .read] as RunLoop.Source.Readiness)" == "[read, hangUp]")
        #expect("\(RunLoop.Source.Readiness.write)" == "write")
    }

    @Test("R62 A source can be signalled and its loop woken in one call")
    func signalWaking() async throws {
        let thread = try RunLoop.Thread()
        let performed = Handed<Bool>()
        let source = RunLoop.Source { performed.put(true) }
        try thread.loop.add(source, forMode: .default)
        #expect(try await withRunLoopThread { waitUntil { thread.loop.isWaiting } })
        source.signal(waking: thread.loop)
        #expect(try await withRunLoopThread { performed.take() } == true)
        source.invalidate()
    }
}
