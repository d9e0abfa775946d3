package runloop;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.time.Duration;
import java.util.List;

/// What the scenarios of the binding to Java are made of, and how the driver gets them.
public final class Faults {
    private Faults() {}

    static final int AS_EXPECTED = 0, LOST = 2;
    static final Mode MODE = Mode.of("faults");
    private static final MethodHandle
        TRY = Native.function("fault_plan_try", Native.BOOL, Native.ADDRESS, Native.INT, Native.ADDRESS),
        BEGIN = Native.function("begin_faults", null),
        PAUSE = Native.function("pause_faults", null),
        TOLD = Native.function("told", Native.INT, Native.INT);

    /// It did not work, and nothing was told.
    static final class Lost extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    interface Body {
        void run(RunLoop loop) throws Exception;
    }

    record Scenario(String name, Body body) {
        /// The driver's function.
        int run() {
            try {
                BEGIN.invokeExact();
                body.run(RunLoop.current());
                PAUSE.invokeExact();
                System.gc(); // Which gives back what C has for objects that are gone.
                // What was posted before a run failed is called by the next one.
                for (int i = 0; i < 200 && Native.remembered() > 0; i++)
                    Thread.sleep(5);
                return Native.remembered() > 0 ? LOST : AS_EXPECTED;
            } catch (Throwable thrown) {
                return outcomeOf(thrown);
            }
        }
    }

    private static int outcomeOf(Throwable thrown) {
        try {
            if (thrown instanceof RunLoopException told)
                return (int) TOLD.invokeExact(-told.errno());
        } catch (Throwable error) {
            throw Native.impossible(error);
        }
        if (!(thrown instanceof Lost))
            thrown.printStackTrace();
        return LOST;
    }

    static void expect(boolean condition) {
        if (!condition)
            throw new Lost();
    }

    interface Action {
        void run() throws Exception;
    }

    /// What the scenario does itself in between does not fail.
    static void own(Action action) throws Exception {
        try {
            PAUSE.invokeExact();
            action.run();
            BEGIN.invokeExact();
        } catch (Exception exception) {
            throw exception;
        } catch (Throwable error) {
            throw Native.impossible(error);
        }
    }

    interface Condition {
        boolean holds();
    }

    /// Runs the mode until the condition holds, for three seconds at most.
    static void runUntil(RunLoop loop, Condition condition) throws InterruptedException {
        long end = System.nanoTime() + Duration.ofSeconds(3).toNanos();
        while (!condition.holds() && System.nanoTime() < end) {
            if (loop.runOnce(MODE, Duration.ofMillis(4)) == RunResult.FINISHED)
                Thread.sleep(1);
        }
    }

    // -- The plan --------------------------------------------------------------------------------------------------------

    private static final Linker LINKER = Linker.nativeLinker();

    private static MemorySegment stub(Scenario scenario) throws ReflectiveOperationException {
        MethodHandle run = MethodHandles.lookup().findVirtual(Scenario.class, "run", MethodType.methodType(int.class));
        return LINKER.upcallStub(run.bindTo(scenario), FunctionDescriptor.of(Native.INT), Arena.global());
    }

    private static MemorySegment table(List<Scenario> scenarios) throws ReflectiveOperationException {
        MemoryLayout layout = MemoryLayout.structLayout(Native.ADDRESS.withName("name"), Native.ADDRESS.withName("run"),
                                                        Native.BOOL.withName("spares_allocations"), MemoryLayout.paddingLayout(7));
        MemorySegment table = Arena.global().allocate(layout.byteSize() * (scenarios.size() + 1), 8);
        for (int i = 0; i < scenarios.size(); i++) {
            long start = i * layout.byteSize();
            table.set(Native.ADDRESS, start + Native.offset(layout, "name"), Arena.global().allocateFrom(scenarios.get(i).name()));
            table.set(Native.ADDRESS, start + Native.offset(layout, "run"), stub(scenarios.get(i)));
        }
        return table;
    }

    private static boolean tryAll(List<Scenario> scenarios, String[] words) throws Throwable {
        Arena arena = Arena.global();
        MemoryLayout layout = MemoryLayout.structLayout(
            Native.ADDRESS.withName("groups"), Native.LONG.withName("group_count"), Native.ADDRESS.withName("spared_kinds"),
            Native.ADDRESS.withName("works"), Native.ADDRESS.withName("announced_ends"), Native.BOOL.withName("executes"),
            MemoryLayout.paddingLayout(7));
        MemorySegment plan = arena.allocate(layout), groups = arena.allocate(Native.ADDRESS);
        groups.set(Native.ADDRESS, 0, table(scenarios));
        plan.set(Native.ADDRESS, Native.offset(layout, "groups"), groups);
        plan.set(Native.LONG, Native.offset(layout, "group_count"), 1);
        // What Java's own memory, threads and classes are made of.
        plan.set(Native.ADDRESS, Native.offset(layout, "spared_kinds"), arena.allocateFrom("mmap madvise clone clone3 openat read"));
        plan.set(Native.BOOL, Native.offset(layout, "executes"), true);
        MemorySegment list = arena.allocate(Native.ADDRESS.byteSize() * (words.length + 1), 8);
        for (int i = 0; i < words.length; i++)
            list.set(Native.ADDRESS, i * Native.ADDRESS.byteSize(), arena.allocateFrom(words[i]));
        return (boolean) TRY.invokeExact(plan, words.length, list);
    }

    public static void main(String[] words) throws Throwable {
        // Classes are loaded and linked when they are first used, on a loop that the driver's scenarios do not meet.
        Thread first = RunLoop.thread("first", () -> Scenarios.ALL.forEach(Scenario::run));
        first.start();
        first.join();
        System.exit(tryAll(Scenarios.ALL, words) ? 0 : 1);
    }
}
