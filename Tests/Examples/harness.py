"""What the tests of the example programs have in common: programs, clients, and waiting for conditions.

A wait has a limit (LIMIT, in seconds) so long that only something that never happens exceeds it. No test sleeps to find something out.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

LIMIT = float(os.environ.get("LIMIT", 60))
BINARIES = os.environ["EXAMPLES"]


class Failed(Exception):
    pass


def check(holds, words="it is not so"):
    if not holds:
        raise Failed(words() if callable(words) else words)


def wait_until(condition, words):
    """Asks again and again. Returns what the condition returned."""
    deadline = time.monotonic() + LIMIT
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Failed(f"waited in vain: {words() if callable(words) else words}")
        time.sleep(0.002)


class Stream:
    """What a program writes, line by line, as it comes."""

    def __init__(self, file):
        self.text = ""
        self.is_over = False
        self._file = file
        self._changed = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        while True:
            try:
                data = os.read(self._file.fileno(), 65536)
            except OSError:  # A terminal that nobody has any more.
                data = b""
            with self._changed:
                self.text += data.decode(errors="replace")
                self.is_over = not data
                self._changed.notify_all()
            if not data:
                return

    @property
    def lines(self):
        return self.text.split("\n")[:-1]

    def wait(self, condition, words):
        with self._changed:
            if not self._changed.wait_for(lambda: condition(self.text) or self.is_over, LIMIT) or not condition(self.text):
                raise Failed(f"waited in vain for {words}; there was:\n{self.text}")
            return self.text

    def expect(self, part):
        return self.wait(lambda text: part in text, repr(part))


def prepare(limits):
    """In the new process, before it is the program. Who started the tests in a shell's background has them ignore Control-C, and by nohup the
    end of the terminal, and the programs would inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if limits:
        limits()


class Program:
    """One of the examples, running."""

    def __init__(self, name, *arguments, limits=None, folder=None, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE):
        environment = {key: value for key, value in os.environ.items() if key != "EXAMPLES"}
        if limits:
            # Without descriptors a sanitizer can't name what it finds, so it could not set aside what is not ours.
            environment["LSAN_OPTIONS"] = "detect_leaks=0"
        self.process = subprocess.Popen(
            [os.path.join(BINARIES, name), *map(str, arguments)],
            stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, preexec_fn=lambda: prepare(limits), cwd=folder, env=environment)
        self.out = Stream(self.process.stdout or open(os.devnull))
        self.errors = Stream(self.process.stderr)

    def __enter__(self):
        return self

    def __exit__(self, *reason):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if reason[0] is not None:
            print(f"     the program wrote: {self.out.text}\n     and: {self.errors.text}")

    def tell(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def kill(self, number):
        self.process.send_signal(number)

    def end(self, number=signal.SIGTERM):
        """Ends it with a signal, and returns its exit status."""
        self.kill(number)
        return self.status()

    def status(self):
        try:
            status = self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            raise Failed("the program does not end")
        self.out.wait(lambda text: self.out.is_over, "the end of the output")
        self.errors.wait(lambda text: self.errors.is_over, "the end of the errors")
        check("Sanitizer" not in self.errors.text, lambda: self.errors.text)
        return status


def processor_seconds(program):
    """How long the program has computed so far."""
    with open(f"/proc/{program.process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def state(program):
    with open(f"/proc/{program.process.pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0]


def is_asleep(program):
    return state(program) == "S"


def open_files(program):
    """What its descriptors refer to, one entry for each descriptor."""
    folder = f"/proc/{program.process.pid}/fd"
    found = []
    for name in os.listdir(folder):
        try:
            found.append(os.readlink(f"{folder}/{name}"))
        except FileNotFoundError:
            pass
    return found


def socket_count(program):
    """How many sockets it has. Other descriptors, such as a timer's, it may open at any time for itself."""
    return sum(target.startswith("socket:") for target in open_files(program))


tests = []


def test(function):
    """Marks a test. Its doc string is its name."""
    tests.append(function)
    return function


def main():
    words = sys.argv[1:]
    chosen = [t for t in tests if not words or any(word in (t.__module__ + ": " + t.__doc__) for word in words)]
    failed = 0
    for function in chosen:
        name = f"{os.path.basename(sys.argv[0])}: {function.__doc__}"
        try:
            with tempfile.TemporaryDirectory() as folder:
                function(folder) if function.__code__.co_argcount else function()
            print(f"ok   {name}", flush=True)
        except Exception as error:
            failed += 1
            print(f"FAIL {name}\n     {error}", flush=True)
            if not isinstance(error, Failed):
                traceback.print_exc()
    print(f"{len(chosen) - failed} passed, {failed} failed", flush=True)
    sys.exit(1 if failed else 0)
