package runloop;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.ref.Reference;
import java.util.Set;
import java.util.function.BiConsumer;

/// Calls a function after it was signalled, or while a descriptor is ready. A source may be in several loops.
public final class Source extends Item {
    static final MemoryLayout CONFIG = MemoryLayout.structLayout(
        Native.CONTEXT.withName("context"), Native.INT.withName("order"), MemoryLayout.paddingLayout(4), Native.ADDRESS.withName("perform"),
        Native.ADDRESS.withName("schedule"), Native.ADDRESS.withName("cancel"), Native.ADDRESS.withName("equal"));
    static final MemoryLayout DESCRIPTOR_CONFIG = MemoryLayout.structLayout(
        Native.CONTEXT.withName("context"), Native.INT.withName("order"), Native.INT.withName("descriptor"), Native.INT.withName("events"),
        Native.BOOL.withName("counter"), Native.BOOL.withName("together"), MemoryLayout.paddingLayout(2), Native.ADDRESS.withName("ready"),
        Native.ADDRESS.withName("equal"), Native.ADDRESS.withName("schedule"), Native.ADDRESS.withName("cancel"),
        Native.ADDRESS.withName("invalidated"));

    private static final Kind KIND = Kind.of("source");
    private static final MethodHandle CREATE = Native.function("runloop_source_create", Native.INT, Native.ADDRESS, Native.ADDRESS);
    private static final MethodHandle CREATE_DESCRIPTOR =
        Native.function("runloop_descriptor_source_create", Native.INT, Native.ADDRESS, Native.ADDRESS);
    private static final MethodHandle SIGNAL = Native.function("runloop_source_signal", Native.INT, Native.ADDRESS);
    private static final MethodHandle SET_EVENTS =
        Native.function("runloop_source_set_events", Native.INT, Native.ADDRESS, Native.INT);
    private static final MemorySegment PERFORM = Native.callback(MethodHandles.lookup(), "perform", Native.ADDRESS, Native.ADDRESS);
    private static final MemorySegment READY =
        Native.callback(MethodHandles.lookup(), "ready", Native.ADDRESS, Native.INT, Native.ADDRESS);

    private final BiConsumer<Source, Set<Readiness>> function;

    private Source(MethodHandle create, MemoryLayout layout, int descriptor, Set<Readiness> conditions,
                   BiConsumer<Source, Set<Readiness>> function) {
        super(KIND);
        this.function = function;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment config = arena.allocate(layout), out = arena.allocate(Native.ADDRESS), info = Native.rememberItem(this);
            Native.setContext(config, info);
            if (layout == DESCRIPTOR_CONFIG) {
                config.set(Native.INT, Native.offset(layout, "descriptor"), descriptor);
                config.set(Native.INT, Native.offset(layout, "events"), Readiness.bits(conditions));
                config.set(Native.ADDRESS, Native.offset(layout, "ready"), READY);
            } else {
                config.set(Native.ADDRESS, Native.offset(layout, "perform"), PERFORM);
            }
            int code = Native.call(create, config, out);
            if (code < 0)
                Native.forget(info);
            Native.check("the source could not be made", code);
            own(out.get(Native.ADDRESS, 0), info);
        }
    }

    /// A source that is signalled by hand: performed once, however often it was signalled.
    public static Source signalled(Runnable function) {
        return new Source(CREATE, CONFIG, -1, Set.of(), (source, conditions) -> function.run());
    }

    /// A source that is called, once per iteration, as long as one of the conditions holds for a descriptor of the process. The
    /// descriptor remains the caller's: close the source before it.
    public static Source of(int descriptor, Set<Readiness> conditions, BiConsumer<Source, Set<Readiness>> function) {
        return new Source(CREATE_DESCRIPTOR, DESCRIPTOR_CONFIG, descriptor, conditions, function);
    }

    /// Marks the source: it performs in the next dispatch of its loop, which [RunLoop#wakeUp()] wakes. Ignored if it is closed.
    public void signal() {
        Native.call(SIGNAL, item());
        Reference.reachabilityFence(this);
    }

    /// Changes the conditions; none pauses the source, which keeps its modes.
    public void setReadiness(Set<Readiness> conditions) {
        int code = Native.call(SET_EVENTS, item(), Readiness.bits(conditions));
        Reference.reachabilityFence(this);
        Native.check("the source's conditions could not be changed", code);
    }

    private static void perform(MemorySegment item, MemorySegment info) {
        ready(item, 0, info);
    }

    private static void ready(MemorySegment item, int events, MemorySegment info) {
        RunLoop.callOut(() -> {
            if (Native.findItem(info) instanceof Source source)
                source.function.accept(source, Readiness.of(events));
        });
    }
}
