"""The goals and what was measured: in the tables, and in Benchmarks/GOALS.md."""

import re
from dataclasses import dataclass

from driver.measure import best_peer_ratio, median, number, ratio

UNWRITTEN = "Nothing is written about it yet."


@dataclass(frozen=True)
class Judged:
    """A goal and what came of it."""

    key: str  # names it, in GOALS.md too
    text: str
    measured: str
    is_met: bool


def figure(goal, group, cell, results, counts):
    """The goal's figure, or None if it wasn't measured: a peer is missing, or nothing was counted."""
    if goal.of == "ratio" and goal.than == "best peer":
        return best_peer_ratio(results, cell.name, goal.peer, group.metric)
    if goal.of == "ratio":
        return ratio(results, cell.name, goal.peer, group.metric, goal.than)
    if goal.of in ("value", "p50_ns"):
        found = median(results, cell.name, goal.peer, group.metric if goal.of == "value" else goal.of)
        return None if found is None else found / group.scale
    found = counts.get(cell.name, {}).get(goal.peer, {}).get(goal.of)
    if found is None or not goal.beside:
        return found
    other = counts.get(goal.beside, {}).get(goal.peer, {}).get(goal.of)
    return None if other is None else max(0, found - other)


def text_of(goal, group):
    """`1.05 x raw`, `15 ns CPU`, `Swift 1.3 x ours`."""
    variants = {"ours-swift-thread": "Swift ", "ours-hosted": "hosted ", "ours-main": "main "}
    whose = variants.get(goal.peer, "")
    if goal.of == "ratio":
        return f"{whose}{goal.limit:g} x {goal.than}"
    unit = {"value": goal.unit or group.unit, "p50_ns": f"{group.unit} at p50"}.get(goal.of, goal.of.replace("_", " "))
    return f"{whose}{goal.limit:,g} {unit}" + (f" more than {goal.beside}" if goal.beside else "")


def judge(goal, group, cell, results, counts):
    found = figure(goal, group, cell, results, counts)
    if found is None:
        return None
    # A handful of calls at the start and at the end of a run don't cancel out exactly.
    slack = 0 if goal.of in ("ratio", "value", "p50_ns") else goal.limit * 0.01 + 0.005
    text = text_of(goal, group)
    measured = f"{found:.3f}" if goal.of == "ratio" else number(found)
    return Judged(f"{cell.name}: {text}", text, measured, found <= goal.limit + slack)


def judged(group, cell, results, counts):
    all_of_them = [judge(goal, group, cell, results, counts) for goal in cell.goals]
    return [one for one in all_of_them if one]


def summary(groups, results, counts):
    """All goals, a row each."""
    table = [["", "measured", "at most", ""]]
    for group in groups:
        for cell in group.cells:
            for one in judged(group, cell, results, counts):
                table.append([f"{group.key} {cell.label}", one.measured, one.text, "met" if one.is_met else "MISSED"])
    return table


#-- Benchmarks/GOALS.md ------------------------------------------------------------------------------------------------


def written(path):
    """What people wrote about goals: the text below each heading, which names one or several."""
    if not path.exists():
        return {}
    parts = re.split(r"^### (`.+`)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    texts = {}
    for heading, text in zip(parts[1::2], parts[2::2]):
        text = re.split(r"^## ", text, flags=re.MULTILINE)[0].strip()
        texts |= {key: text for key in re.findall("`(.+?)`", heading) if text and text != UNWRITTEN}
    return texts


def told(keys, texts):
    """Below headings, what is written about these goals: the same about several stands there once."""
    keys_of = {}
    for key in keys:
        keys_of.setdefault(texts.pop(key, UNWRITTEN), []).append(f"`{key}`")
    return [line for text, names in keys_of.items() for line in ("", f"### {', '.join(names)}", "", text)]


def last_sections(path):
    """The sections after those about single goals."""
    sections = re.split(r"^(?=## )", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:] if path.exists() else []
    return [section.strip() for section in sections if not re.search(r"goals", section.splitlines()[0], re.IGNORECASE)]


def document(path, groups, results, counts, about):
    """GOALS.md: a new table, and below it the texts that were written by hand: about the missed goals, and the sections at the end."""
    texts, sections = written(path), last_sections(path)
    entries = [(cell, one) for group in groups for cell in group.cells for one in judged(group, cell, results, counts)]
    missed = [one for _, one in entries if not one.is_met]
    lines = [
        "# Goals", "",
        "The goals for the core and the overlay, and what the last published run measured. `make bench-pictures` regenerates this file from the",
        "results of `make bench`; text that is written below a heading by hand is kept.", "",
        f"{about}. {len(entries) - len(missed)} of {len(entries)} are met.", "",
        "A ratio is the median of the ratios within each repetition. Goals in ns apply to the machine on which they were set, 2 cores of a Zen 4",
        "server.", "",
        "| Cell | | Measured | At most | |", "|---|---|---|---|---|",
    ]
    lines += [f"| {cell.name} | {cell.label} | {one.measured} | {one.text} | {'met' if one.is_met else '**missed**'} |" for cell, one in entries]
    lines += ["", "## Missed goals, and what was measured about them", *told([one.key for one in missed], texts)]
    if texts:
        lines += ["", "## Goals that are met now, and what was measured about them", *told(list(texts), texts)]
    lines += [line for section in sections for line in ("", section)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")

