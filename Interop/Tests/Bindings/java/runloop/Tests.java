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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/// The tests of the binding: each on a thread of its own, whose loop it gets.
public class Tests {
    /// Far longer than anything takes: a limit that is reached only by a test that fails.
    private static final Duration LONG = Duration.ofMinutes(1), SHORT = Duration.ofMillis(5);
    private static int passed, failed;

    private interface Body {
        void run(RunLoop loop) throws Exception;
    }

    private static void test(String name, Body body) throws InterruptedException {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread = RunLoop.thread(name, () -> {
            try {
                body.run(RunLoop.current());
            } catch (Throwable error) {
                thrown.set(error);
            }
        });
        thread.start();
        thread.join();
        if (thrown.get() == null && !nothingIsLeft())
            thrown.set(new AssertionError(Native.remembered() + " objects are left"));
        if (thrown.get() == null) {
            passed += 1;
            System.out.println("ok " + name);
        } else {
            failed += 1;
            System.out.println("FAILED " + name);
            thrown.get().printStackTrace(System.out);
        }
    }

    /// Whether C gives up all objects of Java, for which some must be collected first.
    private static boolean nothingIsLeft() throws InterruptedException {
        long deadline = System.nanoTime() + LONG.toNanos();
        while (Native.remembered() > 0 && System.nanoTime() < deadline) {
            System.gc();
            Thread.yield();
        }
        return Native.remembered() == 0;
    }

    private static void check(boolean condition, Object told) {
        if (!condition)
            throw new AssertionError(told);
    }

    private static void equal(Object one, Object other) {
        check(one.equals(other), one + " is not " + other);
    }

    private static RuntimeException thrownBy(Runnable body) {
        try {
            body.run();
        } catch (RuntimeException error) {
            return error;
        }
        throw new AssertionError("nothing was thrown");
    }

    private static void awaitSleep(RunLoop loop) {
        while (!loop.isWaiting())
            Thread.onSpinWait();
    }

    public static void main(String[] arguments) throws Exception {
        timers();
        otherThreads();
        descriptors();
        runs();
        exceptions();
        ends();
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed == 0 && passed > 0 ? 0 : 1);
    }

    private static void timers() throws InterruptedException {
        test("a timer fires once, not before its date", loop -> {
            long start = System.nanoTime();
            List<String> trace = new ArrayList<>();
            Timer timer = Timer.after(SHORT, fired -> trace.add("fired"));
            loop.add(timer);
            equal(loop.run(Mode.DEFAULT, LONG), RunResult.FINISHED);
            check(System.nanoTime() - start >= SHORT.toNanos(), "too early");
            equal(trace, List.of("fired"));
            check(!timer.isValid(), "it is over");
            equal(loop.items.size(), 0);
        });
        test("a timer repeats until it is closed in its own call", loop -> {
            int[] left = {3};
            loop.add(Timer.every(SHORT, timer -> {
                left[0] -= 1;
                if (left[0] == 0)
                    timer.close();
                else
                    timer.fireAfter(Duration.ZERO);
            }));
            equal(loop.run(Mode.DEFAULT, LONG), RunResult.FINISHED);
            equal(left[0], 0);
        });
        test("what can't be is refused", loop -> {
            equal(thrownBy(() -> Timer.every(Duration.ZERO, timer -> {})).getClass(), IllegalArgumentException.class);
            Timer timer = Timer.after(LONG, fired -> {});
            timer.close();
            timer.close();
            RunLoopException error = (RunLoopException) thrownBy(() -> loop.add(timer));
            equal(error.errno(), 22);
            equal(error.getMessage(), "the item could not be added: EINVAL: an argument or an invalid item");
            equal(((RunLoopException) thrownBy(() -> timer.fireAfter(SHORT))).errno(), 22);
            equal(((RunLoopException) thrownBy(() -> Source.of(0, Set.of(), (source, ready) -> {}))).errno(), 22);
        });
        test("durations saturate", loop -> {
            Timer timer = Timer.after(Duration.ofSeconds(Long.MAX_VALUE), fired -> {});
            loop.add(timer);
            equal(loop.run(Mode.DEFAULT, SHORT), RunResult.TIMED_OUT);
            timer.close();
        });
    }

    private static void otherThreads() throws InterruptedException {
        test("posts of another thread are performed in order, and end a sleep", loop -> {
            Timer keep = Timer.after(LONG.multipliedBy(2), fired -> {});
            loop.add(keep);
            List<Integer> numbers = new ArrayList<>();
            Thread thread = new Thread(() -> {
                awaitSleep(loop);
                for (int number = 0; number < 1000; number++) {
                    int posted = number;
                    loop.execute(() -> numbers.add(posted));
                }
                loop.execute(loop::stop);
            });
            thread.start();
            equal(loop.run(Mode.DEFAULT, LONG), RunResult.STOPPED);
            thread.join();
            equal(numbers.size(), 1000);
            for (int number = 0; number < 1000; number++)
                equal(numbers.get(number), number);
            keep.close();
        });
        test("a loop is an executor of futures", loop -> {
            Timer keep = Timer.after(LONG.multipliedBy(2), fired -> {});
            loop.add(keep);
            Thread own = Thread.currentThread();
            CompletableFuture<Thread> where = CompletableFuture.supplyAsync(() -> 1).thenApplyAsync(one -> Thread.currentThread(), loop);
            where.thenRun(loop::stop);
            equal(loop.run(Mode.DEFAULT, LONG), RunResult.STOPPED);
            equal(where.join(), own);
            keep.close();
        });
        test("a source is signalled by another thread, once for several signals", loop -> {
            AtomicInteger count = new AtomicInteger();
            Source source = Source.signalled(count::incrementAndGet);
            loop.add(source);
            Thread thread = new Thread(() -> {
                source.signal();
                source.signal();
                loop.wakeUp();
            });
            thread.start();
            thread.join();
            equal(loop.runOnce(Mode.DEFAULT, LONG), RunResult.HANDLED_SOURCE);
            equal(loop.run(Mode.DEFAULT, Duration.ZERO), RunResult.TIMED_OUT);
            equal(count.get(), 1);
            source.close();
            equal(loop.run(), RunResult.FINISHED);
            equal(loop.items.size(), 0);
        });
        test("stops come from any thread", loop -> {
            Timer keep = Timer.after(LONG.multipliedBy(2), fired -> {});
            loop.add(keep);
            loop.stop(); // No run is active: nothing is remembered.
            loop.stopLatched();
            equal(loop.run(Mode.DEFAULT, LONG), RunResult.STOPPED);
            Thread thread = new Thread(() -> {
                awaitSleep(loop);
                loop.stop();
            });
            thread.start();
            equal(loop.run(Mode.DEFAULT, LONG), RunResult.STOPPED);
            thread.join();
            keep.close();
        });
        test("another thread can't run it", loop -> {
            AtomicReference<RuntimeException> thrown = new AtomicReference<>();
            Thread thread = new Thread(() -> thrown.set(thrownBy(loop::run)));
            thread.start();
            thread.join();
            equal(thrown.get().getClass(), IllegalStateException.class);
        });
    }

    private static final Linker LINKER = Linker.nativeLinker();

    private static MethodHandle libc(String name, FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(LINKER.defaultLookup().find(name).orElseThrow(), descriptor);
    }

    private static final MethodHandle
        PIPE = libc("pipe", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS)),
        READ = libc("read", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG)),
        WRITE = libc("write", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG)),
        CLOSE = libc("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

    /// A pipe, as Java has no descriptors.
    private record Pipe(int reader, int writer) {
        static Pipe open() {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment ends = arena.allocate(8);
                equal((int) PIPE.invokeExact(ends), 0);
                return new Pipe(ends.get(ValueLayout.JAVA_INT, 0), ends.get(ValueLayout.JAVA_INT, 4));
            } catch (Throwable error) {
                throw new AssertionError(error);
            }
        }

        long transfer(boolean writes) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment bytes = arena.allocateFrom("x");
                return writes ? (long) WRITE.invokeExact(writer, bytes, 1L) : (long) READ.invokeExact(reader, bytes, 1L);
            } catch (Throwable error) {
                throw new AssertionError(error);
            }
        }

        void close(int end) {
            try {
                equal((int) CLOSE.invokeExact(end), 0);
            } catch (Throwable error) {
                throw new AssertionError(error);
            }
        }
    }

    private static void descriptors() throws InterruptedException {
        test("a descriptor is read until its end", loop -> {
            Pipe pipe = Pipe.open();
            AtomicInteger bytes = new AtomicInteger();
            loop.add(Source.of(pipe.reader, EnumSet.of(Readiness.READABLE), (source, ready) -> {
                check(ready.contains(Readiness.READABLE) || ready.contains(Readiness.HANG_UP), ready);
                if (pipe.transfer(false) == 0)
                    source.close();
                else
                    bytes.incrementAndGet();
            }));
            Thread thread = new Thread(() -> {
                for (int i = 0; i < 100; i++)
                    pipe.transfer(true);
                pipe.close(pipe.writer);
            });
            thread.start();
            equal(loop.run(Mode.DEFAULT, LONG), RunResult.FINISHED);
            thread.join();
            equal(bytes.get(), 100);
            pipe.close(pipe.reader);
        });
        test("a descriptor's source is paused without conditions", loop -> {
            Pipe pipe = Pipe.open();
            AtomicInteger calls = new AtomicInteger();
            Source source = Source.of(pipe.writer, EnumSet.of(Readiness.WRITABLE), (own, ready) -> {
                calls.incrementAndGet();
                own.setReadiness(Set.of());
            });
            loop.add(source);
            equal(loop.run(Mode.DEFAULT, SHORT), RunResult.TIMED_OUT);
            equal(calls.get(), 1);
            source.setReadiness(EnumSet.of(Readiness.WRITABLE));
            equal(loop.runOnce(Mode.DEFAULT, LONG), RunResult.HANDLED_SOURCE);
            equal(calls.get(), 2);
            source.close();
            pipe.close(pipe.reader);
            pipe.close(pipe.writer);
        });
        test("a closed descriptor is refused", loop -> {
            Pipe pipe = Pipe.open();
            pipe.close(pipe.reader);
            pipe.close(pipe.writer);
            try (Source source = Source.of(100_000, EnumSet.of(Readiness.READABLE), (own, ready) -> {})) {
                equal(((RunLoopException) thrownBy(() -> loop.add(source))).errno(), 9);
            }
        });
    }

    private static void runs() throws InterruptedException {
        test("an observer is notified of a run from entry to exit", loop -> {
            List<String> trace = new ArrayList<>();
            Observer observer = new Observer(EnumSet.allOf(Activity.class), 0, (own, activity) -> trace.add(activity.toString()));
            loop.add(observer);
            loop.add(Timer.after(SHORT, fired -> trace.add("timer")));
            equal(loop.run(Mode.DEFAULT, LONG), RunResult.FINISHED);
            equal(String.join(" ", trace), "ENTRY BEFORE_TIMERS BEFORE_SOURCES BEFORE_WAITING AFTER_WAITING timer EXIT");
            observer.close();
        });
        test("a nested run serves its own mode", loop -> {
            Mode nested = Mode.of("nested");
            equal(nested, Mode.of("nested"));
            List<String> trace = new ArrayList<>();
            loop.execute(() -> {
                trace.add(loop.currentMode().toString());
                loop.post(Mode.DEFAULT, () -> trace.add("later"));
                Timer keep = Timer.after(LONG.multipliedBy(2), fired -> {});
                loop.add(keep, nested);
                check(loop.contains(keep, nested) && !loop.contains(keep, Mode.DEFAULT), "modes");
                loop.add(Timer.after(Duration.ZERO, fired -> {
                    trace.add(loop.currentMode().toString());
                    loop.stop();
                }), nested);
                equal(loop.run(nested, LONG), RunResult.STOPPED);
                loop.remove(keep, nested);
                keep.close();
                trace.add("returned");
            });
            equal(loop.run(Mode.DEFAULT, LONG), RunResult.FINISHED);
            equal(String.join(" ", trace), "kCFRunLoopDefaultMode nested returned later");
            check(loop.currentMode() == null, "no run is active");
        });
        test("a virtual thread has no loop", loop -> {
            AtomicReference<RuntimeException> thrown = new AtomicReference<>();
            Thread thread;
            try {
                thread = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
                    .invoke(null, (Runnable) () -> thrown.set(thrownBy(RunLoop::current)));
            } catch (ReflectiveOperationException error) {
                throw new AssertionError(error);
            }
            thread.join();
            equal(thrown.get().getMessage(), "a virtual thread has no run loop");
        });
    }

    private static void exceptions() throws InterruptedException {
        test("what a callback throws, the run throws, and the loop works on", loop -> {
            loop.execute(() -> {
                throw new IllegalArgumentException("first");
            });
            loop.execute(() -> {
                throw new IllegalArgumentException("second");
            });
            RuntimeException thrown = thrownBy(loop::run);
            equal(thrown.getMessage(), "first");
            equal(thrown.getSuppressed()[0].getMessage(), "second");
            loop.add(Timer.after(Duration.ZERO, fired -> {
                throw new IllegalStateException("timer");
            }));
            equal(thrownBy(loop::run).getMessage(), "timer");
            loop.add(Timer.after(SHORT, fired -> {}));
            equal(loop.run(Mode.DEFAULT, LONG), RunResult.FINISHED);
        });
        test("the run ends with the iteration in which something was thrown", loop -> {
            int[] ticks = {0};
            loop.add(Timer.every(Duration.ofMillis(1), timer -> {
                ticks[0] += 1;
                if (ticks[0] == 1)
                    throw new IllegalStateException("the first tick");
                if (ticks[0] == 100)
                    timer.close();
            }));
            equal(thrownBy(loop::run).getMessage(), "the first tick");
            equal(ticks[0], 1);
        });
        test("nested runs pass it on", loop -> {
            loop.execute(() -> {
                loop.execute(() -> {
                    throw new IllegalArgumentException("inner");
                });
                equal(thrownBy(loop::run).getMessage(), "inner");
                loop.execute(() -> {
                    throw new IllegalArgumentException("again");
                });
                loop.run();
                throw new AssertionError("the run has thrown");
            });
            equal(thrownBy(loop::run).getMessage(), "again");
        });
        test("a nested run leaves alone what the run around it is to throw", loop -> {
            loop.execute(() -> {
                throw new IllegalArgumentException("outer");
            });
            List<String> trace = new ArrayList<>();
            loop.execute(() -> {
                loop.execute(() -> trace.add("performed"));
                loop.run(Mode.DEFAULT, Duration.ZERO);
                trace.add("returned");
            });
            equal(thrownBy(loop::run).getMessage(), "outer");
            equal(String.join(" ", trace), "performed returned");
        });
    }

    private static void ends() throws InterruptedException {
        test("what a loop leaves is dropped with it, and later posts are rejected", loop -> {
            AtomicReference<RunLoop> held = new AtomicReference<>();
            Thread thread = RunLoop.thread("short", () -> {
                RunLoop own = RunLoop.current();
                held.set(own);
                own.execute(() -> check(false, "nobody runs it"));
                own.add(Timer.after(LONG, fired -> {}));
                loop.post(Mode.DEFAULT, () -> equal(thrownBy(() -> own.execute(() -> {})).getClass(), RejectedExecutionException.class));
            });
            thread.start();
            thread.join();
            equal(loop.run(Mode.DEFAULT, LONG), RunResult.FINISHED);
            check(nothingIsLeft(), "a loop that is over keeps items");
            check(!held.get().isWaiting(), "it is over");
        });
        test("a thread may get another loop", loop -> {
            loop.execute(() -> equal(((RunLoopException) thrownBy(RunLoop::endCurrent)).errno(), 16));
            equal(loop.run(), RunResult.FINISHED);
            RunLoop.endCurrent();
            equal(thrownBy(loop::run).getClass(), IllegalStateException.class);
            check(RunLoop.current() != loop && RunLoop.current().isCurrent(), "another loop");
        });
        test("a thread that forgets to end its loop harms nobody", loop -> {
            Thread thread = new Thread(() -> {
                RunLoop.current().execute(() -> {});
                RunLoop.current().add(Timer.after(LONG, fired -> {}));
            });
            thread.start();
            thread.join();
        });
    }
}
