"""The three streams of a process that may be started anywhere: closed, cut off, or unable to hold our characters."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import Any, TextIO


class Unheard(io.FileIO):
    """A descriptor whose reader may leave (`| head`): what nobody wants to hear is no error, and ends no night."""

    def write(self, data: Any) -> int:
        """As FileIO; to a pipe that is closed at the other end nothing is written."""
        try:
            return super().write(data)
        except BrokenPipeError:
            return len(memoryview(data).cast("B"))


def last() -> None:
    """Make stdout and stderr last as long as the process, and take every character.

    A descriptor of 0 to 2 that is closed would go to the next file that is opened, which may be the store.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  (as long as the process)
    sys.stdout, sys.stderr = _lasting(1, sys.stdout), _lasting(2, sys.stderr)


def _lasting(descriptor: int, before: TextIO | None) -> TextIO:
    """What an encoding lacks is shown as `?`."""
    raw = Unheard(descriptor, "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=before.encoding if before is not None else "utf-8",
        errors="replace",
        line_buffering=descriptor == 2 or raw.isatty(),
    )


def settle(code: int, *, told: bool) -> int:
    """Write out what is still to be written, where an error can be told: a result that was lost is a failure.

    `told`: the person knows of a failure already.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        _discard(sys.stdout)
        code = code or 1
        if not told:
            _complain(error)
    try:
        sys.stderr.flush()
    except OSError:
        _discard(sys.stderr)
    return code


def _complain(error: OSError) -> None:
    with suppress(OSError):
        sys.stderr.write(f"error: stdout cannot be written: {error.strerror}\n")


def _discard(stream: TextIO) -> None:
    """What is left in a stream goes nowhere, so that the interpreter does not try again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
