"""The build watcher, as its user sees it, and what it starts."""

import os
import signal

from harness import Program, check, main, test, wait_until


def put(folder, name, text=""):
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)


def is_alive(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Rebuild(Program):
    def __init__(self, folder, command):
        super().__init__("rebuild", folder, "sh", "-c", command)

    def builds(self, count):
        self.errors.wait(lambda text: text.count("build, because of") == count, f"build {count}")


@test
def rebuilds(folder):
    """a change of a file begins a build, and several at once begin one"""
    with Rebuild(folder, f"cat {folder}/a; echo done") as watcher:
        watcher.out.wait(lambda text: text.count("done") == 1, "the first build")
        put(folder, "a", "1\n")
        watcher.out.wait(lambda text: text.count("done") == 2, "the second build")
        for number in range(20):
            put(folder, f"b{number}")
        put(folder, "a", "2\n")
        watcher.out.expect("2\ndone")
        check(watcher.end() == 0)
        check(watcher.out.text.count("done") < 20, watcher.out.text)
        check(f"because of {folder}/" in watcher.errors.text or "because of a" in watcher.errors.text, watcher.errors.text)


@test
def supersedes(folder):
    """what still runs is ended with all that it has started, before the next one begins"""
    with Rebuild(folder, "trap '' TERM; sleep 1000 & echo $! $$; wait; sleep 1000") as watcher:
        for count in range(1, 4):
            watcher.out.wait(lambda text: text.count("\n") == count, f"build {count}")
            processes = [int(word) for word in watcher.out.lines[-1].split()]
            check(all(is_alive(process) for process in processes), str(processes))
            put(folder, "a", str(count))
            watcher.builds(count + 1)
            check(not is_alive(processes[1]), "two builds at a time")
            wait_until(lambda: not is_alive(processes[0]), "the grandchild to end")
        watcher.out.wait(lambda text: text.count("\n") == 4, "the last build")
        processes = [int(word) for word in watcher.out.lines[-1].split()]
        check(watcher.end(signal.SIGINT) == 0)
        wait_until(lambda: not any(is_alive(process) for process in processes), "all to end")


@test
def complains(folder):
    """a command that can't be started, a folder that is a file and a wrong command line are said in words"""
    with Program("rebuild", folder, "/no/program") as watcher:
        watcher.errors.expect("/no/program: No such file")
        check(watcher.end() == 0)
    with Program("rebuild", folder) as watcher:
        check(watcher.status() == 2)


main()
