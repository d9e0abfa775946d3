internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

//===----------------------------------------------------------------------===//
// Signals of the process, for sources.
//
// A handler writes a byte to a pipe for each source that catches the signal, and the source watches the other end. Not a
// signalfd: that works only if the signal is blocked on every present and future thread, and blocked signals stay blocked in
// every program that the process starts. A handler asks nothing of threads, and is removed by `exec`.
//
// The handler may interrupt anything, this file too. So it takes no lock and frees nothing. It walks a list of pipes that only
// grows, and in which no pipe is ever closed; the next source uses a pipe that is not in use.
//===----------------------------------------------------------------------===//

/// A signal that a source catches, from its creation until `end()`, or until it is freed.
final class CaughtSignal: Sendable {
    private let number: Int32
    private nonisolated(unsafe) let pipe: UnsafeMutablePointer<SignalPipe>

    init(_ number: Int32) throws(RunLoop.Error) {
        self.number = number
        pipe = try SignalTable.shared.withLock { table in
            Result { () throws(RunLoop.Error) in try table.begin(number) }
        }.get()
    }

    deinit {
        end()
        SignalTable.shared.withLock { $0.idle.append(pipe) }
    }

    /// Becomes readable when the signal arrives.
    var descriptor: Int32 { pipe.pointee.reader }

    /// Consumes the arrivals of the signal. A pipe holds 65,536 bytes; further arrivals count with those.
    ///
    /// - Returns: has it arrived since the last call?
    func take() -> Bool { pipe.pointee.drain() }

    /// Stops catching the signal. The pipe is kept until this object is freed, because a loop may be about to read it.
    func end() { SignalTable.shared.withLock { $0.end(number, pipe) } }
}

/// The two ends of a pipe, in the list of all pipes. Never freed.
private struct SignalPipe: ~Copyable {
    let reader: Int32
    let writer: Int32
    /// The process that made the pipe. A forked child has the same pipe, and must not report its own signals to the parent.
    let process: pid_t
    /// The signal for which it is used, or 0.
    let number = Atomic<Int32>(0)
    let next: UnsafeMutablePointer<SignalPipe>?

    init(next: UnsafeMutablePointer<SignalPipe>?) throws(RunLoop.Error) {
        var ends: [Int32] = [-1, -1]
        if Self.open(&ends) != 0 { throw RunLoop.Error(errorNumber: errno) }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (reader, writer) = (ends[0], ends[1])
        process = getpid()
        self.next = next
    }

    private static func open(_ ends: inout [Int32]) -> Int32 { pipe(&ends) }

    func drain() -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 512, alignment: 1) { buffer in
            var isEmpty = true
            while read(reader, buffer.baseAddress, buffer.count) > 0 { isEmpty = false }
            return !isEmpty
        }
    }
}

/// The newest pipe, from which the handler finds all others. Pointers are not Sendable, but the fields behind them are atomic or
/// constant.
private nonisolated(unsafe) let newestPipe = Atomic<UnsafeMutablePointer<SignalPipe>?>(nil)

/// The signals that are caught, and for how many sources.
private struct SignalTable {
    static let shared = Guarded(SignalTable())

    var idle: [UnsafeMutablePointer<SignalPipe>] = []
    private var catchers: [Int32: Int] = [:]
    private var formerActions: [Int32: sigaction] = [:]

    /// A fault of the thread itself would occur again as soon as the handler returned.
    private static let faults = [SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS]

    mutating func begin(_ number: Int32) throws(RunLoop.Error) -> UnsafeMutablePointer<SignalPipe> {
        var former = sigaction()
        if Self.faults.contains(number) || sigaction(number, nil, &former) != 0 { throw .invalid }
        let pipe = try takePipe()
        pipe.pointee.number.store(number, ordering: .sequentiallyConsistent)
        if catchers[number] == nil {
            // SIGKILL, SIGSTOP and the signals that the C library reserves are refused here.
            if unsafeBitCast(signal(number, { signalArrived($0) }), to: Int.self) == -1 {
                pipe.pointee.number.store(0, ordering: .sequentiallyConsistent)
                idle.append(pipe)
                throw .invalid
            }
            formerActions[number] = former
        }
        catchers[number, default: 0] += 1
        return pipe
    }

    mutating func end(_ number: Int32, _ pipe: UnsafeMutablePointer<SignalPipe>) {
        if pipe.pointee.number.exchange(0, ordering: .sequentiallyConsistent) == 0 { return }
        let remaining = (catchers[number] ?? 1) - 1
        catchers[number] = remaining > 0 ? remaining : nil
        if remaining > 0 { return }
        if var former = formerActions.removeValue(forKey: number) { sigaction(number, &former, nil) }
    }

    private mutating func takePipe() throws(RunLoop.Error) -> UnsafeMutablePointer<SignalPipe> {
        let process = getpid()
        if let index = idle.lastIndex(where: { $0.pointee.process == process }) {
            let pipe = idle.remove(at: index)
            _ = pipe.pointee.drain()
            return pipe
        }
        let pipe = try SignalPipe(next: newestPipe.load(ordering: .sequentiallyConsistent))
        let place = UnsafeMutablePointer<SignalPipe>.allocate(capacity: 1)
        place.initialize(to: pipe)
        newestPipe.store(place, ordering: .sequentiallyConsistent)
        return place
    }
}

/// The handler. It may interrupt any code on any thread.
@Sendable
private func signalArrived(_ number: Int32) {
    let formerError = errno
    let process = getpid()
    var byte: UInt8 = 1
    var next = newestPipe.load(ordering: .sequentiallyConsistent)
    while let pipe = next {
        // It does not block. If the pipe is full, the source will be called in any case.
        if pipe.pointee.number.load(ordering: .sequentiallyConsistent) == number && pipe.pointee.process == process {
            _ = write(pipe.pointee.writer, &byte, 1)
        }
        next = pipe.pointee.next
    }
    errno = formerError
}
