package runloop;

import java.lang.foreign.MemoryLayout;

/// Prints where Java supposes the fields of C's structures; offsets.c prints where they are.
public class Offsets {
    public static void main(String[] arguments) {
        print("runloop_context", Native.CONTEXT, "info", "retain", "release", "describe");
        print("runloop_timer_config", Timer.CONFIG, "order", "fire_ns", "interval_ns", "tolerance_ns", "fire");
        print("runloop_source_config", Source.CONFIG, "order", "perform", "schedule", "cancel", "equal");
        print("runloop_descriptor_config", Source.DESCRIPTOR_CONFIG, "order", "descriptor", "events", "counter", "ready", "equal");
        print("runloop_observer_config", Observer.CONFIG, "order", "activities", "repeats", "observe");
        System.out.println("results " + RunResult.of(1) + " " + RunResult.of(2) + " " + RunResult.of(3) + " " + RunResult.of(4));
        for (Activity activity : Activity.values())
            System.out.println(activity + " " + activity.bit);
        for (Readiness condition : Readiness.values())
            System.out.println(condition + " " + condition.bit);
        System.out.println(Mode.DEFAULT + " " + Mode.COMMON);
    }

    private static void print(String name, MemoryLayout layout, String... fields) {
        System.out.print(name);
        for (String field : fields)
            System.out.print(" " + field + " " + Native.offset(layout, field));
        System.out.println(" size " + layout.byteSize());
    }
}
