use super::io::AsyncWrite;
use super::object::{call_out, poll_fn, Object, Waiter};
use crate::error::{check, Error, Result};
use crate::run_loop::RunLoop;
use crate::time;
use runloop_sys as sys;
use std::io;
use std::os::raw::{c_int, c_void};
use std::os::unix::io::{AsRawFd, OwnedFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

const EAGAIN: i32 = 11;

/// The limits of a writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterConfig {
    /// How many bytes may wait: 64 KiB, if nothing else is said.
    pub limit: usize,
    /// How long waiting output may not move before it ends with ETIMEDOUT. Zero: for ever.
    pub idle: Duration,
    /// A connection that ends before its writer was closed is reset: the kernel keeps nothing for a peer that doesn't read.
    pub resets: bool,
}

impl Default for WriterConfig {
    fn default() -> WriterConfig {
        WriterConfig { limit: 64 * 1024, idle: Duration::ZERO, resets: false }
    }
}

/// Writes to a descriptor: bytes are taken at once as far as the limit allows, and sent by the loop. Dropped, it drops what waits.
pub struct Writer {
    output: Object<Waiter>,
    /// `None` when it was closed.
    io: Option<Rc<OwnedFd>>,
}

impl Writer {
    /// For a socket, a pipe, a terminal or a file. Fails with EBADF if it is not open for writing, EINVAL for a limit of 0, ENOMEM.
    pub fn new(io: impl Into<OwnedFd>, config: WriterConfig) -> Result<Writer> {
        Writer::shared(Rc::new(io.into()), config)
    }

    pub(crate) fn shared(io: Rc<OwnedFd>, config: WriterConfig) -> Result<Writer> {
        let run_loop = RunLoop::current()?;
        // SAFETY: `drained` takes the state that the object is made with. The descriptor is closed after the object's end.
        let output = unsafe {
            Object::new("the descriptor can't be written to", Waiter::default(), |context, out| {
                let config = sys::runloop_output_config {
                    context,
                    descriptor: io.as_raw_fd(),
                    owns: false,
                    limit: config.limit,
                    loop_: run_loop.as_ptr(),
                    drained: Some(drained),
                    idle_ns: time::nanoseconds(config.idle),
                    cancel: None,
                    resets: config.resets,
                    // Waiters for space resume while the rest is sent.
                    low_water: config.limit / 2,
                };
                sys::runloop_output_create(&config, out)
            })
        }?;
        run_loop.add(&output)?;
        Ok(Writer { output, io: Some(io) })
    }

    /// For the input of the same connection.
    pub(crate) fn raw(&self) -> *mut sys::runloop_output {
        self.output.raw()
    }

    fn poll(
        &mut self,
        context: &mut Context<'_>,
        what: &'static str,
        code: isize,
    ) -> Poll<io::Result<usize>> {
        if code == -(EAGAIN as isize) {
            return self.output.state().wait(context);
        }
        Poll::Ready(if code < 0 {
            Err(Error::from_code(what, code as i32).into())
        } else {
            Ok(code as usize)
        })
    }

    /// Writes all of `bytes`: they are sent, or wait for the loop to send them.
    pub async fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = poll_fn(|context| Pin::new(&mut *self).poll_write(context, bytes)).await?;
            bytes = &bytes[count..];
        }
        Ok(())
    }

    /// Until nothing waits.
    pub async fn flush(&mut self) -> io::Result<()> {
        poll_fn(|context| Pin::new(&mut *self).poll_flush(context)).await
    }

    /// Until all was sent; then the peer reads an end, and this has ended: what is written later is an error.
    pub async fn close(&mut self) -> io::Result<()> {
        poll_fn(|context| Pin::new(&mut *self).poll_close(context)).await
    }

    /// By when all that waits has to be sent, however much moves until then: ETIMEDOUT. `None`: by no instant. Fails after the end.
    pub fn set_deadline(&self, deadline: Option<Instant>) -> Result<()> {
        let deadline_ns = deadline.map_or(sys::RUNLOOP_NEVER, time::date_of);
        // SAFETY: the object is referenced.
        let code = unsafe { sys::runloop_output_set_deadline(self.output.raw(), deadline_ns) };
        check("the writer has no deadline", code).map(drop)
    }

    /// How many bytes wait.
    pub fn waiting(&self) -> usize {
        // SAFETY: the object is referenced.
        unsafe { sys::runloop_output_get_waiting(self.output.raw()) }
    }
}

impl AsyncWrite for Writer {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        // SAFETY: the object is referenced, and the bytes live during the call.
        let code = unsafe {
            sys::runloop_output_write(self.output.raw(), bytes.as_ptr() as *const c_void, bytes.len())
        };
        self.poll(context, "write", code)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // SAFETY: the object is referenced.
        let code = unsafe { sys::runloop_output_flush(self.output.raw()) };
        self.poll(context, "flush", code as isize).map_ok(drop)
    }

    fn poll_close(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // SAFETY: the object is referenced.
        let code = unsafe { sys::runloop_output_finish(self.output.raw()) };
        let closed = self.poll(context, "close", code as isize).map_ok(drop);
        if let Poll::Ready(Ok(())) = closed {
            // SAFETY: as above. Of a pipe, what is dropped then was the only one.
            unsafe { sys::runloop_source_invalidate(self.output.raw()) };
            self.io = None;
        }
        closed
    }
}

unsafe extern "C" fn drained(_output: *mut sys::runloop_output, _error: c_int, info: *mut c_void) {
    // SAFETY: the library passes what the object was made with. The error is the result of the next call.
    unsafe { call_out(info, Waiter::wake) };
}
