"""The tables on the terminal, and the JSON."""

import json
import os
import platform
import time

from driver.measure import best, median, number, ratio
from driver.picture import draw


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


def count_tables(groups, counts, peers):
    cells = [(group, cell) for group in groups for cell in group.cells if counts.get(cell.name)]
    text = ""
    for key, title in [("instructions", "User instructions"), ("system_calls", "System calls"), ("allocations", "Allocations")]:
        rows = [[""] + [cell.name for _, cell in cells]]
        for peer in peers:
            values = [counts[cell.name].get(peer, {}).get(key) for _, cell in cells]
            if any(value is not None for value in values):
                rows.append([peer] + ["-" if value is None else f"{value:,.0f}" if key == "instructions" else f"{value:.2f}" for value in values])
        if len(rows) > 1:
            text += f"{title} per operation\n{table(rows)}\n\n"
    return text


def time_goal(group, cell, results, peer):
    """A row for a goal about time or size, or none."""
    peer = "ours-main" if group.key == "w10" else peer
    value = median(results, cell.name, peer, group.metric)
    if value is None or (cell.ratio is None and cell.ns is None):
        return []
    times = ratio(results, cell.name, peer, group.metric, cell.than)
    least = best(results, cell.name, peer, group)
    if cell.ratio is not None and times is None:
        return []  # the peer that it is compared with isn't there
    if cell.ratio is not None:
        goal, met = f"{cell.ratio:.2f} x {cell.than}", times <= cell.ratio
    else:
        goal, met = f"{cell.ns:g} {group.unit.split()[0].rstrip(';')}", value / group.scale <= cell.ns
    shown = f"{times:.3f}" if times is not None else "-"
    return [[f"{group.key} {cell.label}", number(value, group.scale), number(least, group.scale), shown, goal, "met" if met else "missed"]]


def count_goals(group, cell, counts, peer):
    rows = []
    for key, limit in [("instructions", cell.instructions), ("system_calls", cell.system_calls)]:
        value = counts.get(cell.name, {}).get(peer, {}).get(key)
        if value is not None and limit is not None:
            # A handful of calls at the start and at the end of a run don't cancel out exactly.
            met = value <= limit * 1.01
            goal = f"{limit:,g} {key.replace('_', ' ')}"
            rows.append([f"{group.key} {cell.label}", number(value), "", "", goal, "met" if met else "missed"])
    return rows


def goal_lines(groups, results, counts, peer="ours"):
    """What we ask of ourselves. Goals in ns are those of one machine; elsewhere they tell little."""
    rows = [["", "median", "best", "ratio", "goal", ""]]
    for group in groups:
        for cell in group.cells:
            rows += time_goal(group, cell, results, peer) + count_goals(group, cell, counts, peer)
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


def short(about):
    """The machine, in a picture's line."""
    return f"{about['processor']}, {about['cores']} cores, Linux {about['kernel'].split('-')[0]}, {about['time'][:10]}"


def save(directory, groups, results, skipped, counts, peers, settings):
    """One file and one picture per group, so that a later run of one workload leaves the others' as they are."""
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
                        "best": best(results, cell.name, peer, group),
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
        picture = draw(group, results, [peer.name for peer in peers], short(about["machine"]))
        if picture:
            (directory / f"{group.key}.svg").write_text(picture, encoding="utf-8")
