use crate::border;
use crate::callback::{context_of, create, value_of, Callback};
use crate::error::Result;
use crate::flags::flags;
use crate::item::item;
use runloop_sys as sys;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::os::raw::c_void;
use std::ptr::NonNull;

flags! {
    /// What a loop does, or several such activities.
    Activity {
        /// A run begins, nested or not.
        ENTRY = sys::RUNLOOP_ACTIVITY_ENTRY;
        /// An iteration begins, which may serve due timers.
        BEFORE_TIMERS = sys::RUNLOOP_ACTIVITY_BEFORE_TIMERS;
        /// Signalled sources are performed next.
        BEFORE_SOURCES = sys::RUNLOOP_ACTIVITY_BEFORE_SOURCES;
        /// The loop is about to sleep, if it has nothing to do.
        BEFORE_WAITING = sys::RUNLOOP_ACTIVITY_BEFORE_WAITING;
        /// The wait has ended, and what ended it has not been served yet.
        AFTER_WAITING = sys::RUNLOOP_ACTIVITY_AFTER_WAITING;
        /// A run ends, nested or not.
        EXIT = sys::RUNLOOP_ACTIVITY_EXIT;
        /// Every activity of CFRunLoop.
        ALL = sys::RUNLOOP_ACTIVITY_ALL;
    }
}

/// What an observer is notified of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObserverConfig {
    /// The activities; others pass unnoticed.
    pub activities: Activity,
    /// Lower ones are notified first.
    pub order: i32,
    /// `false`: it is notified once in all, and then invalid.
    pub repeats: bool,
}

/// Calls a closure when its loop does something, on the thread that made it. It doesn't keep a mode from being empty.
///
/// Drop invalidates: an observer that is dropped is notified no more.
///
/// ```compile_fail,E0277
/// let observer = runloop::Observer::new(runloop::Activity::ALL, |_, _| ()).unwrap();
/// std::thread::spawn(move || drop(observer)); // not Send
/// ```
#[derive(Debug)]
#[must_use = "an observer that is dropped is never notified"]
pub struct Observer {
    raw: NonNull<sys::runloop_observer>,
    thread: PhantomData<*mut ()>,
}

item!([] Observer, runloop_observer, runloop_add_observer, runloop_remove_observer, runloop_contains_observer);

impl Observer {
    /// An observer in no loop yet, which calls `observe` with itself and the one activity, again and again. Fails with ENOMEM.
    pub fn new<F: FnMut(&Observer, Activity) + 'static>(
        activities: Activity,
        observe: F,
    ) -> Result<Observer> {
        Observer::with(ObserverConfig { activities, order: 0, repeats: true }, observe)
    }

    /// The same with all that can be chosen. Nested runs don't call it again inside `observe`.
    pub fn with<F: FnMut(&Observer, Activity) + 'static>(
        config: ObserverConfig,
        observe: F,
    ) -> Result<Observer> {
        let context = context_of(Callback::new(observe));
        let config = sys::runloop_observer_config {
            context,
            order: config.order,
            activities: config.activities.bits(),
            repeats: config.repeats,
            observe: Some(call::<F>),
        };
        // SAFETY: the context is of the callback's type, as is `call`.
        let raw = unsafe {
            create::<Callback<F>, _>("the observer could not be made", context, |out| {
                sys::runloop_observer_create(&config, out)
            })
        }?;
        Ok(Observer { raw, thread: PhantomData })
    }

    /// Ends the observer, and drops its closure: after its call, if that is running. Twice is once.
    pub fn invalidate(&self) {
        // SAFETY: the observer is referenced.
        unsafe { sys::runloop_observer_invalidate(self.raw.as_ptr()) };
    }

    /// Whether it can still be notified.
    pub fn is_valid(&self) -> bool {
        // SAFETY: the observer is referenced.
        unsafe { sys::runloop_observer_is_valid(self.raw.as_ptr()) }
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.invalidate();
        // SAFETY: this value's reference.
        unsafe { sys::runloop_observer_release(self.raw.as_ptr()) };
    }
}

unsafe extern "C" fn call<F: FnMut(&Observer, Activity)>(
    raw: *mut sys::runloop_observer,
    activity: sys::runloop_activity,
    info: *mut c_void,
) {
    border::call_out(|| {
        // SAFETY: a loop calls it with an observer, and with the context that it was made with, both of which live until it returns.
        let (raw, callback) = unsafe { (NonNull::new_unchecked(raw), value_of::<Callback<F>>(info)) };
        let observer = ManuallyDrop::new(Observer { raw, thread: PhantomData });
        callback.call(|observe| observe(&observer, Activity::from_bits(activity)));
    });
}
