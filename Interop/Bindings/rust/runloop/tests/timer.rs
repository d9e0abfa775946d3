//! Timers fire on their schedule, and end when they are dropped.

mod common;
use common::{in_process, on_thread, run, Trace, Visit, LONG};
use runloop::{Mode, RunResult, Timer, TimerConfig};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(5);

#[test]
fn fires_once_and_not_before_its_date() {
    on_thread(|run_loop| {
        let start = Instant::now();
        let fired = Rc::new(Cell::new(0));
        let count = fired.clone();
        let timer = Timer::once(SHORT, move |_| count.set(count.get() + 1)).unwrap();
        run_loop.add(&timer).unwrap();
        assert_eq!(run(&run_loop), RunResult::Finished);
        assert!(start.elapsed() >= SHORT);
        assert_eq!(fired.get(), 1);
        assert!(!timer.is_valid());
    });
}

#[test]
fn repeats_until_it_is_invalidated_in_its_own_call() {
    on_thread(|run_loop| {
        let trace = Trace::default();
        let calls = trace.clone();
        let mut left = 3;
        let timer = Timer::every(SHORT, move |timer| {
            calls.add(left.to_string());
            left -= 1;
            if left == 0 {
                timer.invalidate();
            }
        })
        .unwrap();
        run_loop.add(&timer).unwrap();
        assert_eq!(run(&run_loop), RunResult::Finished);
        assert_eq!(trace.text(), "3 2 1");
    });
}

#[test]
fn the_last_date_set_in_its_call_wins() {
    on_thread(|run_loop| {
        let mut left = 3;
        let config = TimerConfig { delay: SHORT, interval: Some(Duration::MAX), tolerance: SHORT, order: 0 };
        let timer = Timer::new(config, move |timer| {
            left -= 1;
            match left {
                0 => timer.invalidate(),
                _ => timer.fire_after(SHORT).unwrap(),
            }
        })
        .unwrap();
        run_loop.add(&timer).unwrap();
        assert_eq!(run(&run_loop), RunResult::Finished);
        assert_eq!(left, 3); // The closure has its own.
        assert_eq!(timer.set_fire_date(Instant::now()).unwrap_err().raw_os_error(), Some(22));
    });
}

#[test]
fn dates_are_instants() {
    on_thread(|run_loop| {
        let timer = Timer::once(LONG, |_| ()).unwrap();
        assert!(run_loop.next_fire_date(Mode::DEFAULT).is_none());
        run_loop.add(&timer).unwrap();
        let date = Instant::now() + LONG * 2;
        timer.set_fire_date(date).unwrap();
        for read in [timer.fire_date().unwrap(), run_loop.next_fire_date(Mode::DEFAULT).unwrap()] {
            let error = if read > date { read - date } else { date - read };
            assert!(error < LONG, "{:?}", error); // Two readings of a clock, however slow the machine.
        }
        timer.invalidate();
        assert!(timer.fire_date().is_none());
    });
}

#[test]
fn is_never_called_after_it_was_dropped() {
    on_thread(|run_loop| {
        let timer = Timer::once(Duration::ZERO, |_| panic!("it was dropped")).unwrap();
        run_loop.add(&timer).unwrap();
        drop(timer);
        assert!(run_loop.is_empty(Mode::DEFAULT));
        assert_eq!(run_loop.run().unwrap(), RunResult::Finished);
    });
}

#[test]
fn its_closure_is_dropped_after_the_call_that_drops_the_timer() {
    on_thread(|run_loop| {
        let held = Rc::new(());
        let weak = Rc::downgrade(&held);
        let slot: Rc<RefCell<Option<Timer>>> = Rc::default();
        let own = slot.clone();
        let timer = Timer::once(Duration::ZERO, move |_| {
            drop(own.borrow_mut().take());
            assert_eq!(Rc::strong_count(&held), 1);
        })
        .unwrap();
        run_loop.add(&timer).unwrap();
        *slot.borrow_mut() = Some(timer);
        run(&run_loop);
        assert!(weak.upgrade().is_none());
    });
}

#[test]
fn stays_with_its_loop_when_it_is_detached() {
    on_thread(|run_loop| {
        let trace = Trace::default();
        let calls = trace.clone();
        let timer = Timer::once(Duration::ZERO, move |_| calls.add("timer")).unwrap();
        run_loop.add(&timer).unwrap();
        timer.detach();
        let calls = trace.clone();
        run_loop.post_after(SHORT, move || calls.add("after")).unwrap();
        run(&run_loop);
        assert_eq!(trace.text(), "timer after");
    });
}

#[test]
fn a_closure_that_only_another_thread_could_drop_is_leaked() {
    let output = in_process("visited_when_its_thread_ends");
    assert!(output.status.success(), "{:?}", output);
}

#[test]
#[ignore = "in a process of its own"]
fn visited_when_its_thread_ends() {
    struct Witness;
    impl Drop for Witness {
        fn drop(&mut self) {
            std::process::abort();
        }
    }
    let visit = on_thread(|run_loop| {
        let witness = Witness;
        let timer = Timer::once(LONG, move |_| {
            let _ = &witness;
        })
        .unwrap();
        run_loop.add(&timer).unwrap();
        let visit = Visit::begin(&run_loop);
        timer.detach();
        visit
    });
    visit.end(); // The last reference to the C timer.
}

#[test]
fn an_interval_of_zero_is_refused() {
    let error = Timer::every(Duration::ZERO, |_| ()).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    assert_eq!(error.to_string(), "the timer could not be made: the interval is zero");
}

#[test]
fn is_in_the_modes_that_it_was_added_to() {
    on_thread(|run_loop| {
        let timer = Timer::once(LONG, |_| ()).unwrap();
        run_loop.add_in(&timer, Mode::TRACKING).unwrap();
        assert!(run_loop.contains(&timer, Mode::TRACKING) && !run_loop.contains(&timer, Mode::DEFAULT));
        run_loop.remove(&timer, Mode::TRACKING).unwrap();
        assert!(!run_loop.contains(&timer, Mode::TRACKING));
        timer.invalidate();
        assert_eq!(run_loop.add(&timer).unwrap_err().raw_os_error(), Some(22));
    });
}
