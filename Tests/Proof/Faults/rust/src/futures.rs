//! Futures on the thread's loop.
use crate::driver::{expect, own, run_until, scenarios, Failure, Outcome, PATIENCE};
use runloop::{ready, sleep, AsyncFd, Mode, Readiness, RunLoop, Sleep};
use std::cell::Cell;
use std::future::Future;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

scenarios! {
    "futures that sleep": futures_that_sleep,
    "a spawned future": a_spawned_future,
    "a descriptor in a future": a_descriptor_in_a_future,
    "a descriptor for many waits": a_descriptor_for_many_waits,
    "a future woken by another thread": a_future_woken_by_another_thread,
    "futures woken at once": futures_woken_at_once,
}

/// A future that may fail, for three seconds at most.
struct Within<F> {
    future: Pin<Box<F>>,
    limit: Sleep,
}

impl<F: Future<Output = Outcome>> Future for Within<F> {
    type Output = Outcome;
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        if let Poll::Ready(outcome) = self.future.as_mut().poll(context) {
            return Poll::Ready(outcome);
        }
        match Pin::new(&mut self.limit).poll(context) {
            Poll::Ready(slept) => Poll::Ready(slept.map_err(Failure::from).and(Err(Failure::Lost))),
            Poll::Pending => Poll::Pending,
        }
    }
}

pub fn block_on(future: impl Future<Output = Outcome>) -> Outcome {
    RunLoop::current()?.block_on(Within { future: Box::pin(future), limit: sleep(PATIENCE) })?
}

type Part<'a> = Pin<Box<dyn Future<Output = Outcome> + 'a>>;

/// Both futures, until one fails.
pub struct Both<'a>([Option<Part<'a>>; 2]);

pub fn both<'a>(
    one: impl Future<Output = Outcome> + 'a,
    other: impl Future<Output = Outcome> + 'a,
) -> Both<'a> {
    Both([Some(Box::pin(one)), Some(Box::pin(other))])
}

impl Future for Both<'_> {
    type Output = Outcome;
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        for part in &mut self.0 {
            match part.as_mut().map(|part| part.as_mut().poll(context)) {
                Some(Poll::Ready(Ok(()))) => *part = None,
                Some(Poll::Ready(failed)) => return Poll::Ready(failed),
                _ => (),
            }
        }
        if self.0.iter().all(Option::is_none) {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    }
}

fn futures_that_sleep() -> Outcome {
    let nap = || async { Ok(sleep(Duration::from_millis(1)).await?) };
    block_on(both(nap(), nap()))
}

fn a_spawned_future() -> Outcome {
    let told = Rc::new(Cell::new(None));
    let tells = told.clone();
    RunLoop::current()?.spawn(async move {
        let slept = sleep(Duration::from_millis(1)).await;
        tells.set(Some(slept));
    })?;
    block_on(async {
        loop {
            if let Some(slept) = told.take() {
                return Ok(slept?);
            }
            sleep(Duration::from_millis(1)).await?;
        }
    })
}

fn a_descriptor_in_a_future() -> Outcome {
    let (mut ours, mut theirs) = own(|| UnixStream::pair().expect("a pair of sockets"));
    let (one, other) = (
        async {
            ready(&theirs, Readiness::WRITABLE)?.await;
            own(|| theirs.write_all(b"a").expect("a socket that takes a byte"));
            Ok(())
        },
        async {
            let now = ready(&ours, Readiness::READABLE)?.await;
            expect(now.contains(Readiness::READABLE))?;
            expect(own(|| ours.read(&mut [0; 4]).expect("a socket that has a byte")) == 1)
        },
    );
    block_on(both(one, other))
}

fn a_descriptor_for_many_waits() -> Outcome {
    let (ours, mut theirs) = own(|| UnixStream::pair().expect("a pair of sockets"));
    let ours = AsyncFd::new(ours)?;
    block_on(async {
        for _ in 0..3 {
            ours.writable().await?;
            own(|| theirs.write_all(b"a").expect("a socket that takes a byte"));
            expect(ours.readable().await?.contains(Readiness::READABLE))?;
            expect(own(|| ours.get_ref().read(&mut [0; 4]).expect("a socket that has a byte")) == 1)?;
            // Writable, and nobody asks for that.
            sleep(Duration::from_millis(1)).await?;
        }
        Ok(())
    })
}

/// Ready when `set` was called, on any thread.
#[derive(Clone, Default)]
struct Flag(Arc<Mutex<(bool, Option<Waker>)>>);

impl Flag {
    fn set(&self) {
        let waker = {
            let mut state = self.0.lock().expect("a mutex of nobody who panics");
            state.0 = true;
            state.1.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }
}

impl Future for Flag {
    type Output = Outcome;
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let mut state = self.0.lock().expect("a mutex of nobody who panics");
        state.1 = Some(context.waker().clone());
        if state.0 {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    }
}

fn a_future_woken_by_another_thread() -> Outcome {
    let (root, spawned) = (Flag::default(), Flag::default());
    let (first, second, sets) = (root.clone(), spawned.clone(), spawned.clone());
    let run_loop = RunLoop::current()?;
    let handle = run_loop.handle();
    let thread = std::thread::Builder::new().spawn(move || {
        // Once the loop sleeps, or after a while.
        for _ in 0..20 {
            if !handle.is_waiting() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        sets.set();
    })?;
    let spawning = run_loop.spawn(async move {
        second.await.expect("a flag has no error");
        first.set();
    });
    let outcome = spawning.map_err(Failure::from).and_then(|()| block_on(root));
    thread.join().expect("a thread that does not panic");
    if outcome.is_err() {
        // What was spawned ends in a run of its own.
        run_loop.run_for(Mode::DEFAULT, Duration::from_millis(1))?;
    }
    outcome
}

/// Each was posted alone, and all wake-ups together need more memory than that.
fn futures_woken_at_once() -> Outcome {
    let run_loop = RunLoop::current()?;
    let (mut flags, ended) = (Vec::new(), Rc::new(Cell::new(0)));
    let all = 3000;
    let mut spawn = || -> Outcome {
        for _ in 0..all {
            let flag = Flag::default();
            let (waiting, ends) = (flag.clone(), ended.clone());
            flags.push(flag);
            run_loop.spawn(async move {
                let set = waiting.await;
                ends.set(ends.get() + i32::from(set.is_ok()));
            })?;
            run_loop.run_for(Mode::DEFAULT, Duration::ZERO)?;
        }
        Ok(())
    };
    let spawned = spawn();
    flags.iter().for_each(Flag::set);
    let run = run_until(&run_loop, Mode::DEFAULT, || ended.get() == flags.len() as i32);
    spawned?;
    run?;
    expect(ended.get() == all)
}
