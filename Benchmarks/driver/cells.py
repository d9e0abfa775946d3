"""What is measured: groups of cells, and the goals for them. A cell is a workload with its numbers, as the programs know it."""

from dataclasses import dataclass, field, replace  # noqa: F401


@dataclass(frozen=True)
class Goal:
    """A figure of ours, at most so large."""

    limit: float
    of: str = "ratio"  # or value, which is the group's metric; p50_ns; instructions, system_calls, allocations: per operation
    than: str = "raw"  # the ratio's other side: a peer, or `best peer`, the best but raw and ours
    peer: str = "ours"
    beside: str = ""  # another cell, of which we take the difference
    unit: str = ""  # of a value, if it isn't the group's


@dataclass(frozen=True)
class Cell:
    name: str  # as on the command line of a peer's program
    label: str  # column heading
    goals: tuple[Goal, ...] = ()
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


def times(limit, than="raw", peer="ours"):
    return Goal(limit, than=than, peer=peer)


def value(limit, unit=""):
    return Goal(limit, "value", unit=unit)


def instructions(limit, beside=""):
    return Goal(limit, "instructions", beside=beside)


def system_calls(limit):
    return Goal(limit, "system_calls")


OVERLAY = times(1.3, "ours", "ours-swift-thread")
MAIN = times(1.3, "ours", "ours-main")
NO_ALLOCATION = Goal(0, "allocations", peer="ours-swift-thread")


def sizes(workload):
    """Cells with 1,000 to 1,000,000 timers."""
    labels = {"1k": 1000, "10k": 10000, "100k": 100000, "1M": 1000000}
    goals = {n: (times(1.5), OVERLAY) for n in labels.values()}
    goals[100000] += (times(1, "ev"),)
    return [Cell(f"{workload},{n}", label, goals[n], counted=n == 1000, seldom=n == 1000000) for label, n in labels.items()]


def readiness(numbers, label, *goals):
    counted = bool(goals)
    goals = (times(1.04, "best peer"), OVERLAY, MAIN, times(1.2, "ours", "ours-hosted"), *goals)
    return Cell(f"w4,{numbers}", label, goals + ((NO_ALLOCATION,) if counted else ()), counted=counted)


GROUPS = [
    Group(
        "w1", "W1 wake-up between two threads, round trip", "wall_ns", "µs",
        [
            Cell("w1,s", "same core", (times(1),)), Cell("w1,x", "two cores", (times(1.1),), counted=True),
        ],
        scale=1000, extras=[("p50_ns", "p50"), ("p99_ns", "p99")]
    ),
    Group(
        "w2", "W2 a source that signals itself, per event", "cpu_ns", "ns CPU",
        [
            Cell("w2,plain", "plain", (value(25), instructions(380), system_calls(0), OVERLAY, NO_ALLOCATION), counted=True),
            Cell("w2,timer", "idle timer", (value(45), OVERLAY)),
            Cell("w2,limit", "finite limit", (value(40), OVERLAY)),
            Cell("w2,descriptor", "idle descriptor", (times(1.25), OVERLAY, NO_ALLOCATION), counted=True),
        ]
    ),
    Group(
        "w3", "W3 submitting tasks from other threads, per task", "wall_ns", "ns",
        [
            Cell("w3,1", "1 thread", (times(0.8), times(1, "best peer"), instructions(240), OVERLAY), counted=True),
            Cell("w3,4", "4 threads", (times(1.1), times(1, "best peer"), OVERLAY)),
        ]
    ),
    Group(
        "w4", "W4 descriptor readiness, per event", "cpu_ns", "ns CPU",
        [
            readiness("1,1", "1 of 1", instructions(600)),
            readiness("100,1", "1 of 100"),
            readiness("100,10", "10 of 100"),
            readiness("1000,1", "1 of 1000"),
            readiness("1000,100", "100 of 1000", instructions(420)),
            readiness("10000,1", "1 of 10000"),
            readiness("10000,1000", "1000 of 10000"),
        ]
    ),
    Group(
        "w5", "W5 timers: create, start, stop, free, per timer", "cpu_ns", "ns CPU", sizes("w5")
    ),
    Group(
        "w5r", "W5r timers: move one of many", "cpu_ns", "ns CPU", sizes("w5r")
    ),
    Group(
        "w5p", "W5p timers: replace one of many, a poll every 16", "cpu_ns", "ns CPU", sizes("w5p")
    ),
    Group(
        "w5b", "W5b timers that fire within 200 ms, per callback", "cpu_ns", "ns CPU",
        [
            Cell("w5b,10000,0", "10k exact", (times(1.05), OVERLAY)),
            Cell("w5b,10000,1", "10k, 1 ms tolerance", (times(1.3), OVERLAY)),
            Cell("w5b,100000,1", "100k, 1 ms tolerance", (times(1.3), OVERLAY)),
        ],
    ),
    Group(
        "w5c", "W5c a 1 ms timer on an idle loop: lateness; deviation of intervals from 1 ms", "p50_ns", "µs",
        [
            Cell("w5c,chain", "one-shots p50", (times(1.1), system_calls(2)), counted=True),
            Cell("w5c,periodic", "periodic p50"),
        ],
        scale=1000, extras=[("p99_ns", "p99"), ("drift_ns", "drift"), ("cpu_ns", "CPU")],
    ),
    Group(
        "w6", "W6 an iteration with nothing to do, not waiting", "cpu_ns", "ns CPU",
        [
            Cell("w6,descriptor", "idle descriptor", (times(1.25), OVERLAY), counted=True),
            Cell("w6,none", "no descriptor", (value(20), instructions(300), system_calls(0), OVERLAY), counted=True),
        ]
    ),
    Group(
        "w7", "W7 memory per object, and after a burst; the shared library", "size", "bytes",
        [
            Cell("w7,timers", "timer", (value(160),)), Cell("w7,signals", "signalled source", (value(160),)),
            Cell("w7,descriptors", "descriptor source", (value(160),)), Cell("w7,loops", "loop", (value(3072),)),
            Cell("w7,resident", "loop, in pages"),
            Cell("w7,open", "descriptors per loop", (value(2, "descriptors"),)),
            Cell("w7,burst", "MB after a million tasks", (value(2, "MB"),)), Cell("w7,library", "shared library", (value(160000),)),
        ],
        once=True,
    ),
    Group(
        "w8", "W8 start-up: a process that fires one timer and exits", "wall_ns", "µs",
        [Cell("w8", "start to end", (times(1.05), instructions(170000)), counted=True)], scale=1000, extras=[("cpu_ns", "CPU")],
    ),
    Group(
        "w9", "W9 features that only run loops have", "cpu_ns", "ns CPU",
        [
            Cell("w9,observers", "observer, activity", (value(6),)), Cell("w9,empty", "empty run", counted=True),
            Cell("w9,modes", "same, 100 modes", (instructions(0, beside="w9,empty"),), counted=True),
            Cell("w9,nested", "nested run", (value(30),)), Cell("w9,common", "common add+remove"),
        ],
    ),
    Group(
        "w10", "W10 the main dispatch queue, from submission to execution", "wall_ns", "ns",
        [
            Cell("w10,chain", "submitting itself", (times(0.5, "cf", "ours-main"),)),
            Cell("w10,thread", "from a thread", (times(0.5, "cf", "ours-main"),)),
        ],
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
