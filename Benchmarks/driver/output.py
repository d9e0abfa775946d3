"""The tables on the terminal, and the JSON."""

import json

from driver import goals, machine
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


def goal_table(groups, results, counts):
    rows = goals.summary(groups, results, counts)
    if len(rows) == 1:
        return ""
    missed = sum(row[-1] != "met" for row in rows[1:])
    return f"Goals: {len(rows) - 1 - missed} met, {missed} missed\n{table(rows)}\n"


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


def save(directory, groups, results, skipped, counts, peers, settings):
    """One file and one picture per group, so that a later run of one workload leaves the others' as they are."""
    directory.mkdir(parents=True, exist_ok=True)
    about = {"machine": machine.about(), "peers": {peer.name: peer.version for peer in peers}, **settings}
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
        picture = draw(group, results, about["peers"], machine.short(about["machine"]))
        if picture:
            (directory / f"{group.key}.svg").write_text(picture, encoding="utf-8")
