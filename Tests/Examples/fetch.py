"""The program that fetches files, against a server in this process."""

import os
import socket
import threading

from harness import LIMIT, Program, check, main, test

# A machine may lack the file that knows the name.
try:
    HOST = socket.getaddrinfo("localhost", None) and "localhost"
except socket.gaierror:
    HOST = "127.0.0.1"
CONTENT = bytes(range(256)) * 4000


class Server:
    """Answers each connection with the next of the answers, which are functions of the request and the connection."""

    def __init__(self, *answers):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.requests = []
        threading.Thread(target=self.serve, args=(answers,), daemon=True).start()

    def serve(self, answers):
        for answer in answers:
            client, _ = self.socket.accept()
            client.settimeout(LIMIT)
            request = b""
            while b"\r\n\r\n" not in request:
                request += client.recv(4096)
            self.requests.append(request.decode())
            with client:
                answer(client)

    def address(self, path="/file"):
        return f"http://{HOST}:{self.port}{path}"


def whole(client):
    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(CONTENT) + CONTENT)


def first_part(client):
    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(CONTENT) + CONTENT[:300_000])


def rest(client):
    part = CONTENT[300_000:]
    client.sendall(
        b"HTTP/1.1 206 Partial Content\r\ncontent-range: bytes 300000-%d/%d\r\ncontent-length: %d\r\n\r\n"
        % (len(CONTENT) - 1, len(CONTENT), len(part)) + part)


def nothing_left(client):
    client.sendall(b"HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */%d\r\nContent-Length: 0\r\n\r\n" % len(CONTENT))


def without_length(client):
    client.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + CONTENT)


def absent(client):
    client.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")


def content_of(path):
    with open(path, "rb") as file:
        return file.read()


def fetch(server, path, status, *words, source=None):
    with Program("fetch", source or server.address(), path) as program:
        check(program.status() == status, lambda: f"status {program.process.returncode}")
        for word in words:
            check(word in program.out.text + program.errors.text, lambda: f"{word!r} is missing in {program.out.text}{program.errors.text}")


@test
def fetches(folder):
    """a file comes whole, and in a pipe without a line for each part"""
    path, server = os.path.join(folder, "file"), Server(whole)
    fetch(server, path, 0, f"connected to 127.0.0.1:{server.port}", f"{path} is complete: {len(CONTENT)} bytes")
    check(content_of(path) == CONTENT)
    check(server.requests[0].startswith(f"GET /file HTTP/1.1\r\nHost: {HOST}:{server.port}\r\n"), server.requests[0])
    check("Range" not in server.requests[0])


@test
def draws(folder):
    """on a terminal progress is a bar in one line"""
    path, server = os.path.join(folder, "file"), Server(whole)
    leader, follower = os.openpty()
    with Program("fetch", server.address(), path, stdout=follower) as program:
        os.close(follower)
        text = b""
        try:
            while part := os.read(leader, 65536):
                text += part
        except OSError:  # the terminal's end
            pass
        check(program.status() == 0)
    os.close(leader)
    check(f"\r{len(CONTENT)} of {len(CONTENT)} bytes |{40 * '#'}|\r\n".encode() in text, repr(text[-300:]))
    check(content_of(path) == CONTENT)


@test
def resumes(folder):
    """an interrupted fetch goes on from where it was, and one that is complete is not repeated"""
    path, server = os.path.join(folder, "file"), Server(first_part, rest, nothing_left)
    fetch(server, path, 1, f"interrupted after 300000 of {len(CONTENT)} bytes")
    check(content_of(path) == CONTENT[:300_000])
    fetch(server, path, 0, "goes on after 300000 bytes", "is complete")
    check("\r\nRange: bytes=300000-\r\n" in server.requests[1], server.requests[1])
    check(content_of(path) == CONTENT)
    fetch(server, path, 0, "is complete already")
    check(content_of(path) == CONTENT)


@test
def begins_again(folder):
    """a server without ranges sends everything again, unless it is there already"""
    path, server = os.path.join(folder, "file"), Server(first_part, whole, whole)
    fetch(server, path, 1, "interrupted")
    fetch(server, path, 0, "is complete")
    check(content_of(path) == CONTENT)
    fetch(server, path, 0, "is complete already")
    check(content_of(path) == CONTENT)


@test
def has_no_length(folder):
    """without a length the file ends with the connection"""
    path, server = os.path.join(folder, "file"), Server(without_length)
    fetch(server, path, 0, f"{len(CONTENT)} bytes")
    check(content_of(path) == CONTENT)


@test
def complains(folder):
    """what goes wrong is said in words, and leaves no file behind"""
    path, server = os.path.join(folder, "file"), Server(absent)
    fetch(server, path, 1, "status 404")
    check(not os.path.exists(path))
    server.socket.close()
    # Each address of a name is printed with its error; an address alone is printed once.
    refused = [f"connect to {HOST}:{server.port} (", f"127.0.0.1:{server.port}: Connection refused"] if HOST == "localhost" else []
    fetch(server, path, 1, f"connect to {HOST}:{server.port}", "Nobody listens there.", *refused)
    # Where no file knows localhost, nothing may know whether there is a name.
    fetch(server, path, 1, "There is no such name" if HOST == "localhost" else "no.such_name!", source="http://no.such_name!/")
    fetch(server, path, 2, "usage", source="ftp://localhost/")
    check(not os.path.exists(path))


main()
