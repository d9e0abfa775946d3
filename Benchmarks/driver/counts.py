"""Counts per operation, which no noise can touch: user instructions and allocations (callgrind) and system calls (strace). Each is the
difference of two runs with different fixed numbers of operations, so that starting and ending cancel out."""

import os
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from driver.measure import TIMEOUT_S
from driver.progress import Progress

ALLOCATORS = re.compile(r"^(malloc|calloc|realloc|aligned_alloc|posix_memalign|memalign)(@|$)")
OPERATIONS = {"w1": (200, 2200), "w3": (4096, 69632), "w5c": (20, 220)}
USUAL = (1600, 17600)


def totals_of_callgrind(path):
    """Instructions, and calls of the allocator, of a callgrind file."""
    names, callee, allocations, instructions = {}, None, 0, 0
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith(("fn=", "cfn=")):
                match = re.match(r"(c?)fn=\((\d+)\)(?: (.*))?", line.rstrip("\n"))
                if match[3]:
                    names[match[2]] = match[3]
                if match[1]:
                    callee = names.get(match[2], "")
            elif line.startswith("calls=") and callee and ALLOCATORS.match(callee):
                allocations += int(line[6:].split()[0])
            elif line.startswith(("totals:", "summary:")):
                instructions = int(line.split()[1])
    return {"instructions": instructions, "allocations": allocations}


def totals_of_strace(path):
    calls = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            if len(words) >= 5 and words[3].isdigit() and words[-1] != "total" and words[0][0].isdigit():
                calls[words[-1]] = int(words[3])
    return calls


def execute(prefix, peer, cell, count):
    environment = {**os.environ, **peer.environment}
    try:
        result = subprocess.run([*prefix, *peer.command(cell, count)], capture_output=True, text=True, timeout=TIMEOUT_S, env=environment)
    except subprocess.TimeoutExpired:
        return False
    return result.returncode == 0 and not result.stdout.startswith("skip=")


def per_operation(totals_of, command, peer, cell):
    if cell == "w8":
        return whole_process(totals_of, command, peer)
    few, many = OPERATIONS.get(cell.split(",")[0], USUAL)
    found = []
    with tempfile.TemporaryDirectory() as directory:
        for count in (few, many):
            path = Path(directory) / str(count)
            if not execute([part.format(path) for part in command], peer, cell, count):
                return {}
            found.append(totals_of(path))
    # The programs round up to whole rounds of 1,000 timers; both counts are such multiples then, or nearly.
    operations = rounded(cell, many) - rounded(cell, few)
    keys = set(found[0]) | set(found[1])
    return {key: (found[1].get(key, 0) - found[0].get(key, 0)) / operations for key in keys}


def whole_process(totals_of, command, peer):
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "counts"
        return totals_of(path) if execute([part.format(path) for part in command], peer, "w8,child", 1) else {}


def rounded(cell, count):
    """Operations that the program performs when it is asked for `count`."""
    name, _, rest = cell.partition(",")
    granule = int(rest) if name == "w5" else 16 if name == "w5p" else 1024 * int(rest) if name == "w3" else int(rest.split(",")[1]) if name == "w4" else 1
    return -(-count // granule) * granule


def count_one(job):
    peer, cell, tools, progress = job
    progress.step(f"counting {cell} {peer.name}")
    counts = {}
    if "valgrind" in tools:
        command = ["valgrind", "-q", "--tool=callgrind", "--callgrind-out-file={}"]
        counts.update(per_operation(totals_of_callgrind, command, peer, cell))
    if "strace" in tools:
        calls = per_operation(totals_of_strace, ["strace", "-f", "-c", "-o", "{}"], peer, cell)
        calls = {name: round(value, 3) for name, value in calls.items() if value >= 0.005}
        counts["system_calls"] = sum(calls.values())
        counts["by_name"] = dict(sorted(calls.items(), key=lambda item: -item[1]))
    return cell, peer.name, counts


def count(groups, peers, skipped):
    """counts[cell][peer]. Several at a time: what else runs doesn't change a count."""
    tools = [tool for tool in ("valgrind", "strace") if shutil.which(tool)]
    cells = [cell.name for group in groups for cell in group.cells if cell.counted]
    pairs = [(peer, cell) for cell in cells for peer in peers if peer.name not in skipped[cell]]
    progress = Progress(len(pairs))
    counts = {cell: {} for cell in cells}
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for cell, peer, found in pool.map(count_one, [(peer, cell, tools, progress) for peer, cell in pairs]):
            counts[cell][peer] = found
    progress.finish("counts")
    return counts, [tool for tool in ("valgrind", "strace") if tool not in tools]
