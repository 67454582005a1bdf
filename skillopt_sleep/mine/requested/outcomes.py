"""What a recording shows of the state in which a stretch of requests began and of the one in which it ended.

Only what a person's agent did is read: what it wrote, and how its own commands ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Final

from skillopt_sleep.domain import commands
from skillopt_sleep.domain.commands import Simple
from skillopt_sleep.domain.episodes import Action, ActionKind, ActionOutcome, Episode
from skillopt_sleep.domain.starts import Start, text_at
from skillopt_sleep.mine.requested.ran import ended, written_to
from skillopt_sleep.mine.trace import CHANGES, LOOKS
from skillopt_sleep.mine.wording import words

CUT: Final = "…"
"""What a text that was cut when it was stored ends with."""
_UNDOES: Final = {
    ("git", "checkout"), ("git", "restore"), ("git", "reset"), ("git", "stash"), ("git", "clean"), ("git", "revert"),
    ("git", "pull"), ("git", "merge"), ("git", "rebase"), ("git", "switch"), ("git", "apply"), ("git", "cherry-pick"),
}  # fmt: skip
"""Commands after which nobody knows any more what the files hold."""
_COMMITS: Final = ("git", "commit")
_MOVES: Final = words("rm mv unlink trash")
_READERS: Final = words("cat head tail sed grep rg less wc diff ls tree python python3 node bash sh source . cp")
_IN_PLACE: Final = re.compile(r"-[a-zA-Z]*i")


@dataclass(frozen=True, slots=True)
class FileEnd:
    """A file as it was left, as far as it is known: `whole`, or only `pieces` that were written into it last.

    `known` is False where something else may have changed it since. `born` says that the stretch made it: a whole file
    was written where nothing had been read or edited before. `event` is the row of the last change.
    """

    whole: str | None = None
    pieces: tuple[str, ...] = ()
    known: bool = True
    born: bool = False
    event: int = 0

    def holds(self, text: str) -> bool | None:
        """Whether the text stands in it at the end; None where that cannot be told."""
        if not self.known:
            return None
        if self.whole is not None:
            return text in self.whole
        return True if any(text in piece for piece in self.pieces) else None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A stretch of one session's requests, from its first action to its last.

    `passed` are the check commands, as words, whose last run (its row) ended well with nothing changed after it;
    `failed_first` are those that had failed before anything was changed: so they fail on the starting state. `needs`
    are the lines that each file must have held when the stretch began, `looked` the files that were read before they
    were written, `tools` those beside files and commands. `changed`: it changed files; `committed`: it made a commit.
    """

    files: dict[str, FileEnd] = field(default_factory=dict)
    passed: Mapping[tuple[str, ...], int] = field(default_factory=dict)
    failed_first: frozenset[tuple[str, ...]] = frozenset()
    needs: dict[str, tuple[str, ...]] = field(default_factory=dict)
    looked: frozenset[str] = frozenset()
    tools: tuple[str, ...] = ()
    answer: str = ""
    changed: bool = False
    committed: bool = False


def outcome_of(episodes: Sequence[Episode], start: Start | None = None) -> Outcome:
    """The outcome of requests that follow each other in one session, which began in the state `start`.

    With a start that can be read, files of which only edits were recorded are known whole.
    """
    reader = _Reader(start)
    for episode in episodes:
        for action in episode.actions:
            reader.take(action)
    return Outcome(
        files=reader.files,
        passed={argv: event for argv, event in reader.runs.items() if event},
        failed_first=frozenset(reader.failed_first),
        needs={path: tuple(lines) for path, lines in reader.needs.items() if lines},
        looked=frozenset(reader.looked),
        tools=tuple(dict.fromkeys(a.tool for e in episodes for a in e.actions if _further(a))),
        answer=next((e.answer for e in reversed(episodes) if e.answer), ""),
        changed=reader.changed,
        committed=reader.committed,
    )


def inside(path: str) -> bool:
    """Whether a path lies in the project's folder, by its own words: relative, never up, nothing of git's."""
    parts = PurePosixPath(path).parts
    plain = bool(parts) and not path.startswith(("/", "~", "-")) and "\\" not in path and ":" not in parts[0]
    return plain and not {"..", ".git"} & set(parts) and path.isprintable() and parts != (".",) and len(path) <= 200


class _Reader:
    """Goes through the actions once, in order."""

    def __init__(self, start: Start | None) -> None:
        self._start = start
        self.files: dict[str, FileEnd] = {}
        self.runs: dict[tuple[str, ...], int] = {}
        self.failed_first: set[tuple[str, ...]] = set()
        self.needs: dict[str, list[str]] = {}
        self.looked: set[str] = set()
        self.written: dict[str, list[str]] = {}
        self.changed = False
        self.committed = False

    def take(self, action: Action) -> None:
        if action.kind is ActionKind.COMMAND and _was_done(action):
            self._command(action)
        elif action.kind in CHANGES and action.outcome is ActionOutcome.OK:
            self._change(action)
        elif action.kind in LOOKS and action.outcome is ActionOutcome.OK and not action.empty:
            self.looked.update(path for path in action.paths if path not in self.files)

    def _change(self, action: Action) -> None:
        self._changes()
        path = next(iter(action.paths), "")
        if not inside(path):
            return
        before = self.files.get(path)
        if action.kind is ActionKind.WRITE:
            born = before.born if before else path not in self.looked and path not in self.needs
            whole = None if _cut(action.new) else action.new
            pieces = () if whole is not None else (action.new,)
            self.files[path] = FileEnd(whole, pieces, born=born, event=action.id)
        else:
            self.needs.setdefault(path, []).extend(self._there_before(path, action.old, before))
            self.files[path] = _edited(before or self._at_start(path), action)
        self.written.setdefault(path, []).append(action.new)

    def _changes(self) -> None:
        self.changed = True
        self.runs = dict.fromkeys(self.runs, 0)  # what passed before a change says nothing of what is after it

    def _at_start(self, path: str) -> FileEnd | None:
        text = text_at(self._start, path)
        return None if text is None else FileEnd(text)

    def _there_before(self, path: str, old: str, before: FileEnd | None) -> Iterator[str]:
        """Lines that the edit found and that the stretch itself had not written."""
        if before is not None and before.born:
            return
        own = self.written.get(path, ())
        for line in old.split("\n"):
            bare = line.strip()
            if bare and not bare.endswith(CUT) and not any(bare in text for text in own):
                yield bare

    def _command(self, action: Action) -> None:
        parts = [part for part in commands.split(action.command) if part.words and not part.moves]
        for argv, ok in ended(action, parts):
            self.runs[argv] = action.id if ok else 0
            if not ok and not self.changed:
                self.failed_first.add(argv)
        if any(part.words[0] in _READERS for part in parts) and action.outcome is ActionOutcome.OK:
            self.looked.update(path for path in action.paths if path not in self.files)
        for part in parts:
            head = commands.head(part.words)[:2]
            self.committed |= head == _COMMITS
            if head in _UNDOES:
                self._forget(self.files)
            elif part.words[0] in _MOVES or _in_place(part) or written_to(part):
                self._changes()
                self._forget(p for p in self.files if any(p in word for word in (*part.words, *written_to(part))))

    def _forget(self, paths: Iterable[str]) -> None:
        for path in list(paths):
            self.files[path] = replace(self.files[path], known=False)


def _edited(before: FileEnd | None, action: Action) -> FileEnd:
    cut = _cut(action.new) or _cut(action.old)
    if before is None or not before.known:
        return FileEnd(None, (action.new,), born=bool(before and before.born), event=action.id)
    if before.whole is not None and not cut and before.whole.count(action.old) == 1 and action.old:
        return replace(before, whole=before.whole.replace(action.old, action.new), event=action.id)
    kept = tuple(piece for piece in before.pieces if not action.old or action.old.strip() not in piece)
    return FileEnd(None, (*kept, action.new), born=before.born, event=action.id)


def _in_place(part: Simple) -> bool:
    """Whether it changes files in place."""
    return part.words[0] in {"sed", "perl"} and any(_IN_PLACE.match(word) for word in part.words[1:])


def _further(action: Action) -> bool:
    """A tool beside those for files and commands, which each agent calls by names of its own."""
    return action.kind is ActionKind.OTHER and _was_done(action)


def _cut(text: str) -> bool:
    return text.endswith(CUT)


def _was_done(action: Action) -> bool:
    return action.outcome in {ActionOutcome.OK, ActionOutcome.ERROR}
