#![deny(unsafe_op_in_unsafe_fn)] // As the crate does; older compilers take such blocks for superfluous otherwise.
#![allow(dead_code)] // Each file of tests uses some of it.

use runloop::{sys, Mode, RunLoop, RunResult};
use std::cell::RefCell;
use std::os::raw::c_void;
use std::rc::Rc;
use std::sync::mpsc;
use std::time::Duration;

/// Far longer than anything takes: a limit that is reached only by a test that fails.
pub const LONG: Duration = Duration::from_secs(60);

/// Calls `body` on a thread of its own, with its loop; the thread has ended when it returns.
pub fn on_thread<T: Send>(body: impl FnOnce(RunLoop) -> T + Send) -> T {
    std::thread::scope(|scope| {
        scope
            .spawn(|| body(RunLoop::current().unwrap()))
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Runs the default mode until it is stopped or finished, which must be before LONG.
pub fn run(run_loop: &RunLoop) -> RunResult {
    let result = run_loop.run_for(Mode::DEFAULT, LONG).unwrap();
    assert_ne!(result, RunResult::TimedOut);
    result
}

/// What happened, in order.
#[derive(Clone, Default)]
pub struct Trace(Rc<RefCell<Vec<String>>>);

impl Trace {
    pub fn add(&self, text: impl Into<String>) {
        self.0.borrow_mut().push(text.into());
    }

    pub fn text(&self) -> String {
        self.0.borrow().join(" ")
    }
}

/// A visit of the items in the default mode by another thread, which keeps the first of them until the end.
pub struct Visit {
    release: mpsc::Sender<()>,
    thread: std::thread::JoinHandle<()>,
}

impl Visit {
    pub fn begin(run_loop: &RunLoop) -> Visit {
        type Meeting = (mpsc::Sender<()>, mpsc::Receiver<()>);
        unsafe extern "C" fn wait(meeting: *mut c_void, _kind: sys::runloop_item_kind, _item: *mut c_void) {
            // SAFETY: it is what `begin` passes.
            let (visited, released) = unsafe { &*meeting.cast::<Meeting>() };
            visited.send(()).unwrap();
            released.recv().unwrap();
        }
        let handle = run_loop.handle();
        let (visited, is_visited) = mpsc::channel();
        let (release, released) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut meeting: Meeting = (visited, released);
            let context: *mut Meeting = &mut meeting;
            // SAFETY: the loop and the context live until it returns.
            unsafe {
                sys::runloop_visit_items(handle.as_ptr(), Mode::DEFAULT.as_ptr(), Some(wait), context.cast())
            };
        });
        is_visited.recv().unwrap();
        Visit { release, thread }
    }

    pub fn end(self) {
        self.release.send(()).unwrap();
        self.thread.join().unwrap();
    }
}

/// Runs the test `name` of this file in a process of its own, where it is not ignored. It may leak.
pub fn in_process(name: &str) -> std::process::Output {
    std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--nocapture"])
        .env("ASAN_OPTIONS", "detect_leaks=0")
        .output()
        .unwrap()
}
