"""How the cost of each operation grows with the number of items beside it: instructions, which are exact, and time. And what is counted
beside many items: wake-ups, and functions that are performed before a due timer. The programs are in Benchmarks/growth; what is
promised is in docs/COSTS.md, and Tests/bin/growth tests it."""

import json
import math
import os
import resource
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from driver import peers
from driver.counts import totals_of_callgrind
from driver.progress import Progress
from driver.picture import svg

SIZES = [1, 10, 100, 1000, 10000, 100000, 1000000]
NAMES = ["1", "10", "100", "1k", "10k", "100k", "1M"]
ROUNDS, SPARE_DESCRIPTORS, TIMEOUT_S = 200, 128, 300


@dataclass(frozen=True)
class Operation:
    name: str
    items: str  # what there are N of
    grows: str  # flat, log, linear: what docs/COSTS.md promises
    most: int = 1000000  # more takes minutes to prepare
    tested: tuple[int, int] = (1000, 100000)
    rounds: int = 0  # measurements; 0: the usual number


@dataclass(frozen=True)
class Count:
    """Something that is counted, and how many there may be: `factor` times the program's reference, and `more`."""

    name: str
    items: str
    reference: str
    sizes: tuple[int, ...]
    factor: float
    more: int = 0


COUNTS = [
    Count(f"wake-ups, {tolerance}", items, "the fewest possible", (100, 1000, 10000, 100000), 1.2, 2)
    for tolerance, items in [
        ("1 ms", "timers within 200 ms, each with a tolerance of 1 ms"),
        ("10 ms", "timers within 200 ms, each with a tolerance of 10 ms"),
        ("1 to 50 ms", "timers within 200 ms, with tolerances from 1 to 50 ms"),
        ("an exact timer", "timers within 200 ms, each with a tolerance of 10 ms, and one without"),
    ]
] + [
    Count(f"flood, {item}", f"posted functions: those performed before a due {item}", "performed at a time", (10000, 100000), 3)
    for item in ("timer", "descriptor")
]

LINEAR = {"grows": "linear", "most": 10000, "tested": (1000, 10000)}
BY_MODES = {"items": "common modes", "most": 1000, "tested": (10, 1000)}
BY_COMMON_ITEMS = {"grows": "linear", "most": 100000, "tested": (100, 10000), "rounds": 3}
READY = {"items": "descriptors ready elsewhere", "tested": (100, 10000)}
SWITCH = {"items": READY["items"], "most": 10000, "tested": (100, 1000), "rounds": 20}
OF_LINUX = {"most": 1000, "tested": (10, 1000)}
SIGNALLED = {"items": "sources signalled elsewhere", "most": 100000}
OPERATIONS = [
    Operation("timer add", "timers", "log"),
    Operation("timer remove", "timers", "log"),
    Operation("timer move", "timers", "log"),
    Operation("timer invalidate", "timers", "log"),
    Operation("timer fire", "timers", "log"),
    Operation("timer next date", "timers", "flat"),
    Operation("timers idle", "timers", "flat"),
    Operation("source add", "sources", "log"),
    Operation("source remove", "sources", "log"),
    Operation("source invalidate", "sources", "log"),
    Operation("source contains", "sources", "flat"),
    Operation("source signal", "sources", "log"),
    Operation("source perform", "sources", "log"),
    Operation("sources idle", "sources", "flat"),
    Operation("wake-up", "sources", "flat"),
    Operation("common item add", "items in 4 common modes", "flat"),
    Operation("common item remove", "items in 4 common modes", "flat"),
    Operation("common source add", grows="linear", **BY_MODES),
    Operation("common source remove", grows="linear", **BY_MODES),
    Operation("common source invalidate", grows="linear", **BY_MODES),
    Operation("common source perform", grows="linear", **BY_MODES),
    Operation("common timer add", grows="linear", **BY_MODES),
    Operation("common timer remove", grows="linear", **BY_MODES),
    Operation("common timer invalidate", grows="linear", **BY_MODES),
    Operation("common timer move", grows="linear", **BY_MODES),
    Operation("common timer fire", grows="linear", **BY_MODES),
    Operation("common observer add", grows="linear", **BY_MODES),
    Operation("common observer remove", grows="linear", **BY_MODES),
    Operation("common post", grows="flat", **BY_MODES),
    Operation("common perform", grows="flat", **BY_MODES),
    Operation("declare common, sources", "common sources", **BY_COMMON_ITEMS),
    Operation("declare common, timers", "common timers", **BY_COMMON_ITEMS),
    Operation("declare common, observers", "common observers", **BY_COMMON_ITEMS),
    Operation("descriptor add", "descriptors", "flat", tested=(100, 10000)),
    Operation("descriptor remove", "descriptors", "flat", tested=(100, 10000)),
    Operation("descriptor ready", "descriptors", "flat", tested=(100, 10000)),
    Operation("descriptors idle", "descriptors", "flat", tested=(100, 10000)),
    Operation("descriptors ready elsewhere", grows="flat", **READY),
    Operation("descriptors ready, leave mode", grows="linear", **SWITCH),
    Operation("descriptors ready, enter mode", grows="linear", **SWITCH),
    Operation("sources signalled elsewhere", grows="flat", **SIGNALLED),
    Operation("sources signalled, leave mode", grows="log", **SIGNALLED),
    Operation("sources signalled, one performed", "signalled sources", "log", most=100000),
    Operation("signal", "signal sources, all served", "linear", **OF_LINUX),
    Operation("counter", "counters", "flat", **OF_LINUX),
    Operation("channel message", "channels with two descriptors each", "flat", **OF_LINUX),
    Operation("line received", "inputs with two descriptors each", "flat", **OF_LINUX),
    Operation("line sent", "outputs with two descriptors each", "flat", **OF_LINUX),
    Operation("post", "functions of another mode", "flat"),
    Operation("hundred posts", "functions of another mode", "flat"),
    Operation("hundred posts, followed", "functions of another mode", "flat"),
    Operation("perform", "functions of another mode", "flat"),
    Operation("observer add", "observers", **LINEAR),
    Operation("observer remove", "observers", **LINEAR),
    Operation("observers notified", "observers", **LINEAR),
    Operation("observers elsewhere", "observers of another mode", "flat", most=10000, tested=(100, 10000)),
    Operation("modes unused", "modes", "flat", most=1000, tested=(10, 1000)),
    Operation("mode find", "modes", "log", most=1000, tested=(10, 1000)),
]


def build(library=None):
    """The program, on this library or that of the working tree."""
    program = library.with_name("growth") if library else peers.OUT / "growth"
    library = library or peers.core_library()
    folder = peers.HERE / "growth"
    sources = sorted(folder.glob("*.c"))
    if peers.is_older(program, [*sources, *folder.glob("*.h"), library]):
        includes = [f"-I{peers.ROOT}/Sources/CRunLoop{name}/include" for name in ("Core", "Linux", "Diagnostics")]
        others = [library.with_name(f"librunloop-{name}.a") for name in ("linux", "diagnostics")]
        peers.succeed([peers.compiler(), *peers.FLAGS, *includes, "-o", program, *sources, *others, library])
    return program


def is_possible(operation, size):
    """Within what takes seconds, and what the process may open."""
    each = 2 if "two descriptors" in operation.items else 1
    descriptors = each * size + SPARE_DESCRIPTORS if "descriptors" in operation.items else 0
    return size <= operation.most and descriptors <= resource.getrlimit(resource.RLIMIT_NOFILE)[1]


def allow_descriptors():
    """All that we may; valgrind has to know it from the start."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def execute(command):
    result = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, preexec_fn=allow_descriptors)
    if result.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def time_ns(program, name, size, rounds):
    return float(execute([program, name, str(size), *([str(rounds)] if rounds else [])]).removeprefix("ns="))


def instructions(program, name, size, rounds=0):
    """Of one operation, and of what measuring it takes."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "counts"
        execute(["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", "--collect-atstart=no", f"--callgrind-out-file={path}",
                 program, name, str(size), str(rounds or ROUNDS)])
        return totals_of_callgrind(path)["instructions"] / (rounds or ROUNDS)


def count(program, wanted):
    """Instructions for (operation, size) pairs. Several at a time: what else runs doesn't change a count."""
    nothing = instructions(program, "nothing", 1)
    progress = Progress(len(wanted))

    def one(pair):
        operation, size = pair
        progress.step(f"counting {operation.name} beside {size}")
        return pair, instructions(program, operation.name, size, operation.rounds) - nothing

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        counts = dict(pool.map(one, wanted))
    progress.finish("counts")
    return counts


def measure(program):
    """results[name][size] has `instructions`, if there is valgrind, and `ns`."""
    pairs = [(operation, size) for operation in OPERATIONS for size in SIZES if is_possible(operation, size)]
    counts = count(program, pairs) if shutil.which("valgrind") else {}
    nothing_ns = time_ns(program, "nothing", 1, 0)
    results, progress = {}, Progress(len(pairs))
    for operation, size in pairs:
        progress.step(f"measuring {operation.name} beside {size}")
        figures = {"ns": max(0, time_ns(program, operation.name, size, operation.rounds) - nothing_ns)}
        if (operation, size) in counts:
            figures["instructions"] = counts[operation, size]
        results.setdefault(operation.name, {})[size] = figures
    progress.finish("measurements")
    return results


def counted(program, name, size):
    words = execute([program, name, str(size)]).split()
    return {key: int(value) for key, value in (word.split("=") for word in words)}


def measure_counts(program):
    """results[name][size] has `count` and `reference`."""
    return {count.name: {size: counted(program, count.name, size) for size in count.sizes} for count in COUNTS}


def limit(operation, small, count_small, large):
    """What an operation may take beside `large` items, by what it takes beside `small`. A few instructions more are of no account:
    a branch that is taken more often."""
    if operation.grows == "flat":
        return count_small * 1.02 + 10
    if operation.grows == "log":
        return count_small * math.log(large) / math.log(small) + 10
    return count_small * large / small * 1.2


def judge(operation, counts, small, large):
    """A line about an operation, and whether it grows as promised."""
    few, many = counts[operation, small], counts[operation, large]
    most = limit(operation, small, few, large)
    good = many <= most
    return good, (f"{'ok  ' if good else 'FAIL'} {operation.name}, {operation.grows}: {few:,.0f} instructions beside {small} "
                  f"{operation.items}, {many:,.0f} beside {large}{'' if good else f', at most {most:,.0f} expected'}")


def most_of(count, figures):
    return int(figures["reference"] * count.factor + count.more)


def judge_count(program, count):
    """The same about what is counted, beside the largest number of items that passes, or the first that does not."""
    for size in count.sizes:
        figures = counted(program, count.name, size)
        most = most_of(count, figures)
        good = figures["count"] <= most
        text = f"{count.name}: {figures['count']:,} with {size} {count.items}, at most {most:,} expected"
        if not good:
            break
    return good, f"{'ok  ' if good else 'FAIL'} {text}"


def count_tested(program):
    """Instructions for each operation beside few and beside many items."""
    tested = {op: [size for size in op.tested if is_possible(op, size)] for op in OPERATIONS}
    return count(program, [(op, size) for op, sizes in tested.items() if len(sizes) == 2 for size in sizes])


def check(program, counts):
    """Does each operation, and what is counted, grow as promised? Lines about it, and how many pass and fail."""
    operations = [op for op in OPERATIONS if (op, op.tested[0]) in counts]
    judged = [judge(op, counts, *op.tested) for op in operations] + [judge_count(program, each) for each in COUNTS]
    passed = sum(good for good, _ in judged)
    return [line for _, line in judged], passed, len(judged) - passed


#-- showing it ---------------------------------------------------------------------------------------------------------


def rows(results, key):
    yield ["", *NAMES, "grows"]
    for operation in OPERATIONS:
        figures = [results[operation.name].get(size, {}).get(key) for size in SIZES]
        if any(figure is not None for figure in figures):
            yield [operation.name, *["-" if f is None else f"{f:,.0f}" for f in figures], operation.grows]


def count_rows(results):
    """Each count beside the most there may be."""
    yield ["", *[f"{size:,}" for size in (100, 1000, 10000, 100000)], "at most"]
    for count in COUNTS:
        figures = results.get(count.name)
        if figures:
            columns = [figures.get(size) for size in (100, 1000, 10000, 100000)]
            texts = [f"{one['count']:,} ({most_of(count, one):,})" if one else "-" for one in columns]
            more = f" + {count.more}" if count.more else ""
            yield [count.name, *texts, f"{count.factor:g} x {count.reference}{more}"]


COLUMNS, WIDTH, HEIGHT, LEFT, TOP, GAP_X, GAP_Y = 4, 230, 72, 14, 84, 36, 62
STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title { font-size: 15px; font-weight: 600 } .small { font-size: 10.5px; fill: #6e7781 } .ground { fill: #ffffff }
  .frame { stroke: #d0d7de; fill: none } path { fill: none; stroke-width: 2 }
  .count { stroke: #cf4a22 } .time { stroke: #8c959f; stroke-dasharray: 4 3 } text.count { stroke: none; fill: #cf4a22 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .small { fill: #8d96a0 } .ground { fill: #0d1117 } .frame { stroke: #3d444d } .count { stroke: #ff7b54 } .time { stroke: #8d96a0 }
    text.count { fill: #ff7b54 }
  }
"""
DECADES = 8  # of figures: 10 to 1,000,000,000


def path(figures, key, left, top):
    points = []
    for index, size in enumerate(SIZES):
        value = figures.get(size, {}).get(key)
        if value is not None:
            x = left + index / (len(SIZES) - 1) * WIDTH
            y = top + HEIGHT - (math.log10(max(value, 10)) - 1) / DECADES * HEIGHT
            points.append(f"{x:.1f} {y:.1f}")
    return f'<path class="{"count" if key == "instructions" else "time"}" d="M{" L".join(points)}"/>' if points else ""


def panel(operation, figures, left, top):
    measured = [size for size in SIZES if "instructions" in figures.get(size, {})]
    ends = [f'{figures[size]["instructions"]:,.0f}' for size in (measured[0], measured[-1])] if measured else ["", ""]
    last = left + (SIZES.index(measured[-1]) / (len(SIZES) - 1) * WIDTH if measured else 0)
    return [
        f'<text x="{left}" y="{top - 18}">{escape(operation.name)}</text>',
        f'<text class="small" x="{left}" y="{top - 6}">beside {escape(operation.items)}</text>',
        f'<rect class="frame" x="{left}" y="{top}" width="{WIDTH}" height="{HEIGHT}"/>',
        path(figures, "ns", left, top),
        path(figures, "instructions", left, top),
        f'<text class="small count" x="{left}" y="{top + HEIGHT + 13}">{ends[0]}</text>',
        f'<text class="small count" x="{last:.0f}" y="{top + HEIGHT + 13}" text-anchor="end">{ends[1]}</text>',
    ]


def draw(results, about):
    shown = [operation for operation in OPERATIONS if operation.name in results]
    lines = math.ceil(len(shown) / COLUMNS)
    width, height = LEFT + COLUMNS * (WIDTH + GAP_X), TOP + lines * (HEIGHT + GAP_Y)
    parts = [
        '<text class="title" x="14" y="22">What an operation costs with 1 to 1,000,000 items</text>',
        '<text class="small" x="14" y="38">Solid: instructions, with the first and the last figure. Dashed: ns. Both axes are logarithmic, '
        f'10 to 1,000,000,000 upwards. {escape(about)}</text>',
    ]
    for index, operation in enumerate(shown):
        line, column = divmod(index, COLUMNS)
        parts += panel(operation, results[operation.name], LEFT + column * (WIDTH + GAP_X), TOP + line * (HEIGHT + GAP_Y))
    return svg(width, height, "How costs grow", STYLE, parts)


def save(directory, results, counts, machine, about):
    directory.mkdir(parents=True, exist_ok=True)
    content = {"machine": machine, "operations": results, "counts": counts}
    (directory / "growth.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    (directory / "growth.svg").write_text(draw(results, about), encoding="utf-8")
