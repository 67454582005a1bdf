"""What was forgotten, or has to be redacted again, in files that a night left: reports and logs.

A report's JSON is written again without it; its page and its Markdown, which cannot be made anew, are removed.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from skillopt_sleep.errors import StoreError
from skillopt_sleep.paths import replace_file
from skillopt_sleep.store.wording import rewritten, unquoted

MARK: Final = "[forgotten]"
OPENING: Final = 40
"""Characters of a text by which it is known where it was cut: a page shows its first 240."""
_TAG: Final = re.compile(r"<[^>]*>")

Clean = Callable[[Sequence[str]], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Paths of files that were written again, and of those that were removed."""

    rewritten: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def forget_in_reports(folder: Path, words: Collection[str], said: Collection[str], session: str = "") -> Cleaned:
    """Take `words`, and all quotes of a session, out of the reports in a folder.

    Pages that show them, or the beginning of a text that was `said`, go.
    """
    whole = {_plain(text) for text in words}
    openings = (whole | {_plain(text)[:OPENING].rstrip() for text in said}) - {""}
    rewrote, removed = [], []
    for path in _files(folder, ".json"):
        before = _read(path)
        after = _without(before, words, session)
        if after != before:
            _write(path, after)
            rewrote.append(str(path))
    for path in _files(folder, ".md", ".html"):
        shown = _as_read(_read(path), page=path.suffix == ".html")
        if any(opening in shown for opening in openings):
            path.unlink()
            removed.append(str(path))
    return Cleaned(tuple(rewrote), tuple(removed))


def forget_in_logs(folder: Path, text: str) -> tuple[str, ...]:
    """Blank the lines of logs that hold a text. Returns the paths of the logs that had one."""
    return tuple(str(path) for path in _files(folder, "") if _blank_lines(path, text))


def redact_files(folder: Path, clean: Clean) -> tuple[str, ...]:
    """Put the reports in a folder through redaction again. Returns the paths of those that changed."""
    changed = []
    for path in _files(folder, ".json", ".md", ".html"):
        before = _read(path)
        after = (
            _as_written(json.loads(rewritten(before, clean)), before) if path.suffix == ".json" else clean([before])[0]
        )
        if after != before:
            _write(path, after)
            changed.append(str(path))
    return tuple(changed)


def _without(document: str, words: Collection[str], session: str) -> str:
    def forgotten(texts: Sequence[str]) -> list[str]:
        return [MARK if any(word in text for word in words) else text for text in texts]

    rest = json.loads(rewritten(document, forgotten))
    return _as_written(unquoted(rest, session, MARK) if session else rest, document)


def _as_written(value: object, before: str) -> str:
    """A report's JSON in the form in which it was written first; nothing changes where its value has not."""
    return before if value == json.loads(before) else json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _as_read(text: str, *, page: bool) -> str:
    """What a person reads in a file, in one line: neither tags nor escapes nor marks of code."""
    return _plain(html.unescape(_TAG.sub("", text)) if page else text)


def _plain(text: str) -> str:
    return " ".join(text.replace("\\", "").replace("`", "").split())


def _blank_lines(path: Path, text: str) -> bool:
    lines = _read(path).splitlines(keepends=True)
    rest = [f"{MARK}\n" if text in line else line for line in lines]
    if rest == lines:
        return False
    with path.open("r+", encoding="utf-8", errors="surrogateescape") as file:  # whoever writes to it goes on doing so
        file.truncate(0)
        file.writelines(rest)
    return True


def _files(folder: Path, *endings: str) -> Iterator[Path]:
    """Regular files of our own in a folder, in order; none where there is no folder."""
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    return (one for one in found if one.name.endswith(endings) and one.is_file() and not one.is_symlink())


def _read(path: Path) -> str:
    """A file's text. Raises `StoreError`, also for JSON that is none."""
    try:
        text = path.read_text("utf-8", "surrogateescape")
        if path.suffix == ".json":
            json.loads(text)
    except OSError as error:
        raise _cannot(path, error, "read") from error
    except ValueError as error:
        raise StoreError("is no report of a night", where=str(path), remedy="Move it out of this folder") from error
    return text


def _write(path: Path, text: str) -> None:
    try:
        replace_file(path, text.encode())
    except OSError as error:
        raise _cannot(path, error, "written") from error


def _cannot(path: Path, error: OSError, done: str) -> StoreError:
    why = (error.strerror or str(error)).lower()
    return StoreError(f"cannot be {done}: {why}", where=str(path), remedy="Check its owner, or remove it yourself")
