//! Descriptors that futures wait for again and again.

mod common;
use common::{on_thread, Trace, LONG};
use runloop::{sleep, AsyncFd, Mode, Readiness, RunLoop, RunResult};
use std::future::Future;
use std::io::{Read, Write};
use std::os::unix::io::AsRawFd;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

fn pair() -> (AsyncFd<UnixStream>, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    (AsyncFd::new(ours).unwrap(), theirs)
}

/// Lets the loop turn until it would sleep.
fn turn(run_loop: &RunLoop) -> RunResult {
    run_loop.run_for(Mode::DEFAULT, Duration::from_millis(5)).unwrap()
}

/// Has a task wait, which notes that it was woken.
fn note(
    run_loop: &RunLoop,
    io: &Rc<AsyncFd<UnixStream>>,
    wanted: Readiness,
    trace: &Trace,
    word: &'static str,
) {
    let (io, trace) = (io.clone(), trace.clone());
    run_loop
        .spawn(async move {
            io.ready(wanted).await.unwrap();
            trace.add(word);
        })
        .unwrap();
}

#[test]
fn tasks_talk_over_sockets_that_they_keep() {
    on_thread(|run_loop| {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (ours, theirs) = (AsyncFd::new(ours).unwrap(), AsyncFd::new(theirs).unwrap());
        run_loop
            .spawn(async move {
                for number in 0..100u8 {
                    assert!(theirs.readable().await.unwrap().contains(Readiness::READABLE));
                    let mut byte = [0];
                    theirs.get_ref().read_exact(&mut byte).unwrap();
                    assert_eq!(byte[0], number);
                    theirs.get_ref().write_all(&[number + 1]).unwrap();
                }
            })
            .unwrap();
        run_loop
            .block_on(async {
                for number in 0..100u8 {
                    ours.writable().await.unwrap();
                    ours.get_ref().write_all(&[number]).unwrap();
                    ours.readable().await.unwrap();
                    let mut byte = [0];
                    ours.get_ref().read_exact(&mut byte).unwrap();
                    assert_eq!(byte[0], number + 1);
                }
            })
            .unwrap();
    });
}

#[test]
fn all_that_wait_for_what_holds_are_told_and_the_others_wait_on() {
    on_thread(|run_loop| {
        let (io, mut theirs) = pair();
        let (io, trace) = (Rc::new(io), Trace::default());
        note(&run_loop, &io, Readiness::READABLE, &trace, "one");
        note(&run_loop, &io, Readiness::READABLE, &trace, "two");
        turn(&run_loop);
        assert_eq!(trace.text(), "");
        note(&run_loop, &io, Readiness::WRITABLE, &trace, "three");
        turn(&run_loop);
        assert_eq!(trace.text(), "three");
        theirs.write_all(b"x").unwrap();
        turn(&run_loop);
        assert_eq!(trace.text(), "three one two");
    });
}

#[test]
fn what_holds_while_nobody_waits_keeps_the_loop_awake_for_one_turn() {
    on_thread(|run_loop| {
        let (io, mut theirs) = pair();
        run_loop.block_on(io.writable()).unwrap().unwrap();
        theirs.write_all(b"x").unwrap();
        let turns = Rc::new(std::cell::Cell::new(0));
        let count = turns.clone();
        let observer =
            runloop::Observer::new(runloop::Activity::AFTER_WAITING, move |_, _| count.set(count.get() + 1));
        run_loop.add(&observer.unwrap()).unwrap();
        // Writable all the time, and nobody asks for that any more.
        let error = run_loop.run_for(Mode::DEFAULT, Duration::from_millis(50)).unwrap();
        assert_eq!(error, RunResult::TimedOut);
        assert!(turns.get() < 4, "{} turns", turns.get());
        assert!(run_loop.block_on(io.readable()).unwrap().unwrap().contains(Readiness::READABLE));
    });
}

#[test]
fn an_end_is_told_whatever_is_waited_for_and_again() {
    on_thread(|run_loop| {
        let (io, theirs) = pair();
        drop(theirs);
        for _ in 0..3 {
            let ready = run_loop.block_on(io.ready(Readiness::PRIORITY)).unwrap().unwrap();
            assert!(ready.contains(Readiness::HANG_UP), "{:?}", ready);
            turn(&run_loop);
        }
    });
}

/// A waker that counts its calls.
#[derive(Default)]
struct Count(std::sync::atomic::AtomicU32);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

impl Count {
    fn get(&self) -> u32 {
        self.0.load(std::sync::atomic::Ordering::Relaxed)
    }
}

#[test]
fn a_wait_that_is_dropped_hears_nothing_and_the_last_waker_is_called() {
    on_thread(|run_loop| {
        let (io, mut theirs) = pair();
        let (first, last, other) =
            (Arc::new(Count::default()), Arc::new(Count::default()), Arc::new(Count::default()));
        let mut wait = Box::pin(io.readable());
        let mut dropped = Box::pin(io.readable());
        for waker in [&first, &last] {
            assert!(wait.as_mut().poll(&mut Context::from_waker(&Waker::from(waker.clone()))).is_pending());
        }
        assert!(dropped.as_mut().poll(&mut Context::from_waker(&Waker::from(other.clone()))).is_pending());
        drop(dropped);
        assert_eq!(Arc::strong_count(&other), 1);
        theirs.write_all(b"x").unwrap();
        turn(&run_loop);
        assert_eq!((first.get(), last.get(), other.get()), (0, 1, 0));
        assert!(wait.as_mut().poll(&mut Context::from_waker(&Waker::from(first))).is_ready());
        drop(wait);
        assert_eq!(format!("{:?}", io), format!("AsyncFd({}, 0 wait)", io.as_raw_fd()));
    });
}

#[test]
fn it_is_closed_when_it_is_dropped_and_lets_the_run_finish() {
    on_thread(|run_loop| {
        let (io, mut theirs) = pair();
        run_loop.block_on(io.writable()).unwrap().unwrap();
        assert_eq!(turn(&run_loop), RunResult::TimedOut);
        drop(io);
        assert_eq!(turn(&run_loop), RunResult::Finished);
        theirs.set_read_timeout(Some(LONG)).unwrap();
        assert_eq!(theirs.read(&mut [0]).unwrap(), 0);
    });
}

#[test]
fn what_cannot_be_waited_for_is_refused_each_time() {
    on_thread(|run_loop| {
        let file = AsyncFd::new(std::fs::File::open(std::env::current_exe().unwrap()).unwrap()).unwrap();
        for _ in 0..2 {
            let error = run_loop.block_on(file.readable()).unwrap().unwrap_err();
            assert_eq!(error.raw_os_error(), Some(1)); // EPERM
        }
        let (io, _theirs) = pair();
        for _ in 0..2 {
            assert_eq!(
                run_loop.block_on(io.ready(Readiness::NONE)).unwrap().unwrap_err().raw_os_error(),
                Some(22)
            );
            run_loop.block_on(io.writable()).unwrap().unwrap();
        }
        run_loop.block_on(sleep(Duration::ZERO)).unwrap().unwrap();
    });
}
