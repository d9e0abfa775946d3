import java.lang.foreign.*;
import java.lang.invoke.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicLong;

/// Loop.java — a run loop in Java by java.lang.foreign, Java 22 and later: a timer that ticks, and an Executor whose tasks run on the loop's
/// thread, between the ticks.
///
///     java --enable-native-access=ALL-UNNAMED -Drunloop.library=/usr/local/lib/librunloop.so.0.1 Loop.java
public class Loop implements Executor {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final SymbolLookup LIBRARY =
        SymbolLookup.libraryLookup(System.getProperty("runloop.library", "librunloop.so.0.1"), Arena.global());
    private static final MemoryLayout INT = ValueLayout.JAVA_INT, LONG = ValueLayout.JAVA_LONG, ADDRESS = ValueLayout.ADDRESS;

    private static final MethodHandle CURRENT = function("runloop_current", ADDRESS);
    private static final MethodHandle NOW_NS = function("runloop_now_ns", LONG);
    private static final MethodHandle RUN = function("runloop_run", INT);
    private static final MethodHandle STOP = function("runloop_stop", INT, ADDRESS);
    private static final MethodHandle POST = function("runloop_post", INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS);
    private static final MethodHandle CREATE_TIMER = function("runloop_timer_create", INT, ADDRESS, ADDRESS);
    private static final MethodHandle ADD_TIMER = function("runloop_add_timer", INT, ADDRESS, ADDRESS, ADDRESS);
    private static final MethodHandle RELEASE_TIMER = function("runloop_timer_release", null, ADDRESS);
    private static final MethodHandle RETAIN = function("runloop_retain", ADDRESS, ADDRESS);
    private static final MethodHandle END_CURRENT = function("runloop_end_current", INT);

    private static final MemorySegment DEFAULT_MODE = Arena.global().allocateFrom("kCFRunLoopDefaultMode");
    private static final MemorySegment COMMON_MODES = Arena.global().allocateFrom("kCFRunLoopCommonModes");
    private static final MemorySegment PERFORM = callback("perform", ADDRESS), FORGET = callback("forget", ADDRESS);
    private static final MemorySegment FIRE = callback("fire", ADDRESS, ADDRESS);

    /// What C keeps is a number, since Java's objects move.
    private static final ConcurrentMap<Long, Runnable> KEPT = new ConcurrentHashMap<>();
    private static final AtomicLong NUMBERS = new AtomicLong();

    private static MethodHandle function(String name, MemoryLayout result, MemoryLayout... arguments) {
        return LINKER.downcallHandle(LIBRARY.find(name).orElseThrow(), descriptor(result, arguments));
    }

    private static FunctionDescriptor descriptor(MemoryLayout result, MemoryLayout... arguments) {
        return result == null ? FunctionDescriptor.ofVoid(arguments) : FunctionDescriptor.of(result, arguments);
    }

    private static MemorySegment callback(String name, MemoryLayout... arguments) {
        FunctionDescriptor type = descriptor(null, arguments);
        try {
            return LINKER.upcallStub(MethodHandles.lookup().findStatic(Loop.class, name, type.toMethodType()), type, Arena.global());
        } catch (ReflectiveOperationException error) {
            throw new AssertionError(error);
        }
    }

    private static MemorySegment keep(Runnable task) {
        long number = NUMBERS.incrementAndGet();
        KEPT.put(number, task);
        return MemorySegment.ofAddress(number);
    }

    // Called by the loop, on its thread. What they throw ends the process: there are frames of C below.
    private static void perform(MemorySegment info) { KEPT.remove(info.address()).run(); }
    private static void forget(MemorySegment info) { KEPT.remove(info.address()); }
    private static void fire(MemorySegment timer, MemorySegment info) { KEPT.get(info.address()).run(); }

    private interface Call {
        int make() throws Throwable;
    }

    private static int check(Call call) {
        try {
            int result = call.make();
            if (result < 0)
                throw new IllegalStateException("errno " + -result);
            return result;
        } catch (RuntimeException | Error error) {
            throw error;
        } catch (Throwable error) {
            throw new AssertionError(error); // C throws nothing.
        }
    }

    private final MemorySegment loop;

    /// The calling thread's. Other threads may refer to it, so it is retained, here for as long as the process lasts.
    Loop() throws Throwable {
        MemorySegment current = (MemorySegment) CURRENT.invokeExact();
        loop = (MemorySegment) RETAIN.invokeExact(current);
    }

    /// From any thread: the loop wakes up.
    @Override public void execute(Runnable task) {
        MemorySegment info = keep(task);
        check(() -> (int) POST.invokeExact(loop, COMMON_MODES, PERFORM, info, FORGET));
    }

    /// On its thread. The loop keeps the timer, and the timer what it calls.
    void every(long intervalNs, Runnable tick) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment config = arena.allocate(72), timer = arena.allocate(ADDRESS); // runloop_timer_config, zeros as yet
            long now = (long) NOW_NS.invokeExact();
            config.set(ValueLayout.ADDRESS, 0, keep(tick));             // .context.info
            config.set(ValueLayout.ADDRESS, 16, FORGET);                // .context.release
            config.set(ValueLayout.JAVA_LONG, 40, now + intervalNs);    // .fire_ns
            config.set(ValueLayout.JAVA_LONG, 48, intervalNs);          // .interval_ns
            config.set(ValueLayout.ADDRESS, 64, FIRE);                  // .fire
            check(() -> (int) CREATE_TIMER.invokeExact(config, timer));
            MemorySegment made = timer.get(ValueLayout.ADDRESS, 0);
            check(() -> (int) ADD_TIMER.invokeExact(loop, made, DEFAULT_MODE));
            RELEASE_TIMER.invokeExact(made);
        }
    }

    void run() { check(() -> (int) RUN.invokeExact()); }
    void stop() { check(() -> (int) STOP.invokeExact(loop)); }
    /// Before its thread ends: later, C would call what Java has given up.
    void end() { check(() -> (int) END_CURRENT.invokeExact()); }

    private static int ticks;

    public static void main(String[] arguments) throws Throwable {
        Loop loop = new Loop();
        loop.every(10_000_000, () -> {
            System.out.println("tick " + ++ticks);
            if (ticks == 3)
                loop.stop();
        });
        Thread other = new Thread(() -> loop.execute(() -> System.out.println("a word from another thread")));
        other.start();
        other.join();
        loop.run();
        loop.end();
        System.out.println("kept: " + KEPT.size());
    }
}
