#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopLinux
public import RunLoopKit

extension RunLoop.Channel {
    /// A path on which other processes are listened for, and the channels to them.
    ///
    ///     let listener = try RunLoop.Channel.Listener(on: "lengths", of: loop) {
    ///         channel, message in
    ///         let length = message.bytes.count
    ///         try? message.reply("\(length)".utf8)
    ///     }
    ///
    /// The listener keeps its channels until they end. A client of another user is refused, unless the options say
    /// otherwise; so is everybody for whom there is no memory. When descriptors run out, connections wait. It ends with its object, or
    /// when it is invalidated, and its channels with it. Any thread.
    public final class Listener: Sendable {
        private let keeper: ChannelKeeper
        private let source: RunLoop.Source

        /// Listens for the other side of channels at a path, from now on. Any thread.
        ///
        /// - Parameters:
        ///   - path: a relative one is one in `$XDG_RUNTIME_DIR`. A path that a program has left behind is replaced; it is removed with the
        ///     listener.
        ///   - permissions: which users may connect, the user alone unless others are given; then `allowsAnyUser` is needed, too.
        ///   - backlog: how many connections may wait to be accepted; `nil` is as many as the system allows.
        ///   - loop: on whose thread connections are accepted, and messages received.
        ///   - options: of each channel.
        ///   - mode: in which that happens.
        ///   - receive: called on the loop's thread with a channel and its message.
        ///   - onEnd: as that of a channel, with the one that has ended.
        /// - Throws: `RunLoop.ChannelError`: `failed` with `addressInUse`, `accessDenied`, `invalid` for what is no path, `tooManyDescriptors`,
        ///   `loopFinished`, `outOfMemory`, and what else the system has against it.
        public convenience init(
            on path: String, permissions: UInt32 = 0o600, backlog: Int? = nil, of loop: RunLoop,
            options: Options = Options(), inMode mode: RunLoop.Mode = .common,
            receive: sending @escaping (RunLoop.Channel, Message) -> Void,
            onEnd: (@Sendable (RunLoop.Channel, RunLoop.ChannelError) -> Void)? = nil
        ) throws {
            do throws(RunLoop.Error) {
                try self.init(at: path, permissions, backlog, loop, options, mode, receive, onEnd)
            } catch {
                throw RunLoop.ChannelError.failed(error)
            }
        }

        private init(
            at path: String, _ permissions: UInt32, _ backlog: Int?, _ loop: RunLoop, _ options: Options,
            _ mode: RunLoop.Mode, _ receive: sending @escaping (RunLoop.Channel, Message) -> Void,
            _ onEnd: (@Sendable (RunLoop.Channel, RunLoop.ChannelError) -> Void)?
        ) throws(RunLoop.Error) {
            if path.utf8.contains(0) { throw RunLoop.Error.invalid.about(path) }
            let socket = unsafe runloop_channel_listen(path, permissions, Int32(clamping: backlog ?? 0))
            if socket < 0 { throw RunLoop.Error(result: socket, of: .channel, subject: path) }
            keeper = ChannelKeeper(loop, options, mode, onEnd, receive)
            source = try unsafe RunLoop.Source(receiver: keeper) { context, listener in
                var config = unsafe runloop_listener_config()
                unsafe config.context = context
                unsafe config.descriptor = socket
                unsafe config.owns = true
                unsafe config.removes_path = true
                unsafe config.accepted = { _, descriptor, info in
                    unsafe withInfo(info, as: ChannelKeeper.self) { $0.accepted(descriptor) }
                }
                let result = unsafe runloop_listener_create(&config, &listener)
                if result < 0 { closeDescriptor(socket) }
                return result
            }
            try loop.admit(source, to: mode)
        }

        deinit {
            invalidate()
        }

        /// The channels that there are, in no order. O(channels).
        public var channels: [RunLoop.Channel] { keeper.channels }

        /// Closes the socket, removes the path, and ends the channels. A second call has no effect. Allowed in the closures. O(channels).
        public func invalidate() {
            source.invalidate()
            keeper.end()
        }
    }
}

/// The channels of a listener, until they end. Sendable because they are behind a lock, and the closure is called by the loop's thread
/// alone.
private final class ChannelKeeper: @unchecked Sendable {
    private let loop: RunLoop
    private let options: RunLoop.Channel.Options
    private let mode: RunLoop.Mode
    private let onEnd: (@Sendable (RunLoop.Channel, RunLoop.ChannelError) -> Void)?
    /// Called on the loop's thread only.
    private let receive: (RunLoop.Channel, RunLoop.Channel.Message) -> Void
    /// `nil` after the end.
    private let kept = Guarded<[ObjectIdentifier: RunLoop.Channel]?>([:])

    init(
        _ loop: RunLoop, _ options: RunLoop.Channel.Options, _ mode: RunLoop.Mode,
        _ onEnd: (@Sendable (RunLoop.Channel, RunLoop.ChannelError) -> Void)?,
        _ receive: sending @escaping (RunLoop.Channel, RunLoop.Channel.Message) -> Void
    ) {
        (self.loop, self.options, self.mode, self.onEnd, self.receive) = (loop, options, mode, onEnd, receive)
    }

    var channels: [RunLoop.Channel] { kept.withLock { $0.map { Array($0.values) } ?? [] } }

    /// On the loop's thread. A connection that is refused is closed.
    func accepted(_ descriptor: CInt) {
        let receiver = ChannelReceiver { channel, message in self.receive(channel, message) }
        let channel = try? RunLoop.Channel(
            .descriptor(descriptor), loop, options, mode, { self.ended($0, $1) }, receiver)
        // If the listener has ended meanwhile, nobody has the channel, and it ends, too.
        if let channel { kept.withLock { $0?[ObjectIdentifier(channel)] = channel } }
    }

    private func ended(_ channel: RunLoop.Channel, _ end: RunLoop.ChannelError) {
        _ = kept.withLock { $0?.removeValue(forKey: ObjectIdentifier(channel)) }
        onEnd?(channel, end)
    }

    func end() {
        let channels = kept.withLock { $0.take() }
        for channel in channels?.values.map(\.self) ?? [] { channel.invalidate() }
    }
}
#endif
