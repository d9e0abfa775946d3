"""The code in Markdown, and the marks above it that say what is done with it. CONTRIBUTING.md has the table of the marks.

A mark is a comment in the line above a block: <!-- run -->. Several are separated by commas: <!-- run, file: main.swift -->"""

import re
from pathlib import Path

# Fences of these are not compiled: what a program prints, and commands for a shell.
PROSE = {"text", "sh", "ini"}
MARK = re.compile(r"run|run with input|manifest|rejected|file: \S+")


class Fault(Exception):
    """A block that nobody could check as it stands."""


class Block:
    def __init__(self, file, line, language, marks, text, output=None):
        self.file, self.line, self.language, self.text = Path(file), line, language, text
        self.output = output
        self.is_fragment = any(mark.startswith("fragment: ") for mark in marks)
        self.path = next((mark.removeprefix("file: ") for mark in marks if mark.startswith("file: ")), None)
        self.is_manifest = "manifest" in marks
        self.reads_input = "run with input" in marks
        self.is_rejected = "rejected" in marks
        self.runs = "run" in marks or self.reads_input


def marks_above(lines, fence):
    """The marks of the block whose fence is in this line."""
    comment = re.fullmatch(r" *<!-- (.+) -->", lines[fence - 1]) if fence else None
    if not comment:
        return []
    # A reason may have commas.
    marks = [comment[1]] if comment[1].startswith("fragment: ") else comment[1].split(", ")
    for mark in marks:
        if not mark.startswith("fragment: ") and not MARK.fullmatch(mark):
            raise Fault(f"line {fence}: nobody knows the mark “{mark}”")
    return marks


def fenced(lines, languages):
    """The line number of the first line in, the language, the marks, the text and the end of each fenced block."""
    number = 0
    while number < len(lines):
        fence = re.match(r"( *)```(.*)", lines[number])
        if not fence:
            number += 1
            continue
        indentation, language = fence[1], fence[2]
        if language not in languages and language not in PROSE:
            raise Fault(f"line {number + 1}: the language “{language}” is compiled nowhere; text is ```text, commands are ```sh")
        end = lines.index(f"{indentation}```", number + 1)
        text = "".join(f"{line.removeprefix(indentation)}\n" for line in lines[number + 1 : end])
        yield number + 2, language, marks_above(lines, number), text, end
        number = end + 1


def blocks_of(file, languages):
    """The blocks of a file, in order. A block of text that follows a program that is run, or commands, is what they print."""
    lines = Path(file).read_text().splitlines()
    last, last_end = None, 0
    for line, language, marks, text, end in fenced(lines, languages):
        follows = last is not None and not any(lines[last_end + 1 : line - 2])
        if language == "text" and follows and (last.runs or last.language == "sh"):
            last.output = text
        if last is not None:
            yield last
        last, last_end = Block(file, line, language, marks, text), end
    if last is not None:
        yield last


def has_printed(expected, output):
    """Whether a program has printed what a block says: line by line, where “…” stands for anything."""
    pattern = "".join(".*".join(re.escape(part) for part in line.split("…")) + "\n" for line in expected.splitlines())
    return re.fullmatch(pattern, output) is not None
