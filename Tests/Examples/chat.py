"""The chat server, as its clients see it."""

import re
import resource
import signal
import socket
import struct

from harness import LIMIT, Failed, Program, check, is_asleep, main, processor_seconds, socket_count, test, wait_until


class Server(Program):
    def __init__(self, *arguments, **options):
        super().__init__("chat", *arguments, **options)
        self.out.expect("listens on port ")
        self.port = int(re.search(r"port (\d+)", self.out.text)[1])


class Client:
    """Somebody who chats. What has been read and not been expected yet is in `text`."""

    def __init__(self, server, name=None, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(LIMIT)
        self.socket.connect(("127.0.0.1", server.port))
        self.text = ""
        if name:
            self.expect("Welcome")
            self.say(f"/nick {name}")
            self.expect(f"is now {name}.\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def say(self, line):
        self.send(line.encode() + b"\n")

    def send(self, data):
        self.socket.sendall(data)

    def expect(self, part):
        """Reads until there is this, and returns what came before it."""
        while part not in self.text:
            data = self.socket.recv(65536)
            if not data:
                raise Failed(f"the connection ended before {part!r}; there was: {self.text!r}")
            self.text += data.decode()
        before, _, self.text = self.text.partition(part)
        return before

    def expect_end(self):
        """Reads to the end, and returns everything."""
        while data := self.socket.recv(65536):
            self.text += data.decode(errors="replace")
        return self.text

    def reset(self):
        """Goes without a goodbye: the other side gets a reset."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


@test
def conversation():
    """what one says the others hear, in order, and not the speaker"""
    with Server() as server, Client(server, "ann") as ann, Client(server, "bob") as bob, Client(server, "cid") as cid:
        for number in range(100):
            ann.say(f"line {number}")
        ann.say("/who")
        check("line" not in ann.expect("* Here: ann, bob, cid\n"), "the speaker heard the lines")
        for listener in (bob, cid):
            listener.expect("<ann> line 0\n")
            for number in range(1, 100):
                check(listener.expect(f"<ann> line {number}\n") == "", f"something came before line {number}")
        bob.say("/me waves")
        ann.expect("* bob waves\n")
        bob.say("/msg ann hush")
        ann.expect("<bob, to you> hush\n")
        bob.say("/quit for lunch")
        check("hush" not in cid.expect("* bob has gone: for lunch\n"), "a whisper was heard by a third one")
        check(bob.expect_end().endswith("* Goodbye, bob.\n"), lambda: bob.text)
        check(server.end() == 0)


@test
def names():
    """a name is refused if it is taken, empty, long or odd; unknown commands are told apart from text"""
    with Server() as server, Client(server, "ann") as ann, Client(server) as other:
        other.say("/nick ann")
        other.expect("ann is somebody else's name.")
        for name in ("", "a" * 21, "an;n", "an\x1bn"):
            other.say(f"/nick {name}")
            other.expect("* A name " if name != "an\x1bn" else "ann is somebody else's name.")
        other.say("/nick Åsa")
        ann.expect("* guest2 is now Åsa.\n")
        other.say("/dance")
        other.expect("There is no /dance.")
        other.say("/help")
        other.expect("/nick NAME")
        check(server.end() == 0)


@test
def pieces():
    """lines in pieces, several in one, with CR, without an end, and half-closed connections"""
    with Server() as server, Client(server, "ann") as ann, Client(server, "bob") as bob:
        for byte in "piecemeal\r\n".encode():
            bob.send(bytes([byte]))
        ann.expect("<bob> piecemeal\n")
        bob.send(b"one\ntwo\n\n   \nthree")
        ann.expect("<bob> one\n<bob> two\n")
        bob.say("/who")
        ann.expect("<bob> three/who\n")
        # Ends its half with a line that has no end, and still gets the answer.
        bob.send(b"/who")
        bob.socket.shutdown(socket.SHUT_WR)
        check(bob.expect_end().endswith("* Here: ann, bob\n"), lambda: bob.text)
        ann.expect("* bob has gone: has left\n")
        check(server.end() == 0)


@test
def odd_bytes():
    """what is not UTF-8 is repaired, control characters are dropped, and a line that is too long reaches nobody"""
    with Server("--line", 100) as server, Client(server, "ann") as ann, Client(server, "bob") as bob:
        bob.send(b"a\xff\xfeb \xe2\x82 c\n")
        check(ann.expect("<bob> a\ufffd\ufffdb \ufffd c\n") is not None)
        bob.send(b"\x1b[31mred\x07\x00\n")
        ann.expect("<bob> [31mred\n")
        bob.send(b"x" * 1_000_000 + b"\nshort\n")
        bob.expect("* That line was longer than 100 bytes. Nobody got it.\n")
        check("xxx" not in ann.expect("<bob> short\n"), "the long line was heard")
        bob.send(b"y" * 100 + b"\n")
        ann.expect("<bob> " + "y" * 100 + "\n")
        check(server.end() == 0)


def never_reads(length):
    """Somebody who does not read, while lines of this length are said."""
    with Server("--output", 20_000) as server, Client(server, "ann") as ann, Client(server, "bob") as bob:
        with Client(server, "slow", receive_buffer=2048) as slow:
            gone, lines, text = "* slow has gone: too slow\n", 0, "z" * length
            while True:
                check(lines * length < 100_000_000, "the slow one is never disconnected")
                block = range(lines + 1, lines + 1 + 10_000 // (length + 10))
                ann.send(b"".join(f"{text} {number}\n".encode() for number in block))
                lines = block[-1]
                # Bob hears each line although nobody reads the slow one's.
                if gone in bob.expect(f" {lines}\n") + bob.text:
                    break
            said = slow.expect_end()
            check(said.endswith("\n* You read too slowly. Goodbye.\n"), lambda: said[-200:])
            whole = [line for line in said.split("\n") if line.startswith("<ann>")]
            check(all(len(line.split(" ")[1]) == length for line in whole), "a line was cut in two")
            numbers = [int(line.rsplit(" ")[-1]) for line in whole]
            check(numbers == list(range(1, len(numbers) + 1)), "lines are missing, or in another order")
        ann.expect(gone)
        check(server.end() == 0)


@test
def slow_reader():
    """who does not read is disconnected with a reason, and stops nobody"""
    never_reads(1000)


@test
def slow_reader_of_short_lines():
    """the reason is a line of its own, even when there is no space for it"""
    never_reads(3)


@test
def broken():
    """a connection that breaks while much waits for it is closed, and nothing else happens"""
    with Server("--output", 50_000_000) as server, Client(server, "ann") as ann:
        before = socket_count(server)
        with Client(server, "slow", receive_buffer=2048) as slow:
            fill(ann)
            # With its half closed already, a reset is an EPIPE for the server, and might be a SIGPIPE.
            slow.socket.shutdown(socket.SHUT_WR)
            ann.expect("* slow has gone: has left\n")
            slow.reset()
        wait_until(lambda: socket_count(server) == before, "as many sockets as before")
        ann.say("/who")
        ann.expect("* Here: ann\n")
        check(server.end() == 0)


@test
def resets():
    """clients that reset their connections are gone, and leave nothing behind"""
    with Server() as server, Client(server, "ann") as ann:
        before = socket_count(server)
        for _ in range(20):
            client = Client(server)
            client.expect("Welcome")
            client.send(b"half a line")
            client.reset()
        for _ in range(20):
            ann.expect("has gone: ")
        # Written to at the moment when they reset.
        crowd = [Client(server) for _ in range(10)]
        for client in crowd:
            client.expect("Welcome")
        ann.say("to all")
        for client in crowd:
            client.reset()
        ann.say("to all of you")
        for _ in range(10):
            ann.expect("has gone: ")
        wait_until(lambda: socket_count(server) == before, "as many sockets as before")
        ann.say("/who")
        ann.expect("* Here: ann\n")
        check(server.end() == 0)


@test
def idleness():
    """who says nothing for the limit is shown out, not before; who talks stays"""
    with Server("--idle", "2") as server, Client(server) as idle, Client(server) as talking:
        talking.expect("Welcome")
        check("guest1 has gone" not in talking.text)
        # Talks all the time, until the other one has gone.
        talking.socket.settimeout(0.02)
        while "guest1 has gone: idle for too long" not in talking.text:
            talking.say("still here")
            try:
                talking.text += talking.socket.recv(65536).decode()
            except TimeoutError:
                pass
        check("* You have said nothing for too long. Goodbye.\n" in idle.expect_end(), lambda: idle.text)
        talking.socket.settimeout(LIMIT)
        check(talking.expect_end().endswith("* You have said nothing for too long. Goodbye.\n"), lambda: talking.text)
        check(server.end() == 0)


@test
def status_line():
    """the status is printed periodically"""
    with Server("--status", "0.1") as server, Client(server, "ann") as ann:
        ann.say("hello")
        server.out.expect("chat: guest1 has come\n")
        server.out.expect("chat: 1 clients, 2 lines so far, 0 bytes waiting\n")
        server.out.wait(lambda text: text.count(" bytes waiting\n") > 3, "more of them")
        check(server.end() == 0)


@test
def full():
    """out of descriptors it turns clients away, does not spin, and takes them again later"""
    limit = 24
    with Server(limits=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))) as server:
        inside, refused = [], None
        while refused is None:
            client = Client(server)
            first = client.socket.recv(1024).decode()
            if "The server is full" in first:
                refused = client
            else:
                check("Welcome" in first, first)
                inside.append(client)
            check(len(inside) < limit, "there was no limit")
        check("guest1 has gone" not in inside[0].text)
        refused.expect_end()
        server.errors.expect("a client was turned away")
        used = processor_seconds(server)
        for _ in range(5):
            with Client(server) as another:
                check("The server is full" in another.expect_end())
        check(processor_seconds(server) - used < 1, "it spins")
        inside.pop().socket.close()
        inside[0].expect("has gone")
        with Client(server) as late:
            late.expect("Welcome")
            check(server.end() == 0)
        for client in inside:
            client.socket.close()


def goodbye_by(number):
    with Server() as server, Client(server, "ann") as ann, Client(server, "bob") as bob:
        ann.say("last words")
        bob.expect("<ann> last words\n")
        check(server.end(number) == 0)
        for client in (ann, bob):
            check(client.expect_end().endswith("* The server shuts down. Goodbye.\n"), lambda: client.text)
    server.out.expect("chat: says goodbye to 2\n")


@test
def goodbye_term():
    """SIGTERM: everybody gets a sentence, and the exit status is 0"""
    goodbye_by(signal.SIGTERM)


@test
def goodbye_interrupt():
    """SIGINT: everybody gets a sentence, and the exit status is 0"""
    goodbye_by(signal.SIGINT)


def fill(ann):
    """Has so much wait for those who do not read that the kernel takes no more."""
    for number in range(1, 3000):
        ann.say("z" * 1000 + f" {number}")
    ann.say("/who")
    ann.expect("* Here:")


@test
def goodbye_drains():
    """at the goodbye what waits is still sent, all of it, to who begins to read"""
    with Server("--output", 50_000_000, "--farewell", LIMIT) as server:
        with Client(server, "ann") as ann, Client(server, "slow", receive_buffer=2048) as slow:
            fill(ann)
            server.kill(signal.SIGTERM)
            server.out.expect("says goodbye to 2\n")
            ann.expect_end()
            said = slow.expect_end()
            check(said.count("<ann> ") == 2999, lambda: f"{said.count('<ann> ')} lines of 2999")
            check(said.endswith("* The server shuts down. Goodbye.\n"), lambda: said[-100:])
            check(server.status() == 0)
            check("did not take it" not in server.out.text, "it gave up")


@test
def goodbye_deadline():
    """the goodbye waits only so long for who does not read, and the exit status is 0"""
    with Server("--output", 50_000_000, "--farewell", "2") as server:
        with Client(server, "ann") as ann, Client(server, "slow", receive_buffer=2048):
            fill(ann)
            check(server.end() == 0)
            check("chat: 1 did not take it\n" in server.out.text, lambda: server.out.text)
            ann.expect_end()


@test
def goodbye_twice():
    """a second signal ends a goodbye that takes long"""
    with Server("--output", 50_000_000, "--farewell", "1000") as server:
        with Client(server, "ann") as ann, Client(server, "slow", receive_buffer=2048):
            fill(ann)
            server.kill(signal.SIGINT)
            server.out.expect("says goodbye to 2\n")
            # What comes soon after the first still belongs to it.
            wait_until(lambda: server.kill(signal.SIGINT) or server.process.poll() is not None, "the end")
            check(server.status() == -signal.SIGINT)


@test
def asleep():
    """with nothing to do it sleeps, also after it had to wait for somebody who reads slowly"""
    with Server("--output", 50_000_000) as server, Client(server, "ann") as ann:
        with Client(server, "slow", receive_buffer=2048) as slow:
            fill(ann)
            slow.expect(" 2999\n")
            ann.say("/who")
            ann.expect("* Here:")
            # A loop that spins is never seen asleep so often in a row.
            wait_until(lambda: all(is_asleep(server) for _ in range(200)), "it to sleep")
            switches = voluntary_switches(server)
            # Each wake-up is a switch. A loop that polled would have hundreds by now.
            ann.socket.settimeout(0.5)
            try:
                ann.expect("whatever")
            except TimeoutError:
                pass
            check(voluntary_switches(server) - switches <= 10, "it wakes without a reason")
            check(server.end() == 0)


def voluntary_switches(server):
    with open(f"/proc/{server.process.pid}/status") as file:
        return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", file.read(), re.M)[1])


@test
def bad_input():
    """a port that is in use, and command lines that make no sense, are refused with a sentence"""
    with Server() as server:
        with Program("chat", server.port) as second:
            check(second.status() == 1)
            check("Somebody else listens on the address" in second.errors.text, lambda: second.errors.text)
        check(server.end() == 0)
    for arguments in (["70000"], ["--idle"], ["--idle", "-1"], ["--nonsense", "1"], ["--output", "none"]):
        with Program("chat", *arguments) as refused:
            check(refused.status() == 2)
            check("usage: chat" in refused.errors.text, lambda: refused.errors.text)


main()
