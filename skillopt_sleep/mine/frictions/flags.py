"""Project facts about options: those that a command does not know."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from skillopt_sleep.domain import commands
from skillopt_sleep.domain.commands import Simple
from skillopt_sleep.domain.episodes import ActionKind
from skillopt_sleep.domain.frictions import Friction, FrictionKind
from skillopt_sleep.domain.sentences import DropFlag
from skillopt_sleep.mine.history import History
from skillopt_sleep.mine.phrased import Phrased
from skillopt_sleep.mine.trace import Step, Trace, friction, quote
from skillopt_sleep.mine.wording import UNKNOWN_FLAG, code

PREFIX = "flag:"


def find(trace: Trace) -> Iterator[Friction]:
    for step in trace.steps:
        unknown = unknown_flag(step)
        if unknown is None:
            continue
        head, flag = unknown
        without = next((s for s in trace.near(step) if s.ok and _runs_without(s, head, flag)), None)
        span = trace.steps[step.at : without.at] if without else [step]
        yield friction(
            step,
            FrictionKind.FACT,
            f"{PREFIX}{head}:{flag}",
            resolving=without,
            wasted=len(span),
            tokens=sum(s.action.tokens for s in span),
            quotes=[quote(step, "agent"), quote(step, "tool")],
            features=[("head", head), ("flag", flag)],
        )


def unknown_flag(step: Step) -> tuple[str, str] | None:
    """The command and the option of it that its output calls unknown."""
    if step.action.kind is not ActionKind.COMMAND or not (step.failed or step.ok):
        return None
    for line in step.action.output.split("\n", 20)[:20]:
        if match := UNKNOWN_FLAG.search(line[:400]):
            words = set(re.findall(r"[\w-]+", line[match.end() : 400]))
            for part in step.parts:
                for flag in commands.flags(part.words):
                    if flag in words or flag.lstrip("-") in words:
                        return " ".join(commands.head(part.words)), flag
    return None


def _runs_without(step: Step, head: str, flag: str) -> bool:
    return any(_is(part, head) and flag not in commands.flags(part.words) for part in step.parts)


def _is(part: Simple, head: str) -> bool:
    return " ".join(commands.head(part.words)) == head


def phrase(members: Sequence[Friction], history: History, project: str, until_ms: int) -> Phrased:
    head, flag = members[0].values("head")[0], members[0].values("flag")[0]
    return Phrased(f"{code(head)} does not know {code(flag)}", DropFlag(head, flag))
