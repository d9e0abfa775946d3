"""The peers: how each program is built, and which can be."""

import functools
import json
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

from driver.progress import Progress

HERE = Path(__file__).resolve().parent.parent
ROOT = HERE.parent
OUT = ROOT / os.environ.get("BUILD", "build") / "bench"
# DWARF 4, because not every valgrind in use reads what a new clang writes.
OPTIMIZED = ["-O2", "-gdwarf-4"]
FLAGS = ["-std=gnu11", *OPTIMIZED, "-pthread", "-Wall", "-Wextra", *(["-Werror"] if os.environ.get("WERROR") else [])]
PACKAGES = {
    "uv": "libuv1-dev", "ev": "libev-dev", "libevent": "libevent-dev", "glib": "libglib2.0-dev", "sdevent": "libsystemd-dev",
}
ORDER = [
    "raw", "ours", "ours-hosted", "ours-main", "ours-swift", "ours-swift-thread", "cf", "cf-thread", "dispatch", "uv", "ev", "libevent", "libevent-precise",
    "glib", "sdevent",
]
VARIANTS = {"-thread": "BENCH_THREAD", "-precise": "BENCH_PRECISE"}


class Absent(Exception):
    """A peer that can't be had here, and why."""


class Broken(SystemExit):
    """A command that failed, with all that it said, which ends the program where nobody does without it."""

    def __init__(self, command, output):
        super().__init__(f"{' '.join(map(str, command))}\n{output}")
        errors = [line.strip() for line in output.splitlines() if "error" in line.lower()]
        self.reason = (errors or output.strip().splitlines() or [f"{command[0]} failed"])[0]


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, **more)


def succeed(command, **more):
    result = run(command, **more)
    if result.returncode:
        raise Broken(command, result.stdout + result.stderr)
    return result.stdout


def compiler():
    return os.environ.get("CC") or ("cc" if shutil.which("cc") else "clang")


@functools.cache
def target_info():
    if not shutil.which("swift"):
        raise Absent("no Swift toolchain")
    return json.loads(succeed(["swift", "-print-target-info"]))


def toolchain():
    """Where the Swift toolchain keeps its libraries: its `usr/lib/swift`."""
    return Path(target_info()["paths"]["runtimeResourcePath"])


def toolchain_version():
    return f'-DPEER_VERSION="{target_info()["compilerVersion"].split(" (")[0]}"'


def package(name, *names):
    """Flags of the first of these pkg-config packages that is there."""
    for each in names:
        result = run(["pkg-config", "--cflags", "--libs", *each.split()])
        if result.returncode == 0:
            return result.stdout.split()
    raise Absent(f"no {PACKAGES[name]}; `make bench-deps` installs it")


def core_library():
    cc = compiler()
    succeed(["make", "-s", "lib", f"CC={cc}", f"CFLAGS={' '.join(OPTIMIZED)}", f"BUILD={os.path.relpath(OUT, ROOT)}", "SANITIZE="], cwd=ROOT)
    return OUT / cc.replace("/", "_") / "librunloop.a"


def library_size():
    """Of the shared library as it is shipped: without what debuggers need."""
    library = next(core_library().parent.glob("librunloop.so.*"))
    with tempfile.TemporaryDirectory() as directory:
        stripped = Path(directory) / "stripped"
        succeed(["strip", "--strip-unneeded", "-o", stripped, library])
        return stripped.stat().st_size


def core_flags():
    return [f"-I{ROOT}/Sources/CRunLoopCore/include", core_library()]


def dispatch_flags():
    libraries = toolchain()
    linux = libraries / "linux"
    return ["-isystem", str(libraries), f"-L{linux}", f"-Wl,-rpath,{linux}", "-Wl,--no-as-needed", "-ldispatch", "-lBlocksRuntime"]


def is_older(made, sources):
    return not made.exists() or made.stat().st_mtime < newest(sources)


@functools.cache
def swift_product(product):
    """Builds a product of Benchmarks/Package.swift, with the overlay and the core in it, as SwiftPM builds a client's program for a release. The folder."""
    toolchain()
    command = ["swift", "build", "--package-path", HERE, "--scratch-path", OUT / "swift", "-c", "release", "-debug-info-format", "none",
               "-j", str(os.cpu_count())]
    succeed([*command, "--product", product])
    return Path(succeed([*command, "--show-bin-path"]).strip())


def swift_archive(product):
    return swift_product(product) / f"lib{product}.a"


def swift_program(product):
    return swift_product(product) / product


def swift_flags(product):
    """For a program in C that is on such an archive."""
    linux = toolchain() / "linux"
    start = next(linux.glob(f"{platform.machine()}/swiftrt.o"), None)
    if start is None:
        raise Absent(f"no swiftrt.o for {platform.machine()} in {linux}")
    libraries = ["-lswiftCore", "-lswift_Concurrency", "-lswiftGlibc", "-lswiftSynchronization"]
    return [start, swift_archive(product), f"-L{linux}", f"-Wl,-rpath,{linux}", *libraries]


def clang():
    """Blocks need clang; the toolchain's own, or the system's."""
    beside = toolchain().parent.parent / "bin" / "clang"
    return str(beside) if beside.exists() else "clang"


def recipe(name):
    """Compiler, main file and flags of a program."""
    if name == "raw":
        return compiler(), "raw", []
    if name == "ours":
        return compiler(), "ours", core_flags()
    if name == "ours-hosted":
        return compiler(), "ours", ["-DBENCH_HOSTED", *core_flags()]
    if name == "ours-main":
        return clang(), "ours", ["-DBENCH_DISPATCH", "-fblocks", *core_flags(), *dispatch_flags()]
    if name == "dispatch":
        return clang(), "dispatch", ["-fblocks", toolchain_version(), *dispatch_flags()]
    if name == "cf":
        return clang(), "cf", ["-fblocks", toolchain_version(), *dispatch_flags(), "-lFoundation"]
    if name == "ours-swift":
        return compiler(), "ours_swift", swift_flags("OursSwiftPeer")
    if name == "ev":
        if not Path("/usr/include/ev.h").exists() and not Path("/usr/include/libev/ev.h").exists():
            raise Absent(f"no {PACKAGES[name]}; `make bench-deps` installs it")
        return compiler(), "ev", ["-lev", "-lm"]
    names = {"uv": ["libuv"], "libevent": ["libevent_pthreads libevent", "libevent"], "glib": ["glib-2.0"], "sdevent": ["libsystemd"]}
    version = run(["pkg-config", "--modversion", names[name][-1]]).stdout.strip()
    return compiler(), name, [f'-DPEER_VERSION="{version}"', *package(name, *names[name])]


def newest(paths):
    return max(path.stat().st_mtime for path in paths)


def build(name):
    """Builds a peer's program if it is older than its parts."""
    cc, main, flags = recipe(name)
    if not (HERE / "peers" / f"{main}.c").exists():
        raise Absent("not written yet")
    sources = [HERE / "bench.c", *sorted((HERE / "workloads").glob("*.c")), HERE / "peers" / "absent.c", HERE / "peers" / f"{main}.c"]
    parts = [*sources, *HERE.glob("*.h"), *(HERE / "peers").glob("*.h"), *[flag for flag in flags if isinstance(flag, Path)], Path(__file__)]
    program = OUT / name
    if is_older(program, parts):
        program.parent.mkdir(parents=True, exist_ok=True)
        # Libraries come after what needs them.
        succeed([cc, *FLAGS, "-o", program, *sources, *flags])
    return program


class Peer:
    """A program, and how it is started: `cf-thread` is `cf` on a thread of its own, where it doesn't serve the main queue."""

    def __init__(self, name):
        self.name = name
        base, self.environment = name, {}
        for suffix, variable in VARIANTS.items():
            if name.endswith(suffix):
                base, self.environment = name.removesuffix(suffix), {variable: "1"}
        self.program = build(base)
        self.version = succeed([self.program, "version"]).strip()

    def takes_part(self, cell):
        return not self.name.endswith("-precise") or cell.startswith(("w5b", "w5c"))

    def command(self, cell, *arguments):
        return [str(self.program), cell, *map(str, arguments)]


def attempt(names, build_one, what):
    """What `build_one` makes of each name, in order, and why others can't be had; the second reasons are faults of ours or of a library."""
    made, absent, broken = {}, {}, {}
    progress = Progress(len(names))
    for name in names:
        progress.step(f"building {what}{name}")
        try:
            made[name] = build_one(name)
        except Absent as reason:
            absent[name] = str(reason)
        except Broken as failure:
            log = OUT / f"{what}{name}.log".replace(" ", "-")
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text(f"{failure}\n")
            broken[name] = f"it does not build ({failure.reason}); {log} has the rest"
    progress.finish("programs")
    return made, absent, broken


def present(wanted):
    """The peers that can be built, in order, and why the others are missing: as they are not installed, and as they do not build."""
    made, absent, broken = attempt(wanted, Peer, "")
    return list(made.values()), absent, broken
