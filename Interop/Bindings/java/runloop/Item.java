package runloop;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// What can be added to a loop. Any thread may use it; its callback is called by the thread of the loop that it is in.
///
/// Loops keep their items alive until these are closed or the loop ends: a program need not. A timer that fires once closes itself.
public abstract sealed class Item implements AutoCloseable permits Timer, Source, Observer {
    /// The C functions for a kind of item.
    record Kind(MethodHandle add, MethodHandle remove, MethodHandle contains, MethodHandle invalidate, MethodHandle isValid,
                MethodHandle release) {
        static Kind of(String name) {
            var address = Native.ADDRESS;
            return new Kind(Native.function("runloop_add_" + name, Native.INT, address, address, address),
                            Native.function("runloop_remove_" + name, Native.INT, address, address, address),
                            Native.function("runloop_contains_" + name, Native.BOOL, address, address, address),
                            Native.function("runloop_" + name + "_invalidate", null, address),
                            Native.function("runloop_" + name + "_is_valid", Native.BOOL, address),
                            Native.function("runloop_" + name + "_release", null, address));
        }
    }

    private static final Cleaner CLEANER = Cleaner.create();

    final Kind kind;
    private MemorySegment item;
    private MemorySegment info;
    /// Those that keep this object alive.
    private final Set<RunLoop> loops = ConcurrentHashMap.newKeySet();

    Item(Kind kind) {
        this.kind = kind;
    }

    /// Once, by the constructor of a kind.
    final void own(MemorySegment item, MemorySegment info) {
        Kind kind = this.kind;
        this.item = item;
        this.info = info;
        CLEANER.register(this, () -> Native.callVoid(kind.release, item));
    }

    final MemorySegment item() {
        return item;
    }

    /// It was added to a loop.
    final void enter(RunLoop loop) {
        loops.add(loop);
        loop.items.add(this);
        if (!isValid())
            leave(); // Another thread has closed it meanwhile, or it has fired.
    }

    /// It is over.
    final void leave() {
        for (RunLoop loop : loops)
            loop.items.remove(this);
    }

    /// Whether it can still be called.
    public final boolean isValid() {
        try {
            return Native.ask(kind.isValid, item);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /// Removes the item from every mode for ever. Twice is once; allowed in its own callback. Does not wait for a callback that runs on
    /// another thread.
    @Override
    public final void close() {
        try {
            Native.callVoid(kind.invalidate, item);
            Native.forget(info); // C releases that of a source only with the source, whose last reference is this object's.
            leave();
        } finally {
            Reference.reachabilityFence(this);
        }
    }
}
