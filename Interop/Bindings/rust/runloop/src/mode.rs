use crate::error::{Error, Result};
use runloop_sys as sys;
use std::ffi::{CStr, CString};
use std::fmt;
use std::io;
use std::os::raw::c_char;

/// The name of a mode, in which a loop runs and to which timers, sources and observers are added. Modes with equal names are equal.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mode(&'static CStr);

const fn constant(bytes: &'static [u8]) -> Mode {
    // SAFETY: the constants of runloop-sys are C strings: their only zero is the last byte.
    Mode(unsafe { CStr::from_bytes_with_nul_unchecked(bytes) })
}

impl Mode {
    /// The mode in which [`RunLoop::run`](crate::RunLoop::run) runs. It is a common mode.
    pub const DEFAULT: Mode = constant(sys::RUNLOOP_DEFAULT_MODE);
    /// Stands for all modes that were declared common. It is not a mode: a run in it finishes at once.
    pub const COMMON: Mode = constant(sys::RUNLOOP_COMMON_MODES);
    /// The mode in which user interfaces follow a pointer. It is not common unless declared so.
    pub const TRACKING: Mode = constant(sys::RUNLOOP_TRACKING_MODE);

    /// The mode of a name. Names live as long as the process, each once: `new` is for a program's few constant names.
    ///
    /// Fails with `InvalidInput` if the name contains a zero byte, and with `OutOfMemory`.
    pub fn new(name: &str) -> Result<Mode> {
        const WHAT: &str = "the mode could not be named";
        let text = CString::new(name).map_err(|error| Error::new(WHAT, error.into()))?;
        // SAFETY: the text is a C string.
        let interned = unsafe { sys::runloop_mode_name(text.as_ptr()) };
        if interned.is_null() {
            return Err(Error::new(WHAT, io::ErrorKind::OutOfMemory.into()));
        }
        // SAFETY: names in the library's table live as long as the process.
        Ok(unsafe { Mode::from_ptr(interned) })
    }

    /// The mode's name. Bytes that are not UTF-8, which only C programs can have put there, are replaced.
    pub fn name(&self) -> std::borrow::Cow<'static, str> {
        self.0.to_string_lossy()
    }

    /// # Safety
    /// `name` is a C string that lives as long as the process.
    pub(crate) unsafe fn from_ptr(name: *const c_char) -> Mode {
        // SAFETY: as the caller promises.
        Mode(unsafe { CStr::from_ptr(name) })
    }

    /// The name for functions of [`sys`](crate::sys), a C string that lives as long as the process.
    pub fn as_ptr(&self) -> *const c_char {
        self.0.as_ptr()
    }
}

impl Default for Mode {
    fn default() -> Mode {
        Mode::DEFAULT
    }
}

impl fmt::Debug for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Mode({:?})", self.0)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name())
    }
}
