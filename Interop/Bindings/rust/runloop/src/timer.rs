use crate::border;
use crate::callback::{context_of, create, value_of, Callback};
use crate::error::{check, Error, Result};
use crate::item::item;
use crate::time;
use runloop_sys as sys;
use std::io;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::os::raw::c_void;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

/// When a timer fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerConfig {
    /// How long from the timer's creation it is due first. Zero: at once.
    pub delay: Duration,
    /// The interval of its fire schedule. `None`: it fires once and becomes invalid. A timer that fires whenever a date is set, and only
    /// then, has the interval `Duration::MAX`.
    pub interval: Option<Duration>,
    /// How much later it may fire to share a wake-up of the machine. At most half the interval.
    pub tolerance: Duration,
    /// Among timers that are due at the same instant, lower ones fire first.
    pub order: i32,
}

impl TimerConfig {
    /// Once, after `delay`.
    pub fn after(delay: Duration) -> TimerConfig {
        TimerConfig { delay, interval: None, tolerance: Duration::ZERO, order: 0 }
    }

    /// Again and again, first after one `interval`.
    pub fn every(interval: Duration) -> TimerConfig {
        TimerConfig { delay: interval, interval: Some(interval), tolerance: Duration::ZERO, order: 0 }
    }
}

/// Calls a closure on a schedule, on the thread that made it.
///
/// Drop invalidates: a timer that is dropped fires no more. [`detach`](Timer::detach) leaves it to its loop.
///
/// ```compile_fail,E0277
/// let timer = runloop::Timer::once(std::time::Duration::ZERO, |_| ()).unwrap();
/// std::thread::spawn(move || drop(timer)); // not Send
/// ```
///
/// ```compile_fail,E0373
/// let local = 1;
/// let timer = runloop::Timer::once(std::time::Duration::ZERO, |_| { println!("{}", local); }); // borrows what may end first
/// ```
#[derive(Debug)]
#[must_use = "a timer that is dropped never fires"]
pub struct Timer {
    raw: NonNull<sys::runloop_timer>,
    thread: PhantomData<*mut ()>,
}

item!([] Timer, runloop_timer, runloop_add_timer, runloop_remove_timer, runloop_contains_timer);

impl Timer {
    /// A timer in no loop yet, which calls `fire` with itself. Nested runs don't call it again inside `fire`.
    ///
    /// Fails with `InvalidInput` for an interval of zero, and with ENOMEM.
    pub fn new<F: FnMut(&Timer) + 'static>(config: TimerConfig, fire: F) -> Result<Timer> {
        const WHAT: &str = "the timer could not be made";
        if config.interval == Some(Duration::ZERO) {
            return Err(Error::new(
                WHAT,
                io::Error::new(io::ErrorKind::InvalidInput, "the interval is zero"),
            ));
        }
        let context = context_of(Callback::new(fire));
        let config = sys::runloop_timer_config {
            context,
            order: config.order,
            fire_ns: time::date_after(config.delay),
            interval_ns: config.interval.map_or(0, time::nanoseconds),
            tolerance_ns: time::nanoseconds(config.tolerance),
            fire: Some(call::<F>),
        };
        // SAFETY: the context is of the callback's type, as is `call`.
        let raw = unsafe {
            create::<Callback<F>, _>(WHAT, context, |out| sys::runloop_timer_create(&config, out))
        }?;
        Ok(Timer { raw, thread: PhantomData })
    }

    /// A timer that fires once, after `delay`.
    pub fn once(delay: Duration, fire: impl FnMut(&Timer) + 'static) -> Result<Timer> {
        Timer::new(TimerConfig::after(delay), fire)
    }

    /// A timer that fires every `interval`.
    pub fn every(interval: Duration, fire: impl FnMut(&Timer) + 'static) -> Result<Timer> {
        Timer::new(TimerConfig::every(interval), fire)
    }

    /// When it is due next; during its call, what it fires for. `None` if it is invalid.
    pub fn fire_date(&self) -> Option<Instant> {
        // SAFETY: the timer is referenced.
        time::instant_of(unsafe { sys::runloop_timer_get_fire_date(self.raw.as_ptr()) })
    }

    /// Moves the timer, and restarts its schedule there. In its own call the last date wins. Fails with EINVAL if it is invalid.
    pub fn set_fire_date(&self, date: Instant) -> Result<()> {
        self.move_to(time::date_of(date))
    }

    /// Moves the timer to `delay` from now. As [`set_fire_date`](Timer::set_fire_date).
    pub fn fire_after(&self, delay: Duration) -> Result<()> {
        self.move_to(time::date_after(delay))
    }

    fn move_to(&self, date_ns: i64) -> Result<()> {
        // SAFETY: the timer is referenced.
        check("the timer could not be moved", unsafe {
            sys::runloop_timer_set_fire_date(self.raw.as_ptr(), date_ns)
        })
        .map(drop)
    }

    /// In its call: how many instants of the schedule passed without a call. At other times: the number of the last call.
    pub fn missed(&self) -> u64 {
        // SAFETY: the timer is referenced.
        unsafe { sys::runloop_timer_get_missed(self.raw.as_ptr()) }
    }

    /// Ends the timer, and drops its closure: after its call, if that is running. Twice is once.
    pub fn invalidate(&self) {
        // SAFETY: the timer is referenced.
        unsafe { sys::runloop_timer_invalidate(self.raw.as_ptr()) };
    }

    /// Whether it can still fire.
    pub fn is_valid(&self) -> bool {
        // SAFETY: the timer is referenced.
        unsafe { sys::runloop_timer_is_valid(self.raw.as_ptr()) }
    }

    /// Leaves the timer to the loop that it is in, until it has fired, or invalidates itself in its call, or the loop ends.
    pub fn detach(self) {
        let timer = ManuallyDrop::new(self);
        // SAFETY: this value's reference, which nobody uses any more.
        unsafe { sys::runloop_timer_release(timer.raw.as_ptr()) };
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.invalidate();
        // SAFETY: this value's reference.
        unsafe { sys::runloop_timer_release(self.raw.as_ptr()) };
    }
}

unsafe extern "C" fn call<F: FnMut(&Timer)>(raw: *mut sys::runloop_timer, info: *mut c_void) {
    border::call_out(|| {
        // SAFETY: a loop calls it with a timer, and with the context that it was made with, both of which live until it returns.
        let (raw, callback) = unsafe { (NonNull::new_unchecked(raw), value_of::<Callback<F>>(info)) };
        let timer = ManuallyDrop::new(Timer { raw, thread: PhantomData });
        callback.call(|fire| fire(&timer));
    });
}
