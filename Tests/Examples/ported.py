"""Programs that were ported from Foundation and libdispatch, ended in all the ways in which programs are ended: by Control-C in a terminal, by `kill`,
as the first process of a container, and as what a script has started with `&`, where SIGINT is ignored. Each time they end as their signal says, all
that they have printed is there, and their asynchronous work was done."""

import fcntl
import os
import re
import signal
import socket
import subprocess
import termios

from harness import BINARIES, LIMIT, Program, check, main, test

PORTED = os.path.join(BINARIES, "ported")


class Killed(Program):
    """By its process number."""

    def __init__(self, *arguments):
        super().__init__(PORTED, *arguments)

    def ask_to_end(self):
        self.kill(signal.SIGTERM)

    @staticmethod
    def status_of(number):
        return -number


class InTerminal(Killed):
    """Where somebody types Control-C. What it prints goes to a pipe all the same."""

    def __init__(self, *arguments):
        self.keyboard, terminal = os.openpty()

        def control():
            os.setsid()
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)

        Program.__init__(self, PORTED, *arguments, limits=control, stdin=terminal)
        os.close(terminal)

    def __exit__(self, *reason):
        super().__exit__(*reason)
        os.close(self.keyboard)

    def ask_to_end(self):
        os.write(self.keyboard, b"\x03")


class InContainer(Program):
    """As PID 1 of a namespace."""

    def __init__(self, *arguments):
        super().__init__("/usr/bin/unshare", "--pid", "--fork", "--kill-child", "--mount-proc", PORTED, *arguments)

    def ask_to_end(self):
        process = self.process.pid
        with open(f"/proc/{process}/task/{process}/children") as children:
            os.kill(int(children.read()), signal.SIGTERM)

    @staticmethod
    def status_of(number):
        return 128 + number


class InBackground(Program):
    """Of a script, which reports its status. There an interrupt is not meant for it; but a source of libdispatch catches also what is ignored."""

    SCRIPT = '"$@" & echo "$!" >&2; wait "$!"'
    ignores_interrupts = True

    def __init__(self, *arguments):
        super().__init__("/bin/sh", "-c", self.SCRIPT, "sh", PORTED, *arguments)

    def ask_to_end(self):
        text = self.errors.wait(lambda text: re.search(r"^\d+\n", text, re.M), "the number")
        number = int(re.search(r"^(\d+)\n", text, re.M)[1])
        if self.ignores_interrupts:
            os.kill(number, signal.SIGINT)
        os.kill(number, signal.SIGTERM)

    @staticmethod
    def status_of(number):
        return 128 + number


def has_containers():
    try:
        return subprocess.run(["/usr/bin/unshare", "--pid", "--fork", "--mount-proc", "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def ways():
    """How a program is ended, and by which signal that is."""
    yield Killed, signal.SIGTERM
    yield InTerminal, signal.SIGINT
    yield InBackground, signal.SIGTERM
    if has_containers():
        yield InContainer, signal.SIGTERM


def expect_lines(program, *lines):
    """In this order; others may be between them."""
    left = iter(program.out.lines)
    for line in lines:
        check(line in left, lambda: f"there is no {line!r} in its place in:\n{program.out.text}\n{program.errors.text}")


@test
def supervisor():
    """a supervisor reports, has its services say goodbye, and ends by the signal, however it is asked to"""
    for way, number in ways():
        with way("supervisor") as program:
            program.out.wait(lambda text: text.count("once exited(3)\n") == 2, "the second end of a service")
            program.ask_to_end()
            status = program.status()
            check(status == program.status_of(number), f"{way.__name__}: {status}")
            expect_lines(program, "once: hello", "once exited(3)", "reports", "has reported", "clock: goodbye", "the end")
            check("clock ended: true\n" in program.out.text, program.out.text)


@test
def server(folder):
    """a server answers what it has begun, also if a framework has sources of libdispatch for its signals, and ends by the signal"""
    for way, number in ways():
        path = os.path.join(folder, way.__name__)
        with way("server", path) as program, socket.socket(socket.AF_UNIX) as client:
            program.out.expect("serves\n")
            client.settimeout(LIMIT)
            client.connect(path)
            client.sendall(b"one\n")
            reader = client.makefile()
            check(reader.readline() == "begun\n")
            program.ignores_interrupts = False
            program.ask_to_end()
            check(reader.readline() == "ONE\n")
            status = program.status()
            check(status == program.status_of(number), f"{way.__name__}: {status}")
            expect_lines(program, "answered 1")
            check("the framework has seen it too\n" in program.out.text, program.out.text)


@test
def launcher():
    """a launcher passes on what it is sent, waits for the program, and ends as that does"""
    script = "trap 'echo goodbye; exit 3' TERM INT; echo ready; while :; do sleep 0.02; done"
    for way, number in ways():
        with way("launcher", "sh", "-c", script) as program:
            program.out.expect("ready\n")
            program.ask_to_end()
            status = program.status()
            check(status == 3, f"{way.__name__}: {status}")
            expect_lines(program, "ready", "goodbye")
            check(way is InTerminal or "waits for its end\n" not in program.out.text, program.out.text)
    with Killed("launcher", "sh", "-c", "kill -USR1 $$") as program:
        check(program.status() == -signal.SIGUSR1)


@test
def owners():
    """a signal that a sequence over libdispatch traps as well comes to both, whoever came first, a second after that at the latest"""
    for order in ["ours-first", "theirs-first"]:
        with Killed("owners", order, "source") as program:
            program.out.expect("ready\n")
            for count in range(1, 4):
                program.kill(signal.SIGTERM)
                program.out.wait(lambda text: text.count("theirs: 15\n") == count and text.count("ours: 15 × 1\n") == count, order)
        with Killed("owners", order, "shutdown") as program:
            program.out.expect("ready\n")
            status = program.end()
            check(status == -signal.SIGTERM, f"{order}: {status}")
            expect_lines(program, "ours: work")


main()
