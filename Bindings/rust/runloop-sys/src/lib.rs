//! The C interface of librunloop, the run loop for Linux, as bindgen reads it from `runloop.h`.
//!
//! The comments are those of the header. `generate` writes `bindings.rs` again. Programs use the crate `runloop`, which is safe.
#![allow(non_camel_case_types, missing_docs, rustdoc::broken_intra_doc_links, rustdoc::invalid_html_tags)]

mod bindings;
pub use bindings::*;
