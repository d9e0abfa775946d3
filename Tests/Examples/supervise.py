"""The supervisor, as its user sees it, and the programs that it starts."""

import os
import re
import signal
import time

from harness import Program, check, is_asleep, main, test, wait_until


class Supervise(Program):
    def __init__(self, *arguments, **options):
        super().__init__("supervise", *arguments, **options)


def supervise(command, shortest="0.01", longest="0.1"):
    return Supervise(shortest, longest, "sh", "-c", command)


def exists(process):
    try:
        os.kill(process, 0)
        return True
    except ProcessLookupError:
        return False


@test
def restarts():
    """a program that ends is started again, and its lines have the number of its process"""
    with supervise("echo out; echo error >&2; exit 3") as supervisor:
        supervisor.out.wait(lambda text: text.count("status 3") >= 4, "four runs")
        processes = re.findall(r"\[(\d+)\] exited with status 3\n", supervisor.out.text)
        check(len(set(processes)) == len(processes), "a process ran twice")
        for process in processes:
            check(f"[{process}] out\n[{process}] error\n[{process}] exited" in supervisor.out.text, process)
        check(supervisor.end() == 0)


@test
def backoff():
    """the pauses between the runs double, up to the longest"""
    with supervise("date +%s%N", "0.1", "0.2") as supervisor:
        supervisor.out.wait(lambda text: text.count("status 0") >= 4, "four runs")
        times = [int(text) / 1e9 for text in re.findall(r"\] (\d{10,})\n", supervisor.out.text)]
        pauses = [after - before for before, after in zip(times, times[1:])]
        check(pauses[0] >= 0.1 and pauses[1] >= 0.2 and pauses[2] >= 0.2, lambda: str(pauses))
        check(supervisor.end() == 0)


@test
def polite_end():
    """the program is ended with the supervisor, may say goodbye, and leaves nothing that it has started"""
    with supervise("trap 'echo goodbye; exit 7' TERM; sleep 1000 & echo ready $!; wait") as supervisor:
        text = supervisor.out.expect("ready ")
        grandchild = int(supervisor.out.wait(lambda text: re.search(r"ready (\d+)\n", text), text).split()[-1])
        # Until then it may be a copy of the shell, which catches the signal as that does.
        wait_until(lambda: open(f"/proc/{grandchild}/comm").read() == "sleep\n", "the grandchild to begin")
        check(supervisor.end(signal.SIGINT) == 0)
        check("goodbye\n" in supervisor.out.text and "status 7" in supervisor.out.text, supervisor.out.text)
        wait_until(lambda: not exists(grandchild) or "Z" in open(f"/proc/{grandchild}/stat").read().rpartition(")")[2].split()[0],
                   "the grandchild to end")


@test
def stubborn_end():
    """a program that ignores the signal is ended all the same, not at once"""
    with supervise("trap '' TERM; echo ready; exec sleep 1000") as supervisor:
        supervisor.out.expect("ready")
        begun = time.monotonic()
        check(supervisor.end() == 0)
        check(time.monotonic() - begun >= 3)
        check("was ended by signal 9" in supervisor.out.text, supervisor.out.text)


@test
def ends_in_pause():
    """a supervisor that waits to start the program again ends at once"""
    with supervise("exit 0", "1000", "1000") as supervisor:
        supervisor.out.expect("status 0")
        wait_until(lambda: is_asleep(supervisor), "it to wait")
        check(supervisor.end() == 0)


@test
def refused():
    """a program that is not there is named, and so is a wrong command line"""
    with Supervise("1", "2", "/no/program") as supervisor:
        check(supervisor.status() == 1)
        check("supervise: /no/program: No such file" in supervisor.errors.text, supervisor.errors.text)
    with Supervise("2", "1", "true") as supervisor:
        check(supervisor.status() == 2)


main()
