package runloop;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Random;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/// Several threads with loops do everything to one another for a number of seconds, and end while they do: `Stress SECONDS`. At the
/// end, C has no object of Java's left.
public class Stress {
    private static final int THREADS = 4;
    private static final AtomicReferenceArray<RunLoop> loops = new AtomicReferenceArray<>(THREADS);
    private static final AtomicLong ended = new AtomicLong(), posted = new AtomicLong(), rejected = new AtomicLong(),
                                    performed = new AtomicLong(), fired = new AtomicLong(), thrown = new AtomicLong();

    private static final class OnPurpose extends RuntimeException {
        private static final long serialVersionUID = 1;

        OnPurpose() {
            super("on purpose", null, false, false);
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        long end = System.nanoTime() + Duration.ofSeconds(Long.parseLong(arguments[0])).toNanos();
        Thread[] threads = new Thread[THREADS];
        boolean[] failed = {false};
        for (int i = 0; i < THREADS; i++) {
            int index = i;
            threads[i] = new Thread(() -> {
                for (long seed = index; System.nanoTime() < end && !failed[0]; seed += THREADS) {
                    Random random = new Random(seed);
                    Thread generation = RunLoop.thread("generation", () -> live(index, random));
                    generation.setUncaughtExceptionHandler((thread, error) -> {
                        error.printStackTrace();
                        failed[0] = true;
                    });
                    generation.start();
                    try {
                        generation.join();
                    } catch (InterruptedException error) {
                        throw new AssertionError(error);
                    }
                }
                loops.set(index, null);
            });
            threads[i].start();
        }
        for (Thread thread : threads)
            thread.join();
        long deadline = System.nanoTime() + Duration.ofMinutes(1).toNanos();
        while (Native.remembered() > 0 && System.nanoTime() < deadline)
            System.gc();
        System.out.println(ended + " loops, " + posted + " posts, " + rejected + " rejected, " + performed + " performed, " + fired
                           + " timers, " + thrown + " exceptions thrown by runs, " + Native.remembered() + " objects left");
        boolean all = performed.get() > 0 && fired.get() > 0 && thrown.get() > 0 && Native.remembered() == 0;
        System.exit(all && !failed[0] ? 0 : 1);
    }

    /// One loop: made, used by itself and by the others, and ended.
    private static void live(int index, Random random) {
        RunLoop loop = RunLoop.current();
        loops.set(index, loop);
        Source source = Source.signalled(() -> {});
        loop.add(source);
        loop.add(new Observer(EnumSet.allOf(Activity.class), 0, (own, activity) -> {}));
        Timer last = null;
        for (int step = 0; step < 200; step++) {
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> disturb(random, source);
                case 3 -> {
                    last = Timer.after(Duration.ofNanos(random.nextInt(500_000)), timer -> {
                        fired.incrementAndGet();
                        loop.run(Mode.DEFAULT, Duration.ZERO);
                    });
                    loop.add(last);
                }
                case 4 -> {
                    if (last != null)
                        last.close();
                }
                case 5 -> {
                    loop.execute(() -> {
                        throw new OnPurpose();
                    });
                    run(loop, Duration.ZERO);
                }
                default -> run(loop, Duration.ofNanos(random.nextInt(300_000)));
            }
        }
        ended.incrementAndGet(); // Its items are open: they end with it.
    }

    private static void run(RunLoop loop, Duration limit) {
        try {
            loop.run(Mode.DEFAULT, limit);
        } catch (OnPurpose error) {
            thrown.incrementAndGet();
        }
    }

    /// Uses any loop, which may be over by now.
    private static void disturb(Random random, Source source) {
        RunLoop other = loops.get(random.nextInt(THREADS));
        if (other == null)
            return;
        try {
            posted.incrementAndGet();
            other.execute(performed::incrementAndGet);
            other.add(source);
        } catch (RejectedExecutionException error) {
            rejected.incrementAndGet();
        } catch (RunLoopException error) {
            if (error.errno() != 108) // ESHUTDOWN
                throw error;
        }
        source.signal();
        other.wakeUp();
        other.stop();
    }
}
