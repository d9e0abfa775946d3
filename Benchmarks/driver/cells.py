"""What is measured: groups of cells. A cell is a workload with its numbers, as the programs know it."""

from dataclasses import dataclass, field, replace  # noqa: F401


@dataclass(frozen=True)
class Cell:
    name: str  # as on the command line of a peer's program
    label: str  # column heading
    ratio: float | None = None  # goal: at most so many times raw
    ns: float | None = None  # goal: at most so many of the unit, on the machine that the goals were set on
    than: str = "raw"  # the peer that the ratio is to
    instructions: float | None = None  # goal: at most so many per operation
    system_calls: float | None = None  # goal: at most so many per operation
    counted: bool = False  # instructions, system calls and allocations are counted too
    seldom: bool = False  # takes long: half the repetitions


@dataclass(frozen=True)
class Group:
    key: str
    title: str
    metric: str  # the figure that is compared
    unit: str
    cells: list[Cell]
    scale: float = 1  # figures are divided by this
    extras: list[tuple[str, str]] = field(default_factory=list)  # further figures: key, heading
    once: bool = False  # the same in each repetition
    more_is_better: bool = False


def sizes(workload, numbers, ratios):
    named = {1000: "1k", 10000: "10k", 100000: "100k", 1000000: "1M"}
    return [Cell(f"{workload},{n}", named[n], ratio=r, counted=n == 1000, seldom=n == 1000000) for n, r in zip(numbers, ratios)]


SIZES = [1000, 10000, 100000, 1000000]

GROUPS = [
    Group(
        "w1", "W1 wake-up between two threads, round trip", "wall_ns", "µs",
        [Cell("w1,s", "same core", ratio=0.95), Cell("w1,x", "two cores", ratio=1.05, counted=True)],
        scale=1000, extras=[("p50_ns", "p50"), ("p99_ns", "p99")]
    ),
    Group(
        "w2", "W2 a source that signals itself, per event", "cpu_ns", "ns CPU",
        [
            Cell("w2,plain", "plain", ns=15, counted=True), Cell("w2,timer", "idle timer", ns=45),
            Cell("w2,limit", "finite limit", ns=40), Cell("w2,descriptor", "idle descriptor", ratio=1.10, counted=True),
        ]
    ),
    Group(
        "w3", "W3 submitting functions from other threads, per function", "wall_ns", "ns",
        [Cell("w3,1", "1 thread", ratio=0.50, counted=True), Cell("w3,4", "4 threads", ratio=1.0)]
    ),
    Group(
        "w4", "W4 descriptor readiness, per event", "cpu_ns", "ns CPU",
        [
            Cell("w4,1,1", "1 of 1", ratio=1.05, counted=True, instructions=230),
            Cell("w4,100,1", "1 of 100", ratio=1.05),
            Cell("w4,100,10", "10 of 100", ratio=1.05),
            Cell("w4,1000,1", "1 of 1000", ratio=1.05),
            Cell("w4,1000,100", "100 of 1000", ratio=1.05, counted=True, instructions=220),
            Cell("w4,10000,1", "1 of 10000", ratio=1.05),
            Cell("w4,10000,1000", "1000 of 10000", ratio=1.05),
        ]
    ),
    Group(
        "w5", "W5 timers: make, start, stop, free, per timer", "cpu_ns", "ns CPU",
        sizes("w5", SIZES, [1.05] * 4)
    ),
    Group(
        "w5r", "W5r timers: move one of many", "cpu_ns", "ns CPU",
        sizes("w5r", SIZES, [1.15, 1.15, 1.30, 1.30])
    ),
    Group(
        "w5p", "W5p timers: replace one of many, a poll every 16", "cpu_ns", "ns CPU",
        sizes("w5p", SIZES, [1.15] * 4)
    ),
    Group(
        "w5b", "W5b 10,000 timers that fire within 200 ms, per callback", "cpu_ns", "ns CPU",
        [Cell("w5b,10000,0", "exact", ratio=1.0), Cell("w5b,10000,1", "1 ms tolerance", ratio=1.1)],
    ),
    Group(
        "w5c", "W5c a timer of 1 ms on an idle loop: lateness; distance of intervals from 1 ms", "p50_ns", "µs",
        [Cell("w5c,chain", "one-shots p50", ratio=1.1, counted=True, system_calls=2), Cell("w5c,periodic", "periodic p50")],
        scale=1000, extras=[("p99_ns", "p99"), ("drift_ns", "drift"), ("cpu_ns", "CPU")],
    ),
    Group(
        "w6", "W6 an iteration with nothing to do, not waiting", "cpu_ns", "ns CPU",
        [Cell("w6,descriptor", "idle descriptor", ratio=1.06, counted=True), Cell("w6,none", "no descriptor", ns=15, counted=True)]
    ),
    Group(
        "w7", "W7 heap per object", "size", "bytes; descriptors",
        [
            Cell("w7,timers", "timer", ns=112), Cell("w7,descriptors", "descriptor source", ns=104),
            Cell("w7,loops", "loop", ns=3072), Cell("w7,open", "descriptors per loop"),
        ],
        once=True,
    ),
    Group(
        "w8", "W8 start-up: a process that fires one timer", "wall_ns", "µs",
        [Cell("w8", "start to end", counted=True, instructions=170000)], scale=1000, extras=[("cpu_ns", "CPU")],
    ),
    Group(
        "w9", "W9 what only run loops have", "cpu_ns", "ns CPU",
        [
            Cell("w9,observers", "observer, activity", ns=7), Cell("w9,empty", "empty run"),
            Cell("w9,modes", "same, 100 modes"), Cell("w9,nested", "nested run", ns=30),
            Cell("w9,common", "common add+remove"),
        ],
    ),
    Group(
        "w10", "W10 the main dispatch queue, from submission to execution", "wall_ns", "ns",
        [Cell("w10,chain", "submitting itself", ratio=0.5, than="cf"), Cell("w10,thread", "from a thread", ratio=0.5, than="cf")],
    ),
    Group(
        "w11", "W11 servers: requests per second of the server's CPU time", "per_cpu_second", "thousand",
        [Cell(f"w11,{protocol},{n}", f"{protocol}, {n}") for protocol in ("echo", "http") for n in (1, 50, 500)],
        scale=1000, extras=[("per_second", "per s")], more_is_better=True,
    ),
]


def smoke():
    """Every workload once, with small numbers."""
    small = {"10000": "100", "100000": "100", "1000000": "100", "1000": "100"}
    groups = []
    for group in GROUPS:
        names = {}
        for cell in group.cells:
            name = ",".join(small.get(part, part) for part in cell.name.split(","))
            names.setdefault(name, replace(cell, name=name, counted=False))
        if group.key == "w11":
            names = {name: cell for name, cell in names.items() if name.endswith(",50")}
        groups.append(replace(group, cells=list(names.values())))
    return groups
