import RunLoopKit

/// How a user interface takes its events: a descriptor source catches them, which is brief, and signals a source that
/// handles them in the next iteration. In between they can be merged; and a handler may take its time, or run the loop,
/// because no reading is in progress any more.
enum EventHandOver: Act {
    static let title = "Event hand-over"
    static let shows = "A descriptor source catches the events of a window system; a signalled source handles them."

    static func perform(on stage: Stage) throws {
        let loop = RunLoop.current
        let (connection, display) = try Descriptor.makePipe()
        try connection.stopBlocking()
        defer {
            connection.close()
            display.close()
        }
        let window = Window(stage)

        let turns = RunLoop.Observer(.beforeTimers) { _, _ in MainActor.assumeIsolated { window.turn += 1 } }
        try loop.add(turns, forMode: .common)
        defer { turns.invalidate() }

        let handler = RunLoop.Source {
            MainActor.assumeIsolated {
                window.handleEvents()
                if window.isClosed { loop.stop() }
            }
        }
        try loop.add(handler, forMode: .common)
        defer { handler.invalidate() }

        let catcher = try RunLoop.Source(fileDescriptor: connection.number) { _ in
            MainActor.assumeIsolated {
                do throws(Mishap) {
                    guard let bytes = try connection.bytes() else { return }
                    window.catchEvents(bytes)
                    // No wake-up is needed: this is the loop's thread, which checks before it sleeps.
                    handler.signal()
                } catch {
                    stage.report(error)
                }
            }
        }
        try loop.add(catcher, forMode: .common)
        defer { catcher.invalidate() }

        let bursts: [[Event]] = [
            [.press(10)], (11...15).map { .move($0) }, [.release(15)],
            [.press(30), .move(31), .move(32), .release(32)],
            [.key("q")],
        ]
        let displayServer = Thread("display") {
            for burst in bursts {
                Thread.sleep(for: .milliseconds(25))
                stage.tell("sends " + burst.map { "\($0)" }.joined(separator: ", "))
                do { try display.put(burst.flatMap(\.bytes)) } catch { stage.report(error) }
            }
        }
        let result = loop.run(mode: .default, for: .seconds(20))
        displayServer.join()

        try stage.check("the last event closed the window", result, is: .stopped)
        try stage.check("every event was caught", window.caught, is: bursts.joined().count)
        try stage.check(
            "all were handled in order, moves in a row as one", window.handled,
            is: [.press(10), .move(15), .release(15), .press(30), .move(32), .release(32), .key("q")])
        try stage.check("each in the turn after the one that caught it", window.delays, is: [1])
    }
}

/// An event of a window system, in two bytes.
enum Event: Equatable {
    case press(UInt8)
    case move(UInt8)
    case release(UInt8)
    case key(Character)

    var bytes: [UInt8] {
        switch self {
        case .press(let x): [0, x]
        case .move(let x): [1, x]
        case .release(let x): [2, x]
        case .key(let key): [3, key.asciiValue ?? 0]
        }
    }

    init(kind: UInt8, value: UInt8) {
        switch kind {
        case 0: self = .press(value)
        case 1: self = .move(value)
        case 2: self = .release(value)
        default: self = .key(Character(UnicodeScalar(value)))
        }
    }

    var isMove: Bool { if case .move = self { true } else { false } }
}

/// Queues events when they are caught, and handles them later.
@MainActor final class Window {
    /// The iteration of the loop.
    var turn = 0
    private(set) var caught = 0
    private(set) var handled: [Event] = []
    /// How many iterations after it was caught an event was handled.
    private(set) var delays: Set<Int> = []
    private var queue: [(event: Event, turn: Int)] = []
    private let stage: Stage

    init(_ stage: Stage) {
        self.stage = stage
    }

    var isClosed: Bool { handled.last == .key("q") }

    /// A move replaces the one before it.
    func catchEvents(_ bytes: [UInt8]) {
        for index in stride(from: 1, to: bytes.count, by: 2) {
            let event = Event(kind: bytes[index - 1], value: bytes[index])
            if event.isMove, queue.last?.event.isMove == true { queue.removeLast() }
            queue.append((event, turn))
            caught += 1
        }
        stage.tell("caught \(bytes.count / 2), to be handled: \(queue.count)")
    }

    func handleEvents() {
        while !queue.isEmpty {
            let (event, turnOfCatch) = queue.removeFirst()
            delays.insert(turn - turnOfCatch)
            handled.append(event)
            stage.tell("handles \(event)")
        }
    }
}
