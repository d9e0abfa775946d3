//! The C interface of librunloop, the run loop for Linux, as bindgen reads it from `runloop.h`; with the feature `linux` also that of
//! librunloop-linux, from `runloop_linux.h`.
//!
//! The comments are those of the headers. `generate` writes `bindings.rs` and `linux.rs` again. Programs use the crate `runloop`, which is safe.
#![allow(non_camel_case_types, missing_docs, rustdoc::broken_intra_doc_links, rustdoc::invalid_html_tags)]

mod bindings;
#[cfg(feature = "linux")]
mod linux;
pub use bindings::*;
#[cfg(feature = "linux")]
pub use linux::*;
