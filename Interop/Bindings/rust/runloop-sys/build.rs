//! Finds librunloop, and librunloop-linux beside it, or builds them.
//!
//! In this order: the folder that RUNLOOP_LIB_DIR names; what pkg-config finds, unless the feature `vendored` is on; the sources that the crate comes
//! with, which are compiled by the C compiler that CC names, and linked statically. RUNLOOP_NO_VENDOR=1 builds nothing, whatever features say.
//! RUNLOOP_STATIC=1 links what was found statically.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::Mutex;
use std::thread;

fn main() {
    for name in [
        "RUNLOOP_LIB_DIR",
        "RUNLOOP_STATIC",
        "RUNLOOP_NO_VENDOR",
        "PKG_CONFIG_PATH",
        "PKG_CONFIG_LIBDIR",
        "PKG_CONFIG_ALLOW_CROSS",
        "PKG_CONFIG",
    ] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    let may_build = !is_set("RUNLOOP_NO_VENDOR");
    let is_to_build = may_build && env::var_os("CARGO_FEATURE_VENDORED").is_some();
    let kind = if is_set("RUNLOOP_STATIC") { "static" } else { "dylib" };
    if let Ok(folder) = env::var("RUNLOOP_LIB_DIR") {
        return link(kind, &folder);
    }
    let found = if is_to_build { Err(String::new()) } else { folder_of_package() };
    match found {
        Ok(folder) => link(kind, &folder),
        Err(_) if may_build => build(),
        Err(why) => fail(&format!(
            "librunloop was not found: `make install` installs it, RUNLOOP_LIB_DIR names its folder, and without RUNLOOP_NO_VENDOR it is built. {why}"
        )),
    }
}

fn is_set(name: &str) -> bool {
    env::var(name).as_deref() == Ok("1")
}

fn has_linux() -> bool {
    env::var_os("CARGO_FEATURE_LINUX").is_some()
}

/// Ends the build with a sentence, which is all that cargo shows.
fn fail(sentence: &str) -> ! {
    eprintln!("{sentence}");
    process::exit(1)
}

fn link(kind: &str, folder: &str) {
    if !folder.is_empty() {
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:lib={folder}");
    }
    if has_linux() {
        println!("cargo:rustc-link-lib={kind}=runloop-linux");
    }
    println!("cargo:rustc-link-lib={kind}=runloop");
}

/// The folder that `runloop.pc` names, if it is of a version that this crate knows; empty if it is one that the linker searches anyway.
/// Otherwise why there is none.
fn folder_of_package() -> Result<String, String> {
    if variable("TARGET") != variable("HOST") && !is_set("PKG_CONFIG_ALLOW_CROSS") {
        return Err(
            "pkg-config knows the libraries of this machine, unless PKG_CONFIG_ALLOW_CROSS is 1.".to_owned()
        );
    }
    // Before 1.0 a minor version may break programs.
    let version = env!("CARGO_PKG_VERSION");
    let minor: u32 = env!("CARGO_PKG_VERSION_MINOR").parse().expect("cargo sets it to a number");
    let below = format!("{}.{}", env!("CARGO_PKG_VERSION_MAJOR"), minor + 1);
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".to_owned());
    let mut command = Command::new(&program);
    command.arg("--libs-only-L");
    for package in ["runloop", "runloop-linux"].iter().take(1 + usize::from(has_linux())) {
        command.args([format!("{package} >= {version}"), format!("{package} < {below}")]);
    }
    match command.output() {
        Ok(output) if output.status.success() => {
            let flags = String::from_utf8_lossy(&output.stdout);
            let folder = flags.split_whitespace().find_map(|flag| flag.strip_prefix("-L"));
            Ok(folder.unwrap_or("").to_owned())
        }
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Err(format!("{program} cannot be run: {error}")),
    }
}

//-- From the sources -------------------------------------------------------------------------------------------------

/// A C library of ours.
struct Library {
    name: &'static str,
    sources: PathBuf,
    flags: Vec<String>,
}

/// Compiles the sources that the crate comes with. In the repository `vendor` has links to them, which cargo follows when it makes a package.
fn build() {
    let out = PathBuf::from(variable("OUT_DIR"));
    let vendor = Path::new(&variable("CARGO_MANIFEST_DIR")).join("vendor");
    let include = |library: &str, folder: &str| format!("-I{}", vendor.join(library).join(folder).display());
    let core = include("core", "include");
    let mut libraries = vec![Library {
        name: "runloop",
        sources: vendor.join("core/src"),
        flags: vec!["-DRUNLOOP_BUILDING_CORE".to_owned(), core.clone(), include("core", "src")],
    }];
    if has_linux() {
        let flags = vec![core, include("linux", "include"), include("linux", "src")];
        libraries.push(Library { name: "runloop-linux", sources: vendor.join("linux/src"), flags });
    }
    let tools = Tools::new();
    for library in &libraries {
        archive(library, &tools, &out);
    }
    println!("cargo:include={}", vendor.join("core/include").display());
    link("static", &out.display().to_string());
}

fn archive(library: &Library, tools: &Tools, out: &Path) {
    println!("cargo:rerun-if-changed={}", library.sources.display());
    println!("cargo:rerun-if-changed={}", library.sources.with_file_name("include").display());
    let objects = out.join(library.name);
    fs::create_dir_all(&objects)
        .unwrap_or_else(|error| fail(&format!("{} cannot be made: {error}", objects.display())));
    let mut commands = Vec::new();
    let mut names = Vec::new();
    for source in sources_in(&library.sources) {
        let inside = source.strip_prefix(&library.sources).expect("it was found there");
        let object = objects.join(inside.to_string_lossy().replace('/', "-")).with_extension("o");
        let mut command = Command::new(&tools.compiler[0]);
        // As in the Makefile: a function in a section of its own is left out of programs that don't call it.
        command.args(&tools.compiler[1..]).args([
            "-std=c11",
            "-D_GNU_SOURCE",
            "-fPIC",
            "-fvisibility=hidden",
            "-ffunction-sections",
            "-pthread",
        ]);
        command.arg(format!("-O{}", variable("OPT_LEVEL"))).args(&library.flags);
        if variable("DEBUG") != "false" {
            command.arg("-g");
        }
        command.args(&tools.flags).arg("-c").arg(&source).arg("-o").arg(&object);
        commands.push(command);
        names.push(object);
    }
    run_all(commands);
    let archive = out.join(format!("lib{}.a", library.name));
    let _ = fs::remove_file(&archive); // Or objects of former sources remain in it.
    let mut command = Command::new(&tools.archiver);
    run(command.arg("crs").arg(archive).args(names));
}

/// All files of C in a folder and below, in a fixed order.
fn sources_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| {
        fail(&format!(
            "the sources of librunloop are not at {} ({error}): the crate needs its whole package or repository",
            folder.display()
        ))
    });
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            found.extend(sources_in(&path));
        } else if path.extension().map_or(false, |extension| extension == "c") {
            found.push(path);
        }
    }
    found
}

/// Runs the commands, as many at a time as cargo allows.
fn run_all(commands: Vec<Command>) {
    let jobs = env::var("NUM_JOBS").ok().and_then(|number| number.parse().ok()).unwrap_or(1);
    let waiting = Mutex::new(commands);
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| loop {
                let next = waiting.lock().expect("no thread panics with it").pop();
                match next {
                    Some(mut command) => run(&mut command),
                    None => return,
                }
            });
        }
    });
}

fn run(command: &mut Command) {
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => fail(&format!("{command:?} answered {status}")),
        Err(error) => fail(&format!(
            "{:?} cannot be run ({error}): building librunloop needs a C compiler and ar, which CC and AR name",
            command.get_program()
        )),
    }
}

//-- Tools of C -------------------------------------------------------------------------------------------------------

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| fail(&format!("cargo sets {name}, and this is run by cargo")))
}

/// What compiles, found once.
struct Tools {
    compiler: Vec<String>,
    flags: Vec<String>,
    archiver: String,
}

impl Tools {
    fn new() -> Tools {
        let words = |text: String| text.split_whitespace().map(str::to_owned).collect();
        Tools {
            compiler: words(named("CC").unwrap_or_else(|| prefixed("cc"))),
            flags: words(named("CFLAGS").unwrap_or_default()),
            archiver: named("AR").unwrap_or_else(|| prefixed("ar")),
        }
    }
}

/// What a variable says, by the names that other crates use: for the target, for targets that are not the host, for all.
fn named(name: &str) -> Option<String> {
    let (target, host) = (variable("TARGET"), variable("HOST"));
    let of_kind = if target == host { "HOST" } else { "TARGET" };
    let names = [
        format!("{name}_{target}"),
        format!("{name}_{}", target.replace('-', "_")),
        format!("{of_kind}_{name}"),
        name.to_owned(),
    ];
    for name in &names {
        println!("cargo:rerun-if-env-changed={name}");
    }
    names.iter().find_map(|name| env::var(name).ok().filter(|value| !value.trim().is_empty()))
}

/// With what a distribution calls it for another target, such as aarch64-linux-gnu-gcc.
fn prefixed(name: &str) -> String {
    let (target, host) = (variable("TARGET"), variable("HOST"));
    let is_same_processor = target.split('-').next() == host.split('-').next();
    // Another C library needs another compiler, and no other archiver.
    if target == host || (name == "ar" && is_same_processor) {
        return name.to_owned();
    }
    let compiler = if name == "cc" { "gcc" } else { name };
    format!("{}-{compiler}", target.replace("-unknown-", "-"))
}
