#!/usr/bin/env python3
"""Tests runloop-top as its users see it, in a pseudo-terminal, on a program that publishes its loop. Builds both; a second or two. Prints
"N passed, N failed"."""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE_S = 60
COMPILER = os.environ.get("CC") or ("cc" if shutil.which("cc") else "clang")
OUT = ROOT / "build" / COMPILER.replace("/", "_")


def build():
    subprocess.run(["make", "-s", "lib-core", "lib-diagnostics", f"CC={COMPILER}", "BUILD=build"], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)
    includes = [f"-I{ROOT}/Sources/{name}/include" for name in ("CRunLoopCore", "CRunLoopDiagnostics")]
    libraries = [OUT / "librunloop-diagnostics.a", OUT / "librunloop.a"]
    subprocess.run([COMPILER, "-Wall", "-Wextra", *(["-Werror"] if os.environ.get("WERROR") else []), *includes, ROOT / "Tests/Tools/published.c", *libraries, "-pthread",
                    "-o", OUT / "published"], check=True)


def start_published(*arguments):
    process = subprocess.Popen([OUT / "published", *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "published\n"
    return process


def run_top(*arguments):
    return subprocess.run([OUT / "runloop-top", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=PATIENCE_S)


class Terminal:
    """runloop-top in a terminal, and all that it has written there."""

    def __init__(self, *arguments, columns=220):
        program = OUT / "runloop-top"
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.execv(program, [program, *arguments])
        self.resize(columns)
        self.text = ""

    def resize(self, columns):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def read_until(self, pattern):
        deadline = time.monotonic() + PATIENCE_S
        while not (found := re.search(pattern, self.text)):
            ready, _, _ = select.select([self.terminal], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"no {pattern!r} in {self.text[-2000:]!r}"
            self.text += os.read(self.terminal, 65536).decode()
        self.text = self.text[found.end():]
        return found

    def status(self):
        # What is still written has to be read, or the program waits for it.
        try:
            while rest := os.read(self.terminal, 65536):
                self.text += rest.decode()
        except OSError:
            pass
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


def test_shows_the_loop_until_q(path):
    top = Terminal("--interval", "0.1", path)
    top.read_until(r"LOOP +STATE +MODE +BUSY%")
    # It has ticked since the last time, and the longest call-out has its name, without what would command the terminal.
    top.read_until(r'main +(asleep|busy) +kCFRunLoopDefaultMode +\d+\.\d( +\d+\.\d){3} +[1-9]\d*\.\d( +\d+\.\d){4}( +\d+\.\d{3}){2} the "ticker"\?\[2J')
    assert "\x1b[2J" not in top.text
    top.read_until(r"q quits")
    os.write(top.terminal, b"q")
    status = top.status()
    assert status == 0, status
    assert top.text.endswith("\x1b[?25h\x1b[?1049l"), top.text[-100:]


def test_draws_again_when_the_terminal_changes(path):
    top = Terminal("--interval", "3600", path)
    top.read_until(r"WHOSE[^\n]*\n")
    top.read_until(r"q quits")
    top.resize(30)
    top.read_until(r"LOOP +STATE +\x1b\[K\r\n")
    # The most telling columns have the last places.
    for columns, titles in [(34, "LOOP STATE BUSY%"), (43, "LOOP STATE WHOSE"), (60, "LOOP STATE BUSY% LONGEST/MS WHOSE"),
                            (80, "LOOP STATE BUSY% ITER/S LATE99/MS LONGEST/MS WHOSE"),
                            (104, "LOOP STATE MODE BUSY% ITER/S LATE99/MS LONGEST/MS WHOSE"),
                            (122, "LOOP STATE MODE BUSY% ITER/S SLEEPS/S DESCR/S LATE99/MS LONGEST/MS WHOSE")]:
        top.resize(columns)
        head = top.read_until(r"(LOOP [^\n]*?) *\x1b\[K\r\n")[1]
        assert head.split() == titles.split(), (columns, head)
        line = top.read_until(r"(main [^\n]*?)\x1b\[K\r\n")[1]
        assert len(line.encode()) <= columns, (columns, line)
    os.kill(top.process, signal.SIGTERM)
    assert top.status() == 0


def test_shows_that_a_loop_spins(path):
    with tempfile.TemporaryDirectory() as folder:
        process = start_published(folder + "/spinning", "spinning")
        try:
            deadline = time.monotonic() + PATIENCE_S
            while (line := run_top("--once", folder + "/spinning").stdout.splitlines()[1].split())[1] != "spinning":
                assert time.monotonic() < deadline, line
            # It never sleeps, though it has a timer.
            sleeps = dict(zip(["LOOP", "STATE", "MODE", "BUSY%", "ITER/S", "SLEEPS/S"], line))["SLEEPS/S"]
            assert sleeps == "0.0", line
        finally:
            process.kill()
            process.wait()


def test_shows_tasks(path):
    with tempfile.TemporaryDirectory() as folder:
        process = start_published(folder + "/busy", "tasks")
        try:
            lines = run_top("--once", folder + "/busy").stdout.splitlines()
            assert lines[1].startswith("main ") and lines[2:] == ["TASKS", "task 1 awaits task 2, for 1.5 s", "task 2 runs?[2J, for 0.5 s"], lines
            top = Terminal("--interval", "3600", folder + "/busy")
            top.read_until(r"TASKS\x1b\[K\r\ntask 1 awaits task 2, for 1.5 s\x1b\[K\r\n")
            top.resize(12)
            top.read_until(r"TASKS\x1b\[K\r\ntask 1 await\x1b\[K\r\n")
            os.kill(top.process, signal.SIGTERM)
            assert top.status() == 0
        finally:
            process.kill()
            process.wait()


def test_writes_once(path):
    for arguments in [("--once", path), (path,)]:
        result = run_top(*arguments)
        assert result.returncode == 0, result
        head, *loops = result.stdout.splitlines()
        assert head.startswith("LOOP ") and len(loops) == 1 and loops[0].startswith("main "), result.stdout
        assert "\x1b" not in result.stdout


def test_says_what_is_wrong(path):
    for arguments, status, words in [(["/nowhere"], 1, "No such file"), (["--what"], 2, "usage"), (["--interval", "0", path], 2, "usage"),
                                     (["--interval", "x", path], 2, "usage"), (["x" * 200], 1, "too long"), ([path, path], 2, "usage")]:
        result = run_top(*arguments)
        assert result.returncode == status and words in result.stderr, (arguments, result)


def test_helps(_):
    for argument, words in [("--help", "usage: runloop-top"), ("-h", "--interval SECONDS"), ("--version", "runloop-top 0.")]:
        result = run_top(argument)
        assert result.returncode == 0 and words in result.stdout and result.stderr == "", (argument, result)


def test_understands_only_reports(path):
    with tempfile.TemporaryDirectory() as folder:
        place = folder + "/false"
        answers = [b"[{]\n", b"[" * 5000, b'["\\', b"{}", b'[{"loop":"' + b"x" * 100000, b"[{\"a\":1},", os.urandom(1000), b""]
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(place)
            listener.listen()

            def serve():
                for answer in answers:
                    client, _ = listener.accept()
                    with client:
                        client.sendall(answer)

            thread = threading.Thread(target=serve)
            thread.start()
            for answer in answers:
                result = run_top("--once", place)
                assert result.returncode == 1 and result.stderr.startswith("runloop-top: "), (answer[:20], result)
            thread.join()


def loops_with_modes(modes):
    """An answer in which each loop, with statistics as large as numbers are, runs in one of the modes."""
    numbers = b",".join(b'"%s":1e308' % name for name in (b"iterations", b"sleeps", b"lateness.p99Ns", b"callouts.timer", b"callouts.task"))
    return b"[" + b",".join(b'{"loop":"0x1","state":"busy","mode":"' + mode + b'","statistics":{"elapsedNs":1e9,'
                            b'"longest":"' + mode + b'",' + numbers + b',"callouts":{"timer":1e308,"observer":1e308,"task":1e308,'
                            b'"main queue":1e308,"signalled source":1e308}}}' for mode in modes) + b"]"


def test_counts_all_loops(path):
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        place = folder + "/many"
        listener.bind(place)
        listener.listen()
        top = Terminal("--interval", "3600", place)
        client, _ = listener.accept()
        with client:
            client.sendall(loops_with_modes([b"mode"] * 100))
        top.read_until(r", 100 loops; q quits")
        os.write(top.terminal, b"q")
        assert top.status() == 0


def test_lets_no_answer_command_the_terminal(path):
    bad = ["\x9b2J", "\x85", "\x7f", "\x1b[2J", "\r", "\u202e", "\u2066", "\u2028", "\u2029", "\u200f", "\u200b", "\u061c", "\ufeff",
           "\ufff9", "\U000e0041", "\ufffe"]
    modes = [text.encode() for text in bad] + [b"\\\x9b2J", b"\x9b2J", b"\xff", b"\xc0\x9b", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80",
                                               b"\xe2\x82", b"x" * 23 + "é".encode()]
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        place = folder + "/hostile"
        listener.bind(place)
        listener.listen()

        def serve():
            for answer in (loops_with_modes(modes), loops_with_modes(["größe 大きさ".encode()])):
                client, _ = listener.accept()
                with client:
                    client.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        hostile, kind = [subprocess.run([OUT / "runloop-top", "--once", place], stdin=subprocess.DEVNULL, capture_output=True,
                                        timeout=PATIENCE_S) for _ in range(2)]
        thread.join()
    assert hostile.returncode == 0 and kind.returncode == 0, (hostile, kind)
    written = hostile.stdout.decode()
    lines = written.splitlines()
    assert len(lines) == 1 + len(modes), lines
    for line in lines[1:]:
        assert "?" in line, line
    left = {hex(ord(letter)) for letter in written if not letter.isprintable() and letter != "\n"}
    assert not left, left
    assert "größe 大きさ" in kind.stdout.decode(), kind.stdout


def test_lists_what_is_published(path):
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_RUNTIME_DIR"] = folder
        nothing = run_top()
        assert nothing.stdout == "" and nothing.returncode == 0 and "no process of this user is published" in nothing.stderr, nothing
        process = start_published()
        listed = run_top().stdout
        by_id = run_top("--once", str(process.pid))
        process.kill()
        process.wait()
        assert listed == f"{process.pid}\tpublished\t1 loop\t{folder}/runloop-{process.pid}.sock\n", listed
        assert by_id.returncode == 0 and "main " in by_id.stdout, by_id
        # It has left its socket, at which nobody is.
        assert run_top().stdout == "" and os.listdir(folder)


def main():
    build()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/socket"
        published = start_published(path)
        for name, test in [(name, test) for name, test in globals().items() if name.startswith("test_")]:
            try:
                test(path)
                passed += 1
            except Exception as error:
                failed += 1
                print(f"{name}: {error!r}")
        published.kill()
        published.wait()
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
