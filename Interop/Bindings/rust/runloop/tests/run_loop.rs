//! Runs, modes, observers, other threads, and the end of a thread.

mod common;
use common::{in_process, on_thread, run, Trace, LONG};
use runloop::{Activity, Handle, Mode, Observer, ObserverConfig, RunLoop, RunResult, Signaller, Timer};
use std::cell::RefCell;
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn handles_and_signallers_are_for_all_threads() {
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Handle>();
    is_send_and_sync::<Signaller>();
    is_send_and_sync::<Mode>();
    is_send_and_sync::<runloop::Error>();
}

#[test]
fn work_is_performed_in_the_order_of_its_posts() {
    on_thread(|run_loop| {
        let (sender, numbers) = std::sync::mpsc::channel();
        let handle = run_loop.handle();
        let thread = thread::spawn(move || {
            while !handle.is_waiting() {
                thread::yield_now(); // The first post must end a sleep.
            }
            for number in 0..1000 {
                let sender = sender.clone();
                handle.post(move || sender.send(number).unwrap()).unwrap();
            }
            let stopper = handle.clone();
            handle.post_in(Mode::DEFAULT, move || stopper.stop()).unwrap();
        });
        let keep = Timer::once(LONG * 2, |_| ()).unwrap();
        run_loop.add(&keep).unwrap();
        assert_eq!(run(&run_loop), RunResult::Stopped);
        thread.join().unwrap();
        assert!(numbers.try_iter().eq(0..1000));
    });
}

#[test]
fn stops_come_from_any_thread() {
    on_thread(|run_loop| {
        run_loop.stop(); // No run is active: nothing is remembered.
        run_loop.stop_latched();
        let keep = Timer::once(LONG * 2, |_| ()).unwrap();
        run_loop.add(&keep).unwrap();
        assert_eq!(run(&run_loop), RunResult::Stopped);
        run_loop.stop_mode(Mode::DEFAULT).unwrap();
        assert_eq!(run(&run_loop), RunResult::Stopped);
        assert_eq!(run_loop.stop_mode(Mode::COMMON).unwrap_err().raw_os_error(), Some(22));
        let handle = run_loop.handle();
        thread::scope(|scope| {
            scope.spawn(move || {
                while !handle.is_waiting() {
                    thread::yield_now();
                }
                handle.stop();
            });
            assert_eq!(run(&run_loop), RunResult::Stopped);
        });
    });
}

#[test]
fn limits_are_durations_and_instants() {
    on_thread(|run_loop| {
        let keep = Timer::once(LONG * 2, |_| ()).unwrap();
        run_loop.add(&keep).unwrap();
        let (start, limit) = (Instant::now(), Duration::from_millis(5));
        assert_eq!(run_loop.run_for(Mode::DEFAULT, limit).unwrap(), RunResult::TimedOut);
        assert!(start.elapsed() >= limit);
        assert_eq!(run_loop.run_until(Mode::DEFAULT, start + limit * 2).unwrap(), RunResult::TimedOut);
        assert!(start.elapsed() >= limit * 2);
        assert_eq!(run_loop.run_until(Mode::DEFAULT, start).unwrap(), RunResult::TimedOut);
        assert_eq!(run_loop.run_in(Mode::COMMON).unwrap(), RunResult::Finished);
    });
}

#[test]
fn a_nested_run_serves_its_own_mode() {
    on_thread(|run_loop| {
        let mode = Mode::new("nested").unwrap();
        let trace = Trace::default();
        let (outer, inner) = (trace.clone(), trace.clone());
        let own = run_loop.clone();
        run_loop
            .post(move || {
                outer.add(own.current_mode().unwrap().name());
                let steps = inner.clone();
                let handle = own.handle();
                let timer = Timer::once(Duration::ZERO, move |_| {
                    steps.add(RunLoop::current().unwrap().current_mode().unwrap().to_string());
                    handle.stop();
                })
                .unwrap();
                own.add_in(&timer, Mode::new("nested").unwrap()).unwrap();
                own.post_in(Mode::DEFAULT, move || inner.add("later")).unwrap();
                let keep = Timer::once(LONG, |_| ()).unwrap();
                own.add_in(&keep, Mode::new("nested").unwrap()).unwrap();
                assert_eq!(own.run_in(Mode::new("nested").unwrap()).unwrap(), RunResult::Stopped);
                outer.add("returned");
            })
            .unwrap();
        assert_eq!(run(&run_loop), RunResult::Finished);
        assert_eq!(trace.text(), "kCFRunLoopDefaultMode nested returned later");
        assert!(run_loop.current_mode().is_none() && run_loop.is_empty(mode));
    });
}

#[test]
fn common_items_are_in_every_common_mode() {
    on_thread(|run_loop| {
        let mode = Mode::new("modal").unwrap();
        let timer = Timer::once(LONG, |_| ()).unwrap();
        run_loop.add(&timer).unwrap();
        assert!(!run_loop.contains(&timer, mode));
        run_loop.add_common_mode(mode).unwrap();
        assert!(run_loop.contains(&timer, mode));
        assert!(run_loop.description().contains("modal"), "{}", run_loop.description());
    });
    assert_eq!(Mode::new("modal").unwrap(), Mode::new("modal").unwrap());
    assert_eq!(Mode::new("a\0b").unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
}

#[test]
fn observers_are_notified_of_a_run_from_entry_to_exit() {
    on_thread(|run_loop| {
        let trace = Trace::default();
        let notes = trace.clone();
        let observer =
            Observer::new(Activity::ALL, move |_, activity| notes.add(format!("{:?}", activity))).unwrap();
        let notes = trace.clone();
        let config = ObserverConfig { activities: Activity::ENTRY, order: -1, repeats: false };
        let once = Observer::with(config, move |_, _| notes.add("once")).unwrap();
        run_loop.add(&observer).unwrap();
        run_loop.add(&once).unwrap();
        let notes = trace.clone();
        run_loop.post_after(Duration::from_millis(1), move || notes.add("timer")).unwrap();
        assert_eq!(run(&run_loop), RunResult::Finished);
        assert_eq!(
            trace.text(),
            "once ENTRY BEFORE_TIMERS BEFORE_SOURCES BEFORE_WAITING AFTER_WAITING timer EXIT"
        );
        assert!(observer.is_valid() && !once.is_valid());
        observer.invalidate();
        assert!(!observer.is_valid());
    });
}

#[test]
fn a_handle_outlives_its_thread() {
    let handle = on_thread(|run_loop| run_loop.handle());
    assert_eq!(handle.post(|| panic!("nobody runs it")).unwrap_err().raw_os_error(), Some(108)); // ESHUTDOWN
    handle.stop();
    handle.stop_latched();
    handle.wake_up();
    assert!(!handle.is_waiting() && !handle.is_current());
    assert_eq!(handle.clone(), handle);
}

/// Says where it was dropped.
struct Witness(std::sync::mpsc::Sender<(&'static str, Option<String>)>, &'static str);

impl Drop for Witness {
    fn drop(&mut self) {
        self.0.send((self.1, thread::current().name().map(str::to_owned))).unwrap();
    }
}

#[test]
fn what_a_thread_leaves_is_dropped_there_while_rust_works() {
    let (sender, dropped) = std::sync::mpsc::channel();
    let thread = thread::Builder::new().name("ending".to_owned()).spawn(move || {
        let run_loop = RunLoop::current().unwrap();
        let work = Witness(sender.clone(), "work");
        run_loop.post(move || drop(work)).unwrap();
        let held = Witness(sender, "timer");
        let timer = Timer::once(LONG, move |_| {
            let _ = &held;
        })
        .unwrap();
        run_loop.add(&timer).unwrap();
        timer.detach();
    });
    thread.unwrap().join().unwrap();
    let mut all: Vec<_> = dropped.iter().collect();
    all.sort();
    let name = Some("ending".to_owned());
    assert_eq!(all, [("timer", name.clone()), ("work", name)]);
}

thread_local! {
    static LATE: RefCell<Option<Late>> = RefCell::new(None);
}

/// Asks for a loop when the thread's own has ended.
struct Late(std::sync::mpsc::Sender<Option<i32>>);

impl Drop for Late {
    fn drop(&mut self) {
        self.0.send(RunLoop::current().err().and_then(|error| error.raw_os_error())).unwrap();
    }
}

#[test]
fn a_thread_that_is_ending_gets_no_other_loop() {
    let (sender, answers) = std::sync::mpsc::channel();
    thread::spawn(move || {
        LATE.with(|late| *late.borrow_mut() = Some(Late(sender))); // Older than the loop, so it is dropped later.
        RunLoop::current().unwrap();
    })
    .join()
    .unwrap();
    assert_eq!(answers.recv().unwrap(), Some(108));
}

#[test]
fn a_loop_can_be_ended_before_its_thread() {
    on_thread(|run_loop| {
        let (sender, dropped) = std::sync::mpsc::channel();
        let work = Witness(sender.clone(), "work");
        run_loop.post(move || drop(work)).unwrap();
        let held = Witness(sender, "task");
        run_loop
            .spawn(async {
                let _held = held;
                std::future::pending::<()>().await;
            })
            .unwrap();
        let old = run_loop.clone();
        run_loop.end().unwrap();
        assert_eq!(dropped.try_iter().map(|(what, _)| what).collect::<Vec<_>>(), ["work", "task"]);
        assert_eq!(old.run().unwrap_err().raw_os_error(), Some(108));
        let new = RunLoop::current().unwrap();
        assert_ne!(old, new);
        let inner = new.clone();
        new.post(move || assert_eq!(inner.end().unwrap_err().raw_os_error(), Some(16))).unwrap();
        assert_eq!(run(&new), RunResult::Finished);
    });
}

#[test]
fn a_loop_that_cannot_be_made_is_an_error() {
    let output = in_process("without_descriptors");
    assert!(output.status.success(), "{:?}", output);
}

#[test]
#[ignore = "in a process of its own"]
fn without_descriptors() {
    extern "C" {
        fn setrlimit(resource: i32, limits: *const [u64; 2]) -> i32;
    }
    const NOFILE: i32 = 7;
    // SAFETY: the limits of a 64-bit Linux are two words.
    assert_eq!(unsafe { setrlimit(NOFILE, &[0, 4096]) }, 0);
    assert_eq!(RunLoop::current().unwrap_err().raw_os_error(), Some(24)); // EMFILE
    assert_eq!(unsafe { setrlimit(NOFILE, &[4096, 4096]) }, 0);
    let run_loop = RunLoop::current().unwrap();
    run_loop.post(|| ()).unwrap();
    assert_eq!(run(&run_loop), RunResult::Finished);
}
