//! Sources perform once however often they were signalled, on the thread that made them.

mod common;
use common::{on_thread, run, Trace, LONG};
use runloop::{Mode, RunLoop, RunResult, Source};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::thread;

#[test]
fn signals_before_it_performs_are_one() {
    on_thread(|run_loop| {
        let trace = Trace::default();
        let calls = trace.clone();
        let source = Source::new(move || calls.add("performed")).unwrap();
        run_loop.add(&source).unwrap();
        source.signal();
        source.signal();
        assert_eq!(run_loop.run_once(Mode::DEFAULT, LONG).unwrap(), RunResult::HandledSource);
        assert_eq!(run_loop.run_for(Mode::DEFAULT, std::time::Duration::ZERO).unwrap(), RunResult::TimedOut);
        assert_eq!(trace.text(), "performed");
        source.invalidate();
        assert!(!source.is_valid());
        assert_eq!(run_loop.run().unwrap(), RunResult::Finished);
    });
}

#[test]
fn lower_orders_perform_first() {
    on_thread(|run_loop| {
        let trace = Trace::default();
        let sources: Vec<Source> = [2, 0, 1]
            .map(|order| {
                let calls = trace.clone();
                Source::with_order(order, move || calls.add(order.to_string())).unwrap()
            })
            .into();
        for source in &sources {
            run_loop.add(source).unwrap();
            source.signal();
        }
        run_loop.run_for(Mode::DEFAULT, std::time::Duration::ZERO).unwrap();
        assert_eq!(trace.text(), "0 1 2");
    });
}

#[test]
fn a_signaller_wakes_the_loop_from_any_thread() {
    on_thread(|run_loop| {
        let handle = run_loop.handle();
        let source = Source::new(move || handle.stop()).unwrap();
        run_loop.add(&source).unwrap();
        let signaller = source.signaller().unwrap();
        let other = run_loop.handle();
        let thread = thread::spawn(move || {
            while !other.is_waiting() {
                thread::yield_now();
            }
            signaller.clone().signal();
        });
        assert_eq!(run(&run_loop), RunResult::Stopped);
        thread.join().unwrap();
    });
}

/// Notes the thread that drops it.
struct Dropped(std::sync::mpsc::Sender<thread::ThreadId>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.send(thread::current().id()).unwrap();
    }
}

#[test]
fn its_closure_is_dropped_on_its_thread_whoever_has_a_signaller() {
    let (sender, dropped) = std::sync::mpsc::channel();
    let (signaller, owner) = on_thread(|run_loop| {
        let held = Dropped(sender);
        let source = Source::new(move || {
            let _ = &held;
        })
        .unwrap();
        run_loop.add(&source).unwrap();
        (source.signaller().unwrap(), thread::current().id())
    });
    assert_eq!(dropped.try_recv(), Ok(owner));
    signaller.signal(); // Nothing is left to signal.
}

#[test]
fn a_nested_run_leaves_another_signal_for_after_the_call() {
    on_thread(|run_loop| {
        let trace = Trace::default();
        let calls = trace.clone();
        let slot: Rc<RefCell<Option<Source>>> = Rc::default();
        let own = slot.clone();
        let mut count = 0;
        let source = Source::new(move || {
            count += 1;
            calls.add(format!("begin{}", count));
            if count == 1 {
                own.borrow().as_ref().unwrap().signal();
                let nested = RunLoop::current().unwrap().run_for(Mode::DEFAULT, std::time::Duration::ZERO);
                assert_eq!(nested.unwrap(), RunResult::TimedOut);
            } else {
                own.borrow().as_ref().unwrap().invalidate();
            }
            calls.add(format!("end{}", count));
        })
        .unwrap();
        run_loop.add(&source).unwrap();
        source.signal();
        *slot.borrow_mut() = Some(source);
        assert_eq!(run(&run_loop), RunResult::Finished);
        assert_eq!(trace.text(), "begin1 end1 begin2 end2");
        slot.borrow_mut().take();
    });
}

#[test]
fn may_be_dropped_in_its_own_call() {
    on_thread(|run_loop| {
        let slot: Rc<RefCell<Option<Source>>> = Rc::default();
        let (own, held) = (slot.clone(), Rc::new(Cell::new(0)));
        let seen = held.clone();
        let source = Source::new(move || {
            drop(own.borrow_mut().take());
            held.set(Rc::strong_count(&held)); // Still there.
        })
        .unwrap();
        let signaller = source.signaller().unwrap();
        run_loop.add(&source).unwrap();
        source.signal();
        *slot.borrow_mut() = Some(source);
        assert_eq!(run(&run_loop), RunResult::Finished);
        assert_eq!((seen.get(), Rc::strong_count(&seen)), (2, 1));
        drop(signaller);
    });
}
