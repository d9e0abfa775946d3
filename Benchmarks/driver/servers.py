"""W11: the servers of Examples/Servers on each peer's loop, under load. What counts is the requests that a server answers per second of
its own CPU time, user and system; it runs on a core of its own."""

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from driver import peers

SERVERS = peers.ROOT / "Examples" / "Servers"
LOOPS = peers.HERE / "servers"
NAMES = ["raw", "ours", "ours-swift", "cf", "dispatch", "uv", "ev", "libevent", "glib", "sdevent"]
TIMEOUT_S = 60
PROCESS_CPU_TIME = 2  # the kernel's number of a process's clock that counts what its threads ran
WRK_S = 1  # wrk has whole seconds
LOAD_MS = 100  # at least; less would measure how connections are made


def build_load():
    program = peers.OUT / "load"
    source = LOOPS / "load.c"
    if peers.is_older(program, [source]):
        program.parent.mkdir(parents=True, exist_ok=True)
        peers.succeed([peers.compiler(), *peers.FLAGS, "-o", program, source])
    return program


def build_server(name):
    """A server's program: the same protocols on each peer's loop. One that can't be built is not there."""
    program = peers.OUT / f"server-{name}"
    try:
        return build_program(name, program)
    except (peers.Absent, peers.Broken):
        program.unlink(missing_ok=True)
        raise


def build_program(name, program):
    if name == "ours-swift":
        cc, loop, flags = peers.compiler(), [], peers.swift_flags("OursSwiftServer")
    else:
        cc, main, flags = peers.recipe(name)
        loop = [LOOPS / f"{main}.c"]
    if name == "ours":
        # As a user writes it, on streams of the library.
        sources = sorted(SERVERS.glob("*.c"))
        flags = [f"-I{peers.ROOT / 'Sources' / 'CRunLoopLinux' / 'include'}", peers.core_library().parent / "librunloop-linux.a", *flags]
    else:
        sources = [SERVERS / "echo.c", SERVERS / "http.c", LOOPS / "connection.c", LOOPS / "server.c", *loop]
    parts = [*sources, *SERVERS.glob("*.h"), LOOPS / "loop.h", *[flag for flag in flags if isinstance(flag, Path)], Path(peers.__file__)]
    if peers.is_older(program, parts):
        # Libraries come after what needs them.
        peers.succeed([cc, *peers.FLAGS, f"-I{SERVERS}", "-o", program, *sources, *flags])
    return program


def build(found):
    """Before anything is measured. Gives those that do not build, and why."""
    build_load()
    _, _, broken = peers.attempt([peer.name for peer in found if peer.name in NAMES], build_server, "server ")
    return broken


def cores():
    """The server's, and those of the load."""
    own = sorted(os.sched_getaffinity(0))
    return own[:1], own[1:] or own


def cpu_time_s(process):
    return time.clock_gettime((~process.pid << 3) | PROCESS_CPU_TIME)


def pinned(command, to):
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=lambda: os.sched_setaffinity(0, to))


def load_of_wrk(port, connections):
    return ["wrk", "-t1", f"-c{connections}", f"-d{WRK_S}s", "--timeout", f"{TIMEOUT_S}s", f"http://127.0.0.1:{port}/"]


def figures_of_wrk(output):
    """`49362 requests in 1.10s, 3.91MB read`; errors have lines of their own."""
    found = re.search(r"(\d+) requests in ([\d.]+)(m?s)", output)
    if not found or "errors" in output or "Non-2xx" in output:
        return None
    return {"requests": float(found[1]), "seconds": float(found[2]) / (1000 if found[3] == "ms" else 1)}


def figures_of_load(output):
    return {key: float(value) for key, _, value in (part.partition("=") for part in output.split())}


def loaded(server, command, parse, to):
    """What came of a load, and the server's CPU time meanwhile."""
    start_s = cpu_time_s(server)
    load = pinned(command, to)
    try:
        output, errors = load.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        load.kill()
        load.communicate()
        return f"took more than {TIMEOUT_S} s"
    figures = parse(output) if load.returncode == 0 else None
    if not figures or not figures["requests"]:
        return f"failed: {errors.strip() or output.strip() or load.returncode}"
    cpu_s = cpu_time_s(server) - start_s
    count = figures.pop("requests")
    return {**figures, "per_second": count / figures["seconds"], "per_cpu_second": count / cpu_s, "cpu_ns": cpu_s / count * 1e9}


def once(peer, cell, milliseconds):
    """The figures of one server, started for it, or the reason why there are none."""
    if peer.name not in NAMES:
        return "not offered"
    program = peers.OUT / f"server-{peer.name}"
    if not program.exists():
        return "its server does not build"
    _, protocol, connections = cell.split(",")
    if protocol == "http" and not shutil.which("wrk"):
        return "no wrk; `make bench-deps` installs it"
    servers, loads = cores()
    server = pinned([program, protocol], servers)
    try:
        port = int(server.stdout.readline().removeprefix("port=") or 0)
        if not port:
            return f"failed: {server.stderr.read().strip()}"
        if protocol == "http":
            return loaded(server, load_of_wrk(port, connections), figures_of_wrk, loads)
        return loaded(server, [peers.OUT / "load", str(port), connections, str(max(4 * milliseconds, LOAD_MS))], figures_of_load, loads)
    finally:
        server.send_signal(signal.SIGKILL)
        server.communicate()
