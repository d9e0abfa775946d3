#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopLinux
internal import RunLoopKit

extension RunLoop.Source {
    /// Makes a `runloop_listener`, which listens from now on.
    convenience init(
        listeningOn address: RunLoop.SocketAddress, backlog: Int, _ receiver: ListenerReceiver
    ) throws(RunLoop.Error) {
        let socket = listen(address.kind, Int32(clamping: backlog))
        if socket < 0 { throw RunLoop.Error(result: socket, of: .address, subject: address.target) }
        unsafe try self.init(receiver: receiver, subject: address.target) { context, listener in
            var config = unsafe runloop_listener_config()
            unsafe config.context = context
            unsafe config.descriptor = socket
            unsafe config.owns = true
            if case .unix = address.kind { unsafe config.removes_path = true }
            unsafe config.accepted = { _, descriptor, info in
                unsafe withInfo(info, as: ListenerReceiver.self) { $0.accepted(descriptor) }
            }
            if receiver.refusal != nil {
                unsafe config.refused = { _, descriptor, info in
                    unsafe withInfo(info, as: ListenerReceiver.self) { sendOnce($0.refusal ?? "", to: descriptor) }
                }
            }
            unsafe config.paused = { _, error, info in
                unsafe withInfo(info, as: ListenerReceiver.self) { $0.paused(error) }
            }
            unsafe config.cancel = { listener, _, _, info in
                unsafe withInfoAtEndOfLoop(listener, info, as: ListenerReceiver.self) { $0.queue.finish(nil) }
            }
            let result = unsafe runloop_listener_create(&config, &listener)
            if result < 0 { closeDescriptor(socket) }
            return result
        }
    }
}

private func listen(_ address: RunLoop.SocketAddress.Kind, _ backlog: Int32) -> CInt {
    switch address {
    // For C it would be a shorter text, and so another address.
    case .tcp(let text, _) where text.utf8.contains(0), .unix(let text, _) where text.utf8.contains(0),
        .abstract(let text) where text.utf8.contains(0):
        -ErrorNumber.invalid
    case .tcp(let address, let port): unsafe runloop_listen_tcp(address, port, backlog)
    case .unix(let path, let permissions): unsafe runloop_listen_unix(path, permissions, backlog)
    case .abstract(let name): unsafe runloop_listen_abstract(name, backlog)
    case .descriptor(let descriptor): descriptor < 0 ? -ErrorNumber.badDescriptor : descriptor
    }
}

/// What a listener calls.
final class ListenerReceiver: Sendable {
    let queue: ConnectionQueue
    let refusal: String?
    private let onShortage: (@Sendable (RunLoop.Error?) -> Void)?
    private let isShort = Guarded(false)

    init(queue: ConnectionQueue, refusal: String?, onShortage: (@Sendable (RunLoop.Error?) -> Void)?) {
        self.queue = queue
        self.refusal = refusal
        self.onShortage = onShortage
    }

    /// A connection for which there is nothing left has been closed, and that is a shortage as well.
    func accepted(_ descriptor: CInt) {
        do throws(RunLoop.Error) {
            try queue.accepted(descriptor)
            report(nil)
        } catch {
            report(error)
        }
    }

    /// Each shortage once, and its end.
    private func report(_ shortage: RunLoop.Error?) {
        let isNews = isShort.withLock { isShort in
            defer { isShort = shortage != nil }
            return isShort != (shortage != nil)
        }
        if isNews { onShortage?(shortage) }
    }

    func paused(_ result: CInt) {
        let error = result == 0 ? nil : RunLoop.Error(result: result)
        switch error?.errorNumber {
        case nil, ErrorNumber.tooManyDescriptors, ErrorNumber.tooManyFiles, ErrorNumber.outOfMemory,
            ErrorNumber.outOfBuffers:
            report(error)
        // The socket is of no use any more.
        default: queue.finish(error)
        }
    }
}
#endif
