internal import CRunLoopCore
internal import CRunLoopOverlay

/// A name in the core's process-wide table: equal names have the same address, and live for ever.
struct ModeName: Hashable, @unchecked Sendable {
    let text: UnsafePointer<CChar>

    init(_ name: String) {
        precondition(!name.utf8.contains(0), "The name of a mode contains no NUL character.")
        self.init(text: name.withCString { runloop_mode_name($0) })
    }

    /// One that the core handed out: all those are in the table.
    init(text: UnsafePointer<CChar>?) {
        guard let text else { outOfMemory() }
        self.text = text
    }

    var string: String { String(cString: text) }

    static var `default`: ModeName { ModeName(text: runloop__name_of_default_mode()) }
    static var common: ModeName { ModeName(text: runloop__name_of_common_modes()) }
    static let tracking = ModeName(RUNLOOP_TRACKING_MODE)
    static let initialization = ModeName(RUNLOOP_INITIALIZATION_MODE)
}

/// Names of modes as the core takes them, made once for many calls.
struct ModeNames: @unchecked Sendable {
    let texts: [UnsafePointer<CChar>?]

    init(_ modes: Set<RunLoop.Mode>) {
        texts = modes.map(\.name.text)
    }

    var all: some Sequence<ModeName> { texts.lazy.map(ModeName.init(text:)) }
}

extension RunLoop.Mode {
    /// The mode of a name that the core handed out.
    init(text: UnsafePointer<CChar>) {
        self.init(name: ModeName(text: text))
    }
}
