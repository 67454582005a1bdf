from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.mine import Mined, mine
from skillopt_sleep.mine.tasks import (
    SHARES,
    by_time,
    cut_of,
    recurrence,
    shown_by,
    split_of,
    tasks_of,
    twin_groups,
    unit_of,
)
from tests.mine.building import DAY, START, Session, episodes_in

GONE = "Path does not exist"


def looking(name: str, day: float, folder: str = "src/cmd", prompt: str = "") -> Session:
    return (
        Session(name, day=day)
        .prompt(prompt or f"find the thing called {name}")
        .read("src/main.py")
        .grep("x", folder, GONE, "error")
    )


@pytest.fixture(scope="module")
def found() -> Mined:
    return mine(episodes_in(looking(f"s{n:02}", n) for n in range(12)))


def test_each_episode_of_a_pattern_is_a_task_with_a_check(found: Mined) -> None:
    (pattern,) = found.patterns
    tasks = tasks_of([pattern], found.episodes, salt="a")
    assert [t.episode for t in tasks] == list(pattern.episodes)
    assert {t.pattern for t in tasks} == {pattern.key}
    for task, member in zip(tasks, pattern.members, strict=True):
        (check,) = task.checks
        assert (check.kind, check.argument) == ("free_of", "fact:path:src/cmd")
        assert check.source_event == member.failing
    assert tasks == tasks_of([pattern], tuple(reversed(found.episodes)), salt="a")


def test_what_a_check_had_found_must_pass_that_check() -> None:
    sessions = []
    for n in range(2):
        session = Session(f"s{n}", day=n).prompt("go").edit("a.go", "x", f"f({n})")
        sessions.append(session.bash("lint it", f"a.go:1:1: no (rule)\n\tf({n})", 1).edit("a.go", f"f({n})", "g"))
    found = mine(episodes_in(sessions))
    for task in tasks_of(found.patterns, found.episodes, salt="a"):
        assert ("succeeds", "lint it") in {(c.kind, c.argument) for c in task.checks}


def test_a_split_is_stable_and_salted(found: Mined) -> None:
    tasks = tasks_of(found.patterns, found.episodes, salt="a")
    again = tasks_of(found.patterns, found.episodes, salt="a")
    other = tasks_of(found.patterns, found.episodes, salt="b")
    assert [t.split for t in tasks] == [t.split for t in again] != [t.split for t in other]
    assert [t.id for t in tasks] == [t.id for t in other]


def test_shares_are_kept_over_many_groups() -> None:
    counts = Counter(split_of(f"g{n}", "salt") for n in range(20_000))
    assert sum(SHARES.values()) == pytest.approx(1)
    for split, share in SHARES.items():
        assert counts[split] / 20_000 == pytest.approx(share, abs=0.02)


names = st.sampled_from([f"n{i}" for i in range(8)])


def episode(n: int, session: str, family: str, twin: str) -> Episode:
    return Episode(f"e{n}", session, "a", "p", "kim", n, "x", n, (), twin=twin, family=family)


@given(st.lists(st.tuples(names, names, st.one_of(st.just(""), names)), max_size=24), st.randoms())
@settings(max_examples=200)
def test_twins_are_never_on_two_sides(rows: list[tuple[str, str, str]], rng: st.DrawFn) -> None:
    episodes = [episode(n, *row) for n, row in enumerate(rows)]
    groups = twin_groups(episodes)
    for a in episodes:
        for b in episodes:
            if a.session == b.session or a.family == b.family or (a.twin and a.twin == b.twin):
                assert groups[a.id] == groups[b.id]
    shuffled = list(episodes)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    assert twin_groups(shuffled) == groups


def test_strangers_are_no_twins() -> None:
    groups = twin_groups([episode(1, "a", "a", ""), episode(2, "b", "b", "t"), episode(3, "c", "c", "u")])
    assert len(set(groups.values())) == 3


def test_a_split_once_made_is_fixed_and_draws_its_twins_along(found: Mined) -> None:
    tasks = tasks_of(found.patterns, found.episodes, salt="a")
    fixed = {t.id: t.split for t in tasks}
    twin = looking("t", 30, prompt="find the thing called s03")
    later = mine([*found.episodes, *twin.episodes()])
    again = {t.session: t for t in tasks_of(later.patterns, later.episodes, salt="other", known=fixed)}
    assert {t.id: t.split for t in again.values() if t.id in fixed} == fixed
    assert again["t"].split == again["s03"].split
    assert again["t"].twin == again["s03"].twin


def test_by_time_what_began_before_the_cut_is_train_whatever_the_hash(found: Mined) -> None:
    (pattern,) = found.patterns
    cut = cut_of(pattern)
    assert cut is not None
    tasks = tasks_of([pattern], found.episodes, salt="c")
    train, gate = by_time(reversed(tasks), cut)
    assert {t.session for t in train} == {"s00", "s01"}
    assert max(t.began_ms for t in train) < cut <= min(t.began_ms for t in gate)
    assert {t.split for t in gate} > {"train"}


def test_sessions_of_one_day_person_and_pattern_are_one_unit() -> None:
    assert unit_of("p", START, "kim") == unit_of("p", START + 1000, "kim")
    assert (
        len(
            {
                unit_of("p", START, "kim"),
                unit_of("p", START + DAY, "kim"),
                unit_of("p", START, "lee"),
                unit_of("q", START, "kim"),
            }
        )
        == 4
    )


def test_what_shows_a_pattern_is_told_by_episode(found: Mined) -> None:
    (pattern,) = found.patterns
    assert shown_by(pattern) == dict.fromkeys(pattern.episodes, pattern.title)


def test_recurrence_counts_later_sessions_against_other_signatures_of_the_kind() -> None:
    sessions = [looking(f"a{n}", n) for n in range(8)]
    sessions += [looking(f"o{n}", n, folder=f"src/once{n}") for n in range(2)]
    sessions += [looking(f"x{n}", n + 4, folder="src/once0") for n in range(1)]
    found = mine(episodes_in(sessions))
    pattern = next(p for p in found.patterns if "cmd" in p.title)
    assert pattern.cut_ms is not None
    later = [s.name for s in sessions if s.at > pattern.cut_ms]
    seen = recurrence(pattern, later, found.frictions)
    assert seen is not None
    assert (seen.k, seen.n) == (6, 7)
    assert seen.background == pytest.approx((1 + 0.5) / (2 * 7 + 1))
    assert seen.p < 0.001


def test_recurrence_is_not_measured_where_there_is_nothing_to_measure() -> None:
    found = mine(episodes_in([looking("a", 0), looking("b", 1)]))
    (pattern,) = found.patterns
    assert recurrence(pattern, [], found.frictions) is None
    assert recurrence(pattern, ["c"], found.frictions) is None
    assert recurrence(replace(pattern, cut_ms=None), ["c"], found.frictions) is None
