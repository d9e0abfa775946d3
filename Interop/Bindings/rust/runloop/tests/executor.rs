//! Futures on a loop.

mod common;
use common::{in_process, on_thread, run, Trace, LONG};
use runloop::{ready, sleep, Mode, Readiness, RunLoop, RunResult, Timer};
use std::cell::Cell;
use std::future::Future;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// Ready when `set` was called, on any thread.
#[derive(Clone, Default)]
struct Flag(Arc<Mutex<(bool, Option<Waker>)>>);

impl Flag {
    fn set(&self) {
        let waker = {
            let mut state = self.0.lock().unwrap();
            state.0 = true;
            state.1.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }
}

impl Future for Flag {
    type Output = ();
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.lock().unwrap();
        state.1 = Some(context.waker().clone());
        if state.0 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

#[test]
fn block_on_returns_what_the_future_does_and_it_may_borrow() {
    on_thread(|run_loop| {
        let text = String::from("borrowed");
        let start = Instant::now();
        let length = run_loop.block_on(async {
            sleep(Duration::from_millis(5)).await.unwrap();
            text.len()
        });
        assert_eq!(length.unwrap(), text.len());
        assert!(start.elapsed() >= Duration::from_millis(5));
    });
}

#[test]
fn other_threads_wake_futures() {
    on_thread(|run_loop| {
        let (root, spawned) = (Flag::default(), Flag::default());
        let (first, second) = (root.clone(), spawned.clone());
        run_loop
            .spawn(async move {
                second.await;
                first.set();
            })
            .unwrap();
        let handle = run_loop.handle();
        let thread = std::thread::spawn(move || {
            while !handle.is_waiting() {
                std::thread::yield_now();
            }
            spawned.set();
        });
        run_loop.block_on(root).unwrap();
        thread.join().unwrap();
    });
}

#[test]
fn tasks_talk_over_a_socket() {
    on_thread(|run_loop| {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        run_loop
            .spawn(async move {
                for number in 0..100u8 {
                    ready(&theirs, Readiness::READABLE).unwrap().await;
                    let mut byte = [0];
                    theirs.read_exact(&mut byte).unwrap();
                    assert_eq!(byte[0], number);
                    theirs.write_all(&[number + 1]).unwrap();
                }
            })
            .unwrap();
        run_loop
            .block_on(async {
                for number in 0..100u8 {
                    ours.write_all(&[number]).unwrap();
                    assert!(ready(&ours, Readiness::READABLE).unwrap().await.contains(Readiness::READABLE));
                    let mut byte = [0];
                    ours.read_exact(&mut byte).unwrap();
                    assert_eq!(byte[0], number + 1);
                }
            })
            .unwrap();
    });
}

#[test]
fn a_wait_inside_a_wait_wakes_both() {
    on_thread(|run_loop| {
        let (outer, inner) = (Flag::default(), Flag::default());
        let (set_outer, set_inner, wait_inner) = (outer.clone(), inner.clone(), inner);
        let trace = Trace::default();
        let steps = trace.clone();
        run_loop
            .post(move || {
                set_outer.set(); // Its poll must wait for the wait inside.
                let nested = RunLoop::current().unwrap();
                nested.post_after(Duration::from_millis(5), move || set_inner.set()).unwrap();
                nested.block_on(wait_inner).unwrap();
                steps.add("inner");
            })
            .unwrap();
        run_loop.block_on(outer).unwrap();
        trace.add("outer");
        assert_eq!(trace.text(), "inner outer");
    });
}

#[test]
fn a_wake_up_leaves_nested_runs_alone() {
    on_thread(|run_loop| {
        let flag = Flag::default();
        let set = flag.clone();
        run_loop
            .post(move || {
                set.set();
                let nested = RunLoop::current().unwrap();
                nested.post_after(Duration::from_millis(1), || ()).unwrap();
                let limit = Duration::from_millis(20);
                assert_eq!(nested.run_for(Mode::DEFAULT, limit).unwrap(), RunResult::TimedOut);
            })
            .unwrap();
        run_loop.block_on(flag).unwrap();
    });
}

/// Ready at its third poll. Wakes itself before, and runs the loop, which finds the task woken, but not there.
struct Nests(Rc<Cell<u32>>);

impl Future for Nests {
    type Output = ();
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.0.set(self.0.get() + 1);
        if self.0.get() == 3 {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        assert_eq!(RunLoop::current().unwrap().run().unwrap(), RunResult::Finished);
        Poll::Pending
    }
}

#[test]
fn a_task_that_is_woken_while_it_runs_is_polled_again() {
    on_thread(|run_loop| {
        let polls = Rc::new(Cell::new(0));
        let count = polls.clone();
        run_loop.spawn(Nests(count)).unwrap();
        assert_eq!(run(&run_loop), RunResult::Finished);
        assert_eq!(polls.get(), 3);
    });
}

#[test]
fn a_stop_interrupts_a_wait() {
    on_thread(|run_loop| {
        let handle = run_loop.handle();
        let timer = Timer::once(Duration::from_millis(1), move |_| handle.stop()).unwrap();
        run_loop.add(&timer).unwrap();
        let error = run_loop.block_on(sleep(LONG)).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::Interrupted);
    });
}

#[test]
fn a_panic_of_a_task_goes_on_in_block_on_and_drops_the_task() {
    on_thread(|run_loop| {
        let held = Rc::new(());
        let weak = Rc::downgrade(&held);
        run_loop
            .spawn(async move {
                let _held = held;
                sleep(Duration::ZERO).await.unwrap();
                panic!("task");
            })
            .unwrap();
        let wait = std::panic::AssertUnwindSafe(|| run_loop.block_on(sleep(LONG)));
        let panic = std::panic::catch_unwind(wait).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"task"));
        assert!(weak.upgrade().is_none());
        run_loop.block_on(sleep(Duration::ZERO)).unwrap().unwrap();
    });
}

#[test]
fn tasks_that_never_end_are_dropped_with_their_thread() {
    struct Witness(std::sync::mpsc::Sender<()>);
    impl Drop for Witness {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
        }
    }
    let (sender, dropped) = std::sync::mpsc::channel();
    let flag = Flag::default();
    let waited = flag.clone();
    on_thread(move |run_loop| {
        let witness = Witness(sender);
        run_loop
            .spawn(async move {
                let _witness = witness;
                waited.await;
            })
            .unwrap();
        run_loop.block_on(sleep(Duration::from_millis(1))).unwrap().unwrap();
    });
    assert_eq!(dropped.iter().count(), 1);
    flag.set(); // The waker outlives the loop.
}

#[test]
fn a_loop_that_runs_when_its_tasks_are_gone_polls_none() {
    let output = in_process("run_by_destructors_of_thread_locals");
    assert!(output.status.success(), "{:?}", output);
}

/// Runs the loop of a thread that is ending.
struct LastRun(std::sync::mpsc::Sender<RunResult>);

impl Drop for LastRun {
    fn drop(&mut self) {
        let run_loop = RunLoop::current().unwrap();
        self.0.send(run_loop.run_for(Mode::DEFAULT, LONG).unwrap()).unwrap();
    }
}

thread_local! {
    static LAST_RUN: Cell<Option<LastRun>> = Cell::new(None);
}

#[test]
#[ignore = "in a process of its own"]
fn run_by_destructors_of_thread_locals() {
    let (sender, results) = std::sync::mpsc::channel();
    on_thread(move |run_loop| {
        // Younger than the loop and older than the tasks, so it is dropped after the tasks, and before the loop.
        LAST_RUN.with(|last| last.set(Some(LastRun(sender.clone()))));
        let dropped_with_the_tasks = LastRun(sender);
        run_loop.spawn(async { panic!("the thread has ended") }).unwrap();
        run_loop
            .spawn(async move {
                let _last = dropped_with_the_tasks;
                panic!("the thread has ended");
            })
            .unwrap();
    });
    assert_eq!(results.iter().collect::<Vec<_>>(), [RunResult::Finished, RunResult::Finished]);
}
