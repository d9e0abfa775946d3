"""How far something is that takes minutes."""

import sys
import time

WIDTH = 20
FEW = 5  # steps, from which nothing can be estimated


class Progress:
    """One line that is rewritten on a terminal; elsewhere a line every ten seconds."""

    def __init__(self, total):
        self.total, self.done, self.start, self.last = total, 0, time.monotonic(), None
        self.rewrites = sys.stderr.isatty()

    def step(self, what):
        """The next of them begins."""
        now = time.monotonic()
        filled = WIDTH * self.done // self.total
        left = (now - self.start) / self.done * (self.total - self.done) if self.done > FEW else None
        text = f"  [{'#' * filled}{'.' * (WIDTH - filled)}] {self.done}/{self.total} {what}" + (f", about {left:.0f} s left" if left is not None else "")
        if self.rewrites:
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
        elif self.last is None or now - self.last >= 10:
            print(text, file=sys.stderr, flush=True)
            self.last = now
        self.done += 1

    def finish(self, of_what):
        """All have been made, or given up."""
        spent = time.monotonic() - self.start
        print(("\r\033[K" if self.rewrites else "") + f"  {self.done} {of_what} in {spent:.0f} s", file=sys.stderr, flush=True)
