"""How an answer did: hard (all checks pass) and soft (their weighted fraction)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from skillopt_core.types import Missing, Score
from skillopt_sleep.checks.examples import is_layout
from skillopt_sleep.checks.kinds import BUILT_IN
from skillopt_sleep.checks.model import BadArgument, Check, Kind, Rule
from skillopt_sleep.domain.answers import Answer, Need

RUBRIC: Final = "rubric"
RULES: Final = "rules"
"""Objectives of an attempt that a model judged: whether all rubrics passed, and whether all other checks did."""
APART: Final = "apart"
"""How far its readings of one answer lie apart at most, in [0, 1]; of an answer that was put to it."""
_LACKING: Final[Mapping[Need, tuple[str, str]]] = {
    Need.TOOLS: ("the agent has no tools, or its calls are not recorded", "Leave the task out, or take another agent"),
    Need.FILES: (
        "the agent works in no folder, or its files are not kept",
        "Leave the task out, or take --backend claude, codex or copilot",
    ),
    Need.SANDBOX: (
        "commands run in a sandbox alone, and none works here for this agent",
        "Install bubblewrap, and see what doctor says (docs/sandbox.md)",
    ),
    Need.JUDGE: (
        "no model is named that could judge by a rubric",
        "Name one with --judge-backend and --judge-model",
    ),
}


@dataclass(frozen=True, slots=True)
class Checklist:
    """The checks of one task, compiled. At least one."""

    checks: tuple[Check, ...]
    rules: tuple[Rule, ...]

    def score(self, answer: Answer) -> Score | Missing:
        """`Missing` where a single check cannot tell: what was not judged is not a score. Models are asked last."""
        found: dict[int, bool] = {}
        for number in sorted(range(len(self.rules)), key=lambda number: self.rules[number].by_model):
            said = self.rules[number].passes(answer)
            if isinstance(said, Missing):
                return said
            found[number] = said
        passed = [found[number] for number in range(len(self.rules))]
        whole = sum(check.weight for check in self.checks)
        gained = sum(check.weight for check, ok in zip(self.checks, passed, strict=True) if ok)
        failed = tuple(rule.failure(answer) for rule, ok in zip(self.rules, passed, strict=True) if not ok)
        return Score(float(not failed), gained / whole if failed else 1.0, failed, self._by_whom(passed))

    def _by_whom(self, passed: Sequence[bool]) -> dict[str, float]:
        """What the model said and what the rules said, where there is a model among the checks."""
        said: dict[bool, list[bool]] = {True: [], False: []}
        for rule, ok in zip(self.rules, passed, strict=True):
            said[rule.by_model].append(ok)
        named = {RUBRIC: said[True], RULES: said[False]} if said[True] else {}
        return {name: float(all(oks)) for name, oks in named.items() if oks}

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no edit may quote: gold answers, patterns, required words of content."""
        return tuple(dict.fromkeys(text for rule in self.rules for text in rule.secrets))


def compiled(checks: Sequence[Check], kinds: Mapping[str, Kind] = BUILT_IN) -> Checklist:
    """Read every check by its kind. `BadArgument`, with the key, for one that no kind gives a meaning."""
    if not checks:
        raise BadArgument("there are no checks", "A task needs at least one check, or a scorer")
    return Checklist(tuple(checks), tuple(_rule(number, check, kinds) for number, check in enumerate(checks)))


def score(checks: Iterable[Check], answer: Answer) -> Score | Missing:
    """Score an answer by checks of the kinds that ship with the product. Patterns are compiled once."""
    return _compiled(tuple(checks)).score(answer)


def lacking(
    checks: Iterable[Check], offered: frozenset[Need], kinds: Mapping[str, Kind] = BUILT_IN
) -> tuple[Check, str, str] | None:
    """The first check that asks for more than is offered, why it cannot be judged, and what to do; None for none."""
    for check in checks:
        for need in sorted(kinds[check.kind].needs - offered):
            return check, *_LACKING[need]
    return None


def shape_only(checks: Iterable[Check], kinds: Mapping[str, Kind] = BUILT_IN) -> bool:
    """True if an answer without any content could pass all of the checks."""
    return all(kinds[check.kind].shape_only or _wants_layout(check) for check in checks)


def _wants_layout(check: Check) -> bool:
    """True where the text that must stand in an answer is a heading, a label or a fence; a number is content."""
    return check.kind == "contains" and is_layout(str(check.argument))


@lru_cache(maxsize=4096)
def _compiled(checks: tuple[Check, ...]) -> Checklist:
    return compiled(checks)


def _rule(number: int, check: Check, kinds: Mapping[str, Kind]) -> Rule:
    key = f"checks[{number}]"
    kind = kinds.get(check.kind)
    if kind is None:
        raise BadArgument(f"there is no kind {check.kind!r}", f"Kinds are {', '.join(sorted(kinds))}", f"{key}.kind")
    if not 0 < check.weight < float("inf"):
        raise BadArgument("a weight is above zero", 'Write "weight": 1, or leave it out', f"{key}.weight")
    try:
        return kind.read(check.argument)
    except BadArgument as error:
        inner = f"{key}.argument.{error.key}" if error.key else f"{key}.argument"
        raise BadArgument(error.wrong, error.right, inner) from error
