#if os(Linux)
internal import FoundationEssentials
internal import RunLoopKit

extension RunLoop {
    /// Adds a port to a mode, or to all common modes (R133): retains it, and calls its `schedule(in:forMode:)`. Ignored if it
    /// was added for this mode before, or is invalid. The loop releases it when it becomes invalid. Any thread.
    public func add(_ aPort: Port, forMode mode: Mode) {
        if aPort.isValid && ports.keep(aPort, mode) { aPort.schedule(in: self, forMode: mode) }
    }

    /// Removes a port from a mode for which it was added: calls its `remove(from:forMode:)`. Otherwise it has no effect. Any
    /// thread.
    public func remove(_ aPort: Port, forMode mode: Mode) {
        if ports.letGo(aPort, mode) { aPort.remove(from: self, forMode: mode) }
    }
}

/// Keeps the ports of a loop with the modes that they were added for. Ports are released outside the lock. In a forked child
/// the ports of inherited loops are not used: a thread that does not exist there may hold the lock.
final class PortKeeper: Sendable {
    /// Behind the keeper's lock.
    private struct Entry: @unchecked Sendable {
        let port: Port
        let watch: any NSObjectProtocol
        var modes: Set<RunLoop.Mode> = []
    }

    private let entries = Guarded<[ObjectIdentifier: Entry]>([:])
    private let process = ForkGeneration()

    /// Is it new in the mode?
    func keep(_ port: Port, _ mode: RunLoop.Mode) -> Bool {
        if process.isOver { return false }
        let key = ObjectIdentifier(port)
        let entry = Entry(port: port, watch: watch(port, key))
        let (isNew, isKnown) = entries.withLock { entries in
            let isKnown = entries[key] != nil
            return (entries[key, default: entry].modes.insert(mode).inserted, isKnown)
        }
        if isKnown { end(entry) }
        // It may have become invalid before the loop watched it.
        if !port.isValid { forget(key) }
        return isNew && port.isValid
    }

    /// Was it in the mode?
    func letGo(_ port: Port, _ mode: RunLoop.Mode) -> Bool {
        if process.isOver { return false }
        let key = ObjectIdentifier(port)
        let (wasThere, last) = entries.withLock { entries in
            let wasThere = entries[key]?.modes.remove(mode) != nil
            return (wasThere, entries[key]?.modes.isEmpty == true ? entries.removeValue(forKey: key) : nil)
        }
        if let last { end(last) }
        return wasThere
    }

    func letGoOfAll() {
        let all = entries.withLock { entries in
            defer { entries = [:] }
            return entries
        }
        all.values.forEach(end)
    }

    private func forget(_ key: ObjectIdentifier) {
        if process.isOver { return }
        if let entry = entries.withLock({ $0.removeValue(forKey: key) }) { end(entry) }
    }

    private func watch(_ port: Port, _ key: ObjectIdentifier) -> any NSObjectProtocol {
        NotificationCenter.default.addObserver(
            forName: Port.didBecomeInvalidNotification, object: port, queue: nil
        ) { [weak self] _ in self?.forget(key) }
    }

    private func end(_ entry: Entry) {
        NotificationCenter.default.removeObserver(entry.watch)
    }
}
#endif
