"""The instructions that each operation takes beside few items, as they were recorded, so that none gets dearer unnoticed. A count is exact
for one compiler and one C library; with others nothing is compared."""

import platform
import subprocess
import time

from driver import peers

RECORD = peers.HERE / "growth" / "instructions.txt"
ABOUT = "# What each operation takes beside few items, in instructions; Tests/bin/growth fails if it takes 3 % and 10 more.\n"
MADE_BY, BECAUSE = "# made by ", "# recorded on "


def made_by():
    compiler = subprocess.run([peers.compiler(), "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    return f"{compiler}, {' '.join(platform.libc_ver())}, {platform.machine()}"


def smallest(counts):
    """By operation, in their order: the smaller number of items, and the instructions."""
    found = {}
    for (operation, size), count in counts.items():
        if operation.name not in found or size < found[operation.name][0]:
            found[operation.name] = size, round(count)
    return found


def write(counts, reason):
    rows = [f"{count:>9,} {name}, beside {size}\n" for name, (size, count) in smallest(counts).items()]
    RECORD.write_text("".join([ABOUT, f"{MADE_BY}{made_by()}\n", f"{BECAUSE}{time.strftime('%F')}: {reason}\n", *rows]), encoding="utf-8")


def read():
    """What made the record, and the instructions by operation and number of items."""
    maker, counts = "", {}
    for line in RECORD.read_text(encoding="utf-8").splitlines():
        if line.startswith(MADE_BY):
            maker = line.removeprefix(MADE_BY)
        elif not line.startswith("#"):
            count, key = line.split(maxsplit=1)
            counts[key] = int(count.replace(",", ""))
    return maker, counts


def judge(counts):
    """A line about each operation that takes more or much less than recorded, or isn't there; how many pass and fail."""
    maker, recorded = read()
    if maker != made_by():
        return [f"The record of instructions was made by {maker}; this is {made_by()}, so they are not compared."], 0, 0
    found = {f"{name}, beside {size}": count for name, (size, count) in smallest(counts).items()}
    # What is in the record alone may need more descriptors than the process may have here.
    lines = [f"FAIL {key}: it is not in the record (--record REASON)" for key in found.keys() - recorded.keys()]
    for key in found.keys() & recorded.keys():
        if found[key] > recorded[key] * 1.03 + 10:
            lines.append(f"FAIL {key}: {found[key]:,} instructions, {recorded[key]:,} recorded; a reason goes into the record (--record REASON)")
        elif found[key] < recorded[key] * 0.97 - 10:
            lines.append(f"note {key}: {found[key]:,} instructions, {recorded[key]:,} recorded, so the record is too kind (--record REASON)")
    failed = sum(line.startswith("FAIL") for line in lines)
    return sorted(lines), len(found) - failed, failed
