"""A terminal for an agent: tmux, on a socket of its own and inside the agent's box, so that it ends with it."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.agents_e2e.box import Box, wait_for

SIZE = ("-x", "160", "-y", "60")
STILL = 0.5
"""Seconds for which a screen must not change before keys are sent: what is typed while it is drawn may get lost."""
LEAVE = "/exit"
"""Typed too: Claude Code notes it where it still has the time."""
APART = 0.2
LOST = 10.0
"""Seconds after which a key without any effect was lost."""
PATIENCE = 120.0
"""Seconds to wait for a screen; the slowest takes a tenth of it on a busy machine."""


class Terminal:
    """An agent in its terminal form."""

    def __init__(self, box: Box, argv: Sequence[str], cwd: Path, environ: Mapping[str, str], socket: Path) -> None:
        self._tmux = ["tmux", "-S", str(socket)]
        keep = ["start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";"]
        begin = [*self._tmux, "-f", "/dev/null", *keep, "new-session", "-d", *SIZE, "--", *argv]
        done = box.run(begin, cwd, environ, PATIENCE)
        assert done.code == 0, done.err

    def _ask(self, *words: str) -> str:
        done = subprocess.run([*self._tmux, *words], capture_output=True, text=True, errors="replace", check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def screen(self) -> str:
        return self._ask("capture-pane", "-p")

    def wait(self, pattern: str, still: float = STILL, patience: float = PATIENCE) -> str:
        """Wait until the screen shows a pattern and stands still; gives what it then shows."""
        until = time.monotonic() + patience
        before, since = "", time.monotonic()
        while True:
            screen = self.screen()
            if screen != before:
                before, since = screen, time.monotonic()
            elif time.monotonic() - since >= still and re.search(pattern, screen):
                return screen
            assert time.monotonic() < until, f"not on the screen in {patience:.0f} s: {pattern}\n{screen}"
            time.sleep(0.05)

    def press(self, *keys: str) -> None:
        """Press keys one after another, as apart as a person's: Escape and Escape at once are another key."""
        for key in keys:
            self._ask("send-keys", key)
            time.sleep(APART)

    def press_until(self, keys: Sequence[str], asked: str, done: str) -> None:
        """Press keys until something is done, and again only where what was there is still there after a while."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            self.press(*keys)
            lost = time.monotonic() + LOST
            while time.monotonic() < lost or not re.search(asked, self.screen()):
                if re.search(done, self.screen()):
                    return
                assert time.monotonic() < until, f"{keys} did not lead to {done}\n{self.screen()}"
                time.sleep(0.05)
        raise AssertionError(f"{keys} had no effect\n{self.screen()}")

    def enter(self, text: str, still: float = STILL) -> None:
        """Type a line, see it on the screen, and send it."""
        self._ask("send-keys", "-l", "--", text)
        self.wait(re.escape(text), still)
        self.press("Enter")

    def leave(self) -> str:
        """Leave the agent; gives its last words. The terminal itself ends with the box."""
        self.enter(LEAVE)
        wait_for("the end of the agent", self.ended, PATIENCE)
        return self.screen()

    def ended(self) -> bool:
        return self._ask("display-message", "-p", "#{pane_dead}").strip() == "1"
