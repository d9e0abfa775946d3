use super::object::{call_out, poll_fn, Object};
use super::reader::Reader;
use super::writer::Writer;
use crate::error::{check, Result};
use crate::time;
use runloop_sys as sys;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::os::raw::{c_int, c_void};
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;
use std::rc::Weak;
use std::task::{Poll, Waker};
use std::time::Duration;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// It is not known how: somebody else waited for it first.
    Unknown,
    /// By exit, or by the end of main: the status, 0 to 255.
    Exited(i32),
    /// By a signal.
    Signalled {
        /// Its number.
        number: i32,
        /// A core was dumped.
        dumped_core: bool,
    },
}

/// The end of a process, and what it has used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// How it ended.
    pub end: End,
    /// The processor time that it took, with that of the children it waited for.
    pub user: Duration,
    /// The part of it that the kernel took on its behalf.
    pub system: Duration,
    /// The most memory that it had resident, in bytes. `None`: not known, and at most the most that this process has ever had, since Linux counts
    /// what a new process shares with its parent.
    pub peak_memory: Option<u64>,
}

impl Exit {
    pub(crate) fn new(exit: &sys::runloop_child_exit) -> Exit {
        let end = match exit.end {
            sys::RUNLOOP_CHILD_EXITED => End::Exited(exit.status),
            sys::RUNLOOP_CHILD_SIGNALLED => {
                End::Signalled { number: exit.status, dumped_core: exit.dumped_core }
            }
            _ => End::Unknown,
        };
        Exit {
            end,
            user: Duration::from_nanos(exit.user_ns as u64),
            system: Duration::from_nanos(exit.system_ns as u64),
            peak_memory: Some(exit.peak_memory_bytes as u64).filter(|&bytes| bytes > 0),
        }
    }

    /// Whether it exited with the status 0.
    pub fn is_success(&self) -> bool {
        self.end == End::Exited(0)
    }
}

#[derive(Default)]
pub(crate) struct State {
    exit: Cell<Option<Exit>>,
    wakers: RefCell<Vec<Waker>>,
}

/// A program that was started by a [`Command`](super::Command). Dropped before its end it goes on, and the loop reaps it.
///
/// ```compile_fail,E0277
/// let child = runloop::linux::Command::new("true").start().unwrap();
/// std::thread::spawn(move || drop(child)); // not Send
/// ```
pub struct Child {
    object: Option<Object<State>>,
    pub(crate) writers: HashMap<i32, Writer>,
    pub(crate) readers: HashMap<i32, Reader>,
    /// The parent's side of a terminal.
    pub(crate) terminal: Weak<OwnedFd>,
}

impl Child {
    pub(crate) fn new(object: Object<State>) -> Child {
        Child {
            object: Some(object),
            writers: HashMap::new(),
            readers: HashMap::new(),
            terminal: Weak::new(),
        }
    }

    pub(crate) fn object(&self) -> &Object<State> {
        self.object.as_ref().expect("a child has its object until it is dropped")
    }

    /// Nobody will have the child, and no loop reaps it: it is killed and reaped here.
    pub(crate) fn undo(mut self) {
        extern "C" {
            fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
        }
        const SIGKILL: i32 = 9;
        let (pid, killed) = (self.pid(), self.send_signal(SIGKILL));
        drop(self.object.take());
        // One that may not be signalled, as it has other rights, is not waited for; nor is one that the program has reaped.
        // SAFETY: no status is asked for.
        while killed.is_ok() && unsafe { waitpid(pid, ptr::null_mut(), 0) } < 0 {
            if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                break;
            }
        }
    }

    fn raw(&self) -> *mut sys::runloop_child {
        self.object().raw()
    }

    /// Our end of the pipe that is its descriptor `number`, from which it reads. Once.
    pub fn writer(&mut self, number: i32) -> Option<Writer> {
        self.writers.remove(&number)
    }

    /// Our end of the pipe that is its descriptor `number`, to which it writes. Once.
    pub fn reader(&mut self, number: i32) -> Option<Reader> {
        self.readers.remove(&number)
    }

    /// Changes the size of its [`Terminal`](super::Stdio::Terminal): the programs in the foreground there are sent SIGWINCH. Fails with ENOTTY if it
    /// has none, and when neither its reader nor its writer is left.
    pub fn set_terminal_size(&self, rows: u16, columns: u16) -> Result<()> {
        const ENOTTY: i32 = 25;
        let code = match self.terminal.upgrade() {
            // SAFETY: a descriptor and two numbers.
            Some(terminal) => unsafe { sys::runloop_terminal_set_size(terminal.as_raw_fd(), rows, columns) },
            None => -ENOTTY,
        };
        check("the terminal's size can't be changed", code).map(drop)
    }

    /// Its process.
    pub fn pid(&self) -> i32 {
        // SAFETY: the object is referenced.
        unsafe { sys::runloop_child_get_pid(self.raw()) }
    }

    /// Its end. It may be awaited several times, and after it.
    pub async fn end(&self) -> Exit {
        let state = self.object().state();
        poll_fn(|context| match state.exit.get() {
            Some(exit) => Poll::Ready(exit),
            None => {
                let mut wakers = state.wakers.borrow_mut();
                if !wakers.iter().any(|waker| waker.will_wake(context.waker())) {
                    wakers.push(context.waker().clone());
                }
                Poll::Pending
            }
        })
        .await
    }

    /// Its end, if that was reported.
    pub fn exit(&self) -> Option<Exit> {
        self.object().state().exit.get()
    }

    /// Sends a signal to this process and no other one. Fails with ESRCH if it has been reaped, EPERM, EINVAL.
    pub fn send_signal(&self, number: i32) -> Result<()> {
        // SAFETY: the object is referenced.
        check("the child can't be signalled", unsafe { sys::runloop_child_send_signal(self.raw(), number) })
            .map(drop)
    }

    /// Ends it politely at first: each signal is followed by a pause, in which it may end, and then by the next one. With `of_group` they go
    /// to the process group that it leads. Fails with ESRCH if its end was seen by a loop or it was reaped, EPERM, EINVAL. The end
    /// is awaited as ever.
    pub fn end_by(&self, steps: &[(i32, Duration)], of_group: bool) -> Result<()> {
        let steps: Vec<_> = steps
            .iter()
            .map(|&(signal, pause)| sys::runloop_child_step { signal, pause_ns: time::nanoseconds(pause) })
            .collect();
        // SAFETY: the object is referenced, and the steps are as many as is said.
        let code = unsafe { sys::runloop_child_end_by(self.raw(), steps.as_ptr(), steps.len(), of_group) };
        check("the child can't be ended", code).map(drop)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if let Some(object) = self.object.take() {
            object.detach();
        }
    }
}

impl AsFd for Child {
    /// Its pidfd.
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the object, which this value has, has the pidfd.
        unsafe { BorrowedFd::borrow_raw(sys::runloop_source_get_descriptor(self.raw())) }
    }
}

pub(crate) unsafe extern "C" fn exited(
    _child: *mut sys::runloop_child,
    exit: *const sys::runloop_child_exit,
    info: *mut c_void,
) {
    // SAFETY: the library passes what the object was made with, and how it ended.
    unsafe {
        let exit = Exit::new(&*exit);
        call_out(info, |state: &State| {
            state.exit.set(Some(exit));
            for waker in state.wakers.take() {
                waker.wake();
            }
        });
    }
}
