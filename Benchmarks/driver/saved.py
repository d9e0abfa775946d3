"""Results as they were saved, so that pictures and goals can be made of them again."""

import json

from driver import cells


def load(directory):
    """Groups with what there is of their cells, results and counts as they were measured, and what is known about the run."""
    groups, results, counts, about = [], {}, {}, {}
    for group in cells.GROUPS:
        path = directory / f"{group.key}.json"
        if not path.exists():
            continue
        content = json.loads(path.read_text(encoding="utf-8"))
        about = max(about, content, key=lambda each: each["machine"]["time"] if each else "")
        known = [cell for cell in group.cells if cell.name in content["cells"]]
        groups.append(cells.replace(group, cells=known))
        for cell in known:
            saved = content["cells"][cell.name]
            results[cell.name] = {peer: figures["repetitions"] for peer, figures in saved["peers"].items()}
            counts[cell.name] = saved["counts"]
    return groups, results, counts, about
