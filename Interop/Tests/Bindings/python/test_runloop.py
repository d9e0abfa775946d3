"""The package runloop: what callbacks get, who keeps what, and what becomes of exceptions and signals."""

import errno
import gc
import math
import os
import signal
import subprocess
import sys
import threading
import time
import unittest
import weakref

import runloop
from runloop import Activity, DescriptorSource, Loop, Observer, Readiness, Result, Source, Timer
from runloop import _core

OWN_MODE = "own"


def setUpModule():
    # What a shell runs in the background is started with SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Called:
    """A callback that notes its calls, and can be seen to be freed."""

    def __init__(self):
        self.calls = []

    def __call__(self, *arguments):
        self.calls.append(arguments)


class BindingTests(unittest.TestCase):
    def setUp(self):
        self.loop = Loop.current()
        self.items = []

    def tearDown(self):
        for item in self.items:
            item.invalidate()

    def add(self, item, mode=runloop.DEFAULT_MODE):
        self.items.append(item)
        return self.loop.add(item, mode)

    def keep(self, mode=runloop.DEFAULT_MODE):
        return self.add(Source(lambda: None), mode)

    def errno_of(self, code, function, *arguments):
        with self.assertRaises(OSError) as caught:
            function(*arguments)
        self.assertEqual(caught.exception.errno, code)

    def test_a_timer_fires_once_not_before_its_time(self):
        start, fired = runloop.now(), Called()
        timer = self.add(Timer(0.02, fired))
        self.assertEqual(runloop.run(), Result.FINISHED)
        self.assertGreaterEqual(runloop.now() - start, 0.02)
        self.assertEqual(fired.calls, [()])
        self.assertFalse(timer.is_valid)
        self.assertEqual(timer.fire_date, math.inf)

    def test_a_repeating_timer_has_tolerance_moves_and_ends_in_its_own_callback(self):
        fired = []

        def fire():
            fired.append(timer.missed)
            if len(fired) == 3:
                timer.invalidate()

        timer = self.add(Timer.every(3600, fire, tolerance=5))
        self.assertEqual((timer.interval, timer.tolerance), (3600, 5))
        timer.tolerance = 10000
        self.assertEqual(timer.tolerance, 1800)
        timer.invalidate()
        timer = self.add(Timer(3600, fire, interval=0.005))
        timer.fire_date = runloop.now()
        self.assertEqual(runloop.run(), Result.FINISHED)
        self.assertEqual(len(fired), 3)

    def test_durations(self):
        self.assertEqual(_core.nanoseconds(math.inf), _core.FOREVER_NS)
        self.assertEqual(_core.nanoseconds(-math.inf), -_core.FOREVER_NS)
        self.assertEqual(_core.nanoseconds(0.25), 250_000_000)
        self.assertRaises(ValueError, runloop.run, OWN_MODE, math.nan)
        self.assertRaises(ValueError, runloop.run, "nu\0l")

    def test_a_signalled_source_performs_once(self):
        performed = Called()
        source = self.add(Source(performed))
        source.signal()
        source.signal()
        self.assertTrue(source.is_signalled)
        self.assertEqual(runloop.run(return_after_source_handled=True), Result.HANDLED_SOURCE)
        self.assertEqual(runloop.run(limit=0), Result.TIMED_OUT)
        self.assertEqual(performed.calls, [()])

    def test_a_descriptor_is_ready_paused_and_goes_on(self):
        read_end, write_end = os.pipe()
        taken = []
        source = self.add(DescriptorSource(read_end, Readiness.READABLE, lambda now: taken.append((now, os.read(read_end, 1)))))
        os.write(write_end, b"a")
        self.assertEqual(runloop.run(return_after_source_handled=True), Result.HANDLED_SOURCE)
        source.events = Readiness.NONE
        os.write(write_end, b"b")
        self.assertEqual(runloop.run(limit=0), Result.TIMED_OUT)
        source.events = Readiness.READABLE
        self.assertEqual(runloop.run(return_after_source_handled=True), Result.HANDLED_SOURCE)
        self.assertEqual(taken, [(Readiness.READABLE, b"a"), (Readiness.READABLE, b"b")])
        source.invalidate()
        os.close(read_end), os.close(write_end)

    def test_posts_of_another_thread_wake_the_loop_in_order(self):
        self.keep()
        order, falls_asleep = [], threading.Event()
        self.add(Observer(Activity.BEFORE_WAITING, lambda now: falls_asleep.set()))

        def other():
            falls_asleep.wait()
            self.loop.post(lambda: order.append(threading.current_thread()))
            self.loop.perform(lambda: order.append(2))
            self.loop.post(self.loop.stop)

        thread = threading.Thread(target=other)
        thread.start()
        self.assertEqual(runloop.run(), Result.STOPPED)
        thread.join()
        self.assertEqual(order, [threading.main_thread(), 2])

    def test_a_post_comes_only_in_its_mode(self):
        posted = Called()
        self.keep(), self.keep(OWN_MODE)
        self.loop.post(posted, OWN_MODE)
        self.assertEqual(runloop.run(limit=0), Result.TIMED_OUT)
        self.assertEqual(posted.calls, [])
        self.assertEqual(runloop.run(OWN_MODE, 0), Result.TIMED_OUT)
        self.assertEqual(posted.calls, [()])

    def test_an_observer_sees_a_run_from_entry_to_exit(self):
        self.keep(OWN_MODE)
        seen, once = Called(), Called()
        self.add(Observer(Activity.ALL, seen), OWN_MODE)
        self.add(Observer(Activity.ENTRY | Activity.EXIT, once, repeats=False), OWN_MODE)
        runloop.run(OWN_MODE, 0)
        expected = [Activity.ENTRY, Activity.BEFORE_TIMERS, Activity.BEFORE_SOURCES, Activity.EXIT]
        self.assertEqual([now for (now,) in seen.calls], expected)
        self.assertEqual(once.calls, [(Activity.ENTRY,)])

    def test_a_nested_run_and_its_stop(self):
        self.keep(), self.keep(OWN_MODE)
        order = []

        def outer():
            self.loop.post(lambda: (order.append(self.loop.current_mode), self.loop.stop()), OWN_MODE)
            order.append(runloop.run(OWN_MODE))
            order.append(self.loop.current_mode)
            self.loop.stop()

        self.add(Timer(0, outer))
        self.assertEqual(runloop.run(), Result.STOPPED)
        self.assertEqual(order, [OWN_MODE, Result.STOPPED, runloop.DEFAULT_MODE])

    def test_stops_that_are_remembered(self):
        self.keep(OWN_MODE)
        self.loop.stop()
        self.assertEqual(runloop.run(OWN_MODE, 0), Result.TIMED_OUT)
        self.loop.stop_latched()
        self.assertEqual(runloop.run(OWN_MODE), Result.STOPPED)
        self.loop.stop_mode(OWN_MODE)
        self.assertEqual(runloop.run(OWN_MODE), Result.STOPPED)

    def test_errors_keep_nothing(self):
        gc.collect()  # What the tests before have left in cycles.
        before = len(_core._kept)
        self.errno_of(errno.EINVAL, DescriptorSource, 0, Readiness.NONE, print)
        with open(__file__) as file:
            self.errno_of(errno.EPERM, self.loop.add, DescriptorSource(file, Readiness.READABLE, print))
        timer = self.add(Timer(3600, print))
        timer.invalidate()
        self.errno_of(errno.EINVAL, self.loop.add, timer)
        del timer
        self.items.clear()
        gc.collect()
        self.assertEqual(len(_core._kept), before)

    def test_the_loop_keeps_an_item_until_it_is_invalid(self):
        fired = Called()
        freed = weakref.ref(fired)
        self.loop.add(Timer(0.001, fired))
        del fired
        self.assertIsNotNone(freed())
        self.assertEqual(runloop.run(), Result.FINISHED)
        gc.collect()
        self.assertIsNone(freed())

    def test_items_whose_callbacks_refer_to_them_are_freed_once_they_are_invalid(self):
        before = len(_core._kept)
        for make in [lambda call: Source(call), lambda call: Timer(3600, call), lambda call: Observer(Activity.ALL, call)]:
            items = []
            items.append(self.loop.add(make(lambda: items)))
            freed = weakref.ref(items[0])
            items[0].invalidate()
            del items
            gc.collect()
            self.assertIsNone(freed())
        self.assertEqual(len(_core._kept), before)

    def test_with_ends_an_item(self):
        with self.loop.add(Timer(3600, print)) as timer:
            self.assertTrue(self.loop.contains(timer))
        self.assertFalse(timer.is_valid)
        self.assertTrue(self.loop.is_empty())

    def test_the_end_of_a_thread_releases_what_its_loop_had(self):
        posted, source = Called(), Called()
        freed = [weakref.ref(posted), weakref.ref(source)]
        ended = []

        def work(posted, source):
            with Loop.current() as loop:
                loop.add(Source(source))
                loop.post(posted)
                ended.append(loop)

        thread = threading.Thread(target=work, args=(posted, source))
        thread.start()
        thread.join()
        self.assertEqual(posted.calls, [])
        del posted, source, thread
        gc.collect()
        self.assertEqual([each() for each in freed], [None, None])
        self.errno_of(errno.ESHUTDOWN, ended[0].post, print)

    def test_a_thread_may_end_without_saying_so(self):
        before = len(_core._kept)
        freed = threading.Event()

        def live():
            post = Called()
            weakref.finalize(post, freed.set)
            Loop.current().post(post)

        thread = threading.Thread(target=live)
        thread.start()
        thread.join()
        self.assertTrue(freed.wait(60))  # The C thread ends after Python's.
        self.assertEqual(len(_core._kept), before)

    def test_an_exception_comes_out_of_the_innermost_run(self):
        self.keep(), self.keep(OWN_MODE)
        order = []

        def outer():
            self.loop.post(lambda: 1 / 0, OWN_MODE)
            with self.assertRaises(ZeroDivisionError):
                runloop.run(OWN_MODE)
            order.append("caught")
            raise LookupError("out")

        self.loop.post(outer)
        with self.assertRaisesRegex(LookupError, "out"):
            runloop.run()
        self.assertEqual(order, ["caught"])
        self.assertEqual(runloop.run(limit=0), Result.TIMED_OUT)  # The loop is as it was.

    def test_a_second_exception_has_the_first_as_its_context(self):
        def fail(error):
            raise error

        self.keep()
        self.loop.post(lambda: fail(KeyError(1)))
        self.loop.post(lambda: fail(KeyError(2)))
        with self.assertRaises(KeyError) as caught:
            runloop.run()
        self.assertEqual((caught.exception.args, caught.exception.__context__.args), ((2,), (1,)))

    def test_signal_handlers_run_while_the_loop_sleeps(self):
        self.keep()
        handled = []
        former = signal.signal(signal.SIGUSR1, lambda number, frame: (handled.append(number), self.loop.stop()))
        self.addCleanup(signal.signal, signal.SIGUSR1, former)
        for where in [runloop.DEFAULT_MODE, OWN_MODE]:
            self.keep(where)
            sender = threading.Thread(target=self._when_asleep, args=[lambda: os.kill(os.getpid(), signal.SIGUSR1)])
            sender.start()
            self.assertEqual(runloop.run(where), Result.STOPPED)
            sender.join()
        self.assertEqual(handled, [signal.SIGUSR1] * 2)

    def test_an_interrupt_comes_out_of_a_sleeping_run_and_the_wakeup_descriptor_is_given_back(self):
        self.keep()
        read_end, write_end = os.pipe()
        os.set_blocking(write_end, False)
        signal.set_wakeup_fd(write_end)
        sender = threading.Thread(target=self._when_asleep, args=[lambda: os.kill(os.getpid(), signal.SIGINT)])
        sender.start()
        with self.assertRaises(KeyboardInterrupt):
            runloop.run()
        sender.join()
        self.assertEqual(os.read(read_end, 2), bytes([signal.SIGINT]))  # The former handler has got it, too.
        self.assertEqual(signal.set_wakeup_fd(-1), write_end)
        os.close(read_end), os.close(write_end)

    def test_a_signal_just_before_the_sleep_is_noticed(self):
        self.keep()

        def interrupt(activity):
            os.kill(os.getpid(), signal.SIGINT)

        with self.loop.add(Observer(Activity.BEFORE_WAITING, interrupt, order=1000, repeats=False)):
            with self.assertRaises(KeyboardInterrupt):
                runloop.run()

    def _when_asleep(self, function):
        while not self.loop.is_waiting:
            time.sleep(0.001)
        function()

    def test_a_forked_child_has_a_loop_of_its_own(self):
        child = os.fork()
        if child == 0:
            try:
                loop = Loop.current()
                loop.add(Source(print))
                sender = threading.Thread(target=lambda: os.kill(os.getpid(), signal.SIGINT))
                loop.add(Timer(0, sender.start))
                try:
                    runloop.run()
                except KeyboardInterrupt:
                    os._exit(0)
            finally:
                os._exit(1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def test_an_interpreter_ends_with_items_posts_and_a_running_daemon_thread(self):
        program = """
import runloop, threading
loop = runloop.Loop.current()
loop.add(runloop.Timer(3600, print)); loop.post(print)
started = threading.Event()
def daemon():
    mine = runloop.Loop.current()
    mine.add(runloop.Timer.every(0.0001, lambda: None)); mine.post(started.set)
    runloop.run()
threading.Thread(target=daemon, daemon=True).start()
started.wait()
print("end")
"""
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "end\n", ""))

    def test_the_main_loop_and_its_account(self):
        found = []
        thread = threading.Thread(target=lambda: found.append(Loop.main()))
        thread.start()
        thread.join()
        self.assertEqual(found[0], self.loop)
        self.assertIn("mode", found[0].description())


if __name__ == "__main__":
    unittest.main()
