"""The log: a sentence and `action=` fields a line, in a file of our own under Home.logs.

    log.info("The night began", extra={"action": "night_began", "night": night_id})
    2026-01-05T03:00:00.012Z INFO night: The night began action=night_began night=n12

Redaction happens before anything is logged; `scrub` is the second pair of eyes, over the line as it will be written.
Where there is none at hand, tracebacks are written without the words of their errors: these may quote what was read.
"""

from __future__ import annotations

import json
import logging
import logging.handlers
import os
import sys
import traceback
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import pairwise
from pathlib import Path

from skillopt_sleep.clock import iso
from skillopt_sleep.paths import Home, home

ROOT = "skillopt_sleep"
FILE = "skillopt-sleep.log"
MAX_BYTES = 1_000_000
KEPT = 5
LONGEST = 8_000
"""Characters of one record that are kept."""

Scrub = Callable[[str], str]

_PLAIN = frozenset(logging.LogRecord("", 0, "", 0, "", None, None).__dict__) | {"message", "asctime", "taskName"}
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def one_line(text: str) -> str:
    """`text` without anything that moves a cursor, hides or reorders: such characters become one `?` each, as do
    line ends; tabs become blanks."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(" " if c == "\t" else "?" if unicodedata.category(c) in _UNSEEN else c for c in text)


class Sentences(logging.Formatter):
    """One record a line; a traceback follows, each of its lines indented, so that no record can forge another."""

    def __init__(self, scrub: Scrub | None) -> None:
        super().__init__()
        self._scrub = scrub

    def format(self, record: logging.LogRecord) -> str:
        """The record as it will be written, scrubbed and without control characters."""
        fields = " ".join(f"{key}={_field(value)}" for key, value in record.__dict__.items() if key not in _PLAIN)
        name = record.name.removeprefix(f"{ROOT}.")
        head = f"{iso(int(record.created * 1000))} {record.levelname} {name}: {record.getMessage()} {fields}".rstrip()
        lines = [head]
        if record.exc_info and record.exc_info[1] is not None:
            lines += _traceback(record.exc_info[1], with_words=self._scrub is not None)
        whole = "\n".join(map(one_line, lines))
        scrubbed = (self._scrub(whole) if self._scrub else whole)[:LONGEST]
        return "\n    ".join(map(one_line, scrubbed.split("\n")))


def _traceback(error: BaseException, *, with_words: bool) -> list[str]:
    if with_words:
        return "".join(traceback.format_exception(error)).rstrip().split("\n")
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    before = [*_traceback(cause, with_words=False), "after which"] if cause is not None else []
    frames = [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
    return [*before, *frames, type(error).__qualname__]


def _field(value: object) -> str:
    text = str(value)
    return text if text and text.isascii() and text.isprintable() and " " not in text else json.dumps(text)


class LogFile(logging.handlers.RotatingFileHandler):
    """A log that only its owner may read. What kept it from writing is in `failure`: a full disk ends no night."""

    def __init__(self, folder: Path, scrub: Scrub | None) -> None:
        self.failure: OSError | None = None
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        super().__init__(folder / FILE, maxBytes=MAX_BYTES, backupCount=KEPT, encoding="utf-8", delay=True)
        self.setFormatter(Sentences(scrub))

    def _open(self) -> TextIOWrapper:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        return os.fdopen(os.open(self.baseFilename, flags, 0o600), "a", encoding="utf-8", errors="backslashreplace")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (the name is logging's)
        """Keep the first failure; anything but the file system's is a defect of ours and goes on."""
        error = sys.exception()
        if not isinstance(error, OSError):
            super().handleError(record)
        elif self.failure is None:
            self.failure = error


@contextmanager
def open_log(folder: Home, *, scrub: Scrub | None, level: int = logging.INFO) -> Iterator[LogFile]:
    """Send what the product logs to the file under `folder.logs` as long as the block runs."""
    logger = logging.getLogger(ROOT)
    before, file = (logger.level, logger.propagate), LogFile(folder.logs, scrub)
    logger.addHandler(file)
    logger.setLevel(level)
    logger.propagate = False
    try:
        yield file
    finally:
        logger.removeHandler(file)
        file.close()
        logger.setLevel(before[0])
        logger.propagate = before[1]


def log_unexpected(error: BaseException, argv: Sequence[str], environ: Mapping[str, str] = os.environ) -> Path:
    """Log an unforeseen error with its traceback, without its words and of the arguments only the command.

    Returns the path of the log.
    """
    folder = home(_home_of(argv), environ)
    command = next((word for word in argv if not word.startswith("-")), "")
    with open_log(folder, scrub=None):
        what = {"action": "unexpected", "command": command}
        logging.getLogger(ROOT).error("An unforeseen error ended the command", exc_info=error, extra=what)
    return folder.logs / FILE


def _home_of(argv: Sequence[str]) -> Path | None:
    for word, following in pairwise([*argv, ""]):
        if word == "--home" and following:
            return Path(following)
        if word.startswith("--home="):
            return Path(word.removeprefix("--home="))
    return None
