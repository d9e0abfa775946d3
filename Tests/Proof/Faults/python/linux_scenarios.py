"""What runloop.linux has, in coroutines of asyncio's event loop."""

import asyncio
import os
import shutil
import signal
import socket
import tempfile

from asyncio_scenarios import asynchronous
from faults import expect, own
from runloop.linux import PIPE, Changes, ChangeKind, Child, Listener, Reader, Scope, Signals, Stream, Writer, connect, connect_unix


def within(awaitable):
    return asyncio.wait_for(awaitable, 3)


@asynchronous
async def a_signal():
    async with Signals(signal.SIGUSR2, force=True) as signals:
        with own():
            signal.raise_signal(signal.SIGUSR2)
        arrival = await within(signals.next())
        expect(arrival.number == signal.SIGUSR2 and arrival.count == 1)


@asynchronous
async def a_child():
    async with Child(["/bin/cat"], stdin=PIPE, stdout=PIPE) as child:
        await within(child.stdin.write(b"hello\n"))
        await within(child.stdin.close())
        expect(await within(child.stdout.read()) == b"hello\n")
        end = await within(child.wait())
        if end.status is None:  # So a failure to ask for it is reported.
            raise ChildProcessError(10, "the end is not known")
        expect(end.status == 0)


@asynchronous
async def a_child_that_is_ended():
    child = Child(["/bin/sleep", "60"])
    try:
        async with child:
            pass
    except OSError:
        with own():
            os.kill(child.pid, signal.SIGKILL)
            await within(child.wait())
        raise
    if child.exit.status is None:
        raise ChildProcessError(10, "the end is not known")
    expect(child.exit.status == -signal.SIGTERM)


@asynchronous
async def watched_changes():
    with own():
        folder = tempfile.mkdtemp()
        os.mkdir(f"{folder}/inner")
    try:
        async with Changes(folder, Scope.TREE) as changes:
            with own():
                open(f"{folder}/inner/news", "w").close()
            for change in await within(changes.next()):
                if change.kind == ChangeKind.FAILED:
                    raise OSError(change.error, "the watch has failed")
    finally:
        with own():
            shutil.rmtree(folder)


@asynchronous
async def lines_of_a_pipe():
    with own():
        ends = os.pipe()
    reader, writer = None, None
    try:
        reader = Reader(ends[0])
        writer = Writer(ends[1])
    except BaseException:
        # An end that was given away is closed, and the other one is still ours.
        with own():
            if reader:
                reader.invalidate()
            else:
                os.close(ends[1])
        raise
    await within(writer.write(b"one\ntwo\n"))
    expect(await within(reader.readline()) == b"one\n")
    await within(writer.close())
    expect([line async for line in reader] == [b"two\n"])


@asynchronous
async def a_stream():
    with own():
        near, far = socket.socketpair()
    with far:
        async with Stream(near, idle=60) as stream:
            await within(stream.writer.write(b"hello"))
            await within(stream.writer.flush())
            with own():
                expect(far.recv(10) == b"hello")
                far.send(b"answer")
            expect(await within(stream.reader.readexactly(6)) == b"answer")


async def exchange(listener, connecting):
    """A byte from a connection to the listener's stream."""
    async def serve():
        async with await listener.accept() as stream:
            return await stream.reader.read(1)

    serving = asyncio.ensure_future(serve())
    try:
        async with connecting() as stream:
            await within(stream.writer.write(b"a"))
            expect(await within(serving) == b"a")
    finally:
        serving.cancel()


@asynchronous
async def a_connection():
    async with Listener.tcp("127.0.0.1", 0) as listener:
        with own(), socket.socket(fileno=os.dup(listener.fileno())) as copy:
            port = copy.getsockname()[1]
        await exchange(listener, lambda: connect("127.0.0.1", port, within=2))


@asynchronous
async def a_unix_connection():
    path = f"/tmp/runloop-faults-{os.getpid()}"
    try:
        async with Listener.unix(path) as listener:
            await exchange(listener, lambda: connect_unix(path, within=2))
    finally:
        with own():
            if os.path.exists(path):
                os.unlink(path)
