"""The folder of one run: what it is a run of, its journal, and what it leaves (method.md, outputs of a training run).

run.json            what the run is of: skill, tasks, recipe, who attempts, who edits
recipe.yaml         the recipe as resolved
training_log.jsonl  one line a step, one an epoch's end, one at the end
skills/NNNN.md      the text that training began with (0000), and each candidate
best_skill.md       the text that was reached
report.html         all of it for a person
journal.db          finished attempts and replies, and what they cost: a store of our own
misses.jsonl        what failed, where anything did
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from skillopt_core.types import Skill
from skillopt_sleep.clock import Clock
from skillopt_sleep.errors import NotFound, StoreError, UsageError
from skillopt_sleep.lock import hold
from skillopt_sleep.log import one_line
from skillopt_sleep.paths import replace_file
from skillopt_sleep.store.engine import Store, open_store
from skillopt_sleep.train.account import lasting
from skillopt_sleep.train.lines import append_line, read_lines
from skillopt_sleep.train.misses import Misses

LARGEST_SKILL: Final = 4 * 1024 * 1024
"""Bytes of a skill that is read."""

Identity = Mapping[str, Any]
"""What a run is of, as JSON. Two runs with the same identity are one run."""


def run_id(identity: Identity) -> str:
    """The name of a run: the same for the same identity."""
    written = json.dumps(identity, sort_keys=True, ensure_ascii=True)
    return "t-" + hashlib.sha256(written.encode()).hexdigest()[:10]


class RunFolder:
    """One run's folder, held by one process at a time. Made by `opened`."""

    def __init__(self, path: Path, store: Store) -> None:
        self.path = path
        self.store = store
        self.misses = Misses(path / "misses.jsonl")
        self._lines = read_lines(self.log)
        self._written = 0

    @property
    def log(self) -> Path:
        return self.path / "training_log.jsonl"

    @property
    def best(self) -> Path:
        return self.path / "best_skill.md"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    @property
    def begun(self) -> bool:
        """Whether the run is one that goes on."""
        return bool(self._lines)

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The log as it stands."""
        return self._lines[: self._written]

    def note(self, line: Mapping[str, object]) -> Mapping[str, Any]:
        """The next line of the log. Where the run was here before, the line that is there stays, once it is the same.
        The line that stands is the answer.

        Raises `StoreError` where it came out otherwise: the agent or this program is not what it was.
        """
        written: dict[str, Any] = json.loads(json.dumps(line))
        if self._written < len(self._lines):
            if lasting(self._lines[self._written]) != lasting(written):
                raise StoreError(
                    "this step came out differently than before: the agent, the model or this program has changed",
                    where=f"{self.log}:{self._written + 1}",
                    remedy="Begin a new run with another --out",
                )
        else:
            append_line(self.log, written)
            self._lines.append(written)
        self._written += 1
        return self._lines[self._written - 1]

    def keep(self, number: int, skill: Skill) -> None:
        """A candidate, or with number 0 the text that training began with."""
        write(self.path / "skills" / f"{number:04d}.md", skill.text)

    def keep_best(self, skill: Skill) -> None:
        write(self.best, skill.text)


@contextmanager
def opened(path: Path, identity: Identity, recipe: str, clock: Clock) -> Iterator[RunFolder]:
    """The folder of this run, made where it is not there (0700, files 0600), held while the block runs.

    Raises `UsageError` for a folder with anything else in it, another run for instance, and `NightLocked` where
    another process trains in it.
    """
    fresh = _is_fresh(path)
    _no_links(path)
    try:
        (path / "skills").mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o700)
    except OSError as error:
        raise StoreError(f"cannot be made: {error.strerror}", where=one_line(str(path))) from None
    with hold(path / "run.lock", clock, what="run in this folder"):
        if fresh or not (path / "run.json").exists():
            write(path / "recipe.yaml", recipe)
            write(path / "run.json", json.dumps(identity, indent=2, sort_keys=True) + "\n")
        _must_be_the_same(path, identity)
        with open_store(path / "journal.db", clock) as store:
            yield RunFolder(path, store)


def read_skill(path: Path) -> Skill:
    """The skill of a file, byte for byte. Its name is the folder's where the file is called SKILL.md.

    Raises `NotFound` and `UsageError`.
    """
    where = one_line(str(path))
    if not path.exists():
        raise NotFound("there is no such skill", where=where, remedy="Check the path after --skill")
    if path.is_dir():
        raise UsageError("is a folder", where=where, remedy="Name the SKILL.md in it")
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_SKILL:
            raise UsageError("is no skill: a Markdown file of at most 4 MiB is", where=where)
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError("is not UTF-8; save it as UTF-8", where=where) from None
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=where) from None
    return Skill(text, path.resolve().parent.name if path.name == "SKILL.md" else path.stem)


def write(path: Path, text: str) -> None:
    """Replace a file of ours in one step, byte for byte, where it is another."""
    content = text.encode("utf-8", "surrogateescape")
    if not path.exists() or path.read_bytes() != content:
        replace_file(path, content)


_OURS: Final = frozenset({"skills", "run.lock", "run.holder", "recipe.yaml"})
"""What may be there before a run has said what it is: a kill at the very beginning."""


def _is_fresh(path: Path) -> bool:
    where = one_line(str(path))
    if not path.exists():
        return True
    if not path.is_dir():
        raise UsageError("is not a folder", where=where, remedy="Name another folder with --out")
    if (path / "run.json").exists():
        return False
    if any(child.name not in _OURS and not child.name.startswith(".") for child in path.iterdir()):
        raise UsageError("holds other files", where=where, remedy="Name an empty or a new folder with --out")
    return True


def _no_links(path: Path) -> None:
    """A folder that came from elsewhere must not lead our writing out of it."""
    link = next((child for child in path.iterdir() if child.is_symlink()), None) if path.is_dir() else None
    if link is not None:
        raise UsageError("is a link", where=one_line(str(link)), remedy="Name an empty or a new folder with --out")


def _must_be_the_same(path: Path, identity: Identity) -> None:
    where = one_line(str(path / "run.json"))
    try:
        there = json.loads((path / "run.json").read_text("utf-8"))
    except (OSError, ValueError):
        raise StoreError("is damaged", where=where, remedy="Name another folder with --out") from None
    for key, value in _flat(identity):
        was = dict(_flat(there)).get(key)
        if was != value:
            raise UsageError(
                f"is a run with another {key} ({_shown(was)}, now {_shown(value)})",
                where=where,
                remedy="Name another folder with --out",
            )


def _flat(document: Mapping[str, Any], prefix: str = "") -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    for key, value in document.items():
        rows += _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else [(prefix + key, value)]
    return rows


def _shown(value: object) -> str:
    text = one_line(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= 40 else text[:37] + "..."
