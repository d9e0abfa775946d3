"""Turns the samples in the comments of Swift sources into programs that check-examples can compile.

A sample is a block that is indented by four columns below an empty line of a `///` comment. It is a part of a
program and presupposes some of its names; these are declared here. "…" stands for omitted code."""

import re

from blocks import Fault

# Each can be a member of a class or a global.
GIVEN = {
    "advance": "func advance() {}",
    "application": "let application = 0",
    "channel": "let channel: RunLoop.Channel = given()",
    "child": "let child: RunLoop.Child = given()",
    "close": "func close() {}",
    "complain": "func complain() {}",
    "connection": "let connection: RunLoop.Connection = given()",
    "count": "nonisolated(unsafe) var count = 0",
    "describeDevice": 'func describeDevice() -> String { "" }',
    "descriptor": "let descriptor: CInt = 0",
    "failure": "let failure: RunLoop.Simulation.Failure = given()",
    "g_application_run": "func g_application_run(_ application: Int, _ count: Int, _ arguments: Int?) {}",
    "idle": "nonisolated(unsafe) var idle: RunLoop.Timeout?",
    "isDone": "nonisolated(unsafe) var isDone = false",
    "isResumed": "nonisolated(unsafe) var isResumed = false",
    "loop": "let loop: RunLoop = given()",
    "messages": "nonisolated(unsafe) var messages: [String] = []",
    "nextFrame": "let nextFrame = RunLoop.Instant.now",
    "output": "nonisolated(unsafe) var output: [UInt8] = []",
    "pid": "let pid: Int32 = 0",
    "port": "let port: RunLoop.Port<String, String> = given()",
    "reader": "nonisolated(unsafe) let reader: RunLoop.Reader = given()",
    "search": "func search(_ text: String) {}",
    "server": "let server: Server = given()",
    "source": "let source: RunLoop.Source = given()",
    "take": "func take(_ text: String) {}",
    "text": 'let text = ""',
    "thread": "let thread: RunLoop.Thread = given()",
    "time": "let time: RunLoop.VirtualTime = given()",
    "window": "let window: Window = given()",
}
PRELUDE = """
import Glibc
import RunLoopKit
import RunLoopKitDiagnostics
import RunLoopKitLinux
import RunLoopKitTesting
import Testing

func given<Value>() -> Value { fatalError() }
struct Server: Sendable {
    let hasAnswered = true
    func drain() async {}
    func serve(_ connection: RunLoop.Connection) {}
}
struct Window { let isOpen = true; func draw() {} }
extension RunLoop.Mode { static let paused = RunLoop.Mode("paused") }
"""
TOP_LEVEL = re.compile(r"(@main|@Test|actor|(final )?class|struct|extension)\b")


def samples_of(file):
    """The number of the first line, and the text, of each sample in a Swift source."""
    lines = file.read_text().splitlines()
    number = 1
    while number < len(lines):
        if re.match(r" *///.*```", lines[number]):
            raise Fault(f"line {number + 1}: a sample in a comment is indented by four columns, not fenced")
        if not (re.match(r" *///     ", lines[number]) and re.fullmatch(r" *///", lines[number - 1])):
            number += 1
            continue
        first = number
        while number < len(lines) and re.match(r" *///(     |$)", lines[number]):
            number += 1
        yield first + 1, "\n".join(re.sub(r"^ *///( {5})?", "", line) for line in lines[first:number]) + "\n"


def program(module, sample):
    """The file around a sample of a module: of a library or, with @main, of a program."""
    lines = [line for line in sample.splitlines() if line.strip() != "…"]
    words = set(re.findall(r"\w+", sample)) - set(re.findall(r"(?:let|var|func) (\w+)", sample))
    given = [declaration for name, declaration in GIVEN.items() if name in words]
    prelude = f"import {module}{PRELUDE}"
    if TOP_LEVEL.match(sample):
        return "\n".join([prelude, *given, *lines]) + "\n"
    members = [line for line in lines if line.startswith("private ")]
    body = [f"func sample() {'async throws' if 'await' in words else 'throws'} {{", *(line for line in lines if line not in members), "}"]
    if "self" not in words:
        return "\n".join([prelude, *given, *body]) + "\n"
    # Objects that are isolated to the main actor are created on the main actor.
    owner = "@MainActor final class Owner" if "isolation" in words else "final class Owner: @unchecked Sendable"
    return "\n".join([prelude, f"{owner} {{", *given, *members, *body, "}"]) + "\n"
