use super::io::AsyncRead;
use super::object::{call_out, poll_fn, Object, Waiter};
use super::writer::Writer;
use crate::error::{check, Error, Result};
use crate::run_loop::RunLoop;
use crate::time;
use runloop_sys as sys;
use std::cell::{Cell, RefCell};
use std::io;
use std::os::raw::{c_char, c_int, c_void};
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::ptr;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// The limits of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReaderConfig {
    /// The longest line, and the most bytes that are kept: 64 KiB, if nothing else is said.
    pub limit: usize,
    /// How long nothing may arrive while somebody reads, before it ends with ETIMEDOUT. Zero: for ever.
    pub idle: Duration,
    /// How long a line may take that has begun. Zero: for ever.
    pub message: Duration,
}

impl Default for ReaderConfig {
    fn default() -> ReaderConfig {
        ReaderConfig { limit: 64 * 1024, idle: Duration::ZERO, message: Duration::ZERO }
    }
}

/// What is read next, if it has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wish {
    Nothing,
    Some(usize),
    Line,
    Exactly(usize),
    /// Everything up to the end, unless that is more.
    End(usize),
}

impl Wish {
    /// How many of `bytes` are what is wished for, if it is there. The first `seen` have no end of a line.
    fn find(self, bytes: &[u8], seen: usize) -> Option<usize> {
        match self {
            Wish::Nothing => None,
            Wish::Exactly(count) => Some(count).filter(|&count| count <= bytes.len()),
            Wish::Some(most) if most > 0 && bytes.is_empty() => None,
            Wish::Some(most) => Some(most.min(bytes.len())),
            Wish::End(most) => Some(bytes.len()).filter(|&count| count > most),
            Wish::Line => bytes[seen..].iter().position(|&byte| byte == b'\n').map(|end| seen + end + 1),
        }
    }
}

struct State {
    wish: Cell<Wish>,
    /// How many of the bytes that C keeps have no end of a line.
    seen: Cell<usize>,
    taken: RefCell<Vec<u8>>,
    /// The end: 0, or an error.
    end: Cell<Option<i32>>,
    waiter: Waiter,
}

/// Reads a descriptor, and only while somebody waits for it.
pub struct Reader {
    input: Object<State>,
    io: Rc<OwnedFd>,
}

impl Reader {
    /// For a socket, a pipe, a terminal or a file. Fails with EBADF if it is not open for reading, EINVAL for a limit of 0, ENOMEM.
    pub fn new(io: impl Into<OwnedFd>, config: ReaderConfig) -> Result<Reader> {
        Reader::shared(Rc::new(io.into()), config, None)
    }

    pub(crate) fn shared(io: Rc<OwnedFd>, config: ReaderConfig, writer: Option<&Writer>) -> Result<Reader> {
        let run_loop = RunLoop::current()?;
        let state = State {
            wish: Cell::new(Wish::Nothing),
            seen: Cell::new(0),
            taken: RefCell::default(),
            end: Cell::new(None),
            waiter: Waiter::default(),
        };
        // SAFETY: the callbacks take the state that the object is made with. The descriptor is closed after the object's end.
        let input = unsafe {
            Object::new("the descriptor can't be read", state, |context, out| {
                let config = sys::runloop_input_config {
                    context,
                    descriptor: io.as_raw_fd(),
                    owns: false,
                    limit: config.limit,
                    loop_: run_loop.as_ptr(),
                    received: Some(received),
                    received_line: None,
                    ended: Some(ended),
                    idle_ns: time::nanoseconds(config.idle),
                    output: writer.map_or(ptr::null_mut(), Writer::raw),
                    message_ns: time::nanoseconds(config.message),
                };
                sys::runloop_input_create(&config, out)
            })
        }?;
        // SAFETY: the object is referenced.
        check("the input can't be paused", unsafe { sys::runloop_input_pause(input.raw()) })?;
        run_loop.add(&input)?;
        Ok(Reader { input, io })
    }

    /// When it ends with ETIMEDOUT, whatever arrives. `None`: not at all. Fails after the end.
    pub fn set_deadline(&self, deadline: Option<Instant>) -> Result<()> {
        let deadline_ns = deadline.map_or(sys::RUNLOOP_NEVER, time::date_of);
        // SAFETY: the object is referenced.
        let code = unsafe { sys::runloop_input_set_deadline(self.input.raw(), deadline_ns) };
        check("the reader has no deadline", code).map(drop)
    }

    /// Until what is wished for was taken, or the end has come.
    fn poll_for(&mut self, wish: Wish, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let state = self.input.state();
        if wish.find(&state.taken.borrow(), 0).is_some() || state.end.get().is_some() {
            return Poll::Ready(Ok(()));
        }
        let missing = match wish {
            Wish::Exactly(count) => Wish::Exactly(count - state.taken.borrow().len()),
            Wish::End(_) => Wish::Some(usize::MAX),
            wish => wish,
        };
        if state.wish.replace(missing) != missing {
            state.seen.set(0);
            // SAFETY: the object is referenced.
            if let Err(error) = check("read", unsafe { sys::runloop_input_resume(self.input.raw()) }) {
                return Poll::Ready(Err(error.into()));
            }
        }
        state.waiter.wait(context)
    }

    async fn wait_for(&mut self, wish: Wish) -> io::Result<()> {
        let leaving = Leaving(self);
        poll_fn(|context| leaving.0.poll_for(wish, context)).await
    }

    /// What is wished for of what was taken; at the end, the rest, or the error.
    fn take(&mut self, wish: Wish) -> io::Result<Vec<u8>> {
        let state = self.input.state();
        let mut taken = state.taken.borrow_mut();
        match (wish.find(&taken, 0), state.end.get()) {
            (Some(count), _) => Ok(taken.drain(..count).collect()),
            (None, Some(code)) if code < 0 => Err(Error::from_code("read", code).into()),
            (None, _) => Ok(std::mem::take(&mut *taken)),
        }
    }

    /// Reads into `buffer`: how many bytes, at least one; 0 at the end. It fails with the descriptor's error, and with ETIMEDOUT.
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.wait_for(Wish::Some(buffer.len())).await?;
        self.take_into(buffer)
    }

    fn take_into(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.take(Wish::Some(buffer.len()))?;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    /// A line without its end, or `None` at the end. It fails with EMSGSIZE if it is longer than the limit, and with `InvalidData` if it
    /// is not UTF-8.
    pub async fn line(&mut self) -> io::Result<Option<String>> {
        self.wait_for(Wish::Line).await?;
        let mut line = self.take(Wish::Line)?;
        if line.is_empty() {
            return Ok(None);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        String::from_utf8(line).map(Some).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// So many bytes, at most the limit, or those up to the end.
    pub async fn exactly(&mut self, count: usize) -> io::Result<Vec<u8>> {
        self.wait_for(Wish::Exactly(count)).await?;
        self.take(Wish::Exactly(count))
    }

    /// Everything up to the end. It fails with EMSGSIZE if that is more than `most`; the next read has what was read.
    pub async fn to_end(&mut self, most: usize) -> io::Result<Vec<u8>> {
        self.wait_for(Wish::End(most)).await?;
        if self.input.state().taken.borrow().len() > most {
            return Err(Error::from_code("read", -90).into());
        }
        self.take(Wish::End(most))
    }
}

/// A wait that is over, or was dropped: then nothing is read.
struct Leaving<'a>(&'a mut Reader);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if self.0.input.state().wish.replace(Wish::Nothing) != Wish::Nothing {
            // SAFETY: the object is referenced.
            unsafe { sys::runloop_input_pause(self.0.input.raw()) };
        }
    }
}

impl AsyncRead for Reader {
    /// A read that is not polled again may take bytes all the same, which the next one gets.
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        match self.poll_for(Wish::Some(buffer.len()), context) {
            Poll::Ready(Ok(())) => Poll::Ready(self.take_into(buffer)),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsFd for Reader {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.io.as_fd()
    }
}

unsafe extern "C" fn received(
    input: *mut sys::runloop_input,
    bytes: *const c_char,
    count: usize,
    info: *mut c_void,
) -> usize {
    let mut consumed = 0;
    // SAFETY: the library passes what the object was made with, and so many bytes.
    unsafe {
        call_out(info, |state: &State| {
            let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), count);
            let seen = state.seen.replace(count).min(count);
            if let Some(found) = state.wish.get().find(bytes, seen) {
                consumed = found;
                state.taken.borrow_mut().extend_from_slice(&bytes[..consumed]);
                state.wish.set(Wish::Nothing);
                sys::runloop_input_pause(input);
                state.waiter.wake();
            }
        });
    }
    consumed
}

unsafe extern "C" fn ended(
    _input: *mut sys::runloop_input,
    error: c_int,
    rest: *const c_char,
    count: usize,
    info: *mut c_void,
) {
    // SAFETY: as above; without a rest the pointer may be NULL.
    unsafe {
        call_out(info, |state: &State| {
            if count > 0 {
                state
                    .taken
                    .borrow_mut()
                    .extend_from_slice(std::slice::from_raw_parts(rest.cast::<u8>(), count));
            }
            state.end.set(Some(error));
            state.wish.set(Wish::Nothing);
            state.waiter.wake();
        });
    }
}
