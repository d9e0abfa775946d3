use super::child::Exit;
use super::command::{Command, WHAT};
use super::object::{call_out, poll_fn, Object, Waiter};
use crate::error::{Error, Result};
use crate::run_loop::RunLoop;
use crate::time;
use runloop_sys as sys;
use std::cell::RefCell;
use std::os::raw::c_void;
use std::ptr;
use std::task::Poll;
use std::time::Duration;

/// What becomes of output beyond a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// It is read and dropped, so that the program goes on to its end.
    Drop,
    /// The pipe is closed: the program is sent SIGPIPE, or gets EPIPE, when it writes more.
    Close,
}

/// How a program is run.
#[derive(Clone, Debug)]
pub struct RunConfig {
    /// What it reads; `None`: `/dev/null`.
    pub input: Option<Vec<u8>>,
    /// How many bytes are kept of each output: 1 MiB, if nothing else is said.
    pub limit: usize,
    /// What becomes of the rest.
    pub excess: Excess,
    /// How long it may run before it is ended, by SIGTERM and after five seconds by SIGKILL, with its group if it leads one. `None`: for ever.
    pub timeout: Option<Duration>,
    /// How long after its end another process may have its pipes, one that it has left in the background, before they are cut off: two seconds, if
    /// nothing else is said.
    pub output_limit: Duration,
}

impl Default for RunConfig {
    fn default() -> RunConfig {
        RunConfig {
            input: None,
            limit: 1024 * 1024,
            excess: Excess::Drop,
            timeout: None,
            output_limit: Duration::from_secs(2),
        }
    }
}

/// Whether an output is all that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputEnd {
    /// It is.
    Complete,
    /// There was more than the limit.
    OverLimit,
    /// Another process still had the pipe after the end, and may write more.
    CutOff,
}

/// What a program has written to one of its outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The first bytes, up to the limit.
    pub bytes: Vec<u8>,
    /// How many more were read and dropped.
    pub dropped: u64,
    /// Whether that is all.
    pub end: OutputEnd,
}

/// What has become of a program that was run to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub exit: Exit,
    /// Of its descriptor 1.
    pub output: Output,
    /// Of its descriptor 2.
    pub error: Output,
    /// How much of its input it has not taken. What the pipe had at its end counts as taken.
    pub input_left: usize,
    /// Whether it was ended because of its timeout.
    pub timed_out: bool,
}

#[derive(Default)]
struct State {
    outcome: RefCell<Option<Outcome>>,
    waiter: Waiter,
}

impl Command {
    /// Runs it to its end: both outputs are read at once, so it never waits for a reader. Its descriptors 0, 1 and 2 are those of the run unless they
    /// were given, and no others may be pipes or terminals. Fails as [`start`](Command::start) does, and with EINVAL for such a descriptor.
    ///
    /// Dropped before, the program is ended as after a timeout, and reaped by the loop.
    pub async fn run(self, config: RunConfig) -> Result<Outcome> {
        let run_loop = RunLoop::current()?;
        let object = self.with_run(&config, |native| {
            // SAFETY: `ended` takes the state that the object is made with; everything that is pointed to lives during the call.
            unsafe {
                Object::new(WHAT, State::default(), |context, out| {
                    native.context = context;
                    native.ended = Some(ended);
                    sys::runloop_command_create(native, out)
                })
            }
        })?;
        let running = Running { object: Some(object), leads_group: self.leads_group() };
        // After an error it is ended, though nobody reaps it before this process ends.
        run_loop.add(running.object())?;
        let state = running.object().state();
        poll_fn(|context| match state.outcome.borrow_mut().take() {
            Some(outcome) => Poll::Ready(Ok(outcome)),
            None => state.waiter.wait(context),
        })
        .await
    }

    /// The same, and the thread sleeps until then, without a loop: no callback of its loop is called meanwhile.
    pub fn run_blocking(self, config: RunConfig) -> Result<Outcome> {
        self.with_run(&config, |native| {
            // SAFETY: numbers and pointers, which are written if there is no error.
            unsafe {
                let mut result = std::mem::zeroed();
                match sys::runloop_command_run(native, &mut result) {
                    code if code < 0 => Err(Error::from_code(WHAT, code)),
                    _ => {
                        let outcome = outcome(&result);
                        sys::runloop_command_result_free(&mut result);
                        Ok(outcome)
                    }
                }
            }
        })
    }

    fn with_run<R>(
        &self,
        config: &RunConfig,
        run: impl FnOnce(&mut sys::runloop_command_config) -> Result<R>,
    ) -> Result<R> {
        const EINVAL: i32 = 22;
        if !self.has_no_ends() {
            return Err(Error::from_code(WHAT, -EINVAL).about("a descriptor with another end".to_owned()));
        }
        let mut ends = vec![-1; self.descriptor_count()];
        self.with_config(&mut ends, |start| {
            // SAFETY: `start` is read during the call, and its owner drops what it points to afterwards.
            let start = unsafe { ptr::read(start) };
            let mut native = sys::runloop_command_config {
                // SAFETY: numbers, pointers and functions, all of which may be zeros.
                context: unsafe { std::mem::zeroed() },
                start,
                input: config.input.as_ref().map_or(ptr::null(), |input| input.as_ptr() as *const c_void),
                input_count: config.input.as_ref().map_or(0, Vec::len),
                limit: config.limit.min(isize::MAX as usize - 1),
                excess: match config.excess {
                    Excess::Drop => sys::RUNLOOP_COMMAND_DROP,
                    Excess::Close => sys::RUNLOOP_COMMAND_CLOSE,
                },
                // Zero would be none, or the default.
                timeout_ns: config.timeout.map_or(0, |timeout| time::nanoseconds(timeout).max(1)),
                output_limit_ns: time::nanoseconds(config.output_limit).max(1),
                ended: None,
                cancel: None,
            };
            run(&mut native)
        })
    }
}

/// A run that somebody waits for.
struct Running {
    object: Option<Object<State>>,
    leads_group: bool,
}

impl Running {
    fn object(&self) -> &Object<State> {
        self.object.as_ref().expect("it has its object until it is dropped")
    }
}

impl Drop for Running {
    /// The loop has the object until the end. Of a program that has ended there is nothing to end.
    fn drop(&mut self) {
        const STEPS: [(i32, i64); 2] = [(15, 5_000_000_000), (9, 0)];
        if let Some(object) = self.object.take() {
            let steps = STEPS.map(|(signal, pause_ns)| sys::runloop_child_step { signal, pause_ns });
            // SAFETY: the object is referenced, and the steps are two.
            unsafe { sys::runloop_command_end_by(object.raw(), steps.as_ptr(), 2, self.leads_group) };
            object.detach();
        }
    }
}

fn output(output: &sys::runloop_command_output) -> Output {
    // SAFETY: there are so many bytes, and at least a null.
    let bytes = unsafe { std::slice::from_raw_parts(output.bytes.cast::<u8>(), output.count) };
    let end = match output.end {
        sys::RUNLOOP_COMMAND_COMPLETE => OutputEnd::Complete,
        sys::RUNLOOP_COMMAND_OVER_LIMIT => OutputEnd::OverLimit,
        _ => OutputEnd::CutOff,
    };
    Output { bytes: bytes.to_vec(), dropped: output.dropped, end }
}

fn outcome(result: &sys::runloop_command_result) -> Outcome {
    Outcome {
        exit: Exit::new(&result.exit),
        output: output(&result.output),
        error: output(&result.error),
        input_left: result.input_left,
        timed_out: result.timed_out,
    }
}

unsafe extern "C" fn ended(
    _command: *mut sys::runloop_command,
    result: *const sys::runloop_command_result,
    info: *mut c_void,
) {
    // SAFETY: the library passes what the object was made with, and its result.
    unsafe {
        let outcome = outcome(&*result);
        call_out(info, |state: &State| {
            state.outcome.replace(Some(outcome));
            state.waiter.wake();
        });
    }
}
