#!/usr/bin/env python3
"""What each tool says of a program with one of the five illnesses of the article Troubleshooting: a table, whose words are compared with what
they have to be. The programs are ill.c's. Then what a Swift program with each of seven further ones, Tests/Kit/ExecutorPrograms/Ill, gets
on standard error, and the place of the author's that this names. It takes half a minute and a build. Prints "N passed, N failed" last.

    Tests/Tools/illnesses.py           prints the table
    Tests/Tools/illnesses.py --record  also writes it to docs/ILLNESSES.md, with the date

Needs libdispatch, which the Swift toolchain has."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
COMPILER = os.environ.get("CC") or "cc"
OUT = ROOT / "build" / COMPILER.replace("/", "_")
PLACE = ROOT / "docs/ILLNESSES.md"
HEAD = """# Illnesses, and what the tools say of them

Of the five illnesses of the article [Troubleshooting](../Sources/RunLoopKit/RunLoopKit.docc/Articles/Troubleshooting.md): programs that have them, and
what the tools say two seconds later, with # for numbers. `make illnesses` prints the table, and fails if a tool no longer says it;
`RECORD=1` writes it here. In each program a timer, “heartbeat”, fires every 16 ms.

"""
# What tells the illness, in the report, the statistics, a line of runloop-top, and the trace.
# A program that spins may be seen in its call-out as well as beside it.
SAYS = {
    "hang": (
        r"busy in mode kCFRunLoopDefaultMode.*now in the timer “save documents”.*“heartbeat”.*waits for the call-out that runs now",
        r"busy, # iteration", r"main busy", r"in timer save documents",
    ),
    "spin": (
        r"spinning in mode .*“control socket”, descriptor #, readable  <- (keeps the loop from sleeping|is being called)", r"busy, .* 0 sleeps.*control socket",
        r"main spinning", r"^(mostly|still in) descriptor source control socket; 0 sleeps",
    ),
    "mode that nobody runs": (
        r"asleep in mode kCFRunLoopDefaultMode.*mode network, in which nobody runs the loop.*“poll server”.*waits for a run in this mode",
        r"asleep", r"main asleep kCFRunLoopDefaultMode", r"^mostly timer heartbeat",
    ),
    "starved main queue": (
        r"asleep in mode dialog.*the main dispatch queue has work, which waits: the loop runs inside such work", r"asleep",
        r"main asleep dialog", r"in main queue",
    ),
    "program that doesn't end": (
        r"asleep in mode kCFRunLoopDefaultMode.*goes on because of the main dispatch queue, # sources and # timer", r"asleep",
        r"main asleep", r"^mostly timer heartbeat",
    ),
}

# What the programs in Swift get, and what of their authors' is named.
LINE = r"Program\.swift:\d+"
TOLD = {
    "blocked main actor": ("has not come back for", rf"showAnswer|{LINE}"),
    "starved main queue": ("whatever is behind the one under way has been waiting", rf"showDialog|{LINE}"),
    "task that never suspends": ("has not come back for", rf"findPrimes|{LINE}"),
    "deaf signal": ("something else has set its handling", r"ill-program"),
    "full pipe of a child": ("is a pipe that is full", r"\(head\)"),
    "descriptor closed under its source": ("was closed while the source", LINE),
    "timer on a Dispatch thread": ("that nobody has run since", LINE),
}


def build():
    subprocess.run(["make", "-s", "lib-core", "lib-diagnostics", f"CC={COMPILER}", "BUILD=build"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    target = json.loads(subprocess.run(["swiftc", "-print-target-info"], check=True, stdout=subprocess.PIPE).stdout)
    dispatch = f"{target['paths']['runtimeResourcePath']}/linux"
    includes = [f"-I{ROOT}/Sources/{name}/include" for name in ("CRunLoopCore", "CRunLoopDiagnostics")]
    libraries = [OUT / "librunloop-diagnostics.a", OUT / "librunloop.a", f"-L{dispatch}", "-ldispatch", "-lBlocksRuntime", f"-Wl,-rpath,{dispatch}"]
    subprocess.run(
        [COMPILER, "-D_GNU_SOURCE", "-Wall", "-Wextra", *(["-Werror"] if os.environ.get("WERROR") else []), *includes, ROOT / "Tests/Tools/ill.c", *libraries, "-pthread", "-o", OUT / "ill"],
        check=True)


def masked(text):
    return re.sub(r"0x[0-9a-f]+|\d[\d.]*", "#", text)


def of_report(text):
    """The lines that say something of this illness, and not those of the statistics."""
    telling = re.compile(r"run loop|now in|^ *inside|<-|nobody runs|has work|goes on because of the main")
    lines = [line.strip() for line in text.splitlines() if telling.search(line)]
    return masked("; ".join(lines)).replace("run loop # of the main thread: ", "")


def of_statistics(line):
    _, running, asleep, iterations, sleeps, _, *longest = line.split()
    state = "busy" if int(asleep) * 2 < int(running) else "asleep most of the time"
    counts = f"{'0' if sleeps == '0' else '#'} sleeps; the longest call-out of {' '.join(longest) or 'an item without a name'}"
    return f"{state}, {'# iteration' + 's' * (iterations != '1')}, {counts}"


def of_trace(text):
    """The slice that is open at the end, but for those of sleeps and iterations, or the commonest call-out; and how many sleeps."""
    events = [each for each in json.loads(text)["traceEvents"] if each["ph"] in "BE"]
    opened, counts = [], {}
    for event in events:
        if event["ph"] == "B":
            opened.append(event)
            counts[event["name"]] = counts.get(event["name"], 0) + 1
        elif opened:
            opened.pop()
    innermost = [each["name"] for each in opened if each["cat"] not in ("run", "iteration", "sleep")]
    sleeps = f"{'#' if counts.get('sleep') else '0'} sleeps"
    if innermost:
        return f"still in {innermost[0]}; {sleeps}"
    # An iteration is in each of them.
    callouts = {name: count for name, count in counts.items() if name not in ("sleep", "iteration") and not name.startswith("run ")}
    return f"mostly {max(callouts, key=callouts.get)}; {sleeps}"


def examine(illness):
    """What each tool says."""
    with subprocess.Popen([OUT / "ill", illness], stdout=subprocess.PIPE, text=True) as program:
        lines = []
        for line in program.stdout:
            if line == "published\n":
                break
            lines.append(line)
        top = subprocess.run([OUT / "runloop-top", "--once", str(program.pid)], stdout=subprocess.PIPE, text=True, check=True, timeout=60).stdout
        program.kill()
    report, statistics, trace = re.match(r"report\n(.*)statistics\n(.*?)\ntrace\n(.*)", "".join(lines), re.DOTALL).groups()
    return of_report(report), of_statistics(statistics), masked(" ".join(top.splitlines()[1].split()[:4])), of_trace(trace)


def tell(illness, sentence, names):
    """The sentence that the program gets, and the names in the first line that has one."""
    told, named = "", []
    with subprocess.Popen([ROOT / ".build/debug/ill-program", illness], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as program:
        for line in program.stderr:
            told = told or (line.strip() if sentence in line else "")
            # The function is known by its name, the line by its file's.
            named = named or re.findall(names, line)
            if told and named:
                break
        program.kill()
    told = re.sub(r"^runloop: (run loop \S+ of )?|\S*/(?=ill-program)", "", told).split(". ")[0]
    return masked(told), ", ".join(named)


def table_of_told():
    """The rows, and how many are not as they should be."""
    subprocess.run(["swift", "build", "--package-path", ROOT, "--product", "ill-program", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    rows, failed = ["| Illness | on standard error | which names |", "|---|---|---|"], 0
    for illness, (sentence, names) in TOLD.items():
        told, named = tell(illness, sentence, names)
        rows.append(f"| {illness} | {told} | {named} |")
        if not told or not named:
            print(f"FAIL {illness}: “{told}” names “{named}”")
            failed += 1
    return rows, failed


def main(arguments):
    # Under nohup the ill programs would inherit a signal that is ignored.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    build()
    rows, failed = ["| Illness | report | statistics | runloop-top | trace |", "|---|---|---|---|---|"], 0
    for illness, wanted in SAYS.items():
        said = examine(illness)
        rows.append(f"| {illness} | {' | '.join(said)} |")
        for text, pattern in zip(said, wanted):
            if not re.search(pattern, text):
                print(f"FAIL {illness}: “{text}” does not say “{pattern}”")
                failed += 1
    more, worse = table_of_told()
    rows += ["", "What programs in Swift with further illnesses get from a watchdog, and what of theirs it names:", "", *more]
    failed += worse
    print("\n".join(rows))
    if "--record" in arguments and failed == 0:
        PLACE.write_text(HEAD + time.strftime("%F\n\n") + "\n".join(rows) + "\n")
    print(f"{4 * len(SAYS) + len(TOLD) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
