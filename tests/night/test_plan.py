"""What a night works on: one rule a fact, the person's wishes first, nothing that the live text says already."""

from __future__ import annotations

from functools import cache

import pytest

from skillopt_sleep.clock import DAY_MS
from skillopt_sleep.critics.grammar import render
from skillopt_sleep.domain.sentences import Said
from skillopt_sleep.mine import Mined, mine
from skillopt_sleep.night.plan import base_name, documents, mined, preferred, rule_id
from skillopt_sleep.night.work import live_rules, planned_subjects, projects_of
from skillopt_sleep.review import adopt as adopting
from skillopt_sleep.store.adoptions import Adoptions
from skillopt_sleep.store.proposals import proposals
from tests.night.worlds import Place
from tests.sample.verdicts import sample_episodes

DAY = 86_400_000


@cache
def found() -> Mined:
    return mine(sample_episodes())


def test_one_rule_stands_for_a_fact_and_the_dearest_comes_first() -> None:
    subjects = mined(found(), found().patterns, {}, None)
    assert len(subjects) >= 4
    assert len({one.rule for one in subjects}) == len(subjects)
    doubled = mined(found(), (*found().patterns, *found().patterns), {}, None)
    assert [one.rule for one in doubled] == [one.rule for one in subjects]


def test_a_rule_is_made_from_what_was_seen_before_its_cut_alone() -> None:
    for one in mined(found(), found().patterns, {}, None):
        assert one.cut_ms % DAY == 0
        before = [friction for friction in one.shown if friction.at_ms < one.cut_ms]
        assert len({friction.session for friction in before}) >= 2
        assert all(quote.at_ms is None or quote.at_ms < one.cut_ms for quote in one.quotes)
        assert not isinstance(one.sentence, Said)


def test_a_date_cuts_all_and_a_trial_keeps_the_cut_that_it_began_with() -> None:
    late = max(one.cut_ms for one in mined(found(), found().patterns, {}, None)) + 5 * DAY
    assert {one.cut_ms for one in mined(found(), found().patterns, {}, late)} == {late}
    first = mined(found(), found().patterns, {}, None)[0]
    moved = mined(found(), found().patterns, {first.rule: first.cut_ms + 3 * DAY}, None)
    assert next(one for one in moved if one.rule == first.rule).cut_ms == first.cut_ms + 3 * DAY


def test_before_the_first_day_nothing_can_be_phrased() -> None:
    assert mined(found(), found().patterns, {}, 0) == [] or not mined(found(), found().patterns, {}, DAY)


def test_a_wish_is_a_subject_of_its_own_words_without_a_cut() -> None:
    (one,) = preferred(["use pnpm, never npm"], "/home/kim/shop")
    assert (one.cut_ms, one.document.kind, one.title) == (0, "memory", "you prefer: use pnpm, never npm")
    assert one.edit is not None
    assert one.edit.text == render(one.sentence)
    assert [quote.author for quote in one.quotes] == ["person"]


def test_two_wordings_of_one_rule_are_one_rule_and_two_projects_have_two() -> None:
    first, second = preferred(["use pnpm, never npm", "never npm, use pnpm"], "/p")
    assert rule_id("/p", first.sentence) == rule_id("/p", second.sentence)
    assert rule_id("/p", first.sentence) != rule_id("/q", first.sentence)


@pytest.mark.parametrize(
    ("path", "name"), [("/home/kim/shop", "shop"), ("C:\\work\\shop\\", "shop"), ("/", "project"), ("", "project")]
)
def test_a_project_is_called_by_its_last_folder(path: str, name: str) -> None:
    assert base_name(path) == name
    assert documents(path)["skill"].scope == path


def test_wishes_come_first_and_take_the_place_of_what_was_mined(place: Place) -> None:
    wishes = ["use pnpm, never npm", "the file is `config/app.yaml`, not `config/app.yml`"]
    config = place.config.model_copy(
        update={"preferences": place.config.preferences.model_copy(update={"rules": tuple(wishes)})}
    )
    place.night()
    with place.open(config=config) as world:
        (project,) = projects_of(world)
        planned = planned_subjects(world, project, mine(project.episodes))
        began = world.clock.now_ms()
    with place.open(began + DAY_MS, config=config) as world:
        later = planned_subjects(world, project, mine(project.episodes))
    assert [one.title for one in planned[:2]] == [f"you prefer: {wish}" for wish in wishes]
    assert {one.quotes[0].at_ms for one in (*planned[:2], *later[:2])} == {began}, "since when it holds is kept"
    assert len({one.rule for one in planned}) == len(planned)
    assert sum("config/app.yaml" in render(one.sentence) for one in planned) == 1


def test_what_the_live_text_says_is_not_planned_again_and_comes_back_when_it_is_taken_out(place: Place) -> None:
    place.night()
    with place.open() as world:
        (project,) = projects_of(world)
        before = [one.rule for one in planned_subjects(world, project, mine(project.episodes))]
        place.record(world.store)
        learned = next(one for one in proposals(world.store) if one.document.kind == "learned")
        adoption = adopting.adopt(learned, (), world.targets(learned.document), Adoptions(world.store), world.clock)
        after = [one.rule for one in planned_subjects(world, project, mine(project.episodes))]
        assert set(before) - set(after) == live_rules(world, project.name)
        assert len(live_rules(world, project.name)) == len(adoption.edits) == 2
        adopting.rollback(adoption, Adoptions(world.store))
        assert [one.rule for one in planned_subjects(world, project, mine(project.episodes))] == before
