#if os(Linux)
internal import CoreFoundation
// Not used by name: it has the program linked with the library.
internal import Foundation
public import RunLoopKit
public import RunLoopKitHosts

extension RunLoopKit.RunLoop {
    /// A hosted run of the calling thread's loop under Foundation's loop of the same thread: both have their timers, sources and closures
    /// served, on time, whichever code runs Foundation's loop.
    ///
    ///     let host = try RunLoop.FoundationHost()
    ///     // Or Foundation.RunLoop.current.run(), XCTest's waits,
    ///     // Process.waitUntilExit().
    ///     host.run()
    ///
    /// While Foundation's loop runs in one of its common modes, it waits for one descriptor more, and nothing is polled. After about a
    /// millisecond of our work Foundation's has its turn. A closure of ours may run Foundation's loop, as `Process.waitUntilExit()`
    /// does: the mode is served there as well. A plain run of ours inside a closure, on the other hand, does not serve Foundation's
    /// loop, since nothing says whether that has work: let ``run()`` be the outermost run.
    ///
    /// In a GTK program, whose loop is GLib's, nobody runs Foundation's. With a `GLibHost` of the product RunLoopKitGLib on the thread,
    /// begun before or after this host, Foundation's loop and ours are both served under GLib's: don't call ``run()`` then, which does not
    /// serve GLib. The hosts share a run, if it is of the same mode.
    ///
    /// For Foundation's loop our work is a port's: `run(mode:before:)` of Foundation returns after it.
    ///
    /// A thread has one host at a time. Foundation's loop keeps it, and serves our loop until ``end()``, until the run ends by itself,
    /// or until the thread ends. On the thread of the loop only, as with ``RunLoopKit/RunLoop/HostedRun``: anything else is a precondition
    /// failure.
    public final class FoundationHost: LoopHost {
        private let loop = RunLoopKit.RunLoop.current
        package var share: HostShare
        private let companion = FoundationCompanion()
        // It has this object, so neither is freed before it is invalid: Foundation frees a loop on any thread, some time after its own has
        // ended.
        private var source: CFRunLoopSource?
        // Our loop has it, and nobody else, so the end of that frees its closure.
        private weak var observer: Observer?

        /// Begins a hosted run of the calling thread's loop in `mode`. A run of an empty mode is over at once, with `finished`; the main
        /// loop's default mode is never empty. O(1).
        ///
        /// - Parameters:
        ///   - mode: The mode of our loop to serve, in all common modes of Foundation's.
        ///   - onEnd: Called once if the run ends by itself later, since it was stopped or its mode has become empty.
        /// - Throws: What ``RunLoopKit/RunLoop/HostedRun`` throws.
        @available(*, noasync, message: "A task may continue on another thread, whose loop is another one.")
        @discardableResult
        public init(
            mode: Mode = .default, onEnd: ((RunResult) -> Void)? = nil
        ) throws {
            share = try HostShare(inMode: mode, onEnd: onEnd)
            if result != nil { return }
            var context = unsafe CFRunLoopSourceContext1()
            unsafe context.version = 1
            unsafe context.info = Unmanaged.passUnretained(self).toOpaque()
            unsafe context.retain = {
                unsafe UnsafeRawPointer(Unmanaged.passRetained(FoundationHost.of($0)).toOpaque())
            }
            unsafe context.release = { unsafe Unmanaged.passUnretained(FoundationHost.of($0)).release() }
            unsafe context.getPort = { unsafe FoundationHost.of($0).share.run.fileDescriptor }
            unsafe context.perform = { unsafe FoundationHost.of($0).serve() }
            // Sources of one descriptor are equal.
            unsafe context.equal = {
                unsafe FoundationHost.of($0).share.run.fileDescriptor == FoundationHost.of($1).share.run.fileDescriptor
            }
            unsafe context.hash = { unsafe CFHashCode(FoundationHost.of($0).share.run.fileDescriptor) }
            let source = unsafe withUnsafeMutablePointer(to: &context) {
                // Its version says which structure it is.
                unsafe $0.withMemoryRebound(to: CFRunLoopSourceContext.self, capacity: 1) {
                    unsafe CFRunLoopSourceCreate(nil, 0, $0)!
                }
            }
            precondition(
                !CFRunLoopContainsSource(CFRunLoopGetCurrent(), source, kCFRunLoopCommonModes),
                "A thread has one FoundationHost at a time.")
            CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopCommonModes)
            self.source = source
            share.run.add(self)
            Companionship.current.loop = companion
            detachAtEndOfThread(inMode: mode)
        }

        /// Why the run is over, or `nil` while it goes on.
        public var result: RunResult? { share.result }

        /// Runs Foundation's loop in its default mode, and ours with it, until our run is over. Returns why that is. Inside a closure of
        /// either loop as well.
        @available(*, noasync, message: "Running a loop blocks its thread.")
        @discardableResult
        public func run() -> RunResult {
            precondition(loop.isCurrent, "A thread runs its own loop.")
            while true {
                if let result { return result }
                CFRunLoopRunInMode(kCFRunLoopDefaultMode, .greatestFiniteMagnitude, true)
            }
        }

        /// Runs both loops until the limit, or until our run is over; at least once. It is the sleep of a program that has a loop of frames,
        /// such as one on SDL: whatever happens between two frames is served at once, and the next frame is drawn in time, since the limit is
        /// looked at after each millisecond or so of work. Inside a closure of either loop as well.
        ///
        ///     let host = try RunLoop.FoundationHost()
        ///     while window.isOpen {
        ///         window.draw()
        ///         host.run(until: nextFrame)
        ///     }
        ///
        /// - Returns: Why our run is over, or `timedOut`.
        @available(*, noasync, message: "Running a loop blocks its thread.")
        @discardableResult
        public func run(until limit: Instant) -> RunResult {
            precondition(loop.isCurrent, "A thread runs its own loop.")
            repeat {
                if let result { return result }
                CFRunLoopRunInMode(kCFRunLoopDefaultMode, max(0, (limit - .now) / .seconds(1)), true)
            } while .now < limit
            return result ?? .timedOut
        }

        /// Ends the run, and Foundation's loop serves ours no more; `onEnd` is not called. If another host of the thread shares the run, it
        /// goes on for that one. Does nothing if the run is over. In a closure of our loop it is a precondition failure to end the run: use
        /// ``RunLoopKit/RunLoop/stop(inMode:remembered:)`` there. O(1).
        public func end() { leave() }

        private static func of(_ info: UnsafeRawPointer?) -> FoundationHost {
            unsafe Unmanaged.fromOpaque(info!).takeUnretainedValue()
        }

        /// After so much Foundation's other sources have their turn.
        private func serve() { share.run.serve() }

        /// An observer is never in the way: it does not keep a mode from being empty.
        private func detachAtEndOfThread(inMode mode: Mode) {
            let token = EndOfThread(self)
            let observer = Observer(.exit) { _, _ in withExtendedLifetime(token) {} }
            loop.addUnlessOver(observer, forMode: mode)
            self.observer = observer
        }

        /// Used on one thread.
        private final class EndOfThread: @unchecked Sendable {
            private weak var host: FoundationHost?

            init(_ host: FoundationHost) { self.host = host }
            deinit { host?.end() }
        }

        /// Makes Foundation's loop give back its reference to this object.
        package func detach() {
            guard let source else { return }
            self.source = nil
            Companionship.current.loop = nil
            companion.end()
            CFRunLoopSourceInvalidate(source)
            observer?.invalidate()
        }
    }
}
#endif
