"""What the package does without asyncio: items, calls from other threads, nested and hosted runs, Python's signals."""

import os
import select
import signal
import threading
import time

import runloop
from faults import MODE, errno_of, expect, lib, own, run_until, scenario
from runloop import Activity, DescriptorSource, HostedRun, Loop, Observer, Readiness, Source, Timer


@scenario
def a_timer():
    fired = []
    lib.begin_faults()
    loop = Loop.current()
    with Timer(0.001, lambda: fired.append(1)) as timer:
        loop.add(timer, MODE)
        run_until(lambda: fired)
        expect(len(fired) == 1 and not loop.contains(timer, MODE))


@scenario
def repeating_timers():
    fired = []
    lib.begin_faults()
    loop = Loop.current()
    with Timer.every(0.001, lambda: fired.append(1), tolerance=0.0005) as first, Timer(3600, lambda: fired.append(10), interval=3600) as second:
        loop.add(first, MODE)
        loop.add(second, MODE)
        first.tolerance = 0.0001
        second.fire_date = runloop.now()
        run_until(lambda: sum(fired) >= 13)
        expect(sum(fired) >= 13)


@scenario
def a_signalled_source():
    performed = []
    lib.begin_faults()
    loop = Loop.current()
    with Source(lambda: performed.append(1)) as source:
        loop.add_common_mode(MODE)
        loop.add(source, runloop.COMMON_MODES)
        source.signal()
        run_until(lambda: performed)
        expect(performed == [1])


@scenario
def a_descriptor():
    ends = os.pipe()
    try:
        taken = []
        lib.begin_faults()
        loop = Loop.current()
        with DescriptorSource(ends[0], Readiness.READABLE, lambda now: taken.append(now)) as source:
            loop.add(source, MODE)
            with own():
                os.write(ends[1], b"a")
            run_until(lambda: taken)
            source.events = Readiness.NONE
            taken.clear()
            runloop.run(MODE, 0)
            expect(not taken)
            source.events = Readiness.READABLE
            run_until(lambda: taken)
            expect(taken[0] == Readiness.READABLE)
    finally:
        os.close(ends[0]), os.close(ends[1])


@scenario
def observers():
    activities, fired = [], []
    lib.begin_faults()
    loop = Loop.current()
    with Observer(Activity.ALL, activities.append) as first, Observer(Activity.ENTRY, activities.append, repeats=False) as second:
        loop.add(first, MODE)
        loop.add(second, MODE)
        with Timer(0.001, lambda: fired.append(1)) as timer:
            loop.add(timer, MODE)
            run_until(lambda: fired)
        expect(fired and activities.count(Activity.ENTRY) >= 2 and Activity.EXIT in activities)


@scenario
def calls_of_another_thread():
    order, errors = [], []
    lib.begin_faults()
    loop = Loop.current()

    def call():
        try:
            loop.post(lambda: order.append(1), MODE)
            loop.perform(lambda: order.append(2), MODE)
            loop.wake_up()
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=call)
    with own():
        thread.start()
    try:
        run_until(lambda: len(order) == 2 or errors)
    finally:
        with own():
            thread.join()
    expect(order == [1, 2], *errors)


@scenario
def a_thread_with_a_loop():
    fired, errors = [], []

    def work():
        lib.begin_faults()
        try:
            with Loop.current() as loop:
                loop.add(Timer(0.001, lambda: fired.append(1)), MODE)
                loop.post(lambda: None, "never run")
                run_until(lambda: fired)
        except Exception as error:
            errors.append(error)
        lib.pause_faults()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    expect(fired, *errors)


@scenario
def a_nested_run():
    order = []
    lib.begin_faults()
    loop = Loop.current()
    with Source(lambda: None) as outer, Source(lambda: None) as inner:
        loop.add(outer, MODE)
        loop.add(inner, "inner")

        def nest():
            loop.post(lambda: (order.append("inner"), loop.stop()), "inner")
            order.append(runloop.run("inner", 3).name)
            loop.stop()

        try:
            loop.post(nest, MODE)
            runloop.run(MODE, 3)
            expect(order == ["inner", "STOPPED"])
        finally:
            with own():
                runloop.run("inner", 0)  # What was posted there before its run failed.


@scenario
def an_exception_in_a_callback():
    class Raised(Exception):
        pass

    def fail():
        raise Raised

    lib.begin_faults()
    loop = Loop.current()
    with Timer(0.001, fail) as timer:
        loop.add(timer, MODE)
        try:
            run_until(lambda: not timer.is_valid)
            expect(False)
        except Raised:
            pass


@scenario
def a_hosted_run():
    fired = []
    lib.begin_faults()
    loop = Loop.current()
    poll = select.poll()
    poll.register(HostedRun.descriptor(), select.POLLIN)
    with Source(lambda: fired.append(1)) as source, Timer(0.001, lambda: fired.append(2)) as timer:
        loop.add(source, MODE)
        loop.add(timer, MODE)
        source.signal()
        with HostedRun(MODE) as run:
            end = time.monotonic() + 3
            while len(fired) < 2 and run.result is None and time.monotonic() < end:
                if run.iterate():
                    poll.poll(20)
        # A source that found no memory to wait in comes an iteration later, when the timer may be due.
        expect(fired == [1, 2] or (lib.injector_struck() and fired == [2, 1]))


@scenario
def a_signal_of_python():
    """It arrives while the loop sleeps, and its handler raises."""
    former = signal.signal(signal.SIGUSR1, signal.default_int_handler)
    main, is_over = threading.get_ident(), threading.Event()
    thread = None
    try:
        lib.begin_faults()
        loop = Loop.current()
        with Source(lambda: None) as source:
            loop.add(source, MODE)

            def interrupt():
                while not loop.is_waiting and not is_over.is_set():
                    time.sleep(0.001)
                if not is_over.is_set():
                    signal.pthread_kill(main, signal.SIGUSR1)

            with own():
                thread = threading.Thread(target=interrupt)
                thread.start()
            try:
                run_until(lambda: False)
                expect(False)
            except KeyboardInterrupt:
                pass
    finally:
        lib.pause_faults()
        is_over.set()
        if thread:
            thread.join()
        signal.signal(signal.SIGUSR1, former)


@scenario
def a_description():
    lib.begin_faults()
    expect("run loop" in Loop.current().description())
