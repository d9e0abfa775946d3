"""The server with one loop per core, as its clients see it."""

import re
import resource
import signal
import socket
import threading

from harness import LIMIT, Failed, Program, check, main, socket_count, test, wait_until


class Server(Program):
    def __init__(self, *arguments, **options):
        super().__init__("scale-out", *arguments, **options)
        self.out.expect("listens on port ")
        self.port = int(re.search(r"port (\d+)", self.out.text)[1])

    def counters(self):
        """Of each loop, as the server tells now."""
        with Client(self) as client:
            return totals(client.get("/counters"))


def totals(text):
    """Each loop's counters, by their names."""
    found = []
    for line in re.findall(r"^loop \d+: (.*)$", text, re.M):
        found.append({name: int(number) for name, number in re.findall(r"([a-z ]+?) (\d+)(?:, |$)", line)})
    return found


def total(counters, name):
    return sum(loop[name] for loop in counters)


class Client:
    def __init__(self, server):
        self.socket = socket.socket()
        self.socket.settimeout(LIMIT)
        self.socket.connect(("127.0.0.1", server.port))
        self.data = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, text):
        self.socket.sendall(text.encode())

    def read_to(self, mark):
        while mark not in self.data:
            data = self.socket.recv(65536)
            if not data:
                raise Failed(f"the connection ended; there was: {self.data!r}")
            self.data += data
        before, _, self.data = self.data.partition(mark)
        return before.decode()

    def response(self):
        """The status, and the body."""
        head = self.read_to(b"\r\n\r\n")
        length = int(re.search(r"Content-Length: (\d+)", head)[1])
        while len(self.data) < length:
            self.data += self.socket.recv(65536)
        body, self.data = self.data[:length].decode(), self.data[length:]
        return int(head.split()[1]), body

    def get(self, path="/"):
        self.send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
        status, body = self.response()
        check(status == 200, f"the status is {status}")
        return body

    def wait_for_busy(self, count):
        """Until so many requests have begun and are not over, beside the one that asks. Asked by one client all the time: the requests
        of several would overlap, since an answer comes a moment before its request is over."""
        wait_until(lambda: total(totals(self.get("/counters")), "busy") == count + 1, lambda: self.get("/counters"))

    def is_over(self):
        """Reads to the end."""
        try:
            while data := self.socket.recv(65536):
                self.data += data
        except ConnectionResetError:
            pass
        return True


@test
def both_kinds_of_loops_answer():
    """connections are spread over the loops, and none has many more than another"""
    with Server("--loops", 3, "--slack", 2) as server:
        clients = [Client(server) for _ in range(60)]
        answers = {client.get() for client in clients}
        check(answers == {f"Hello from loop {number}.\n" for number in range(3)}, answers)
        counters = totals(clients[0].get("/counters"))
        check(len(counters) == 3 and total(counters, "open") == 60, counters)
        check(total(counters, "accepted") == 60, counters)
        check(total(counters, "handed over") == total(counters, "taken"), counters)
        # A loop counts its own, and reads the others' counters while they change: what two of them do at once may exceed the slack.
        loads = [loop["open"] for loop in counters]
        check(max(loads) - min(loads) <= 2 + 3, loads)
        # A hundred more on each, in no order.
        for client in clients * 5:
            client.get()
        check(total(server.counters(), "requests") >= 361, server.counters())
        for client in clients:
            client.socket.close()
        # The one that asks is there.
        wait_until(lambda: total(server.counters(), "open") == 1, server.counters)
        check(server.end() == 0)
        check(total(totals(server.out.text), "open") == 0, server.out.text)


@test
def hands_over():
    """when the clients of one loop have gone, it gets the next ones from the others"""
    with Server("--loops", 2, "--slack", 0) as server:
        clients = [Client(server) for _ in range(40)]
        homes = [client.get() for client in clients]
        leaving = [client for client, home in zip(clients, homes) if "loop 1" in home]
        check(len(leaving) >= 10, homes)
        for client in leaving:
            client.socket.close()
        staying = 40 - len(leaving)
        wait_until(lambda: total(server.counters(), "open") == staying + 1, server.counters)
        before = server.counters()
        arrived = [Client(server) for _ in range(len(leaving) - 6)]
        check({client.get() for client in arrived} == {"Hello from loop 1.\n"}, "a full loop has kept one")
        after = server.counters()
        # The kernel knows nothing of who is full, so about half of them came to the other loop first.
        handed = after[0]["handed over"] - before[0]["handed over"]
        kept = after[1]["accepted"] - before[1]["accepted"]
        check(handed + kept >= len(arrived) and after[1]["taken"] - before[1]["taken"] >= handed - 2, (before, after))
        check(server.end() == 0)


def is_refused(server):
    try:
        socket.create_connection(("127.0.0.1", server.port), LIMIT).close()
        return False
    except (ConnectionRefusedError, ConnectionResetError):
        return True


@test
def finishes_requests():
    """at the end a request that has begun is answered, an idle client is left at once, and nobody else gets in"""
    with Server("--loops", 2, "--patience", 3600) as server:
        asking, idle, busy = Client(server), Client(server), Client(server)
        idle.get(), busy.get()
        asking.wait_for_busy(0)
        busy.send("GET / HTTP/1.1\r\n")
        asking.wait_for_busy(1)
        server.kill(signal.SIGTERM)
        check(idle.is_over() and not idle.data)
        check(server.process.poll() is None)
        # The loops end one after the other.
        wait_until(lambda: is_refused(server), "nobody to get in")
        busy.send("\r\n")
        status, body = busy.response()
        check(status == 200 and body.startswith("Hello"), body)
        check(busy.is_over() and not busy.data)
        check(server.status() == 0)
        check(total(totals(server.out.text), "requests") > 3, server.out.text)


@test
def patience():
    """a request that never ends is given up when the patience is over"""
    with Server("--loops", 2, "--patience", 1) as server:
        with Client(server) as client, Client(server) as asking:
            client.get()
            asking.wait_for_busy(0)
            client.send("GET / HTTP/1.1\r\n")
            asking.wait_for_busy(1)
            server.kill(signal.SIGTERM)
            check(client.is_over())
            check(server.status() == 0)


@test
def no_http():
    """what is no request gets an answer that says so, and the end of the connection"""
    with Server("--loops", 1) as server:
        for text in ["hello\n", "GET /\r\n", "GET / HTTP/1.1\r\n" + "a: b\r\n" * 101]:
            with Client(server) as client:
                client.send(text)
                check(client.response()[0] == 400)
                check(client.is_over())
        with Client(server) as client:
            client.send("GET /nowhere HTTP/1.1\r\nConnection: close\r\n\r\n")
            check(client.response()[0] == 404)
            check(client.is_over())
        with Client(server) as client:
            client.send("x" * 100_000)
            check(client.is_over())
        check(server.end() == 0)


@test
def leaves_no_descriptor():
    """clients that come and go on all sides, many at once, leave no descriptor and lose no request"""
    with Server("--loops", 4, "--slack", 0) as server:
        server.counters()
        wait_until(lambda: total(server.counters(), "open") == 1, server.counters)
        before = socket_count(server)
        answered = []

        def ask():
            for _ in range(50):
                with Client(server) as client:
                    answered.append(client.get())

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check(len(answered) == 200, f"{len(answered)} answers")
        wait_until(lambda: socket_count(server) <= before, lambda: f"{socket_count(server)} sockets, {before} before")
        check(server.end() == 0)
        counters = totals(server.out.text)
        check(total(counters, "handed over") == total(counters, "taken") > 0, server.out.text)


@test
def no_descriptors():
    """without a descriptor for a hand-over a loop keeps the connection"""
    limits = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    with Server("--loops", 2, "--slack", 0, limits=limits) as server:
        clients = [Client(server) for _ in range(20)]
        for client in clients:
            client.get()
        crowd = [Client(server) for _ in range(60)]
        for client in clients:
            client.get()
        for client in crowd:
            client.socket.close()
        with Client(server) as client:
            check(client.get().startswith("Hello"))
        check(server.end() == 0)


@test
def bad_options():
    """bad options are explained"""
    for arguments in [["--loops", 0], ["--loops"], ["none"], ["--what", 1], ["--slack", "x"]]:
        with Program("scale-out", *arguments) as program:
            check(program.status() == 2 and "usage: scale-out" in program.errors.text, program.errors.text)


main()
