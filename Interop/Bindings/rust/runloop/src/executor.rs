//! Futures on the thread's loop: polled by work that their wakers post.

use crate::border::Waiting;
use crate::descriptor::{DescriptorSource, Readiness};
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::mode::Mode;
use crate::run_loop::{RunLoop, RunResult};
use crate::source::{Signaller, Source};
use crate::timer::{Timer, TimerConfig};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::os::unix::io::{AsFd, OwnedFd};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

type Task = Pin<Box<dyn Future<Output = ()>>>;

struct Entry {
    /// `None` while it is being polled.
    task: Option<Task>,
    /// A nested run found it woken while it was being polled.
    is_woken: bool,
}

#[derive(Default)]
struct Tasks {
    entries: HashMap<u64, Entry>,
    last: u64,
}

thread_local! {
    /// Destructors of the thread's other locals may run the loop when this is gone, and its tasks with it.
    static TASKS: RefCell<Tasks> = RefCell::default();
}

impl RunLoop {
    /// Runs the default mode until `future` is ready. The loop serves everything else meanwhile; the future may borrow.
    ///
    /// Fails with `Interrupted` if the run is stopped, and as [`run`](RunLoop::run) and [`add`](RunLoop::add) do; the future is dropped.
    /// A stop in the iteration in which the future is woken counts as its wake-up. Waits nest: the inner one ends first.
    ///
    /// # Panics
    /// As [`run`](RunLoop::run).
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> Result<T> {
        let source = Source::new(|| ())?;
        self.add_in(&source, Mode::DEFAULT)?;
        let woken = Arc::new(AtomicBool::new(true));
        let waker = Waker::from(Arc::new(Root { woken: woken.clone(), signaller: source.signaller()? }));
        let _waiting = Waiting::new(&woken);
        let mut future = Box::pin(future);
        loop {
            if woken.swap(false, Ordering::AcqRel) {
                if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                    return Ok(value);
                }
            } else if let RunResult::Stopped = self.run()? {
                if !woken.load(Ordering::Acquire) {
                    return Err(Error::new("the future was not awaited", io::ErrorKind::Interrupted.into()));
                }
            }
        }
    }

    /// Has `future` polled by this loop, in the common modes, until it is ready, or the loop ends, which drops it.
    ///
    /// Fails with ESHUTDOWN, and with ENOMEM. A waker has no way to report that memory has run out: it ends the process, as an allocation
    /// of Rust's does.
    ///
    /// # Panics
    /// What `future` panics with, the run that polled it resumes; the future is dropped.
    pub fn spawn(&self, future: impl Future<Output = ()> + 'static) -> Result<()> {
        let task: Task = Box::pin(future);
        let number = TASKS.try_with(|tasks| {
            let mut tasks = tasks.borrow_mut();
            tasks.last += 1;
            let number = tasks.last;
            tasks.entries.insert(number, Entry { task: Some(task), is_woken: false });
            number
        });
        let number = number.map_err(|_| crate::border::shutdown("the thread is ending"))?;
        let spawned = Arc::new(Spawned { number, handle: self.handle(), is_posted: AtomicBool::new(true) });
        self.post({
            let spawned = spawned.clone();
            move || spawned.poll()
        })
        .map_err(|error| {
            remove(number);
            error
        })
    }
}

fn remove(number: u64) {
    let entry = TASKS.try_with(|tasks| tasks.borrow_mut().entries.remove(&number));
    drop(entry); // A future may spawn when it is dropped, so it is dropped here, outside the borrow.
}

/// Those of a loop that has ended.
pub(crate) fn drop_tasks() {
    let entries = TASKS.try_with(|tasks| std::mem::take(&mut tasks.borrow_mut().entries));
    drop(entries); // Outside the borrow, as there.
}

/// The waker of block_on's future.
struct Root {
    woken: Arc<AtomicBool>,
    signaller: Signaller,
}

impl Wake for Root {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.woken.swap(true, Ordering::AcqRel) {
            self.signaller.signal();
        }
    }
}

/// The waker of a spawned future, which remains on its thread, under its number.
struct Spawned {
    number: u64,
    handle: Handle,
    is_posted: AtomicBool,
}

impl Wake for Spawned {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_posted.swap(true, Ordering::AcqRel) {
            let spawned = self.clone();
            if let Err(error) = self.handle.post(move || spawned.poll()) {
                // The loop is over, and with it the future; or it would never be polled again.
                if error.kind() == io::ErrorKind::OutOfMemory {
                    std::alloc::handle_alloc_error(std::alloc::Layout::new::<Spawned>());
                }
            }
        }
    }
}

impl Spawned {
    /// On the loop's thread.
    fn poll(self: Arc<Self>) {
        self.is_posted.store(false, Ordering::Release);
        let task = TASKS.try_with(|tasks| {
            let mut tasks = tasks.borrow_mut();
            let entry = tasks.entries.get_mut(&self.number)?;
            entry.is_woken = entry.task.is_none();
            entry.task.take()
        });
        let mut polled = match task {
            Ok(Some(task)) => Polled { number: self.number, task: Some(task) },
            _ => return,
        };
        let waker = Waker::from(self.clone());
        if polled.poll(&mut Context::from_waker(&waker)) && polled.put_back() {
            waker.wake();
        }
    }
}

/// A task that is being polled. If it isn't put back, because it is ready or panics, its entry is removed.
struct Polled {
    number: u64,
    task: Option<Task>,
}

impl Polled {
    /// Whether the task is still pending.
    fn poll(&mut self, context: &mut Context<'_>) -> bool {
        self.task.as_mut().map_or(false, |task| task.as_mut().poll(context).is_pending())
    }

    /// Whether it was woken meanwhile.
    fn put_back(mut self) -> bool {
        let is_woken = TASKS.try_with(|tasks| match tasks.borrow_mut().entries.get_mut(&self.number) {
            Some(entry) => {
                entry.task = self.task.take();
                entry.is_woken
            }
            None => false,
        });
        is_woken.unwrap_or(false)
    }
}

impl Drop for Polled {
    fn drop(&mut self) {
        if self.task.is_some() {
            remove(self.number);
        }
    }
}

/// What a future shares with the item that it waits for.
struct Event<T> {
    value: Cell<Option<T>>,
    waker: Cell<Option<Waker>>,
}

impl<T> Event<T> {
    fn new() -> Rc<Event<T>> {
        Rc::new(Event { value: Cell::new(None), waker: Cell::new(None) })
    }

    fn happen(&self, value: T) {
        self.value.set(Some(value));
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    fn poll(&self, context: &mut Context<'_>) -> Poll<T> {
        match self.value.take() {
            Some(value) => Poll::Ready(value),
            None => {
                self.waker.set(Some(context.waker().clone()));
                Poll::Pending
            }
        }
    }
}

/// A future that is ready after `duration`, counted from its first poll, by a timer of the thread's loop in the common modes.
pub fn sleep(duration: Duration) -> Sleep {
    Sleep { duration, timer: None, event: Event::new() }
}

/// The future of [`sleep`].
#[must_use = "futures do nothing unless they are awaited"]
pub struct Sleep {
    duration: Duration,
    timer: Option<Timer>,
    event: Rc<Event<()>>,
}

impl Future for Sleep {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        if self.timer.is_none() {
            let event = self.event.clone();
            let timer = Timer::new(TimerConfig::after(self.duration), move |_| event.happen(()))?;
            RunLoop::current()?.add(&timer)?;
            self.timer = Some(timer);
        }
        self.event.poll(context).map(Ok)
    }
}

/// A future that is ready when one of the conditions `wanted` holds for the descriptor of `io`, with those that do. It waits on a
/// duplicate of the descriptor, in the common modes of the thread's loop; so it needs nothing of `io` any more, which may be closed. Five system
/// calls in all: an [`AsyncFd`](crate::AsyncFd), which remains with the loop, waits again and again for one.
pub fn ready(io: &impl AsFd, wanted: Readiness) -> Result<Ready> {
    let descriptor = io
        .as_fd()
        .try_clone_to_owned()
        .map_err(|error| Error::new("the descriptor could not be duplicated", error))?;
    let event = Event::new();
    let happened = event.clone();
    let source = DescriptorSource::new(descriptor, wanted, move |source, readiness| {
        source.invalidate();
        happened.happen(readiness);
    })?;
    RunLoop::current()?.add(&source)?;
    Ok(Ready { _source: source, event })
}

/// The future of [`ready`].
#[must_use = "futures do nothing unless they are awaited"]
pub struct Ready {
    _source: DescriptorSource<OwnedFd>,
    event: Rc<Event<Readiness>>,
}

impl Future for Ready {
    type Output = Readiness;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Readiness> {
        self.event.poll(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_of_tasks_that_are_ready_or_panic() {
        let run_loop = RunLoop::current().unwrap();
        run_loop.spawn(async {}).unwrap();
        run_loop.spawn(async { panic!("a task") }).unwrap();
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run_loop.run())).unwrap_err();
        assert!(TASKS.with(|tasks| tasks.borrow().entries.is_empty()));
    }
}
