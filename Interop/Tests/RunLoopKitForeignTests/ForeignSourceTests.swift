import Glibc
import RunLoopKit
import RunLoopKitForeign
import RunLoopKitTesting
import Synchronization
import Testing

/// What a foreign source does is tested in C. Here: what Swift makes of it.
@Suite struct ForeignSourceTests {
    /// Fails the test if check or cancel doesn't follow each prepare exactly once.
    private final class Guest: RunLoop.ForeignSource.Guest {
        var descriptors: [(CInt, RunLoop.Source.Readiness)] = []
        var deadline: RunLoop.Instant?
        var trace: [String] = []
        var readiness: [RunLoop.Source.Readiness] = []
        var onDispatch: () -> Void = {}
        var onFree: () -> Void = {}
        private var isPrepared = false

        func prepare(_ wait: inout RunLoop.ForeignSource.Wait) {
            #expect(!isPrepared && wait.deadline == nil)
            isPrepared = true
            trace.append("prepare")
            for (descriptor, events) in descriptors { wait.add(descriptor, for: events) }
            wait.deadline = deadline
        }

        func check(_ wait: RunLoop.ForeignSource.Wait) -> Bool {
            #expect(isPrepared)
            isPrepared = false
            trace.append("check")
            readiness = descriptors.map { wait.readiness(of: $0.0) }
            return true
        }

        func cancel() {
            #expect(isPrepared)
            isPrepared = false
            trace.append("cancel")
        }

        func dispatch() {
            #expect(!isPrepared)
            trace.append("dispatch")
            onDispatch()
        }

        deinit {
            #expect(!isPrepared)
            onFree()
        }
    }

    @Test("A guest is prepared for the sleep and nothing else, and served as a source")
    func order() async throws {
        try await withRunLoop { loop in
            let guest = Guest()
            var ends: [CInt] = [0, 0]
            #expect(pipe(&ends) == 0)
            // Other tests start programs, which would keep the pipe open.
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            guest.descriptors = [(ends[0], [.read, .hangUp]), (ends[1], .write), (-1, .read)]
            let source = try RunLoop.ForeignSource(guest)
            try loop.add(source, forMode: "m")
            #expect(loop.contains(source, inMode: "m") && !loop.contains(source, inMode: .common))
            #expect(loop.run(mode: "m", returnAfterSourceHandled: true) == .handledSource)
            #expect(guest.trace == ["prepare", "cancel", "prepare", "cancel", "prepare", "check", "dispatch"])
            #expect(guest.readiness == [[], .write, []])
            guest.descriptors.remove(at: 1)
            close(ends[1])
            // What was ready for the former descriptors may be served once more, for nothing.
            guest.onDispatch = { loop.stop() }
            #expect(loop.run(mode: "m", for: .seconds(60)) == .stopped)
            #expect(guest.readiness == [.hangUp, []])
            loop.remove(source, forMode: "m")
            #expect(loop.run(mode: "m") == .finished)
            close(ends[0])
        }
    }

    @Test("A deadline is never early; a guest may have many descriptors, and end its source")
    func deadline() async throws {
        try await withRunLoop { loop in
            let guest = Guest()
            let deadline = RunLoop.Instant.now + .milliseconds(10)
            guest.deadline = deadline
            guest.descriptors = Array(repeating: (-1, .read), count: 100)
            let source = try RunLoop.ForeignSource(guest)
            guest.onDispatch = { [unowned source] in source.invalidate() }
            try loop.add(source, forMode: "m")
            #expect(loop.run(mode: "m") == .finished)
            #expect(RunLoop.Instant.now >= deadline)
            #expect(guest.trace.count { $0 == "dispatch" } == 1 && guest.readiness.count == 100)
            #expect(!source.isValid)
            #expect(throws: RunLoop.Error.invalid) { try loop.add(source, forMode: "m") }
        }
    }

    @Test("The loop keeps the guest, until the loop ends")
    func lifetime() async throws {
        let frees = Atomic(0)
        try await withRunLoop { loop in
            try {
                let guest = Guest()
                guest.onFree = { frees.add(1, ordering: .sequentiallyConsistent) }
                try loop.add(RunLoop.ForeignSource(guest), forMode: .common)
            }()
            loop.run(mode: .default, for: .milliseconds(1))
            #expect(frees.load(ordering: .sequentiallyConsistent) == 0)
        }
        #expect(frees.load(ordering: .sequentiallyConsistent) == 1)
    }
}
