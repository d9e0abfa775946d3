"""asyncio's event loop on the run loop."""

import asyncio
import socket
import threading

import runloop
from faults import expect, lib, own, scenario
from runloop import Activity, Loop, Observer, Source, Timer
from runloop.aio import EventLoop


async def until(condition):
    """For three seconds at most."""
    end = asyncio.get_running_loop().time() + 3
    while not condition() and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(0.002)


def run(main):
    """Runs the coroutine. What asyncio tells its exception handler ends it, and is raised."""
    told = []

    async def begin():
        task = asyncio.current_task()
        note = lambda loop, context: (told.append(context), task.cancel())
        asyncio.get_running_loop().set_exception_handler(note)
        await main()

    lib.begin_faults()
    try:
        with asyncio.Runner(loop_factory=EventLoop) as runner:
            runner.run(begin())
    except asyncio.CancelledError:
        expect(told)
    for context in told:
        raise context.get("exception") or RuntimeError(context["message"])


def asynchronous(main):
    """A scenario that is a coroutine."""
    def function():
        run(main)

    function.__name__ = main.__name__
    return scenario(function)


@asynchronous
async def call_later():
    loop, order = asyncio.get_running_loop(), []
    begin = loop.time()  # Not after the first delay has begun, however long the calls take.
    loop.call_later(0.002, order.append, 3)
    loop.call_at(begin + 0.001, order.append, 2)
    loop.call_soon(order.append, 1)
    await until(lambda: len(order) == 3)
    expect(order == [1, 2, 3])


@asynchronous
async def add_reader_and_writer():
    loop, got = asyncio.get_running_loop(), []
    with own():
        near, far = socket.socketpair()
    with near, far:
        loop.add_writer(near.fileno(), lambda: (got.append("writable"), loop.remove_writer(near.fileno())))
        await until(lambda: got)
        loop.add_reader(far.fileno(), lambda: (got.append("readable"), loop.remove_reader(far.fileno())))
        with own():
            near.send(b"a")
        await until(lambda: len(got) == 2)
        expect(got == ["writable", "readable"])


@asynchronous
async def items_beside_asyncio():
    loop, got = Loop.current(), []
    with Timer.every(0.001, lambda: got.append("timer")) as timer, Source(lambda: got.append("source")) as source:
        loop.add(timer)
        loop.add(source)
        await until(lambda: got)
        source.signal()
        loop.post(lambda: got.append("post"))
        await until(lambda: "source" in got and "post" in got)
        expect({"timer", "source", "post"} == set(got))


@asynchronous
async def an_observed_mode():
    loop, got = Loop.current(), []
    with Observer(Activity.BEFORE_WAITING | Activity.EXIT, got.append) as observer:
        loop.add(observer)
        await asyncio.sleep(0.002)
        await asyncio.sleep(0)
        await until(lambda: Activity.EXIT in got)
        expect(Activity.EXIT in got)


@asynchronous
async def a_nested_run_in_a_coroutine():
    loop, got = Loop.current(), []
    with Timer(0.001, lambda: got.append("timer")) as timer:
        loop.add(timer, "nested")
        expect(runloop.run("nested", 3) == runloop.Result.FINISHED)
        await asyncio.sleep(0.001)
        expect(got == ["timer"])


@asynchronous
async def a_stop_of_the_run_loop():
    got = []
    asyncio.get_running_loop().call_later(0.002, got.append, 1)
    Loop.current().stop_latched()
    Loop.current().stop()
    await until(lambda: got)
    expect(got == [1])


@asynchronous
async def call_soon_threadsafe():
    loop, got = asyncio.get_running_loop(), []
    thread = threading.Thread(target=lambda: loop.call_soon_threadsafe(got.append, 1))
    with own():
        thread.start()
    try:
        await until(lambda: got)
    finally:
        with own():
            thread.join()
    expect(got == [1])


@asynchronous
async def a_server_with_one_connection():
    async def shout(reader, writer):
        try:
            line = await reader.readline()
            writer.write(line.upper())
            await writer.drain()
        except OSError:
            pass  # The client is notified that the connection has ended.
        finally:
            writer.close()

    # asyncio says of connections that it can't serve in this mode alone, and of addresses without a socket in none.
    asyncio.get_running_loop().set_debug(True)
    with own():
        listening = socket.create_server(("127.0.0.1", 0))
    async with await asyncio.start_server(shout, sock=listening):
        reader, writer = await asyncio.open_connection(*listening.getsockname())
        try:
            writer.write(b"hello\n")
            await writer.drain()
            answer = await asyncio.wait_for(reader.readline(), 3)
        finally:
            writer.close()
        if not answer:
            raise ConnectionResetError(104, "the server's end is closed")
        expect(answer == b"HELLO\n")


@asynchronous
async def a_subprocess():
    # Without pipes: asyncio's transport waits for ever for one that its event loop could not add.
    process = await asyncio.create_subprocess_exec("/bin/sh", "-c", "exit 3")
    # A byte that a thread can't write to asyncio's descriptor is not told: so nobody sleeps for long here.
    end = asyncio.ensure_future(process.wait())
    await until(end.done)
    expect(end.done() and end.result() == 3)
