//! Durations and instants of std, as nanoseconds of the loop's clock.

use runloop_sys as sys;
use std::time::{Duration, Instant};

/// A duration in nanoseconds; one that is too long is forever.
pub(crate) fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(sys::RUNLOOP_FOREVER)
}

/// The date that is `delay` from now by the clock of the thread's loop.
pub(crate) fn date_after(delay: Duration) -> i64 {
    // SAFETY: no arguments.
    unsafe { sys::runloop_now_ns() }.saturating_add(nanoseconds(delay))
}

/// The date that is as far from now by the clock of the thread's loop as `instant` is by that of the machine.
pub(crate) fn date_of(instant: Instant) -> i64 {
    let now = Instant::now();
    match instant.checked_duration_since(now) {
        Some(delay) => date_after(delay),
        // SAFETY: no arguments.
        None => unsafe { sys::runloop_now_ns() }.saturating_sub(nanoseconds(now.duration_since(instant))),
    }
}

/// The instant of a date; `None` for the one that never comes.
pub(crate) fn instant_of(date_ns: i64) -> Option<Instant> {
    if date_ns == sys::RUNLOOP_NEVER {
        return None;
    }
    // SAFETY: no arguments.
    let distance = date_ns.saturating_sub(unsafe { sys::runloop_now_ns() });
    let duration = Duration::from_nanos(distance.unsigned_abs());
    if distance >= 0 {
        Instant::now().checked_add(duration)
    } else {
        Instant::now().checked_sub(duration)
    }
}
