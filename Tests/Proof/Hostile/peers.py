"""The peers of hostile.py: what each kind does, and what it may cost the server."""
import array
import os
import random
import resource
import selectors
import socket
import struct
import time

RESET = struct.pack("ii", 1, 0)


def connect(server, timeout=10.0):
    return socket.create_connection(("127.0.0.1", server.port), timeout)


def close_by_reset(client):
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    client.close()


def check(condition, what):
    if not condition:
        raise AssertionError(what)


class Attack:
    """What the server may take for it."""
    patience_ms, memory_kib, descriptors = 1000, 2048, 100

    def expect(self, counts):
        """Of the server, afterwards: what is wrong with the counts."""
        return []


def until_ended(clients, seconds):
    """Waits until the server has ended all of them."""
    waiting, end = selectors.DefaultSelector(), time.monotonic() + seconds
    for client in clients:
        waiting.register(client, selectors.EVENT_READ)
    while waiting.get_map():
        check(time.monotonic() < end, f"{len(waiting.get_map())} were not ended")
        for key, _ in waiting.select(1):
            try:
                is_over = not key.fileobj.recv(1 << 16)
            except ConnectionError:
                is_over = True
            if is_over:
                waiting.unregister(key.fileobj)


class Drip(Attack):
    name = "a byte now and then, and never a line"

    def run(self, server):
        clients, began = [connect(server) for _ in range(50)], time.monotonic()
        while clients:
            check(time.monotonic() - began < server.patience + 10, f"{len(clients)} drip on")
            for client in list(clients):
                try:
                    client.send(b"x")
                except ConnectionError:
                    clients.remove(client)
            time.sleep(0.1)

    def expect(self, counts):
        return [] if counts["timed_out"] + counts["reset"] >= 50 else [f"{counts['timed_out']} timed out"]


class Resets(Attack):
    name = "a reset at each step of an exchange"
    # Of those that the server has not ended yet.
    descriptors = 400

    def run(self, server):
        for _ in range(60):
            for step in (self.nothing, self.half_a_line, self.a_line, self.half_an_answer, self.no_answer, self.after_its_half):
                client = connect(server)
                step(client)
                close_by_reset(client)

    def nothing(self, client):
        pass

    def half_a_line(self, client):
        client.sendall(b"half")

    def a_line(self, client):
        client.sendall(b"line\n")

    def half_an_answer(self, client):
        client.sendall(b"big 100000\n")
        client.recv(50000)

    def no_answer(self, client):
        client.sendall(b"big 10000000\n")

    def after_its_half(self, client):
        client.sendall(b"big 1000000\n")
        client.shutdown(socket.SHUT_WR)


class LongLines(Attack):
    name = "lines without an end, of gigabytes"
    memory_kib = 4096

    def run(self, server):
        clients, bytes_sent, block = [connect(server) for _ in range(10)], 0, b"x" * (1 << 20)
        for client in clients:
            client.setblocking(False)
        began = time.monotonic()
        while clients:
            check(time.monotonic() - began < server.patience + 20, f"{len(clients)} go on")
            for client in list(clients):
                try:
                    bytes_sent += client.send(block)
                except BlockingIOError:
                    pass
                except ConnectionError:
                    clients.remove(client)
        print(f"     {bytes_sent >> 20} MiB were sent", flush=True)

    def expect(self, counts):
        return [] if counts["too_long"] == 10 else [f"{counts['too_long']} lines were too long"]


MANY = 10000


def allow_descriptors():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return min(MANY, hard - 500)


class Silent(Attack):
    name = "10,000 connections that are silent"
    # 12 KiB for each.
    patience_ms, memory_kib, descriptors = 15000, 12 * MANY, MANY + 100

    def run(self, server):
        clients = [connect(server) for _ in range(allow_descriptors())]
        time.sleep(0.5)
        before = server.processor()
        time.sleep(2)
        # What remains is for the one client that asks.
        check(server.processor() - before < 0.5, f"it took {server.processor() - before:.2f} s of the processor in two")
        until_ended(clients, server.patience + 60)


class Deaf(Attack):
    name = "requests whose answers nobody reads"
    # What is kept of each is the limit of output.
    memory_kib = 50 * (64 + 32)

    def run(self, server):
        clients = [connect(server) for _ in range(50)]
        for client in clients:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.sendall(b"big 1000000000\n" + b"hello\n" * 100)
        time.sleep(server.patience + 2)
        for client in clients:
            client.settimeout(5)
            try:
                while client.recv(1 << 16):
                    pass
                check(False, "it was ended as if all had been sent")
            except ConnectionError:
                pass

    def expect(self, counts):
        return [] if counts["timed_out"] >= 50 else [f"{counts['timed_out']} timed out"]


class Flood(Attack):
    name = "more lines than anybody can take"
    memory_kib = 20 * (64 + 32)

    def run(self, server):
        clients, block, end = [connect(server) for _ in range(20)], b"a line\n" * 8000, time.monotonic() + 4
        for client in clients:
            client.setblocking(False)
        while time.monotonic() < end:
            for client in clients:
                try:
                    client.send(block)
                    client.recv(1 << 20)
                except BlockingIOError:
                    pass
        for client in clients:
            close_by_reset(client)


def channel(server):
    made = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    made.settimeout(10)
    made.connect(f"{server.folder}/channel")
    return made


def packet(kind, descriptors=0, number=0, body=b"x", version=1):
    return struct.pack("=BBBBIQ", version, kind, 0, 0, descriptors, number) + body


def send(to, data, descriptors=()):
    control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    try:
        to.sendmsg([data], control)
        return True
    except (ConnectionError, TimeoutError, OSError):
        return False


class Bombs(Attack):
    name = "descriptors, as many as a packet holds"
    # Of a packet that is being looked at, and of the channels that the server has not ended yet.
    descriptors = 253 + 450

    def run(self, server):
        null = os.open("/dev/null", os.O_RDONLY)
        for _ in range(300):
            end = channel(server)
            send(end, packet(1, descriptors=253), [null] * 253)
            end.close()
        # As many as are allowed, of which the program takes none.
        end = channel(server)
        for _ in range(3000):
            check(send(end, packet(1, descriptors=16), [null] * 16), "it was ended")
        end.close()
        # A socket that has itself on the way.
        for _ in range(100):
            end, pair = channel(server), socket.socketpair()
            pair[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [pair[1].fileno(), pair[0].fileno()]))])
            send(end, packet(1, descriptors=2), [pair[0].fileno(), pair[1].fileno()])
            for one in (*pair, end):
                one.close()

    def expect(self, counts):
        return [] if counts["broken"] >= 300 and counts["descriptors"] == 48200 else [f"{counts['broken']} ended, {counts['descriptors']} came"]


class Requests(Attack):
    name = "requests whose answers nobody reads, and packets that nobody sends"
    memory_kib, descriptors = 4096, 600

    def run(self, server):
        ends = [channel(server) for _ in range(20)]
        for end in ends:
            end.setblocking(False)
            sent = 0
            while sent < 10000 and send(end, packet(2, number=sent + 1, body=b"x" * 1000)):
                sent += 1
        dice = random.Random(7)
        for _ in range(500):
            end = channel(server)
            for _ in range(4):
                send(end, dice.randbytes(dice.randrange(1, 64)))
            end.close()
        time.sleep(1)
        for end in ends:
            end.close()

    def expect(self, counts):
        return [] if counts["broken"] >= 400 else [f"{counts['broken']} ended"]


class Links(Attack):
    name = "symbolic links that change places with what is watched"

    def run(self, server):
        watched, aside, link = (f"{server.folder}/{name}" for name in ("watched", "aside", "link"))
        os.makedirs(f"{watched}/a/b")
        end = time.monotonic() + 4
        while time.monotonic() < end:
            os.symlink("/usr", link)
            os.rename(watched, aside)
            os.rename(link, watched)
            os.unlink(watched)
            os.rename(aside, watched)
            os.symlink("/", f"{watched}/a/link")
            os.rename(f"{watched}/a/b", f"{watched}/c")
            os.rename(f"{watched}/a/link", f"{watched}/b")
            os.rename(f"{watched}/c", f"{watched}/a/b")
            os.unlink(f"{watched}/b")
        self.find_a_change(server)

    def find_a_change(self, server):
        """It follows the path still."""
        before = server.stat()["changes"]
        with open(f"{server.folder}/watched/last", "w"):
            pass
        for _ in range(100):
            if server.stat()["changes"] > before:
                return
            time.sleep(0.1)
        check(False, "a change is not reported any more")


class Storm(Links):
    name = "changes of files without a pause"
    memory_kib = 16384

    def run(self, server):
        watched = f"{server.folder}/watched"
        for number in range(20):
            os.mkdir(f"{watched}/{number}")
        for number in range(100000):
            path = f"{watched}/{number % 20}/{number % 997}"
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
            os.unlink(path)
        self.find_a_change(server)


class Special(Links):
    name = "pipes and devices where files are watched and read"

    def run(self, server):
        watched = f"{server.folder}/watched"
        os.mkfifo(f"{watched}/pipe")
        local = socket.socket(socket.AF_UNIX)
        local.bind(f"{watched}/socket")
        for name, target in (("zero", "/dev/zero"), ("full", "/dev/full"), ("itself", "itself"), ("tty", "/dev/tty")):
            os.symlink(target, f"{watched}/{name}")
        open(f"{watched}/" + "\n" * 255, "w").close()
        for number in range(2000):
            for name in ("pipe", "socket", "zero", "full", "itself"):
                os.rename(f"{watched}/{name}", f"{watched}/other")
                os.rename(f"{watched}/other", f"{watched}/{name}")
        # It reads: what never ends, what never begins, what can't be read, what is nothing.
        for name in ("zero", "zero", "full", "pipe", "socket", "itself", "tty", "", "missing"):
            check(server.ask(f"read {watched}/{name}"), name)
        writer = os.open(f"{watched}/pipe", os.O_RDWR | os.O_NONBLOCK)
        os.write(writer, b"x" * 4096)
        time.sleep(server.patience + 1)
        os.close(writer)
        self.find_a_change(server)

    def expect(self, counts):
        # Three devices up to their limit, and what was in the pipe.
        return [] if counts["read"] >= 3 * (64 << 20) else [f"{counts['read']} bytes were read"]


ATTACKS = [kind() for kind in (Drip, Resets, LongLines, Silent, Deaf, Flood, Bombs, Requests, Links, Storm, Special)]
