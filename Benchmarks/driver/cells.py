"""What is measured: groups of cells. A cell is a workload with its numbers, as the programs know it."""

from dataclasses import dataclass, field, replace  # noqa: F401


@dataclass(frozen=True)
class Cell:
    name: str  # as on the command line of a peer's program
    label: str  # column heading
    ratio: float | None = None  # goal: at most so many times raw
    ns: float | None = None  # goal: at most so many of the unit, on the machine that the goals were set on
    than: str = "raw"  # the peer that the ratio is to


@dataclass(frozen=True)
class Group:
    key: str
    title: str
    metric: str  # the figure that is compared
    unit: str
    cells: list[Cell]
    scale: float = 1  # figures are divided by this
    extras: list[tuple[str, str]] = field(default_factory=list)  # further figures: key, heading
    logarithmic: bool = True  # in the picture
    counts: bool = False  # instructions and system calls are counted too


def sizes(workload, numbers, ratios=(), **more):
    named = {1000: "1k", 10000: "10k", 100000: "100k", 1000000: "1M"}
    ratios = list(ratios) + [None] * len(numbers)
    return [Cell(f"{workload},{n}", named[n], ratio=r, **more) for n, r in zip(numbers, ratios)]


SIZES = [1000, 10000, 100000, 1000000]

GROUPS = [
    Group(
        "w1", "W1 wake-up between two threads, round trip", "wall_ns", "µs",
        [Cell("w1,s", "same core", ratio=0.95), Cell("w1,x", "two cores", ratio=1.05)],
        scale=1000, extras=[("p50_ns", "p50"), ("p99_ns", "p99")], counts=True,
    ),
    Group(
        "w2", "W2 a source that signals itself, per event", "cpu_ns", "ns CPU",
        [
            Cell("w2,plain", "plain", ns=15), Cell("w2,timer", "idle timer", ns=45),
            Cell("w2,limit", "finite limit", ns=40), Cell("w2,descriptor", "idle descriptor", ratio=1.10),
        ],
        counts=True,
    ),
    Group(
        "w3", "W3 submitting functions from other threads, per function", "wall_ns", "ns",
        [Cell("w3,1", "1 thread", ratio=0.50), Cell("w3,4", "4 threads", ratio=1.0)], counts=True,
    ),
    Group(
        "w4", "W4 descriptor readiness, per event", "cpu_ns", "ns CPU",
        [
            Cell(f"w4,{n},{k}", f"{k} of {n}", ratio=1.05)
            for n, k in [(1, 1), (100, 1), (100, 10), (1000, 1), (1000, 100), (10000, 1), (10000, 1000)]
        ],
        counts=True,
    ),
    Group(
        "w5", "W5 timers: make, start, stop, free, per timer", "cpu_ns", "ns CPU",
        sizes("w5", SIZES, [1.05] * 4), counts=True,
    ),
    Group(
        "w5r", "W5r timers: move one of many", "cpu_ns", "ns CPU",
        sizes("w5r", SIZES, [1.15, 1.15, 1.30, 1.30]), counts=True,
    ),
    Group(
        "w5p", "W5p timers: replace one of many, a poll every 16", "cpu_ns", "ns CPU",
        sizes("w5p", SIZES, [1.15] * 4), counts=True,
    ),
    Group(
        "w6", "W6 an iteration with nothing to do, not waiting", "cpu_ns", "ns CPU",
        [Cell("w6,descriptor", "idle descriptor", ratio=1.06), Cell("w6,none", "no descriptor", ns=15)], counts=True,
    ),
    Group(
        "w9", "W9 what only run loops have", "cpu_ns", "ns CPU",
        [
            Cell("w9,observers", "observer, activity", ns=7), Cell("w9,empty", "empty run"),
            Cell("w9,modes", "same, 100 modes"), Cell("w9,nested", "nested run", ns=30),
            Cell("w9,common", "common add+remove"),
        ],
    ),
]
