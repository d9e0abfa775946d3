package runloop;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.function.Consumer;

/// Calls a function on a schedule. A timer is in one loop at a time; nested runs never call it again inside its call.
public final class Timer extends Item {
    static final MemoryLayout CONFIG = MemoryLayout.structLayout(
        Native.CONTEXT.withName("context"), Native.INT.withName("order"), MemoryLayout.paddingLayout(4), Native.LONG.withName("fire_ns"),
        Native.LONG.withName("interval_ns"), Native.LONG.withName("tolerance_ns"), Native.ADDRESS.withName("fire"));

    private static final Kind KIND = Kind.of("timer");
    private static final MethodHandle CREATE = Native.function("runloop_timer_create", Native.INT, Native.ADDRESS, Native.ADDRESS);
    private static final MethodHandle SET_DATE = Native.function("runloop_timer_set_fire_date", Native.INT, Native.ADDRESS, Native.LONG);
    private static final MemorySegment FIRE = Native.callback(MethodHandles.lookup(), "fire", Native.ADDRESS, Native.ADDRESS);

    private final Consumer<Timer> function;

    private Timer(Duration delay, Duration interval, Duration tolerance, Consumer<Timer> function) {
        super(KIND);
        this.function = function;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment config = arena.allocate(CONFIG), out = arena.allocate(Native.ADDRESS), info = Native.rememberItem(this);
            Native.setContext(config, info);
            config.set(Native.LONG, Native.offset(CONFIG, "fire_ns"), RunLoop.dateAfter(delay));
            config.set(Native.LONG, Native.offset(CONFIG, "interval_ns"), RunLoop.nanoseconds(interval));
            config.set(Native.LONG, Native.offset(CONFIG, "tolerance_ns"), RunLoop.nanoseconds(tolerance));
            config.set(Native.ADDRESS, Native.offset(CONFIG, "fire"), FIRE);
            int code = Native.call(CREATE, config, out);
            if (code < 0)
                Native.forget(info);
            Native.check("the timer could not be made", code);
            own(out.get(Native.ADDRESS, 0), info);
        }
    }

    /// A timer that fires once, `delay` from now.
    public static Timer after(Duration delay, Consumer<Timer> function) {
        return new Timer(delay, Duration.ZERO, Duration.ZERO, function);
    }

    /// A timer that fires every `interval`, first after one.
    public static Timer every(Duration interval, Consumer<Timer> function) {
        return every(interval, Duration.ZERO, function);
    }

    /// The same, up to `tolerance` late, to share a wake-up of the machine.
    public static Timer every(Duration interval, Duration tolerance, Consumer<Timer> function) {
        if (interval.isZero() || interval.isNegative())
            throw new IllegalArgumentException("the interval of a timer is longer than zero, not " + interval);
        return new Timer(interval, interval, tolerance, function);
    }

    /// Moves the timer to `delay` from now, and restarts its schedule there. In its own call the last date wins, if it repeats.
    public void fireAfter(Duration delay) {
        int code = Native.call(SET_DATE, item(), RunLoop.dateAfter(delay));
        Reference.reachabilityFence(this);
        Native.check("the timer could not be moved", code);
    }

    private static void fire(MemorySegment item, MemorySegment info) {
        RunLoop.callOut(() -> {
            if (Native.findItem(info) instanceof Timer timer)
                timer.function.accept(timer);
        });
    }
}
