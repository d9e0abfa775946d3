use super::arrivals::Arrivals;
use super::object::{call_out, Object};
use crate::error::Result;
use runloop_sys as sys;
use std::os::raw::c_void;
use std::task::{Context, Poll};

/// What arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Which signal: SIGTERM is 15.
    pub number: i32,
    /// As in `siginfo_t`, of the last arrival.
    pub code: i32,
    /// How many arrivals this stands for, at least one.
    pub count: u64,
    /// The sender of the last one. 0: the kernel, a terminal, or unknown.
    pub pid: i32,
    /// The real user of that process.
    pub uid: u32,
    /// What `sigqueue` or a POSIX timer sent with it, else 0.
    pub value: isize,
}

/// A signal of the process, which is caught from the creation on until this is dropped. What arrives while nobody waits is kept.
///
/// ```compile_fail,E0277
/// let signals = runloop::linux::Signals::new(15).unwrap();
/// std::thread::spawn(move || drop(signals)); // not Send
/// ```
pub struct Signals(Object<Arrivals<Arrival>>);

impl Signals {
    /// Catches a signal. Fails with EINVAL for one that can't be caught, EMFILE, ENOMEM.
    pub fn new(number: i32) -> Result<Signals> {
        Signals::with_force(number, false)
    }

    /// The same with `force`: also if the process ignores it, as one under `nohup` does SIGHUP.
    pub fn with_force(number: i32, force: bool) -> Result<Signals> {
        // SAFETY: `receive` takes the state that the object is made with.
        unsafe {
            Object::new("the signal can't be caught", Arrivals::default(), |context, out| {
                let config = sys::runloop_signal_config { context, number, force, receive: Some(receive) };
                sys::runloop_signal_create(&config, out)
            })
        }
        .map(Signals)
    }

    /// The next arrival, or arrivals.
    pub async fn next(&mut self) -> Result<Arrival> {
        self.0.next("signals").await
    }

    /// The same, polled: for streams. What was polled last is woken.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<Arrival>> {
        self.0.poll_next("signals", context)
    }

    /// False if the signal was left ignored.
    pub fn is_caught(&self) -> bool {
        // SAFETY: the object is referenced.
        unsafe { sys::runloop_signal_is_caught(self.0.raw()) }
    }
}

unsafe extern "C" fn receive(
    signal: *mut sys::runloop_signal,
    arrival: *const sys::runloop_signal_arrival,
    info: *mut c_void,
) {
    // SAFETY: the library passes what the object was made with, and an arrival.
    unsafe {
        let sys::runloop_signal_arrival { number, code, count, pid, uid, value } = *arrival;
        call_out(info, |arrivals: &Arrivals<Arrival>| {
            arrivals.put(signal, Arrival { number, code, count, pid, uid, value })
        });
    }
}
