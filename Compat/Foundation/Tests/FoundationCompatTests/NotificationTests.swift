import RunLoopKit
import RunLoopKitFoundationCompat
import Testing

import class RunLoopKitFoundationCompat.RunLoop

/// Calls a closure when it is freed.
private final class Farewell {
    private let call: () -> Void
    init(_ call: @escaping () -> Void) { self.call = call }
    deinit { call() }
}

@Suite struct NotificationTests {
    /// A center whose notifications are recorded by name, and a queue for it.
    final class Office: @unchecked Sendable {
        let center = NotificationCenter()
        let queue: NotificationQueue
        let trace = Trace()

        init() {
            queue = NotificationQueue(notificationCenter: center)
            _ = center.addObserver(forName: nil, object: nil, queue: nil) { [trace] in trace.note($0.name.rawValue) }
        }

        func enqueue(
            _ name: String, _ style: NotificationQueue.PostingStyle, from object: Any? = nil,
            mask: NotificationQueue.NotificationCoalescing = [], modes: [RunLoop.Mode]? = nil
        ) {
            queue.enqueue(
                Notification(name: .init(name), object: object), postingStyle: style, coalesceMask: mask,
                forModes: modes)
        }
    }

    @Test("R141 Each thread has its default queue, and any other that it makes; what is enqueued outlives its queue")
    func queues() async throws {
        try await onThread {
            #expect(NotificationQueue.default === NotificationQueue.default)
            let queues: Set = [NotificationQueue.default, NotificationQueue(notificationCenter: .default), .default]
            #expect(queues.count == 2)
            let mine = Unguarded(object: NotificationQueue.default)
            let trace = Trace()
            Thread.detachNewThread { trace.note("\(NotificationQueue.default !== mine.object)") }
            #expect(wait { trace.all == ["true"] })
            let office = Office()
            weak var gone: NotificationQueue?
            func enqueueAtAnother() {
                let queue = NotificationQueue(notificationCenter: office.center)
                gone = queue
                queue.enqueue(Notification(name: .init("left behind")), postingStyle: .asap)
            }
            enqueueAtAnother()
            #expect(gone == nil)
            keep(.default)
            #expect(RunLoop.current.run(mode: .default, before: .distantPast))
            #expect(office.trace.all == ["left behind"])
        }
    }

    @Test("R142 R143 Asap is posted before the loop sleeps, or when its run ends; now is posted at once, or never")
    func styles() async throws {
        try await onThread {
            let office = Office()
            let loop = RunLoop.current
            office.enqueue("outside", .now)
            office.enqueue("asap", .asap)
            #expect(office.trace.all == ["outside"])
            keep(.default)
            #expect(loop.run(mode: .default, before: .distantPast))
            #expect(office.trace.all == ["outside", "asap"])
            loop.perform {
                office.enqueue("other mode", .now, modes: [.init("other")])
                office.enqueue("common", .now, modes: [.common])
                office.enqueue("before the sleep", .asap)
                office.enqueue("now", .now)
            }
            #expect(run { office.trace.all.last == "before the sleep" })
            #expect(office.trace.all == ["outside", "asap", "common", "now", "before the sleep"])
        }
    }

    @Test("R143 When idle is when the run is about to sleep, after all other work")
    func idle() async throws {
        try await onThread {
            let office = Office()
            let loop = RunLoop.current
            keep(.default)
            office.enqueue("idle", .whenIdle)
            let timer = Timer(fire: Date(), interval: 0, repeats: false) { _ in
                office.trace.note("timer")
                office.enqueue("asap", .asap)
                RunLoop.current.perform { office.trace.note("block") }
            }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, before: .distantPast))
            #expect(office.trace.all == ["timer", "block", "asap"])
            #expect(run { office.trace.all.count == 4 })
            #expect(office.trace.all.last == "idle")
        }
    }

    @Test("R143 A ready descriptor is work too")
    func idleWithDescriptors() async throws {
        try await onThread {
            try withPipe { reader, writer in
                let office = Office()
                let port = try FileDescriptorPort(fileDescriptor: reader) { port, _ in
                    readByte(port.fileDescriptor)
                    office.trace.note("port")
                }
                RunLoop.current.add(port, forMode: .default)
                writeByte(writer)
                writeByte(writer)
                office.enqueue("idle", .whenIdle)
                #expect(run { office.trace.all.count == 3 })
                #expect(office.trace.all == ["port", "port", "idle"])
                port.invalidate()
            }
        }
    }

    @Test("R144 Notifications that are the same by name, by sender, or by both are merged into the last one")
    func coalescing() async throws {
        final class Sender: Sendable {}
        try await onThread {
            let office = Office()
            let one = Sender()
            let two = Sender()
            keep(.default)
            office.enqueue("a", .asap, from: one)
            office.enqueue("b", .whenIdle, from: two)
            office.enqueue("c", .asap, from: two)
            office.enqueue("a", .asap, from: two, mask: [.onName, .onSender])
            office.enqueue("d", .asap, from: one, mask: .onSender)
            office.enqueue("b", .asap, from: one, mask: .onName)
            office.enqueue("no sender", .asap)
            office.enqueue("none either", .asap, mask: .onSender)
            #expect(RunLoop.current.run(mode: .default, before: .distantPast))
            #expect(office.trace.all == ["c", "a", "d", "b", "none either"])
            office.enqueue("x", .asap)
            office.enqueue("y", .asap)
            office.queue.dequeueNotifications(matching: Notification(name: .init("x")), coalesceMask: .onName)
            office.queue.dequeueNotifications(matching: Notification(name: .init("y")), coalesceMask: [])
            let other = NotificationQueue(notificationCenter: office.center)
            other.dequeueNotifications(matching: Notification(name: .init("y")), coalesceMask: .onName)
            #expect(RunLoop.current.run(mode: .default, before: .distantPast))
            #expect(office.trace.all.suffix(2) == ["none either", "y"])
        }
    }

    @Test("R145 A notification is posted in its modes only; common is every common mode")
    func modes() async throws {
        try await onThread {
            let office = Office()
            let loop = RunLoop.current
            keep(.default)
            keep(.init("own"))
            office.enqueue("own", .asap, modes: [.init("own")])
            office.enqueue("default", .asap)
            office.enqueue("common", .asap, modes: [.common])
            #expect(loop.run(mode: .init("own"), before: .distantPast))
            #expect(office.trace.all == ["own"])
            loop.native.addCommonMode("own")
            #expect(loop.run(mode: .init("own"), before: .distantPast))
            #expect(office.trace.all == ["own", "common"])
            #expect(loop.run(mode: .default, before: .distantPast))
            #expect(office.trace.all == ["own", "common", "default"])
        }
    }

    @Test("R146 The queues of a thread post in one order, first in, first out, and observers may enqueue")
    func order() async throws {
        try await onThread {
            let office = Office()
            let second = NotificationQueue(notificationCenter: office.center)
            keep(.default)
            let queue = Unguarded(object: office.queue)
            let token = office.center.addObserver(forName: .init("1"), object: nil, queue: nil) { _ in
                queue.object.enqueue(Notification(name: .init("from 1")), postingStyle: .asap)
                queue.object.dequeueNotifications(matching: Notification(name: .init("3")), coalesceMask: .onName)
                queue.object.enqueue(Notification(name: .init("idle from 1")), postingStyle: .whenIdle)
            }
            office.enqueue("1", .asap)
            second.enqueue(Notification(name: .init("2")), postingStyle: .asap)
            office.enqueue("3", .asap)
            second.enqueue(Notification(name: .init("4")), postingStyle: .asap)
            let last = office.center.addObserver(forName: .init("idle from 1"), object: nil, queue: nil) { _ in
                RunLoop.current.native.stop()
            }
            // A run, which must not sleep before it has posted all notifications.
            let limit = Date() + generous
            #expect(RunLoop.current.run(mode: .default, before: limit))
            #expect(Date() < limit)
            #expect(office.trace.all == ["1", "2", "4", "from 1", "idle from 1"])
            for token in [token, last] { office.center.removeObserver(token) }
        }
    }

    @Test("What is freed with the notifications of a queue may enqueue")
    func enqueuesWhenFreed() async {
        await #expect(processExitsWith: .success) {
            try await onThread {
                let office = Office()
                for _ in 0..<3 {
                    office.enqueue("old", .asap, from: Farewell { office.enqueue("new", .asap) })
                }
                office.queue.dequeueNotifications(matching: Notification(name: .init("old")), coalesceMask: .onName)
                keep(.default)
                precondition(RunLoop.current.run(mode: .default, before: .distantPast))
                precondition(office.trace.all == ["new", "new", "new"])
                let values = Thread.current.threadDictionary
                values["key"] = Farewell { values["other"] = values["key"] }
                values["key"] = nil
                values["key"] = Farewell { values["other"] = 1 }
                values.removeObject(forKey: "key")
                precondition(values["other"] as? Int == 1)
                values["key"] = Farewell { values["last"] = 1 }
                values.removeAllObjects()
                precondition(values.count == 1)
            }
        }
    }

    @Test("An observer is notified of its notifications, in order, until it is removed")
    func observers() {
        final class Sender: Sendable {}
        let center = NotificationCenter()
        let trace = Trace()
        let sender = Sender()
        let name = Notification.Name("name")
        func observe(_ label: String, _ name: Notification.Name?, _ object: Any?) -> any NSObjectProtocol {
            center.addObserver(forName: name, object: object, queue: nil) { _ in trace.note(label) }
        }
        let all = observe("all", nil, nil)
        let named = observe("name", name, nil)
        let sent = observe("sender", nil, sender)
        let value = observe("five", nil, 5)
        center.post(name: name, object: sender)
        center.post(name: name, object: 5)
        center.post(name: .init("other"), object: Sender())
        NotificationCenter().post(name: name, object: sender)
        #expect(trace.all == ["all", "name", "sender", "all", "name", "five", "all"])
        center.removeObserver(all, name: .init("other name"), object: nil)
        center.removeObserver(sent, name: nil, object: 5)
        for token in [named, value] { center.removeObserver(token) }
        center.removeObserver(all, name: nil, object: nil)
        center.removeObserver("no token")
        center.post(name: name, object: sender)
        #expect(trace.all.suffix(2) == ["all", "sender"])
        center.removeObserver(sent, name: nil, object: sender)
        center.post(name: name, object: sender)
        #expect(trace.all.count == 8)
    }

    @Test("Observers that are added or removed while a notification is posted are not notified")
    func observersThatComeAndGo() {
        let center = NotificationCenter()
        let trace = Trace()
        nonisolated(unsafe) var second: (any NSObjectProtocol)?
        let first = center.addObserver(forName: nil, object: nil, queue: nil) { _ in
            trace.note("first")
            if let token = second {
                center.removeObserver(token)
                second = nil
                _ = center.addObserver(forName: nil, object: nil, queue: nil) { _ in trace.note("third") }
            }
        }
        second = center.addObserver(forName: nil, object: nil, queue: nil) { _ in trace.note("second") }
        center.post(name: .init("name"), object: nil)
        #expect(trace.all == ["first"])
        center.post(name: .init("name"), object: nil)
        #expect(trace.all == ["first", "first", "third"])
        center.removeObserver(first)
    }

    @Test("Notifications are equal by name, sender and information")
    func equality() {
        final class Sender {}
        let sender = Sender()
        let name = Notification.Name("name")
        let note = Notification(name: name, object: sender, userInfo: ["a": 1])
        #expect(note == Notification(name: name, object: sender, userInfo: ["a": 1]))
        #expect(note != Notification(name: name, object: Sender(), userInfo: ["a": 1]))
        #expect(note != Notification(name: name, object: sender, userInfo: ["a": 2]))
        #expect(note != Notification(name: name, object: sender))
        #expect(note != Notification(name: .init("other"), object: sender, userInfo: ["a": 1]))
        #expect(Notification(name: name, object: 5) == Notification(name: name, object: 5))
        #expect(note.hashValue == Notification(name: name, object: sender, userInfo: ["a": 1]).hashValue)
        #expect(note.description.contains("name"))
    }
}
