"""Adopted rules in the person's own later sessions: shares by session, and how few of them say nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from skillopt_core.types import Missing, Skill, Task, Trajectory
from skillopt_sleep.critics.grammar import parse, phrase
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.reports import Watched
from skillopt_sleep.domain.sentences import Said
from skillopt_sleep.night.plan import documents, rule_id
from skillopt_sleep.night.watch import ENOUGH, Adopted, alarms, kind_of_work, watched
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


def see(episodes: list[Episode], live: str = LIVE, cut_ms: int = 0, only: str = "") -> list[Watched]:
    ids = {phrase(one): rule_id(DOCUMENT.scope, one) for one in parse(LIVE) if not isinstance(one, Said)}
    adopted = {name: Adopted("a-1", ADOPTED, cut_ms) for title, name in ids.items() if only in title}
    return watched(DOCUMENT, live, adopted, episodes, Breaks())


def test_each_adopted_rule_of_the_live_text_is_watched_by_session() -> None:
    found = see([*sessions(0, 10, 5), *sessions(6, ENOUGH, 2)])
    assert [one.title for one in found] == ["Use `pnpm`, not `npm`.", "Do not look under `old`; it does not exist."]
    first = found[0]
    assert (first.sessions, first.before, first.after) == (ENOUGH, 0.5, pytest.approx(2 / ENOUGH))
    assert first.finding.startswith("broken in 10% of 20 later sessions, 50% before; like with like ")
    assert first.observed is not None
    assert (first.observed.pairs, first.observed.unmatched) == (10, 10)
    assert first.observed.effect == pytest.approx(0.3)
    assert first.finding.endswith("-30 points (95% interval -85 to +47), 10 pairs: too few to tell")
    assert (found[1].before, found[1].after) == (0.0, 0.0)


def test_what_was_not_adopted_is_a_persons_own_text() -> None:
    assert [one.title for one in see(sessions(6, 3, 0), only="pnpm")] == ["Use `pnpm`, not `npm`."]


def test_the_sessions_that_a_rule_was_made_from_do_not_count_as_before() -> None:
    """They broke it, all of them: that is why it was made."""
    made_from, between = sessions(0, 10, 10), sessions(3, 10, 1)
    (one, _) = see([*made_from, *between, *sessions(6, ENOUGH, 2)], cut_ms=START + 2 * DAY)
    assert one.before == pytest.approx(0.1)
    (one, _) = see([*made_from, *between, *sessions(6, ENOUGH, 2)])
    assert one.before == pytest.approx(0.55)


def test_a_session_that_goes_across_the_adoption_is_on_neither_side() -> None:
    early, late = sessions(0, 1, 1), sessions(6, 1, 1)
    across = [replace(episode, session="s-across") for episode in (*early, *late)]
    (one, _) = see(across)
    assert (one.sessions, one.before, one.after) == (0, None, None)


def test_a_rule_that_is_broken_ever_more_is_an_alarm_with_the_way_back() -> None:
    (one, other) = see([*sessions(0, 12, 0), *sessions(6, 12, 12)])
    assert one.says == "hurts"
    assert "`skillopt-sleep rollback a-1` takes it back" in one.finding
    assert len(alarms([one, other])) == 1
    assert see([*sessions(0, 12, 12), *sessions(6, 12, 0)])[0].says == "helps"
    assert alarms(see([*sessions(0, 12, 12), *sessions(6, 12, 0)])) == []


def test_like_is_compared_with_like() -> None:
    """Long sessions broke it before, short ones do not now: that shows nothing."""
    long = [replace(one, actions=one.actions * 30) for one in sessions(0, 12, 12)]
    (one, _) = see([*long, *sessions(6, 12, 0)])
    assert (one.before, one.after, one.says) == (1.0, 0.0, "too few sessions yet")
    assert one.observed is not None
    assert (one.observed.pairs, one.observed.unmatched) == (0, 24)


def test_the_kind_of_work_is_whose_it_is_what_it_changes_and_how_long_it_is() -> None:
    read = Session("s-1", 0).prompt("look").bash("ls").episodes()
    changed = Session("s-2", 0).prompt("mend").edit("a/b.py", "x", "y").edit("c.py", "x", "y").edit("d.md", "x", "y")
    assert kind_of_work(read) == "kim, changes nothing, a few actions"
    assert kind_of_work(changed.episodes()) == "kim, changes .py, a few actions"
    assert kind_of_work([replace(read[0], actions=read[0].actions * 9)]) == "kim, changes nothing, dozens of actions"


@pytest.mark.parametrize(("later", "finding"), [(0, "too few sessions yet (0)"), (19, "too few sessions yet (19)")])
def test_below_twenty_sessions_it_says_too_few(later: int, finding: str) -> None:
    (one, _) = see([*sessions(0, 10, 5), *sessions(6, later, 2)])
    assert (one.finding, one.sessions) == (finding, later)


def test_without_earlier_sessions_there_is_nothing_to_compare_with() -> None:
    (one, _) = see(sessions(6, 30, 3))
    assert one.before is None
    assert one.finding.startswith("too few")


def test_a_text_without_rules_is_not_watched() -> None:
    assert see(sessions(6, 30, 3), "# x\n\nBe kind.\n") == []
