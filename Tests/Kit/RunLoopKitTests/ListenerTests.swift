import Glibc
import RunLoopKit
import RunLoopKitLinux
import Testing

/// Tasks that wait for the connections of a listener, beyond ConnectionTests.
@Suite struct ListenerTests {
    @Test("Each of two tasks that wait gets a connection, also if the second comes later")
    func twoWaiters() async throws {
        let thread = try RunLoop.Thread()
        let listener = try RunLoop.Listener(.tcp(port: 0), on: thread.loop)
        let taken = Count()
        let waiting = (0..<2).map { _ in
            Task(executorPreference: thread.loop.taskExecutor) {
                for try await _ in listener.connections {
                    taken.increment()
                    return true
                }
                return false
            }
        }
        await tasksWait(of: thread.loop)
        for count in 1...2 {
            let client = try await RunLoop.Connection.connect(to: .tcp(port: listener.port ?? 0), on: thread.loop)
            #expect(try await eventually { taken.value == count })
            client.abort()
        }
        for task in waiting { #expect(try await task.value) }
    }

    @Test("A listener that is over has closed its socket")
    func closes() async throws {
        let thread = try RunLoop.Thread()
        let listener = try RunLoop.Listener(.tcp(port: 0), on: thread.loop)
        let port = try #require(listener.port)
        listener.invalidate()
        await #expect(throws: RunLoop.Error.connectionRefused) {
            try await RunLoop.Connection.connect(to: .tcp(port: port), on: thread.loop)
        }
    }

    @Test("That there are no descriptors left is reported once, and once that a connection was accepted again")
    func shortage() async throws {
        await #expect(processExitsWith: .success) {
            // Not a task's sleep: libdispatch ends the process if it gets no descriptor for a timer.
            func wait(_ condition: () -> Bool) { while !condition() { usleep(1000) } }
            let (thread, reports) = (try RunLoop.Thread(), Trace())
            // They are kept: each that ends sets a descriptor free, at any time.
            let accepted = Guarded<[RunLoop.Connection]>([])
            func waitForConnections(_ count: Int) { wait { accepted.withLock { $0.count } == count } }
            let listener = try RunLoop.Listener(.tcp(port: 0), on: thread.loop) { error in
                reports.note(error.map { "\($0 == .tooManyDescriptors)" } ?? "over")
            }
            try listener.accept { connection in accepted.withLock { $0.append(connection) } }
            let clients = try (0..<3).map { _ in try clientSocket() }
            #expect(connects(clients[0], to: listener.port))
            waitForConnections(1)
            var limit = rlimit(rlim_cur: 200, rlim_max: 200)
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            var files: [CInt] = []
            repeat { files.append(dup(clients[0])) } while files.last != -1
            #expect(connects(clients[1], to: listener.port))
            wait { reports.all == ["true"] }
            for file in files where file >= 0 { close(file) }
            wait { reports.all == ["true", "over"] }
            waitForConnections(2)
            #expect(connects(clients[2], to: listener.port))
            waitForConnections(3)
            #expect(reports.all == ["true", "over"])
        }
    }

    @Test("Who does not wait any more leaves connections to others that have the socket", arguments: [true, false])
    func leaves(isCancelled: Bool) async throws {
        let thread = try RunLoop.Thread()
        let listening = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try #require(listen(listening, 5) == 0)
        let own = dup(listening)
        let listener = try RunLoop.Listener(.adopting(listening), on: thread.loop)
        let port = try #require(listener.port)
        let waiting = Task(executorPreference: thread.loop.taskExecutor) {
            for try await _ in listener.connections { return true }
            return false
        }
        await tasksWait(of: thread.loop)
        if isCancelled {
            waiting.cancel()
        } else {
            try await RunLoop.Connection.connect(to: .tcp(port: port), on: thread.loop).abort()
        }
        #expect(try await waiting.value == !isCancelled)
        let client = try await RunLoop.Connection.connect(to: .tcp(port: port), on: thread.loop)
        // The loop would have taken it by now.
        try await Task.sleep(for: .milliseconds(20))
        let accepted = accept(own, nil, nil)
        #expect(accepted >= 0)
        client.abort()
        for descriptor in [accepted, own] { close(descriptor) }
    }
}

private func clientSocket() throws -> CInt {
    let client = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    try #require(client >= 0)
    return client
}

private func connects(_ client: CInt, to port: UInt16?) -> Bool {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = (port ?? 0).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            Glibc.connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
}
