package runloop;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.Set;
import java.util.function.BiConsumer;

/// Calls a function when its loop does something. It doesn't keep a mode from being empty, and is in one loop at a time.
public final class Observer extends Item {
    static final MemoryLayout CONFIG = MemoryLayout.structLayout(
        Native.CONTEXT.withName("context"), Native.INT.withName("order"), Native.INT.withName("activities"), Native.BOOL.withName("repeats"),
        MemoryLayout.paddingLayout(7), Native.ADDRESS.withName("observe"));

    private static final Kind KIND = Kind.of("observer");
    private static final MethodHandle CREATE = Native.function("runloop_observer_create", Native.INT, Native.ADDRESS, Native.ADDRESS);
    private static final MemorySegment OBSERVE =
        Native.callback(MethodHandles.lookup(), "observe", Native.ADDRESS, Native.INT, Native.ADDRESS);

    private final BiConsumer<Observer, Activity> function;

    /// An observer of `activities`, called with each of them; of several observers, lower orders first.
    public Observer(Set<Activity> activities, int order, BiConsumer<Observer, Activity> function) {
        super(KIND);
        this.function = function;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment config = arena.allocate(CONFIG), out = arena.allocate(Native.ADDRESS), info = Native.rememberItem(this);
            Native.setContext(config, info);
            config.set(Native.INT, Native.offset(CONFIG, "order"), order);
            config.set(Native.INT, Native.offset(CONFIG, "activities"), Activity.bits(activities));
            config.set(Native.BOOL, Native.offset(CONFIG, "repeats"), true);
            config.set(Native.ADDRESS, Native.offset(CONFIG, "observe"), OBSERVE);
            int code = Native.call(CREATE, config, out);
            if (code < 0)
                Native.forget(info);
            Native.check("the observer could not be made", code);
            own(out.get(Native.ADDRESS, 0), info);
        }
    }

    private static void observe(MemorySegment item, int activity, MemorySegment info) {
        RunLoop.callOut(() -> {
            if (Native.findItem(info) instanceof Observer observer)
                observer.function.accept(observer, Activity.of(activity));
        });
    }
}
