"""The follower of files, as somebody sees it who reads its output and changes the files meanwhile."""

import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
from collections import Counter

from harness import BINARIES, LIMIT, Program, check, is_asleep, main, open_files, state, test, wait_until


class Follow(Program):
    def __init__(self, *arguments, **options):
        super().__init__("follow", *arguments, **options)

    def expect_exactly(self, text):
        """All that has been printed so far, once it is so much."""
        self.out.wait(lambda seen: len(seen) >= len(text), repr(text))
        check(self.out.text == text, lambda: f"expected {text!r}, and there is {self.out.text!r}")

    def is_following(self, *files):
        """Waits until these are open in the program, each as often: what is written from then on is printed."""
        wanted = Counter(os.path.realpath(file) for file in files)
        wait_until(lambda: not wanted - Counter(open_files(self)) and is_asleep(self), f"it to open {wanted}")

    def stopped(self):
        """Everything that is done inside comes to the program at once."""
        return Stopped(self)


class Stopped:
    def __init__(self, program):
        self.program = program

    def __enter__(self):
        self.program.kill(signal.SIGSTOP)
        wait_until(lambda: state(self.program) == "T", "it to stop")

    def __exit__(self, *_):
        self.program.kill(signal.SIGCONT)


def append(path, text):
    with open(path, "a") as file:
        file.write(text)


def numbered(first, last):
    return "".join(f"line {number}\n" for number in range(first, last + 1))


@test
def appended(folder):
    """it starts at the end and prints what is appended, whole lines or not"""
    path = f"{folder}/log"
    append(path, "old\n")
    with Follow(path) as follow:
        follow.is_following(path)
        append(path, "one\ntwo")
        follow.expect_exactly("one\ntwo")
        append(path, ", the rest\n")
        follow.expect_exactly("one\ntwo, the rest\n")
        check(follow.end() == 0)
        check(follow.errors.text == "", lambda: follow.errors.text)


@test
def last_lines(folder):
    """with -n it begins with the last lines, exactly as tail does"""
    contents = ["", "\n", "one", "one\n", numbered(1, 9), numbered(1, 9) + "part", "\n\n\n", numbered(1, 30_000),
                "x" * 200_000 + "\n" + "y" * 200_000 + "\nend"]
    for content in contents:
        with open(f"{folder}/log", "w") as file:
            file.write(content)
        for lines in (0, 1, 3, 10, 20_000):
            expected = subprocess.run(["tail", "-n", str(lines), f"{folder}/log"], capture_output=True, check=True).stdout
            with Follow("-n", lines, f"{folder}/log") as follow:
                follow.is_following(f"{folder}/log")
                append(f"{folder}/log", "!")
                follow.expect_exactly(expected.decode() + "!")
                check(follow.end() == 0)
            os.truncate(f"{folder}/log", len(content))


@test
def headers(folder):
    """several files have headers, exactly as tail's"""
    for name in ("a", "b", "c"):
        append(f"{folder}/{name}", f"first of {name}\nsecond of {name}\n")
    expected = subprocess.run(["tail", "-n", "1", "a", "b", "c"], cwd=folder, capture_output=True, check=True).stdout.decode()
    with Follow("-n", 1, "a", "b", "c", folder=folder) as follow:
        follow.expect_exactly(expected)
        append(f"{folder}/c", "more of c\n")
        expected += "more of c\n"
        follow.expect_exactly(expected)
        append(f"{folder}/a", "more of a\n")
        expected += "\n==> a <==\nmore of a\n"
        follow.expect_exactly(expected)
        check(follow.end() == 0)


@test
def truncated(folder):
    """a file that was truncated is read from its start"""
    path = f"{folder}/log"
    append(path, numbered(1, 100))
    with Follow(path) as follow:
        follow.is_following(path)
        with open(path, "w"):
            follow.errors.expect("log: file truncated\n")
        append(path, "new\n")
        follow.expect_exactly("new\n")
        with follow.stopped():
            with open(path, "w") as file:
                file.write("x\n")
        follow.expect_exactly("new\nx\n")
        check(follow.end() == 0)


@test
def rotated(folder):
    """files are renamed and made anew while they are written, and no line is lost or comes twice"""
    path, said = f"{folder}/log", ""
    append(path, "")
    with Follow(path) as follow:
        follow.is_following(path)
        for round in range(30):
            with open(path, "a") as writer:
                for text in (f"{round} before\n", f"{round} renamed\n", f"{round} both\n"):
                    writer.write(text)
                    writer.flush()
                    said += text
                    if "before" in text:
                        os.rename(path, f"{path}.{round}")
                    if "renamed" in text and round % 2:
                        append(path, "")
            append(path, f"{round} new\n")
            said += f"{round} new\n"
            # Two files of one path between two looks: of the one in between, nobody could know.
            follow.expect_exactly(said)
        with follow.stopped():
            append(path, "last of the old\n")
            os.rename(path, f"{path}.old")
            append(path, "first of the new\n")
        follow.expect_exactly(said + "last of the old\nfirst of the new\n")
        follow.errors.expect("log: file was replaced, following the new one\n")
        check(follow.end() == 0)


@test
def replaced(folder):
    """another file that is renamed over the path, or to which a link points, is followed"""
    path, other = f"{folder}/log", f"{folder}/other"
    append(path, "one\n")
    with Follow("-n", 1, path, folder=folder) as follow:
        follow.expect_exactly("one\n")
        append(other, "two\n")
        os.rename(other, path)
        follow.expect_exactly("one\ntwo\n")
        append(other, "three\n")
        os.symlink(other, f"{folder}/link")
        os.rename(f"{folder}/link", path)
        follow.expect_exactly("one\ntwo\nthree\n")
        append(other, "four\n")
        follow.expect_exactly("one\ntwo\nthree\nfour\n")
        check(follow.end() == 0)


@test
def deleted(folder):
    """a file that was deleted is let go of, and followed again when it is back"""
    path, said = f"{folder}/log", ""
    append(path, "old\n")
    with Follow(path) as follow:
        follow.is_following(path)
        for round in range(10):
            with follow.stopped():
                append(path, f"last words {round}\n")
                os.remove(path)
            said += f"last words {round}\n"
            follow.expect_exactly(said)
            wait_until(lambda: not any(folder in file and "log" in file for file in open_files(follow)), "it to close the file")
            follow.errors.wait(lambda text: text.count("file was deleted") == round + 1, "its end")
            append(path, f"back {round}\n")
            said += f"back {round}\n"
            follow.expect_exactly(said)
        check(follow.end() == 0)


@test
def missing(folder):
    """a file that does not exist yet is followed when it does, and so are the directories above it"""
    path = f"{folder}/a/b/c/log"
    with Follow(path, f"{folder}/other") as follow:
        follow.errors.expect("a/b/c/log: waiting for it to appear\n")
        follow.errors.expect("other: waiting for it to appear\n")
        os.mkdir(f"{folder}/a")
        os.makedirs(f"{folder}/a/b/c")
        append(path, "here\n")
        follow.expect_exactly(f"==> {path} <==\nhere\n")
        follow.errors.expect("a/b/c/log: file has appeared\n")
        append(path, "still\n")
        follow.expect_exactly(f"==> {path} <==\nhere\nstill\n")
        # The whole tree is moved away, and another one comes.
        os.rename(f"{folder}/a/b", f"{folder}/a/was")
        os.makedirs(f"{folder}/a/b/c")
        append(path, "again\n")
        follow.expect_exactly(f"==> {path} <==\nhere\nstill\nagain\n")
        check(follow.end() == 0)


@test
def directory(folder):
    """all files of a directory are followed: old ones from the end, new ones as a whole, renamed ones without a word twice"""
    place = f"{folder}/logs"
    os.makedirs(f"{place}/inside")
    append(f"{place}/old", "before\n")
    append(f"{place}/inside/deep", "not followed\n")
    with Follow("logs", folder=folder) as follow:
        follow.is_following(f"{place}/old")
        append(f"{place}/old", "one\n")
        said = "==> logs/old <==\none\n"
        follow.expect_exactly(said)
        append(f"{place}/new", "two\n")
        said += "\n==> logs/new <==\ntwo\n"
        follow.expect_exactly(said)
        os.rename(f"{place}/new", f"{place}/new.1")
        append(f"{place}/new", "three\n")
        said += "three\n"
        follow.expect_exactly(said)
        append(f"{place}/new.1", "four\n")
        said += "\n==> logs/new.1 <==\nfour\n"
        follow.expect_exactly(said)
        with follow.stopped():
            append(f"{place}/new.1", "five\n")
            os.remove(f"{place}/new.1")
        said += "five\n"
        follow.out.expect("five\n")
        wait_until(lambda: not any("new.1" in file for file in open_files(follow)), "it to close the file")
        check("deep" not in follow.out.text)
        check(follow.end() == 0)


@test
def directory_again(folder):
    """a directory that is deleted and made again is followed again; a path that becomes a directory, too"""
    place = f"{folder}/logs"
    with Follow("logs", folder=folder) as follow:
        follow.errors.expect("logs: waiting for it to appear\n")
        said = ""
        for round in range(3):
            os.mkdir(place)
            append(f"{place}/log", f"{round}\n")
            said += f"{round}\n"
            follow.expect_exactly(said)
            if round == 1:
                os.rename(place, f"{folder}/was")
            else:
                os.remove(f"{place}/log")
                os.rmdir(place)
            follow.errors.wait(lambda text: text.count("No such file") == round + 1, "its end")
        append(place, "now a file\n")
        follow.expect_exactly(said + "now a file\n")
        check(follow.end() == 0)


@test
def dropped_notices(folder):
    """when the kernel drops notices, nothing is lost"""
    path = f"{folder}/log"
    with open("/proc/sys/fs/inotify/max_queued_events") as file:
        limit = int(file.read())
    check(limit <= 200_000, "this system never drops any")
    append(path, "")
    with Follow(path, f"{folder}/late", folder) as follow:
        follow.is_following(path, path)
        with follow.stopped():
            # Two notices for each name, and no two of them are alike.
            for number in range(limit // 2 + 100):
                os.close(os.open(f"{folder}/{number}", os.O_CREAT))
                os.remove(f"{folder}/{number}")
            append(path, "after the flood\n")
            append(f"{folder}/late", "later\n")
        follow.out.wait(lambda text: text.count("after the flood\n") == 2 and text.count("later\n") == 2, "both, twice each")
        check(follow.end() == 0)


class Unread:
    """A program whose output nobody reads, until somebody does."""

    def __init__(self, *arguments):
        self.reader, writer = os.pipe()
        self.process = subprocess.Popen([os.path.join(BINARIES, "follow"), *map(str, arguments)], stdout=writer)
        os.close(writer)
        wait_until(lambda: arguments[-1] in open_files(self) and is_asleep(self), "it to open the file")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        if self.reader is not None:
            os.close(self.reader)

    def is_stuck(self):
        """Has the pipe no space for more?"""
        count = struct.unpack("i", fcntl.ioctl(self.reader, termios.FIONREAD, b"\0\0\0\0"))[0]
        return count >= 65536 - 4096 and is_asleep(self)

    def read(self, size):
        """So many bytes, or all if there are fewer."""
        seen = bytearray()
        while len(seen) < size:
            check(select.select([self.reader], [], [], LIMIT)[0], lambda: f"there is no more output after {len(seen)} bytes")
            data = os.read(self.reader, 65536)
            if not data:
                break
            seen += data
        return seen.decode()

    def close(self):
        os.close(self.reader)
        self.reader = None

    def status_field(self, name):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(line for line in file if line.startswith(name)).split()[1]

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(LIMIT)


def much(size):
    return "".join(f"{number:09}\n" for number in range(size // 10))


@test
def slow_reader(folder):
    """a reader that does not read costs bounded memory, and loses nothing when it reads later"""
    path, text = f"{folder}/log", much(30_000_000)
    append(path, "")
    with Unread(path) as follow:
        before = int(follow.status_field("VmRSS"))
        append(path, text)
        wait_until(follow.is_stuck, "it to wait for its reader")
        more = int(follow.status_field("VmRSS")) - before
        check(more < 20_000, lambda: f"it has {more} KiB more in memory")
        check(follow.read(len(text)) == text, "it is not what was written")
        check(follow.end() == 0)


@test
def slow_end(folder):
    """a signal ends it although its output is stuck"""
    append(f"{folder}/log", much(1_000_000))
    with Unread("-w", "0.1", "-n", 1_000_000, f"{folder}/log") as follow:
        wait_until(follow.is_stuck, "it to wait for its reader")
        check(follow.end() == 0)


@test
def last_output(folder):
    """what it has read before a signal is still printed, to who begins to read then"""
    text = much(1_000_000)
    append(f"{folder}/log", text)
    with Unread("-w", LIMIT, "-n", 1_000_000, f"{folder}/log") as follow:
        wait_until(follow.is_stuck, "it to wait for its reader")
        follow.process.send_signal(signal.SIGTERM)
        wait_until(lambda: not int(follow.status_field("SigCgt"), 16) >> (signal.SIGTERM - 1) & 1, "it to take the signal")
        seen = follow.read(len(text))
        check(len(seen) > 200_000 and text.startswith(seen), lambda: f"it printed {len(seen)} bytes")
        check(follow.process.wait(LIMIT) == 0)


@test
def reader_gone(folder):
    """when nobody reads its output any more, it ends by itself"""
    append(f"{folder}/log", "")
    with Unread(f"{folder}/log") as follow:
        follow.close()
        check(follow.process.wait(LIMIT) == 0)


@test
def into_file(folder):
    """its output may be a file, for which nobody can wait"""
    append(f"{folder}/log", "")
    text = numbered(1, 100_000)
    with open(f"{folder}/out", "w") as out:
        with Program("follow", f"{folder}/log", stdout=out) as follow:
            wait_until(lambda: f"{folder}/log" in open_files(follow) and is_asleep(follow), "it to open the file")
            append(f"{folder}/log", text)
            wait_until(lambda: os.path.getsize(f"{folder}/out") == len(text), "the output")
            check(follow.end() == 0)
    with open(f"{folder}/out") as out:
        check(out.read() == text)


@test
def bad_input(folder):
    """command lines that make no sense are refused; what is no file is waited for"""
    for arguments in ([], ["-n"], ["-n", "x", "a"], ["-n", "-1", "a"], ["-z", "a"], [""]):
        with Follow(*arguments) as follow:
            check(follow.status() == 2)
            check("usage: follow" in follow.errors.text, lambda: follow.errors.text)
    os.mkfifo(f"{folder}/fifo")
    with Follow(f"{folder}/fifo") as follow:
        follow.errors.expect("neither a file nor a directory")
        os.remove(f"{folder}/fifo")
        append(f"{folder}/fifo", "now a file\n")
        follow.expect_exactly("now a file\n")
        check(follow.end() == 0)


main()
