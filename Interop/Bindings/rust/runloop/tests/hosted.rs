//! Runs inside another loop.

mod common;
use common::{on_thread, Trace};
use runloop::{Activity, Hosted, HostedRun, Mode, Observer, RunResult, Timer};
use std::os::raw::{c_int, c_short, c_ulong};
use std::os::unix::io::AsRawFd;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::Duration;

/// Waits for the descriptor as a host does.
fn wait() {
    #[repr(C)]
    struct PollDescriptor {
        descriptor: c_int,
        events: c_short,
        happened: c_short,
    }
    extern "C" {
        fn poll(descriptors: *mut PollDescriptor, count: c_ulong, timeout_ms: c_int) -> c_int;
    }
    let mut wanted =
        PollDescriptor { descriptor: HostedRun::descriptor().unwrap().as_raw_fd(), events: 1, happened: 0 };
    // SAFETY: one descriptor.
    assert_eq!(unsafe { poll(&mut wanted, 1, 60_000) }, 1);
}

#[test]
fn a_hosted_run_is_served_while_its_descriptor_is_readable_and_ends_when_it_is_dropped() {
    on_thread(|run_loop| {
        let trace = Trace::default();
        let (ticks, exits) = (trace.clone(), trace.clone());
        let timer = Timer::every(Duration::from_millis(5), move |_| ticks.add("tick")).unwrap();
        run_loop.add_in(&timer, Mode::DEFAULT).unwrap();
        let observer = Observer::new(Activity::EXIT, move |_, _| exits.add("exit")).unwrap();
        run_loop.add_in(&observer, Mode::DEFAULT).unwrap();
        let mut hosted = HostedRun::begin(Mode::DEFAULT).unwrap();
        assert_eq!(hosted.state(), Hosted::HasMore);
        while !trace.text().contains("tick tick") {
            wait();
            assert_eq!(hosted.iterate(Duration::from_secs(60)).unwrap(), Hosted::Sleeps);
        }
        assert_eq!(trace.text(), "tick tick");
        drop(hosted);
        assert_eq!(trace.text(), "tick tick exit");
        let mut stopped = HostedRun::begin(Mode::DEFAULT).unwrap();
        run_loop.stop();
        assert_eq!(stopped.iterate(Duration::ZERO).unwrap(), Hosted::Ended(RunResult::Stopped));
        assert_eq!(stopped.iterate(Duration::ZERO).unwrap(), Hosted::Ended(RunResult::Stopped));
        let empty = Mode::new("empty").unwrap();
        assert_eq!(HostedRun::begin(empty).unwrap().state(), Hosted::Ended(RunResult::Finished));
    });
}

#[test]
fn a_panic_comes_out_of_the_iteration_and_ends_the_run() {
    on_thread(|run_loop| {
        let timer = Timer::once(Duration::ZERO, |_| panic!("a timer")).unwrap();
        run_loop.add_in(&timer, Mode::DEFAULT).unwrap();
        let mut hosted = HostedRun::begin(Mode::DEFAULT).unwrap();
        let panic = catch_unwind(AssertUnwindSafe(|| hosted.iterate(Duration::from_secs(60)))).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"a timer"));
        assert_eq!(hosted.state(), Hosted::Ended(RunResult::Stopped));
    });
}
