"""Tasks into kinds of request: named and split by a model, over nights too."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from skillopt_core.protocols import Exhausted
from skillopt_core.types import Missing
from skillopt_sleep.domain.tasks import Split
from skillopt_sleep.mine import mine
from skillopt_sleep.mine.requested import PREFIX, Kind, Task, Written, kept_tasks, patterns_of, sorted_out, vetted
from skillopt_sleep.mine.tasks import SHARES
from tests.mine.building import episodes_in
from tests.mine.requested.recorded import BEFORE, Found, Model, drafts, sheet, slugged, task

NAMES = ("s1", "s2", "s3")


def tasks() -> list[Task]:
    found = []
    for day, name in enumerate(NAMES):
        one = sheet(slugged(name, day))
        written = task(kind=f"kind of {name}", prompt=task()["prompt"])
        (draft,) = drafts(one, written)
        found.append(vetted(draft, one, Found(BEFORE), (), lambda _: False))
    return found


def kinds(model: Model, known: tuple[Kind, ...] = (), written: Written | None = None) -> list[Kind]:
    return sorted_out(model, tasks(), known, written or Written(), lambda text: "SECRET" in text)


def test_a_model_joins_and_splits_and_names() -> None:
    model = Model({"kinds": [{"name": "text functions", "requests": [1, 3]}, {"name": "others", "requests": [2]}]})
    found = kinds(model)
    assert [kind.name for kind in found] == ["text functions", "others", "text functions"]
    assert found[0].signature == found[2].signature == f"{PREFIX}{tasks()[0].id}"
    assert "2. kind of s2: Write a function slug" in model.asked[0]


def test_a_known_kind_keeps_its_name_and_takes_what_is_like_it() -> None:
    old = Kind(f"{PREFIX}old", "text helpers", ("s0:0",))
    model = Model({"kinds": [{"name": "renamed", "requests": [1, 2]}, {"name": "new", "requests": [3, 4]}]})
    found = kinds(model, (old,))
    assert [kind.name for kind in found] == ["text helpers", "new", "new"]
    assert found[0] == old


def test_numbers_that_there_are_not_or_twice_are_left_out() -> None:
    model = Model(
        {"kinds": [{"name": "a", "requests": [1, 99, 0, -1, True, "2"]}, {"name": "b", "requests": [1, 2]}, 7]}
    )
    assert [kind.name for kind in kinds(model)] == ["a", "b", "kind of s3"]


def test_without_an_answer_each_task_goes_by_the_name_that_it_was_given() -> None:
    written = Written()
    assert [kind.name for kind in kinds(Model(Missing("HTTP 500")), written=written)] == [f"kind of {n}" for n in NAMES]
    assert written.lost == {"HTTP 500": 1}

    class Poor(Model):
        def __call__(self, prompts: object) -> list[str | Missing]:
            raise Exhausted("out")

    written = Written()
    assert len(kinds(Poor("x"), written=written)) == len(NAMES)
    assert written.exhausted == "out"


def test_a_name_that_may_not_be_shown_is_not() -> None:
    for name in ("see https://evil.example", "SECRET", "a\u202eb" * 3, ""):
        (first, *_) = kinds(Model({"kinds": [{"name": name, "requests": [1, 2, 3]}]}))
        assert first.name.startswith("Write a function slug"), name
    (first, *_) = kinds(Model({"kinds": [{"name": "x" * 500, "requests": [1]}]}))
    assert len(first.name) <= 80


def test_tasks_are_kept_with_their_pattern_and_go_where_their_twins_are() -> None:
    episodes = episodes_in(slugged(name, day) for day, name in enumerate(NAMES))
    found = mine(episodes)
    written = tasks()
    sorts = kinds(Model({"kinds": [{"name": "text functions", "requests": [1, 2, 3]}]}))
    (pattern,) = patterns_of(sorts, written, found)
    assert (pattern.kind, pattern.title) == ("request", "text functions")
    assert pattern.sessions == NAMES
    known: dict[str, Split] = {episodes[0].id: "audit"}
    kept = kept_tasks(sorts, written, found, "salt", known)
    assert {one.pattern for one in kept} == {pattern.key}
    assert {one.split for one in kept} == {"audit"}, (
        "the same prompt is the same unit, and one of them was split before"
    )
    assert len({one.twin for one in kept}) == 1
    assert all(one.checks[0].vetting for one in kept)


def test_shares_and_what_is_never_on_two_sides_are_as_they_are_set() -> None:
    sessions = []
    for n in range(40):
        session = slugged(f"s{n:02}", n)
        session.events[0] = replace(session.events[0], text=f"{session.events[0].text} no {n}")
        sessions.append(session)
    found = mine(episodes_in(sessions))
    written = []
    for session in sessions:
        (draft,) = drafts(sheet(session), task())
        written.append(vetted(draft, sheet(session), Found(BEFORE), (), lambda _: False))
    one = Kind(f"{PREFIX}x", "one", ())
    sorts = [one] * len(written)
    by_session = Counter(task.split for task in kept_tasks(sorts, written, found, "salt", {}))
    assert set(by_session) == set(SHARES)
    all_train: dict[Split, float] = {"train": 1.0, "gate": 0.0, "audit": 0.0}
    assert {task.split for task in kept_tasks(sorts, written, found, "salt", {}, all_train)} == {"train"}
    assert len({task.split for task in kept_tasks(sorts, written, found, "salt", {}, by="pattern")}) == 1
