import RunLoopKit
import RunLoopKitLinux
import RunLoopKitSimulation
import Testing

/// The server of Examples/Chat, or the same with a bug.
@MainActor protocol ChatServer: AnyObject, Sendable {
    /// Clients that say nothing for a minute are shown out.
    static func make(
        at address: RunLoop.Listener.Address, _ note: @escaping @Sendable (String) -> Void
    ) throws -> Self
    func begin() throws
    func sayGoodbye()
}

/// Somebody who talks to the others, and what became of that.
private struct Guest: Sendable {
    let number: Int
    let peer: SimulatedPeer
    /// As the server has it; `nil` if it did not let the guest in.
    let name: String?
    /// It never says nothing for as long as the server waits.
    let isTalkative: Bool
    /// What it was to say.
    let texts: [String]
    /// It was there until the server said goodbye.
    var stayed: Bool { peer.heard.last == "* The server shuts down. Goodbye." }

    /// What it heard of another one.
    func heard(of other: Guest) -> [String] {
        guard let name = other.name else { return [] }
        return peer.heard.filter { $0.hasPrefix("<\(name)> ") }.map { String($0.dropFirst(name.count + 3)) }
    }

    /// Not together with the other one, when the server says goodbye.
    func hasGone(before other: Guest) -> Bool {
        guard let end = peer.ended, let otherEnd = other.peer.ended else { return false }
        return end + .milliseconds(100) < otherEnd
    }

    /// A guest that the server has welcomed, or has turned away.
    static func come(
        _ number: Int, _ simulation: RunLoop.Simulation, at address: RunLoop.Listener.Address, lines: Int
    ) async throws -> Guest? {
        guard let peer = try? await SimulatedPeer(simulation, "guest \(number)", at: address) else { return nil }
        peer.hear()
        try await Task.sleep(for: .seconds(5))
        let welcome = peer.heard.first { $0.hasPrefix("* Welcome, ") }
        let name = welcome?.split(separator: " ").dropFirst(2).first?.dropLast()
        return Guest(
            number: number, peer: peer, name: name.map(String.init), isTalkative: number > 0,
            texts: (0..<lines).map { "line \($0) of \(number)." })
    }

    /// Says everything, a line every half a minute; one who is not talkative waits now and then for as long as the server does.
    func talk(_ simulation: RunLoop.Simulation) async throws {
        for (index, text) in texts.enumerated() {
            let pause = isTalkative ? 30 : [0, 60, 66][simulation.choose(3)]
            if index > 0 { try await Task.sleep(for: .seconds(pause)) }
            try requireSilenceOfThoseGone(simulation)
            guard (try? await peer.write(text + "\n")) != nil else { return }
        }
        try await Task.sleep(for: .seconds(5))
    }

    /// Nobody is heard of again after the notice that they have gone.
    func requireSilenceOfThoseGone(_ simulation: RunLoop.Simulation) throws {
        var gone: Set<Substring> = []
        for line in peer.heard {
            let words = line.split(separator: " ")
            if line.hasPrefix("* ") && line.contains(" has gone: ") { gone.insert(words[1]) }
            let isOfOneGone = line.hasPrefix("<") && gone.contains(words[0].dropFirst().dropLast())
            try simulation.require(!isOfOneGone, "nobody talks who has gone: \(peer.heard)")
        }
    }
}

/// Three guests come, talk and stay until the server says goodbye.
private func converse<Server: ChatServer>(
    _ type: Server.Type, faults: RunLoop.Simulation.Faults = [], in simulation: RunLoop.Simulation
) async throws {
    weak var gone: Server?
    let guests: [Guest]
    do {
        let address = RunLoop.Listener.Address.unused()
        let server = try await type.make(at: address, simulation.note)
        gone = server
        guests = try await keeping(server) {
            try await server.begin()
            let guests = try await invite(address, faults, simulation)
            try await simulation.loop.performAndWait { MainActor.assumeIsolated { server.sayGoodbye() } }
            for guest in guests { await guest.peer.waitForEnd() }
            return guests
        }
    }
    try check(guests, faults, simulation)
    try simulation.require(gone == nil, "nothing keeps the server")
}

/// They come one after another, with the faults from then on, and talk at the same time.
private func invite(
    _ address: RunLoop.Listener.Address, _ faults: RunLoop.Simulation.Faults, _ simulation: RunLoop.Simulation
) async throws -> [Guest] {
    simulation.faults = faults
    defer { simulation.faults = [] }
    var guests: [Guest] = []
    for number in 0..<3 {
        let lines = number == 0 ? 3 : 5
        if let guest = try await Guest.come(number, simulation, at: address, lines: lines) {
            guests.append(guest)
        }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
        for guest in guests where guest.name != nil { group.addTask { try await guest.talk(simulation) } }
        try await group.waitForAll()
    }
    return guests
}

private func check(
    _ guests: [Guest], _ faults: RunLoop.Simulation.Faults, _ simulation: RunLoop.Simulation
) throws {
    for guest in guests where guest.name != nil {
        try guest.requireSilenceOfThoseGone(simulation)
        if faults.isDisjoint(with: [.resets, .descriptorsRunOut]) && guest.isTalkative {
            try simulation.require(guest.stayed, "guest \(guest.number) is there to the end: \(guest.peer.heard)")
        }
        for other in guests where other.number != guest.number && other.name != nil {
            try check(what: guest, heardOf: other, simulation)
        }
    }
    let present = guests.filter(\.stayed)
    for guest in present {
        for other in present where guest.number < other.number {
            let third = guests.filter { $0.number != guest.number && $0.number != other.number && $0.name != nil }
            try simulation.require(
                third.allSatisfy { guest.heard(of: $0) == other.heard(of: $0) },
                "\(guest.number) and \(other.number) hear the same")
        }
    }
}

private func check(what guest: Guest, heardOf other: Guest, _ simulation: RunLoop.Simulation) throws {
    let (heard, what) = (guest.heard(of: other), "what \(guest.number) hears of \(other.number)")
    if guest.stayed && other.stayed {
        try simulation.require(heard == other.texts, "\(what) is everything, once, in order: \(heard)")
    } else {
        // The connection of either may have ended in the middle of a line.
        let (whole, last) = (heard.dropLast(), heard.last ?? "")
        let isBeginning =
            other.texts.starts(with: whole) && (other.texts.dropFirst(whole.count).first ?? "").hasPrefix(last)
        try simulation.require(isBeginning, "\(what) is the beginning: \(heard)")
    }
    guard guest.stayed, !other.stayed, let name = other.name else { return }
    let departures = guest.peer.heard.count { $0.hasPrefix("* \(name) has gone: ") }
    // Who came later may have missed it.
    let isSeen = guest.number < other.number || !heard.isEmpty
    let isDue = isSeen && other.hasGone(before: guest)
    try simulation.require(
        departures == 1 || (departures == 0 && !isDue), "\(guest.number) learns once that \(other.number) has gone")
}

@Suite struct ChatTests {
    @Test(
        "Each line reaches everybody else once and in order, and everybody gets the goodbye, whatever the kernel does",
        arguments: [[], .shortTransfers, [.shortTransfers, .resets], .descriptorsRunOut] as [RunLoop.Simulation.Faults])
    func chat(faults: RunLoop.Simulation.Faults) async throws {
        try await simulate(seeds: serverSeeds) { try await converse(ShippedChat.self, faults: faults, in: $0) }
    }

    @Test("That a client may have left when its line comes, would be found", .exceptWithThreadSanitizer)
    func planted() async throws {
        try await expectToFind("nobody talks who has gone") { try await converse(PlantedChatServer.self, in: $0) }
    }
}
