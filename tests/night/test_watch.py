"""Adopted rules in the person's own later sessions: shares by session, and how few of them say nothing."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from skillopt_core.types import Missing, Skill, Task, Trajectory
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.night.plan import documents
from skillopt_sleep.night.watch import ENOUGH, watched
from tests.mine.building import DAY, START, Session

DOCUMENT = documents("/home/kim/work/app")["skill"]
LIVE = """# x

## Rules

- Use `pnpm`, not `npm`.
- Do not look under `old`; it does not exist.

Some words of the person.
"""
ADOPTED = START + 5 * DAY


class Breaks:
    """Says of a task that the rule is broken in it where its prompt says so."""

    deterministic = True

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        raise AssertionError("watching attempts nothing")

    def exposed(self, tasks: Sequence[Task], skill: Skill) -> Sequence[bool]:
        return ["break" in task.prompt and "npm" in skill.text for task in tasks]


def sessions(day: float, n: int, broken: int) -> list[Episode]:
    """n sessions of two requests each, some of which break the rule in the second one."""
    made = []
    for i in range(n):
        session = Session(f"s-{day}-{i}", day + i / 1000).prompt("do it").bash("ls")
        made += session.prompt("break it" if i < broken else "mend it").bash("ls").episodes()
    return made


def test_each_rule_of_the_live_text_is_watched_by_session() -> None:
    found = watched(DOCUMENT, LIVE, ADOPTED, [*sessions(0, 10, 5), *sessions(6, ENOUGH, 2)], Breaks())
    assert [one.title for one in found] == ["Use `pnpm`, not `npm`.", "Do not look under `old`; it does not exist."]
    first = found[0]
    assert (first.sessions, first.before, first.after) == (ENOUGH, 0.5, pytest.approx(2 / ENOUGH))
    assert first.finding == "broken in 10% of 20 later sessions, 50% before"
    assert (found[1].before, found[1].after) == (0.0, 0.0)


@pytest.mark.parametrize(("later", "finding"), [(0, "too few sessions yet (0)"), (19, "too few sessions yet (19)")])
def test_below_twenty_sessions_it_says_too_few(later: int, finding: str) -> None:
    (one, _) = watched(DOCUMENT, LIVE, ADOPTED, [*sessions(0, 10, 5), *sessions(6, later, 0)], Breaks())
    assert (one.finding, one.sessions) == (finding, later)


def test_without_earlier_sessions_there_is_nothing_to_compare_with() -> None:
    (one, _) = watched(DOCUMENT, LIVE, ADOPTED, sessions(6, 30, 3), Breaks())
    assert one.before is None
    assert one.finding.startswith("too few")


def test_a_text_without_rules_is_not_watched() -> None:
    assert watched(DOCUMENT, "# x\n\nBe kind.\n", ADOPTED, sessions(6, 30, 3), Breaks()) == []
