//! What an object has brought and nobody has taken. The object is in its modes only while somebody waits.

use super::object::{poll_fn, Object, Waiter};
use crate::error::{Error, Result};
use crate::mode::Mode;
use crate::run_loop::RunLoop;
use runloop_sys as sys;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::task::{Context, Poll};

pub struct Arrivals<T> {
    values: RefCell<VecDeque<T>>,
    /// The error after which there are no more.
    end: Cell<Option<i32>>,
    waiter: Waiter,
}

impl<T> Default for Arrivals<T> {
    fn default() -> Arrivals<T> {
        Arrivals { values: RefCell::default(), end: Cell::new(None), waiter: Waiter::default() }
    }
}

impl<T: Send> Arrivals<T> {
    /// In the callback of `source`, whose state this is.
    pub(crate) fn put(&self, source: *mut sys::runloop_source, value: T) {
        self.values.borrow_mut().push_back(value);
        self.went_on(source);
    }

    pub(crate) fn fail(&self, source: *mut sys::runloop_source, code: i32) {
        self.end.set(Some(code));
        self.went_on(source);
    }

    fn went_on(&self, source: *mut sys::runloop_source) {
        // SAFETY: the source lives during its callback, on its loop's thread.
        unsafe { sys::runloop_remove_source(sys::runloop_current(), source, Mode::COMMON.as_ptr()) };
        self.waiter.wake();
    }
}

impl<T: Send> Object<Arrivals<T>> {
    pub(crate) fn poll_next(&self, what: &'static str, context: &mut Context<'_>) -> Poll<Result<T>> {
        let arrivals = self.state();
        if let Some(value) = arrivals.values.borrow_mut().pop_front() {
            return Poll::Ready(Ok(value));
        }
        if let Some(code) = arrivals.end.get() {
            return Poll::Ready(Err(Error::from_code(what, code)));
        }
        match RunLoop::current().and_then(|run_loop| run_loop.add(self)) {
            Ok(()) => arrivals.waiter.wait(context),
            Err(error) => Poll::Ready(Err(error)),
        }
    }

    pub(crate) async fn next(&self, what: &'static str) -> Result<T> {
        let _leaving = Leaving(self);
        poll_fn(|context| self.poll_next(what, context)).await
    }
}

/// A wait that is over, or was dropped.
struct Leaving<'a, T: Send>(&'a Object<Arrivals<T>>);

impl<T: Send> Drop for Leaving<'_, T> {
    fn drop(&mut self) {
        if let Ok(run_loop) = RunLoop::current() {
            let _ = run_loop.remove(self.0, Mode::COMMON);
        }
    }
}
