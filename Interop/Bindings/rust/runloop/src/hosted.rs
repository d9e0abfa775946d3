use crate::border;
use crate::error::{check, Result};
use crate::mode::Mode;
use crate::run_loop::{RunLoop, RunResult};
use crate::time;
use runloop_sys as sys;
use std::marker::PhantomData;
use std::os::unix::io::BorrowedFd;
use std::time::Duration;

/// What a hosted run has to say to its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hosted {
    /// Wait for the descriptor to be readable.
    Sleeps,
    /// The budget is used up; the descriptor is readable.
    HasMore,
    /// The run has ended.
    Ended(RunResult),
}

/// A run of the calling thread's loop whose sleep is another loop's, which owns the thread: that waits for [`descriptor`](HostedRun::descriptor),
/// and calls [`iterate`](HostedRun::iterate) when it is readable. Dropped, the run ends.
///
/// ```compile_fail,E0277
/// let run = runloop::HostedRun::begin(runloop::Mode::DEFAULT).unwrap();
/// std::thread::spawn(move || drop(run)); // not Send
/// ```
#[derive(Debug)]
pub struct HostedRun {
    state: Hosted,
    thread: PhantomData<*mut ()>,
}

impl HostedRun {
    /// What the host waits for, for reading, and otherwise leaves alone: the same one until the thread ends. Fails with EMFILE and ENOMEM.
    pub fn descriptor() -> Result<BorrowedFd<'static>> {
        RunLoop::current()?;
        // SAFETY: no arguments; the loop keeps it open until its thread ends, and the result can't be closed safely.
        let number = check("the loop can't be hosted", unsafe { sys::runloop_hosted_descriptor() })?;
        // SAFETY: as above.
        Ok(unsafe { BorrowedFd::borrow_raw(number) })
    }

    /// Begins a run in `mode`, which may be over at once: the mode is empty, or a stop was remembered. Runs nest, and are to be dropped in the
    /// reverse order of their beginnings. Fails with EINVAL for [`Mode::COMMON`], EMFILE, ENOMEM, and as [`RunLoop::current`].
    ///
    /// # Panics
    /// If an observer does.
    pub fn begin(mode: Mode) -> Result<HostedRun> {
        RunLoop::current()?;
        // SAFETY: the name is a C string.
        let result = border::run(|| unsafe { sys::runloop_hosted_begin(mode.as_ptr()) });
        let state = match check("the hosted run can't begin", result)? {
            0 => Hosted::HasMore,
            result => Hosted::Ended(RunResult::from_raw(result)),
        };
        Ok(HostedRun { state, thread: PhantomData })
    }

    /// Whole iterations, until the loop would sleep or `budget` is used up; zero is one iteration. After the end it repeats what it said.
    ///
    /// # Panics
    /// If a closure panics that it calls: the run has ended then.
    pub fn iterate(&mut self, budget: Duration) -> Result<Hosted> {
        if !matches!(self.state, Hosted::Ended(_)) {
            // A panic leaves by an ended run.
            self.state = Hosted::Ended(RunResult::Stopped);
            // SAFETY: no pointers.
            let result = border::run(|| unsafe { sys::runloop_hosted_iterate(time::nanoseconds(budget)) });
            const EAGAIN: i32 = 11;
            self.state = match result {
                0 => Hosted::Sleeps,
                code if code == -EAGAIN => Hosted::HasMore,
                result => Hosted::Ended(RunResult::from_raw(check("the hosted run can't go on", result)?)),
            };
        }
        Ok(self.state)
    }

    /// What [`iterate`](HostedRun::iterate) said last.
    pub fn state(&self) -> Hosted {
        self.state
    }
}

impl Drop for HostedRun {
    fn drop(&mut self) {
        if !matches!(self.state, Hosted::Ended(_)) {
            // SAFETY: no arguments. Inside a callback of the run it does nothing: the run ends with that callback.
            border::run(|| unsafe { sys::runloop_hosted_end() });
        }
    }
}
