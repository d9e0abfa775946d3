//! Finds librunloop, and librunloop-linux beside it: in RUNLOOP_LIB_DIR, or with pkg-config. RUNLOOP_STATIC=1 links librunloop.a.

use std::env;
use std::process::Command;

fn main() {
    for name in ["RUNLOOP_LIB_DIR", "RUNLOOP_STATIC", "PKG_CONFIG_PATH"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let folder = env::var("RUNLOOP_LIB_DIR").unwrap_or_else(|_| folder_of_package());
    if !folder.is_empty() {
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:lib={folder}");
    }
    let kind = match env::var("RUNLOOP_STATIC").as_deref() {
        Ok("1") => "static",
        _ => "dylib",
    };
    if env::var_os("CARGO_FEATURE_LINUX").is_some() {
        println!("cargo:rustc-link-lib={kind}=runloop-linux");
    }
    println!("cargo:rustc-link-lib={kind}=runloop");
}

/// The folder that `runloop.pc` names; empty if it is one that the linker searches anyway.
fn folder_of_package() -> String {
    let output =
        Command::new("pkg-config").args(["--libs-only-L", "runloop"]).output().unwrap_or_else(|error| {
            panic!("pkg-config cannot be run ({error}); name librunloop's folder in RUNLOOP_LIB_DIR instead")
        });
    assert!(
        output.status.success(),
        "librunloop was not found: `make install` installs it, RUNLOOP_LIB_DIR names its folder. {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let flags = String::from_utf8_lossy(&output.stdout);
    flags.trim().strip_prefix("-L").unwrap_or("").to_owned()
}
