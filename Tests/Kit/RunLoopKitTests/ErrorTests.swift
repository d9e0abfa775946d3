import Glibc
import RunLoopKit
import RunLoopKitLinux
import Testing

/// What the loops' errors say, and what they are equal to.
@Suite struct ErrorTests {
    private static let constants: [(String, RunLoop.Error, CInt)] = [
        ("permissionDenied", .permissionDenied, EPERM), ("badDescriptor", .badDescriptor, EBADF),
        ("outOfMemory", .outOfMemory, ENOMEM), ("tooManyDescriptors", .tooManyDescriptors, EMFILE),
        ("tooManyWatches", .tooManyWatches, ENOSPC), ("accessDenied", .accessDenied, EACCES),
        ("inAnotherLoop", .inAnotherLoop, EBUSY), ("inUse", .inUse, EBUSY), ("invalid", .invalid, EINVAL),
        ("invalidAddress", .invalidAddress, EINVAL), ("notPermitted", .notPermitted, EPERM),
        ("loopFinished", .loopFinished, ESHUTDOWN), ("tooManyThreads", .tooManyThreads, EAGAIN),
        ("inheritedAcrossFork", .inheritedAcrossFork, ECHILD), ("noSuchProcess", .noSuchProcess, ESRCH),
        ("notAChild", .notAChild, ECHILD), ("unsupported", .unsupported, ENOSYS),
        ("lineTooLong", .lineTooLong, EMSGSIZE), ("outputTooLarge", .outputTooLarge, EMSGSIZE),
        ("noSpaceLeft", .noSpaceLeft, ENOSPC),
        ("brokenPipe", .brokenPipe, EPIPE), ("connectionReset", .connectionReset, ECONNRESET),
        ("timedOut", .timedOut, ETIMEDOUT), ("outputCutOff", .outputCutOff, ETIMEDOUT),
        ("addressInUse", .addressInUse, EADDRINUSE),
        ("addressNotAvailable", .addressNotAvailable, EADDRNOTAVAIL),
        ("connectionRefused", .connectionRefused, ECONNREFUSED), ("nameNotFound", .nameNotFound, ENOENT),
    ]

    @Test("No two constants are equal, and each has a number and a sentence of its own")
    func constantsDiffer() throws {
        // None is forgotten here.
        let root = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
        let source = try text(of: root + "/Sources/RunLoopKit/Loop/RunLoop+Error.swift")
        let declared = source.matches(of: /public static let (\w+) =/).map { String($0.1) }
        #expect(declared.sorted() == Self.constants.map(\.0).sorted())
        for (name, error, number) in Self.constants {
            #expect(error.errorNumber == number, "\(name)")
            #expect(error.description.hasSuffix("."), "\(name)")
            for (otherName, other, _) in Self.constants where otherName != name {
                #expect(error != other, "\(name) is \(otherName)")
                #expect(error.description != other.description, "\(name) says the same as \(otherName)")
            }
        }
        #expect(Set(Self.constants.map(\.1)).count == Self.constants.count)
    }

    @Test("The sentence of a number fits the call that has failed, and the constant is the same")
    func sentences() throws {
        func sentence(_ number: CInt, _ call: RunLoop.Error.Call) -> String {
            RunLoop.Error(result: -number, of: call).description
        }
        for call in [RunLoop.Error.Call.change, .system, .clock, .channel, .start, .output, .address, .thread] {
            #expect(sentence(EMFILE, call) == "The process has no file descriptors left (ulimit -n).")
        }
        #expect(sentence(EMFILE, .files).contains("inotify"))
        #expect(sentence(ENOSPC, .files).contains("fs.inotify.max_user_watches"))
        #expect(sentence(ENOSPC, .change).contains("fs.epoll.max_user_watches"))
        #expect(sentence(EPERM, .change).contains("regular file"))
        for call in [RunLoop.Error.Call.system, .clock, .files, .channel, .start, .child, .address, .thread] {
            #expect(!sentence(EPERM, call).contains("regular file"))
            #expect(RunLoop.Error(result: -EPERM, of: call) == .notPermitted)
        }
        #expect(sentence(EPERM, .clock).contains("sandbox") && !sentence(EPERM, .clock).contains("user"))
        #expect(sentence(EPERM, .files).contains("sandbox") && !sentence(EPERM, .files).contains("user"))
        #expect(sentence(EACCES, .address).contains("port") && !sentence(EACCES, .start).contains("port"))
        #expect(RunLoop.Error(result: -EMFILE, of: .files).about("/x").description.hasPrefix("/x: The process has"))
    }

    @Test("An error without a constant says what the system says of its number")
    func systemTexts() {
        #expect("\(RunLoop.Error(errorNumber: ENOENT))" == "No such file or directory (error 2).")
        #expect("\(RunLoop.Error(errorNumber: EAGAIN))" == "Resource temporarily unavailable (error 11).")
        #expect("\(RunLoop.Error(errorNumber: 12345))".contains("12345"))
    }

    @Test("A constant is caught by its name beside other errors")
    func caughtByName() throws {
        func name(of error: any Error) -> String {
            do {
                throw error
            } catch RunLoop.Error.timedOut {
                return "timed out"
            } catch RunLoop.PortError.full {
                return "full"
            } catch RunLoop.ChannelError.failed(.invalid) {
                return "invalid channel"
            } catch RunLoop.CallError<Never>.closed {
                return "refused"
            } catch is RunLoop.Error {
                return "another"
            } catch {
                return "other"
            }
        }
        #expect(name(of: RunLoop.Error.timedOut) == "timed out")
        #expect(name(of: RunLoop.Error.invalid) == "another")
        #expect(name(of: RunLoop.PortError.full) == "full")
        #expect(name(of: RunLoop.ChannelError.failed(.invalid)) == "invalid channel")
        #expect(name(of: RunLoop.ChannelError.failed(.timedOut)) == "other")
        #expect(name(of: RunLoop.CallError<Never>.closed) == "refused")
        #expect(name(of: CancellationError()) == "other")
        // Where the type is known, the constants are matched as ever.
        do throws(RunLoop.Error) { throw .brokenPipe } catch .brokenPipe {} catch { Issue.record("\(error)") }
    }

    /// What `body` throws.
    private func error(of body: () throws -> Void) -> RunLoop.Error? {
        do {
            try body()
        } catch RunLoop.ChannelError.failed(let reason) {
            return reason
        } catch {
            return error as? RunLoop.Error
        }
        return nil
    }

    @Test("An error says what it is about")
    func subjects() throws {
        let thread = try RunLoop.Thread()
        let missing = "/nonexistent/directory/socket"
        let unix = error { _ = try RunLoop.Listener(.unix(missing), on: thread.loop) }
        #expect(unix?.description == "\(missing): No such file or directory (error 2).")
        #expect(unix == RunLoop.Error(errorNumber: ENOENT) && unix?.subject == missing)
        let channel = error { _ = try RunLoop.Channel.Listener(on: missing, of: thread.loop) { _, _ in } }
        #expect(channel?.description == "\(missing): No such file or directory (error 2).")
        let tooLong = "/" + String(repeating: "x", count: 5000)
        let watched = error { _ = try RunLoop.Source(watching: tooLong) { _ in } }
        #expect(watched?.description == "\(tooLong): File name too long (error 36).")
        #expect(error { _ = try RunLoop.Source(signal: SIGKILL) { _ in } }?.subject == "signal 9")
        #expect(error { _ = try RunLoop.Child(adopting: getpid(), on: thread.loop) }?.subject == "process \(getpid())")
        let directory = open("/", O_RDONLY | O_DIRECTORY)
        defer { close(directory) }
        let source = try RunLoop.Source(fileDescriptor: directory) { _ in }
        let refused = error { try thread.loop.add(source, forMode: .default) }
        #expect(refused == .permissionDenied && refused?.subject == "descriptor \(directory)")
    }

    @Test("A name where an address belongs is refused with what an address is")
    func names() throws {
        let thread = try RunLoop.Thread()
        for address in ["localhost", "", "1.2.3.4.5", "fe80::1%nowhere"] {
            let refused = error { _ = try RunLoop.Listener(.tcp(address, port: 80), on: thread.loop) }
            let subject = address.contains(":") ? "[\(address)]:80" : "\(address):80"
            #expect(refused == .invalidAddress && refused?.subject == subject)
            #expect(refused?.description.contains("a number, such as 127.0.0.1 or ::1") == true)
        }
    }

    @Test("A number with several meanings is the constant of the call that failed")
    func meanings() async throws {
        let thread = try RunLoop.Thread()
        #expect(throws: RunLoop.Error.notAChild) { _ = try RunLoop.Child(adopting: getpid(), on: thread.loop) }
        // A thread that the system does not have: its stack is larger than the address space.
        let tooLarge = error { _ = try RunLoop.Thread(stackSize: 1 << 48) }
        #expect(tooLarge == .tooManyThreads, "\(String(describing: tooLarge))")
        let ends = try makeSockets(SOCK_STREAM)
        let connection = try RunLoop.Connection(
            adopting: ends.0, on: thread.loop, options: .init(outputLimit: 8))
        #expect(throws: RunLoop.Error.outputTooLarge) { try connection.writer.enqueue("0123456789") }
        // What a program ends a connection with arrives as it is.
        let reader = connection.makeReader()
        connection.abort(because: .outputTooLarge)
        await #expect(throws: RunLoop.Error.outputTooLarge) { _ = try await reader.line() }
        close(ends.1)
    }

    private func text(of path: String) throws -> String {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
