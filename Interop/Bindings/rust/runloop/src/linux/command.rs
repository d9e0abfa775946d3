use super::child::{self, Child};
use super::object::Object;
use super::reader::{Reader, ReaderConfig};
use super::writer::{Writer, WriterConfig};
use crate::error::{Error, Result};
use crate::run_loop::RunLoop;
use runloop_sys as sys;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr};
use std::os::raw::{c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::io::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::ptr;
use std::rc::Rc;

pub(crate) const WHAT: &str = "the program can't be started";

/// What a descriptor of a child is.
#[derive(Debug)]
pub enum Stdio {
    /// The parent's of the same number.
    Inherit,
    /// `/dev/null`.
    Null,
    /// A pipe from which the child reads: [`Child::writer`] is the other end.
    ToChild,
    /// A pipe to which the child writes: [`Child::reader`] is the other end.
    FromChild,
    /// One of ours.
    From(OwnedFd),
    /// The same as another number of the child's: for 2 that is 1, what a shell calls `2>&1`.
    Same(i32),
    /// A new terminal in a session of its own, once; further numbers are the [`Same`](Stdio::Same). [`Child::reader`] and [`Child::writer`] of
    /// the number are its other side, and [`Child::set_terminal_size`] changes its size. The reader's end is that nobody has it any more.
    Terminal {
        /// Its height in characters.
        rows: u16,
        /// Its width in characters.
        columns: u16,
    },
}

/// The process group of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// That of the parent.
    Parents,
    /// One whose number is the child's.
    New,
    /// Such a group in a session of its own.
    NewSession,
    /// This one, of the parent's session.
    Of(i32),
}

/// A program that is to be started, and what it has: nothing that isn't said here is inherited but the descriptors 0, 1 and 2, the environment
/// and the working directory.
pub struct Command {
    arguments: Vec<Vec<u8>>,
    program: Option<Vec<u8>>,
    environment: Option<Vec<Vec<u8>>>,
    directory: Option<Vec<u8>>,
    group: Group,
    descriptors: BTreeMap<i32, Stdio>,
    limits: Vec<sys::runloop_child_limit>,
    foreground: Option<OwnedFd>,
    parent_death_signal: i32,
    ignored_signals: u64,
    reads: ReaderConfig,
    writes: WriterConfig,
}

impl Command {
    /// `program` is also the first argument. Without a slash it is searched for in PATH.
    pub fn new(program: impl AsRef<OsStr>) -> Command {
        Command {
            arguments: vec![program.as_ref().as_bytes().to_vec()],
            program: None,
            environment: None,
            directory: None,
            group: Group::Parents,
            descriptors: BTreeMap::new(),
            limits: Vec::new(),
            foreground: None,
            parent_death_signal: 0,
            ignored_signals: 0,
            reads: ReaderConfig::default(),
            writes: WriterConfig::default(),
        }
    }

    /// One more argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Command {
        self.arguments.push(argument.as_ref().as_bytes().to_vec());
        self
    }

    /// More of them.
    pub fn args<A: AsRef<OsStr>>(self, arguments: impl IntoIterator<Item = A>) -> Command {
        arguments.into_iter().fold(self, Command::arg)
    }

    /// The file that is executed, if it is not the first argument.
    pub fn executable(mut self, path: impl AsRef<Path>) -> Command {
        self.program = Some(path.as_ref().as_os_str().as_bytes().to_vec());
        self
    }

    /// All of its environment, instead of the parent's.
    pub fn environment<N: AsRef<OsStr>, V: AsRef<OsStr>>(
        mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Command {
        let line =
            |(name, value): (N, V)| [name.as_ref().as_bytes(), b"=", value.as_ref().as_bytes()].concat();
        self.environment = Some(variables.into_iter().map(line).collect());
        self
    }

    /// Its working directory.
    pub fn current_dir(mut self, path: impl AsRef<Path>) -> Command {
        self.directory = Some(path.as_ref().as_os_str().as_bytes().to_vec());
        self
    }

    /// Its process group.
    pub fn group(mut self, group: Group) -> Command {
        self.group = group;
        self
    }

    /// Its group, which must not be the parent's, has the foreground of this terminal of the parent's session until the child has ended: it may
    /// read from it, and is sent its ^C. In a new session it becomes the controlling terminal.
    pub fn foreground_of(mut self, terminal: impl Into<OwnedFd>) -> Command {
        self.foreground = Some(terminal.into());
        self
    }

    /// What its descriptor `number` is: 0 its input, 1 its output, 2 its errors, or any other.
    pub fn descriptor(mut self, number: i32, is: Stdio) -> Command {
        self.descriptors.insert(number, is);
        self
    }

    /// A limit, as of `setrlimit`. `u64::MAX`: none.
    pub fn limit(mut self, resource: i32, soft: u64, hard: u64) -> Command {
        self.limits.push(sys::runloop_child_limit { resource, soft, hard });
        self
    }

    /// Sent to it when this process ends. It costs a thread that sleeps as long as the child lives.
    pub fn parent_death_signal(mut self, number: i32) -> Command {
        self.parent_death_signal = number;
        self
    }

    /// The signals that it ignores, n as bit n - 1.
    pub fn ignored_signals(mut self, signals: u64) -> Command {
        self.ignored_signals = signals;
        self
    }

    /// The limits of the readers and writers of its pipes.
    pub fn limits_of_pipes(mut self, reads: ReaderConfig, writes: WriterConfig) -> Command {
        self.reads = reads;
        self.writes = writes;
        self
    }

    /// Starts it, and returns when it is executed. Fails with what `execve` says, and the path is in the error's text; with EMFILE, EAGAIN, ENOMEM,
    /// and with EINVAL for descriptors that make no sense. Then there is no child.
    pub fn start(self) -> Result<Child> {
        let run_loop = RunLoop::current()?;
        let mut ends: Vec<c_int> = vec![-1; self.descriptors.len()];
        let started = self.with_config(&mut ends, |config| {
            // SAFETY: `exited` takes the state that the object is made with; everything that is pointed to lives during the call.
            unsafe {
                Object::new(WHAT, child::State::default(), |context, out| {
                    config.child.context = context;
                    config.child.exited = Some(child::exited);
                    sys::runloop_child_start(config, out)
                })
            }
        })?;
        self.complete(&run_loop, Child::new(started), &ends)
    }

    /// Calls `start` with all of it in C's terms. `ends` are the parent's ends of the descriptors, in their order.
    pub(crate) fn with_config<R>(
        &self,
        ends: &mut [c_int],
        start: impl FnOnce(&mut sys::runloop_child_start_config) -> Result<R>,
    ) -> Result<R> {
        let arguments = Texts::new("argument", &self.arguments)?;
        let environment =
            self.environment.as_deref().map(|texts| Texts::new("variable", texts)).transpose()?;
        let (program, directory) =
            (optional("executable", &self.program)?, optional("directory", &self.directory)?);
        let (mut descriptors, mut size) = (Vec::new(), (0, 0));
        for ((&number, stdio), end) in self.descriptors.iter().zip(ends.iter_mut()) {
            let (kind, from) = match stdio {
                Stdio::Inherit => (sys::RUNLOOP_CHILD_INHERITED, 0),
                Stdio::Null => (sys::RUNLOOP_CHILD_NULL, 0),
                Stdio::ToChild => (sys::RUNLOOP_CHILD_INPUT_PIPE, 0),
                Stdio::FromChild => (sys::RUNLOOP_CHILD_OUTPUT_PIPE, 0),
                Stdio::From(descriptor) => (sys::RUNLOOP_CHILD_DESCRIPTOR, descriptor.as_raw_fd()),
                Stdio::Same(other) => (sys::RUNLOOP_CHILD_SAME, *other),
                Stdio::Terminal { rows, columns } => {
                    size = (*rows, *columns);
                    (sys::RUNLOOP_CHILD_TERMINAL, 0)
                }
            };
            descriptors.push(sys::runloop_child_descriptor { number, kind, from, parent_end: end });
        }
        let mut failed: [c_char; 4096] = [0; 4096];
        let mut config = sys::runloop_child_start_config {
            // SAFETY: numbers, pointers and functions, all of which may be zeros.
            child: unsafe { std::mem::zeroed() },
            arguments: arguments.pointers.as_ptr(),
            environment: environment.as_ref().map_or(ptr::null(), |texts| texts.pointers.as_ptr()),
            program: program.as_ref().map_or(ptr::null(), |text| text.as_ptr()),
            searches: true,
            directory: directory.as_ref().map_or(ptr::null(), |text| text.as_ptr()),
            group: match self.group {
                Group::Parents => sys::RUNLOOP_CHILD_PARENTS_GROUP as i32,
                Group::New => sys::RUNLOOP_CHILD_NEW_GROUP as i32,
                Group::NewSession => sys::RUNLOOP_CHILD_NEW_SESSION as i32,
                Group::Of(number) => number,
            },
            has_terminal: self.foreground.is_some(),
            terminal: self.foreground.as_ref().map_or(-1, |terminal| terminal.as_raw_fd()),
            terminal_rows: size.0,
            terminal_columns: size.1,
            descriptors: descriptors.as_ptr(),
            descriptor_count: descriptors.len(),
            limits: self.limits.as_ptr(),
            limit_count: self.limits.len(),
            parent_death_signal: self.parent_death_signal,
            ignored_signals: self.ignored_signals,
            failed: failed.as_mut_ptr(),
            failed_size: failed.len(),
        };
        start(&mut config).map_err(|error| with_subject(error, &failed))
    }

    /// Whether all descriptors are such that nobody has another end of them.
    pub(crate) fn has_no_ends(&self) -> bool {
        let has_end =
            |stdio: &Stdio| matches!(stdio, Stdio::ToChild | Stdio::FromChild | Stdio::Terminal { .. });
        !self.descriptors.values().any(has_end)
    }

    /// Whether it leads a group of its own.
    pub(crate) fn leads_group(&self) -> bool {
        matches!(self.group, Group::New | Group::NewSession)
    }

    /// How many descriptors it has that are not left as they are.
    pub(crate) fn descriptor_count(&self) -> usize {
        self.descriptors.len()
    }

    /// The child with its pipes, in its loop. After an error there is neither.
    fn complete(&self, run_loop: &RunLoop, mut child: Child, ends: &[c_int]) -> Result<Child> {
        // All at once, so that after an error those that nobody has yet are closed.
        let pipes: Vec<_> = ends
            .iter()
            // SAFETY: the child was started, so these are the parent's ends of pipes, and ours.
            .map(|&end| (end >= 0).then(|| unsafe { OwnedFd::from_raw_fd(end) }))
            .collect();
        let completed = run_loop.add(child.object()).and_then(|()| {
            for ((&number, stdio), end) in self.descriptors.iter().zip(pipes) {
                match (stdio, end) {
                    (Stdio::ToChild, Some(end)) => {
                        child.writers.insert(number, Writer::new(end, self.writes)?);
                    }
                    (Stdio::Terminal { .. }, Some(end)) => {
                        let end = Rc::new(end);
                        child.terminal = Rc::downgrade(&end);
                        child.writers.insert(number, Writer::shared(end.clone(), self.writes)?);
                        child.readers.insert(number, Reader::shared(end, self.reads, None)?);
                    }
                    (Stdio::FromChild, Some(end)) => {
                        child.readers.insert(number, Reader::new(end, self.reads)?);
                    }
                    _ => (),
                }
            }
            Ok(())
        });
        match completed {
            Ok(()) => Ok(child),
            Err(error) => {
                child.undo();
                Err(error)
            }
        }
    }
}

/// Texts for C, with NULL at the end.
struct Texts {
    _texts: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl Texts {
    fn new(what: &str, texts: &[Vec<u8>]) -> Result<Texts> {
        let numbered = texts.iter().enumerate();
        let texts = numbered
            .map(|(number, text)| terminated(text, || format!("{what} {number}")))
            .collect::<Result<Vec<_>>>()?;
        let pointers = texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect();
        Ok(Texts { _texts: texts, pointers })
    }
}

fn terminated(text: &[u8], about: impl FnOnce() -> String) -> Result<CString> {
    CString::new(text).map_err(|error| Error::new(WHAT, error.into()).about(about()))
}

fn optional(what: &str, text: &Option<Vec<u8>>) -> Result<Option<CString>> {
    text.as_deref().map(|text| terminated(text, || what.to_owned())).transpose()
}

/// The error with what it is about, if that is known. Its number remains.
fn with_subject(error: Error, failed: &[c_char]) -> Error {
    // SAFETY: the library has written a C string, or nothing over the zeros.
    let subject = unsafe { CStr::from_ptr(failed.as_ptr()) }.to_string_lossy();
    match subject.is_empty() {
        true => error,
        false => error.about(subject.into_owned()),
    }
}
