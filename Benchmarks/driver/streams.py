"""W14's streams: bytes through a pipe and a pair of sockets, and the line server, on inputs and outputs, on libuv's streams, and by hand."""

import random
import shutil
import signal
import statistics
import subprocess

from driver import servers

LOOPS = ["raw", "ours", "uv"]  # of which the caller takes away what is not installed
MEGABYTES, COUNTED_MEGABYTES, LOAD_MS = 512, 4, 400
TRANSFERS = [(kind, chunk) for kind in ("pipe", "socket") for chunk in (4096, 65536)]
CONNECTIONS = [1, 50]
PROGRAMS = ["transfer", "lines", "lifetimes"]


def output(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True, timeout=300, **options).stdout


def build(here, place, flags, libraries):
    """A program for each loop, those of lifetimes.py as well."""
    servers.build_load()
    for program in PROGRAMS:
        for loop in LOOPS:
            sources = [here / f"{program}.c", here / f"{program}_{loop}.c"]
            subprocess.run(["cc", *flags, *sources, *libraries[loop], "-o", place / f"{program}-{loop}"], check=True)


def system_calls(place, *command):
    """Of the command's own process."""
    counts = place / "calls"
    output("strace", "-c", "-qq", "-U", "calls", "-o", counts, *command)
    return int(counts.read_text().split()[-2])  # of all calls


def calls_per_megabyte(place, loop, cell):
    """What no other load on the machine changes, less what a start costs; None without strace."""
    if not shutil.which("strace"):
        return None
    first, second = (system_calls(place, place / f"transfer-{loop}", *cell, times * COUNTED_MEGABYTES) for times in (1, 2))
    return (second - first) / COUNTED_MEGABYTES


def requests_per_cpu_second(place, loop, connections, milliseconds):
    own, others = servers.cores()
    server = servers.pinned([place / f"lines-{loop}"], own)
    try:
        port = server.stdout.readline().strip().removeprefix("port=")
        load = [servers.peers.OUT / "load", port, str(connections), str(milliseconds)]
        figures = servers.loaded(server, load, servers.figures_of_load, others)
        if isinstance(figures, str):
            raise SystemExit(f"lines-{loop}: {figures}")
        return figures["per_cpu_second"]
    finally:
        server.send_signal(signal.SIGKILL)
        server.communicate()


def measure(place, repetitions, part):
    """Of each transfer and each number of connections, what each loop came to in each repetition; and the system calls of transfers."""
    results, calls = {}, {}
    for _ in range(repetitions):
        for cell in TRANSFERS:
            for loop in random.sample(LOOPS, len(LOOPS)):
                program = place / f"transfer-{loop}"
                rate = float(output("taskset", "-c", "0", program, *cell, max(1, MEGABYTES // part)))
                results.setdefault((cell, loop), []).append(rate)
        for cell in CONNECTIONS:
            for loop in random.sample(LOOPS, len(LOOPS)):
                rate = requests_per_cpu_second(place, loop, cell, max(20, LOAD_MS // part))
                results.setdefault((cell, loop), []).append(rate)
    for cell in TRANSFERS:
        for loop in LOOPS:
            calls[cell, loop] = calls_per_megabyte(place, loop, cell)
    return results, calls


def row(what, results, cell, loop, last):
    ratio = statistics.median(a / b for a, b in zip(results[cell, loop], results[cell, "raw"]))
    return f"| {what if loop == 'raw' else ''} | {loop} | {statistics.median(results[cell, loop]):,.0f} | {ratio:.2f} | {last} |"


def table(results, calls):
    lines = ["| bytes, per second of CPU time | | MB | × raw | system calls per MiB |", "|---|---|---|---|---|"]
    for kind, chunk in TRANSFERS:
        for loop in LOOPS:
            count = calls[(kind, chunk), loop]
            what = f"{'a pipe' if kind == 'pipe' else 'a pair of sockets'}, written {chunk // 1024} KiB at a time"
            lines.append(row(what, results, (kind, chunk), loop, "" if count is None else f"{count:.0f}"))
    lines += ["", "| the line server, per second of its CPU time | | requests | × raw | |", "|---|---|---|---|---|"]
    for cell in CONNECTIONS:
        for loop in LOOPS:
            lines.append(row(f"{cell} connection{'s' if cell > 1 else ''}", results, cell, loop, ""))
    return "\n".join(lines)
