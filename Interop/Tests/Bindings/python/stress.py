"""Threads with loops that come and go, others that post, move, stop and end what is in them, and signals, for as many seconds as
the argument says. In the end every post was called or freed, and nothing is kept for the C library."""

import gc
import os
import random
import signal
import sys
import threading
import time
import weakref

import runloop
from runloop import Activity, DescriptorSource, Loop, Observer, Readiness, Source, Timer
from runloop import _core

end = time.monotonic() + float(sys.argv[1])
loops = [Loop.current()]
interrupts = 0


class Post:
    """What is posted. The numbers are for people: threads may lose some."""

    alive = weakref.WeakSet()
    made = called = 0

    def __init__(self):
        self.alive.add(self)
        Post.made += 1

    def __call__(self):
        Post.called += 1


def live():
    """One of everything, a run with nested ones, and the end of the thread."""
    with Loop.current() as loop:
        loops[len(loops) % 5 :] = [loop]
        read_end, write_end = os.pipe()

        def write():
            os.write(write_end, b"x")
            marked.signal()

        def nest():
            runloop.run("inner", 0.0005)
            if random.random() < 0.1:
                raise LookupError

        def ready(now):
            os.read(read_end, 64)
            reader.events = Readiness.NONE

        reader = DescriptorSource(read_end, Readiness.READABLE, ready)
        marked = Source(lambda: setattr(reader, "events", Readiness.READABLE))
        watch = Observer(Activity.ALL, lambda now: None)
        with reader, marked, watch, Timer.every(0.0002, write) as writer, Timer.every(0.001, nest) as nester:
            for mode in runloop.DEFAULT_MODE, "inner":
                for item in reader, marked, writer, watch:
                    loop.add(item, mode)
            loop.add(nester)
            try:
                runloop.run(limit=random.random() / 50)
            except LookupError:
                pass
        os.close(read_end), os.close(write_end)


def disturb():
    while time.monotonic() < end:
        loop = random.choice(loops)
        try:
            loop.post(Post(), random.choice([runloop.DEFAULT_MODE, "inner"]))
            late = loop.add(Timer(3600, Post()))
            late.fire_date = runloop.now() + 0.0001
            if random.random() < 0.1:
                loop.stop()
            late.invalidate()
            if random.random() < 0.1:  # Now and then the loop catches up, if it still serves anything.
                caught_up = threading.Event()
                loop.post(caught_up.set)
                caught_up.wait(0.001)
        except OSError:
            pass  # The loop has ended.


def interrupt(number, frame):
    global interrupts
    interrupts += 1
    if interrupts % 8 == 0:
        loops[0].stop()


def main():
    others = [threading.Thread(target=disturb) for _ in range(2)]
    for thread in others:
        thread.start()
    generations = 0
    while time.monotonic() < end:
        thread = threading.Thread(target=live)
        thread.start()
        live()  # on the main thread, whose loop does not end
        thread.join()
        generations += 2
    for thread in others:
        thread.join()
    return generations


signal.signal(signal.SIGALRM, interrupt)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.003)
generations = main()
signal.setitimer(signal.ITIMER_REAL, 0)
loops.clear()
with Source(print) as keep:  # What the main loop still has is called.
    Loop.current().add(keep, "inner"), Loop.current().add(keep)
    for mode in runloop.DEFAULT_MODE, "inner":
        Loop.current().post(lambda: Loop.current().stop(), mode)
        while runloop.run(mode, 3600) is not runloop.Result.STOPPED:
            pass
del keep
deadline = time.monotonic() + 60
while (_core._kept or Post.alive) and time.monotonic() < deadline:
    gc.collect()
print(f"{generations} generations, {Post.made} posts, {Post.called} called, {interrupts} signals, {len(_core._kept)} kept")
assert generations and Post.called and interrupts and not _core._kept and not Post.alive
