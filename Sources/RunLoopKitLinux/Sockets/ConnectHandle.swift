internal import CRunLoopCore
internal import CRunLoopLinux
internal import RunLoopKit

/// A `runloop_connect`, to which this object has a reference.
final class ConnectHandle: Sendable {
    /// Any thread may use it.
    private nonisolated(unsafe) let core: OpaquePointer

    init(
        _ address: RunLoop.Listener.Address, _ limit: Duration?, _ loop: RunLoop,
        _ options: RunLoop.Connection.SocketOptions, _ outcome: ConnectOutcome
    ) throws(RunLoop.Error) {
        var config = runloop_connect_config()
        // 0 would be none.
        config.deadline_ns = limit.map { max(1, Nanoseconds.fromNow(of: loop.core, Nanoseconds.of($0))) } ?? 0
        config.keepalive_idle_ns = options.keepAlive.map { Nanoseconds.of($0.idle) } ?? 0
        config.keepalive_interval_ns = options.keepAlive?.interval.map(Nanoseconds.of) ?? 0
        config.keepalive_count = UInt32(clamping: options.keepAlive?.count ?? 0)
        config.user_timeout_ns = options.userTimeout.map(Nanoseconds.of) ?? 0
        config.delays = options.delaysSmallPieces
        config.context.info = retainedInfo(outcome)
        config.context.release = releaseInfo
        config.connected = { core, descriptor, error, info in
            withInfo(info, as: ConnectOutcome.self) { $0.connected(core, descriptor, error) }
        }
        config.cancel = { core, _, _, info in
            // It is in its modes until it ends, or the loop does.
            guard runloop_source_is_valid(core) else { return }
            withInfo(info, as: ConnectOutcome.self) { $0.settle(.failure(RunLoop.Error.loopFinished)) }
        }
        var core: OpaquePointer?
        let result = withTexts([address.targetName, options.localAddress, options.interface]) { texts in
            switch address.kind {
            case .tcp(_, let port): (config.host, config.port) = (texts[0], port)
            case .unix: config.path = texts[0]
            case .abstract: config.abstract_name = texts[0]
            case .descriptor: break
            }
            (config.local_address, config.interface) = (texts[1], texts[2])
            return runloop_connect_create(&config, &core)
        }
        guard result == 0, let core else {
            releaseInfo(config.context.info)
            let call: RunLoop.Error.Call = result == -ErrorNumber.tryAgain ? .thread : .address
            throw RunLoop.Error(result: result, of: call, subject: "connect to \(outcome.target)")
        }
        self.core = core
    }

    deinit {
        runloop_source_release(core)
    }

    func add(to loop: RunLoop, _ mode: RunLoop.Mode) throws(RunLoop.Error) {
        let result = runloop_add_source(loop.core, core, mode.name)
        if result < 0 { throw RunLoop.Error(result: result) }
    }

    func invalidate() { runloop_source_invalidate(core) }
}

extension ConnectOutcome {
    /// Called by a `runloop_connect`.
    fileprivate func connected(_ core: OpaquePointer?, _ descriptor: CInt, _ error: CInt) {
        if error == 0 { return settle(.success(descriptor)) }
        let nameError = runloop_connect_get_name_error(core).map { String(cString: $0) }
        let attempts = nameError.map { [$0] } ?? failures(of: core)
        let subject = attempts.isEmpty ? target : "\(target) (\(attempts.joined(separator: "; ")))"
        let call: RunLoop.Error.Call = nameError == nil ? .address : .name
        settle(.failure(RunLoop.Error(result: error, of: call, subject: "connect to \(subject)")))
    }

    /// In words. None if there was one address, which is the target.
    private func failures(of core: OpaquePointer?) -> [String] {
        let capacity = runloop_connect_get_failures(core, nil, 0)
        let failures = [runloop_connect_failure](unsafeUninitializedCapacity: capacity) { buffer, count in
            count = min(capacity, runloop_connect_get_failures(core, buffer.baseAddress, capacity))
        }
        let texts = failures.map { failure in
            let address = withUnsafeBytes(of: failure.address) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            return (address, "\(address): \(systemText(of: 0 &- failure.error))")
        }
        return texts.count == 1 && texts[0].0 == target ? [] : texts.map(\.1)
    }
}

extension RunLoop.Listener.Address {
    fileprivate var targetName: String? {
        switch kind {
        case .tcp(let text, _), .unix(let text, _), .abstract(let text): text
        case .descriptor: nil
        }
    }

    /// What is connected to, for errors.
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
        if known.count == texts.count { return body(known) }
        guard let text = texts[known.count] else { return add(to: known + [nil]) }
        return text.utf8.contains(0) ? -ErrorNumber.invalid : text.withCString { add(to: known + [$0]) }
    }
    return add(to: [])
}
