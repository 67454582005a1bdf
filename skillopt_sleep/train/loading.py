"""Tasks of one's own: a file of JSON lines, or a folder of such files, to tasks that can be attempted and judged.

One line is one task: `{"id", "prompt", "checks": [{"kind", "argument", "weight"?}]}`, or `scorer` and `argument` in the
place of `checks`; optional are `split`, `group`, `files`, `repository` with `commit`, and `meta` (docs/tasks.md). Lines
of the public benchmark (gbrain.py) and of our own export are read as well. Every bad line is named; with one bad line
nothing is loaded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from skillopt_core.types import Score
from skillopt_sleep.checks import BUILT_IN, BadArgument, Check, Kind, Need, Scorer, compiled, lacking, shape_only
from skillopt_sleep.checks.reading import told
from skillopt_sleep.domain.answers import Answer
from skillopt_sleep.domain.tasks import Split
from skillopt_sleep.errors import NotFound, UsageError
from skillopt_sleep.train import exported, gbrain
from skillopt_sleep.train.folders import files_of, starting_files
from skillopt_sleep.train.rows import BadRow, BadTasks, LoadedTask, Row, at_line, known_keys, text_of

KEYS: Final = frozenset(
    {"id", "prompt", "checks", "scorer", "argument", "split", "group", "files", "repository", "commit", "meta"}
)
_FIELD: Final[Mapping[Split, str]] = {
    "train": "train",
    "gate": "gate val valid validation dev",
    "audit": "audit test held-out held_out heldout",
}
SPLITS: Final[Mapping[str, Split]] = {name: split for split, names in _FIELD.items() for name in names.split()}
"""Names of the splits, the field's other names among them."""
LONGEST_LINE: Final = 8 * 1024 * 1024
"""Bytes of a line."""
LONGEST_TEXT: Final = 200_000
"""Characters of a prompt."""
_NAME: Final = re.compile(r"[^\s\x00-\x1f\x7f]{1,200}")
_CHECKS: Final = 'It is a list like [{"kind": "contains", "argument": "…"}]'
SHAPE: Final = "shape"
"""Flag: an answer without content could pass, since all checks look at its shape alone."""
IDLE: Final = "idle"
"""Flag: an empty answer passes."""
_SAID: Final = {
    SHAPE: "can be passed without content: all checks look at the shape of an answer alone",
    IDLE: "are passed by an empty answer",
}


@dataclass(frozen=True, slots=True)
class Judges:
    """How tasks can be judged: kinds of check and scorers that there are, and what the agent in question offers.

    `has_commit` says whether a commit can be had of a repository, None being the project at hand. `remedy` is what to
    do about a check that asks for more, "" for what helps everywhere.
    """

    kinds: Mapping[str, Kind] = field(default_factory=lambda: BUILT_IN)
    scorers: Mapping[str, Scorer] = field(default_factory=dict)
    offered: frozenset[Need] = frozenset({Need.TOOLS, Need.FILES})
    has_commit: Callable[[Path | None, str], bool] = lambda repository, commit: False
    remedy: str = ""


class Loaded(tuple[LoadedTask, ...]):
    """Tasks in order. `left` counts lines of an export that only recordings could judge."""

    left: int = 0

    @property
    def said(self) -> tuple[str, ...]:
        """What was left out, in a sentence."""
        why = "judged in recordings alone, so no attempt can pass them: left out"
        return (f"{self.left} tasks of the export are {why}",) if self.left else ()


def load(path: Path, judges: Judges | None = None) -> Loaded:
    """The tasks of a file or folder, in order. `BadTasks` names the bad lines, `NotFound` a place that is not there.

    A task that asks for more than `judges.offered` is a bad line too: nothing is attempted that nobody could judge.
    """
    intake = _Intake(judges or Judges())
    for file, split in files_of(path, SPLITS):
        intake.first = None
        for number, line in _lines(file):
            intake.take(f"{file}:{number}", line, split, file.parent)
    if intake.bad:
        raise BadTasks(tuple(intake.bad))
    if not intake.tasks:
        raise UsageError("holds no task", where=str(path), remedy="Write one JSON object a line (docs/tasks.md)")
    loaded = Loaded(intake.tasks)
    loaded.left = intake.left
    return loaded


class _Intake:
    """The tasks so far, and the lines that gave none. `first` is the first task of the file that is being read."""

    def __init__(self, judges: Judges) -> None:
        self.tasks: list[LoadedTask] = []
        self.bad: list[UsageError] = []
        self.first: LoadedTask | None = None
        self.left = 0
        self._judges = judges
        self._seen: dict[str, str] = {}

    def take(self, where: str, line: bytes, split: Split | None, folder: Path) -> None:
        """Read one line, for good or bad."""
        try:
            read = _task(line, split, folder, self._judges)
            if read is None:
                self.left += 1
                return
            task = replace(read, where=where)
            self._fits(task)
        except BadRow as error:
            self.bad.append(at_line(where, error))
        else:
            self._seen[task.id] = where
            self.tasks.append(task)

    def _fits(self, task: LoadedTask) -> None:
        if task.id in self._seen:
            raise BadRow("id", f"{task.id} is the name of {self._seen[task.id]} too", "Give each task its own")
        self.first = self.first or task
        if (task.split is None) is not (self.first.split is None):
            raise BadRow("split", "some lines of the file name one, others do not", "Let all do, or none")


def warnings_of(tasks: Iterable[LoadedTask]) -> tuple[str, ...]:
    """What is weak about the checks of the tasks, in a sentence each."""
    known = list(tasks)
    said = []
    for flag, what in _SAID.items():
        flagged = [task for task in known if flag in task.flags]
        if flagged:
            said.append(f"{len(flagged)} of {len(known)} tasks {what} (first: {flagged[0].where})")
    return tuple(said)


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """The lines that say something, numbered from 1. A line that is too long comes cut, and so is refused."""
    try:
        with file.open("rb") as handle:
            number = 0
            while line := handle.readline(LONGEST_LINE + 2):
                number += 1
                bare = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                if bare.strip():
                    yield number, bare
                while len(line) > LONGEST_LINE + 1 and not line.endswith(b"\n"):
                    line = handle.readline(LONGEST_LINE + 2)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise NotFound(f"cannot be read: {why}", where=str(file), remedy="Name a file of JSON lines") from error


def _task(line: bytes, split: Split | None, folder: Path, judges: Judges) -> LoadedTask | None:
    row = _row(_object(line), judges)
    if row is None:
        return None
    if split and row.split and row.split != split:
        raise BadRow("split", f"it is {row.split}, and the file stands for {split}", "Let the two agree")
    task = _scored(row, judges) if row.scorer else _checked(row, judges)
    repository = (folder / Path(row.repository).expanduser()).resolve() if row.repository else None
    if row.commit:
        _must_have(row, repository, judges)
    return replace(
        task,
        split=row.split or split,
        files=starting_files(row.files, folder),
        repository=repository,
        commit=row.commit,
    )


def _must_have(row: Row, repository: Path | None, judges: Judges) -> None:
    """`BadRow` where the commit is not there."""
    if not judges.has_commit(repository, row.commit):
        whose = "the repository" if repository else "the project at hand"
        right = "Name the full id of a commit that is on this machine" + ("" if repository else ", in its folder")
        raise BadRow(row.spelled("commit"), f"{whose} has no such commit", right)


def _object(line: bytes) -> dict[str, Any]:
    if len(line) > LONGEST_LINE:
        raise BadRow("", f"the line is longer than {LONGEST_LINE:,} bytes", "Put large texts into files")
    right = "Write one JSON object a line, in UTF-8"
    try:
        found = json.loads(line.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise BadRow("", f"byte {error.start + 1} is no UTF-8", right) from error
    except json.JSONDecodeError as error:
        raise BadRow("", f"no JSON at column {error.colno} ({error.msg.lower()})", right) from error
    except RecursionError as error:
        raise BadRow("", "the JSON is nested too deeply", right) from error
    except ValueError as error:
        raise BadRow("", "a number in it has too many digits", right) from error
    if not isinstance(found, dict):
        raise BadRow("", f"the line is {told(found)}", right)
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadRow(twice, "the key stands there twice", "Keep one of the two")
    return found


def _no_number(word: str) -> Any:
    raise BadRow("", f"{word} is no JSON", "Write a number, or leave it out")


def _row(row: dict[str, Any], judges: Judges) -> Row | None:
    if exported.is_row(row):
        read = exported.read_row(row, LONGEST_TEXT, judges.kinds)
        return None if read is None else _named(replace(read, split=_split(row["split"]) if row.get("split") else None))
    if gbrain.is_row(row):
        return _named(gbrain.read_row(row, LONGEST_TEXT))
    known_keys(row, KEYS)
    name = text_of(row, "id", "It is the task's name, unique in all files", LONGEST_TEXT)
    prompt = text_of(row, "prompt", "It is what the agent is asked", LONGEST_TEXT)
    if ("checks" in row) == ("scorer" in row):
        what = "both are there" if "checks" in row else "neither is there"
        raise BadRow("checks, scorer", what, "A task is judged by checks or by a scorer")
    if "argument" in row and "scorer" not in row:
        raise BadRow("argument", "it belongs to a scorer, and there is none", "A check's argument stands in the check")
    return _named(
        Row(
            name,
            prompt,
            checks=_checks(row["checks"]) if "checks" in row else (),
            scorer=text_of(row, "scorer", "It names a scorer", 100) if "scorer" in row else "",
            argument=row.get("argument"),
            split=_split(row["split"]) if "split" in row else None,
            group=text_of(row, "group", "It names tasks that are not independent", 200) if "group" in row else "",
            files=row.get("files"),
            repository=text_of(row, "repository", "It is a path on this machine", 4096) if "repository" in row else "",
            commit=_commit(row),
        )
    )


def _commit(row: Mapping[str, object]) -> str:
    """The full id of the commit that the task starts from, "" where it starts from none."""
    if "commit" in row:
        return text_of(row, "commit", "It is the full id of a commit", 64)
    if "repository" in row:
        raise BadRow("commit", "the key is missing", "Name the full id of the commit that the task starts from")
    return ""


def _named(row: Row) -> Row:
    if not _NAME.fullmatch(row.id) or not row.id.isprintable():
        raise BadRow("id", "it holds white space or is too long", "Use up to 200 letters, digits and signs")
    return row


def _split(given: object) -> Split:
    if not isinstance(given, str) or given not in SPLITS:
        raise BadRow("split", f"it is {given if isinstance(given, str) else told(given)}", "Use train, gate or audit")
    return SPLITS[given]


def _checks(given: object) -> tuple[Check, ...]:
    if not isinstance(given, list) or not given:
        raise BadRow("checks", f"it is {told(given) if given != [] else 'an empty list'}", _CHECKS)
    return tuple(_check(f"checks[{number}]", check) for number, check in enumerate(given))


def _check(key: str, given: object) -> Check:
    if not isinstance(given, dict):
        raise BadRow(key, f"it is {told(given)}", _CHECKS)
    known_keys(given, ("kind", "argument", "weight"), f"{key}.", aside="")
    kind, weight = given.get("kind"), given.get("weight", 1)
    if not isinstance(kind, str):
        raise BadRow(f"{key}.kind", f"it is {told(kind)}", _CHECKS)
    if isinstance(weight, bool) or not isinstance(weight, (int, float)):
        raise BadRow(f"{key}.weight", f"it is {told(weight)}", "It is a number above zero")
    return Check(kind, given.get("argument"), float(weight))


def _checked(row: Row, judges: Judges) -> LoadedTask:
    try:
        checklist = compiled(row.checks, judges.kinds)
    except BadArgument as error:
        raise BadRow(row.spelled(error.key), error.wrong, error.right) from error
    if short := lacking(row.checks, judges.offered, judges.kinds):
        check, why, remedy = short
        key = row.spelled(f"checks[{row.checks.index(check)}].kind")
        raise BadRow(key, f"a check of kind {check.kind} cannot be judged here: {why}", judges.remedy or remedy)
    return LoadedTask(
        row.id,
        row.prompt,
        checklist.score,
        checks=row.checks,
        group=row.group,
        secrets=checklist.secrets,
        flags=_flags(row, judges),
        needs=frozenset().union(*(judges.kinds[check.kind].needs for check in row.checks)),
    )


def _flags(row: Row, judges: Judges) -> tuple[str, ...]:
    if shape_only(row.checks, judges.kinds):
        return (SHAPE,)
    idle = compiled(row.checks, judges.kinds).score(Answer("", tools=(), files={}))
    return (IDLE,) if isinstance(idle, Score) and idle.hard == 1 else ()


def _scored(row: Row, judges: Judges) -> LoadedTask:
    scorer = judges.scorers.get(row.scorer)
    if scorer is None:
        there = ", ".join(sorted(judges.scorers)) or "none is installed"
        raise BadRow("scorer", f"there is no scorer {row.scorer}", f"Install one (docs/plugins.md); there are: {there}")
    return LoadedTask(
        row.id,
        row.prompt,
        lambda answer: scorer(answer, row.argument),
        scorer=row.scorer,
        argument=row.argument,
        group=row.group,
    )
