extension RunLoop {
    /// The name of a mode: a set of timers, sources and observers that are served together.
    ///
    /// Modes are compared by the bytes of their names (R21). A name is remembered for the life of the process: modes are
    /// few and fixed, not made per request. Making one from a string costs O(names), comparing two is O(1).
    public struct Mode: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
        let name: ModeName

        init(name: ModeName) {
            self.name = name
        }

        /// The mode of that name, which contains no NUL character.
        public init(rawValue: String) {
            name = ModeName(rawValue)
        }

        /// The mode of that name.
        public init(stringLiteral name: String) {
            self.init(rawValue: name)
        }

        /// The name.
        public var rawValue: String { name.string }

        // Written out, because what a RawRepresentable type gets by default compares the texts.

        /// Are these the same mode? O(1).
        public static func == (a: Mode, b: Mode) -> Bool { a.name == b.name }

        /// Are these different modes? O(1).
        public static func != (a: Mode, b: Mode) -> Bool { a.name != b.name }

        /// Hashes the mode. O(1).
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }

        /// The mode in which a loop normally runs: `"kCFRunLoopDefaultMode"`.
        public static var `default`: Mode { Mode(name: .default) }

        /// Not a mode, but all modes that were declared common: `"kCFRunLoopCommonModes"`. What is added for it is added
        /// to each of them, now and later (R18). Running it finishes at once (R22).
        public static var common: Mode { Mode(name: .common) }

        /// The mode of a user interface that follows a pointer: `"UITrackingRunLoopMode"`.
        public static let tracking = Mode(name: .tracking)

        /// The mode of a user interface that starts up: `"UIInitializationRunLoopMode"`.
        public static let initialization = Mode(name: .initialization)
    }

    /// The loop's modes. A mode exists from the first addition to it (R14), or from being declared common, and as long as
    /// the loop; in no particular order (R15). O(modes).
    public var allModes: Set<Mode> { Set(core.modes.map(Mode.init(name:))) }

    /// Makes a mode one of the common modes, and adds every common item to it (R17, R18). Twice is once; there is no way
    /// back. `.common` itself is ignored, and so is everything on a loop whose thread has ended. The sources' `onSchedule`
    /// closures run on the calling thread. O(common items).
    public func addCommonMode(_ mode: Mode) {
        if case .outOfMemory = Error(result: core.addCommonMode(mode.name)) {
            outOfMemory()
        }
    }

    /// Was the mode declared common? `.default` always is (R4), `.common` itself never. O(1).
    public func isCommon(_ mode: Mode) -> Bool { core.isCommon(mode.name) }

    /// Would a run in the mode finish at once, because nothing can ever happen in it (R23)? Also true of a mode that does not
    /// exist, and of `.common`. On another thread than the loop's, sources and timers alone count. O(closures performed since the
    /// last question).
    public func isEmpty(_ mode: Mode) -> Bool { core.isEmpty(mode.name) }
}

extension RunLoop.Mode: CustomStringConvertible {
    /// The name.
    public var description: String { rawValue }
}
