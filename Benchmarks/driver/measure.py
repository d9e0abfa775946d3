"""Runs the programs: repetitions interleaved over the peers in random order, so that what else the machine does hits all alike."""

import os
import random
import statistics
import subprocess

from driver import peers, servers
from driver.progress import Progress

TIMEOUT_S = 60


def parse(line):
    return {key: value for key, _, value in (part.partition("=") for part in line.split(" ") if "=" in part)}


def once(peer, cell, milliseconds):
    """The figures of one process, or the reason why there are none."""
    if cell.startswith("w11,"):
        return servers.once(peer, cell, milliseconds)
    if cell == "w7,library":
        return {"size": peers.library_size()} if peer.name == "ours" else "not offered"
    if not peer.takes_part(cell):
        return "not offered"
    environment = {**os.environ, **peer.environment, "BENCH_MS": str(milliseconds)}
    try:
        result = subprocess.run(peer.command(cell), capture_output=True, text=True, timeout=TIMEOUT_S, env=environment)
    except subprocess.TimeoutExpired:
        return f"took more than {TIMEOUT_S} s"
    if result.returncode:
        return f"failed: {result.stderr.strip() or result.returncode}"
    line = result.stdout.strip()
    if line.startswith("skip="):
        return line.removeprefix("skip=")
    return {key: float(value) for key, value in parse(line).items()}


def measure(groups, found, repetitions, milliseconds):
    """results[cell][peer] is a list with the figures of each repetition; skipped[cell][peer] says why there are none."""
    times = {cell.name: 1 if group.once else max(1, repetitions // 2) if cell.seldom else repetitions for group in groups for cell in group.cells}
    results = {cell: {} for cell in times}
    skipped = {cell: {} for cell in times}
    progress = Progress(sum(times.values()) * len(found))
    for repetition in range(repetitions):
        for cell in [cell for cell, most in times.items() if repetition < most]:
            for peer in random.sample(found, len(found)):
                progress.step(f"{cell} {peer.name}, repetition {repetition + 1} of {repetitions}")
                if peer.name in skipped[cell]:
                    continue
                figures = once(peer, cell, milliseconds)
                if isinstance(figures, str):
                    skipped[cell][peer.name] = figures
                    results[cell].pop(peer.name, None)
                else:
                    results[cell].setdefault(peer.name, []).append(figures)
    progress.finish("measurements")
    return results, skipped


def median(results, cell, peer, key):
    values = [figures[key] for figures in results[cell].get(peer, []) if key in figures]
    return statistics.median(values) if values else None


def best(results, cell, peer, group):
    key = group.metric
    values = [figures.get(key.replace("_ns", "_min_ns"), figures.get(key)) for figures in results[cell].get(peer, [])]
    values = [value for value in values if value is not None]
    return (max if group.more_is_better else min)(values) if values else None


def ratio(results, cell, peer, key, to="raw"):
    """The median of the ratios within each repetition."""
    pairs = zip(results[cell].get(peer, []), results[cell].get(to, []))
    values = [a[key] / b[key] for a, b in pairs if a.get(key) and b.get(key)]
    return statistics.median(values) if values else None


def best_peer_ratio(results, cell, peer, key):
    """The same, to whichever other library was best in the repetition."""
    values = []
    for index, figures in enumerate(results[cell].get(peer, [])):
        others = [
            repetitions[index][key] for name, repetitions in results[cell].items()
            if name != "raw" and not name.startswith("ours") and index < len(repetitions) and repetitions[index].get(key)
        ]
        if others and figures.get(key):
            values.append(figures[key] / min(others))
    return statistics.median(values) if values else None


def number(value, scale=1):
    if value is None:
        return "-"
    value /= scale
    if abs(value) < 10:
        return f"{value:.2f}"
    return f"{value:.1f}" if abs(value) < 1000 else f"{value:,.0f}"
