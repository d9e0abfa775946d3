import java.time.Duration;
import runloop.*;

public class First {
    private static int ticks;

    public static void main(String[] arguments) throws InterruptedException {
        RunLoop loop = RunLoop.current();
        loop.add(Timer.every(Duration.ofMillis(10), timer -> {
            System.out.println("tick " + ++ticks);
            if (ticks == 3)
                timer.close(); // Nothing is left that could happen: the run finishes.
        }));
        Thread thread = new Thread(() -> loop.execute(() -> System.out.println("posted")));
        thread.start();
        thread.join();
        loop.run();
    }
}
