#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopLinux
internal import RunLoopKit

extension RunLoop.Source {
    /// Makes a `runloop_connect`, which begins when a loop has it.
    convenience init(
        connectingTo address: RunLoop.SocketAddress, within limit: Duration?, on loop: RunLoop,
        _ options: RunLoop.Connection.SocketOptions, _ outcome: ConnectOutcome
    ) throws(RunLoop.Error) {
        let failure = { (result: Int32) in
            let call: RunLoop.Error.Call = result == -ErrorNumber.tryAgain ? .thread : .address
            return RunLoop.Error(result: result, of: call, subject: "connect to \(outcome.target)")
        }
        unsafe try self.init(receiver: outcome, failure: failure) { context, connect in
            var config = unsafe runloop_connect_config()
            unsafe config.context = context
            // 0 would be none.
            unsafe config.deadline_ns =
                limit.map { unsafe max(1, Nanoseconds.fromNow(of: loop.core, Nanoseconds.of($0))) } ?? 0
            unsafe config.keepalive_idle_ns = options.keepAlive.map { Nanoseconds.of($0.idle) } ?? 0
            unsafe config.keepalive_interval_ns = options.keepAlive?.interval.map(Nanoseconds.of) ?? 0
            unsafe config.keepalive_count = UInt32(clamping: options.keepAlive?.count ?? 0)
            unsafe config.user_timeout_ns = options.userTimeout.map(Nanoseconds.of) ?? 0
            unsafe config.delays = options.delaysSmallPieces
            unsafe config.connected = { core, descriptor, error, info in
                unsafe withInfo(info, as: ConnectOutcome.self) { unsafe $0.connected(core, descriptor, error) }
            }
            // It is in its modes until it ends, or the loop does.
            unsafe config.cancel = { core, _, _, info in
                unsafe withInfoAtEndOfLoop(core, info, as: ConnectOutcome.self) {
                    $0.settle(.failure(RunLoop.Error.loopFinished))
                }
            }
            return unsafe withTexts([address.targetName, options.localAddress, options.interface]) { texts in
                switch address.kind {
                case .tcp(_, let port): unsafe (config.host, config.port) = unsafe (texts[0], port)
                case .unix: unsafe config.path = unsafe texts[0]
                case .abstract: unsafe config.abstract_name = unsafe texts[0]
                case .descriptor: break
                }
                unsafe (config.local_address, config.interface) = unsafe (texts[1], texts[2])
                return unsafe runloop_connect_create(&config, &connect)
            }
        }
    }
}

/// What becomes of an attempt to connect: a descriptor, or why there is none.
final class ConnectOutcome: Sendable {
    /// For errors.
    let target: String
    let answer = Answer<CInt, any Error>()

    init(_ target: String) { self.target = target }

    /// The first outcome counts. A connection that comes later is closed.
    func settle(_ outcome: Result<CInt, any Error>) {
        if !answer.settle(outcome), case .success(let descriptor) = outcome { closeDescriptor(descriptor) }
    }

    /// Called by a `runloop_connect`.
    fileprivate func connected(_ core: OpaquePointer?, _ descriptor: CInt, _ error: CInt) {
        if error == 0 { return settle(.success(descriptor)) }
        let nameError = unsafe runloop_connect_get_name_error(core).map { unsafe String(cString: $0) }
        let attempts = unsafe nameError.map { [$0] } ?? failures(of: core)
        let subject = attempts.isEmpty ? target : "\(target) (\(attempts.joined(separator: "; ")))"
        let call: RunLoop.Error.Call = nameError == nil ? .address : .name
        settle(.failure(RunLoop.Error(result: error, of: call, subject: "connect to \(subject)")))
    }

    /// In words. None if there was one address, which is the target.
    private func failures(of core: OpaquePointer?) -> [String] {
        let capacity = unsafe runloop_connect_get_failures(core, nil, 0)
        let failures = unsafe [runloop_connect_failure](unsafeUninitializedCapacity: capacity) { buffer, count in
            count = unsafe min(capacity, runloop_connect_get_failures(core, buffer.baseAddress, capacity))
        }
        let texts = failures.map { failure in
            let address = unsafe withUnsafeBytes(of: failure.address) {
                unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            return (address, "\(address): \(systemText(of: 0 &- failure.error))")
        }
        return texts.count == 1 && texts[0].0 == target ? [] : texts.map(\.1)
    }
}

extension RunLoop.SocketAddress {
    fileprivate var targetName: String? {
        switch kind {
        case .tcp(let text, _), .unix(let text, _), .abstract(let text): text
        case .descriptor: nil
        }
    }

    /// What is connected to, or listened on, for errors.
    var target: String {
        switch kind {
        case .tcp(let host, let port): host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path, _): path
        case .abstract(let name): "@\(name)"
        case .descriptor(let descriptor): "descriptor \(descriptor)"
        }
    }
}

/// Calls `body` with the texts as C has them: `nil` is NULL. For C a text with a NUL would be a shorter one.
private func withTexts(_ texts: [String?], _ body: ([UnsafePointer<CChar>?]) -> CInt) -> CInt {
    func add(to known: [UnsafePointer<CChar>?]) -> CInt {
        if unsafe known.count == texts.count { return unsafe body(known) }
        guard let text = unsafe texts[known.count] else { return unsafe add(to: known + [nil]) }
        return unsafe text.utf8.contains(0) ? -ErrorNumber.invalid : text.withCString { unsafe add(to: known + [$0]) }
    }
    return unsafe add(to: [])
}
#endif
