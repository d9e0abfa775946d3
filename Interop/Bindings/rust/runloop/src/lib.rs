#![doc = include_str!("../README.md")]
#![deny(unsafe_op_in_unsafe_fn, missing_docs)]

mod async_fd;
mod border;
mod callback;
mod descriptor;
mod error;
mod executor;
mod flags;
mod handle;
mod hosted;
mod item;
#[cfg(feature = "linux")]
pub mod linux;
mod mode;
mod observer;
mod run_loop;
mod source;
mod time;
mod timer;

pub use async_fd::{AsyncFd, Wait};
pub use descriptor::{DescriptorSource, Readiness};
pub use error::{Error, Result};
pub use executor::{ready, sleep, Ready, Sleep};
pub use handle::Handle;
pub use hosted::{Hosted, HostedRun};
pub use item::Item;
pub use mode::Mode;
pub use observer::{Activity, Observer, ObserverConfig};
pub use run_loop::{RunLoop, RunResult};
pub use runloop_sys as sys;
pub use source::{Signaller, Source};
pub use timer::{Timer, TimerConfig};
