use crate::border;
use crate::error::{check, Error, Result};
use crate::executor;
use crate::handle::Handle;
use crate::item::{self, Item};
use crate::mode::Mode;
use crate::time;
use crate::timer::{Timer, TimerConfig};
use runloop_sys as sys;
use std::ffi::CStr;
use std::marker::PhantomData;
use std::ops::Deref;
use std::os::raw::{c_char, c_void};
use std::time::{Duration, Instant};

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunResult {
    /// Nothing can ever happen in the mode.
    Finished,
    /// The run was stopped.
    Stopped,
    /// The limit was reached.
    TimedOut,
    /// A source was handled, and the caller had asked to return then.
    HandledSource,
}

impl RunResult {
    pub(crate) fn from_raw(result: i32) -> RunResult {
        match result as sys::runloop_result {
            sys::RUNLOOP_RESULT_STOPPED => RunResult::Stopped,
            sys::RUNLOOP_RESULT_TIMED_OUT => RunResult::TimedOut,
            sys::RUNLOOP_RESULT_HANDLED_SOURCE => RunResult::HandledSource,
            _ => RunResult::Finished,
        }
    }
}

/// The calling thread's loop. It doesn't leave its thread; its [`handle`](RunLoop::handle), which it also derefs to, is for all threads.
///
/// When the thread ends, its loop ends, while Rust's thread-locals that are older than the thread's first use of the loop still exist:
/// items are removed, and work that was never performed is dropped.
///
/// ```compile_fail,E0277
/// let run_loop = runloop::RunLoop::current().unwrap();
/// std::thread::spawn(move || run_loop.run()); // not Send
/// ```
///
/// ```compile_fail,E0277
/// let run_loop = runloop::RunLoop::current().unwrap();
/// std::thread::scope(|scope| { scope.spawn(|| run_loop.run()); }); // not Sync
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunLoop {
    handle: Handle,
    thread: PhantomData<*mut ()>,
}

impl Deref for RunLoop {
    type Target = Handle;
    fn deref(&self) -> &Handle {
        &self.handle
    }
}

impl RunLoop {
    /// The calling thread's loop, which the first call makes. Fails with ENOMEM or EMFILE (try again later), and with ESHUTDOWN on
    /// a thread that is ending. O(1).
    pub fn current() -> Result<RunLoop> {
        const WHAT: &str = "the thread has no loop";
        border::end_with_thread()?;
        // SAFETY: the result is NULL or the thread's loop.
        match unsafe { Handle::retained(sys::runloop_current()) } {
            Some(handle) => Ok(RunLoop { handle, thread: PhantomData }),
            // SAFETY: a run in the pseudo-mode does nothing but report why there is no loop.
            None => match unsafe { sys::runloop_run_in_mode(Mode::COMMON.as_ptr(), 0, false) } {
                code if code < 0 => Err(Error::from_code(WHAT, code)),
                _ => Err(Error::new(WHAT, std::io::ErrorKind::OutOfMemory.into())),
            },
        }
    }

    /// The loop for other threads.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Runs the default mode until it is stopped, or finished: until nothing can ever happen in it. Runs nest.
    ///
    /// Fails with ESHUTDOWN if the loop has ended.
    ///
    /// # Panics
    /// If a closure panics that the run calls: the run ends with its iteration, and the panic goes on in the caller. Of several, the
    /// first one does.
    pub fn run(&self) -> Result<RunResult> {
        self.run_in(Mode::DEFAULT)
    }

    /// The same in `mode`. A mode that is empty, unknown or [`Mode::COMMON`] finishes at once.
    ///
    /// # Panics
    /// As [`run`](RunLoop::run).
    pub fn run_in(&self, mode: Mode) -> Result<RunResult> {
        self.run_for_ns(mode, sys::RUNLOOP_FOREVER, false)
    }

    /// Runs `mode` for at most `limit`; zero is one iteration, which never sleeps.
    ///
    /// # Panics
    /// As [`run`](RunLoop::run).
    pub fn run_for(&self, mode: Mode, limit: Duration) -> Result<RunResult> {
        self.run_for_ns(mode, time::nanoseconds(limit), false)
    }

    /// Runs `mode` until `date`; one iteration if that has passed.
    ///
    /// # Panics
    /// As [`run`](RunLoop::run).
    pub fn run_until(&self, mode: Mode, date: Instant) -> Result<RunResult> {
        self.run_for(mode, date.saturating_duration_since(Instant::now()))
    }

    /// Runs `mode` until one source was handled, for at most `limit`.
    ///
    /// # Panics
    /// As [`run`](RunLoop::run).
    pub fn run_once(&self, mode: Mode, limit: Duration) -> Result<RunResult> {
        self.run_for_ns(mode, time::nanoseconds(limit), true)
    }

    fn run_for_ns(&self, mode: Mode, limit_ns: i64, returns_after_source: bool) -> Result<RunResult> {
        const WHAT: &str = "the loop could not run";
        if !self.is_current() {
            // C would run the thread's new loop.
            return Err(border::shutdown(WHAT));
        }
        // SAFETY: the name is a C string.
        let run = || unsafe { sys::runloop_run_in_mode(mode.as_ptr(), limit_ns, returns_after_source) };
        check(WHAT, border::run(run)).map(RunResult::from_raw)
    }

    /// Adds an item to the common modes, those declared so later included. As [`add_in`](RunLoop::add_in).
    pub fn add(&self, item: &impl Item) -> Result<()> {
        self.add_in(item, Mode::COMMON)
    }

    /// Adds an item to a mode. Nothing happens if it is there already. Fails with EINVAL if it is invalid, EBUSY if it is a timer or
    /// an observer of a former loop of the thread, EPERM if its descriptor can't be waited for (a regular file or a directory),
    /// ESHUTDOWN if the loop has ended, ENOSPC, ENOMEM.
    pub fn add_in(&self, item: &impl Item, mode: Mode) -> Result<()> {
        check("the item could not be added", item::add(self.raw(), item, mode)).map(drop)
    }

    /// Removes an item from a mode, or with [`Mode::COMMON`] from the common modes. Nothing happens if it isn't there.
    pub fn remove(&self, item: &impl Item, mode: Mode) -> Result<()> {
        check("the item could not be removed", item::remove(self.raw(), item, mode)).map(drop)
    }

    /// Whether an item is in a mode.
    pub fn contains(&self, item: &impl Item, mode: Mode) -> bool {
        item::contains(self.raw(), item, mode)
    }

    /// [`Handle::post`] on the loop's own thread, where `work` needn't be Send.
    pub fn post(&self, work: impl FnOnce() + 'static) -> Result<()> {
        self.post_any(Mode::COMMON, work)
    }

    /// The same for runs in one mode.
    pub fn post_in(&self, mode: Mode, work: impl FnOnce() + 'static) -> Result<()> {
        self.post_any(mode, work)
    }

    /// Performs `work` once after `delay`, in a common mode. It can't be taken back; a [`Timer`] can.
    pub fn post_after(&self, delay: Duration, work: impl FnOnce() + 'static) -> Result<()> {
        let mut work = Some(work);
        let timer = Timer::new(TimerConfig::after(delay), move |_| {
            if let Some(work) = work.take() {
                work();
            }
        })?;
        self.add(&timer)?;
        timer.detach();
        Ok(())
    }

    /// Makes `mode` common: every common item is added to it, now and later. It can't be undone. Fails with ESHUTDOWN and ENOMEM.
    pub fn add_common_mode(&self, mode: Mode) -> Result<()> {
        // SAFETY: the loop is retained, the name is a C string.
        check("the mode could not be made common", unsafe {
            sys::runloop_add_common_mode(self.raw(), mode.as_ptr())
        })
        .map(drop)
    }

    /// The mode of the innermost active run, if there is one.
    pub fn current_mode(&self) -> Option<Mode> {
        // SAFETY: the loop is retained; names that the library returns live as long as the process.
        unsafe {
            let name = sys::runloop_current_mode(self.raw());
            if name.is_null() {
                None
            } else {
                Some(Mode::from_ptr(name))
            }
        }
    }

    /// Whether a run in `mode` would finish at once.
    pub fn is_empty(&self, mode: Mode) -> bool {
        // SAFETY: the loop is retained, the name is a C string.
        unsafe { sys::runloop_mode_is_empty(self.raw(), mode.as_ptr()) }
    }

    /// When the earliest timer of `mode` is due. `None` if there is none. Converted from the loop's clock, it is exact to the time
    /// that two readings of the clock take.
    pub fn next_fire_date(&self, mode: Mode) -> Option<Instant> {
        // SAFETY: the loop is retained, the name is a C string.
        time::instant_of(unsafe { sys::runloop_next_fire_date(self.raw(), mode.as_ptr()) })
    }

    /// A readable account of the loop, for people and logs. Empty if memory ran out.
    pub fn description(&self) -> String {
        extern "C" {
            fn free(text: *mut c_void);
        }
        // SAFETY: the loop is retained; the text is a C string from malloc, which is the caller's.
        unsafe {
            let text: *mut c_char = sys::runloop_copy_description(self.raw());
            if text.is_null() {
                return String::new();
            }
            let description = CStr::from_ptr(text).to_string_lossy().into_owned();
            free(text.cast());
            description
        }
    }

    /// Ends the calling thread's loop now, as the end of the thread would later, and drops its spawned futures; the thread may make a new
    /// one. Fails with EBUSY inside a run, EPERM for the main loop, ESHUTDOWN if the loop has ended.
    pub fn end(self) -> Result<()> {
        const WHAT: &str = "the loop could not be ended";
        if !self.is_current() {
            return Err(border::shutdown(WHAT));
        }
        // SAFETY: no arguments.
        check(WHAT, unsafe { sys::runloop_end_current() })?;
        executor::drop_tasks();
        Ok(())
    }
}
