"""Trials: unproven candidates that are tried on the tasks of later nights (gate.md, trials)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from skillopt_sleep.domain.proposals import Document

TrialState = Literal["running", "accepted", "dropped", "restarted", "adopted"]


@dataclass(frozen=True, slots=True)
class Trial:
    """One candidate on trial. `candidate` and `live` are digests, `cut_ms` the end of the last day it was mined from.

    E and its reverse follow from the d of its steps, each unit once.
    """

    id: str
    document: Document
    candidate: str
    live: str
    cut_ms: int
    alpha: float
    begun_ms: int
    rule: str = ""
    predicate: str = ""
    e: float = 1.0
    e_reverse: float = 1.0
    state: TrialState = "running"
    why: str = ""
    rebased_from: str = ""
    first_night: str = ""
    nights: int = 0
    ended_ms: int | None = None


@dataclass(frozen=True, slots=True)
class TrialStep:
    """One unit scored in a trial, once: d in [-1, 1], and E and reversed E after it."""

    night: str
    task: str
    d: float
    e_after: float
    e_reverse_after: float
    at_ms: int
