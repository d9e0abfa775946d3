"""A workload of `measure`: workloads.py NAME runloop|asyncio COUNT. Prints nanoseconds of CPU time per operation, and ends with 77 if a
library is missing."""

import asyncio
import os
import select
import socket
import sys
import time


def factory(name):
    if name == "asyncio":
        return asyncio.SelectorEventLoop
    import runloop.aio

    return runloop.aio.EventLoop


async def ready(count):
    loop, pairs, got = asyncio.get_running_loop(), [socket.socketpair() for _ in range(100)], 0

    def read(end):
        nonlocal got
        end.recv(16)
        got += 1

    for read_end, _ in pairs:
        read_end.setblocking(False)
        loop.add_reader(read_end, read, read_end)
    for _ in range(count):
        for _, write_end in pairs:
            write_end.send(b"x")
        wanted = got + len(pairs)
        while got < wanted:
            await asyncio.sleep(0)
    for read_end, write_end in pairs:
        loop.remove_reader(read_end)
        read_end.close(), write_end.close()


async def echo(count):
    ended = asyncio.Event()

    async def serve(reader, writer):
        while data := await reader.read(64):
            writer.write(data)
        writer.close()
        ended.set()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        for _ in range(count):
            writer.write(b"x")
            await reader.read(64)
        writer.close()
        await ended.wait()


async def sleep0(count):
    for _ in range(count):
        await asyncio.sleep(0)


async def beside(count):
    if "runloop" not in sys.modules:
        return await sleep0(count)
    import runloop

    with runloop.Loop.current().add(runloop.Timer(3600, print)), runloop.Loop.current().add(runloop.Source(print)):
        await sleep0(count)


async def call_soon(count):
    loop, done = asyncio.get_running_loop(), asyncio.Event()
    for left in range(count, 0, -1):
        loop.call_soon(done.set if left == 1 else int)
        if left % 100 == 0:
            await asyncio.sleep(0)
    await done.wait()


async def timers(count):
    for _ in range(count // 10):
        await asyncio.gather(*(asyncio.sleep(0.0001) for _ in range(10)))


async def timer_set(count):
    loop = asyncio.get_running_loop()
    for each in range(count):
        loop.call_later(3600, print).cancel()
        if each % 100 == 0:
            await asyncio.sleep(0)


def measured(workload, make_loop, count):
    loop = make_loop()
    loop.run_until_complete(workload(20))  # Imports, caches, the first allocations.
    start = time.process_time_ns()
    loop.run_until_complete(workload(count))
    spent = time.process_time_ns() - start
    loop.close()
    return spent / count


async def serve_aiohttp(listener):
    from aiohttp import web

    async def hello(request):
        return web.Response(text="hello")

    application = web.Application()
    application.router.add_get("/", hello)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.SockSite(runner, listener).start()
    await asyncio.Event().wait()


async def serve_uvicorn(listener):
    import uvicorn

    async def hello(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
        await send({"type": "http.response.body", "body": b"hello"})

    config = uvicorn.Config(hello, lifespan="off", log_level="error", access_log=False, http="httptools")
    await uvicorn.Server(config).serve([listener])


def cpu_ns(process):
    with open(f"/proc/{process}/schedstat") as file:
        return int(file.read().split()[0])


def load(address, count, connections=64):
    """Each connection has one request under way."""
    poll, by_descriptor, left, answered = select.epoll(), {}, count, 0
    for _ in range(connections):
        connection = socket.create_connection(address)
        by_descriptor[connection.fileno()] = connection
        poll.register(connection, select.EPOLLIN)
    request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for connection in by_descriptor.values():
        connection.sendall(request)
        left -= 1
    received = dict.fromkeys(by_descriptor, b"")
    while answered < count:
        for descriptor, _ in poll.poll():
            data = by_descriptor[descriptor].recv(65536)
            if not data:
                raise ConnectionError("the server has ended a connection")
            received[descriptor] += data
            if received[descriptor].endswith(b"hello"):
                received[descriptor] = b""
                answered += 1
                if left > 0:
                    left -= 1
                    by_descriptor[descriptor].sendall(request)
    for connection in by_descriptor.values():
        connection.close()


def served(serve, library, make_loop, count):
    """The CPU time of the server, which is a process of its own with one thread."""
    try:
        __import__(library)
    except ModuleNotFoundError:
        sys.exit(77)
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    server = os.fork()
    if server == 0:
        make_loop().run_until_complete(serve(listener))
        os._exit(1)
    try:
        load(listener.getsockname(), 256)
        start = cpu_ns(server)
        load(listener.getsockname(), count)
        return (cpu_ns(server) - start) / count
    finally:
        os.kill(server, 9)
        os.waitpid(server, 0)


def main(name, loop, count):
    if name in ("aiohttp", "uvicorn"):
        print(served(globals()[f"serve_{name}"], name, factory(loop), int(count)))
    else:
        print(measured(globals()[name.replace("-", "_")], factory(loop), int(count)))


main(*sys.argv[1:])
