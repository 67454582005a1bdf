"""The code bases of a night."""

from __future__ import annotations

from dataclasses import replace

from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.night.projects import in_code_bases
from tests.mine.building import Session


def episodes(cwd: str, *days: float) -> list[Episode]:
    return [e for day in days for e in Session(f"s-{cwd}-{day}", day, cwd=cwd).prompt("do it").bash("ls").episodes()]


def test_the_code_base_that_was_used_last_comes_first_and_its_episodes_in_order_of_time() -> None:
    old, new = episodes("/home/kim/old", 3, 1), episodes("/home/kim/new", 2, 9)
    found = in_code_bases([*old, *reversed(new)], ())
    assert [project.shown for project in found] == ["new", "old"]
    for project in found:
        assert [e.began_ms for e in project.episodes] == sorted(e.began_ms for e in project.episodes)


def test_a_chosen_folder_takes_what_lies_below_it_and_nothing_beside_it() -> None:
    every = [*episodes("/w/app", 1), *episodes("/w/app/api", 2), *episodes("/w/application", 3)]
    chosen = {project.name for project in in_code_bases(every, ["/w/app"])}
    assert "/w/application" not in chosen
    assert chosen
    assert chosen == {project.name for project in in_code_bases(every, ["/w/app/"])}
    assert not in_code_bases(every, ["/w/ap"])


def test_without_a_choice_no_episode_is_lost() -> None:
    every = [*episodes("/w/a", 1, 2), *episodes("/w/b", 3), *(replace(e, project="") for e in episodes("/w/c", 4))]
    assert sum(len(project.episodes) for project in in_code_bases(every, ())) == len(every)


def test_no_episodes_are_no_projects() -> None:
    assert in_code_bases([], ()) == ()
