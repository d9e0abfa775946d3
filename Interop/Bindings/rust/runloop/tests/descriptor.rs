//! Sources of descriptors are called while these are ready, and own them.

mod common;
use common::{on_thread, run, Trace, Visit, LONG};
use runloop::{DescriptorSource, Mode, Readiness, RunLoop, RunResult, Timer};
use std::cell::{Cell, RefCell};
use std::io::{Read, Write};
use std::os::unix::io::AsRawFd;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::time::Duration;

#[test]
fn reads_what_another_thread_writes_until_the_end() {
    on_thread(|run_loop| {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let received = Trace::default();
        let text = received.clone();
        let source = DescriptorSource::new(ours, Readiness::READABLE, move |source, ready| {
            assert!(ready.contains(Readiness::READABLE), "{:?}", ready);
            let mut bytes = [0; 64];
            match source.get_ref().read(&mut bytes).unwrap() {
                0 => source.invalidate(),
                count => text.add(String::from_utf8_lossy(&bytes[..count])),
            }
        })
        .unwrap();
        run_loop.add(&source).unwrap();
        let thread = std::thread::spawn(move || theirs.write_all(b"hello"));
        assert_eq!(run(&run_loop), RunResult::Finished);
        thread.join().unwrap().unwrap();
        assert_eq!(received.text(), "hello");
        assert_eq!(source.as_raw_fd(), source.get_ref().as_raw_fd());
    });
}

#[test]
fn closes_what_it_owns_when_it_is_dropped() {
    on_thread(|run_loop| {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let slot: Rc<RefCell<Option<DescriptorSource<UnixStream>>>> = Rc::default();
        let own = slot.clone();
        let source = DescriptorSource::new(ours, Readiness::WRITABLE, move |source, _| {
            drop(own.borrow_mut().take());
            source.get_ref().write_all(b"bye").unwrap(); // Open until the call returns.
        })
        .unwrap();
        run_loop.add(&source).unwrap();
        *slot.borrow_mut() = Some(source);
        assert_eq!(run(&run_loop), RunResult::Finished);
        let mut text = String::new();
        theirs.read_to_string(&mut text).unwrap(); // To the end.
        assert_eq!(text, "bye");
    });
}

#[test]
fn closes_it_even_while_another_thread_visits_the_loop() {
    on_thread(|run_loop| {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let source = DescriptorSource::new(ours, Readiness::READABLE, |_, _| ()).unwrap();
        run_loop.add(&source).unwrap();
        let visit = Visit::begin(&run_loop);
        drop(source);
        theirs.set_read_timeout(Some(LONG)).unwrap();
        assert_eq!(theirs.read(&mut [0]).unwrap(), 0); // The end: it is closed.
        visit.end();
    });
}

#[test]
fn is_not_called_while_it_is_paused() {
    on_thread(|run_loop| {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let calls = Rc::new(Cell::new(0));
        let count = calls.clone();
        let source = DescriptorSource::new(ours, Readiness::WRITABLE, move |source, _| {
            count.set(count.get() + 1);
            source.set_readiness(Readiness::NONE).unwrap();
        })
        .unwrap();
        run_loop.add(&source).unwrap();
        assert_eq!(run_loop.run_for(Mode::DEFAULT, Duration::from_millis(5)).unwrap(), RunResult::TimedOut);
        assert_eq!(calls.get(), 1);
        source.set_readiness(Readiness::WRITABLE).unwrap();
        assert_eq!(run_loop.run_once(Mode::DEFAULT, LONG).unwrap(), RunResult::HandledSource);
        assert_eq!((calls.get(), source.readiness()), (2, Readiness::NONE));
    });
}

#[test]
fn a_nested_run_neither_calls_it_again_nor_spins() {
    on_thread(|run_loop| {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let (calls, nested) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        let (count, iterations) = (calls.clone(), nested.clone());
        let source = DescriptorSource::new(ours, Readiness::WRITABLE, move |source, _| {
            count.set(count.get() + 1);
            if count.get() == 2 {
                return source.invalidate();
            }
            let run_loop = RunLoop::current().unwrap();
            let counted = iterations.clone();
            let observer = runloop::Observer::new(runloop::Activity::BEFORE_TIMERS, move |_, _| {
                counted.set(counted.get() + 1);
            })
            .unwrap();
            run_loop.add(&observer).unwrap();
            assert_eq!(
                run_loop.run_for(Mode::DEFAULT, Duration::from_millis(50)).unwrap(),
                RunResult::TimedOut
            );
        })
        .unwrap();
        run_loop.add(&source).unwrap();
        assert_eq!(run(&run_loop), RunResult::Finished);
        assert_eq!(calls.get(), 2);
        assert!(nested.get() < 10, "{} iterations of the nested run", nested.get());
    });
}

#[test]
fn what_cannot_be_waited_for_is_refused() {
    on_thread(|run_loop| {
        let file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
        let source = DescriptorSource::new(file, Readiness::READABLE, |_, _| ()).unwrap();
        let error = run_loop.add(&source).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(1)); // EPERM: a regular file
        assert_eq!(error.to_string(), "the item could not be added: Operation not permitted (os error 1)");
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let error = DescriptorSource::new(ours, Readiness::NONE, |_, _| ()).unwrap_err();
        assert_eq!(std::io::Error::from(error).raw_os_error(), Some(22));
    });
}

#[test]
fn timers_are_served_beside_a_descriptor_that_is_always_ready() {
    on_thread(|run_loop| {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let source = DescriptorSource::new(ours, Readiness::WRITABLE, |_, _| ()).unwrap();
        run_loop.add(&source).unwrap();
        let handle = run_loop.handle();
        let timer = Timer::once(Duration::from_millis(1), move |_| handle.stop()).unwrap();
        run_loop.add(&timer).unwrap();
        assert_eq!(run(&run_loop), RunResult::Stopped);
    });
}

#[test]
fn conditions_are_named() {
    assert_eq!(format!("{:?}", Readiness::READABLE | Readiness::HANG_UP), "READABLE | HANG_UP");
    assert_eq!(format!("{:?}", Readiness::NONE), "0x0");
    assert!((Readiness::READABLE | Readiness::ERROR).intersects(Readiness::ERROR));
}
