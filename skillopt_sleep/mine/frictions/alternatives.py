"""Project facts about commands: what works where another did not, what must come first, what is always needed.

Only a command of one working part counts as failed, and only a run whose exit no pipe hides counts as working. An edit
between the two means that the edit mended it: then the check did its work and nothing follows for the command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from skillopt_sleep.domain import commands
from skillopt_sleep.domain.commands import Simple
from skillopt_sleep.domain.episodes import ActionKind
from skillopt_sleep.domain.frictions import Friction, FrictionKind
from skillopt_sleep.domain.sentences import AddFlag, DoNotRun, DropFlag, RunBefore, Sentence, Use
from skillopt_sleep.mine.history import History
from skillopt_sleep.mine.phrased import Phrased
from skillopt_sleep.mine.trace import CHANGES, Step, Trace, friction, quote
from skillopt_sleep.mine.wording import UNKNOWN_COMMAND, code, words

_SLOT: Final = re.compile(r"[\w@%+=:,./~-]{1,60}\Z")
_MOST_WORDS: Final = 3
_LOOKS: Final = words("ls cat head tail grep rg find wc stat file du df ps env which pwd echo sleep cd diff tree date")
_GIT_LOOKS: Final = frozenset({"status", "log", "diff", "show", "branch", "rev-parse"})


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a pair of runs shows, as a rule with its signature."""

    signature: str
    sentence: Sentence


def find(trace: Trace, taken: set[int]) -> Iterator[Friction]:
    """Failed commands that no other finder has explained (`taken` holds the places of those)."""
    for step in trace.steps:
        failing = only_part(step)
        if step.at in taken or not step.failed or step.findings or failing is None:
            continue
        later, lesson = _lesson(trace, step, failing)
        if lesson is None and UNKNOWN_COMMAND.search(step.action.output[:400]):
            lesson = _unknown(failing)
        if lesson is None:
            continue
        span = trace.steps[step.at : later.at] if later else [step]
        yield friction(
            step,
            FrictionKind.FACT,
            lesson.signature,
            resolving=later,
            wasted=len(span),
            tokens=sum(s.action.tokens for s in span),
            quotes=[quote(step, "agent"), *([quote(later, "agent")] if later else [])],
            features=_features(lesson.sentence),
        )


def only_part(step: Step) -> Simple | None:
    """The part that does the work, where there is just one."""
    heads = set(step.heads)
    parts = [p for p in step.parts if commands.head(p.words) in heads and not p.inside]
    return parts[0] if len(parts) == 1 else None


def working_parts(step: Step) -> list[Simple]:
    """Parts whose exit the shell told: none whose output goes through a pipe or whose failure is caught."""
    if not step.ok or step.action.kind is not ActionKind.COMMAND:
        return []
    following = [*(p.joint for p in step.parts[1:]), ""]
    plain = [p for p, joint in zip(step.parts, following, strict=True) if joint in {"", "&&"} and not p.inside]
    return [p for p in plain if commands.head(p.words) in set(step.heads)]


def _lesson(trace: Trace, step: Step, failing: Simple) -> tuple[Step | None, Lesson | None]:
    between: list[Simple] = []
    for later in trace.near(step):
        if later.action.kind in CHANGES and later.ok:
            break
        for part in working_parts(later):
            if part.words == failing.words:
                return later, _before(failing, between)
            if lesson := _compared(failing, part):
                return later, lesson
            between.append(part)
    return None, None


def _before(failing: Simple, between: Sequence[Simple]) -> Lesson | None:
    """The same command worked after another one that is no mere look: that one comes first."""
    acting = [p for p in between if not _only_looks(p)]
    if not acting:
        return None
    first = acting[-1].words if len(acting[-1].words) <= 4 else commands.head(acting[-1].words)
    if not all(_SLOT.match(w) for w in first):
        return None
    x, y = " ".join(commands.head(failing.words)), " ".join(first)
    return Lesson(f"before:{x}:{y}", RunBefore(x, y))


def _only_looks(part: Simple) -> bool:
    head = commands.head(part.words)
    return head[0] in _LOOKS or (head[0] == "git" and head[-1] in _GIT_LOOKS)


def _compared(failing: Simple, working: Simple) -> Lesson | None:
    """What one run has and the other lacks, where that is one short stretch of words."""
    gone, come = difference(failing.words, working.words)
    alike = len(failing.words) > len(gone) or len(working.words) > len(come)
    if not alike or max(len(gone), len(come)) > _MOST_WORDS or not all(_SLOT.match(w) for w in (*gone, *come)):
        return None
    head = " ".join(commands.head(working.words))
    same = commands.head(failing.words) == commands.head(working.words)
    x, y = " ".join(come), " ".join(gone)
    if same and not gone and come and _options(come):
        return Lesson(f"needs:{head}:{x}", AddFlag(head, x))
    if same and not come and len(gone) == 1 and _options(gone):
        return Lesson(f"drop:{head}:{y}", DropFlag(head, y))
    swapped = _options(gone) and _options(come) if same else failing.words[0] != working.words[0]
    if swapped and gone and come and _nameable(gone) and _nameable(come):
        return Lesson(f"use:{x}:{y}", Use(x, y))
    return None


def _options(words: Sequence[str]) -> bool:
    return bool(words) and words[0].startswith("-")


def difference(a: Sequence[str], b: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What stands only in `a` and only in `b`, between what both begin and end with; all of both if nothing is alike.

    >>> difference(["npm", "test"], ["pnpm", "test"])
    (('npm',), ('pnpm',))
    """
    shorter = min(len(a), len(b))
    front = next((i for i in range(shorter) if a[i] != b[i]), shorter)
    back = next((i for i in range(shorter - front) if a[-1 - i] != b[-1 - i]), shorter - front)
    return tuple(a[front : len(a) - back]), tuple(b[front : len(b) - back])


def _nameable(words: Sequence[str]) -> bool:
    """Programs, sub-commands and options; no numbers and no files."""
    return any(c.isalpha() for c in " ".join(words)) and not any("/" in w or w.isdigit() for w in words)


def _unknown(failing: Simple) -> Lesson:
    program = commands.bare(failing.words)[0]
    return Lesson(f"command:{program}", DoNotRun(program))


def _features(sentence: Sentence) -> list[tuple[str, str]]:
    names = ("x", "y", "c", "f")
    return [(name, value) for name in names if isinstance(value := getattr(sentence, name, None), str)]


def phrase(members: Sequence[Friction], history: History, project: str, until_ms: int) -> Phrased:
    first = members[0]
    kind = first.signature.partition(":")[0]
    slots = {name: value for name, value in first.features if name in {"x", "y", "c", "f"}}
    if kind == "use":
        x, y = slots["x"], slots["y"]
        return Phrased(f"{code(x)} works where {code(y)} does not", Use(x, y))
    if kind == "needs":
        return Phrased(f"{code(slots['c'])} needs {code(slots['f'])}", AddFlag(slots["c"], slots["f"]))
    if kind == "drop":
        return Phrased(f"{code(slots['c'])} works without {code(slots['f'])}", DropFlag(slots["c"], slots["f"]))
    if kind == "before":
        return Phrased(f"{code(slots['x'])} works only after {code(slots['y'])}", RunBefore(slots["x"], slots["y"]))
    return Phrased(f"{code(slots['x'])} is not a command here", DoNotRun(slots["x"]))
