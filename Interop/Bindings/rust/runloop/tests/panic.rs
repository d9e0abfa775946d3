//! A panic in a closure ends the run that called it, and goes on in the run's caller.

mod common;
use common::{in_process, on_thread, run, LONG};
use runloop::{Activity, DescriptorSource, Mode, Observer, Readiness, RunLoop, RunResult, Source, Timer};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::Duration;

/// What a run panics with.
fn panic_of(run_loop: &RunLoop) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| run_loop.run_for(Mode::DEFAULT, LONG))).unwrap_err();
    panic
        .downcast_ref::<String>()
        .cloned()
        .unwrap_or_else(|| panic.downcast_ref::<&str>().unwrap().to_string())
}

/// The loop works afterwards, and has no stop left.
fn works(run_loop: &RunLoop) {
    let handle = run_loop.handle();
    run_loop.post_after(Duration::from_millis(1), move || handle.stop()).unwrap();
    assert_eq!(run(run_loop), RunResult::Stopped);
}

#[test]
fn from_every_kind_of_closure() {
    on_thread(|run_loop| {
        run_loop.post(|| panic!("work {}", 1)).unwrap();
        assert_eq!(panic_of(&run_loop), "work 1");
        works(&run_loop);

        let timer = Timer::once(Duration::ZERO, |_| panic!("timer")).unwrap();
        run_loop.add(&timer).unwrap();
        assert_eq!(panic_of(&run_loop), "timer");
        works(&run_loop);

        let source = Source::new(|| panic!("source")).unwrap();
        run_loop.add(&source).unwrap();
        source.signal();
        assert_eq!(panic_of(&run_loop), "source");
        works(&run_loop);

        let (ours, _theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let source = DescriptorSource::new(ours, Readiness::WRITABLE, |source, _| {
            source.invalidate();
            panic!("descriptor")
        })
        .unwrap();
        run_loop.add(&source).unwrap();
        assert_eq!(panic_of(&run_loop), "descriptor");
        works(&run_loop);

        let keep = Timer::once(LONG * 2, |_| ()).unwrap();
        run_loop.add(&keep).unwrap();
        let observer = Observer::new(Activity::ENTRY, |observer, _| {
            observer.invalidate();
            panic!("observer")
        })
        .unwrap();
        run_loop.add(&observer).unwrap();
        assert_eq!(panic_of(&run_loop), "observer");
        works(&run_loop);
    });
}

#[test]
fn of_several_the_first_goes_on() {
    on_thread(|run_loop| {
        run_loop.post(|| panic!("first")).unwrap();
        run_loop.post(|| panic!("second")).unwrap();
        assert_eq!(panic_of(&run_loop), "first");
        works(&run_loop);
    });
}

#[test]
fn out_of_nested_runs_one_by_one() {
    on_thread(|run_loop| {
        let own = run_loop.clone();
        run_loop
            .post(move || {
                own.post(|| panic!("inner")).unwrap();
                let panic = catch_unwind(AssertUnwindSafe(|| own.run())).unwrap_err();
                assert_eq!(panic.downcast_ref::<&str>(), Some(&"inner"));
                own.post(|| panic!("again")).unwrap();
                let _ = own.run();
                unreachable!("the run panics");
            })
            .unwrap();
        assert_eq!(panic_of(&run_loop), "again");
        works(&run_loop);
    });
}

#[test]
fn out_of_its_own_run_and_not_of_one_that_another_closure_makes_meanwhile() {
    on_thread(|run_loop| {
        let own = run_loop.clone();
        run_loop.post(|| panic!("outer")).unwrap();
        run_loop
            .post(move || {
                let nested = || {
                    own.post(|| ()).unwrap();
                    own.run_for(Mode::DEFAULT, Duration::ZERO)
                };
                assert!(catch_unwind(AssertUnwindSafe(nested)).is_ok());
                own.post(|| panic!("inner")).unwrap();
                let panic = catch_unwind(AssertUnwindSafe(|| own.run())).unwrap_err();
                assert_eq!(panic.downcast_ref::<&str>(), Some(&"inner"));
            })
            .unwrap();
        assert_eq!(panic_of(&run_loop), "outer");
        works(&run_loop);
    });
}

/// Panics when it is dropped.
struct Grenade;

impl Drop for Grenade {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[test]
fn of_a_closure_that_is_dropped_inside_a_run() {
    on_thread(|run_loop| {
        let grenade = Grenade;
        let timer = Timer::once(Duration::ZERO, move |_| {
            let _ = &grenade;
        })
        .unwrap();
        run_loop.add(&timer).unwrap();
        assert_eq!(panic_of(&run_loop), "dropped");
        works(&run_loop);
    });
}

#[test]
fn where_no_run_can_resume_it_the_process_ends() {
    let output = in_process("outside_of_runs");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(std::os::unix::process::ExitStatusExt::signal(&output.status).is_some(), "{}", error);
    assert!(error.contains("no run of the crate"), "{}", error);
}

#[test]
#[ignore = "in a process of its own"]
fn outside_of_runs() {
    on_thread(|run_loop| {
        let grenade = Grenade;
        run_loop.post(move || drop(grenade)).unwrap(); // The end of the thread drops it.
    });
}
