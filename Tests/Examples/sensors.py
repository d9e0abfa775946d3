"""The sensors, as their user sees them, and whoever writes into the FIFO."""

import os
import re
import signal
import subprocess

from harness import Program, check, main, test


class Sensors(Program):
    def __init__(self, *arguments, **options):
        super().__init__("sensors", *arguments, stdin=subprocess.PIPE, **options)

    def readings(self, sensor):
        """The values so far, as printed."""
        return [float(line.split()[1]) for line in self.out.lines if line.startswith(sensor + " ")]

    def summary(self, sensor):
        """Asks for it, and returns its line, `None` if there is none."""
        before = self.out.text.count("end of summary\n")
        self.tell("summary\n")
        text = self.out.wait(lambda text: text.count("end of summary\n") > before, "a summary")
        lines = text.split("end of summary\n")[before].split("\n")
        return next((line for line in lines if line.startswith(f"summary of {sensor}:")), None)


def fifo_in(folder):
    os.mkfifo(f"{folder}/fifo")
    return f"{folder}/fifo"


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


@test
def machine(folder):
    """it measures the machine at intervals, on a thread of its own"""
    with Sensors("--every", "0.02") as sensors:
        sensors.out.wait(lambda _: len(sensors.readings("memory")) >= 20, "readings of the memory")
        sensors.out.wait(lambda _: len(sensors.readings("load")) >= 20, "readings of the load")
        check(all(0 < value < 100 for value in sensors.readings("memory")))
        check(all(value >= 0 for value in sensors.readings("load")))
        names = [open(f"/proc/{sensors.process.pid}/task/{task}/comm").read().strip()
                 for task in os.listdir(f"/proc/{sensors.process.pid}/task")]
        check("sensors" in names and len(names) > 1, lambda: names)
        check(sensors.end() == 0)
        told = int(re.search(r"the end: (\d+) readings", sensors.out.text)[1])
        check(told == len([line for line in sensors.out.lines if " (min " in line]), "the number of readings is wrong")


@test
def intervals(folder):
    """a sensor is never asked before its time"""
    path = f"{folder}/number"
    write(path, "1\n")
    with Sensors("--file", f"n={path}", "--every", "1000") as sensors:
        sensors.out.wait(lambda _: sensors.readings("n") == [1], "the first reading")
        check(sensors.summary("n") == "summary of n: min 1.00, mean 1.00, max 1.00 of 1", lambda: sensors.out.text)
        check(sensors.end() == 0)
        check(sensors.readings("n") == [1], "it was asked too early")


@test
def window(folder):
    """a FIFO is read line by line, from many writers, and the last readings are summed up"""
    fifo = fifo_in(folder)
    with Sensors("--fifo", fifo, "--every", "1000", "--window", "4") as sensors:
        expected = []
        for number in range(50):
            # Each opens the FIFO, and closes it again.
            write(fifo, f"{number}\n{-number / 4}\n")
            expected += [float(number), -number / 4]
        sensors.out.wait(lambda _: len(sensors.readings("fifo")) == 100, "100 readings")
        seen = sensors.readings("fifo")
        check(all(abs(a - b) < 0.01 for a, b in zip(seen, expected)), lambda: seen)
        line = sensors.summary("fifo")
        check(line == "summary of fifo: min -12.25, mean 18.19, max 49.00 of 4", line)
        # In pieces, and without an end yet.
        with open(fifo, "w", buffering=1) as file:
            for piece in ("1", "2", ".", "5"):
                file.write(piece)
                file.flush()
            file.write("\n")
        sensors.out.expect("fifo 12.50 (min -12.25")
        check(sensors.end() == 0)


@test
def bad_lines(folder):
    """what is no number is reported and skipped, and so is a line that is too long"""
    fifo = fifo_in(folder)
    with Sensors("--fifo", fifo, "--every", "1000") as sensors:
        write(fifo, "warm\n\nnan\ninf\n1e400\n 7 \r\n")
        sensors.out.expect("fifo 7.00 (")
        for line in ("warm", "", "nan", "inf", "1e400"):
            sensors.errors.expect(f'fifo: "{line}" is no reading\n')
        write(fifo, "9" * 500 + "\n")
        sensors.errors.expect("fifo: a line is too long\n")
        write(fifo, "8\n")
        sensors.out.expect("fifo 8.00 (")
        check(sensors.end() == 0)


@test
def failing(folder):
    """a sensor that cannot be read is reported once, and measured again when it can"""
    path = f"{folder}/number"
    with Sensors("--file", f"n={path}", "--every", "0.01") as sensors:
        sensors.errors.expect("n: open ")
        sensors.out.wait(lambda _: len(sensors.readings("memory")) > 10, "others to be measured")
        write(f"{path}.new", "3.5 volts\n")
        os.rename(f"{path}.new", path)
        sensors.out.expect("n 3.50 (")
        check(sensors.errors.text.count("n: open") == 1, lambda: sensors.errors.text)
        write(f"{path}.new", "much\n")
        os.rename(f"{path}.new", path)
        sensors.errors.expect('number begins with "much"')
        check(sensors.end() == 0)


@test
def paused(folder):
    """in a pause nothing is measured, and the user is still answered; what was written meanwhile comes afterwards"""
    fifo = fifo_in(folder)
    with Sensors("--fifo", fifo, "--every", "0.01") as sensors:
        write(fifo, "1\n")
        sensors.out.expect("fifo 1.00 (")
        for round in range(1, 6):
            sensors.tell("pause\npause\n")
            sensors.out.wait(lambda text: text.count("paused\n") == round, "the pause")
            before = len(sensors.readings("memory"))
            write(fifo, f"{round + 1}\n")
            # Each answer goes through the paused loop, which has had every opportunity to measure.
            for _ in range(20):
                check(f"of {round}" in sensors.summary("fifo"), lambda: sensors.out.text)
            check(len(sensors.readings("memory")) == before, "it measured in the pause")
            sensors.tell("resume\nresume\n")
            sensors.out.wait(lambda text: text.count("resumed\n") == round, "the end of the pause")
            sensors.out.expect(f"fifo {round + 1}.00 (")
            sensors.out.wait(lambda _: len(sensors.readings("memory")) > before, "more readings")
        # As fast as can be: several may come to one or to none, and the last word counts.
        sensors.tell("pause\nresume\n" * 50)
        check("of 6" in sensors.summary("fifo"))
        before = len(sensors.readings("memory"))
        sensors.out.wait(lambda _: len(sensors.readings("memory")) > before + 5, "more readings")
        check(sensors.out.text.count("paused\n") == sensors.out.text.count("resumed\n"), "a pause has no end")
        check(sensors.end() == 0)


@test
def ends(folder):
    """signals and "quit" end it cleanly, in a pause too; the end of the commands does not"""
    for pausing in (False, True):
        for way in (signal.SIGINT, signal.SIGTERM, None):
            with Sensors("--every", "0.02") as sensors:
                sensors.out.expect("memory ")
                if pausing:
                    sensors.tell("pause\n")
                    sensors.out.expect("paused\n")
                if way is None:
                    sensors.tell("quit\n")
                    check(sensors.status() == 0)
                else:
                    sensors.process.stdin.close()
                    check(sensors.end(way) == 0)
                check("the end: " in sensors.out.text, lambda: sensors.out.text)
    with Program("sensors", "--every", "0.02") as sensors:
        sensors.out.wait(lambda text: text.count("memory ") > 5, "readings without a user")
        check(sensors.end() == 0)


@test
def bad_input(folder):
    """command lines that make no sense, and a FIFO that is not there, are refused with a sentence"""
    for arguments in (["--fifo"], ["--window", "0"], ["--every", "0"], ["--file", "x"], ["-x", "1"]):
        with Sensors(*arguments) as sensors:
            check(sensors.status() == 2)
            check("usage: sensors" in sensors.errors.text, lambda: sensors.errors.text)
    with Sensors("--fifo", f"{folder}/nothing") as sensors:
        check(sensors.status() == 1)
        check("No such file" in sensors.errors.text, lambda: sensors.errors.text)


main()
