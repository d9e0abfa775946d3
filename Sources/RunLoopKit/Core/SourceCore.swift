internal import CRunLoopCore

/// A `runloop_source *`. Thread-safe, as the core is.
struct SourceCore: Hashable, @unchecked Sendable {
    let pointer: OpaquePointer

    /// Signalled by hand. With one reference, which belongs to the caller.
    init(order: Int32, box: SignalBox) {
        var config = runloop_source_config()
        config.context.info = lendBox(box)
        config.context.release = returnBox
        config.order = order
        config.perform = performCallOut
        config.schedule = box.onSchedule == nil ? nil : scheduleCallOut
        config.cancel = box.onCancel == nil ? nil : cancelCallOut
        var pointer: OpaquePointer?
        guard runloop_source_create(&config, &pointer) == 0, let pointer else { outOfMemory() }
        self.pointer = pointer
    }

    /// Driven by a descriptor. With one reference, which belongs to the caller.
    init(descriptor: Int32, events: UInt32, counter: Bool, order: Int32, box: DescriptorBox) throws(RunLoop.Error) {
        var config = runloop_descriptor_config()
        config.context.info = lendBox(box)
        config.context.release = returnBox
        config.order = order
        config.descriptor = descriptor
        config.events = events
        config.counter = counter
        config.ready = readyCallOut
        var pointer: OpaquePointer?
        let result = runloop_descriptor_source_create(&config, &pointer)
        guard result == 0, let pointer else {
            returnBox(config.context.info)
            throw RunLoop.Error(result: result)
        }
        self.pointer = pointer
    }

    func release() { runloop_source_release(pointer) }

    func signal() { runloop_source_signal(pointer) }
    var isSignalled: Bool { runloop_source_is_signalled(pointer) }
    var order: Int32 { runloop_source_get_order(pointer) }
    var descriptor: Int32 { runloop_source_get_descriptor(pointer) }
    var events: UInt32 { runloop_source_get_events(pointer) }
    func setEvents(_ events: UInt32) -> Int32 { runloop_source_set_events(pointer, events) }
    var isValid: Bool { runloop_source_is_valid(pointer) }
    func invalidate() { runloop_source_invalidate(pointer) }
}

@Sendable
private func performCallOut(_: OpaquePointer?, _ info: UnsafeMutableRawPointer?) {
    withBox(info, as: SignalBox.self) { $0.perform() }
}

@Sendable
private func readyCallOut(_: OpaquePointer?, _ events: UInt32, _ info: UnsafeMutableRawPointer?) {
    withBox(info, as: DescriptorBox.self) { $0.ready(RunLoop.Source.Readiness(rawValue: events)) }
}

@Sendable
private func scheduleCallOut(
    _: OpaquePointer?, _ loop: OpaquePointer?, _ mode: UnsafePointer<CChar>?, _ info: UnsafeMutableRawPointer?
) {
    guard let loop = LoopCore(loop), let mode else { return }
    withBox(info, as: SignalBox.self) { $0.onSchedule?(RunLoop.object(of: loop), RunLoop.Mode(text: mode)) }
}

@Sendable
private func cancelCallOut(
    _: OpaquePointer?, _ loop: OpaquePointer?, _ mode: UnsafePointer<CChar>?, _ info: UnsafeMutableRawPointer?
) {
    guard let loop = LoopCore(loop), let mode else { return }
    withBox(info, as: SignalBox.self) { $0.onCancel?(RunLoop.object(of: loop), RunLoop.Mode(text: mode)) }
}
