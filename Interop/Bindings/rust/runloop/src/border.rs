//! The border to C: what a thread's closures and runs have to do with each other. A panic never crosses C. It is caught where a closure
//! was called, ends the innermost run of this crate, and is resumed out of that.

use crate::error::{Error, Result};
use runloop_sys as sys;
use std::any::Any;
use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

type Payload = Box<dyn Any + Send>;

/// What needs no destructor, so that closures which the end of the thread calls or drops still find it.
struct Thread {
    /// A number that no other thread of the process ever has.
    number: Cell<u64>,
    /// How many runs of this crate are active.
    depth: Cell<u32>,
    /// The panic that is on its way to the innermost of them: a boxed payload, or null.
    panic: Cell<*mut Payload>,
    /// The innermost wait for a future.
    awaited: Cell<Awaited>,
}

thread_local! {
    static THREAD: Thread = const {
        Thread { number: Cell::new(0), depth: Cell::new(0), panic: Cell::new(ptr::null_mut()), awaited: Cell::new(Awaited::NONE) }
    };
    static END: End = const { End };
}

/// Ends the thread's loop while Rust still works on the thread: C's own end of a thread comes after that of Rust's thread-locals.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        // SAFETY: no arguments. The main loop remains; elsewhere the loop ends, and tasks that were never performed are dropped.
        unsafe { sys::runloop_end_current() };
    }
}

/// Has the thread's loop ended by the thread's end. Fails if that has passed.
pub(crate) fn end_with_thread() -> Result<()> {
    END.try_with(|_| ()).map_err(|_| shutdown("the thread is ending"))
}

/// The error of C for a loop that has ended. Linux gives it other numbers on processors that this crate is not for.
pub(crate) fn shutdown(what: &'static str) -> Error {
    const ESHUTDOWN: i32 = 108;
    Error::from_code(what, -ESHUTDOWN)
}

pub(crate) fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    THREAD.with(|thread| {
        if thread.number.get() == 0 {
            thread.number.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        thread.number.get()
    })
}

/// Runs `body`, which C called. If it panics, or if what waits for a future around the innermost run has been woken, that run stops.
pub(crate) fn call_out(body: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(body)) {
        keep_panic(payload);
    }
    if THREAD.with(|thread| !thread.panic.get().is_null() || is_awaited(thread)) {
        // SAFETY: the thread's loop, or NULL, which is refused.
        unsafe { sys::runloop_stop(sys::runloop_current()) };
    }
}

fn keep_panic(payload: Payload) {
    THREAD.with(|thread| {
        if thread.depth.get() == 0 {
            // There is nowhere to resume it: the loop's end, or C, calls the closure.
            eprintln!("runloop: a closure panicked that no run of the crate `runloop` called; aborting");
            std::process::abort();
        }
        if thread.panic.get().is_null() {
            thread.panic.set(Box::into_raw(Box::new(payload)));
        } else if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            // The first one is resumed. This one's payload panicked when it was dropped: its successor isn't.
            std::mem::forget(another);
        }
    })
}

/// Calls `run`, which runs the thread's loop, and resumes what a closure panicked with.
pub(crate) fn run(run: impl FnOnce() -> i32) -> i32 {
    let depth = depth();
    // One that is on its way to a run around this one waits for that.
    let outer = THREAD.with(|thread| {
        thread.depth.set(depth + 1);
        thread.panic.replace(ptr::null_mut())
    });
    let result = run();
    let panic = THREAD.with(|thread| {
        thread.depth.set(depth);
        thread.panic.replace(outer)
    });
    if !panic.is_null() {
        // SAFETY: keep_panic boxed it, and it was taken out just now.
        resume_unwind(*unsafe { Box::from_raw(panic) });
    }
    result
}

fn depth() -> u32 {
    THREAD.with(|thread| thread.depth.get())
}

/// What a run at `depth` waits for: that the flag is true.
#[derive(Clone, Copy)]
struct Awaited {
    depth: u32,
    woken: *const AtomicBool,
}

impl Awaited {
    const NONE: Awaited = Awaited { depth: 0, woken: ptr::null() };
}

/// A wait for a future: a run that ends when the flag is true. It registers on this thread until it is dropped.
pub(crate) struct Waiting<'a> {
    outer: Awaited,
    woken: PhantomData<&'a AtomicBool>,
}

impl<'a> Waiting<'a> {
    /// For the runs that the caller makes. The thread points to the flag, not to this value, which moves.
    pub(crate) fn new(woken: &'a AtomicBool) -> Waiting<'a> {
        let awaited = Awaited { depth: depth() + 1, woken };
        let outer = THREAD.with(|thread| thread.awaited.replace(awaited));
        Waiting { outer, woken: PhantomData }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        THREAD.with(|thread| thread.awaited.set(self.outer));
    }
}

fn is_awaited(thread: &Thread) -> bool {
    let awaited = thread.awaited.get();
    // SAFETY: a wait borrows its flag, and unregisters before that is gone; waits are dropped in the reverse of their order.
    match unsafe { awaited.woken.as_ref() } {
        Some(woken) => awaited.depth == thread.depth.get() && woken.load(Ordering::Acquire),
        None => false,
    }
}
