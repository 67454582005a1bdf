"""What a person said should be otherwise. Where the words name commands, options or code that occurred in actions, the
wish becomes a sentence form; else it is kept as it was said (`Said`). The free words of a rule are the person's own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from skillopt_sleep.domain import commands
from skillopt_sleep.domain.episodes import Action, Episode
from skillopt_sleep.domain.frictions import Friction, FrictionKind
from skillopt_sleep.domain.sentences import (
    AddFlag,
    AskBefore,
    Check,
    CheckBefore,
    DoNotRun,
    DoNotWrite,
    RunBefore,
    Said,
    Sentence,
    Use,
)
from skillopt_sleep.mine.history import History
from skillopt_sleep.mine.phrased import Phrased
from skillopt_sleep.mine.trace import Trace, said_by_person
from skillopt_sleep.mine.wishes import Wish, content_words, wishes
from skillopt_sleep.mine.wording import clipped

_CODE: Final = re.compile(r"[_.()/:$=<>{}\[\]@#*&|0-9-]|[a-z][A-Z]")
_CHECKS: Final[tuple[tuple[str, Check], ...]] = (
    ("test", "tests"),
    ("lint", "linter"),
    ("format", "formatter"),
    ("type", "type checker"),
    ("build", "build"),
)
_GIT: Final = re.compile(r"(?:the )?(?:git )?(commit|push|merg|rebas)(?:t?ing|e|s)?\b", re.IGNORECASE)


def find(trace: Trace) -> Iterator[Friction]:
    for episode in trace.episodes:
        for event, text, action in _typed(episode):
            for wish in wishes(text):
                yield _of_wish(trace, episode, event, wish, action)


def _typed(episode: Episode) -> Iterator[tuple[int, str, Action | None]]:
    """What the person typed in an episode: row, words, and the refused action that they belong to, each row once."""
    seen: set[int] = set()
    for action in episode.actions:
        if action.said and action.said_event is not None and action.said_event not in seen:
            seen.add(action.said_event)
            yield action.said_event, action.said, action
    if episode.prompt and episode.prompt_event not in seen:
        yield episode.prompt_event, episode.prompt, None
    for event, text in zip(episode.queued_events, episode.queued, strict=False):
        if event not in seen:
            yield event, text, None


def _of_wish(trace: Trace, episode: Episode, event: int, wish: Wish, action: Action | None) -> Friction:
    refused = " ".join(head) if action and (head := _refused(action)) else ""
    slots = (("form", wish.form), ("x", wish.x), ("y", wish.y), ("refused", refused))
    key = f"{wish.form}:{wish.x}:{wish.y}" if wish.form else "said:" + " ".join(content_words(wish.text))
    return Friction(
        signature=key,
        kind=FrictionKind.CORRECTION,
        episode=episode.id,
        session=trace.session,
        at_ms=episode.began_ms,
        failing=action.id if action else None,
        resolving=None,
        wasted=1,
        tokens=0,
        quotes=(said_by_person(event, trace.session, episode.began_ms, wish.text),),
        person=episode.person,
        features=tuple((name, value) for name, value in slots if value),
    )


def _refused(action: Action) -> tuple[str, ...]:
    """Program and sub-command of the command that the words were said of, where it is just one."""
    parts = [p for p in commands.split(action.command) if not p.inside and not p.moves and p.joint != "|"]
    return commands.head(parts[0].words) if len(parts) == 1 else ()


def phrase(members: Sequence[Friction], history: History, project: str, until_ms: int) -> Phrased:
    first = min(members, key=lambda m: (m.at_ms, m.session, m.episode))
    said = first.quotes[0].text
    reading = _READINGS.get("".join(first.values("form")))
    seen = Seen(history, project, until_ms)
    sentence = reading("".join(first.values("x")), "".join(first.values("y")), seen) if reading else None
    refused = "".join(first.values("refused"))
    if sentence is None and refused and "".join(first.values("form")) == "never":
        sentence = DoNotRun(refused)  # "don't run that", said of a command
    return Phrased(f"You said: “{clipped(said, 100)}”", sentence or Said(said), document="memory")


@dataclass(frozen=True, slots=True)
class Seen:
    """What occurred in the project's actions before a moment: only that may fill a slot."""

    history: History
    project: str
    until_ms: int

    def command(self, text: str) -> bool:
        """Whether some command began with (the first three of) these words."""
        return bool(text) and self.history.ran(self.project, " ".join(text.split()[:3]), self.until_ms) > 0

    def start(self, text: str, fewest: int) -> str:
        """The longest start of the words, at least so many, with which a command began."""
        words = text.split()
        starts = (" ".join(words[:n]) for n in range(len(words), fewest - 1, -1))
        return next((s for s in starts if self.command(s)), "")

    def files(self, text: str) -> str:
        """The ending of the files to which these words were written most often, "" where they are prose."""
        if not _CODE.search(text):
            return ""
        kinds = self.history.kinds_holding(self.project, text, self.until_ms)
        return min(kinds, key=lambda k: (-kinds[k], k), default="")

    def act(self, text: str) -> str:
        """The command that a person means by "committing" or "you push", else the words themselves."""
        match = _GIT.match(text)
        stem = match[1].lower() if match else ""
        command = f"git {stem}{'e' if stem in {'merg', 'rebas'} else ''}"
        return command if stem and self.command(command) else text


def _use(x: str, y: str, seen: Seen) -> Sentence | None:
    if seen.command(y):
        return Use(x, y)
    if kind := seen.files(y):
        return DoNotWrite(kind, y, x)
    return Use(x, y) if seen.command(x) else None


def _never(x: str, y: str, seen: Seen) -> Sentence | None:
    if start := seen.start(x, 1):
        return DoNotRun(start)
    kind = seen.files(x)
    return DoNotWrite(kind, x) if kind else None


def _not(x: str, y: str, seen: Seen) -> Sentence | None:
    """Without "run" or "use" before it, one word is as likely a verb as a program."""
    start = seen.start(x, 2)
    return DoNotRun(start) if start else None


def _before(x: str, y: str, seen: Seen) -> Sentence | None:
    act = seen.act(x)
    return RunBefore(act, y) if seen.command(act) and seen.command(y) else None


def _check(x: str, y: str, seen: Seen) -> Sentence | None:
    act = seen.act(x)
    check = next((check for stem, check in _CHECKS if stem in y.lower()), None)
    return CheckBefore(act, check) if check and seen.command(act) else None


def _with(x: str, y: str, seen: Seen) -> Sentence | None:
    return AddFlag(x, y) if seen.command(x) and y.startswith("-") else None


def _ask(x: str, y: str, seen: Seen) -> Sentence | None:
    act = seen.act(x)
    return AskBefore(act) if seen.command(act) else None


_READINGS: Final[dict[str, Callable[[str, str, Seen], Sentence | None]]] = {
    "use": _use,
    "never": _never,
    "not": _not,
    "before": _before,
    "check": _check,
    "with": _with,
    "ask": _ask,
}
