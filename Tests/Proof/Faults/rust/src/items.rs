//! Timers, sources, observers, posts and runs.
use crate::driver::{expect, mode, own, run_until, scenarios, Outcome, PATIENCE};
use runloop::{
    Activity, DescriptorSource, Hosted, HostedRun, Mode, Observer, Readiness, RunLoop, RunResult, Source,
    Timer, TimerConfig,
};
use std::cell::{Cell, RefCell};
use std::io::Write;
use std::os::raw::{c_int, c_short, c_ulong};
use std::os::unix::io::AsRawFd;
use std::os::unix::net::UnixStream;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

scenarios! {
    "a timer": a_timer,
    "repeating timers": repeating_timers,
    "a signalled source": a_signalled_source,
    "a signaller of another thread": a_signaller_of_another_thread,
    "a descriptor": a_descriptor,
    "a descriptor and a nested run": a_descriptor_and_a_nested_run,
    "an observer": an_observer,
    "work of another thread": work_of_another_thread,
    "a loop on a thread of its own": a_loop_on_a_thread_of_its_own,
    "a nested run": a_nested_run,
    "a hosted run": a_hosted_run,
    "a panic of a closure": a_panic_of_a_closure,
}

const MOMENT: Duration = Duration::from_millis(1);

/// What closures count in, and the closure's share of it.
fn count() -> (Rc<Cell<u32>>, impl Fn() + Clone) {
    let count = Rc::new(Cell::new(0));
    let counted = count.clone();
    (count, move || counted.set(counted.get() + 1))
}

fn a_timer() -> Outcome {
    let (run_loop, mode) = (RunLoop::current()?, mode()?);
    let (fired, fires) = count();
    let timer = Timer::once(MOMENT, move |_| fires())?;
    run_loop.add_in(&timer, mode)?;
    run_until(&run_loop, mode, || fired.get() == 1)?;
    expect(fired.get() == 1 && !timer.is_valid() && !run_loop.contains(&timer, mode))
}

fn repeating_timers() -> Outcome {
    let (run_loop, mode) = (RunLoop::current()?, mode()?);
    let ((fired, fires), (moved, moves), (later, comes_later)) = (count(), count(), count());
    let config = TimerConfig { tolerance: MOMENT / 2, ..TimerConfig::every(MOMENT) };
    let first = Timer::new(config, move |_| fires())?;
    let second = Timer::every(Duration::from_secs(3600), move |_| moves())?;
    run_loop.add_common_mode(mode)?;
    run_loop.add(&first)?;
    run_loop.add_in(&second, mode)?;
    second.fire_after(Duration::ZERO)?;
    run_loop.post_after(MOMENT, comes_later)?;
    run_until(&run_loop, mode, || fired.get() >= 3 && moved.get() == 1 && later.get() == 1)?;
    expect(fired.get() >= 3 && moved.get() == 1 && later.get() == 1)
}

fn a_signalled_source() -> Outcome {
    let (run_loop, mode) = (RunLoop::current()?, mode()?);
    let (performed, performs) = count();
    let source = Source::new(performs)?;
    run_loop.add_common_mode(mode)?;
    run_loop.add(&source)?;
    source.signal();
    run_until(&run_loop, mode, || performed.get() == 1)?;
    expect(performed.get() == 1)
}

fn a_signaller_of_another_thread() -> Outcome {
    let (run_loop, mode) = (RunLoop::current()?, mode()?);
    let (performed, performs) = count();
    let source = Source::new(performs)?;
    run_loop.add_in(&source, mode)?;
    let signaller = source.signaller()?;
    let thread = std::thread::Builder::new().spawn(move || signaller.clone().signal())?;
    let outcome = run_until(&run_loop, mode, || performed.get() == 1);
    thread.join().expect("a thread that does not panic");
    outcome?;
    expect(performed.get() == 1)
}

fn pair() -> (UnixStream, UnixStream) {
    own(|| UnixStream::pair().expect("a pair of sockets"))
}

fn send(socket: &mut UnixStream) {
    own(|| socket.write_all(b"a").expect("a socket that takes a byte"));
}

fn a_descriptor() -> Outcome {
    let (run_loop, mode) = (RunLoop::current()?, mode()?);
    let (ours, mut theirs) = pair();
    let (ready, is_ready) = count();
    let source = DescriptorSource::new(ours, Readiness::READABLE, move |_, _| is_ready())?;
    run_loop.add_in(&source, mode)?;
    send(&mut theirs);
    run_until(&run_loop, mode, || ready.get() > 0)?;
    expect(ready.get() > 0)?;
    source.set_readiness(Readiness::NONE)?;
    ready.set(0);
    run_loop.run_for(mode, Duration::ZERO)?;
    expect(ready.get() == 0)?;
    source.set_readiness(Readiness::READABLE)?;
    run_until(&run_loop, mode, || ready.get() > 0)?;
    expect(ready.get() > 0)
}

/// The source is paused while its closure runs the loop, and called again after it.
fn a_descriptor_and_a_nested_run() -> Outcome {
    let (run_loop, mode) = (RunLoop::current()?, mode()?);
    let (ours, mut theirs) = pair();
    send(&mut theirs);
    let calls = Rc::new(Cell::new(0));
    let nested = Rc::new(Cell::new(Ok(())));
    let (called, outcome, inner) = (calls.clone(), nested.clone(), run_loop.clone());
    let source = DescriptorSource::new(ours, Readiness::READABLE, move |_, _| {
        called.set(called.get() + 1);
        if called.get() == 1 {
            outcome.set(
                inner
                    .run_for(mode, 2 * MOMENT)
                    .map(drop)
                    .map_err(Into::into)
                    .and_then(|()| expect(called.get() == 1)),
            );
        }
    })?;
    run_loop.add_in(&source, mode)?;
    run_until(&run_loop, mode, || calls.get() > 1)?;
    nested.replace(Ok(()))?;
    expect(calls.get() > 1)
}

fn an_observer() -> Outcome {
    let (run_loop, mode) = (RunLoop::current()?, mode()?);
    let seen = Rc::new(Cell::new((false, false)));
    let sees = seen.clone();
    let observer = Observer::new(Activity::ALL, move |_, now| {
        let (entry, exit) = sees.get();
        sees.set((entry || now == Activity::ENTRY, exit || now == Activity::EXIT));
    })?;
    run_loop.add_in(&observer, mode)?;
    let (fired, fires) = count();
    let timer = Timer::once(MOMENT, move |_| fires())?;
    run_loop.add_in(&timer, mode)?;
    run_until(&run_loop, mode, || fired.get() == 1)?;
    expect(fired.get() == 1 && seen.get() == (true, true))
}

fn work_of_another_thread() -> Outcome {
    let (run_loop, mode) = (RunLoop::current()?, mode()?);
    let order = Arc::new(AtomicU32::new(0));
    let (handle, performed) = (run_loop.handle(), order.clone());
    let thread = std::thread::Builder::new().spawn(move || {
        (1..=2).try_for_each(|number| {
            let performed = performed.clone();
            handle.post_in(mode, move || {
                performed.store(10 * performed.load(Ordering::Relaxed) + number, Ordering::Relaxed)
            })
        })
    })?;
    let end = Instant::now() + PATIENCE;
    while !thread.is_finished() && Instant::now() < end {
        std::thread::sleep(MOMENT);
    }
    thread.join().expect("a thread that does not panic")?;
    run_until(&run_loop, mode, || order.load(Ordering::Relaxed) == 12)?;
    expect(order.load(Ordering::Relaxed) == 12)
}

/// What is left in it is dropped with it.
fn a_loop_on_a_thread_of_its_own() -> Outcome {
    let thread = std::thread::Builder::new().spawn(|| {
        let (run_loop, mode, never) = (RunLoop::current()?, mode()?, Mode::new("never run")?);
        let (fired, fires) = count();
        let other = fired.clone();
        let timer = Timer::every(MOMENT, move |_| fires())?;
        run_loop.add_in(&timer, mode)?;
        timer.detach();
        run_loop.post_in(never, move || other.set(0))?;
        run_until(&run_loop, mode, || fired.get() > 0)?;
        expect(fired.get() > 0)
    })?;
    thread.join().expect("a thread that does not panic")
}

fn a_nested_run() -> Outcome {
    let (run_loop, mode, inner) = (RunLoop::current()?, mode()?, Mode::new("inner")?);
    let sources = [Source::new(|| ())?, Source::new(|| ())?];
    run_loop.add_in(&sources[0], mode)?;
    run_loop.add_in(&sources[1], inner)?;
    let order = Rc::new(RefCell::new(String::new()));
    let nested = Rc::new(Cell::new(Ok(())));
    let (noted, outcome, nesting) = (order.clone(), nested.clone(), run_loop.clone());
    run_loop.post_in(mode, move || {
        let run = || -> Outcome {
            let (noted, stopping) = (noted.clone(), nesting.clone());
            nesting.post_in(inner, move || {
                noted.borrow_mut().push_str("inner ");
                stopping.stop();
            })?;
            expect(nesting.run_for(inner, PATIENCE)? == RunResult::Stopped)
        };
        outcome.set(run());
        noted.borrow_mut().push_str("outer");
        nesting.stop();
    })?;
    run_loop.run_for(mode, PATIENCE)?;
    nested.replace(Ok(()))?;
    let expected = *order.borrow() == "inner outer";
    expect(expected)
}

/// Waits for the descriptor as a host does.
fn wait(descriptor: c_int) {
    #[repr(C)]
    struct PollDescriptor(c_int, c_short, c_short);
    extern "C" {
        fn poll(descriptors: *mut PollDescriptor, count: c_ulong, timeout_ms: c_int) -> c_int;
    }
    // SAFETY: one descriptor.
    unsafe { poll(&mut PollDescriptor(descriptor, 1, 0), 1, 20) };
}

fn a_hosted_run() -> Outcome {
    let (run_loop, mode) = (RunLoop::current()?, mode()?);
    let (fired, fires) = count();
    let timer = Timer::every(MOMENT, move |_| fires())?;
    run_loop.add_in(&timer, mode)?;
    let descriptor = HostedRun::descriptor()?.as_raw_fd();
    let mut hosted = HostedRun::begin(mode)?;
    let end = Instant::now() + PATIENCE;
    while fired.get() < 2 && Instant::now() < end {
        wait(descriptor);
        expect(!matches!(hosted.iterate(PATIENCE)?, Hosted::Ended(_)))?;
    }
    expect(fired.get() >= 2)
}

fn a_panic_of_a_closure() -> Outcome {
    let (run_loop, mode) = (RunLoop::current()?, mode()?);
    // Without the message that a hook would print.
    let timer = Timer::once(MOMENT, |_| std::panic::resume_unwind(Box::new(7)))?;
    run_loop.add_in(&timer, mode)?;
    match catch_unwind(AssertUnwindSafe(|| run_until(&run_loop, mode, || !timer.is_valid()))) {
        Ok(outcome) => outcome.and_then(|()| expect(false)),
        Err(payload) => expect(payload.downcast_ref() == Some(&7)),
    }
}
