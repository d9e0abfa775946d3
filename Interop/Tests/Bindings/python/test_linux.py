"""runloop.linux, in coroutines of runloop.aio's event loop, and hosted runs."""

import asyncio
import errno
import gc
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import runloop
import runloop.aio
from runloop.linux import *


def number_of_descriptors():
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


async def nothing():
    await asyncio.sleep(0)


class ReaperTests(unittest.TestCase):
    def test_the_program_is_a_child_of_the_reaper_which_ends_as_it_does(self):
        program = "import os, sys; from runloop.linux import reap_orphans; reap_orphans(); reap_orphans(); print(os.getppid()); sys.exit(7)"
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as reaper:
            self.assertEqual(int(reaper.stdout.read()), reaper.pid)
        self.assertEqual(reaper.returncode, 7)


def setUpModule():
    # The loop's own descriptors, and those of its first run.
    with asyncio.Runner(loop_factory=runloop.aio.EventLoop) as runner:
        runner.run(nothing())
    runloop.run(limit=0)


class InCoroutine(unittest.TestCase):
    """Each test is a coroutine, and leaves as many descriptors as there were."""

    def __init_subclass__(cls):
        for name, test in list(vars(cls).items()):
            if name.startswith("test_"):
                setattr(cls, name, cls.run_coroutine(test))

    @staticmethod
    def run_coroutine(test):
        def run(self):
            before = number_of_descriptors()
            with asyncio.Runner(loop_factory=runloop.aio.EventLoop) as runner:
                runner.run(asyncio.wait_for(test(self), 20))
            runloop.run(limit=0)
            self.assertEqual(number_of_descriptors(), before)

        return run

    async def raises(self, number, awaitable):
        with self.assertRaises(OSError) as raised:
            await awaitable
        self.assertEqual(raised.exception.errno, number)
        return raised.exception


class SignalsAndFiles(InCoroutine):
    async def test_signals_are_kept_while_nobody_waits(self):
        async with Signals(signal.SIGUSR1) as signals:
            self.assertTrue(signals.is_caught)
            os.kill(os.getpid(), signal.SIGUSR1)
            arrival = await signals.next()
            self.assertEqual((arrival.number, arrival.pid, arrival.count), (signal.SIGUSR1, os.getpid(), 1))
            waiting = asyncio.create_task(signals.next())
            await asyncio.sleep(0.01)
            waiting.cancel()
            await asyncio.wait([waiting])
            os.kill(os.getpid(), signal.SIGUSR1)
            async for arrival in signals:
                self.assertEqual(arrival.number, signal.SIGUSR1)
                break
        self.assertEqual(signal.getsignal(signal.SIGUSR1), signal.SIG_DFL)
        await self.raises(errno.EINVAL, signals.next())
        with self.assertRaises(OSError):
            Signals(signal.SIGKILL)

    async def test_a_second_one_who_waits_for_a_signal_is_refused_and_the_first_one_is_told(self):
        async with Signals(signal.SIGUSR1) as signals:
            first = asyncio.create_task(signals.next())
            await asyncio.sleep(0)
            with self.assertRaises(RuntimeError):
                await signals.next()
            os.kill(os.getpid(), signal.SIGUSR1)
            self.assertEqual((await first).number, signal.SIGUSR1)

    async def test_changes_are_kept_while_nobody_waits(self):
        with tempfile.TemporaryDirectory() as folder:
            async with Changes(folder, Scope.DIRECTORY) as changes:
                first, second = os.path.join(folder, "first"), os.path.join(folder, "second")
                open(first, "w").close()
                told = await changes.next()
                self.assertEqual((told[0].kind, told[0].path, told[0].former), (ChangeKind.CREATED, first, None))
                os.rename(first, second)
                moved = [change async for changes in _until(changes, ChangeKind.MOVED) for change in changes]
                self.assertIn((second, first), [(change.path, change.former) for change in moved])


async def _until(changes, kind):
    async for told in changes:
        yield told
        if any(change.kind == kind for change in told):
            return


class Children(InCoroutine):
    async def test_a_child_has_what_the_arguments_say_and_its_end_is_awaited_before_and_after_it(self):
        script = "cat; echo $WORD; pwd >&2; echo seven >&7; exit 3"
        child = Child(["sh", "-c", script], env={"WORD": "hello", "PATH": os.environ["PATH"]}, cwd="/", stdin=PIPE, stdout=PIPE,
                      stderr=STDOUT, descriptors={7: PIPE})
        await child.stdin.write(b"line\n")
        await child.stdin.close()
        self.assertEqual(await child.stdout.readline(), b"line\n")
        self.assertEqual(await child.stdout.read(), b"hello\n/\n")
        self.assertEqual(await child.readers[7].read(), b"seven\n")
        first, second = await asyncio.gather(child.wait(), child.wait())
        self.assertEqual((first.status, second, await child.wait()), (3, first, first))
        self.assertTrue(first.peak_memory is None or first.peak_memory > 0)
        with self.assertRaises(ProcessLookupError):
            child.send_signal(signal.SIGTERM)

    async def test_one_whose_pipe_is_full_and_that_nobody_reads_is_named_while_its_end_is_awaited(self):
        program = """if True:
            import asyncio, runloop.aio
            from runloop.linux import *

            async def main():
                child = Child(["head", "-c", "300000", "/dev/zero"], stdout=PIPE)
                waiting = asyncio.ensure_future(child.wait())
                await asyncio.sleep(float(input()))
                assert len(await child.stdout.read()) == 300000
                assert (await waiting).status == 0

            with asyncio.Runner(loop_factory=runloop.aio.EventLoop) as runner:
                runner.run(main())
        """
        named = await run([sys.executable, "-c", program], input=b"4")
        self.assertEqual(named.exit.status, 0)
        self.assertIn(b"descriptor 1 is a pipe that is full, with 65536 bytes", named.error.data)
        self.assertIn(b"runloop.linux.run", named.error.data)

    async def test_one_that_can_not_be_started_is_an_error_with_its_path(self):
        with self.assertRaises(FileNotFoundError) as raised:
            Child(["/no/such/program"], stdout=PIPE)
        self.assertEqual(raised.exception.filename, "/no/such/program")
        with self.assertRaisesRegex(ValueError, "argument 1 has a null byte"):
            Child(["echo", "a\0b"])
        for arguments, options, about in [([], {}, "no arguments"), (["true"], {"ignored_signals": [signal.SIGKILL]}, "signal 9")]:
            with self.assertRaises(OSError) as raised:
                Child(arguments, **options)
            self.assertEqual((raised.exception.errno, raised.exception.filename), (errno.EINVAL, about))

    async def test_one_in_a_terminal_has_its_size_and_its_last_line_comes_before_an_end_that_is_no_error(self):
        child = Child(["sh", "-c", "stty size; read word; printf $word"], stdin=Terminal(33, 77), stdout=("same", 0), stderr=("same", 0))
        self.assertEqual(await child.terminal.reader.readline(), b"33 77\r\n")
        child.set_terminal_size(50, 132)
        await child.terminal.writer.write(b"last\n")
        self.assertEqual([line async for line in child.terminal.reader], [b"last\r\n", b"last"])
        self.assertEqual((await child.wait()).status, 0)

    async def test_one_whose_pipes_can_not_be_read_is_not_there(self):
        with unittest.mock.patch("runloop.children.Reader", side_effect=MemoryError):
            with self.assertRaises(MemoryError):
                Child(["sleep", "60"], stdin=PIPE, stdout=PIPE)
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)

    async def test_a_block_ends_its_child_also_in_a_cancelled_task(self):
        async with Child(["sleep", "60"]) as child:
            self.assertGreater(child.pid, 0)
        self.assertEqual(child.exit.status, -signal.SIGTERM)

        async def cancelled():
            async with Child(["sleep", "60"], group=Group.NEW) as child:
                children.append(child)
                await asyncio.sleep(60)

        children = []
        task = asyncio.create_task(cancelled())
        while not children:
            await asyncio.sleep(0)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertEqual(children[0].exit.status, -signal.SIGTERM)

    async def test_the_polite_end_has_pauses_and_one_that_is_let_go_of_is_reaped(self):
        child = Child(["sh", "-c", "trap '' TERM; echo; while :; do sleep 1; done"], stdout=PIPE, group=Group.NEW)
        await child.stdout.readline()
        child.end_by([(signal.SIGTERM, 0.02), (signal.SIGKILL, 0)])
        self.assertEqual((await child.wait()).status, -signal.SIGKILL)
        forgotten = Child(["true"])
        pid = forgotten.pid
        del forgotten
        while os.path.exists(f"/proc/{pid}"):
            await asyncio.sleep(0.001)


class Commands(InCoroutine):
    async def test_a_program_is_run_to_its_end_by_the_loop_and_by_a_thread(self):
        script = ["sh", "-c", "sort; echo error >&2; exit 3"]
        outcome = await run(script, input=b"b\na\n")
        self.assertEqual((outcome.output, outcome.error), ((b"a\nb\n", 0, OutputEnd.COMPLETE), (b"error\n", 0, OutputEnd.COMPLETE)))
        self.assertEqual((outcome.exit.status, outcome.input_left, outcome.timed_out), (3, 0, False))
        self.assertEqual(run_blocking(script, input=b"b\na\n")[1:], outcome[1:])
        merged = await run(["sh", "-c", "cat; echo out; echo error >&2"], stderr=STDOUT)
        self.assertEqual((merged.output.data, merged.error.data), (b"out\nerror\n", b""))
        with self.assertRaises(FileNotFoundError) as raised:
            await run(["/no/program"])
        self.assertEqual(raised.exception.filename, "/no/program")
        with self.assertRaisesRegex(ValueError, "descriptor 5"):
            await run(["true"], descriptors={5: PIPE})

    async def test_what_is_beyond_the_limit_is_dropped_or_closes_the_pipe_and_what_is_cut_off_says_so(self):
        much = ["sh", "-c", "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero"]
        outcome = await run(much, limit=10)
        self.assertEqual((outcome.exit.status, outcome.output, outcome.error.dropped), (0, (bytes(10), 299990, OutputEnd.OVER_LIMIT), 299990))
        self.assertEqual((await run(["yes"], limit=10, closes_at_limit=True)).exit.status, -signal.SIGPIPE)
        outcome = await run(["sh", "-c", "sleep 1000 & echo $!"], output_limit=0.01)
        os.kill(int(outcome.output.data), signal.SIGKILL)
        self.assertEqual((outcome.exit.status, outcome.output.end), (0, OutputEnd.CUT_OFF))

    async def test_one_that_takes_too_long_is_ended_and_so_is_that_of_a_cancelled_task(self):
        outcome = await run(["sleep", "1000"], timeout=0.02)
        self.assertEqual((outcome.timed_out, outcome.exit.status), (True, -signal.SIGTERM))
        reader, writer = os.pipe()
        task = asyncio.create_task(run(["sh", "-c", "echo >&5; sleep 1000 & wait"], group=Group.NEW, descriptors={5: writer}))
        await asyncio.sleep(0)
        os.close(writer)
        reader = Reader(reader)
        self.assertEqual(await reader.readline(), b"\n")
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertEqual(await reader.read(), b"")
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)


class Streams(InCoroutine):
    async def test_connections_are_accepted_and_made_and_lines_go_there_and_back(self):
        async def answer():
            async for stream in listener:
                async with stream:
                    async for line in stream.reader:
                        await stream.writer.write(line.upper())

        async with Listener.tcp("127.0.0.1", 0) as listener:
            answering = asyncio.create_task(answer())
            port = socket.fromfd(listener.fileno(), socket.AF_INET, socket.SOCK_STREAM)
            with port:
                number = port.getsockname()[1]
            async with connect("localhost", number, within=60) as stream:
                await stream.writer.write(b"one\ntwo\nlast")
                await stream.writer.close()
                self.assertEqual(await stream.reader.readline(), b"ONE\n")
                self.assertEqual(await stream.reader.read(2), b"TW")
                self.assertEqual(await stream.reader.readexactly(2), b"O\n")
                self.assertEqual(await stream.reader.readline(), b"LAST")
                self.assertEqual(await stream.reader.readline(), b"")
                self.assertEqual(await stream.reader.read(1), b"")
            stream = await connect("127.0.0.1", number)
            stream.abort()
            answering.cancel()
            await asyncio.wait([answering])

    async def test_a_connection_that_fails_says_why_for_each_attempt(self):
        error = await self.raises(errno.ENOENT, self.awaited(connect_unix("/no/such/path")))
        self.assertEqual([(address, cause.errno) for address, cause in error.failures], [("/no/such/path", errno.ENOENT)])
        self.assertIsInstance(error, ConnectError)
        with self.assertRaises(OSError):
            connect("host", 0)
        task = asyncio.create_task(self.awaited(connect("127.0.0.1", 1)))
        await asyncio.sleep(0)
        task.cancel()
        with self.assertRaises((asyncio.CancelledError, ConnectionRefusedError)):
            await task

    async def awaited(self, awaitable):
        return await awaitable

    async def test_a_second_one_who_waits_for_a_connection_or_its_input_is_refused_and_the_first_one_has_it(self):
        async with Listener.tcp("127.0.0.1", 0) as listener:
            with socket.fromfd(listener.fileno(), socket.AF_INET, socket.SOCK_STREAM) as port:
                connecting = connect("127.0.0.1", port.getsockname()[1])
            first = asyncio.create_task(self.awaited(connecting))
            await asyncio.sleep(0)
            with self.assertRaises(RuntimeError):
                await connecting
            async with await first as stream, await listener.accept() as peer:
                first = asyncio.create_task(stream.reader.readline())
                await asyncio.sleep(0)
                with self.assertRaises(RuntimeError):
                    await stream.reader.read(1)
                await peer.writer.write(b"line\n")
                self.assertEqual(await first, b"line\n")

    async def test_a_reader_that_waits_too_long_is_told_so_and_one_that_does_not_wait_is_not(self):
        ours, theirs = socket.socketpair()
        with theirs:
            reader = Reader(ours, limit=16, idle=0.02)
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(reader.readline(), 0.001)
            await asyncio.sleep(0.05)
            theirs.send(b"kept\n")
            self.assertEqual(await reader.readline(), b"kept\n")
            await self.raises(errno.ETIMEDOUT, reader.readline())
        ours, theirs = socket.socketpair()
        with theirs:
            exchange, deadline = Reader(ours), runloop.now() + 0.02
            exchange.set_deadline(deadline)
            theirs.send(b"begun")
            await self.raises(errno.ETIMEDOUT, exchange.readline())
            self.assertGreaterEqual(runloop.now(), deadline)
        ours, theirs = socket.socketpair()
        with theirs:
            theirs.send(b"more than sixteen bytes")
            await self.raises(errno.EMSGSIZE, Reader(ours, limit=16).readline())

    async def test_what_a_cancelled_read_took_is_there_for_the_next_one(self):
        ours, theirs = socket.socketpair()
        with theirs:
            reader = Reader(ours)
            theirs.send(b"spli")
            asyncio.get_running_loop().call_later(0.005, theirs.send, b"t\n")
            self.assertEqual(await reader.readline(), b"split\n")
            reading = asyncio.create_task(reader.readline())
            await asyncio.sleep(0.005)
            # It is cancelled between the arrival and its turn.
            reader._wake, wake = lambda: (reading.cancel(), wake()), reader._wake
            theirs.send(b"one\ntwo\n")
            with self.assertRaises(asyncio.CancelledError):
                await reading
            del reader._wake
            self.assertEqual(await reader.readline(), b"one\n")
            self.assertEqual(await reader.readline(), b"two\n")
            # So is what a read of everything has collected.
            reading = asyncio.create_task(reader.read())
            theirs.send(b"three\n")
            await asyncio.sleep(0.005)
            reading.cancel()
            await asyncio.wait([reading])
            theirs.send(b"four\n")
            theirs.shutdown(socket.SHUT_WR)
            self.assertEqual(await reader.read(), b"three\nfour\n")

    async def test_a_writer_waits_for_a_slow_peer_and_hears_of_one_that_is_gone(self):
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        writer, count = Writer(ours, limit=1000), 0

        def take(now):
            nonlocal count
            count += len(theirs.recv(65536))

        runloop.Loop.current().add(source := runloop.DescriptorSource(theirs, runloop.Readiness.READABLE, take))
        await writer.write(bytes(2 << 20))
        self.assertGreater(count, 1 << 20)
        await writer.flush()
        self.assertEqual(writer.waiting, 0)
        source.invalidate()
        theirs.close()
        await self.raises(errno.EPIPE, writer.write(b"more"))

    async def test_the_end_of_a_block_sends_what_was_written_unless_its_writer_was_ended_or_an_exception_leaves_it(self):
        async def arrives(leave):
            """Whether the peer gets everything of a writer that still has some of it when its block is left."""
            ours, theirs = socket.socketpair()
            reader, count = Reader(theirs), 1 << 20
            try:
                async with Writer(ours, limit=count) as writer:
                    await writer.write(bytes(count))
                    self.assertGreater(writer.waiting, 0)
                    reading = asyncio.create_task(reader.read())
                    leave(writer)
            except KeyError:
                pass
            del writer
            return len(await reading) == count

        def fail(writer):
            raise KeyError

        self.assertTrue(await arrives(lambda writer: None))
        self.assertFalse(await arrives(Writer.invalidate))
        self.assertFalse(await arrives(fail))
        ours, theirs = socket.socketpair()
        with theirs:
            async with Stream(ours) as stream:
                stream.abort()

    async def test_what_the_collector_of_cycles_finds_ends_before_its_descriptor_is_closed(self):
        class Holder:
            pass

        with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as peer:
            holder = Holder()
            holder.stream, holder.itself = Stream(server.accept()[0], resets=True), holder
            del holder
            gc.collect()
            with self.assertRaises(ConnectionResetError):
                peer.recv(1)

    async def test_who_waits_for_what_is_ended_is_told(self):
        ours, theirs = socket.socketpair()
        with theirs:
            stream = Stream(ours)
            reading = asyncio.create_task(stream.reader.readline())
            await asyncio.sleep(0)
            stream.abort()
            await self.raises(errno.EINVAL, reading)


class Hosted(unittest.TestCase):
    def test_a_hosted_run_is_served_while_its_descriptor_is_readable(self):
        trace, loop = [], runloop.Loop.current()
        loop.add(timer := runloop.Timer.every(0.005, lambda: trace.append("tick")))
        loop.add(observer := runloop.Observer(runloop.Activity.EXIT, lambda now: trace.append("exit")))
        with timer, observer:
            with runloop.HostedRun() as hosted:
                while len(trace) < 2:
                    select.select([runloop.HostedRun.descriptor()], [], [], 60)
                    self.assertTrue(hosted.iterate())
            self.assertEqual((trace, hosted.result), (["tick", "tick", "exit"], runloop.Result.STOPPED))
            with runloop.HostedRun() as hosted:
                loop.stop()
                self.assertFalse(hosted.iterate())
                self.assertEqual(hosted.result, runloop.Result.STOPPED)
        self.assertEqual(runloop.HostedRun("empty").result, runloop.Result.FINISHED)

    def test_what_a_callback_raises_comes_out_of_the_iteration_and_leaves_a_run_around_it_alone(self):
        def fail():
            raise KeyError("a callback")

        loop = runloop.Loop.current()
        with runloop.Timer.every(3600, lambda: None) as keeper:
            loop.add(keeper)
            with runloop.HostedRun() as outer:
                inner = runloop.HostedRun()
                loop.add(runloop.Timer(0, fail))
                with self.assertRaises(KeyError):
                    inner.iterate()
                self.assertEqual(inner.result, runloop.Result.STOPPED)
                self.assertTrue(outer.iterate())


if __name__ == "__main__":
    unittest.main()
