import RunLoopKit

/// Answers each line in capitals, for any number of clients.
@MainActor final class Server {
    let port: UInt16
    private(set) var answers = 0
    private(set) var mostAtATime = 0
    private let listener: Descriptor
    private let expected: Int
    private let stage: Stage
    private let countdown: Countdown
    private var connections: [Descriptor: Connection] = [:]
    private var source: RunLoop.Source?

    init(for expected: Int, _ stage: Stage, _ countdown: Countdown) throws {
        (self.expected, self.stage, self.countdown) = (expected, stage, countdown)
        listener = try Descriptor.makeSocket()
        port = try listener.takeClients()
        stage.tell("the server takes clients")
        // A listening socket is readable while a client waits.
        let source = try RunLoop.Source(fileDescriptor: listener.number) { [weak self] _ in
            MainActor.assumeIsolated {
                do { try self?.takeClient() } catch { stage.report(error) }
            }
        }
        try RunLoop.main.add(source, forMode: .default)
        self.source = source
    }

    private func takeClient() throws {
        guard let client = try listener.nextClient() else { return }
        connections[client] = try Connection(client, stage) { [unowned self] line in
            if let line { answer(client, line) } else { forget(client) }
        }
        mostAtATime = max(mostAtATime, connections.count)
        if connections.count < expected { return }
        source?.invalidate()
        listener.close()
        for connection in connections.values { connection.send("welcome") }
    }

    private func answer(_ client: Descriptor, _ line: String) {
        answers += 1
        connections[client]?.send(line.uppercased())
    }

    private func forget(_ client: Descriptor) {
        connections[client] = nil
        if !connections.isEmpty { return }
        stage.tell("the server has seen its last client leave")
        countdown.oneLess()
    }
}

/// Asks its questions one by one, each after the answer to the previous one.
@MainActor final class Client {
    private(set) var answers = 0
    private let number: Int
    private let questions: Int
    private let stage: Stage
    private let countdown: Countdown
    private var connecting: RunLoop.Source?
    private var connection: Connection?

    init(_ number: Int, asking questions: Int, at port: UInt16, _ stage: Stage, _ countdown: Countdown) throws {
        (self.number, self.questions, self.stage, self.countdown) = (number, questions, stage, countdown)
        let descriptor = try Descriptor.makeSocket()
        try descriptor.beginToConnect(to: port)
        let connecting = try RunLoop.Source(fileDescriptor: descriptor.number, events: .write) { [weak self] _ in
            MainActor.assumeIsolated {
                do { try self?.begin(descriptor) } catch { stage.report(error) }
            }
        }
        try RunLoop.main.add(connecting, forMode: .default)
        self.connecting = connecting
    }

    private func begin(_ descriptor: Descriptor) throws {
        // A connected socket is writable nearly always, so the source would be called for ever.
        connecting?.invalidate()
        try descriptor.finishConnecting()
        stage.tell("client \(number) is connected")
        connection = try Connection(descriptor, stage) { [unowned self] in hear($0) }
    }

    private func hear(_ line: String?) {
        if line != "welcome" {
            guard line == question.uppercased() else {
                stage.report(Mishap("client \(number) got \(line ?? "no more lines") for an answer."))
                return
            }
            answers += 1
        }
        if answers < questions {
            connection?.send(question)
        } else {
            stage.tell("client \(number) has \(answers) answers, and leaves")
            connection?.close()
            countdown.oneLess()
        }
    }

    private var question: String { "question \(answers + 1) of client \(number)" }
}
