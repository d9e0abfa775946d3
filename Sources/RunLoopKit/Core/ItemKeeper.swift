internal import Synchronization

/// Keeps the wrappers of the timers and observers that a loop has, so that an action gets the object its creator had even
/// if the creator let go of it. An entry goes when the item leaves its last mode, when it becomes invalid, and when the
/// loop's thread ends; then the wrapper, the C item, its box and its closure go with it, if nobody else holds them.
///
/// Order of locks: the keeper's lock, then the core's. The core holds none of its own while it calls out.
final class ItemKeeper: Sendable {
    private let items = Mutex<[ItemKey: any AnyObject & Sendable]>([:])

    /// Adds an item to a mode with `add`, and keeps `item` if that succeeds. Returns what `add` returned.
    func keep(_ item: any AnyObject & Sendable, _ key: ItemKey, add: () -> Int32) -> Int32 {
        items.withLock { items in
            let result = add()
            if result == 0 { items[key] = item }
            return result
        }
    }

    /// Removes an item from a mode with `remove`, and lets go of it unless it `isElsewhere` in the loop.
    func letGo(_ key: ItemKey, remove: () -> Void, isElsewhere: () -> Bool) {
        // What a closure of these returns is freed outside the lock, because that may run code of the user.
        _ = items.withLock { items -> (any AnyObject & Sendable)? in
            remove()
            return items[key] == nil || isElsewhere() ? nil : items.removeValue(forKey: key)
        }
    }

    func forget(_ key: ItemKey) {
        _ = items.withLock { $0.removeValue(forKey: key) }
    }

    func forgetAll() {
        _ = items.withLock { items in
            defer { items = [:] }
            return items
        }
    }
}

/// An item by its C object.
struct ItemKey: Hashable, @unchecked Sendable {
    private let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }
}

/// Which loop keeps an item. Known before the item is added, so that an invalidation on another thread that comes right
/// after the addition finds the loop.
struct Home: ~Copyable, Sendable {
    private let reference = Mutex(WeakLoop())

    func enter(_ loop: RunLoop) {
        reference.withLock { $0.loop = loop }
    }

    func leave(_ key: ItemKey) {
        let loop = reference.withLock { $0.loop }
        loop?.keeper.forget(key)
    }
}

/// Not nested in `Home`: as a private type there it makes the 6.3 compiler emit a module that does not verify.
struct WeakLoop: Sendable {
    weak var loop: RunLoop?
}
