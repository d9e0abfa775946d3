use crate::border;
use crate::callback::{context_of, create, value_of, Callback};
use crate::error::Result;
use crate::handle::Handle;
use crate::item::item;
use crate::run_loop::RunLoop;
use runloop_sys as sys;
use std::fmt;
use std::marker::PhantomData;
use std::os::raw::c_void;
use std::ptr::NonNull;

/// Calls a closure after it was signalled, on the thread that made it: once, however often it was.
///
/// Drop invalidates: a source that is dropped performs no more.
///
/// ```compile_fail,E0277
/// let source = runloop::Source::new(|| ()).unwrap();
/// std::thread::spawn(move || source.signal()); // not Send; its signaller is
/// ```
#[must_use = "a source that is dropped never performs"]
pub struct Source {
    raw: NonNull<sys::runloop_source>,
    /// Drops the closure, after its call if that is running: signallers may keep the C source.
    clear: unsafe fn(NonNull<sys::runloop_source>),
    thread: PhantomData<*mut ()>,
}

item!([] Source, runloop_source, runloop_add_source, runloop_remove_source, runloop_contains_source);

impl Source {
    /// A source in no loop yet. Fails with ENOMEM.
    ///
    /// If a nested run inside `perform` finds it signalled again, `perform` is called after it has returned.
    pub fn new<F: FnMut() + 'static>(perform: F) -> Result<Source> {
        Source::with_order(0, perform)
    }

    /// The same with an order: of the signalled sources, lower ones perform first.
    pub fn with_order<F: FnMut() + 'static>(order: i32, perform: F) -> Result<Source> {
        let context = context_of(Callback::new(perform));
        let config = sys::runloop_source_config {
            context,
            order,
            perform: Some(call::<F>),
            schedule: None,
            cancel: None,
        };
        // SAFETY: the context is of the callback's type, as are `call` and `clear`.
        let raw = unsafe {
            create::<Callback<F>, _>("the source could not be made", context, |out| {
                sys::runloop_source_create(&config, out)
            })
        }?;
        Ok(Source { raw, clear: clear::<F>, thread: PhantomData })
    }

    /// Marks the source: it performs in the next dispatch of its loop. Ignored if it is invalid.
    pub fn signal(&self) {
        // SAFETY: the source is referenced.
        unsafe { sys::runloop_source_signal(self.raw.as_ptr()) };
    }

    /// What signals the source on any thread. Fails as [`RunLoop::current`].
    pub fn signaller(&self) -> Result<Signaller> {
        let handle = RunLoop::current()?.handle();
        // SAFETY: the source is referenced.
        unsafe { sys::runloop_source_retain(self.raw.as_ptr()) };
        Ok(Signaller { raw: self.raw, handle })
    }

    /// Removes the source from every mode for ever. Its closure is dropped with it. Twice is once.
    pub fn invalidate(&self) {
        // SAFETY: the source is referenced.
        unsafe { sys::runloop_source_invalidate(self.raw.as_ptr()) };
    }

    /// Whether it can still perform.
    pub fn is_valid(&self) -> bool {
        // SAFETY: the source is referenced.
        unsafe { sys::runloop_source_is_valid(self.raw.as_ptr()) }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.invalidate();
        // SAFETY: `clear` is for this source's closure. This value's reference is given up after that.
        unsafe {
            (self.clear)(self.raw);
            sys::runloop_source_release(self.raw.as_ptr());
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Source({:p})", self.raw)
    }
}

/// # Safety
/// `raw` is a source with a callback of this type.
unsafe fn clear<F: FnMut()>(raw: NonNull<sys::runloop_source>) {
    // SAFETY: as the caller promises; the info of a source remains until it is freed.
    unsafe { value_of::<Callback<F>>(sys::runloop_source_get_info(raw.as_ptr())) }.clear();
}

unsafe extern "C" fn call<F: FnMut()>(raw: *mut sys::runloop_source, info: *mut c_void) {
    // SAFETY: a loop calls it with the context that the source was made with, which lives until it returns.
    let callback = unsafe { value_of::<Callback<F>>(info) };
    if callback.is_called() {
        return callback.repeat();
    }
    border::call_out(|| callback.call(|perform| perform()));
    border::call_out(|| {
        if callback.is_cleared() {
            callback.clear();
        } else if callback.is_repeated() {
            // SAFETY: the source, too.
            unsafe { sys::runloop_source_signal(raw) };
        }
    });
}

/// Signals a [`Source`] on any thread, and wakes its loop.
pub struct Signaller {
    raw: NonNull<sys::runloop_source>,
    handle: Handle,
}

// SAFETY: the C source may be signalled and released on any thread. Its closure is dropped on its own thread, by Source or by the end
// of the loop, or never.
unsafe impl Send for Signaller {}
// SAFETY: as above.
unsafe impl Sync for Signaller {}

impl Signaller {
    /// Marks the source and wakes its loop. Any number of signals before it performs are one. Ignored if it is invalid. O(1).
    pub fn signal(&self) {
        // SAFETY: the source is retained.
        unsafe { sys::runloop_source_signal(self.raw.as_ptr()) };
        self.handle.wake_up();
    }
}

impl Clone for Signaller {
    fn clone(&self) -> Signaller {
        // SAFETY: the source is retained.
        unsafe { sys::runloop_source_retain(self.raw.as_ptr()) };
        Signaller { raw: self.raw, handle: self.handle.clone() }
    }
}

impl Drop for Signaller {
    fn drop(&mut self) {
        // SAFETY: this value's reference.
        unsafe { sys::runloop_source_release(self.raw.as_ptr()) };
    }
}

impl fmt::Debug for Signaller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Signaller({:p})", self.raw)
    }
}
