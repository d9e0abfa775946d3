#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopOverlay

// How timers, observers and sources are made in the core, and what the core calls. Each `make` function returns an item with one
// reference, which belongs to the caller. What else there is to do with an item, its class does with the pointer.

//===-- timers -------------------------------------------------------------------------------------------------------===//

/// Makes the C timer of a `RunLoop.Timer`, to be attached to it with `attachTimer`.
func makeTimer(fireDate: Int64, interval: Int64, tolerance: Int64, order: Int) -> OpaquePointer {
    _ = objectHooks
    var config = unsafe runloop_timer_config()
    unsafe config.order = Int32(clamping: order)
    unsafe config.fire_ns = fireDate
    unsafe config.interval_ns = interval
    unsafe config.tolerance_ns = tolerance
    unsafe config.fire = { _, info in unsafe withInfo(info, as: RunLoop.Timer.self) { $0.fire() } }
    var core: OpaquePointer?
    guard unsafe runloop_timer_create(&config, &core) == 0, let core = unsafe core else { outOfMemory() }
    return unsafe core
}

/// Makes the object the info of its C timer. Called before anybody else has the timer.
func attachTimer(_ core: OpaquePointer, to timer: RunLoop.Timer) {
    // The timer is invalid, or being freed: on any thread, and never while it fires.
    unsafe runloop__timer_share(core, Unmanaged.passUnretained(timer).toOpaque()) { info in
        unsafe withInfo(info, as: RunLoop.Timer.self) { $0.end() }
    }
}

/// A C timer that fires once and calls a closure, without an object. The value owns one reference to it.
@safe struct ClosureTimer: ~Copyable, Sendable {
    /// Any thread may make any call for it: the core guards what is behind it.
    @safe nonisolated(unsafe) let core: OpaquePointer

    init(fireDate: Int64, tolerance: Int64, _ body: sending @escaping () -> Void) {
        var core: OpaquePointer?
        _ = unsafe StoredClosure(consume body).store { words in
            // A closure that cannot be copied is borrowed: it is called without counting references.
            unsafe core = runloop__timer_new_pair(
                words.assumingMemoryBound(to: UnsafeMutableRawPointer?.self), fireDate, tolerance,
                { _, closure in unsafe closure?.assumingMemoryBound(to: StoredClosure.self).pointee() },
                { closure in
                    guard let closure = unsafe closure else { return }
                    _ = unsafe StoredClosure.take(from: closure)
                })
            if unsafe core == nil { outOfMemory() }
            return 0
        }
        self.core = unsafe core.unsafelyUnwrapped
    }

    deinit {
        unsafe runloop_timer_release(core)
    }
}

//===-- observers ----------------------------------------------------------------------------------------------------===//

/// Makes the C observer of a `RunLoop.Observer`, to be attached to it with `attachObserver`.
func makeObserver(activities: UInt32, repeats: Bool, order: Int) -> OpaquePointer {
    _ = objectHooks
    var config = unsafe runloop_observer_config()
    unsafe config.context.release = { info in unsafe withInfo(info, as: RunLoop.Observer.self) { $0.end() } }
    unsafe config.order = Int32(clamping: order)
    unsafe config.activities = runloop_activity(rawValue: activities)
    unsafe config.repeats = repeats
    unsafe config.observe = { _, activity, info in
        unsafe withInfo(info, as: RunLoop.Observer.self) {
            $0.observe(RunLoop.Observer.Activities(rawValue: activity.rawValue))
        }
    }
    var core: OpaquePointer?
    guard unsafe runloop_observer_create(&config, &core) == 0, let core = unsafe core else { outOfMemory() }
    return unsafe core
}

/// As `attachTimer`.
func attachObserver(_ core: OpaquePointer, to observer: RunLoop.Observer) {
    unsafe runloop__observer_share(core, Unmanaged.passUnretained(observer).toOpaque())
}

//===-- objects that are timers and observers --------------------------------------------------------------------------===//

/// Sets how the core retains and releases such objects. Read before the first of them is made.
private let objectHooks: Void = unsafe runloop__set_object_hooks(
    { object in
        guard let object = unsafe object else { return }
        _ = unsafe Unmanaged<AnyObject>.fromOpaque(object).retain()
    },
    unsafe releaseInfo)

//===-- sources ------------------------------------------------------------------------------------------------------===//

/// The closures of a source that is signalled by hand. A source may perform on several loops at once.
final class SignalBox: Sendable {
    typealias Membership = @Sendable (RunLoop, RunLoop.Mode) -> Void

    let perform: @Sendable () -> Void
    let onSchedule: Membership?
    let onCancel: Membership?

    init(perform: @escaping @Sendable () -> Void, onSchedule: Membership?, onCancel: Membership?) {
        self.perform = perform
        self.onSchedule = onSchedule
        self.onCancel = onCancel
    }
}

/// Makes a source that is signalled by hand.
func makeSource(order: Int, box: SignalBox) -> OpaquePointer {
    var config = unsafe runloop_source_config()
    unsafe config.context.info = retainedInfo(box)
    unsafe config.context.release = releaseInfo
    unsafe config.order = Int32(clamping: order)
    unsafe config.perform = { _, info in unsafe withInfo(info, as: SignalBox.self) { $0.perform() } }
    if box.onSchedule != nil {
        unsafe config.schedule = { _, loop, mode, info in
            guard let loop = unsafe loop, let mode = unsafe mode else { return }
            unsafe withInfo(info, as: SignalBox.self) {
                unsafe $0.onSchedule?(RunLoop.object(of: loop), RunLoop.Mode(name: mode))
            }
        }
    }
    if box.onCancel != nil {
        unsafe config.cancel = { _, loop, mode, info in
            guard let loop = unsafe loop, let mode = unsafe mode else { return }
            unsafe withInfo(info, as: SignalBox.self) {
                unsafe $0.onCancel?(RunLoop.object(of: loop), RunLoop.Mode(name: mode))
            }
        }
    }
    var core: OpaquePointer?
    guard unsafe runloop_source_create(&config, &core) == 0, let core = unsafe core else { outOfMemory() }
    return unsafe core
}

/// The closures of a source that is driven by a descriptor.
private final class DescriptorBox: Sendable {
    let ready: @Sendable (RunLoop.Source.Readiness) -> Void
    let onEndOfLoop: (@Sendable () -> Void)?

    init(_ ready: @escaping @Sendable (RunLoop.Source.Readiness) -> Void, _ onEndOfLoop: (@Sendable () -> Void)?) {
        self.ready = ready
        self.onEndOfLoop = onEndOfLoop
    }
}

/// Makes a source that is driven by a descriptor.
///
/// - Parameters:
///   - isCounter: the core reads the eight bytes of the descriptor before each call.
///   - onEndOfLoop: for a source of ours, which nobody removes.
func makeSource(
    descriptor: CInt, events: RunLoop.Source.Readiness, isCounter: Bool = false, order: Int,
    onEndOfLoop: (@Sendable () -> Void)? = nil, ready: @escaping @Sendable (RunLoop.Source.Readiness) -> Void
) throws(RunLoop.Error) -> OpaquePointer {
    var config = unsafe runloop_descriptor_config()
    unsafe config.context.info = retainedInfo(DescriptorBox(ready, onEndOfLoop))
    unsafe config.context.release = releaseInfo
    unsafe config.order = Int32(clamping: order)
    unsafe config.descriptor = descriptor
    unsafe config.events = runloop_readiness(rawValue: events.rawValue)
    unsafe config.counter = isCounter
    unsafe config.ready = { _, events, info in
        unsafe withInfo(info, as: DescriptorBox.self) { $0.ready(RunLoop.Source.Readiness(rawValue: events.rawValue)) }
    }
    if onEndOfLoop != nil {
        unsafe config.cancel = { source, _, _, info in
            unsafe withInfoAtEndOfLoop(source, info, as: DescriptorBox.self) { $0.onEndOfLoop?() }
        }
    }
    var core: OpaquePointer?
    let result = unsafe runloop_descriptor_source_create(&config, &core)
    guard result == 0, let core = unsafe core else {
        unsafe releaseInfo(config.context.info)
        throw RunLoop.Error(result: result, subject: "descriptor \(descriptor)")
    }
    return unsafe core
}

/// In the `cancel` of a source that nobody removes from its loop: calls `body` if the loop's thread ends. Code that invalidates a source
/// has made it invalid before `cancel` is called; one whose loop ends stays valid.
package func withInfoAtEndOfLoop<Object: AnyObject>(
    _ source: OpaquePointer?, _ info: UnsafeMutableRawPointer?, as type: Object.Type, _ body: (Object) -> Void
) {
    if unsafe runloop_source_is_valid(source) { unsafe withInfo(info, as: type, body) }
}
#endif
