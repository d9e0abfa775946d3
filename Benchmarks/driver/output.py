"""The tables on the terminal, and the JSON."""

import json
import os
import platform
import time

from driver.measure import least, median, ratio


def number(value, scale=1):
    if value is None:
        return "-"
    value /= scale
    if abs(value) < 10:
        return f"{value:.2f}"
    return f"{value:.1f}" if abs(value) < 1000 else f"{value:,.0f}"


def table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for index, row in enumerate(rows):
        lines.append("  " + "  ".join(text.ljust(width) if i == 0 else text.rjust(width) for i, (text, width) in enumerate(zip(row, widths))))
        if index == 0:
            lines.append("  " + "-" * (sum(widths) + 2 * len(widths) - 2))
    return "\n".join(lines)


def heading(group):
    columns = [""]
    for cell in group.cells:
        columns += [cell.label] + [title for _, title in group.extras]
    return columns


def entry(group, results, cell, peer):
    value = median(results, cell.name, peer, group.metric)
    if value is None:
        return "-"
    times = ratio(results, cell.name, peer, group.metric)
    return number(value, group.scale) + (f" ({times:.2f})" if times is not None else "")


def group_table(group, results, peers):
    rows = [heading(group)]
    for peer in peers:
        row = [peer]
        for cell in group.cells:
            row.append(entry(group, results, cell, peer))
            row += [number(median(results, cell.name, peer, key), group.scale) for key, _ in group.extras]
        if any(text != "-" for text in row[1:]):
            rows.append(row)
    return f"{group.title} [{group.unit}; ratio to raw in brackets]\n{table(rows)}\n"


def goal_lines(groups, results, peer="ours"):
    """What we ask of ourselves. Goals in ns are those of one machine; elsewhere they tell little."""
    rows = [["", "median", "best", "to raw", "goal", ""]]
    for group in groups:
        for cell in group.cells:
            value = median(results, cell.name, peer, group.metric)
            if value is None or (cell.ratio is None and cell.ns is None):
                continue
            times = ratio(results, cell.name, peer, group.metric, cell.than)
            best = least(results, cell.name, peer, group.metric)
            if cell.ratio is not None:
                goal, met = f"{cell.ratio:.2f} x {cell.than}", times is not None and times <= cell.ratio
            else:
                goal, met = f"{cell.ns:g}", value / group.scale <= cell.ns
            rows.append([
                f"{group.key} {cell.label}", number(value, group.scale), number(best, group.scale),
                f"{times:.3f}" if times is not None else "-", goal, "" if met else "missed",
            ])
    return "Goals\n" + table(rows) + "\n" if len(rows) > 1 else ""


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    except OSError:
        return platform.machine()


def machine():
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "c_library": " ".join(platform.libc_ver()),
        "load": os.getloadavg()[0],
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def save(directory, groups, results, skipped, counts, peers, settings):
    """One file per group, so that a later run of one workload leaves the others' as they are."""
    directory.mkdir(parents=True, exist_ok=True)
    about = {"machine": machine(), "peers": {peer.name: peer.version for peer in peers}, **settings}
    for group in groups:
        cells = {}
        for cell in group.cells:
            cells[cell.name] = {
                "label": cell.label,
                "peers": {
                    peer: {
                        "median": median(results, cell.name, peer, group.metric),
                        "least": least(results, cell.name, peer, group.metric),
                        "ratio_to_raw": ratio(results, cell.name, peer, group.metric),
                        "repetitions": figures,
                    }
                    for peer, figures in results[cell.name].items()
                },
                "skipped": skipped[cell.name],
                "counts": counts.get(cell.name, {}),
            }
        content = {"title": group.title, "metric": group.metric, **about, "cells": cells}
        (directory / f"{group.key}.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
