/// A loop's registrations that can be called off by a key.
///
/// A key is somebody else's code: it is hashed, compared and freed outside the lock.
final class KeyedRegistrations: Sendable {
    /// By the keys' hashes, and then by their fates.
    private let entries = Guarded<[Int: [ObjectIdentifier: Entry]]>([:])

    private struct Entry {
        let key: RegistrationKey
        let registration: RunLoop.Registration
    }

    func add(_ registration: RunLoop.Registration, _ fate: Fate, _ key: RegistrationKey) {
        entries.withLock {
            $0[key.hash, default: [:]][ObjectIdentifier(fate)] = Entry(key: key, registration: registration)
        }
    }

    func remove(_ fate: Fate, hash: Int) {
        _ = entries.withLock { entries in
            let entry = entries[hash]?.removeValue(forKey: ObjectIdentifier(fate))
            if entries[hash]?.isEmpty == true { entries[hash] = nil }
            return entry
        }
    }

    func registrations(_ key: RegistrationKey) -> [RunLoop.Registration] {
        let candidates = entries.withLock { $0[key.hash].map { Array($0.values) } ?? [] }
        return candidates.filter { $0.key.key == key.key }.map(\.registration)
    }
}

/// A key, and its hash, which is asked for once. Unchecked, because `AnyHashable` does not tell that what is in it is Sendable.
struct RegistrationKey: @unchecked Sendable {
    let key: AnyHashable
    let hash: Int

    init(_ key: some Hashable & Sendable) {
        self.key = AnyHashable(key)
        hash = self.key.hashValue
    }
}
