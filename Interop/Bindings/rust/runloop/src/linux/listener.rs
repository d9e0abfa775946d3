use super::arrivals::Arrivals;
use super::object::{call_out, Object};
use crate::error::{check, Error, Result};
use runloop_sys as sys;
use std::ffi::CString;
use std::os::raw::{c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::task::{Context, Poll};

const WHAT: &str = "the socket can't listen";

/// A socket whose connections are accepted, while somebody waits for one; others wait in the kernel's queue, but for a few.
pub struct Listener(Object<Arrivals<OwnedFd>>);

impl Listener {
    /// TCP. `address` is that of an interface as a number: "127.0.0.1", "::" for all. With `port` 0 the kernel chooses one.
    pub fn tcp(address: &str, port: u16) -> Result<Listener> {
        let address = text(address.as_bytes())?;
        // SAFETY: the text lives during the call.
        Listener::made(unsafe { sys::runloop_listen_tcp(address.as_ptr(), port, 0) }, false)
    }

    /// A Unix socket with a path, which is removed at the end. `mode` has its permissions.
    pub fn unix(path: impl AsRef<Path>, mode: u32) -> Result<Listener> {
        let path = text(path.as_ref().as_os_str().as_bytes())?;
        // SAFETY: as above.
        Listener::made(unsafe { sys::runloop_listen_unix(path.as_ptr(), mode, 0) }, true)
    }

    /// A Unix socket without a path.
    pub fn abstract_name(name: &str) -> Result<Listener> {
        let name = text(name.as_bytes())?;
        // SAFETY: as above.
        Listener::made(unsafe { sys::runloop_listen_abstract(name.as_ptr(), 0) }, false)
    }

    /// A socket that listens already, from elsewhere.
    pub fn new(socket: impl Into<OwnedFd>) -> Result<Listener> {
        Listener::with(socket.into(), false)
    }

    fn made(socket: RawFd, removes_path: bool) -> Result<Listener> {
        let socket = check(WHAT, socket)?;
        // SAFETY: the library has just made it, for us.
        Listener::with(unsafe { OwnedFd::from_raw_fd(socket) }, removes_path)
    }

    fn with(socket: OwnedFd, removes_path: bool) -> Result<Listener> {
        // SAFETY: the callbacks take the state that the object is made with. The socket is the object's if there is one.
        let object = unsafe {
            Object::new(WHAT, Arrivals::default(), |context, out| {
                let config = sys::runloop_listener_config {
                    context,
                    descriptor: socket.as_raw_fd(),
                    owns: true,
                    removes_path,
                    budget: 0,
                    accepted: Some(accepted),
                    refused: None,
                    paused: Some(paused),
                    cancel: None,
                    resets: false,
                };
                sys::runloop_listener_create(&config, out)
            })
        }?;
        let _ = socket.into_raw_fd();
        Ok(Listener(object))
    }

    /// The next connection: a non-blocking socket, for [`Stream`](super::Stream). While descriptors or memory have run out, it waits; it fails
    /// when the socket has.
    pub async fn accept(&mut self) -> Result<OwnedFd> {
        self.0.next(WHAT).await
    }

    /// The same, polled: for streams.
    pub fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<Result<OwnedFd>> {
        self.0.poll_next(WHAT, context)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the object, which this value has, has the socket.
        unsafe { BorrowedFd::borrow_raw(sys::runloop_source_get_descriptor(self.0.raw())) }
    }
}

fn text(bytes: &[u8]) -> Result<CString> {
    CString::new(bytes).map_err(|error| Error::new(WHAT, error.into()))
}

unsafe extern "C" fn accepted(listener: *mut sys::runloop_listener, descriptor: c_int, info: *mut c_void) {
    // SAFETY: the library passes what the object was made with, and a socket that is ours.
    unsafe {
        let socket = OwnedFd::from_raw_fd(descriptor);
        call_out(info, |arrivals: &Arrivals<OwnedFd>| arrivals.put(listener, socket));
    }
}

unsafe extern "C" fn paused(listener: *mut sys::runloop_listener, error: c_int, info: *mut c_void) {
    const EMFILE: i32 = 24;
    const ENFILE: i32 = 23;
    const ENOBUFS: i32 = 105;
    const ENOMEM: i32 = 12;
    if ![0, -EMFILE, -ENFILE, -ENOBUFS, -ENOMEM].contains(&error) {
        // SAFETY: the library passes what the object was made with.
        unsafe { call_out(info, |arrivals: &Arrivals<OwnedFd>| arrivals.fail(listener, error)) };
    }
}
