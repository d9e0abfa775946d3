use crate::border;
use crate::callback::{context_of, create, value_of, Callback, Context};
use crate::error::{check, Result};
use crate::flags::flags;
use crate::item::item;
use runloop_sys as sys;
use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::os::raw::c_void;
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::ptr::NonNull;

flags! {
    /// Conditions of a descriptor.
    Readiness {
        /// There is something to read or to accept, or the end has been reached.
        READABLE = sys::RUNLOOP_READABLE;
        /// There is something urgent to read.
        PRIORITY = sys::RUNLOOP_PRIORITY;
        /// Something can be written.
        WRITABLE = sys::RUNLOOP_WRITABLE;
        /// An error: reported whether it is waited for or not.
        ERROR = sys::RUNLOOP_ERROR;
        /// The peer is gone: reported in any case. Waiting for it adds "the peer has shut down its half".
        HANG_UP = sys::RUNLOOP_HANG_UP;
    }
}

impl Readiness {
    /// None: a source that waits for it is paused.
    pub const NONE: Readiness = Readiness::from_bits(0);
}

/// Calls a closure while a descriptor is ready, on the thread that made it. It owns what has the descriptor: a socket, a pipe, an
/// `OwnedFd`, or a `BorrowedFd<'static>`; so the descriptor is closed only after the loop has given it up.
///
/// It is level-triggered: the closure is called, once per iteration, as long as a condition holds that it waits for. The descriptor
/// should be non-blocking. Drop invalidates.
///
/// ```compile_fail,E0277
/// # let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
/// let source = runloop::DescriptorSource::new(ours, runloop::Readiness::READABLE, |_, _| ()).unwrap();
/// std::thread::spawn(move || drop(source)); // not Send
/// ```
#[must_use = "a source that is dropped is never called"]
pub struct DescriptorSource<T: AsFd + 'static> {
    raw: NonNull<sys::runloop_source>,
    /// Drops the closure and what has the descriptor, after a call that is being made: others may keep the C source.
    clear: unsafe fn(NonNull<sys::runloop_source>),
    owned: PhantomData<(*mut (), T)>,
}

item!([T: AsFd + 'static] DescriptorSource<T>, runloop_source, runloop_add_source, runloop_remove_source, runloop_contains_source);

/// The context of the C source. `shared` is first, so that it is found without knowing the closure's type.
#[repr(C)]
struct Ready<T, F> {
    shared: Shared<T>,
    callback: Callback<F>,
}

struct Shared<T> {
    /// `None` when nobody can ask for it any more: the source is dropped, and no call is being made.
    io: UnsafeCell<Option<T>>,
    wanted: Cell<Readiness>,
    /// A nested run found the descriptor ready while the closure was being called.
    is_paused: Cell<bool>,
}

impl<T, F> Ready<T, F> {
    fn clear(&self) {
        self.callback.clear();
        if !self.callback.is_called() {
            // SAFETY: the source is gone and isn't being called, so nobody has a reference to it.
            drop(unsafe { (*self.shared.io.get()).take() });
        }
    }
}

impl<T, F> Context for Ready<T, F> {
    fn may_be_dropped_here(&self) -> bool {
        self.callback.may_be_dropped_here()
    }
}

impl<T: AsFd + 'static> DescriptorSource<T> {
    /// A source in no loop yet, which calls `ready` with itself and the conditions that hold.
    ///
    /// Nested runs inside `ready` don't call it again: the source is paused there, until `ready` has returned. Fails with EINVAL if
    /// `wanted` is [`Readiness::NONE`], and with ENOMEM.
    ///
    /// # Panics
    /// The run that calls it does, as if `ready` did, if a source that was paused so can't go on: with ENOSPC or ENOMEM.
    pub fn new<F>(io: T, wanted: Readiness, ready: F) -> Result<DescriptorSource<T>>
    where
        F: FnMut(&DescriptorSource<T>, Readiness) + 'static,
    {
        let descriptor = io.as_fd().as_raw_fd();
        let shared =
            Shared { io: UnsafeCell::new(Some(io)), wanted: Cell::new(wanted), is_paused: Cell::new(false) };
        let context = context_of(Ready { shared, callback: Callback::new(ready) });
        let config = sys::runloop_descriptor_config {
            context,
            order: 0,
            descriptor,
            events: wanted.bits(),
            counter: false,
            together: false,
            ready: Some(call::<T, F>),
            schedule: None,
            cancel: None,
            invalidated: None,
        };
        // SAFETY: the context is of the type that `call` expects.
        let raw = unsafe {
            create::<Ready<T, F>, _>("the descriptor's source could not be made", context, |out| {
                sys::runloop_descriptor_source_create(&config, out)
            })
        }?;
        Ok(DescriptorSource { raw, clear: clear::<T, F>, owned: PhantomData })
    }

    fn shared(&self) -> &Shared<T> {
        // SAFETY: the context of a source remains until that is freed, and begins with what is shared.
        unsafe { &*sys::runloop_source_get_info(self.raw.as_ptr()).cast() }
    }

    /// What has the descriptor.
    pub fn get_ref(&self) -> &T {
        // SAFETY: it is taken out only after this value.
        unsafe { &*self.shared().io.get() }.as_ref().expect("a source that exists has its descriptor")
    }

    /// Changes the conditions that the closure is called for. [`Readiness::NONE`] pauses the source: it isn't called at all, but keeps
    /// its modes. Fails with EINVAL if it is invalid, EBADF, ENOSPC, ENOMEM; it keeps the former conditions then.
    pub fn set_readiness(&self, wanted: Readiness) -> Result<()> {
        let shared = self.shared();
        if !shared.is_paused.get() {
            // SAFETY: the source is referenced.
            let code = unsafe { sys::runloop_source_set_events(self.raw.as_ptr(), wanted.bits()) };
            check("the descriptor's conditions could not be changed", code)?;
        }
        shared.wanted.set(wanted);
        Ok(())
    }

    /// The conditions that the closure is called for.
    pub fn readiness(&self) -> Readiness {
        self.shared().wanted.get()
    }

    /// Removes the source from every mode for ever. Twice is once.
    pub fn invalidate(&self) {
        // SAFETY: the source is referenced.
        unsafe { sys::runloop_source_invalidate(self.raw.as_ptr()) };
    }

    /// Whether it can still be called.
    pub fn is_valid(&self) -> bool {
        // SAFETY: the source is referenced.
        unsafe { sys::runloop_source_is_valid(self.raw.as_ptr()) }
    }

    /// Stops calling the closure until the call that is being made returns.
    fn pause(&self) {
        // SAFETY: the source is referenced. If it fails the source is invalid, or is called for nothing until the nested run ends.
        if unsafe { sys::runloop_source_set_events(self.raw.as_ptr(), 0) } == 0 {
            self.shared().is_paused.set(true);
        }
    }

    fn resume(&self) {
        if self.shared().is_paused.take() && self.is_valid() {
            if let Err(error) = self.set_readiness(self.readiness()) {
                // Nobody would ever call it again: that is reported as a panic of the closure's.
                border::call_out(|| panic!("{}", error));
            }
        }
    }
}

impl<T: AsFd + 'static> Drop for DescriptorSource<T> {
    fn drop(&mut self) {
        self.invalidate();
        // SAFETY: `clear` is for this source's context. This value's reference is given up after that.
        unsafe {
            (self.clear)(self.raw);
            sys::runloop_source_release(self.raw.as_ptr());
        }
    }
}

impl<T: AsFd + 'static> AsFd for DescriptorSource<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.get_ref().as_fd()
    }
}

impl<T: AsFd + 'static> AsRawFd for DescriptorSource<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

impl<T: AsFd + 'static> fmt::Debug for DescriptorSource<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "DescriptorSource({}, {:?})", self.as_raw_fd(), self.readiness())
    }
}

/// # Safety
/// `raw` is a source with a context of this type.
unsafe fn clear<T, F>(raw: NonNull<sys::runloop_source>) {
    // SAFETY: as the caller promises; the info of a source remains until it is freed.
    unsafe { value_of::<Ready<T, F>>(sys::runloop_source_get_info(raw.as_ptr())) }.clear();
}

unsafe extern "C" fn call<T, F>(
    raw: *mut sys::runloop_source,
    events: sys::runloop_readiness,
    info: *mut c_void,
) where
    T: AsFd + 'static,
    F: FnMut(&DescriptorSource<T>, Readiness) + 'static,
{
    // SAFETY: a loop calls it with a source, and with the context that it was made with, both of which live until it returns.
    let (raw, context) = unsafe { (NonNull::new_unchecked(raw), value_of::<Ready<T, F>>(info)) };
    let source = ManuallyDrop::new(DescriptorSource::<T> { raw, clear: clear::<T, F>, owned: PhantomData });
    if context.callback.is_called() {
        return source.pause();
    }
    border::call_out(|| context.callback.call(|ready| ready(&source, Readiness::from_bits(events))));
    source.resume();
    if context.callback.is_cleared() {
        border::call_out(|| context.clear());
    }
}
