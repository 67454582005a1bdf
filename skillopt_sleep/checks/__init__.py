"""How an outcome is judged: kinds of check, and the score that they make (docs/checks.md)."""

from __future__ import annotations

from skillopt_sleep.checks.kinds import BUILT_IN
from skillopt_sleep.checks.model import BadArgument, Check, Kind, Rule
from skillopt_sleep.checks.others import further_kinds
from skillopt_sleep.checks.scorers import Scorer, scorers
from skillopt_sleep.checks.scoring import Checklist, compiled, lacking, score, shape_only
from skillopt_sleep.domain.answers import Answer, Need

__all__ = [
    "BUILT_IN",
    "Answer",
    "BadArgument",
    "Check",
    "Checklist",
    "Kind",
    "Need",
    "Rule",
    "Scorer",
    "compiled",
    "further_kinds",
    "lacking",
    "score",
    "scorers",
    "shape_only",
]
