use super::arrivals::Arrivals;
use super::object::{call_out, Object};
use crate::error::{Error, Result};
use crate::time;
use runloop_sys as sys;
use std::ffi::{CStr, CString, OsStr};
use std::os::raw::{c_char, c_void};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::task::{Context, Poll};
use std::time::Duration;

/// What of the path is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// What has the path, and not what is in it.
    File,
    /// That, and its entries.
    Directory,
    /// That, and everything below it.
    Tree,
}

/// How a path is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangesConfig {
    /// What of it.
    pub scope: Scope,
    /// Follows a symbolic link to its target.
    pub follows_link: bool,
    /// Changes are reported together once nothing was noticed for so long. Zero: as they are noticed.
    pub settle: Duration,
}

impl ChangesConfig {
    /// For one scope; links aren't followed, and changes are reported as they are noticed.
    pub fn new(scope: Scope) -> ChangesConfig {
        ChangesConfig { scope, follows_link: false, settle: Duration::ZERO }
    }
}

/// What has happened to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// It is there, and is new.
    Created,
    /// It is not there any more.
    Removed,
    /// It had the path `from` before.
    Moved,
    /// It was written to, or truncated.
    Modified,
    /// Its permissions, owner, times, attributes or number of links have changed.
    Attributes,
    /// The kernel has dropped notifications, so everything was looked at again.
    Overflow,
    /// It could not be watched or looked at: the errno value.
    Failed(i32),
}

/// A change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What has happened.
    pub kind: ChangeKind,
    /// To what: below the path that is watched, as that was given.
    pub path: PathBuf,
    /// The former path of what was moved.
    pub from: Option<PathBuf>,
    /// What was there is a directory, if it was removed.
    pub is_directory: bool,
}

/// The changes of a path, which need not exist yet. Those that come while nobody waits are kept.
pub struct Changes(Object<Arrivals<Vec<Change>>>);

impl Changes {
    /// Watches a path, from now on. Fails with EINVAL for an empty path, EACCES, EMFILE, ENOSPC, ENOMEM.
    pub fn new(path: impl AsRef<Path>, config: ChangesConfig) -> Result<Changes> {
        const WHAT: &str = "the path can't be watched";
        let path = CString::new(path.as_ref().as_os_str().as_bytes())
            .map_err(|error| Error::new(WHAT, error.into()))?;
        let scope = match config.scope {
            Scope::File => sys::RUNLOOP_WATCH_FILE,
            Scope::Directory => sys::RUNLOOP_WATCH_DIRECTORY,
            Scope::Tree => sys::RUNLOOP_WATCH_TREE,
        };
        // SAFETY: `changed` takes the state that the object is made with; the path lives during the call.
        unsafe {
            Object::new(WHAT, Arrivals::default(), |context, out| {
                let config = sys::runloop_watch_config {
                    context,
                    path: path.as_ptr(),
                    scope,
                    follows_link: config.follows_link,
                    settle_ns: time::nanoseconds(config.settle),
                    changed: Some(changed),
                };
                sys::runloop_watch_create(&config, out)
            })
        }
        .map(Changes)
    }

    /// The next changes, at least one.
    pub async fn next(&mut self) -> Result<Vec<Change>> {
        self.0.next("changes").await
    }

    /// The same, polled: for streams.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<Vec<Change>>> {
        self.0.poll_next("changes", context)
    }
}

unsafe extern "C" fn changed(
    watch: *mut sys::runloop_watch,
    changes: *const sys::runloop_change,
    count: usize,
    info: *mut c_void,
) {
    // SAFETY: the library passes what the object was made with, and so many changes.
    unsafe {
        call_out(info, |arrivals: &Arrivals<Vec<Change>>| {
            arrivals.put(
                watch,
                std::slice::from_raw_parts(changes, count).iter().map(|change| copy(change)).collect(),
            )
        });
    }
}

/// # Safety
/// The texts of `change` are C strings; `from` may be NULL.
unsafe fn copy(change: &sys::runloop_change) -> Change {
    let kind = match change.kind {
        sys::RUNLOOP_CHANGE_CREATED => ChangeKind::Created,
        sys::RUNLOOP_CHANGE_REMOVED => ChangeKind::Removed,
        sys::RUNLOOP_CHANGE_MOVED => ChangeKind::Moved,
        sys::RUNLOOP_CHANGE_MODIFIED => ChangeKind::Modified,
        sys::RUNLOOP_CHANGE_ATTRIBUTES => ChangeKind::Attributes,
        sys::RUNLOOP_CHANGE_OVERFLOW => ChangeKind::Overflow,
        _ => ChangeKind::Failed(-change.error),
    };
    // SAFETY: as the caller promises.
    let path = |text: *const c_char| unsafe {
        PathBuf::from(std::ffi::OsString::from_vec(
            OsStr::from_bytes(CStr::from_ptr(text).to_bytes()).as_bytes().to_vec(),
        ))
    };
    let from = if change.from.is_null() { None } else { Some(path(change.from)) };
    Change { kind, path: path(change.path), from, is_directory: change.is_directory }
}
