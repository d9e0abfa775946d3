// ours.swift — the servers on RunLoopKit's Swift overlay. A watch is an object with a source per direction; the second is created
// when the watch first has to wait for space in the socket.

import Glibc
import RunLoopKit
import ServerLoop

private final class Watch {
    let descriptor: CInt
    let ready: () -> Void
    var direction = LOOP_READING
    var reading: RunLoop.Source?
    var writing: RunLoop.Source?

    init(descriptor: CInt, ready: @escaping () -> Void) {
        self.descriptor = descriptor
        self.ready = ready
    }

    func start() {
        do {
            let source = try source()
            try RunLoop.current.add(source, forMode: .default)
        } catch {
            fatalError("descriptor \(descriptor): \(error)")
        }
    }

    func stop() {
        guard let source = direction == LOOP_READING ? reading : writing else { return }
        RunLoop.current.remove(source, forMode: .default)
    }

    private func source() throws -> RunLoop.Source {
        if let source = direction == LOOP_READING ? reading : writing { return source }
        // One thread does everything here, so the closure may capture values that only that thread may use.
        nonisolated(unsafe) let ready = ready
        let events: RunLoop.Source.Readiness = direction == LOOP_READING ? .read : .write
        let source = try RunLoop.Source(fileDescriptor: descriptor, events: events) { _ in ready() }
        if direction == LOOP_READING { reading = source } else { writing = source }
        return source
    }
}

private func watch(_ handle: OpaquePointer) -> Watch {
    Unmanaged<Watch>.fromOpaque(UnsafeRawPointer(handle)).takeUnretainedValue()
}

@_cdecl("loop_open") func loopOpen() { _ = RunLoop.current }

@_cdecl("loop_watch_start")
func loopWatchStart(
    _ descriptor: CInt, _ ready: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void,
    _ info: UnsafeMutableRawPointer?
) -> OpaquePointer {
    let watch = Watch(descriptor: descriptor) { ready(info) }
    watch.start()
    return OpaquePointer(Unmanaged.passRetained(watch).toOpaque())
}

@_cdecl("loop_watch_turn") func loopWatchTurn(_ handle: OpaquePointer, _ direction: loop_direction) {
    let watch = watch(handle)
    watch.stop()
    watch.direction = direction
    watch.start()
}

@_cdecl("loop_watch_end") func loopWatchEnd(_ handle: OpaquePointer) {
    let watch = Unmanaged<Watch>.fromOpaque(UnsafeRawPointer(handle)).takeRetainedValue()
    watch.reading?.invalidate()
    watch.writing?.invalidate()
    close(watch.descriptor)
}

@_cdecl("loop_run") func loopRun() { RunLoop.current.run() }

@_cdecl("loop_stop") func loopStop() { RunLoop.current.stop() }
