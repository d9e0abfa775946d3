internal import Synchronization

/// Keeps the wrappers of the timers and observers that a loop has, so that an action gets the object its creator had even
/// if the creator let go of it. An entry goes when the item leaves its last mode, when it becomes invalid, and when the
/// loop's thread ends; then the wrapper, the C item, its box and its closure go with it, if nobody else holds them.
///
/// An item is kept before it is added, and let go of after it was removed, so what the loop has is kept. Only threads that add
/// and remove the same item at the same time can undo that; the item then works all the same, see `TimerBox`. No call of
/// the core is made under the lock, and nothing freed: either may run code of the user.
final class ItemKeeper: Sendable {
    private let items = Guarded<[ItemKey: any AnyObject & Sendable]>([:])

    func keep(_ item: any AnyObject & Sendable, _ key: ItemKey) {
        _ = items.withLock { $0.updateValue(item, forKey: key) }
    }

    func letGo(_ key: ItemKey) {
        _ = items.withLock { $0.removeValue(forKey: key) }
    }

    func letGoOfAll() {
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

/// Which loop keeps an item. Known before the item is added, so that an invalidation that comes right after the addition
/// finds it. Only the address: what is there may be gone, or be another loop, which then has no such item to let go of.
struct Home: ~Copyable, Sendable {
    private let address = Atomic<UInt>(0)

    func enter(_ loop: LoopCore) {
        address.store(loop.address, ordering: .releasing)
    }

    func leave(_ key: ItemKey) {
        let address = address.load(ordering: .acquiring)
        if address != 0 { LoopRegistry.object(at: address)?.keeper.letGo(key) }
    }
}
