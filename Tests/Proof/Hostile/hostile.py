#!/usr/bin/env python3
"""Hostile peers, one kind after another, set on a server (server.c, or the one in Swift), and what they may cost: each has a bound for the memory and
the descriptors of the server and for the time until another client is served, and leaves nothing behind. SECURITY.md has the bounds.

  hostile.py SERVER [WORD...]    those with such a word in their name; SERVER is the program, called with a folder and a time in ms
"""
import os
import subprocess
import sys
import tempfile
import threading
import time

import peers

# Of another client, whatever a peer does: a connection, a line, and its answer. Seen are some milliseconds; a machine may be busy.
MOST_SECONDS = 5.0


class Server:
    def __init__(self, program, patience_ms):
        self.folder = tempfile.mkdtemp(prefix="runloop-hostile-")
        os.mkdir(f"{self.folder}/watched")
        self.process = subprocess.Popen([program, self.folder, str(patience_ms)], stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "RUNLOOP_DIAGNOSTICS": "0"})
        self.port = int(self.process.stdout.readline())
        self.patience = patience_ms / 1000
        self.ask("begin")
        self.first_memory, self.first_descriptors = self.memory(), self.descriptors()
        self.first_files = self.files()

    def ask(self, line):
        with peers.connect(self, timeout=60) as client:
            client.sendall(line.encode() + b"\n")
            return client.makefile("rb").readline().decode().strip()

    def stat(self):
        """Without the connection that asks."""
        counts = {name: int(count) for name, count in (pair.split("=") for pair in self.ask("stat").split())}
        counts["open"] -= 1
        return counts

    def memory(self):
        """In KiB, resident."""
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmRSS"):
                return int(line.split()[1])

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def files(self):
        """What its descriptors are."""
        folder, files = f"/proc/{self.process.pid}/fd", []
        for name in os.listdir(folder):
            try:
                files.append(os.readlink(f"{folder}/{name}"))
            except FileNotFoundError:
                pass
        return sorted(files)

    def has_no_more_files(self):
        """But for an epoll set, an eventfd and a timer that a runtime makes when it is first busy."""
        def count(files):
            return sum(not name.startswith("anon_inode") for name in files)
        files = self.files()
        return count(files) <= count(self.first_files) and len(files) <= len(self.first_files) + 3

    def processor(self):
        """Seconds."""
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        self.process.terminate()
        self.process.wait()
        subprocess.run(["rm", "-rf", self.folder], check=False)


class Watcher(threading.Thread):
    """Another client, and what the server has meanwhile."""

    def __init__(self, server):
        super().__init__()
        self.server, self.is_over = server, False
        self.longest, self.memory, self.descriptors, self.served = 0.0, 0, 0, 0

    def run(self):
        while not self.is_over:
            began = time.monotonic()
            answer = self.server.ask(f"hello {self.served}")
            self.longest = max(self.longest, time.monotonic() - began)
            self.served += answer == f"hello {self.served}"
            self.memory = max(self.memory, self.server.memory())
            self.descriptors = max(self.descriptors, self.server.descriptors())
            time.sleep(0.02)


def wait_until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def play(program, attack):
    """The faults; and a line of figures."""
    server, faults = Server(program, attack.patience_ms), []
    try:
        watcher = Watcher(server)
        watcher.start()
        # In a process of its own: its memory, its descriptors and its time are not the other client's.
        child = os.fork()
        if child == 0:
            try:
                attack.run(server)
                os._exit(0)
            except BaseException as error:  # and not the parent's stack
                print(f"     {type(error).__name__}: {error}", flush=True)
                os._exit(1)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
            faults.append("the peers did not find what they should")
        watcher.is_over = True
        watcher.join(120)
        more_memory, more_descriptors = watcher.memory - server.first_memory, watcher.descriptors - server.first_descriptors
        if watcher.served == 0 or watcher.longest > MOST_SECONDS:
            faults.append(f"another client waited for {watcher.longest:.2f} s")
        if more_memory > attack.memory_kib:
            faults.append(f"it took {more_memory} KiB more, and may take {attack.memory_kib}")
        if more_descriptors > attack.descriptors:
            faults.append(f"it took {more_descriptors} descriptors more, and may take {attack.descriptors}")
        if not wait_until(server.has_no_more_files):
            faults.append(f"descriptors are left: {server.files()}")
        counts = server.stat()
        if counts["open"] or counts["channels"] or counts["readings"]:
            faults.append(f"something is open still: {counts}")
        faults += attack.expect(counts)
        return faults, f"{more_memory} KiB, {more_descriptors} descriptors, {watcher.longest * 1000:.0f} ms"
    finally:
        server.end()


def main():
    program, words = sys.argv[1], sys.argv[2:]
    passed = failed = 0
    for attack in peers.ATTACKS:
        if words and not any(word in attack.name for word in words):
            continue
        faults, figures = play(os.path.abspath(program), attack)
        print(f"{'FAIL' if faults else 'ok  '} {attack.name}: {figures}", flush=True)
        for fault in faults:
            print(f"     {fault}")
        passed, failed = passed + (not faults), failed + bool(faults)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)


main()
