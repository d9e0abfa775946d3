internal import CRunLoopCore

extension RunLoop.Timer: NamedItem {
    /// What the timer is called in descriptions, reports and statistics: where the program added it to a loop first, or what ``setName(_:)``
    /// said. `nil` if neither has happened. Any thread. O(length).
    public var name: String? { nameOfItem }

    /// Gives the timer a name of its own, which appears wherever items are shown. The last one counts. Any thread. O(1).
    public func setName(_ name: StaticString) { Self.naming.set(core, name.text, 0) }

    static var naming: ItemNaming { ItemNaming(get: runloop_timer_get_name, set: runloop_timer_set_name) }
}

extension RunLoop.Source: NamedItem {
    /// What the source is called in descriptions, reports and statistics: where the program added it to a loop first, or what
    /// ``setName(_:)`` said. `nil` if neither has happened. Any thread. O(length).
    public var name: String? { nameOfItem }

    /// Gives the source a name of its own, which appears wherever items are shown. The last one counts. Any thread. O(1).
    public func setName(_ name: StaticString) { Self.naming.set(core, name.text, 0) }

    static var naming: ItemNaming { ItemNaming(get: runloop_source_get_name, set: runloop_source_set_name) }
}

extension RunLoop.Observer: NamedItem {
    /// What the observer is called in descriptions, reports and statistics: where the program added it to a loop first, or what
    /// ``setName(_:)`` said. `nil` if neither has happened. Any thread. O(length).
    public var name: String? { nameOfItem }

    /// Gives the observer a name of its own, which appears wherever items are shown. The last one counts. Any thread. O(1).
    public func setName(_ name: StaticString) { Self.naming.set(core, name.text, 0) }

    static var naming: ItemNaming { ItemNaming(get: runloop_observer_get_name, set: runloop_observer_set_name) }
}

extension StaticString {
    /// The text of a literal, which lasts as long as the process. A literal of one scalar may have no address.
    var text: UnsafePointer<CChar>? {
        hasPointerRepresentation ? UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self) : nil
    }
}

/// How the core names items of a kind.
struct ItemNaming {
    let get: (OpaquePointer?, UnsafeMutablePointer<UInt32>?) -> UnsafePointer<CChar>?
    let set: (OpaquePointer?, UnsafePointer<CChar>?, UInt32) -> Void
}

protocol NamedItem {
    var core: OpaquePointer { get }
    static var naming: ItemNaming { get }
}

extension NamedItem {
    var nameOfItem: String? {
        var line: UInt32 = 0
        guard let name = Self.naming.get(core, &line) else { return nil }
        return line > 0 ? "\(String(cString: name)):\(line)" : String(cString: name)
    }

    func setNameIfNone(_ file: StaticString, _ line: UInt) {
        if Self.naming.get(core, nil) == nil { Self.naming.set(core, file.text, UInt32(clamping: line)) }
    }
}
