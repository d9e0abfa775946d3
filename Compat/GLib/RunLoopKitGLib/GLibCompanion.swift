#if os(Linux)
internal import RunLoopKit
internal import RunLoopKitCLibrary
internal import RunLoopKitHosts

/// Another loop of the thread under GLib's, which does not say what it waits for: Foundation's. GLib's sleep is moved into it.
///
/// GLib's poll function never blocks: if nothing is ready, it says so here, and a source of GLib's is ready, which sleeps in its callback, in
/// the other loop, for what GLib would have waited for. In the poll function itself nothing could be called back, since GLib
/// keeps what it polls in an array that a nested iteration, for a dialog, may replace.
///
/// While other sources keep GLib busy, the source has its turn about once a millisecond.
@safe final class GLibCompanion {
    private let loop: any CompanionLoop
    private let glib: GLib
    /// Keeps the host that has this object.
    @safe private let context: GLib.Context
    private let poll: GLibPoll
    /// With one reference, released by `deinit`.
    @safe private let source: GLib.Source
    private var hasMore = false
    private var isAsking = false
    private var hasReadySources = false
    private var served = RunLoop.Instant.now
    private var descriptors = [pollfd](repeating: pollfd(), count: 16)

    init(_ loop: any CompanionLoop, _ glib: GLib, _ context: GLib.Context, _ priority: CInt) {
        self.loop = loop
        self.glib = glib
        self.context = unsafe context
        poll = .current
        source = unsafe CompanionSource.make(glib)
        unsafe CompanionSource.setOwner(Unmanaged.passUnretained(self).toOpaque(), of: source)
        unsafe glib.sourceSetName(source, "companion of the run loop")
        unsafe glib.sourceSetPriority(source, priority)
        // What the other loop calls may iterate the context.
        unsafe glib.sourceSetCanRecurse(source, 1)
        _ = unsafe glib.sourceAttach(source, context)
        unsafe poll.install(glib, context)
    }

    func detach() {
        unsafe poll.uninstall(glib, context)
        destroySource()
    }

    func destroySource() {
        unsafe glib.sourceDestroy(source)
        unsafe glib.sourceUnref(source)
    }

    fileprivate func prepare() -> Bool { hasMore && !isAsking }

    fileprivate func check() -> Bool {
        !isAsking && (hasMore || poll.maySleep || served + .milliseconds(1) <= .now)
    }

    fileprivate func dispatch() {
        let maySleep = poll.maySleep
        poll.maySleep = false
        // An iteration inside another one has taken what that had found ready.
        hasReadySources = false
        hasMore = loop.serve(sleepingFor: maySleep ? ask : nil)
        served = .now
        if !hasReadySources { return }
        hasReadySources = false
        unsafe glib.mainContextDispatch(context)
    }

    /// What GLib waits for, or `nil` if it has something to do. Since it was last asked, what the other loop called may have added sources.
    /// A whole iteration of GLib's without the sleep: some sources have to be checked once they have been prepared.
    private func ask() -> HostWait? {
        isAsking = true
        defer { isAsking = false }
        var priority: CInt = 0
        var timeout: CInt = -1
        _ = unsafe glib.mainContextPrepare(context, &priority)
        var count = query(priority, &timeout)
        while count > descriptors.count {
            descriptors = [pollfd](repeating: pollfd(), count: 2 * count)
            count = query(priority, &timeout)
        }
        _ = unsafe descriptors.withUnsafeMutableBufferPointer {
            unsafe poll.previous($0.baseAddress, CUnsignedInt(count), 0)
        }
        hasReadySources =
            unsafe descriptors.withUnsafeMutableBufferPointer {
                unsafe glib.mainContextCheck(context, priority, $0.baseAddress, CInt(count))
            } != 0
        if hasReadySources || timeout == 0 { return nil }
        return HostWait(descriptors: Array(descriptors[..<count]), timeout: timeout)
    }

    private func query(_ priority: CInt, _ timeout: inout CInt) -> Int {
        unsafe descriptors.withUnsafeMutableBufferPointer {
            unsafe Int(glib.mainContextQuery(context, priority, &timeout, $0.baseAddress, CInt($0.count)))
        }
    }
}

/// The poll function of the contexts that a thread's hosts are in. GLib gives it nothing to know them by but the thread.
@safe private final class GLibPoll {
    private static var registry: LoopRegistry<GLibPoll> { unsafe LoopRegistry() }

    static var current: GLibPoll { registry.object(of: .current) { GLibPoll() } }

    /// Nothing was ready, and GLib would have slept.
    var maySleep = false
    /// What was there before, and is called without a timeout. A function of the program, which lasts as long.
    @safe private(set) var previous: GLib.PollFunction = { unsafe pollWithoutCompanion($0, $1, $2) }
    private var installations = 0

    private static let function: GLib.PollFunction = { descriptors, count, timeout in
        guard let known = registry.currentObject else {
            return unsafe pollWithoutCompanion(descriptors, count, timeout)
        }
        return unsafe known.look(descriptors, count, timeout)
    }

    private func look(_ descriptors: UnsafeMutablePointer<pollfd>?, _ count: CUnsignedInt, _ timeout: CInt) -> CInt {
        maySleep = false
        // It is still called if somebody has set another function since, which calls this one.
        if installations == 0 { return unsafe previous(descriptors, count, timeout) }
        let ready = unsafe previous(descriptors, count, 0)
        maySleep = ready == 0 && timeout != 0
        return ready
    }

    func install(_ glib: GLib, _ context: GLib.Context) {
        installations += 1
        guard let present = unsafe glib.mainContextGetPollFunc(context), unsafe !Self.isOurs(present) else { return }
        previous = unsafe present
        unsafe glib.mainContextSetPollFunc(context, Self.function)
    }

    func uninstall(_ glib: GLib, _ context: GLib.Context) {
        installations -= 1
        guard let present = unsafe glib.mainContextGetPollFunc(context), unsafe Self.isOurs(present) else { return }
        unsafe glib.mainContextSetPollFunc(context, previous)
    }

    private static func isOurs(_ function: GLib.PollFunction) -> Bool {
        unsafe unsafeBitCast(function, to: Int.self) == unsafeBitCast(Self.function, to: Int.self)
    }
}

/// poll, with GLib's types.
private func pollWithoutCompanion(_ descriptors: UnsafeMutablePointer<pollfd>?, _ count: CUnsignedInt, _ timeout: CInt)
    -> CInt
{
    unsafe poll(descriptors, nfds_t(count), timeout)
}

/// A kind of GLib's sources whose owner decides when it is ready.
private enum CompanionSource {
    /// After the GSource, which takes 96 bytes at most, and will not take more, since programs have it in structures of their own.
    private static let ownersOffset = 128

    /// A GSourceFuncs: prepare, check, dispatch, finalize, and two that GLib keeps for itself. GLib refers to it.
    private nonisolated(unsafe) static let functions: UnsafeMutableRawPointer = {
        let prepare: @convention(c) (GLib.Source, UnsafeMutablePointer<CInt>?) -> GLib.Boolean = { source, timeout in
            unsafe timeout?.pointee = -1
            return unsafe owner(of: source).prepare() ? 1 : 0
        }
        let check: @convention(c) (GLib.Source) -> GLib.Boolean = { unsafe owner(of: $0).check() ? 1 : 0 }
        let dispatch: @convention(c) (GLib.Source, GLib.Info, GLib.Info) -> GLib.Boolean = { source, _, _ in
            // What is called may end the host.
            let owner = unsafe owner(of: source)
            owner.dispatch()
            return 1
        }
        let functions = UnsafeMutablePointer<UnsafeRawPointer?>.allocate(capacity: 6)
        unsafe functions.initialize(repeating: nil, count: 6)
        unsafe functions[0] = unsafeBitCast(prepare, to: UnsafeRawPointer.self)
        unsafe functions[1] = unsafeBitCast(check, to: UnsafeRawPointer.self)
        unsafe functions[2] = unsafeBitCast(dispatch, to: UnsafeRawPointer.self)
        return UnsafeMutableRawPointer(functions)
    }()

    static func make(_ glib: GLib) -> GLib.Source {
        unsafe glib.sourceNew(functions, CUnsignedInt(ownersOffset + MemoryLayout<UnsafeRawPointer>.size))
    }

    /// A source that has been destroyed asks for it no more.
    static func setOwner(_ owner: UnsafeMutableRawPointer, of source: GLib.Source) {
        unsafe UnsafeMutableRawPointer(source).storeBytes(
            of: owner, toByteOffset: ownersOffset, as: UnsafeMutableRawPointer.self)
    }

    private static func owner(of source: GLib.Source) -> GLibCompanion {
        let owner = unsafe UnsafeMutableRawPointer(source).load(
            fromByteOffset: ownersOffset, as: UnsafeMutableRawPointer.self)
        return unsafe Unmanaged<GLibCompanion>.fromOpaque(owner).takeUnretainedValue()
    }
}
#endif
