"""The client of HTTP/1.1, against a server in this process."""

import socket
import threading
import time

from harness import LIMIT, Program, check, main, test

# A machine may lack the file that knows the name.
try:
    HOST = socket.getaddrinfo("localhost", None) and "localhost"
except socket.gaierror:
    HOST = "127.0.0.1"


class Server:
    """Each of the connections gives the answers of one list, one for each request; an answer is bytes, or a function of the connection."""

    def __init__(self, *connections):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.requests = []
        threading.Thread(target=self.serve, args=(connections,), daemon=True).start()

    def serve(self, connections):
        for number, answers in enumerate(connections):
            client, _ = self.socket.accept()
            client.settimeout(LIMIT)
            with client:
                for answer in answers:
                    request = b""
                    while b"\r\n\r\n" not in request:
                        request += client.recv(4096)
                    self.requests.append((number, request.decode()))
                    answer(client) if callable(answer) else client.sendall(answer)


def get(server, status, *paths, limit=LIMIT):
    with Program("get", limit, f"{HOST}:{server.port}", *paths) as program:
        check(program.status() == status, lambda: f"status {program.process.returncode}: {program.errors.text}")
        return program.out.text, program.errors.text


LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nfirst\n"
CHUNKS = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3;x=y\r\nsec\r\n4\r\nond\n\r\n0\r\nTrailer: x\r\n\r\n"
END = b"HTTP/1.1 404 Not Found\r\n\r\nthird\n"


@test
def kept():
    """requests go over one connection as long as the server keeps it, whatever says where a body ends"""
    server = Server([LENGTH, CHUNKS, END], [b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"], [LENGTH])
    out, errors = get(server, 0, "/1", "/2", "/3", "/4", "/5")
    check(out == "first\nsecond\nthird\nfirst\n", out)
    check("/2: status 200, 7 bytes\n/3: status 404, 6 bytes\n/4: status 204, 0 bytes\n" in errors, errors)
    check([number for number, _ in server.requests] == [0, 0, 0, 1, 2], str(server.requests))
    check(server.requests[1][1].startswith(f"GET /2 HTTP/1.1\r\nHost: {HOST}:{server.port}\r\n"), server.requests[1][1])


@test
def ended():
    """a connection that the server has ended between two requests is made again"""
    server = Server([LENGTH], [CHUNKS])
    check(get(server, 0, "/1", "/2")[0] == "first\nsecond\n")


@test
def slow():
    """a server that sends a line now and then is given up at the deadline of the request, and not before"""

    def drip(client):
        client.sendall(b"HTTP/1.1 200 OK\r\n")
        try:
            while True:
                client.sendall(b"A: b\r\n")
                time.sleep(0.02)
        except OSError:
            pass

    begun = time.monotonic()
    check("get: " in get(Server([LENGTH, drip]), 1, "/1", "/2", limit=0.5)[1])
    check(time.monotonic() - begun >= 0.5)


@test
def complains():
    """what goes wrong is said in words"""
    check("ended after 3 of 6 bytes" in get(Server([LENGTH[:-3]]), 1, "/")[1])
    check("does not answer by HTTP/1.1" in get(Server([b"hello\r\n\r\n"]), 1, "/")[1])
    check("in place of a size" in get(Server([CHUNKS.replace(b"3;", b"z;")]), 1, "/")[1])
    server = Server()
    server.socket.close()
    check("Nobody listens there." in get(server, 1, "/")[1])
    check("usage" in get(server, 2)[1])


main()
