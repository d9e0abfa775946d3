//! An object of librunloop-linux: a source, and what its callbacks share with the value that has it.

use crate::border;
use crate::error::{Error, Result};
use crate::item::item;
use runloop_sys as sys;
use std::cell::Cell;
use std::future::Future;
use std::marker::PhantomData;
use std::os::raw::c_void;
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// It ends when it is dropped. The state is shared with the C object, which may be released later, and by another thread: what is in it can
/// be dropped anywhere, and is used only on the loop's thread.
pub struct Object<S: Send> {
    raw: NonNull<sys::runloop_source>,
    state: Arc<S>,
    thread: PhantomData<*mut ()>,
}

item!([S: Send] Object<S>, runloop_source, runloop_add_source, runloop_remove_source, runloop_contains_source);

impl<S: Send> Object<S> {
    /// Makes an object with `create`, one of the C library's functions.
    ///
    /// # Safety
    /// `create` gives the context to an object whose callbacks take an `S` for its info, or returns an error.
    pub(crate) unsafe fn new(
        what: &'static str,
        state: S,
        create: impl FnOnce(sys::runloop_context, *mut *mut sys::runloop_source) -> i32,
    ) -> Result<Object<S>> {
        // Not Sync, as only one thread uses it.
        #[allow(clippy::arc_with_non_send_sync)]
        let state = Arc::new(state);
        let info = Arc::into_raw(state.clone()) as *mut c_void;
        let context =
            sys::runloop_context { info, retain: None, release: Some(release::<S>), describe: None };
        let mut raw = ptr::null_mut();
        let code = create(context, &mut raw);
        match NonNull::new(raw) {
            Some(raw) if code >= 0 => Ok(Object { raw, state, thread: PhantomData }),
            _ => {
                // SAFETY: no object was made that has it.
                drop(unsafe { Arc::from_raw(info as *const S) });
                Err(Error::from_code(what, code))
            }
        }
    }

    pub(crate) fn raw(&self) -> *mut sys::runloop_source {
        self.raw.as_ptr()
    }

    pub(crate) fn state(&self) -> &S {
        &self.state
    }

    /// Leaves the object to its loops, until it ends by itself.
    pub(crate) fn detach(self) {
        let object = std::mem::ManuallyDrop::new(self);
        // SAFETY: this value's reference to the object, and to the state, neither of which is used any more.
        unsafe {
            sys::runloop_source_release(object.raw());
            drop(ptr::read(&object.state));
        }
    }
}

impl<S: Send> Drop for Object<S> {
    fn drop(&mut self) {
        // SAFETY: this value's reference.
        unsafe {
            sys::runloop_source_invalidate(self.raw());
            sys::runloop_source_release(self.raw());
        }
    }
}

unsafe extern "C" fn release<S: Send>(info: *mut c_void) {
    // SAFETY: the object's only release of what it was made with.
    border::call_out(|| drop(unsafe { Arc::from_raw(info as *const S) }));
}

/// Calls `body` with the state of an object, in its callback.
///
/// # Safety
/// `info` is that of an object with such a state.
pub(crate) unsafe fn call_out<S>(info: *mut c_void, body: impl FnOnce(&S)) {
    // SAFETY: as the caller promises; the object has a reference during its callback.
    border::call_out(|| body(unsafe { &*(info as *const S) }));
}

/// The waiter, if there is one.
#[derive(Default)]
pub(crate) struct Waiter(Cell<Option<Waker>>);

impl Waiter {
    pub(crate) fn wait<T>(&self, context: &mut Context<'_>) -> Poll<T> {
        self.0.set(Some(context.waker().clone()));
        Poll::Pending
    }

    pub(crate) fn wake(&self) {
        if let Some(waker) = self.0.take() {
            waker.wake();
        }
    }
}

/// The future of a function that polls; `std::future::poll_fn` is younger than the oldest compiler that this crate is for.
pub(crate) fn poll_fn<T, F: FnMut(&mut Context<'_>) -> Poll<T> + Unpin>(poll: F) -> PollFn<F> {
    PollFn(poll)
}

pub(crate) struct PollFn<F>(F);

impl<T, F: FnMut(&mut Context<'_>) -> Poll<T> + Unpin> Future for PollFn<F> {
    type Output = T;
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        (self.0)(context)
    }
}
