#!/usr/bin/env python3
"""Tests the servers of Examples/Servers with real clients: requests in pieces and many at once, an echo larger than any buffer, clients that
hang up in the middle. `Tests/Examples/servers.py [PROGRAM...]` tests the given programs, or else those that `make servers` builds;
SANITIZE=address builds them with the address and undefined-behaviour sanitizers. Prints "N passed, N failed"."""

import os
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE_S = 60
PROCESS_CPU_TIME = 2  # the kernel's number for the CPU clock of all threads of a process
HELLO = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 14\r\n\r\nHello, world!\n"
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Server:
    """A server process, for the duration of one test."""

    def __init__(self, program, protocol, descriptors=4096):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

        self.process = subprocess.Popen([program, protocol], stdout=subprocess.PIPE, text=True, preexec_fn=limit)
        self.port = int(self.process.stdout.readline().removeprefix("port="))

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE_S)
        self.process.stdout.close()
        assert kind or status == 0, f"the server ended with {status}"

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE_S)

    def cpu_time_s(self):
        return time.clock_gettime((~self.process.pid << 3) | PROCESS_CPU_TIME)

    def socket_count(self):
        """Other descriptors, such as a timer's, the loop may open at any time for itself."""
        folder = f"/proc/{self.process.pid}/fd"
        count = 0
        for name in os.listdir(folder):
            try:
                count += os.readlink(f"{folder}/{name}").startswith("socket:")
            except FileNotFoundError:
                pass
        return count

    def wait_for_sockets(self, most):
        """The loop closes connections when it serves them, so this has to wait."""
        end = time.monotonic() + PATIENCE_S
        while self.socket_count() > most:
            assert time.monotonic() < end, f"{self.socket_count()} sockets are open, not {most}"
            time.sleep(0.01)


def receive(connection, count):
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        assert more, f"the server hung up after {len(data)} of {count} bytes"
        data += more
    return data


def receive_all(connection):
    parts = []
    while more := connection.recv(65536):
        parts.append(more)
    return b"".join(parts)


def reset(connection):
    """Hangs up at once: bytes under way are lost, and the other side gets an error."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def exchange(server, sent):
    """The bytes that arrive until the server hangs up."""
    with server.connect() as connection:
        connection.sendall(sent)
        return receive_all(connection)


# The name of each test is a sentence about behaviour.


def echo_sends_back_what_came_in_pieces_and_at_once(program):
    with Server(program, "echo") as server, server.connect() as connection:
        for piece in [b"a", b"bc", b"d" * 1000, bytes(range(256))]:
            connection.sendall(piece)
            assert receive(connection, len(piece)) == piece
        connection.sendall(b"last")
        connection.shutdown(socket.SHUT_WR)
        assert receive_all(connection) == b"last"


def echo_of_a_client_that_does_not_read_waits_and_is_whole(program):
    data = b"".join(number.to_bytes(4, "big") for number in range(4 << 20))
    with Server(program, "echo") as server, server.connect() as connection:
        connection.setblocking(False)
        sent = received = 0
        # At first the client reads nothing: the server's buffers fill, and the server stops reading as well.
        while select.select([], [connection], [], 0.2)[1]:
            sent += connection.send(data[sent : sent + 65536])
        assert 0 < sent < len(data), "nothing held the client back"
        cpu_s = server.cpu_time_s()
        time.sleep(0.3)
        assert server.cpu_time_s() - cpu_s < 0.1, "the server is busy with waiting"
        while received < len(data):
            readable, writable, _ = select.select([connection], [connection] if sent < len(data) else [], [], PATIENCE_S)
            assert readable or writable, f"nothing moves after {received} of {len(data)} bytes"
            if writable:
                sent += connection.send(data[sent : sent + 65536])
            if readable:
                piece = connection.recv(65536)
                assert piece and piece == data[received : received + len(piece)], f"wrong after {received} bytes"
                received += len(piece)


def a_client_that_hangs_up_in_the_middle_takes_nothing_along(program):
    with Server(program, "echo") as server, server.connect() as other:
        receive_one(other)
        open_before = server.socket_count()
        for _ in range(50):
            connection = server.connect()
            connection.setblocking(False)
            try:
                while True:
                    connection.send(b"x" * 65536)
            except BlockingIOError:
                reset(connection)
        server.wait_for_sockets(open_before)
        receive_one(other)


def receive_one(connection):
    connection.sendall(b"still there?")
    assert receive(connection, 12) == b"still there?"


def three_hundred_clients_are_served_side_by_side(program):
    with Server(program, "echo") as server:
        clients = [server.connect() for _ in range(300)]
        for turn in range(3):
            for number, client in enumerate(clients):
                client.sendall(f"{turn}:{number:04}".encode())
            for number, client in enumerate(clients):
                assert receive(client, 6) == f"{turn}:{number:04}".encode()
        for client in clients:
            client.close()
        server.wait_for_sockets(20)


def without_descriptors_clients_are_refused_and_later_ones_served(program):
    with Server(program, "echo", descriptors=40) as server:
        clients = [server.connect() for _ in range(80)]
        refused = [client for client in clients if is_refused(client)]
        assert 20 < len(refused) < 80, f"{len(refused)} of 80 were refused"
        for client in clients:
            client.close()
        server.wait_for_sockets(20)
        with server.connect() as connection:
            receive_one(connection)


def is_refused(client):
    try:
        client.sendall(b"x")
        return client.recv(1) == b""
    except ConnectionError:
        return True


def http_answers_a_request_that_comes_byte_by_byte(program):
    with Server(program, "http") as server, server.connect() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(2):
            for byte in GET:
                connection.sendall(bytes([byte]))
            assert receive(connection, len(HELLO)) == HELLO


def http_answers_many_requests_that_come_at_once(program):
    with Server(program, "http") as server, server.connect() as connection:
        whole = GET * 2000
        for start in range(0, len(whole), 7777):  # cut anywhere
            connection.sendall(whole[start : start + 7777])
        assert receive(connection, 2000 * len(HELLO)) == 2000 * HELLO


def http_head_has_no_body_and_the_connection_stays(program):
    with Server(program, "http") as server, server.connect() as connection:
        connection.sendall(b"HEAD / HTTP/1.1\r\n\r\n" + GET)
        expected = HELLO.removesuffix(b"Hello, world!\n") + HELLO
        assert receive(connection, len(expected)) == expected


def http_hangs_up_when_the_client_asks_for_it_and_ignores_what_follows(program):
    with Server(program, "http") as server:
        for request in [b"GET / HTTP/1.1\r\nconnection:  Close \r\n\r\n", b"GET / HTTP/1.0\r\n\r\n"]:
            answer = exchange(server, request + GET)
            assert answer.startswith(b"HTTP/1.1 200 ") and answer.count(b"HTTP/1.1") == 1, answer
            assert b"Connection: close\r\n" in answer and answer.endswith(b"\r\n\r\nHello, world!\n"), answer
        with server.connect() as connection:
            connection.sendall(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" * 2)
            assert receive(connection, 2 * len(HELLO)) == 2 * HELLO


def http_refuses_what_it_does_not_understand(program):
    refusals = {
        b"nonsense\r\n\r\n": 400, b"GET / HTTP/2.0\r\n\r\n": 400, b"GET  HTTP/1.1\r\n\r\n": 400, b"POST / HTTP/1.1\r\n\r\n": 501,
        b"GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello": 501, b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n": 501,
        b"GET / HTTP/1.1\r\nX: " + b"x" * 100000: 431,
    }
    with Server(program, "http") as server:
        for request, status in refusals.items():
            answer = exchange(server, request + GET)
            assert answer.startswith(f"HTTP/1.1 {status} ".encode()) and answer.count(b"HTTP/1.1") == 1, (request[:40], answer)


def http_outlives_clients_that_hang_up_in_a_request_or_an_answer(program):
    with Server(program, "http") as server, server.connect() as other:
        other.sendall(GET)
        assert receive(other, len(HELLO)) == HELLO
        open_before = server.socket_count()
        for _ in range(50):
            connection = server.connect()
            connection.sendall(GET * 20 + GET[:10])
            reset(connection)
        server.connect().close()
        server.wait_for_sockets(open_before)
        with server.connect() as connection:
            connection.sendall(GET)
            assert receive(connection, len(HELLO)) == HELLO


TESTS = [
    echo_sends_back_what_came_in_pieces_and_at_once,
    echo_of_a_client_that_does_not_read_waits_and_is_whole,
    a_client_that_hangs_up_in_the_middle_takes_nothing_along,
    three_hundred_clients_are_served_side_by_side,
    without_descriptors_clients_are_refused_and_later_ones_served,
    http_answers_a_request_that_comes_byte_by_byte,
    http_answers_many_requests_that_come_at_once,
    http_head_has_no_body_and_the_connection_stays,
    http_hangs_up_when_the_client_asks_for_it_and_ignores_what_follows,
    http_refuses_what_it_does_not_understand,
    http_outlives_clients_that_hang_up_in_a_request_or_an_answer,
]


def built():
    sanitizer = os.environ.get("SANITIZE", "")
    compiler = os.environ.get("CC") or ("cc" if shutil.which("cc") else "clang")
    make = ["make", "-s", "servers", f"CC={compiler}", f"SANITIZE={sanitizer}"]
    subprocess.run(make, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    flavour = compiler.replace("/", "_") + (f"-{sanitizer}" if sanitizer else "")
    return [str(ROOT / os.environ.get("BUILD", "build") / flavour / "server")]


def main():
    passed = failed = 0
    for program in sys.argv[1:] or built():
        for test in TESTS:
            try:
                test(program)
                passed += 1
            except (AssertionError, OSError, ValueError, subprocess.TimeoutExpired) as problem:
                failed += 1
                print(f"FAIL {Path(program).name}: {test.__name__.replace('_', ' ')}: {problem!r}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
