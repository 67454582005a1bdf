"""Builders for tests of the morning: edits with verdicts, proposals, a project on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from skillopt_core.types import Edit, Outcome, UnitScore, Verdict
from skillopt_sleep.domain.frictions import Quote, Stake
from skillopt_sleep.domain.proposals import Document, Proposal, Target
from skillopt_sleep.review import stage as staging
from skillopt_sleep.review import targets as places

DAY = 86_400_000
JAN_5 = 1_767_571_200_000  # 2026-01-05 00:00 UTC
LEARNED = Document("acme", "learned", "p1")
MEMORY = Document("acme", "memory", "p1")


def verdict(outcome: Outcome | str = "supported", **more: object) -> Verdict:
    known: dict[str, object] = {"why": f"because {outcome}", "evidence": "recorded", "deterministic": True}
    return Verdict(Outcome(outcome), **{**known, **more})  # type: ignore[arg-type]


def units(ds: Sequence[int], start: int = JAN_5) -> tuple[UnitScore, ...]:
    return tuple(
        UnitScore(f"s{n:02}", float(d < 0), float(d > 0), float(d), 1, began=start + n * DAY, tasks=(f"t{n}",))
        for n, d in enumerate(ds)
    )


def result(
    text: str,
    outcome: Outcome | str = "supported",
    *,
    anchor: str = "Rules",
    share: float = 0.01,
    title: str = "",
    op: str = "add",
    quotes: tuple[Quote, ...] = (),
    **more: object,
) -> staging.EditResult:
    return staging.EditResult(
        Edit(op, anchor, text, origin=f"rule:{text}"),  # type: ignore[arg-type]
        verdict(outcome, **more),
        title or text,
        predicate="a command has the words",
        stake=Stake(12, share, 2.5),
        quotes=quotes,
    )


def proposal(
    *results: staging.EditResult,
    document: Document = LEARNED,
    base: str | None = None,
    pins: Sequence[places.Pin] = (),
) -> Proposal:
    results = results or (result("- Use `pnpm`, not `npm`."),)
    staged = staging.stage(document, base, results, night="n-1", now_ms=JAN_5, pins=pins)
    assert staged.proposal is not None
    return staged.proposal


def target(root: Path, place: str, agent: str = "claude-code", block: str = "") -> Target:
    return Target(agent, str(root), str(root / place), block)
