package runloop;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/// A thread's loop. Any thread may post to it, stop it, wake it, and add items to it; its own thread runs it.
///
/// An [Executor]: what is given to it is performed by the loop's thread.
public final class RunLoop implements Executor {
    private static final MethodHandle
        CURRENT = Native.function("runloop_current", Native.ADDRESS),
        RETAIN = Native.function("runloop_retain", Native.ADDRESS, Native.ADDRESS),
        RELEASE = Native.function("runloop_release", null, Native.ADDRESS),
        END_CURRENT = Native.function("runloop_end_current", Native.INT),
        RUN = Native.function("runloop_run_in_mode", Native.INT, Native.ADDRESS, Native.LONG, Native.BOOL),
        STOP = Native.function("runloop_stop", Native.INT, Native.ADDRESS),
        STOP_LATCHED = Native.function("runloop_stop_latched", Native.INT, Native.ADDRESS),
        WAKE_UP = Native.function("runloop_wake_up", Native.INT, Native.ADDRESS),
        IS_CURRENT = Native.function("runloop_is_current", Native.BOOL, Native.ADDRESS),
        IS_WAITING = Native.function("runloop_is_waiting", Native.BOOL, Native.ADDRESS),
        CURRENT_MODE = Native.function("runloop_current_mode", Native.ADDRESS, Native.ADDRESS),
        POST = Native.function("runloop_post", Native.INT, Native.ADDRESS, Native.ADDRESS, Native.ADDRESS, Native.ADDRESS, Native.ADDRESS),
        NOW = Native.function("runloop_now_ns", Native.LONG);
    private static final MemorySegment
        PERFORM = Native.callback(MethodHandles.lookup(), "perform", Native.ADDRESS),
        DISCARD = Native.callback(MethodHandles.lookup(), "discard", Native.ADDRESS);
    private static final int ENOMEM = 12, ESHUTDOWN = 108;
    private static final Cleaner CLEANER = Cleaner.create();

    private final MemorySegment pointer;
    /// What the loop keeps alive.
    final Set<Item> items = ConcurrentHashMap.newKeySet();

    private RunLoop(MemorySegment pointer) {
        MemorySegment retained = Native.get(RETAIN, pointer);
        this.pointer = retained;
        CLEANER.register(this, () -> Native.callVoid(RELEASE, retained));
    }

    // -- The thread's loop -----------------------------------------------------------------------------------------------

    /// What a thread knows of its runs.
    private static final class State {
        RunLoop loop;
        int depth;
        Throwable thrown;
    }

    private static final ThreadLocal<State> STATE = ThreadLocal.withInitial(State::new);

    /// The calling thread's loop, which the first call makes. End it before the thread: [#endCurrent()]. A virtual thread has none, since it
    /// is not always on the same thread of the system.
    public static RunLoop current() {
        if (isVirtual(Thread.currentThread()))
            throw new IllegalStateException("a virtual thread has no run loop");
        State state = STATE.get();
        if (state.loop == null || !state.loop.isCurrent()) {
            MemorySegment pointer = Native.get(CURRENT);
            if (pointer.address() == 0) {
                Native.check("the thread has no loop", run(Mode.COMMON, 0, false)); // Does nothing but give the reason.
                throw new RunLoopException("the thread has no loop", ENOMEM);
            }
            state.loop = new RunLoop(pointer);
        }
        return state.loop;
    }

    /// A thread that is not started yet, and ends its loop when `body` has ended.
    public static Thread thread(String name, Runnable body) {
        return new Thread(() -> {
            try {
                body.run();
            } finally {
                endCurrent();
            }
        }, name);
    }

    /// Ends the calling thread's loop, if it has one: items are removed, and what was posted and never performed is dropped. Whoever uses
    /// a loop calls it at the end of the thread, while Java still works there. Fails with EBUSY inside a run.
    public static void endCurrent() {
        Native.check("the loop could not be ended", Native.call(END_CURRENT));
        RunLoop loop = STATE.get().loop;
        STATE.remove();
        if (loop != null)
            loop.items.clear();
    }

    // -- Runs ------------------------------------------------------------------------------------------------------------

    /// Runs the default mode until it is stopped, or finished: until nothing can ever happen in it. Runs nest.
    ///
    /// What a callback throws ends the run with its iteration and is thrown here; what further ones throw is suppressed by it.
    public RunResult run() {
        return run(Mode.DEFAULT);
    }

    /// The same in `mode`.
    public RunResult run(Mode mode) {
        return checkedRun(mode, Long.MAX_VALUE, false);
    }

    /// Runs `mode` for at most `limit`; zero is one iteration, which never sleeps.
    public RunResult run(Mode mode, Duration limit) {
        return checkedRun(mode, nanoseconds(limit), false);
    }

    /// Runs `mode` until one source was handled, for at most `limit`.
    public RunResult runOnce(Mode mode, Duration limit) {
        return checkedRun(mode, nanoseconds(limit), true);
    }

    private RunResult checkedRun(Mode mode, long limit, boolean returnsAfterSource) {
        if (!isCurrent())
            throw new IllegalStateException("a loop is run by its own thread, while that has it");
        State state = STATE.get();
        Throwable outer = state.thrown; // What a run around this one is to throw waits for that.
        state.thrown = null;
        state.depth += 1;
        int result = run(mode, limit, returnsAfterSource);
        state.depth -= 1;
        Throwable thrown = state.thrown;
        state.thrown = outer;
        if (thrown instanceof Error error)
            throw error;
        if (thrown != null)
            throw (RuntimeException) thrown;
        return RunResult.of(Native.check("the loop could not run", result));
    }

    private static int run(Mode mode, long limit, boolean returnsAfterSource) {
        try {
            return (int) RUN.invokeExact(mode.pointer, limit, returnsAfterSource);
        } catch (Throwable error) {
            throw Native.impossible(error);
        }
    }

    /// Calls `body` for C, through which nothing may be thrown: it is kept for the innermost run, which ends.
    static void callOut(Runnable body) {
        try {
            body.run();
        } catch (Throwable thrown) {
            State state = STATE.get();
            if (state.depth == 0) {
                Thread thread = Thread.currentThread();
                thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
                return;
            }
            if (state.thrown == null)
                state.thrown = thrown instanceof RuntimeException || thrown instanceof Error ? thrown : new RuntimeException(thrown);
            else if (state.thrown != thrown)
                state.thrown.addSuppressed(thrown);
        }
        if (STATE.get().thrown != null)
            Native.call(STOP, Native.get(CURRENT));
    }

    /// Ends the innermost active run at the end of its iteration. Nothing is remembered if none is active.
    public void stop() {
        Native.call(STOP, pointer);
        Reference.reachabilityFence(this);
    }

    /// The same, remembered until a run consumes it.
    public void stopLatched() {
        Native.call(STOP_LATCHED, pointer);
        Reference.reachabilityFence(this);
    }

    /// Ends one sleep, or prevents the next if the loop is on its way to it.
    public void wakeUp() {
        Native.call(WAKE_UP, pointer);
        Reference.reachabilityFence(this);
    }

    /// Whether it is the calling thread's loop.
    public boolean isCurrent() {
        try {
            return Native.ask(IS_CURRENT, pointer);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /// Whether the loop sleeps or is about to.
    public boolean isWaiting() {
        try {
            return Native.ask(IS_WAITING, pointer);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /// The mode of the innermost active run; null if none is.
    public Mode currentMode() {
        MemorySegment name = Native.get(CURRENT_MODE, pointer);
        Reference.reachabilityFence(this);
        return name.address() == 0 ? null : Mode.of(name);
    }

    // -- Work ------------------------------------------------------------------------------------------------------------

    /// Has `work` performed on the loop's thread by a run in a common mode, and wakes the loop. It is dropped if the loop ends before.
    /// Throws [RejectedExecutionException] if the loop has ended.
    @Override
    public void execute(Runnable work) {
        post(Mode.COMMON, work);
    }

    /// The same for runs in one mode.
    public void post(Mode mode, Runnable work) {
        MemorySegment info = Native.remember(Objects.requireNonNull(work));
        int code;
        try {
            code = (int) POST.invokeExact(pointer, mode.pointer, PERFORM, info, DISCARD);
        } catch (Throwable error) {
            throw Native.impossible(error);
        } finally {
            Reference.reachabilityFence(this);
        }
        if (code < 0) {
            Native.forget(info);
            var error = new RunLoopException("the work could not be posted", -code);
            throw code == -ESHUTDOWN ? new RejectedExecutionException(error) : error;
        }
    }

    private static void perform(MemorySegment info) {
        callOut((Runnable) Native.forget(info));
    }

    private static void discard(MemorySegment info) {
        Native.forget(info);
    }

    // -- Items -----------------------------------------------------------------------------------------------------------

    /// Adds an item to the common modes, those declared so later included.
    public void add(Item item) {
        add(item, Mode.COMMON);
    }

    /// Adds an item to a mode. Nothing happens if it is there already. Fails with EINVAL if it is closed, EBUSY if it is a timer or an observer
    /// of another loop, EBADF or EPERM for a descriptor that can't be waited for, ESHUTDOWN, ENOSPC, ENOMEM.
    public void add(Item item, Mode mode) {
        int code = Native.call(item.kind.add(), pointer, item.item(), mode.pointer);
        Reference.reachabilityFence(item);
        Reference.reachabilityFence(this);
        Native.check("the item could not be added", code);
        item.enter(this);
    }

    /// Removes an item from a mode. Nothing happens if it isn't there.
    public void remove(Item item, Mode mode) {
        int code = Native.call(item.kind.remove(), pointer, item.item(), mode.pointer);
        Reference.reachabilityFence(item);
        Reference.reachabilityFence(this);
        Native.check("the item could not be removed", code);
    }

    /// Whether an item is in a mode.
    public boolean contains(Item item, Mode mode) {
        try {
            return Native.ask(item.kind.contains(), pointer, item.item(), mode.pointer);
        } finally {
            Reference.reachabilityFence(item);
            Reference.reachabilityFence(this);
        }
    }

    // -- Time ------------------------------------------------------------------------------------------------------------

    /// Saturated: what is too long is for ever.
    static long nanoseconds(Duration duration) {
        try {
            return duration.toNanos();
        } catch (ArithmeticException tooLong) {
            return duration.isNegative() ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
    }

    /// The date that is `delay` from now by the clock of the thread's loop.
    static long dateAfter(Duration delay) {
        long now, delayed;
        try {
            now = (long) NOW.invokeExact();
        } catch (Throwable error) {
            throw Native.impossible(error);
        }
        delayed = now + Math.max(0, nanoseconds(delay));
        return delayed < now ? Long.MAX_VALUE : delayed;
    }

    /// Looked up, so that a compiler of Java 17 accepts this file.
    private static final MethodHandle IS_VIRTUAL = isVirtual();

    private static MethodHandle isVirtual() {
        try {
            return MethodHandles.lookup().findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
        } catch (ReflectiveOperationException error) {
            throw new AssertionError(error);
        }
    }

    private static boolean isVirtual(Thread thread) {
        try {
            return (boolean) IS_VIRTUAL.invokeExact(thread);
        } catch (Throwable error) {
            throw Native.impossible(error);
        }
    }
}
