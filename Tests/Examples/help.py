"""What all the example programs have in common: --help, and command lines that they refuse."""

import os

from harness import Program, check, main, test

NAMES = ["chat", "fetch", "follow", "get", "panel", "rebuild", "scale-out", "sensors", "supervise", "tour"]


@test
def helps():
    """--help is answered on standard output, with status 0"""
    for name in NAMES:
        with Program(name, "--help") as program:
            status = program.status()
            check(status == 0, lambda: f"{name}: status {status}")
            check(program.out.text.startswith("usage"), lambda: f"{name}: {program.out.text}")
            check(program.errors.text == "", lambda: f"{name}: {program.errors.text}")


@test
def refuses():
    """a command line that makes no sense is an error, with status 2"""
    for name in NAMES:
        with Program(name, "--no-such-option") as program:
            status = program.status()
            check(status == 2, lambda: f"{name}: status {status}")
            check(program.out.text == "", lambda: f"{name}: {program.out.text}")
            check(program.errors.text != "", lambda: name)


@test
def misses_a_folder(folder):
    """rebuild says that a folder is not there"""
    missing = os.path.join(folder, "missing")
    with Program("rebuild", missing, "true") as program:
        check(program.status() == 1)
        check(f"rebuild: {missing}: No such file or directory" in program.errors.text, program.errors.text)


main()
