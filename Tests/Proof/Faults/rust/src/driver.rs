//! driver.c, and what scenarios are made of: functions whose result says what they were told.
use runloop::linux::ConnectError;
use runloop::{Mode, RunLoop, RunResult};
use std::ffi::CString;
use std::io;
use std::os::raw::{c_char, c_int};
use std::panic::catch_unwind;
use std::ptr;
use std::time::{Duration, Instant};

/// As in scenario.h.
#[repr(C)]
pub struct Scenario {
    pub name: *const c_char,
    pub run: Option<extern "C" fn() -> c_int>,
    pub spares_allocations: bool,
}

#[repr(C)]
struct RawPlan {
    size: usize,
    groups: *const *const Scenario,
    group_count: usize,
    spared_kinds: *const c_char,
    works: Option<extern "C" fn() -> bool>,
    announced_ends: *const *const c_char,
    most_of_kind: c_int,
    executes: bool,
}

extern "C" {
    fn fault_plan_try(plan: *const RawPlan, word_count: c_int, words: *mut *mut c_char) -> bool;
    fn begin_faults();
    fn pause_faults();
    fn told(error: c_int) -> c_int;
}

const AS_EXPECTED: c_int = 0;
const LOST: c_int = 2;
pub const ECHILD: i32 = 10;
const ENOMEM: i32 = 12;

/// The names, each with its function.
macro_rules! scenarios {
    ($($name:literal: $function:path),* $(,)?) => {
        pub fn scenarios() -> Vec<crate::driver::Scenario> {
            use std::os::raw::c_int;
            vec![
                $({
                    extern "C" fn run() -> c_int {
                        crate::driver::attempt($function)
                    }
                    let name = concat!($name, "\0").as_ptr().cast();
                    crate::driver::Scenario { name, run: Some(run), spares_allocations: false }
                },)*
                crate::driver::Scenario { name: std::ptr::null(), run: None, spares_allocations: false },
            ]
        }
    };
}
pub(crate) use scenarios;

/// What a program tries; the rest is as for most.
pub struct Plan<'a> {
    pub groups: &'a [&'a [Scenario]],
    pub works: extern "C" fn() -> bool,
    pub announced_ends: &'a [&'a str],
}

fn text(text: &str) -> CString {
    CString::new(text).expect("a text without zeros")
}

/// Tries the scenarios that the program's arguments name.
pub fn try_all(plan: &Plan<'_>) -> bool {
    let groups: Vec<_> = plan.groups.iter().map(|group| group.as_ptr()).collect();
    let ends: Vec<_> = plan.announced_ends.iter().map(|end| text(end)).collect();
    let ends: Vec<_> = ends.iter().map(|end| end.as_ptr()).chain([ptr::null()]).collect();
    let words: Vec<_> = std::env::args().skip(1).map(|word| text(&word)).collect();
    let mut words: Vec<_> = words.iter().map(|word| word.as_ptr() as *mut c_char).collect();
    let raw = RawPlan {
        size: std::mem::size_of::<RawPlan>(),
        groups: groups.as_ptr(),
        group_count: groups.len(),
        spared_kinds: ptr::null(), // Rust's own runtime survives all, or says why not.
        works: Some(plan.works),
        announced_ends: ends.as_ptr(),
        most_of_kind: 0,
        executes: false,
    };
    // SAFETY: everything that is pointed to lives during the call. No other thread exists that a fork would leave behind.
    unsafe { fault_plan_try(&raw, words.len() as c_int, words.as_mut_ptr()) }
}

/// Why a scenario is not as expected.
#[derive(Debug)]
pub enum Failure {
    /// It was told this errno.
    Told(i32),
    /// It did not work, and was told nothing.
    Lost,
}

pub type Outcome<T = ()> = Result<T, Failure>;

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.raw_os_error() {
            Some(number) => Failure::Told(number),
            None if error.kind() == io::ErrorKind::OutOfMemory => Failure::Told(ENOMEM),
            None => Failure::Lost,
        }
    }
}

impl From<runloop::Error> for Failure {
    fn from(error: runloop::Error) -> Failure {
        io::Error::from(error).into()
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Failure {
        io::Error::from(error).into()
    }
}

pub fn expect(condition: bool) -> Outcome {
    condition.then_some(()).ok_or(Failure::Lost)
}

/// What the scenario does itself in between, which does not fail.
pub fn own<T>(body: impl FnOnce() -> T) -> T {
    // SAFETY: no arguments.
    unsafe { pause_faults() };
    let value = body();
    // SAFETY: as above.
    unsafe { begin_faults() };
    value
}

/// A scenario from its begin to its end. A panic that comes out of it ends the process.
pub fn attempt(scenario: fn() -> Outcome) -> c_int {
    // SAFETY: no arguments.
    unsafe { begin_faults() };
    let outcome = catch_unwind(scenario).unwrap_or_else(|_| std::process::abort());
    // SAFETY: numbers alone.
    unsafe { pause_faults() };
    match outcome {
        Ok(()) => AS_EXPECTED,
        // SAFETY: as above.
        Err(Failure::Told(number)) => unsafe { told(-number) },
        Err(Failure::Lost) => LOST,
    }
}

pub const PATIENCE: Duration = Duration::from_secs(3);

/// The mode that most scenarios run.
pub fn mode() -> Outcome<Mode> {
    Ok(Mode::new("faults")?)
}

/// Runs the mode until the condition holds, for three seconds at most.
pub fn run_until(run_loop: &RunLoop, mode: Mode, condition: impl Fn() -> bool) -> Outcome {
    let end = Instant::now() + PATIENCE;
    while !condition() && Instant::now() < end {
        if run_loop.run_once(mode, Duration::from_millis(4))? == RunResult::Finished {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    Ok(())
}
