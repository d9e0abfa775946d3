#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopOverlay

extension RunLoop {
    /// The name of a mode: a set of timers, sources and observers that are served together.
    ///
    ///     let modal = RunLoop.Mode("com.example.modal")
    ///     let timer = RunLoop.Timer(after: .seconds(1)) { _ in loop.stop() }
    ///     try loop.add(timer, forMode: modal)
    ///     // What is in other modes waits until this has returned.
    ///     loop.run(mode: modal)
    ///
    /// Modes are compared by the bytes of their names (R21). A name is kept for the life of the process, so a program has a few
    /// fixed modes and does not make one per request. Making one from a string costs O(log names), comparing two is O(1).
    @safe public struct Mode: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
        /// The text in the core's process-wide table of names: equal names have the same address, and are never freed or changed.
        @safe package nonisolated(unsafe) let name: UnsafePointer<CChar>

        /// The mode of a name that comes from the core, and so is in the table.
        package init(name: UnsafePointer<CChar>?) {
            guard let name = unsafe name else { outOfMemory() }
            self.name = unsafe name
        }

        /// The mode of that name, which contains no NUL character.
        public init(rawValue: String) {
            precondition(!rawValue.utf8.contains(0), "The name of a mode, or of an item, contains no NUL character.")
            unsafe self.init(name: rawValue.withCString { unsafe runloop_mode_name($0) })
        }

        /// The mode of that name.
        public init(stringLiteral name: String) {
            self.init(rawValue: name)
        }

        /// The name.
        public var rawValue: String { unsafe String(cString: name) }

        // Written out, because the default of a RawRepresentable type compares the texts.

        /// Are these the same mode? O(1).
        public static func == (a: Mode, b: Mode) -> Bool { unsafe a.name == b.name }

        /// Are these different modes? O(1).
        public static func != (a: Mode, b: Mode) -> Bool { unsafe a.name != b.name }

        /// Hashes the mode. O(1).
        public func hash(into hasher: inout Hasher) { unsafe hasher.combine(name) }

        /// The mode in which a loop normally runs: `"kCFRunLoopDefaultMode"`.
        public static var `default`: Mode { unsafe Mode(name: runloop__name_of_default_mode()) }

        /// Stands for all modes that were declared common: `"kCFRunLoopCommonModes"`. It is not a mode itself. An item that is
        /// added to it is added to each common mode, present and future (R18). A run in it finishes at once (R22).
        public static var common: Mode { unsafe Mode(name: runloop__name_of_common_modes()) }

        /// The mode of a user interface that tracks a pointer: `"UITrackingRunLoopMode"`.
        public static let tracking = Mode(rawValue: RUNLOOP_TRACKING_MODE)

        /// The mode of a user interface that is starting up: `"UIInitializationRunLoopMode"`.
        public static let initialization = Mode(rawValue: RUNLOOP_INITIALIZATION_MODE)
    }

    /// Where modes are not named. One set, as a new one for each call would be an allocation.
    static let commonModes: Set<Mode> = [.common]

    /// The loop's modes, in no particular order (R15). A mode exists from the first addition to it (R14), or from when it is
    /// declared common, and as long as the loop. O(modes).
    public var allModes: Set<Mode> {
        var capacity = 8
        while true {
            var count = 0
            let names = unsafe [UnsafePointer<CChar>?](unsafeUninitializedCapacity: capacity) { buffer, initialized in
                count = unsafe runloop_get_modes(core, buffer.baseAddress, capacity)
                initialized = min(count, capacity)
            }
            if count <= capacity { return unsafe Set(names.map(Mode.init(name:))) }
            capacity = count + 8
        }
    }

    /// Makes a mode one of the common modes, and adds every common item to it (R17, R18). This cannot be undone, and a second
    /// call has no effect; nor has a call for `.common` itself, or on a loop whose thread has ended. The sources' `onSchedule`
    /// closures are called on the calling thread. O(common items).
    public func addCommonMode(_ mode: Mode) {
        if unsafe runloop_add_common_mode(core, mode.name) == -ErrorNumber.outOfMemory { outOfMemory() }
    }

    /// Was the mode declared common? `.default` always is (R4), `.common` itself never. O(1).
    public func isCommon(_ mode: Mode) -> Bool { unsafe runloop_mode_is_common(core, mode.name) }

    /// Would a run in the mode finish at once, because nothing can ever happen in it (R23)? Also `true` for a mode that does not
    /// exist, and for `.common`. On another thread than the loop's, only sources and timers count. O(closures performed since
    /// the last query).
    public func isEmpty(inMode mode: Mode) -> Bool { unsafe runloop_mode_is_empty(core, mode.name) }
}

extension RunLoop.Mode: CustomStringConvertible {
    /// The name.
    public var description: String { rawValue }
}
#endif
