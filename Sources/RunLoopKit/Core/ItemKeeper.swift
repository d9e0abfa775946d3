internal import Synchronization

/// Keeps the wrappers of the timers and observers that a loop has, so that an action gets the object its creator had even
/// if the creator let go of it. An entry goes when the item leaves its last mode, when it becomes invalid, and when the
/// loop's thread ends; then the wrapper, the C item, its box and its closure go with it, if nobody else holds them.
///
/// An item is kept before it is added, and let go of after it was removed, so what the loop has is kept. Only threads that add
/// and remove the same item at the same time can undo that; the item then works all the same, see `TimerBox`. No call of
/// the core is made under the lock, and nothing freed: either may run code of the user.
///
/// In a forked child the keepers of inherited loops are left alone: a thread that does not exist there may have the lock.
final class ItemKeeper: Sendable {
    private let items = Guarded<[ItemKey: any AnyObject & Sendable]>([:])
    private let process = ForkGeneration()

    func keep(_ item: any AnyObject & Sendable, _ key: ItemKey) {
        if process.isOver { return }
        _ = items.withLock { $0.updateValue(item, forKey: key) }
    }

    func letGo(_ key: ItemKey) {
        if process.isOver { return }
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

/// Whose keepers may keep an item: of all loops to which it was ever added, mostly one. Known before the item is added, so that an
/// invalidation that comes right after the addition finds it. The keepers stay until the item goes, so nobody needs a lock to
/// look at them.
struct Home: ~Copyable, Sendable {
    private let first = Atomic<Unmanaged<ItemKeeper>?>(nil)
    private let others = Atomic<Unmanaged<FurtherHome>?>(nil)

    func enter(_ keeper: ItemKeeper) {
        let mine = Unmanaged.passUnretained(keeper)
        var taken = first.load(ordering: .acquiring)
        if taken == nil {
            _ = mine.retain()
            let (exchanged, original) = first.compareExchange(
                expected: nil, desired: mine, ordering: .acquiringAndReleasing)
            if exchanged { return }
            mine.release()
            taken = original
        }
        if taken?.toOpaque() != mine.toOpaque() { enterOthers(keeper) }
    }

    private func enterOthers(_ keeper: ItemKeeper) {
        while true {
            let newest = others.load(ordering: .acquiring)
            var known = newest?.takeUnretainedValue()
            while let home = known, home.keeper !== keeper { known = home.next }
            if known != nil { return }
            let mine = Unmanaged.passRetained(FurtherHome(keeper, newest?.takeUnretainedValue()))
            if others.compareExchange(expected: newest, desired: mine, ordering: .acquiringAndReleasing).exchanged {
                // The new one keeps it from now on.
                newest?.release()
                return
            }
            mine.release()
        }
    }

    func leave(_ key: ItemKey) {
        first.load(ordering: .acquiring)?.takeUnretainedValue().letGo(key)
        var home = others.load(ordering: .acquiring)?.takeUnretainedValue()
        while let here = home {
            here.keeper.letGo(key)
            home = here.next
        }
    }

    deinit {
        first.load(ordering: .acquiring)?.release()
        // One after the other, however many there are.
        var home = others.load(ordering: .acquiring)?.takeRetainedValue()
        while let here = home { home = here.next }
    }
}

private final class FurtherHome: Sendable {
    let keeper: ItemKeeper
    let next: FurtherHome?

    init(_ keeper: ItemKeeper, _ next: FurtherHome?) {
        self.keeper = keeper
        self.next = next
    }
}
