use std::fmt;
use std::io;

/// What a call of this crate that can fail returns.
pub type Result<T> = std::result::Result<T, Error>;

/// What could not be done, and why: the `errno` of the C library as an [`io::Error`].
#[derive(Debug)]
pub struct Error {
    what: &'static str,
    subject: Option<String>,
    cause: io::Error,
}

impl Error {
    pub(crate) fn new(what: &'static str, cause: io::Error) -> Error {
        Error { what, subject: None, cause }
    }

    /// The error of a negative errno.
    pub(crate) fn from_code(what: &'static str, code: i32) -> Error {
        Error::new(what, io::Error::from_raw_os_error(-code))
    }

    /// The same, with what it is about: a path, for instance.
    #[cfg(feature = "linux")]
    pub(crate) fn about(self, subject: String) -> Error {
        Error { subject: Some(subject), ..self }
    }

    /// What the system calls the cause: `Some(16)` is EBUSY.
    pub fn raw_os_error(&self) -> Option<i32> {
        self.cause.raw_os_error()
    }

    /// The kind of the cause.
    pub fn kind(&self) -> io::ErrorKind {
        self.cause.kind()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.what)?;
        self.subject.iter().try_for_each(|subject| write!(formatter, " ({subject})"))?;
        write!(formatter, ": {}", self.cause)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        error.cause
    }
}

/// A result of the C library: not negative, or an error.
pub(crate) fn check(what: &'static str, code: i32) -> Result<i32> {
    if code < 0 {
        Err(Error::from_code(what, code))
    } else {
        Ok(code)
    }
}
