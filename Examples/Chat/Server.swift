import RunLoopKit
import RunLoopKitLinux

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension RunLoop.Mode {
    /// The mode in which the server says goodbye. It has what is in all common modes, the connections, but neither the listener nor the
    /// status.
    static let farewell: RunLoop.Mode = "chat.farewell"
}

/// The clients, and their conversation. Everything happens in the main loop, one thing at a time.
@MainActor final class Server {
    let options: Options
    let loop = RunLoop.main
    private let listener: RunLoop.Listener
    private let log: Log
    /// In the order of their arrival; leaving clients remain until their connection is closed.
    private var clients: [Client] = []
    private var clientsSoFar = 0
    private var linesSoFar = 0
    private var departures: [(name: String, reason: String)] = []
    private var endOfIteration: RunLoop.CoalescedWork?
    private var status: RunLoop.Timer?

    /// Listens at `address`; `nil`: at the port of the options.
    init(_ options: Options, at address: RunLoop.Listener.Address? = nil, log: Log = .standard) throws {
        (self.options, self.log) = (options, log)
        // The space beyond the limit is for the last words to somebody who reads too slowly.
        let limits = RunLoop.Connection.Options(outputLimit: options.outputLimit + 256)
        let host = options.everywhere ? "0.0.0.0" : "127.0.0.1"
        listener = try RunLoop.Listener(
            address ?? .tcp(host, port: options.port), on: loop, options: limits,
            refusalText: "* The server is full. Please try again later.\n", inMode: .default
        ) { error in
            if error != nil { log.complain("chat: out of descriptors; a client was turned away") }
        }
        loop.addCommonMode(.farewell)
        endOfIteration = RunLoop.CoalescedWork(
            on: .main, inMode: .default,
            RunLoop.onMainActor { [weak self] in
                self?.finishIteration()
            })
        let interval = options.statusInterval
        let status = RunLoop.Timer(
            every: interval, tolerance: interval / 10,
            RunLoop.onMainActor { [weak self] _ in
                self?.printStatus()
            })
        try loop.add(status, forMode: .default)
        self.status = status
    }

    /// Serves until SIGINT or SIGTERM, and says goodbye. A second signal ends the goodbye.
    func run() throws {
        let shutdown = try RunLoop.Shutdown(signals: [SIGINT, SIGTERM], inMode: .default)
        shutdown.addWork(
            RunLoop.onMainActor { [self] in
                sayGoodbye()
                exit(0)
            })
        startPool()
        try begin()
        log.print("chat: listens on port \(listener.port ?? 0)")
        loop.run(mode: .default)
    }

    /// Accepts clients from now on.
    func begin() throws {
        // On the main loop's thread, which is the main actor's.
        try listener.accept { [unowned self] connection in MainActor.assumeIsolated { welcome(connection) } }
    }

    /// The pool of tasks opens its last descriptor when one of its timers is first used, and would end the program if there were none
    /// left by then.
    private func startPool() {
        var isReady = false
        Task {
            await Task.detached { try? await Task.sleep(for: .nanoseconds(1), clock: .suspending) }.value
            isReady = true
        }
        loop.run(mode: .default, until: { isReady }, deadline: nil)
    }

    /// Runs until each client has received everything, or the time is up.
    func sayGoodbye() {
        listener.invalidate()
        status?.invalidate()
        log.print("chat: says goodbye to \(clients.count)")
        for client in clients { client.leave("goodbye", saying: "* The server shuts down. Goodbye.") }
        let deadline = RunLoop.Instant.now + options.farewell
        loop.run(mode: .farewell, until: { clients.isEmpty }, deadline: deadline)
        if !clients.isEmpty { log.print("chat: \(clients.count) did not take it") }
        for client in clients { client.close() }
    }

    private func welcome(_ connection: RunLoop.Connection) {
        clientsSoFar += 1
        let client = Client(connection, number: clientsSoFar, server: self)
        log.print("chat: \(client.name) has come")
        tellAll("* \(client.name) has come.")
        clients.append(client)
        client.begin()
        client.send("* Welcome, \(client.name). /help tells what you can do here.")
    }

    /// Handles a line that a client has sent.
    func take(_ line: RunLoop.Line, from client: Client) {
        linesSoFar += 1
        guard case .text(let text) = line else {
            return client.send("* That line was longer than \(options.lineLimit) bytes. Nobody got it.")
        }
        switch Command(text) {
        case .nothing: break
        case .say(let text): tellAll("<\(client.name)> \(text)", but: client)
        case .act(let text): tellAll("* \(client.name) \(text)", but: client)
        case .rename(let name): rename(client, to: name)
        case .whisper(let name, let text): whisper(text, from: client, to: name)
        case .who: client.send("* Here: " + clients.filter(\.isTalking).map(\.name).joined(separator: ", "))
        case .help: for line in Command.list { client.send(line) }
        case .quit(let text): client.leave(text.isEmpty ? "has left" : text, saying: "* Goodbye, \(client.name).")
        case .unknown(let word): client.send("* There is no \(word). /help tells what there is.")
        }
    }

    private func rename(_ client: Client, to name: String) {
        if let objection = Command.objection(to: name) { return client.send("* " + objection) }
        if name == client.name { return }
        if find(name) != nil { return client.send("* \(name) is somebody else's name.") }
        tellAll("* \(client.name) is now \(name).")
        client.name = name
    }

    private func whisper(_ text: String, from client: Client, to name: String) {
        guard let other = find(name) else { return client.send("* Nobody here is called \(name).") }
        if !text.isEmpty { other.send("<\(client.name), to you> \(text)") }
    }

    private func find(_ name: String) -> Client? { clients.first { $0.isTalking && $0.name == name } }

    private func tellAll(_ line: String, but speaker: Client? = nil) {
        for client in clients where client !== speaker { client.send(line) }
    }

    /// The others are informed at the end of the iteration, because this may be called while a message is sent to them.
    func hasLeft(_ client: Client, because reason: String) {
        departures.append((client.name, reason))
        endOfIteration?.setNeeded()
    }

    /// Called when the connection is closed.
    func isGone(_ client: Client) { clients.removeAll { $0 === client } }

    private func finishIteration() {
        // A client that can't take the news of one departure may be the next to depart.
        var index = 0
        while index < departures.count {
            let (name, reason) = departures[index]
            log.print("chat: \(name) has gone: \(reason)")
            tellAll("* \(name) has gone: \(reason)")
            index += 1
        }
        departures = []
    }

    private func printStatus() {
        let waiting = clients.reduce(0) { $0 + $1.backlog }
        log.print("chat: \(clients.count) clients, \(linesSoFar) lines so far, \(waiting) bytes waiting")
    }
}
