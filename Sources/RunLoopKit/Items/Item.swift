#if os(Linux)
internal import CRunLoopCore

extension RunLoop {
    /// What a loop serves in its modes: a ``Timer``, a ``Source`` or an ``Observer``.
    ///
    ///     let timer = RunLoop.Timer(every: .seconds(60)) { _ in print("a minute") }
    ///     try loop.add(timer, forMode: .common)
    ///     print(loop.contains(timer, inMode: .default))
    ///     timer.invalidate()
    ///
    /// An item does nothing before it has been added to a mode, and can be in several. The loop retains it for as long. `invalidate()` ends it
    /// for ever; removing it from its modes does not. Any thread may use it: the core guards what is behind it, and a subclass says what else
    /// it has. Hence Sendable.
    @safe public class Item: @unchecked Sendable {
        enum Kind {
            case timer, source, observer
        }

        /// The C object, to which this one has a reference, released by the subclass: that still has its properties then.
        @safe package let core: OpaquePointer
        let kind: Kind

        init(_ core: OpaquePointer, _ kind: Kind) {
            (self.core, self.kind) = unsafe (core, kind)
        }

        /// What errors are about.
        var subject: String? { nil }

        /// What the item is called in descriptions, reports and statistics: what it was called here, or else where the program added it to a
        /// loop first. `nil` if neither has happened, and setting that takes a name back. Names are kept for the life of the process, so a
        /// program has a few; none contains a NUL character. Any thread; the last one counts. O(length), and setting O(log names).
        public var name: String? {
            get {
                var line: UInt32 = 0
                guard let name = unsafe coreName(&line) else { return nil }
                return line > 0 ? unsafe "\(String(cString: name)):\(line)" : unsafe String(cString: name)
            }
            set {
                // The text has to last: the table of names keeps it.
                unsafe setName(newValue.map { Mode(rawValue: $0).name }, 0)
            }
        }

        private func setName(_ name: UnsafePointer<CChar>?, _ line: UInt) {
            let line = UInt32(clamping: line)
            switch kind {
            case .timer: unsafe runloop_timer_set_name(core, name, line)
            case .source: unsafe runloop_source_set_name(core, name, line)
            case .observer: unsafe runloop_observer_set_name(core, name, line)
            }
        }

        private func coreName(_ line: UnsafeMutablePointer<UInt32>?) -> UnsafePointer<CChar>? {
            switch kind {
            case .timer: unsafe runloop_timer_get_name(core, line)
            case .source: unsafe runloop_source_get_name(core, line)
            case .observer: unsafe runloop_observer_get_name(core, line)
            }
        }

        fileprivate func nameByPlace(_ file: StaticString, _ line: UInt) {
            if unsafe coreName(nil) == nil { unsafe setName(file.text, line) }
        }

        /// Its position among items of its kind, as created: lower is first. Also of an invalid item. O(1).
        public var order: Int {
            switch kind {
            case .timer: unsafe Int(runloop_timer_get_order(core))
            case .source: unsafe Int(runloop_source_get_order(core))
            case .observer: unsafe Int(runloop_observer_get_order(core))
            }
        }

        /// Can it still be called? A timer that fires once is valid during its action, and invalid afterwards (R85). O(1).
        public var isValid: Bool {
            switch kind {
            case .timer: unsafe runloop_timer_is_valid(core)
            case .source: unsafe runloop_source_is_valid(core)
            case .observer: unsafe runloop_observer_is_valid(core)
            }
        }

        /// Removes the item from all modes, for ever, and frees the action of a timer or an observer, after its call if that is running
        /// (R88, R98); for a source `onCancel` is called for each mode of each loop (R67), and a descriptor may be closed afterwards. A second call
        /// has no effect. Allowed in its own closure, which runs to its end. Any thread; does not wait for a closure that runs on another
        /// thread (R119). O(modes it is in), of timers × log timers.
        public func invalidate() {
            withExtendedLifetime(self) {
                switch kind {
                case .timer: unsafe runloop_timer_invalidate(core)
                case .source: unsafe runloop_source_invalidate(core)
                case .observer: unsafe runloop_observer_invalidate(core)
                }
            }
        }
    }

    /// Adds an item to a mode, or to all common modes, present and future (R18). Any thread. Makes the mode if needed. No effect if it is
    /// there already (R86).
    ///
    /// The addition itself wakes no loop: one that sleeps in the mode is re-armed for a timer (R87), and a descriptor that is ready wakes it
    /// (R54). A source's `onSchedule` is called on the calling thread. An observer is notified from the next activity on (R94). O(1) per mode for
    /// a source, and a system call for a descriptor; O(log timers) for a timer, O(observers) for an observer.
    ///
    /// An item without a name is named by the place of the call (``Item/name``).
    ///
    /// - Throws: `invalid` for an invalidated item; `inAnotherLoop`, because a timer or an observer is in one loop at a time; for a descriptor
    ///   `badDescriptor`, `permissionDenied`, `tooManyWatches`; `loopFinished`, `inheritedAcrossFork`, `outOfMemory`. After an error the item is
    ///   where it was before.
    public func add(
        _ item: Item, forMode mode: Mode, fileID: StaticString = #fileID, line: UInt = #line
    ) throws {
        try admit(item, to: mode, fileID, line)
    }

    /// The same for our own modules, where the type of the error is known.
    package func admit(
        _ item: Item, to mode: Mode, _ fileID: StaticString = #fileID, _ line: UInt = #line
    ) throws(RunLoop.Error) {
        item.nameByPlace(fileID, line)
        let result = addCore(item, mode)
        if result < 0 { throw Error(result: result, subject: item.subject) }
        if item.kind != .observer && mayNeverRun {
            let kind = item.kind == .timer ? "timer" : "source"
            awaitFirstRun(of: item.name.map { "the \(kind) “\($0)”" } ?? "a \(kind)") { [weak item] in
                item.map { self.contains($0, inMode: mode) } ?? false
            }
        }
    }

    /// Adds an item of ours, which the caller does without where the loop is over. Memory that has run out ends the program.
    @discardableResult
    package func addUnlessOver(
        _ item: Item, forMode mode: Mode, fileID: StaticString = #fileID, line: UInt = #line
    ) -> Bool {
        item.nameByPlace(fileID, line)
        return wasAdded(addCore(item, mode))
    }

    @inline(__always)
    private func addCore(_ item: Item, _ mode: Mode) -> Int32 {
        switch item.kind {
        case .timer: unsafe runloop_add_timer(core, item.core, mode.name)
        case .source: unsafe runloop_add_source(core, item.core, mode.name)
        case .observer: unsafe runloop_add_observer(core, item.core, mode.name)
        }
    }

    /// Reads the core's answer to the addition of an item of ours.
    func wasAdded(_ result: Int32) -> Bool {
        if result == 0 { return true }
        let error = Error(result: result)
        if error == .outOfMemory { outOfMemory() }
        precondition(error != .inAnotherLoop, error.description)
        return false
    }

    /// Removes an item from a mode, or from all common modes (R19, R20). It stays valid and may be added again. No effect if it is not there.
    /// If the mode is empty then, a sleep in it ends. A source's `onCancel` is called on the calling thread; an observer may still be notified if
    /// the loop is notifying its observers at that moment (R94). Any thread; in its own closure too. O(modes), and as adding it.
    public func remove(_ item: Item, forMode mode: Mode) {
        switch item.kind {
        case .timer: unsafe runloop_remove_timer(core, item.core, mode.name)
        case .source: unsafe runloop_remove_source(core, item.core, mode.name)
        case .observer: unsafe runloop_remove_observer(core, item.core, mode.name)
        }
    }

    /// Is the item in the mode? For `.common`: is it one of the common items (R20)? O(1), O(observers) for an observer.
    public func contains(_ item: Item, inMode mode: Mode) -> Bool {
        switch item.kind {
        case .timer: unsafe runloop_contains_timer(core, item.core, mode.name)
        case .source: unsafe runloop_contains_source(core, item.core, mode.name)
        case .observer: unsafe runloop_contains_observer(core, item.core, mode.name)
        }
    }
}

extension StaticString {
    /// The text of a literal, which lasts as long as the process. A literal of one scalar may have no address.
    package var text: UnsafePointer<CChar>? {
        unsafe hasPointerRepresentation ? UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self) : nil
    }
}
#endif
