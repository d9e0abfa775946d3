#if os(Linux)
internal import CRunLoopWaitSet
internal import CoreFoundation
internal import RunLoopKit
internal import RunLoopKitHosts

/// Foundation's loop of the calling thread, served by a host that sleeps in it. Used on that thread.
@safe final class FoundationCompanion: CompanionLoop {
    private let loop = CFRunLoopGetCurrent()
    /// What the host waits for; one descriptor for Foundation. Empty except for a sleep.
    /// What it points to is its own, from opening to closing.
    @safe private var set = unsafe wait_set(
        descriptor: -1, timer: -1, armed_ns: 0, held: nil, count: 0, next: nil, capacity: 0)
    private var source: CFRunLoopSource?
    private var observer: CFRunLoopObserver?
    /// Of the runs of the default mode, which nest.
    private var depth = 0
    /// The innermost run that is a host's: it ends before it sleeps, if the host does not, or after one sleep.
    private var serving: Serving?
    private var isOver = false

    private struct Serving {
        let depth: Int
        let end: RunLoopKit.RunLoop.Instant
        let wait: (() -> HostWait?)?
        var hasMore = false
    }

    func serve(sleepingFor wait: (() -> HostWait?)?) -> Bool {
        install()
        let outer = serving
        serving = Serving(depth: depth + 1, end: .now + .milliseconds(1), wait: wait)
        CFRunLoopRunInMode(kCFRunLoopDefaultMode, .greatestFiniteMagnitude, false)
        let hasMore = serving?.hasMore ?? false
        serving = outer
        if isOver && serving == nil { uninstall() }
        return hasMore
    }

    /// The host serves it no more. A run that is being served still ends as it should.
    func end() {
        isOver = true
        if serving == nil { uninstall() }
    }

    deinit {
        uninstall()
        unsafe runloop__wait_set_close(&set)
    }

    private func install() {
        if observer != nil { return }
        if unsafe runloop__wait_set_open(&set) == 0 { addSource() }
        addObserver()
    }

    private func addSource() {
        var context = unsafe CFRunLoopSourceContext1()
        unsafe context.version = 1
        unsafe context.info = Unmanaged.passUnretained(self).toOpaque()
        unsafe context.getPort = {
            unsafe Unmanaged<FoundationCompanion>.fromOpaque($0!).takeUnretainedValue().set.descriptor
        }
        unsafe context.perform = { _ in }
        source = unsafe withUnsafeMutablePointer(to: &context) {
            // Its version says which structure it is.
            unsafe $0.withMemoryRebound(to: CFRunLoopSourceContext.self, capacity: 1) {
                unsafe CFRunLoopSourceCreate(nil, 0, $0)
            }
        }
        unwatch()
        CFRunLoopAddSource(loop, source, kCFRunLoopDefaultMode)
    }

    private func addObserver() {
        let activities: CFRunLoopActivity = [.entry, .beforeTimers, .beforeWaiting, .afterWaiting, .exit]
        // After all others, which may give the loop or the host something to do.
        observer = CFRunLoopObserverCreateWithHandler(nil, activities.rawValue, true, .max) {
            [unowned self] _, activity in
            notice(activity)
        }
        CFRunLoopAddObserver(loop, observer, kCFRunLoopDefaultMode)
    }

    private func uninstall() {
        if let source { CFRunLoopSourceInvalidate(source) }
        if let observer { CFRunLoopObserverInvalidate(observer) }
        source = nil
        observer = nil
    }

    private func notice(_ activity: CFRunLoopActivity) {
        switch activity {
        case .entry: depth += 1
        case .exit: depth -= 1
        // A run that something called in ours is its own.
        case _ where serving?.depth != depth: break
        case .beforeTimers:
            guard let end = serving?.end, end <= .now else { break }
            serving?.hasMore = true
            CFRunLoopStop(loop)
        case .beforeWaiting:
            serving?.hasMore = false
            if let wait = serving?.wait?() { watch(wait) } else { CFRunLoopStop(loop) }
        case .afterWaiting:
            // Before anything is called, which may run the loop, too.
            unwatch()
            CFRunLoopStop(loop)
        default: break
        }
    }

    /// Without descriptors or memory for it, the host looks by itself after a while.
    private func watch(_ wait: HostWait) {
        let count = CInt(wait.descriptors.count)
        guard source != nil, unsafe runloop__wait_set_reserve(&set, count) == 0 else {
            var descriptors = wait.descriptors
            unsafe poll(&descriptors, nfds_t(count), wait.timeout < 0 ? 10 : min(wait.timeout, 10))
            return CFRunLoopStop(loop)
        }
        var deadline = Int64.max
        if wait.timeout >= 0 {
            var now = timespec()
            unsafe clock_gettime(CLOCK_MONOTONIC, &now)
            deadline = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec) + Int64(wait.timeout) * 1_000_000
        }
        unsafe runloop__wait_set_update(&set, wait.descriptors, count, deadline)
    }

    private func unwatch() {
        if source != nil { unsafe runloop__wait_set_update(&set, nil, 0, .max) }
    }
}
#endif
