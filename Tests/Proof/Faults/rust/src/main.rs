//! The scenarios of the binding to Rust.
#![deny(unsafe_op_in_unsafe_fn)] // As the crate does; older compilers take such blocks for superfluous otherwise.

mod allocator;
mod driver;
mod futures;
mod items;
mod linux;

use runloop::{Mode, RunLoop, Timer};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

extern "C" fn works() -> bool {
    let fires = || -> runloop::Result<bool> {
        let fired = Rc::new(Cell::new(false));
        let fires = fired.clone();
        let (run_loop, after) = (RunLoop::current()?, Mode::new("after")?);
        let timer = Timer::once(Duration::from_millis(1), move |_| fires.set(true))?;
        run_loop.add_in(&timer, after)?;
        run_loop.run_for(after, Duration::from_secs(10))?;
        Ok(fired.get())
    };
    let works = fires().unwrap_or(false);
    allocator::expect_no_more_blocks(|| {
        std::thread::sleep(Duration::from_millis(10));
        let _ = RunLoop::current().and_then(|run_loop| run_loop.run_for(Mode::DEFAULT, Duration::ZERO));
    });
    works
}

fn main() {
    let plan = driver::Plan {
        groups: &[&items::scenarios(), &futures::scenarios(), &linux::scenarios()],
        works,
        announced_ends: &[
            // A descriptor that a nested run has paused can't go on: a panic of the run, which DescriptorSource::new announces.
            "the descriptor's conditions could not be changed",
            // The waker of a spawned future can't post, which RunLoop::spawn announces.
            "memory allocation of",
            // Rust's own: each thread that it makes maps a stack for its handler of signals.
            "failed to allocate an alternative stack",
        ],
    };
    if !driver::try_all(&plan) {
        std::process::exit(1);
    }
}
