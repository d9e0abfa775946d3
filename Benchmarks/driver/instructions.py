"""Records of instructions: what operations take, so that none gets dearer unnoticed. A count is exact for one compiler and one C library; with
others nothing is compared."""

import platform
import subprocess
import time

from driver import peers

MADE_BY, BECAUSE = "# made by ", "# recorded on "


def compiler_of_c():
    return subprocess.run([peers.compiler(), "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def compiler_of_swift():
    return subprocess.run(["swiftc", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


class Record:
    """A file of instructions by the operation's name. `about` is its first line; the command that checks it takes `--record REASON`."""

    def __init__(self, path, about, compiler, tolerance):
        self.path, self.about, self.tolerance = path, f"# {about}\n", tolerance
        self.maker = f"{compiler()}, {' '.join(platform.libc_ver())}, {platform.machine()}"

    def write(self, counts, reason):
        rows = [f"{count:>9,} {name}\n" for name, count in counts.items()]
        self.path.write_text("".join([self.about, f"{MADE_BY}{self.maker}\n", f"{BECAUSE}{time.strftime('%F')}: {reason}\n", *rows]), encoding="utf-8")

    def read(self):
        """What made the record, and the instructions by operation."""
        maker, counts = "", {}
        for line in self.path.read_text(encoding="utf-8").splitlines():
            if line.startswith(MADE_BY):
                maker = line.removeprefix(MADE_BY)
            elif not line.startswith("#"):
                count, name = line.split(maxsplit=1)
                counts[name] = int(count.replace(",", ""))
        return maker, counts

    def judge(self, found):
        """A line about each operation that takes more or much less than recorded, or isn't there; how many pass and fail."""
        maker, recorded = self.read()
        if maker != self.maker:
            return [f"The record of instructions was made by {maker}; this is {self.maker}, so they are not compared."], 0, 0
        # What is in the record alone may need more descriptors than the process may have here.
        lines = [f"FAIL {name}: it is not in the record (--record REASON)" for name in found.keys() - recorded.keys()]
        for name in found.keys() & recorded.keys():
            if found[name] > recorded[name] * (1 + self.tolerance) + 10:
                lines.append(
                    f"FAIL {name}: {found[name]:,} instructions, {recorded[name]:,} recorded; a reason goes into the record (--record REASON)")
            elif found[name] < recorded[name] * (1 - self.tolerance) - 10:
                lines.append(f"note {name}: {found[name]:,} instructions, {recorded[name]:,} recorded, so the record is too kind (--record REASON)")
        failed = sum(line.startswith("FAIL") for line in lines)
        return sorted(lines), len(found) - failed, failed
