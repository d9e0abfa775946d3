#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopForeign
public import RunLoopKit

extension RunLoop {
    /// Another event library as a guest of a loop: one that can wait by itself, and gives what it would wait for. The
    /// loop waits in its place.
    ///
    /// ``Guest`` is what the library has to do: `prepare` before the loop sleeps, `cancel` when it wakes, and if what the guest waits
    /// for has happened, `prepare`, `check` and `dispatch`. It is a source of its modes like any other: it keeps them from being empty,
    /// and runs of other modes have nothing to do with it. An iteration that doesn't sleep serves it as well.
    ///
    ///     final class Clipboard: RunLoop.ForeignSource.Guest {
    ///         let connection: CInt
    ///         init(connection: CInt) { self.connection = connection }
    ///
    ///         func prepare(_ wait: inout RunLoop.ForeignSource.Wait) { wait.add(connection, for: .read) }
    ///         func dispatch() { print("There is something to read.") }
    ///     }
    ///
    /// It belongs to the thread that makes it, and to the loop of that thread; anything else is a precondition failure. The loop
    /// retains the guest while the source is in a mode. In a forked child nothing of the guest's is called.
    @safe public final class ForeignSource {
        /// With one reference, released by `deinit`.
        @safe fileprivate let core: OpaquePointer

        /// Makes a source for `guest`, in no loop yet. It has two descriptors. O(1).
        ///
        /// - Parameter nests: may `dispatch` be called again inside itself, in a run that is nested there? Otherwise the guest is left
        ///   alone in such runs.
        /// - Throws: `tooManyDescriptors`, `outOfMemory`.
        @available(*, noasync, message: "A task may continue on another thread, whose loop is another one.")
        public init(_ guest: any Guest, nests: Bool = false) throws {
            var config = unsafe runloop_foreign_source_config()
            unsafe config.context.info = retainedInfo(GuestBox(guest))
            unsafe config.context.release = releaseInfo
            unsafe config.nests = nests
            unsafe config.prepare = { unsafe GuestBox.of($4).prepare($1, $2, $3) }
            unsafe config.check = { unsafe GuestBox.of($3).check($1, $2) }
            unsafe config.cancel = { unsafe GuestBox.of($1).guest.cancel() }
            unsafe config.dispatch = { unsafe GuestBox.of($1).guest.dispatch() }
            var core: OpaquePointer?
            let result = unsafe runloop_foreign_source_create(&config, &core)
            guard result == 0, let core = unsafe core else {
                unsafe releaseInfo(config.context.info)
                throw RunLoop.Error(errorNumber: -result)
            }
            self.core = unsafe core
        }

        deinit {
            unsafe runloop_foreign_source_release(core)
        }

        /// Can it still be called? O(1).
        public var isValid: Bool { unsafe runloop_foreign_source_is_valid(core) }

        /// Removes the source from every mode, for ever; `cancel` is called if the guest is prepared. A second call has no effect.
        /// Allowed in the guest's own functions. O(modes it is in).
        public func invalidate() {
            unsafe Self.check(runloop_foreign_source_invalidate(core))
        }

        /// The error of a call that may fail for want of something; other failures are the program's.
        @discardableResult
        fileprivate static func check(_ result: Int32) -> RunLoop.Error? {
            let error = result < 0 ? RunLoop.Error(errorNumber: -result) : nil
            precondition(
                error != .permissionDenied,
                "A foreign source is used on the thread that made it, for the loop of that thread.")
            return error
        }
    }

    /// Adds a foreign source to a mode, or to all common modes, present and future. No effect if it is there already. On the loop's
    /// thread only. O(observers of the mode).
    ///
    /// - Throws: `invalid` for an invalidated source; `loopFinished`, `inheritedAcrossFork`, `outOfMemory`, `tooManyWatches`. After an
    ///   error it is not in the mode.
    public func add(_ source: ForeignSource, forMode mode: Mode) throws {
        checkThread()
        let result = unsafe runloop_add_foreign_source(core, source.core, mode.name)
        if let error = ForeignSource.check(result) { throw error }
    }

    /// Removes a foreign source from a mode, or from all common modes; `cancel` is called if the guest is prepared. It stays valid. No
    /// effect if it is not there. On the loop's thread only. O(observers of the mode).
    public func remove(_ source: ForeignSource, forMode mode: Mode) {
        checkThread()
        unsafe ForeignSource.check(runloop_remove_foreign_source(core, source.core, mode.name))
    }

    /// Is the foreign source in the mode? For `.common`: is it one of the common items? On the loop's thread only. O(1).
    public func contains(_ source: ForeignSource, inMode mode: Mode) -> Bool {
        checkThread()
        return unsafe runloop_contains_foreign_source(core, source.core, mode.name)
    }

    private func checkThread() {
        precondition(isCurrent, "A foreign source is added and removed on the thread of its loop.")
    }
}
#endif
