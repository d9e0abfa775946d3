use super::object::{call_out, poll_fn, Object, Waiter};
use crate::error::{Error, Result};
use crate::run_loop::RunLoop;
use crate::time;
use runloop_sys as sys;
use std::cell::Cell;
use std::ffi::{CStr, CString};
use std::fmt;
use std::io;
use std::os::raw::{c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::io::{FromRawFd, OwnedFd};
use std::path::Path;
use std::ptr;
use std::task::Poll;
use std::time::Duration;

const WHAT: &str = "no connection";

enum Target {
    Tcp(Vec<u8>, u16),
    Path(Vec<u8>),
    Abstract(Vec<u8>),
}

/// A connection that is to be made: to what, and how.
pub struct Connect {
    target: Target,
    within: Option<Duration>,
    local_address: Option<String>,
    interface: Option<String>,
    keepalive: (Duration, Duration, u32),
    user_timeout: Duration,
    delays: bool,
    resets: bool,
}

impl Connect {
    /// TCP. `host` is a number or a name, which is looked up; several addresses are tried as RFC 8305 says.
    pub fn tcp(host: &str, port: u16) -> Connect {
        Connect::to(Target::Tcp(host.into(), port))
    }

    /// A Unix socket with a path.
    pub fn unix(path: impl AsRef<Path>) -> Connect {
        Connect::to(Target::Path(path.as_ref().as_os_str().as_bytes().to_vec()))
    }

    /// A Unix socket without a path.
    pub fn abstract_name(name: &str) -> Connect {
        Connect::to(Target::Abstract(name.into()))
    }

    fn to(target: Target) -> Connect {
        Connect {
            target,
            within: None,
            local_address: None,
            interface: None,
            keepalive: (Duration::ZERO, Duration::ZERO, 0),
            user_timeout: Duration::ZERO,
            delays: false,
            resets: false,
        }
    }

    /// How long all of it may take, look-up and attempts: ETIMEDOUT.
    pub fn within(mut self, limit: Duration) -> Connect {
        self.within = Some(limit);
        self
    }

    /// From which address of this machine, as a number.
    pub fn from_address(mut self, address: &str) -> Connect {
        self.local_address = Some(address.into());
        self
    }

    /// Through which interface alone.
    pub fn through_interface(mut self, name: &str) -> Connect {
        self.interface = Some(name.into());
        self
    }

    /// The peer is asked for a sign of life after so much silence, every so often, until so many were not answered; zero: as the system has it.
    pub fn keepalive(mut self, idle: Duration, interval: Duration, count: u32) -> Connect {
        self.keepalive = (idle, interval, count);
        self
    }

    /// How long what was sent may be unacknowledged.
    pub fn user_timeout(mut self, limit: Duration) -> Connect {
        self.user_timeout = limit;
        self
    }

    /// Small pieces are sent together.
    pub fn delays(mut self, delays: bool) -> Connect {
        self.delays = delays;
        self
    }

    /// The connection is reset when it is closed, and drops what was not sent.
    pub fn resets(mut self, resets: bool) -> Connect {
        self.resets = resets;
        self
    }

    /// Makes it: a connected, non-blocking socket, for [`Stream`](super::Stream). Dropping the future closes what it has opened.
    pub async fn connect(self) -> std::result::Result<OwnedFd, ConnectError> {
        let object = self.begin()?;
        let outcome = poll_fn(|context| match object.state().outcome.take() {
            Some(outcome) => Poll::Ready(outcome),
            None => object.state().waiter.wait(context),
        });
        outcome.await.map_err(|code| ConnectError::of(&object, code))
    }

    fn begin(&self) -> Result<Object<State>> {
        let text = |bytes: &[u8]| CString::new(bytes).map_err(|error| Error::new(WHAT, error.into()));
        let optional =
            |words: &Option<String>| words.as_ref().map(|words| text(words.as_bytes())).transpose();
        let (bytes, port) = match &self.target {
            Target::Tcp(host, port) => (host, *port),
            Target::Path(bytes) | Target::Abstract(bytes) => (bytes, 0),
        };
        let (name, address, interface) =
            (text(bytes)?, optional(&self.local_address)?, optional(&self.interface)?);
        let pointer = |text: &Option<CString>| text.as_ref().map_or(ptr::null(), |text| text.as_ptr());
        let if_it_is = |is_it: bool| if is_it { name.as_ptr() } else { ptr::null() };
        // SAFETY: `connected` takes the state that the object is made with; the texts live during the call.
        let object = unsafe {
            Object::new(WHAT, State::default(), |context, out| {
                let config = sys::runloop_connect_config {
                    context,
                    host: if_it_is(matches!(self.target, Target::Tcp(..))),
                    port,
                    path: if_it_is(matches!(self.target, Target::Path(_))),
                    abstract_name: if_it_is(matches!(self.target, Target::Abstract(_))),
                    deadline_ns: self.within.map_or(0, time::date_after),
                    local_address: pointer(&address),
                    interface: pointer(&interface),
                    keepalive_idle_ns: time::nanoseconds(self.keepalive.0),
                    keepalive_interval_ns: time::nanoseconds(self.keepalive.1),
                    keepalive_count: self.keepalive.2,
                    user_timeout_ns: time::nanoseconds(self.user_timeout),
                    delays: self.delays,
                    resets: self.resets,
                    connected: Some(connected),
                    cancel: None,
                };
                sys::runloop_connect_create(&config, out)
            })
        }?;
        RunLoop::current()?.add(&object)?;
        Ok(object)
    }
}

#[derive(Default)]
struct State {
    outcome: Cell<Option<std::result::Result<OwnedFd, i32>>>,
    waiter: Waiter,
}

unsafe extern "C" fn connected(
    _connect: *mut sys::runloop_connect,
    descriptor: c_int,
    error: c_int,
    info: *mut c_void,
) {
    // SAFETY: the library passes what the object was made with, and without an error a socket that is ours.
    unsafe {
        let outcome = if error == 0 { Ok(OwnedFd::from_raw_fd(descriptor)) } else { Err(error) };
        call_out(info, |state: &State| {
            state.outcome.set(Some(outcome));
            state.waiter.wake();
        });
    }
}

/// Why there is no connection: the error, and that of each attempt.
#[derive(Debug)]
pub struct ConnectError {
    cause: Error,
    name: Option<String>,
    failures: Vec<(String, io::Error)>,
}

impl ConnectError {
    fn of(object: &Object<State>, code: i32) -> ConnectError {
        // SAFETY: the object is referenced, the array as long as is said, and words of the C library live as long as the process.
        unsafe {
            let none = sys::runloop_connect_failure { address: [0; 128], error: 0 };
            let mut failures =
                vec![none; sys::runloop_connect_get_failures(object.raw(), ptr::null_mut(), 0)];
            sys::runloop_connect_get_failures(object.raw(), failures.as_mut_ptr(), failures.len());
            let words = |text: *const c_char| CStr::from_ptr(text).to_string_lossy().into_owned();
            let name = sys::runloop_connect_get_name_error(object.raw());
            ConnectError {
                cause: Error::from_code(WHAT, code),
                name: if name.is_null() { None } else { Some(words(name)) },
                failures: failures
                    .iter()
                    .map(|failure| {
                        (words(failure.address.as_ptr()), io::Error::from_raw_os_error(-failure.error))
                    })
                    .collect(),
            }
        }
    }

    /// The attempts that have failed, in their order: the address, and why.
    pub fn failures(&self) -> &[(String, io::Error)] {
        &self.failures
    }

    /// What the system calls the cause.
    pub fn raw_os_error(&self) -> Option<i32> {
        self.cause.raw_os_error()
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(formatter)?;
        self.name.iter().try_for_each(|words| write!(formatter, "; {words}"))?;
        self.failures.iter().try_for_each(|(address, error)| write!(formatter, "; {address}: {error}"))
    }
}

impl std::error::Error for ConnectError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

impl From<Error> for ConnectError {
    fn from(cause: Error) -> ConnectError {
        ConnectError { cause, name: None, failures: Vec::new() }
    }
}

impl From<ConnectError> for Error {
    fn from(error: ConnectError) -> Error {
        error.cause
    }
}

impl From<ConnectError> for io::Error {
    fn from(error: ConnectError) -> io::Error {
        error.cause.into()
    }
}
