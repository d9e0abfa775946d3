/// A loop's registrations that can be cancelled by a key.
///
/// The key's type is user code, so keys are hashed, compared and freed outside the lock.
final class KeyedRegistrations: Sendable {
    /// By the keys' hashes, and then by the registrations' states.
    private let entries = Guarded<[Int: [ObjectIdentifier: Entry]]>([:])

    private struct Entry {
        let key: RegistrationKey
        let registration: RunLoop.Registration
    }

    func add(_ registration: RunLoop.Registration, _ state: RegistrationState, _ key: RegistrationKey) {
        entries.withLock {
            $0[key.hash, default: [:]][ObjectIdentifier(state)] = Entry(key: key, registration: registration)
        }
    }

    func remove(_ state: RegistrationState, hash: Int) {
        _ = entries.withLock { entries in
            let entry = entries[hash]?.removeValue(forKey: ObjectIdentifier(state))
            if entries[hash]?.isEmpty == true { entries[hash] = nil }
            return entry
        }
    }

    func registrations(_ key: RegistrationKey) -> [RunLoop.Registration] {
        let candidates = entries.withLock { $0[key.hash].map { Array($0.values) } ?? [] }
        return candidates.filter { $0.key.key == key.key }.map(\.registration)
    }
}

/// A key and its hash, which is computed once. Unchecked, because `AnyHashable` hides that the key is Sendable.
struct RegistrationKey: @unchecked Sendable {
    let key: AnyHashable
    let hash: Int

    init(_ key: some Hashable & Sendable) {
        self.key = AnyHashable(key)
        hash = self.key.hashValue
    }
}
