"""Sessions of a small project, and a model that answers with what a test gives it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from skillopt_core.types import Missing
from skillopt_sleep.domain.starts import Start
from skillopt_sleep.mine.requested.asking import Draft, ask_tasks, prompt_of
from skillopt_sleep.mine.requested.sheets import Sheet, sheets_of
from tests.mine.building import Session, episodes_in

SLUG = "def slug(title):\n    return title.lower().replace(' ', '-')\n"
TEST = "python3 -m unittest -q"


@dataclass
class Committed:
    """A starting state whose files are given."""

    files: Mapping[str, str] = field(default_factory=dict)
    commit: str = "c" * 40

    def file(self, path: str) -> bytes | None:
        return self.files[path].encode() if path in self.files else None


@dataclass
class Found:
    """Starting states as a test wants them: of the first request, and of any that came after a commit."""

    first: Start | None = None
    later: Start | None = None
    asked: list[tuple[str, int]] = field(default_factory=list)

    def at(self, commit: str, at_ms: int) -> Start | None:
        self.asked.append((commit, at_ms))
        return self.later if len(self.asked) > 1 and self.later is not None else self.first


BEFORE = Committed({"words.py": "def title(text):\n    return text.title()\n", "README.md": "# Words\n"})


def slugged(name: str = "s1", day: float = 0) -> Session:
    """A session in which a function is asked for, tested, and corrected once."""
    return (
        Session(name, day=day)
        .prompt("write a function slug in words.py that makes an address part of a title")
        .read("words.py")
        .bash(TEST, "ImportError: cannot import name 'slug'\nFAILED (errors=1)", 1)
        .edit("words.py", "    return text.title()\n", f"    return text.title()\n\n{SLUG}")
        .bash(TEST)
        .answer("Written: slug.")
        .prompt("no, umlauts must go through unidecode first")
        .edit("words.py", "title.lower()", "unidecode(title).lower()")
        .bash(TEST)
        .answer("Now it does.")
    )


def sheet(*sessions: Session) -> Sheet:
    (only,) = sheets_of(episodes_in(sessions or (slugged(),)))
    return only


class Model:
    """Answers each prompt with the next of its replies, the last one for ever. `asked` are the prompts."""

    def __init__(self, *replies: object) -> None:
        self._replies = [one if isinstance(one, str | Missing) else json.dumps(one) for one in replies]
        self.asked: list[str] = []

    def __call__(self, prompts: Sequence[str]) -> Sequence[str | Missing]:
        start = len(self.asked)
        self.asked += prompts
        return [self._replies[min(start + n, len(self._replies) - 1)] for n in range(len(prompts))]


def drafts(of: Sheet, *tasks: object) -> tuple[Draft, ...]:
    """What is read out of a reply with these tasks."""
    written = ask_tasks(Model({"tasks": list(tasks)}), [of], [prompt_of(of, 3, has_commit=True)])
    return written.drafts[0][1]


def task(**changes: object) -> dict[str, object]:
    """A task that passes, but for the changes."""
    good: dict[str, object] = {
        "requests": [1, 2],
        "kind": "add a text function",
        "prompt": "Write a function slug in words.py that makes a part of an address out of a title, umlauts included.",
        "checks": [{"offer": "c1"}, {"offer": "f1", "contains": "unidecode"}],
    }
    return good | changes
