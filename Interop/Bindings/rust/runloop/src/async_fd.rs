//! A descriptor that futures wait for again and again.

use crate::descriptor::{DescriptorSource, Readiness};
use crate::error::{Error, Result};
use crate::run_loop::RunLoop;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::Future;
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// What has a descriptor whose conditions futures wait for, on the thread that made it. It remains with the thread's loop between the waits, in the
/// common modes, so a wait for what has to come costs the loop's own calls of `epoll_wait`, one or two, and no other; one more where other
/// conditions are waited for than before, and two where the loop finds the descriptor ready while nobody waits. [`ready`](crate::ready) is
/// for a single wait.
///
/// - **Several futures** may wait, for the same conditions or others: each that a condition holds for is ready, with the same answer. Nothing is
///   taken for them, so all but one may find that there is nothing left, and wait again.
/// - **A future that is dropped** waits no more. **This value**, when it is dropped, leaves the loop first, and then closes the descriptor.
///   What waits borrows it, so it is never dropped before that.
/// - **The descriptor** stays open as long as this value; so it belongs to it, or is a `BorrowedFd<'static>`. If its number is closed elsewhere all the
///   same, the kernel does not report it, and nothing is woken. It should be non-blocking: a condition that held may hold no more.
/// - **A run** does not finish while it is there and has been waited for, as with any other source.
///
/// ```
/// use runloop::{AsyncFd, RunLoop};
/// use std::io::{ErrorKind, Read, Write};
/// use std::os::unix::net::UnixStream;
///
/// async fn read(socket: &AsyncFd<UnixStream>, buffer: &mut [u8]) -> std::io::Result<usize> {
///     loop {
///         match socket.get_ref().read(buffer) {
///             Err(error) if error.kind() == ErrorKind::WouldBlock => socket.readable().await?,
///             result => return result,
///         };
///     }
/// }
///
/// fn main() -> std::io::Result<()> {
///     let (ours, mut theirs) = UnixStream::pair()?;
///     ours.set_nonblocking(true)?;
///     let socket = AsyncFd::new(ours)?;
///     theirs.write_all(b"hello")?;
///     let mut buffer = [0; 64];
///     let count = RunLoop::current()?.block_on(read(&socket, &mut buffer))??;
///     assert_eq!(&buffer[..count], b"hello");
///     Ok(())
/// }
/// ```
///
/// ```compile_fail,E0505
/// # let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
/// let socket = runloop::AsyncFd::new(ours).unwrap();
/// let wait = socket.readable();
/// drop(socket); // borrowed by the future
/// drop(wait);
/// ```
///
/// ```compile_fail,E0277
/// # let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
/// let socket = runloop::AsyncFd::new(ours).unwrap();
/// std::thread::spawn(move || drop(socket)); // not Send
/// ```
#[must_use = "what nobody has is closed"]
pub struct AsyncFd<T: AsFd + 'static> {
    source: DescriptorSource<T>,
    waits: Rc<Waits>,
    is_added: Cell<bool>,
}

/// The waiters, in order of arrival.
#[derive(Default)]
struct Waits {
    last: Cell<u64>,
    entries: RefCell<Vec<Entry>>,
}

struct Entry {
    number: u64,
    wanted: Readiness,
    waker: Waker,
    /// What held when it was woken.
    ready: Option<Readiness>,
}

impl Waits {
    /// What the waits that were not woken want.
    fn wanted(&self) -> Readiness {
        let entries = self.entries.borrow();
        let waiting = entries.iter().filter(|entry| entry.ready.is_none());
        waiting.fold(Readiness::NONE, |all, entry| all | entry.wanted)
    }

    /// Wakes the waits that it concerns: whether there was one.
    fn wake(&self, ready: Readiness) -> bool {
        let always = Readiness::ERROR | Readiness::HANG_UP;
        let mut wakers = Vec::new();
        for entry in self.entries.borrow_mut().iter_mut() {
            if entry.ready.is_none() && ready.intersects(entry.wanted | always) {
                entry.ready = Some(ready);
                wakers.push(entry.waker.clone());
            }
        }
        let is_anybody = !wakers.is_empty();
        wakers.into_iter().for_each(Waker::wake); // Outside the borrow: a waker is anybody's code.
        is_anybody
    }
}

impl<T: AsFd + 'static> AsyncFd<T> {
    /// Takes what has the descriptor, which remains in it. The first wait adds it to the loop. Fails with ENOMEM.
    pub fn new(io: T) -> Result<AsyncFd<T>> {
        let waits = Rc::<Waits>::default();
        let woken = waits.clone();
        let source = DescriptorSource::new(io, Readiness::READABLE, move |source, ready| {
            // A wait that was woken has its turn before the descriptor's next one, and mostly waits again. So only what holds when nobody wants it
            // is given up. A failure leaves the conditions, and is tried again in the next turn.
            if !woken.wake(ready) {
                let _ = source.set_readiness(woken.wanted());
            }
        })?;
        Ok(AsyncFd { source, waits, is_added: Cell::new(false) })
    }

    /// A future that is ready when one of the conditions `wanted` holds, or an error or the peer's end, with those that hold. It fails, when it is
    /// polled, as [`add`](crate::Handle::add) does: with EPERM if it is a regular file, with EBADF, ENOSPC, ENOMEM; and with EINVAL if
    /// `wanted` is [`Readiness::NONE`].
    pub fn ready(&self, wanted: Readiness) -> Wait<'_, T> {
        Wait { io: self, wanted, number: None }
    }

    /// The same for [`Readiness::READABLE`].
    pub fn readable(&self) -> Wait<'_, T> {
        self.ready(Readiness::READABLE)
    }

    /// The same for [`Readiness::WRITABLE`].
    pub fn writable(&self) -> Wait<'_, T> {
        self.ready(Readiness::WRITABLE)
    }

    /// What has the descriptor.
    pub fn get_ref(&self) -> &T {
        self.source.get_ref()
    }

    /// Has the loop ask for `wanted` as well.
    fn ask(&self, wanted: Readiness) -> Result<()> {
        if wanted == Readiness::NONE {
            return Err(Error::from_code("there is nothing to wait for", -22));
        }
        let asked = self.source.readiness();
        if !self.is_added.get() {
            self.source.set_readiness(wanted)?;
            RunLoop::current()?.add(&self.source)?;
            self.is_added.set(true);
        } else if !asked.contains(wanted) {
            self.source.set_readiness(asked | wanted)?;
        }
        Ok(())
    }
}

impl<T: AsFd + 'static> AsFd for AsyncFd<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.source.as_fd()
    }
}

impl<T: AsFd + 'static> AsRawFd for AsyncFd<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.source.as_raw_fd()
    }
}

impl<T: AsFd + 'static> fmt::Debug for AsyncFd<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "AsyncFd({}, {} wait)", self.as_raw_fd(), self.waits.entries.borrow().len())
    }
}

/// The future of [`AsyncFd::ready`].
#[must_use = "futures do nothing unless they are awaited"]
pub struct Wait<'a, T: AsFd + 'static> {
    io: &'a AsyncFd<T>,
    wanted: Readiness,
    /// Its entry's, while it has one.
    number: Option<u64>,
}

impl<T: AsFd + 'static> Future for Wait<'_, T> {
    type Output = Result<Readiness>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Readiness>> {
        let waits = self.io.waits.clone();
        let waker = context.waker().clone();
        if let Some(number) = self.number {
            let mut entries = waits.entries.borrow_mut();
            let place = entries.iter().position(|entry| entry.number == number);
            let place = place.expect("a future that waits has its entry");
            if let Some(ready) = entries[place].ready {
                let wait = entries.remove(place);
                self.number = None;
                drop(entries);
                drop(wait); // With its waker, which is anybody's code.
                return Poll::Ready(Ok(ready));
            }
            let former = std::mem::replace(&mut entries[place].waker, waker);
            drop(entries);
            drop(former);
            return Poll::Pending;
        }
        self.io.ask(self.wanted)?;
        waits.last.set(waits.last.get() + 1);
        self.number = Some(waits.last.get());
        let entry = Entry { number: waits.last.get(), wanted: self.wanted, waker, ready: None };
        waits.entries.borrow_mut().push(entry);
        Poll::Pending
    }
}

impl<T: AsFd + 'static> Drop for Wait<'_, T> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            let mut entries = self.io.waits.entries.borrow_mut();
            let place = entries.iter().position(|entry| entry.number == number);
            let left = place.map(|place| entries.remove(place));
            drop(entries);
            drop(left); // With its waker, which is anybody's code.
        }
    }
}
