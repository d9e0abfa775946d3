"""runloop.aio: asyncio beside the run loop's own items, on one thread. That it is a good event loop for asyncio is what CPython's
own tests say (asyncio_tests.py)."""

import asyncio
import contextlib
import errno
import gc
import os
import queue
import signal
import sys
import threading
import unittest
import unittest.mock

import runloop
import runloop.aio
from runloop import Activity, Loop, Observer, Source, Timer, _core


def setUpModule():
    # What a shell runs in the background is started with SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)


class AioTests(unittest.TestCase):
    def run_async(self, coroutine, mode=runloop.DEFAULT_MODE):
        with asyncio.Runner(loop_factory=lambda: runloop.aio.EventLoop(mode)) as runner:
            return runner.run(coroutine)

    def test_a_coroutine_awaits_what_a_timer_sets(self):
        async def main():
            future = asyncio.get_running_loop().create_future()
            with Loop.current().add(Timer(0.001, lambda: future.set_result("fired"))):
                return await future

        self.assertEqual(self.run_async(main()), "fired")

    def test_an_item_starts_tasks_and_timers_of_asyncio_while_that_sleeps(self):
        async def main():
            done, loop, tasks = asyncio.Event(), asyncio.get_running_loop(), []

            async def work():
                loop.call_later(0.001, done.set)

            Loop.current().post(lambda: tasks.append(loop.create_task(work())))
            await done.wait()
            done.clear()
            with Loop.current().add(Timer(0.001, lambda: loop.call_later(0.001, done.set))):
                await done.wait()

        self.run_async(main())

    def test_other_threads_post_to_both(self):
        async def main():
            event_loop, run_loop, done = asyncio.get_running_loop(), Loop.current(), asyncio.Event()
            posted, received = queue.SimpleQueue(), []

            def other():
                run_loop.post(lambda: posted.put(1))
                event_loop.call_soon_threadsafe(posted.put, 2)
                received.extend([posted.get(), posted.get()])
                event_loop.call_soon_threadsafe(done.set)

            thread = threading.Thread(target=other)
            thread.start()
            await done.wait()
            thread.join()
            return sorted(received)

        self.assertEqual(self.run_async(main()), [1, 2])

    def test_it_sleeps_in_its_own_mode_and_serves_no_other(self):
        async def main():
            wrong, right = Timer(0, lambda: self.fail("the wrong mode")), Timer(0, lambda: right_fired.set())
            right_fired = asyncio.Event()
            with Loop.current().add(wrong), Loop.current().add(right, "own"):
                await right_fired.wait()

        self.run_async(main(), "own")

    def test_a_nested_run_in_a_coroutine_serves_its_mode_and_nothing_of_asyncio(self):
        async def main():
            event_loop, order, called = asyncio.get_running_loop(), [], asyncio.Event()
            with Loop.current().add(Timer(0.005, lambda: order.append("modal")), "modal"):
                event_loop.call_soon(order.append, "asyncio")
                event_loop.call_soon(called.set)
                self.assertEqual(runloop.run("modal"), runloop.Result.FINISHED)
            await called.wait()
            return order

        self.assertEqual(self.run_async(main()), ["modal", "asyncio"])

    def test_an_exception_of_an_item_goes_to_asyncios_handler(self):
        async def main():
            handled = asyncio.get_running_loop().create_future()
            asyncio.get_running_loop().set_exception_handler(lambda loop, context: handled.set_result(context["exception"]))
            Loop.current().post(lambda: 1 / 0)
            return await handled

        self.assertIsInstance(self.run_async(main()), ZeroDivisionError)

    def test_observers_see_asyncio_sleep(self):
        async def main():
            seen = asyncio.Queue()
            with Loop.current().add(Observer(Activity.BEFORE_WAITING | Activity.AFTER_WAITING, seen.put_nowait)):
                return [await seen.get(), await seen.get()]

        self.assertEqual(self.run_async(main()), [Activity.BEFORE_WAITING, Activity.AFTER_WAITING])

    def test_what_a_coroutine_signals_or_performs_is_served_before_asyncio_sleeps(self):
        async def main():
            loop, done = Loop.current(), asyncio.Event()
            with loop.add(Source(done.set)) as source:
                source.signal()
                await done.wait()
                done.clear()
                loop.perform(done.set)
                await done.wait()
                self.assertIsNone(loop.current_mode)
                self.assertFalse(loop.is_waiting)

        self.run_async(main())

    def test_the_run_loop_and_a_busy_asyncio_have_their_turns(self):
        async def main():
            loop, turns, posts, stops = Loop.current(), [0, 0], [], asyncio.Event()

            def post():
                posts.append(1)
                if not stops.is_set():
                    loop.post(post)

            with loop.add(Timer.every(0.0005, lambda: turns.__setitem__(0, turns[0] + 1))):
                loop.post(post)
                while turns[0] < 10 or turns[1] < 10 or len(posts) < 10:
                    turns[1] += 1
                    await asyncio.sleep(0)
            stops.set()

        self.run_async(main())

    def test_an_observer_sees_each_sleep_of_asyncios_and_no_other(self):
        async def main():
            seen = []
            with Loop.current().add(Observer(Activity.ALL, seen.append)):
                for _ in range(3):
                    await asyncio.sleep(0.01)
                seen.clear()
                await asyncio.sleep(0)
                self.assertNotIn(Activity.BEFORE_WAITING, seen)
                seen.clear()
                await asyncio.sleep(0.01)
                self.assertLess(seen.count(Activity.BEFORE_WAITING), 5)
                self.assertEqual(seen.count(Activity.ENTRY), seen.count(Activity.EXIT))
                first = seen.index(Activity.BEFORE_WAITING)
                self.assertEqual(seen[first : first + 3], [Activity.BEFORE_WAITING, Activity.AFTER_WAITING, Activity.EXIT])
            seen.clear()
            await asyncio.sleep(0.001)
            self.assertEqual(seen, [])

        self.run_async(main())

    def test_an_observer_that_is_about_to_see_a_sleep_may_call_asyncio(self):
        async def main():
            done, loop = asyncio.Event(), asyncio.get_running_loop()
            with Loop.current().add(Observer(Activity.BEFORE_WAITING, lambda now: loop.call_later(0.001, done.set), repeats=False)):
                await done.wait()

        self.run_async(main())

    def test_a_handler_of_a_signal_calls_the_run_loop_while_asyncio_sleeps(self):
        async def main():
            loop, done = Loop.current(), asyncio.Event()
            with loop.add(Source(done.set)) as source:
                for each in source.signal, lambda: loop.perform(done.set), lambda: loop.post(done.set):
                    for observes in False, True:
                        with Observer(Activity.ALL, lambda now: None) as observer:
                            if observes:
                                loop.add(observer)
                            signal.signal(signal.SIGALRM, lambda number, frame: each())
                            signal.setitimer(signal.ITIMER_REAL, 0.005)
                            await done.wait()
                            done.clear()

        former = signal.getsignal(signal.SIGALRM)
        try:
            self.run_async(main())
        finally:
            signal.signal(signal.SIGALRM, former)

    def test_a_coroutine_that_uses_the_run_loop_wakes_nobody(self):
        async def main():
            done = asyncio.Event()
            with unittest.mock.patch.object(asyncio.get_running_loop(), "call_soon_threadsafe") as wakes:
                Loop.current().post(done.set)
                await done.wait()
            wakes.assert_not_called()

        self.run_async(main())

    def test_a_nested_run_in_the_same_mode_leaves_asyncios_descriptors_alone(self):
        async def main():
            ends, iterations, done = os.pipe(), [], asyncio.Event()
            asyncio.get_running_loop().add_reader(ends[0], done.set)
            os.write(ends[1], b"x")
            with Loop.current().add(Observer(Activity.BEFORE_TIMERS, iterations.append)):
                self.assertEqual(runloop.run(limit=0.01), runloop.Result.TIMED_OUT)
            self.assertFalse(done.is_set())
            self.assertLess(len(iterations), 10)
            await done.wait()
            asyncio.get_running_loop().remove_reader(ends[0])
            os.close(ends[0]), os.close(ends[1])

        self.run_async(main())

    def test_a_stop_by_an_item_and_an_exception_end_nothing_of_asyncio(self):
        async def main():
            loop, ticks, errors = Loop.current(), asyncio.Queue(), []
            asyncio.get_running_loop().set_exception_handler(lambda loop, context: errors.append(context["exception"]))

            def tick():
                ticks.put_nowait(1)
                loop.stop()
                1 / 0

            loop.stop_latched()
            loop.stop_mode(runloop.DEFAULT_MODE)
            with loop.add(Timer.every(0.001, tick)):
                for _ in range(3):
                    await ticks.get()
            done = asyncio.Event()
            with loop.add(Timer(0.001, loop.stop)), loop.add(Timer(0.005, done.set)):
                await done.wait()
            self.assertEqual({type(error) for error in errors}, {ZeroDivisionError})

        self.run_async(main())

    def test_an_item_stops_the_event_loop(self):
        event_loop = runloop.aio.EventLoop()
        with Loop.current().add(Timer(0.001, event_loop.stop)), contextlib.closing(event_loop):
            event_loop.run_forever()

    def test_it_runs_in_a_callback_of_a_run(self):
        results = []

        def call():
            with asyncio.Runner(loop_factory=runloop.aio.EventLoop) as runner:
                results.append(runner.run(asyncio.sleep(0.001, "slept")))

        Loop.current().post(call)
        with Loop.current().add(Source(lambda: None)):
            runloop.run(limit=0)
        self.assertEqual(results, ["slept"])

    def test_a_forked_child_may_leave_the_event_loop(self):
        async def main():
            status = asyncio.get_running_loop().create_future()

            def fork():  # Not in a task: from Python 3.14 on a child can't end one.
                child = os.fork()
                if child == 0:
                    sys.exit(7)
                status.set_result(os.waitpid(child, 0)[1])

            asyncio.get_running_loop().call_soon(fork)
            return await status

        try:
            status = self.run_async(main())
        except SystemExit as end:
            os._exit(end.code)
        self.assertEqual(os.waitstatus_to_exitcode(status), 7)

    def test_the_common_modes_are_no_mode_to_sleep_in(self):
        self.assertRaises(ValueError, runloop.aio.EventLoop, runloop.COMMON_MODES)

    def test_one_that_can_not_be_made_or_run_says_so_once_and_leaves_nothing(self):
        error = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        with unittest.mock.patch("socket.socketpair", side_effect=error), unittest.mock.patch("sys.unraisablehook") as hook:
            self.assertRaises(OSError, runloop.aio.EventLoop)
            gc.collect()
            hook.assert_not_called()
        loop = runloop.aio.EventLoop()
        with unittest.mock.patch("runloop.aio.check", side_effect=error):
            self.assertRaises(OSError, loop.run_forever)
        self.assertTrue(Loop.current().is_empty())
        kept = len(_core._kept)
        loop.close()
        self.assertLess(len(_core._kept), kept)  # Though somebody has it still.
        self.run_async(asyncio.sleep(0))

    def test_one_that_is_closed_or_runs_refuses_to_run(self):
        async def main():
            for refused in asyncio.get_running_loop(), other:
                self.assertRaises(RuntimeError, refused.run_forever)
            await asyncio.sleep(0.001)
            with Loop.current().add(Timer(0.001, done.set)):
                await done.wait()

        done, other = asyncio.Event(), runloop.aio.EventLoop()
        self.run_async(main())
        other.close()
        self.assertRaises(RuntimeError, other.run_forever)
        self.assertTrue(Loop.current().is_empty())

    def test_a_callback_that_was_cancelled_is_not_waited_for(self):
        async def main():
            loop, ends = asyncio.get_running_loop(), os.pipe()
            loop.add_reader(ends[0], self.fail)
            loop.add_writer(ends[1], wrote.set)
            os.write(ends[1], b"x")
            hosting = loop._hosting
            hosting.get_key(ends[0]).data[0].cancel()
            await wrote.wait()
            await asyncio.sleep(0)
            self.assertEqual([fd for fd in ends if fd in hosting.get_map()], [ends[1]])
            hosting.get_key(ends[1]).data[1].cancel()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            self.assertNotIn(ends[1], hosting.get_map())
            os.close(ends[0]), os.close(ends[1])

        wrote = asyncio.Event()
        self.run_async(main())

    def test_a_loop_that_does_not_run_keeps_no_other_awake(self):
        read_end, write_end = os.pipe()
        idle = runloop.aio.EventLoop()
        idle.add_reader(read_end, self.fail)
        os.write(write_end, b"x")
        iterations = []

        async def main():
            time_passed = asyncio.Event()
            with Loop.current().add(Observer(Activity.BEFORE_TIMERS, iterations.append)):
                with Loop.current().add(Timer(0.02, time_passed.set)):
                    await time_passed.wait()

        self.run_async(main())
        self.assertLess(len(iterations), 20)
        idle.remove_reader(read_end)
        idle.close()
        os.close(read_end), os.close(write_end)

    def test_an_interrupt_cancels_the_main_task(self):
        async def main():
            source = Source(lambda: None)
            with Loop.current().add(source), Loop.current().add(Timer(0.001, lambda: os.kill(os.getpid(), signal.SIGINT))):
                await asyncio.Event().wait()

        self.assertRaises(KeyboardInterrupt, self.run_async, main())

    def test_an_exit_by_an_item_comes_out_of_it_and_leaves_a_run_around_it_alone(self):
        async def main():
            Loop.current().post(sys.exit)
            await asyncio.Event().wait()

        with Loop.current().add(Source(lambda: None)), runloop.HostedRun() as outer:
            self.assertRaises(SystemExit, self.run_async, main())
            self.assertTrue(outer.iterate())

    def test_it_runs_on_any_thread(self):
        results = []

        async def main():
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"hello\n")
            results.append(await reader.readline())
            writer.close()

        async def serve():
            nonlocal port
            done = asyncio.Event()

            async def echo(reader, writer):
                writer.write(await reader.readline())
                await writer.drain()
                writer.close()
                done.set()

            async with await asyncio.start_server(echo, "127.0.0.1", 0) as server:
                port = server.sockets[0].getsockname()[1]
                started.set()
                await done.wait()

        def other():
            with Loop.current():
                self.run_async(serve())

        port, started = None, threading.Event()
        thread = threading.Thread(target=other)
        thread.start()
        started.wait()
        self.run_async(main())
        thread.join()
        self.assertEqual(results, [b"hello\n"])


if __name__ == "__main__":
    unittest.main()
