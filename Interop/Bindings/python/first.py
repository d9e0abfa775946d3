"""Ticks three times, while another thread posts."""

import threading

import runloop

loop = runloop.Loop.current()
ticks = 0


def tick():
    global ticks
    ticks += 1
    print("tick", ticks)
    if ticks == 3:
        loop.stop()


loop.add(runloop.Timer.every(0.01, tick))
threading.Thread(target=lambda: loop.post(lambda: print("posted"))).start()
runloop.run()
