#if os(Linux)
internal import RunLoopKit

extension RunLoop {
    /// The name of a mode: a set of timers and ports that are served together.
    ///
    /// A name is kept for the life of the process, so a program has a few fixed modes and does not make one per request. It
    /// contains no NUL character.
    public struct Mode: RawRepresentable, Hashable, Sendable {
        let native: RunLoopKit.RunLoop.Mode

        /// The mode of that name. Equal names are the same mode, the names of `default` and `common` too (R134).
        public init(rawValue: String) {
            native = .init(rawValue: rawValue)
        }

        /// The mode of that name.
        public init(_ rawValue: String) {
            self.init(rawValue: rawValue)
        }

        init(native: RunLoopKit.RunLoop.Mode) {
            self.native = native
        }

        /// The name.
        public var rawValue: String { native.rawValue }

        // Written out, because the default of a RawRepresentable type compares the texts.

        /// Are these the same mode? O(1).
        public static func == (a: Mode, b: Mode) -> Bool { a.native == b.native }

        /// Are these different modes? O(1).
        public static func != (a: Mode, b: Mode) -> Bool { a.native != b.native }

        /// Hashes the mode. O(1).
        public func hash(into hasher: inout Hasher) { hasher.combine(native) }

        /// The mode in which a loop normally runs: `"kCFRunLoopDefaultMode"`.
        public static let `default` = Mode(native: .default)

        /// Stands for all modes that were declared common; it is not a mode itself: `"kCFRunLoopCommonModes"`. Modes besides
        /// the default one are declared common by `RunLoop.native.addCommonMode(_:)`.
        public static let common = Mode(native: .common)

        /// The mode in which a desktop application follows the mouse: `"NSEventTrackingRunLoopMode"`. A library that runs it
        /// declares it common, as Apple's does.
        public static let eventTracking = Mode("NSEventTrackingRunLoopMode")

        /// The mode of a modal panel: `"NSModalPanelRunLoopMode"`.
        public static let modalPanel = Mode("NSModalPanelRunLoopMode")

        /// The mode in which a touch application follows the finger: `"UITrackingRunLoopMode"`.
        public static let tracking = Mode(native: .tracking)
    }
}
#endif
