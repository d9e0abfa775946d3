use runloop::{RunLoop, Timer};
use std::time::Duration;

fn main() -> runloop::Result<()> {
    let run_loop = RunLoop::current()?;
    let mut ticks = 0;
    let timer = Timer::every(Duration::from_millis(10), move |timer| {
        ticks += 1;
        println!("tick {ticks}");
        if ticks == 3 {
            // Nothing is left that could happen: the run finishes.
            timer.invalidate();
        }
    })?;
    run_loop.add(&timer)?;
    let handle = run_loop.handle(); // for other threads
    let post = move || handle.post(|| println!("posted"));
    std::thread::spawn(post).join().unwrap()?;
    run_loop.run().map(drop)
}
