#if os(Linux)
internal import CRunLoopForeign
public import RunLoopKit
internal import RunLoopKitCLibrary

extension RunLoop.ForeignSource {
    /// What an event library does for the loop that serves it. Every function is called on the thread of the source. After each `prepare`
    /// comes either `check` or `cancel`, exactly once, whatever else happens: nested runs, removal, the end of the thread. Between the two
    /// nothing else of the loop's is called, except what a host does in the sleep of a `RunLoop.HostedRun`.
    ///
    ///     final class Notifier: RunLoop.ForeignSource.Guest {
    ///         let descriptor: CInt
    ///         init(_ descriptor: CInt) { self.descriptor = descriptor }
    ///
    ///         func prepare(_ wait: inout RunLoop.ForeignSource.Wait) {
    ///             wait.add(descriptor, for: .read)
    ///             wait.deadline = .now + .seconds(1)
    ///         }
    ///         func dispatch() { print("there is input, or a second has passed") }
    ///     }
    public protocol Guest: AnyObject {
        /// Adds to `wait`, which is empty, what the guest waits for.
        func prepare(_ wait: inout Wait)
        /// Takes what has happened. Returns whether to dispatch.
        func check(_ wait: Wait) -> Bool
        /// Undoes `prepare`, without losing anything.
        func cancel()
        /// Does the guest's work. The loop counts a source as handled.
        func dispatch()
    }

    /// What a guest waits for, and afterwards what has happened.
    ///
    ///     func prepare(_ wait: inout RunLoop.ForeignSource.Wait) {
    ///         wait.add(descriptor, for: [.read, .hangUp])
    ///         wait.deadline = .now + .milliseconds(100)
    ///     }
    public struct Wait {
        /// When the guest has to be served whatever its descriptors do, never earlier. An instant that has passed means at once; `nil`,
        /// as at first, never.
        public var deadline: RunLoop.Instant?
        fileprivate var descriptors: [pollfd] = []

        /// Adds a descriptor, which may be any, as for `poll`: a negative one is passed over, the same one may be added twice, a closed
        /// one is ready with an error, and a regular file is always ready. O(1).
        public mutating func add(_ fileDescriptor: CInt, for events: RunLoop.Source.Readiness) {
            var bits = CInt(bitPattern: events.rawValue)
            if events.contains(.hangUp) { bits |= peerHasShutDown }
            descriptors.append(pollfd(fd: fileDescriptor, events: Int16(truncatingIfNeeded: bits), revents: 0))
        }

        /// In `check`: the conditions of a descriptor that hold. O(descriptors).
        public func readiness(of fileDescriptor: CInt) -> RunLoop.Source.Readiness {
            var bits: CInt = 0
            for descriptor in descriptors where descriptor.fd == fileDescriptor { bits |= CInt(descriptor.revents) }
            var readiness = RunLoop.Source.Readiness(rawValue: UInt32(bits & 0x1f))
            if bits & peerHasShutDown != 0 { readiness.insert(.hangUp) }
            if bits & CInt(POLLNVAL) != 0 { readiness.insert(.error) }
            return readiness
        }
    }
}

/// POLLRDHUP, which is not imported.
private let peerHasShutDown: CInt = 0x2000

extension RunLoop.ForeignSource.Guest {
    /// Asks for a dispatch after each wait, unless a guest has a better answer.
    public func check(_ wait: RunLoop.ForeignSource.Wait) -> Bool { true }
    /// There is nothing to undo.
    public func cancel() {}
}

/// What the C source has of a guest.
final class GuestBox {
    let guest: any RunLoop.ForeignSource.Guest
    /// Its memory is used again.
    private var wait = RunLoop.ForeignSource.Wait()

    init(_ guest: any RunLoop.ForeignSource.Guest) {
        self.guest = guest
    }

    static func of(_ info: UnsafeMutableRawPointer?) -> GuestBox {
        unsafe Unmanaged.fromOpaque(info.unsafelyUnwrapped).takeUnretainedValue()
    }

    func prepare(
        _ descriptors: UnsafeMutablePointer<pollfd>?, _ capacity: Int32, _ deadline: UnsafeMutablePointer<Int64>?
    ) -> Int32 {
        wait.descriptors.removeAll(keepingCapacity: true)
        wait.deadline = nil
        guest.prepare(&wait)
        for (index, descriptor) in wait.descriptors.prefix(Int(capacity)).enumerated() {
            unsafe descriptors?[index] = descriptor
        }
        if let instant = wait.deadline { unsafe deadline?.pointee = instant.nanoseconds }
        return Int32(wait.descriptors.count)
    }

    func check(_ descriptors: UnsafeMutablePointer<pollfd>?, _ count: Int32) -> Bool {
        guard let descriptors = unsafe descriptors else { return guest.check(wait) }
        for index in 0..<Int(count) { wait.descriptors[index].revents = unsafe descriptors[index].revents }
        return guest.check(wait)
    }
}
#endif
