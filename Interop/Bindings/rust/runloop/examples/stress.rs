//! Several threads with loops do everything to one another for a number of seconds: `cargo run --example stress -- SECONDS`.
//!
//! Each thread counts what it was promised, such as work that must be performed or dropped exactly once, and checks it at the end.

use runloop::{
    sleep, Activity, DescriptorSource, Handle, Mode, Observer, Readiness, RunLoop, RunResult, Source, Timer,
};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const THREADS: usize = 4;

/// What all threads together have begun, and what has come of it.
#[derive(Default)]
struct Counts {
    posted: AtomicU64,
    dropped: AtomicU64,
    performed: AtomicU64,
    panics: AtomicU64,
    generations: AtomicU64,
}

/// Work that counts how it ended.
struct Work(Arc<Counts>);

impl Work {
    fn new(counts: &Arc<Counts>) -> Work {
        counts.posted.fetch_add(1, Ordering::Relaxed);
        Work(counts.clone())
    }

    fn perform(&self) {
        self.0.performed.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// Numbers that look random, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn main() {
    let seconds = std::env::args().nth(1).map_or(2, |text| text.parse().expect("SECONDS is a number"));
    let end = Instant::now() + Duration::from_secs(seconds);
    let counts = Arc::new(Counts::default());
    std::panic::set_hook(Box::new(|info| {
        // Panics are part of the test; others are shown.
        if info.payload().downcast_ref::<&str>() != Some(&"on purpose") {
            eprintln!("{}", info);
        }
    }));
    let handles: Vec<Arc<Mutex<Option<Handle>>>> = (0..THREADS).map(|_| Arc::default()).collect();
    let threads: Vec<_> = (0..THREADS)
        .map(|index| {
            let (handles, counts) = (handles.clone(), counts.clone());
            thread::spawn(move || {
                let mut seed = index as u64 + 1;
                while Instant::now() < end {
                    // Each generation of loops has a thread of its own, which ends while others use its handle.
                    let (handles, counts) = (handles.clone(), counts.clone());
                    seed += THREADS as u64;
                    let generation = thread::spawn(move || {
                        live(index, Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)), &handles, &counts)
                    });
                    generation.join().expect("a thread panicked");
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("a thread panicked");
    }
    let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
    println!(
        "{} loops, {} posts of which {} were performed, {} panics resumed",
        read(&counts.generations),
        read(&counts.posted),
        read(&counts.performed),
        read(&counts.panics)
    );
    assert_eq!(read(&counts.posted), read(&counts.dropped), "work was lost, or dropped twice");
    assert!(read(&counts.performed) > 0 && read(&counts.panics) > 0, "nothing happened");
}

/// One loop: made, used by itself and by the others, and ended.
fn live(index: usize, mut random: Random, handles: &[Arc<Mutex<Option<Handle>>>], counts: &Arc<Counts>) {
    let run_loop = RunLoop::current().expect("a loop");
    *handles[index].lock().unwrap() = Some(run_loop.handle());
    counts.generations.fetch_add(1, Ordering::Relaxed);

    let (ours, theirs) = UnixStream::pair().expect("sockets");
    ours.set_nonblocking(true).expect("a socket");
    let echo = DescriptorSource::new(ours, Readiness::READABLE, |source, _| {
        let mut bytes = [0; 16];
        while let Ok(1..) = source.get_ref().read(&mut bytes) {}
    })
    .expect("a source");
    run_loop.add(&echo).expect("added");
    let observed = counts.clone();
    let observer = Observer::new(Activity::ALL, move |_, _| drop(observed.clone())).expect("an observer");
    run_loop.add(&observer).expect("added");
    let source = Source::new(|| ()).expect("a source");
    run_loop.add(&source).expect("added");
    let signaller = source.signaller().expect("a signaller");

    let mut timers: Vec<Timer> = Vec::new();
    for _ in 0..200 {
        match random.below(10) {
            0..=2 => post(&handles[random.below(THREADS as u64) as usize], counts),
            3 => {
                let work = Work::new(counts);
                let timer = Timer::every(Duration::from_micros(1 + random.below(500)), move |timer| {
                    work.perform();
                    let nested = RunLoop::current().expect("a loop");
                    nested.run_for(Mode::DEFAULT, Duration::ZERO).expect("a run");
                    timer.invalidate();
                });
                timers.push(timer.expect("a timer"));
                run_loop.add(&timers[timers.len() - 1]).expect("added");
            }
            4 => drop(timers.pop()),
            5 => (&theirs).write_all(b"x").expect("written"),
            6 => {
                let signaller = signaller.clone();
                let other = handles[random.below(THREADS as u64) as usize].lock().unwrap().clone();
                if let Some(other) = other {
                    let _ = other.post(move || signaller.signal()); // Its loop may be over.
                }
            }
            7 => {
                let work = Work::new(counts);
                let future = async move {
                    sleep(Duration::from_micros(50)).await.expect("slept");
                    work.perform();
                };
                run_loop.spawn(future).expect("spawned");
            }
            8 => {
                run_loop.post(|| panic!("on purpose")).expect("posted");
                run(&run_loop, Duration::ZERO, counts);
            }
            _ => run(&run_loop, Duration::from_micros(random.below(300)), counts),
        }
    }
}

/// A run, and the panic that it may resume: not always that of the last post, before which the run may have been stopped.
fn run(run_loop: &RunLoop, limit: Duration, counts: &Counts) {
    match catch_unwind(AssertUnwindSafe(|| run_loop.run_for(Mode::DEFAULT, limit))) {
        Ok(result) => assert!(matches!(result, Ok(RunResult::TimedOut | RunResult::Stopped)), "{:?}", result),
        Err(_) => {
            counts.panics.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Work for a loop that may be over by now, and then a stop or a wake-up that it may not expect.
fn post(handle: &Mutex<Option<Handle>>, counts: &Arc<Counts>) {
    if let Some(handle) = handle.lock().unwrap().clone() {
        let work = Work::new(counts);
        let _ = handle.post(move || work.perform()); // An error drops it.
        handle.wake_up();
        handle.stop();
    }
}
