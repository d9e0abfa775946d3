"""The panel, on a terminal of its own."""

import fcntl
import os
import re
import signal
import struct
import termios

from harness import Program, Stream, check, main, state, test, wait_until


class Panel(Program):
    """What it draws is in `screen`."""

    def __init__(self, *command, rows=10, columns=40):
        self.keyboard, self.terminal = os.openpty()
        self.resize(rows, columns)
        self.former = termios.tcgetattr(self.terminal)
        super().__init__("panel", *command, stdin=self.terminal, stdout=self.terminal)
        self.screen = Stream(os.fdopen(os.dup(self.keyboard), "rb", buffering=0))

    def __exit__(self, *reason):
        super().__exit__(*reason)
        if reason[0] is not None:
            print(f"     the screen: {self.screen.text[-2000:]!r}")
        os.close(self.keyboard)
        os.close(self.terminal)

    def resize(self, rows, columns):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, key):
        os.write(self.keyboard, key.encode())

    def is_raw(self):
        return not termios.tcgetattr(self.terminal)[3] & (termios.ICANON | termios.ECHO)

    def wait_until_raw(self):
        wait_until(self.is_raw, "the terminal to be taken")

    def check_end(self):
        check(self.status() == 0, str(self.process.returncode))
        check(termios.tcgetattr(self.terminal) == self.former, "the terminal is as it was")
        self.screen.wait(lambda text: text.count("\x1b[?1049h") == text.count("\x1b[?1049l"), "the former screen")

    def pictures(self):
        return self.screen.text.split("\x1b[H")[1:]


@test
def shows(folder):
    """lines, the state, and keys"""
    with Panel("sh", "-c", f"echo one; echo two >> {folder}/runs; printf 'a\\033[2Jb\\n'; sleep 0.1; exit 3") as panel:
        panel.screen.wait(lambda text: "one\x1b[K\r\na[2Jb\x1b[K\r\n" in text, "the lines, without what moves the cursor")
        panel.screen.wait(lambda text: "exited(3)" in text, "the state")
        check(panel.is_raw())
        panel.press("r")
        wait_until(lambda: open(f"{folder}/runs").read() == "two\ntwo\n", "the second run")
        panel.press(" ")
        panel.screen.wait(lambda text: "| held" in text, "the picture to be held")
        panel.press("q")
        panel.check_end()


@test
def resizes(folder):
    """a window of another size gets another picture"""
    with Panel("sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do echo a long line, number $i; done; sleep 1000") as panel:
        panel.screen.wait(lambda text: "number 9" in text and "\x1b[10H" in text, "all lines")
        panel.resize(4, 12)
        panel.kill(signal.SIGWINCH)
        panel.screen.wait(lambda text: "\x1b[4H" in text, "the smaller picture")
        last = panel.pictures()[-1]
        check(last.count("a long line,\x1b[K") == 3 and "number" not in last, repr(last))
        panel.kill(signal.SIGTERM)
        panel.check_end()


@test
def stops(folder):
    """Control-Z gives the terminal to the shell, and fg takes it again"""
    with Panel("sleep", "1000") as panel:
        panel.wait_until_raw()
        panel.screen.wait(lambda text: "runs" in text, "the picture")
        panel.kill(signal.SIGTSTP)
        wait_until(lambda: state(panel) == "T", "the panel to stop")
        check(termios.tcgetattr(panel.terminal) == panel.former, "the shell has its terminal")
        panel.kill(signal.SIGCONT)
        panel.wait_until_raw()
        panel.kill(signal.SIGINT)
        panel.check_end()


@test
def floods(folder):
    """a program that writes without an end neither fills the memory nor keeps keys waiting"""
    with Panel("yes") as panel:
        panel.screen.wait(lambda text: re.search(r"\| \d{5,} lines", text), "many lines")
        with open(f"/proc/{panel.process.pid}/statm") as file:
            check(int(file.read().split()[1]) < 25_000, "pages of memory")
        panel.press("q")
        panel.check_end()


@test
def loses(folder):
    """the end of the terminal ends the program that was started, too"""
    with Panel("sh", "-c", f"echo $$ > {folder}/pid; exec sleep 1000") as panel:
        panel.wait_until_raw()
        wait_until(lambda: os.path.exists(f"{folder}/pid") and open(f"{folder}/pid").read().endswith("\n"), "the program")
        process = int(open(f"{folder}/pid").read())
        panel.kill(signal.SIGHUP)
        check(panel.status() == 0)
        check(not os.path.exists(f"/proc/{process}"), "the program goes on")


main()
