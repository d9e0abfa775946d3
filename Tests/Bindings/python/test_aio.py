"""runloop.aio: asyncio beside the run loop's own items, on one thread. That it is a good event loop for asyncio is what CPython's
own tests say (asyncio_tests.py)."""

import asyncio
import os
import queue
import signal
import threading
import unittest

import runloop
import runloop.aio
from runloop import Activity, Loop, Observer, Source, Timer


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

    def test_the_policy_makes_it(self):
        async def main():
            return type(asyncio.get_running_loop())

        asyncio.set_event_loop_policy(runloop.aio.EventLoopPolicy())
        try:
            self.assertIs(asyncio.run(main()), runloop.aio.EventLoop)
        finally:
            asyncio.set_event_loop_policy(None)


if __name__ == "__main__":
    unittest.main()
