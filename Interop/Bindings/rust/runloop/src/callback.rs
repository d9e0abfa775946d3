//! The closure of an item, as the context of a C item.

use crate::border;
use runloop_sys as sys;
use std::cell::{Cell, RefCell};
use std::os::raw::c_void;
use std::ptr;

/// A closure that belongs to the thread that made it: it is called and dropped there, and nowhere else.
pub(crate) struct Callback<F> {
    thread: u64,
    is_cleared: Cell<bool>,
    is_repeated: Cell<bool>,
    closure: RefCell<Option<F>>,
}

impl<F> Callback<F> {
    pub(crate) fn new(closure: F) -> Callback<F> {
        Callback {
            thread: border::thread_number(),
            is_cleared: Cell::new(false),
            is_repeated: Cell::new(false),
            closure: RefCell::new(Some(closure)),
        }
    }

    /// Calls the closure, which is not being called.
    pub(crate) fn call(&self, body: impl FnOnce(&mut F)) {
        if let Some(closure) = self.closure.borrow_mut().as_mut() {
            body(closure);
        }
    }

    /// Notes, inside a call, that another one is due after it.
    pub(crate) fn repeat(&self) {
        self.is_repeated.set(true);
    }

    /// Whether that was noted since the last time.
    pub(crate) fn is_repeated(&self) -> bool {
        self.is_repeated.take()
    }

    /// Drops the closure, unless it is being called: then `is_cleared` is for the caller.
    pub(crate) fn clear(&self) {
        self.is_cleared.set(true);
        let closure = match self.closure.try_borrow_mut() {
            Ok(mut closure) => closure.take(),
            Err(_) => None,
        };
        drop(closure);
    }

    /// Whether the closure is to be dropped, or was.
    pub(crate) fn is_cleared(&self) -> bool {
        self.is_cleared.get()
    }

    /// Whether the closure is being called.
    pub(crate) fn is_called(&self) -> bool {
        self.closure.try_borrow().is_err()
    }

    fn may_be_dropped_here(&self) -> bool {
        let is_empty = self.closure.try_borrow().map_or(false, |closure| closure.is_none());
        is_empty || self.thread == border::thread_number()
    }
}

/// What is put into a C item, and is dropped with it.
pub(crate) trait Context: Sized {
    fn may_be_dropped_here(&self) -> bool;
}

impl<F> Context for Callback<F> {
    fn may_be_dropped_here(&self) -> bool {
        Callback::may_be_dropped_here(self)
    }
}

/// Boxes `value` as the context of an item.
pub(crate) fn context_of<C: Context>(value: C) -> sys::runloop_context {
    let info: *mut c_void = Box::into_raw(Box::new(value)).cast();
    sys::runloop_context { info, retain: None, release: Some(release::<C>), describe: None }
}

/// Drops a context whose item could not be made.
///
/// # Safety
/// `context` comes from `context_of::<C>`, and no item has it.
pub(crate) unsafe fn take_back<C: Context>(context: sys::runloop_context) {
    // SAFETY: as the caller promises.
    drop(unsafe { Box::from_raw(context.info.cast::<C>()) });
}

/// The value of an item's context.
///
/// # Safety
/// `info` comes from `context_of::<C>`, and its item exists while the result is used.
pub(crate) unsafe fn value_of<'a, C: Context>(info: *mut c_void) -> &'a C {
    // SAFETY: as the caller promises.
    unsafe { &*info.cast::<C>() }
}

unsafe extern "C" fn release<C: Context>(info: *mut c_void) {
    let info = info.cast::<C>();
    border::call_out(|| {
        // SAFETY: the item's last call with its context, which context_of boxed.
        let value = unsafe { Box::from_raw(info) };
        if !value.may_be_dropped_here() {
            // C code on another thread, such as a visit of the loop's items, had the last reference. A closure
            // that is not Send is never dropped there: it is leaked.
            std::mem::forget(value);
        }
    });
}

/// Makes an item with `create`, one of the C library's functions. The context is dropped if that fails.
///
/// # Safety
/// `context` comes from `context_of::<C>`, and `create` gives it to an item, or returns an error.
pub(crate) unsafe fn create<C: Context, Raw>(
    what: &'static str,
    context: sys::runloop_context,
    create: impl FnOnce(*mut *mut Raw) -> i32,
) -> crate::Result<ptr::NonNull<Raw>> {
    let mut raw = ptr::null_mut();
    let code = create(&mut raw);
    match ptr::NonNull::new(raw) {
        Some(raw) if code >= 0 => Ok(raw),
        _ => {
            // SAFETY: no item was made.
            unsafe { take_back::<C>(context) };
            Err(crate::Error::from_code(what, code))
        }
    }
}
