"""Other projects' tests, on asyncio's event loop and on ours in its place: uvloop's that compare it with asyncio, anyio's and
pytest-asyncio's, aiohttp's of servers and connections, and Twisted's with its asyncio reactor. Called by `run suites`, with what suites.txt
says installed; the tests of each come from its source distribution, but Twisted's, which are part of it.

    suites.py FOLDER [SUITE...]     downloads and runs in FOLDER

Prints a table, and then the tests that fail on ours alone, in both of two tries, and not on asyncio in two: tests with limits of a second fail now and
then on both. Those of UNSTEADY are tried a third time."""

import os
import re
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOOPS = ("asyncio", "runloop")
LIMIT_S = 900
TRIAL = "import everywhere, sys; from twisted.scripts.trial import run; sys.argv[0] = 'trial'; run()"
TWISTED = """
    internet.test.test_asyncioreactor internet.test.test_core internet.test.test_process internet.test.test_tcp internet.test.test_threads
    internet.test.test_time internet.test.test_udp internet.test.test_unix test.test_defer test.test_internet test.test_tcp test.test_udp
""".split()
# The arguments of pytest. No plug-in is loaded but these, except where plug-ins are what is tested.
SUITES = {
    "uvloop": ["-p", "pytest_timeout", "-k", "AIO and not Test_UV", "tests"],
    "anyio": ["-k", "asyncio and not uvloop", "tests"],
    "pytest-asyncio": ["tests"],
    "aiohttp": ["-o", "addopts=", "-p", "pytest_mock", "-p", "pytest_timeout", "-p", "aiohttp.pytest_plugin"]
    + [f"tests/test_{each}.py" for each in ("web_functional", "web_websocket_functional", "connector")],
    "Twisted": None,
}
# It counts threads, and the previous test does not join its own: with our loop it fails in one try of eight on a busy machine.
UNSTEADY = {"tests.test_to_thread.TestBlockingPortalProvider::test_single_thread[asyncio]"}


def sources(suite, folder):
    """The folder of its source distribution, without the package: the tests are to find the installed one."""
    wanted = f"{suite}=={version(suite)}"
    place = folder / wanted
    if not place.exists():
        download = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", suite, "-d", folder, wanted]
        subprocess.run(download, check=True)
        name = suite.replace("-", "_")
        unpacked = folder / f"{name}-{version(suite)}"
        shutil.rmtree(unpacked, ignore_errors=True)
        subprocess.run(["tar", "-xf", f"{unpacked}.tar.gz", "-C", folder], check=True)
        shutil.rmtree(unpacked / name, ignore_errors=True)
        unpacked.rename(place)
    return place


def pytest(suite, loop, folder):
    """How many passed, and the names of those that did not."""
    report = folder / f"{suite}-{loop}.xml"
    report.unlink(missing_ok=True)
    arguments = ["-m", "pytest", "-p", "everywhere", "-q", "-p", "no:cacheprovider", "--timeout", "60", f"--junitxml={report}"]
    started(suite, loop, folder, sources(suite, folder), arguments + SUITES[suite])
    if not report.exists():
        return 0, {"the whole suite"}
    cases = list(ElementTree.parse(report).iter("testcase"))
    bad = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    failed = {f"{case.get('classname')}::{case.get('name')}" for case in bad}
    skipped = sum(case.find("skipped") is not None for case in cases)
    return len(cases) - skipped - len(failed), failed


def trial(suite, loop, folder):
    arguments = ["-c", TRIAL, f"--temp-directory={folder / 'trial'}", "--reactor=asyncio", *(f"twisted.{each}" for each in TWISTED)]
    text = started(suite, loop, folder, folder, arguments)
    passed = re.search(r"successes=(\d+)", text.splitlines()[-2] + text.splitlines()[-1])
    blocks = [block for block in re.split(r"^=+\n", text, flags=re.MULTILINE) if block.startswith(("[ERROR]", "[FAIL]"))]
    return int(passed[1]) if passed else 0, set(re.findall(r"^twisted\.[\w.]+$", "\n".join(blocks), re.MULTILINE))


def started(suite, loop, folder, place, arguments):
    environment = {**os.environ, "EVENT_LOOP": loop, "PYTHONPATH": str(HERE)}
    if suite != "pytest-asyncio":
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    log = folder / f"{suite}-{loop}.log"
    with open(log, "w+") as output:
        program, outputs = [sys.executable, *arguments], {"stdout": output, "stderr": subprocess.STDOUT}
        try:
            subprocess.run(program, cwd=place, env=environment, timeout=LIMIT_S, check=False, **outputs)
        except subprocess.TimeoutExpired:
            print(f"{suite} on {loop} was ended after {LIMIT_S} s", file=output)
    text = log.read_text(errors="replace")
    if loop == "runloop" and not re.search(r"^[1-9]\d* event loops of runloop.aio$", text, re.MULTILINE):
        raise SystemExit(f"{suite} made no event loop of ours: {log}")
    return text


def main(folder, *chosen):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # What a shell runs in the background has it ignored.
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    only_ours = {}
    print("| Suite | ours: passed | failed | asyncio: passed | failed |\n|---|---|---|---|---|")
    for suite in chosen or SUITES:
        run = pytest if SUITES[suite] else trial
        results = {loop: run(suite, loop, folder) for loop in LOOPS}
        figures = [str(each) for loop in reversed(LOOPS) for each in (results[loop][0], len(results[loop][1]))]
        print(f"| {suite} {version(suite)} | {' | '.join(figures)} |", flush=True)
        suspects = results["runloop"][1] - results["asyncio"][1]
        if suspects:
            suspects &= run(suite, "runloop", folder)[1]
        if suspects & UNSTEADY:
            suspects -= UNSTEADY - run(suite, "runloop", folder)[1]
        if suspects:
            suspects -= run(suite, "asyncio", folder)[1]
        if suspects:
            only_ours[suite] = sorted(suspects)
    for suite, tests in only_ours.items():
        print(f"{suite}, failed on ours alone: {', '.join(tests)}")
    return bool(only_ours)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
