use crate::border;
use crate::error::{check, Error, Result};
use crate::mode::Mode;
use runloop_sys as sys;
use std::fmt;
use std::io;
use std::os::raw::c_void;
use std::ptr::NonNull;

/// A loop as every thread may use it: work is posted to it, and it is stopped and woken.
///
/// A handle keeps the loop's memory and descriptors, not its thread. Once that has ended, posts fail, and the other calls do nothing.
pub struct Handle {
    raw: NonNull<sys::runloop>,
}

// SAFETY: every function of the C library may be called on any thread; those that Handle offers call no closure that isn't Send.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    /// The loop of the initial thread, even if that never asked for it. Fails if there is no memory or no descriptor for it.
    pub fn main() -> Result<Handle> {
        // SAFETY: no arguments; the result is NULL or a loop that is never freed.
        unsafe { Handle::retained(sys::runloop_main()) }
            .ok_or_else(|| Error::new("the main loop could not be made", io::ErrorKind::OutOfMemory.into()))
    }

    /// # Safety
    /// `raw` is NULL or a loop.
    pub(crate) unsafe fn retained(raw: *mut sys::runloop) -> Option<Handle> {
        // SAFETY: as the caller promises. NULL is answered with NULL.
        NonNull::new(unsafe { sys::runloop_retain(raw) }).map(|raw| Handle { raw })
    }

    pub(crate) fn raw(&self) -> *mut sys::runloop {
        self.raw.as_ptr()
    }

    /// The loop for functions of [`sys`](crate::sys), valid as long as this handle.
    pub fn as_ptr(&self) -> *mut sys::runloop {
        self.raw()
    }

    /// Has `work` performed on the loop's thread by a run in a common mode, and wakes the loop. Work is performed in the order of posts.
    ///
    /// If the thread ends before, `work` is dropped there. Fails with ESHUTDOWN if it has ended, and with ENOMEM; `work` is dropped.
    /// O(1).
    ///
    /// ```compile_fail,E0277
    /// # let handle = runloop::RunLoop::current().unwrap().handle();
    /// let here = std::rc::Rc::new(1); // not Send
    /// handle.post(move || drop(here));
    /// ```
    pub fn post(&self, work: impl FnOnce() + Send + 'static) -> Result<()> {
        self.post_in(Mode::COMMON, work)
    }

    /// The same for runs in one mode.
    pub fn post_in(&self, mode: Mode, work: impl FnOnce() + Send + 'static) -> Result<()> {
        self.post_any(mode, work)
    }

    /// For `work` that is Send, or on the loop's own thread.
    pub(crate) fn post_any<F: FnOnce() + 'static>(&self, mode: Mode, work: F) -> Result<()> {
        let info: *mut c_void = Box::into_raw(Box::new(work)).cast();
        // SAFETY: exactly one of the two functions is called, and neither after an error.
        let code = unsafe {
            sys::runloop_post(self.raw(), mode.as_ptr(), Some(perform::<F>), info, Some(discard::<F>))
        };
        if code < 0 {
            // SAFETY: it was boxed above, and the library didn't take it.
            drop(unsafe { Box::from_raw(info.cast::<F>()) });
        }
        check("the work could not be posted", code).map(drop)
    }

    /// Ends the loop's innermost active run at the end of its iteration. Nothing is remembered if none is active. O(1).
    pub fn stop(&self) {
        // SAFETY: the loop is retained.
        unsafe { sys::runloop_stop(self.raw()) };
    }

    /// The same, remembered until a run consumes it, however early it is called. Twice before that is once. O(1).
    pub fn stop_latched(&self) {
        // SAFETY: the loop is retained.
        unsafe { sys::runloop_stop_latched(self.raw()) };
    }

    /// Ends a run in `mode`, now or whenever one begins; remembered. Fails with EINVAL for [`Mode::COMMON`], and with ENOMEM.
    pub fn stop_mode(&self, mode: Mode) -> Result<()> {
        // SAFETY: the loop is retained, the name is a C string.
        check("the mode could not be stopped", unsafe { sys::runloop_stop_mode(self.raw(), mode.as_ptr()) })
            .map(drop)
    }

    /// Ends one sleep of the loop, or prevents the next if it is on its way to it. O(1).
    pub fn wake_up(&self) {
        // SAFETY: the loop is retained.
        unsafe { sys::runloop_wake_up(self.raw()) };
    }

    /// Whether the loop sleeps or is about to.
    pub fn is_waiting(&self) -> bool {
        // SAFETY: the loop is retained.
        unsafe { sys::runloop_is_waiting(self.raw()) }
    }

    /// Whether it is the calling thread's loop.
    pub fn is_current(&self) -> bool {
        // SAFETY: the loop is retained.
        unsafe { sys::runloop_is_current(self.raw()) }
    }
}

unsafe extern "C" fn perform<F: FnOnce()>(info: *mut c_void) {
    // SAFETY: post_any boxed it, and this is its only call.
    let work = unsafe { Box::from_raw(info.cast::<F>()) };
    border::call_out(work);
}

unsafe extern "C" fn discard<F: FnOnce()>(info: *mut c_void) {
    // SAFETY: as above.
    let work = unsafe { Box::from_raw(info.cast::<F>()) };
    border::call_out(move || drop(work));
}

impl Clone for Handle {
    fn clone(&self) -> Handle {
        // SAFETY: the loop is retained.
        unsafe { sys::runloop_retain(self.raw()) };
        Handle { raw: self.raw }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: this handle's reference.
        unsafe { sys::runloop_release(self.raw()) };
    }
}

impl PartialEq for Handle {
    fn eq(&self, other: &Handle) -> bool {
        self.raw == other.raw
    }
}

impl Eq for Handle {}

impl fmt::Debug for Handle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Handle({:p})", self.raw)
    }
}
