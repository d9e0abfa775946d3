//! The C interface of librunloop, the run loop for Linux, as bindgen reads it from `runloop.h`; with the feature `linux` also that of
//! librunloop-linux, from `runloop_linux.h`.
//!
//! What each declaration means is said by the C headers and their man pages (`man runloop_run`), and by the crate `runloop`, which is safe and which
//! programs use. `generate` writes `bindings.rs` and `linux.rs` again.
#![allow(non_camel_case_types, missing_docs)]

mod bindings;
#[cfg(feature = "linux")]
mod linux;
pub use bindings::*;
#[cfg(feature = "linux")]
pub use linux::*;
