internal import CRunLoopCore

extension RunLoop.Timer {
    /// What the timer is called in descriptions, reports and statistics: where the program added it to a loop first, or what ``setName(_:)``
    /// said. `nil` if neither has happened. Any thread. O(length).
    public var name: String? { nameOfItem { runloop_timer_get_name(core, $0) } }

    /// Gives the timer a name of its own, which appears wherever items are shown. The last one counts. Any thread. O(1).
    public func setName(_ name: StaticString) { runloop_timer_set_name(core, name.text, 0) }

    func setNameIfNone(_ file: StaticString, _ line: UInt) {
        if runloop_timer_get_name(core, nil) == nil { runloop_timer_set_name(core, file.text, UInt32(clamping: line)) }
    }
}

extension RunLoop.Source {
    /// What the source is called in descriptions, reports and statistics: where the program added it to a loop first, or what
    /// ``setName(_:)`` said. `nil` if neither has happened. Any thread. O(length).
    public var name: String? { nameOfItem { runloop_source_get_name(core, $0) } }

    /// Gives the source a name of its own, which appears wherever items are shown. The last one counts. Any thread. O(1).
    public func setName(_ name: StaticString) { runloop_source_set_name(core, name.text, 0) }

    func setNameIfNone(_ file: StaticString, _ line: UInt) {
        if runloop_source_get_name(core, nil) == nil {
            runloop_source_set_name(core, file.text, UInt32(clamping: line))
        }
    }
}

extension RunLoop.Observer {
    /// What the observer is called in descriptions, reports and statistics: where the program added it to a loop first, or what
    /// ``setName(_:)`` said. `nil` if neither has happened. Any thread. O(length).
    public var name: String? { nameOfItem { runloop_observer_get_name(core, $0) } }

    /// Gives the observer a name of its own, which appears wherever items are shown. The last one counts. Any thread. O(1).
    public func setName(_ name: StaticString) { runloop_observer_set_name(core, name.text, 0) }

    func setNameIfNone(_ file: StaticString, _ line: UInt) {
        if runloop_observer_get_name(core, nil) == nil {
            runloop_observer_set_name(core, file.text, UInt32(clamping: line))
        }
    }
}

extension StaticString {
    /// The text of a literal, which lasts as long as the process. A literal of one scalar may have no address.
    var text: UnsafePointer<CChar>? {
        hasPointerRepresentation ? UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self) : nil
    }
}

private func nameOfItem(_ get: (UnsafeMutablePointer<UInt32>) -> UnsafePointer<CChar>?) -> String? {
    var line: UInt32 = 0
    guard let name = get(&line) else { return nil }
    return line > 0 ? "\(String(cString: name)):\(line)" : String(cString: name)
}
