"""asyncio beside the run loop, for as many seconds as the argument says: coroutines post, signal, run modes and come and go with timers
and observers, other threads post to both and observe, a signal's handler does so at any instant, and a socket is echoed. What is lost
is waited for in vain."""

import asyncio
import random
import signal
import sys
import threading
import time

import runloop
import runloop.aio
from runloop import Activity, Loop, Observer, Source, Timer

LONG = 60
end = time.monotonic() + float(sys.argv[1])
counts = dict.fromkeys(["post", "perform", "source", "timer", "observer", "run", "threads", "echo", "signals"], 0)


def from_another_thread(run_loop, event_loop):
    while time.monotonic() < end:
        for post in run_loop.post, event_loop.call_soon_threadsafe:
            called = threading.Event()
            post(called.set)
            assert called.wait(LONG), f"{post} was lost"
        if random.random() < 0.1:
            called = threading.Event()
            with Observer(Activity.ALL, lambda now: called.set()) as observer:
                run_loop.add(observer)
                run_loop.post(lambda: None)
                assert called.wait(LONG), "an observer was not notified"
        counts["threads"] += 1


async def use(run_loop, way):
    called = asyncio.Event()
    source = Source(called.set)
    if way == "post":
        run_loop.post(called.set)
    elif way == "perform":
        run_loop.perform(called.set)
    elif way == "source":
        run_loop.add(source).signal()
    elif way == "timer":
        run_loop.add(Timer(random.random() * 0.002, called.set))
    elif way == "observer":
        run_loop.add(Observer(Activity.BEFORE_WAITING, lambda now: called.set(), repeats=False))
    else:
        run_loop.add(Timer(0.0002, called.set), "modal")
        runloop.run("modal", 0.01)
    if way != "run":
        await asyncio.wait_for(called.wait(), LONG)
    source.invalidate()
    counts[way] += 1


async def use_all(run_loop):
    while time.monotonic() < end:
        await use(run_loop, random.choice(["post", "perform", "source", "timer", "observer", "run"]))
        if random.random() < 0.3:
            await asyncio.sleep(random.choice([0, 0.0005]))


async def echo(reader, writer):
    while data := await reader.read(10):
        writer.write(data)
    writer.close()


async def send(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.monotonic() < end:
        writer.write(b"x")
        await asyncio.wait_for(reader.read(1), LONG)
        counts["echo"] += 1
    writer.close()


async def main():
    run_loop, event_loop = Loop.current(), asyncio.get_running_loop()
    marked = run_loop.add(Source(lambda: None))

    def handle(number, frame):
        counts["signals"] += 1
        marked.signal() if random.random() < 0.5 else run_loop.post(lambda: None)

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    threads = [threading.Thread(target=from_another_thread, args=(run_loop, event_loop)) for _ in range(2)]
    for thread in threads:
        thread.start()
    signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.003)
    await asyncio.gather(*(use_all(run_loop) for _ in range(3)), send(server.sockets[0].getsockname()[1]))
    signal.setitimer(signal.ITIMER_REAL, 0)
    for thread in threads:
        await event_loop.run_in_executor(None, thread.join)
    server.close()


with asyncio.Runner(loop_factory=runloop.aio.EventLoop) as runner:
    runner.run(main())
print(", ".join(f"{name} {count}" for name, count in counts.items()))
assert all(counts.values())
