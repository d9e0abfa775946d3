package runloop;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/// The scenarios. Each failure starts a virtual machine: so there are few.
final class Scenarios {
    private Scenarios() {}

    static final List<Faults.Scenario> ALL = List.of(
        new Faults.Scenario("a timer", Scenarios::timer),
        new Faults.Scenario("a descriptor", Scenarios::descriptor),
        new Faults.Scenario("an observer and a source", Scenarios::observerAndSource),
        new Faults.Scenario("a call of another thread", Scenarios::callOfAnotherThread),
        new Faults.Scenario("a nested run that throws", Scenarios::nestedRunThatThrows));

    private static final Duration SOON = Duration.ofMillis(1), LONG = Duration.ofSeconds(3);

    private static void timer(RunLoop loop) throws Exception {
        int[] fired = {0};
        try (Timer timer = Timer.after(Duration.ofHours(1), it -> fired[0] += 1)) {
            loop.add(timer, Faults.MODE);
            timer.fireAfter(SOON);
            Faults.runUntil(loop, () -> fired[0] == 1);
            Faults.expect(fired[0] == 1 && !loop.contains(timer, Faults.MODE));
        }
    }

    private static void descriptor(RunLoop loop) throws Exception {
        int[] ends = new int[2];
        Faults.own(() -> pipe(ends));
        int[] calls = {0};
        try (Source source = Source.of(ends[0], Set.of(Readiness.READABLE), (it, now) -> calls[0] += 1)) {
            loop.add(source, Faults.MODE);
            Faults.own(() -> call(CLOSE, ends[1])); // The end is what is to be read.
            ends[1] = -1;
            source.setReadiness(Set.of());
            Faults.expect(loop.run(Faults.MODE, Duration.ZERO) == RunResult.TIMED_OUT && calls[0] == 0);
            source.setReadiness(Set.of(Readiness.READABLE));
            Faults.runUntil(loop, () -> calls[0] > 0);
            Faults.expect(calls[0] > 0);
        } finally {
            call(CLOSE, ends[0]);
            if (ends[1] >= 0)
                call(CLOSE, ends[1]);
        }
    }

    private static void observerAndSource(RunLoop loop) throws Exception {
        Set<Activity> seen = EnumSet.noneOf(Activity.class);
        int[] performed = {0};
        try (Observer observer = new Observer(EnumSet.allOf(Activity.class), 0, (it, now) -> seen.add(now));
             Source source = Source.signalled(() -> performed[0] += 1)) {
            loop.add(observer, Faults.MODE);
            loop.add(source, Faults.MODE);
            source.signal();
            Faults.runUntil(loop, () -> performed[0] == 1);
            Faults.expect(performed[0] == 1 && seen.containsAll(Set.of(Activity.ENTRY, Activity.EXIT)));
        }
    }

    private static void callOfAnotherThread(RunLoop loop) throws Exception {
        List<String> order = new ArrayList<>();
        RunLoopException[] failure = {null};
        Thread thread = new Thread(() -> {
            try {
                loop.post(Faults.MODE, () -> order.add("first"));
                loop.post(Faults.MODE, () -> order.add("second"));
            } catch (RunLoopException exception) {
                failure[0] = exception;
            }
        });
        Faults.own(thread::start);
        thread.join();
        Faults.runUntil(loop, () -> order.size() == 2 || failure[0] != null);
        if (failure[0] != null)
            throw failure[0];
        Faults.expect(order.equals(List.of("first", "second")));
    }

    private static void nestedRunThatThrows(RunLoop loop) throws Exception {
        Mode inner = Mode.of("inner");
        IllegalStateException cause = new IllegalStateException("deliberate");
        Object[] caught = {null};
        try (Source outerKeeper = Source.signalled(() -> {}); Source innerKeeper = Source.signalled(() -> { throw cause; })) {
            loop.add(outerKeeper, Faults.MODE);
            loop.add(innerKeeper, inner);
            innerKeeper.signal();
            loop.post(Faults.MODE, () -> {
                try {
                    loop.run(inner, LONG);
                } catch (IllegalStateException exception) {
                    caught[0] = exception;
                }
            });
            Faults.runUntil(loop, () -> caught[0] != null);
            Faults.expect(caught[0] == cause);
        }
    }

    // -- What Java has not -----------------------------------------------------------------------------------------------

    private static MethodHandle libc(String name, ValueLayout argument) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().find(name).orElseThrow(), FunctionDescriptor.of(Native.INT, argument));
    }

    private static final MethodHandle PIPE = libc("pipe", Native.ADDRESS), CLOSE = libc("close", Native.INT);

    private static void pipe(int[] ends) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment both = arena.allocate(8, 4);
            Faults.expect(Native.call(PIPE, both) == 0);
            ends[0] = both.get(Native.INT, 0);
            ends[1] = both.get(Native.INT, 4);
        }
    }

    private static void call(MethodHandle function, int number) {
        try {
            int unused = (int) function.invokeExact(number);
        } catch (Throwable error) {
            throw Native.impossible(error);
        }
    }
}
