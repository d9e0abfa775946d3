"""W14's whole lives: a child from its start to its end, a connection to its close, and one that is accepted, with librunloop-linux, with libuv, and by hand."""

import random
import re
import shutil
import statistics
import subprocess

from driver.streams import LOOPS, output, system_calls

GOAL = 1.1  # of libuv's CPU time, at most
CELLS = [("child", "a child, from its start to its end", 300), ("connect", "a connection, from the call to its close", 5000),
         ("accept", "a connection that is accepted, and closed", 5000)]


def difference(count, times):
    """Per operation, so that a start and an end cancel out."""
    first, second = (count(part * times) for part in (1, 2))
    return (second - first) / times


def calls(place, loop, cell, counted):
    """Of the process alone: neither the children's nor the server's. None without strace."""
    if not shutil.which("strace"):
        return None
    return difference(lambda times: system_calls(place, place / f"lifetimes-{loop}", cell, times), counted)


def instructions(place, loop, cell, counted):
    """In user space; None without valgrind, and of what it can't follow."""
    if not shutil.which("valgrind"):
        return None

    def count(times):
        counts = place / "instructions"
        tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}"]
        output(*tool, place / f"lifetimes-{loop}", cell, times, stderr=subprocess.DEVNULL)
        return int(re.search(r"^(?:totals|summary): (\d+)", counts.read_text(), re.MULTILINE)[1])

    try:
        return difference(count, counted)
    except (subprocess.CalledProcessError, TypeError):
        return None


def measure(place, repetitions, part):
    """Of each cell and loop the CPU time of each repetition, in ns; and what can be counted."""
    results, counts = {}, {}
    for _ in range(repetitions):
        for cell, _, times in CELLS:
            for loop in random.sample(LOOPS, len(LOOPS)):
                time = float(output("taskset", "-c", "0", place / f"lifetimes-{loop}", cell, max(5, times // part)))
                results.setdefault((cell, loop), []).append(time)
    for cell, _, times in CELLS:
        for loop in LOOPS:
            counts[cell, loop] = tuple(count(place, loop, cell, times // 15) for count in (calls, instructions))
    return results, counts


def table(results, counts):
    lines = ["| CPU time of the process | | µs | × uv | goal | system calls | instructions |", "|---|---|---|---|---|---|---|"]
    for cell, what, _ in CELLS:
        for loop in LOOPS:
            ratio = statistics.median(a / b for a, b in zip(results[cell, loop], results[cell, "uv"])) if "uv" in LOOPS else None
            goal = f"{GOAL}: {'met' if ratio <= GOAL else 'missed'}" if loop == "ours" and ratio else ""
            calls, steps = ("" if count is None else f"{count:,.0f}" for count in counts[cell, loop])
            time, times = statistics.median(results[cell, loop]) / 1000, f"{ratio:.2f}" if ratio else ""
            lines.append(f"| {what if loop == 'raw' else ''} | {loop} | {time:.1f} | {times} | {goal} | {calls} | {steps} |")
    return "\n".join(lines)
