from __future__ import annotations

import random
import time

from skillopt_sleep.mine import mine
from skillopt_sleep.mine.requests import cosine, groups_of, terms
from tests.mine.building import Session, episodes_in

OTHERS = [
    "rename the settings page and move its tests",
    "why does the login form lose its state after a reload",
    "write a migration that adds an index to the orders table",
    "the release notes want a section on breaking changes",
    "profile the importer, it got slow last week",
]


def asked(*prompts: str) -> list[Session]:
    return [Session(f"s{n}", day=n).prompt(text).read("a") for n, text in enumerate(prompts)]


def test_requests_that_are_alike_are_one_pattern() -> None:
    prompts = ["Review the open pull request 17 and comment", "please review the open pull request 204, and comment"]
    found = mine(episodes_in(asked(*OTHERS, *prompts)))
    (pattern,) = found.requests
    assert (pattern.kind, pattern.friction, len(pattern.sessions)) == ("request", None, 2)
    assert pattern.title == "Asked again: “Review the open pull request 17 and comment”"
    assert {q.author for q in pattern.quotes} == {"person"}


def test_different_requests_stay_apart() -> None:
    assert mine(episodes_in(asked(*OTHERS))).requests == ()


def test_mere_assent_is_no_request() -> None:
    assert terms("yes, please go ahead and implement it") == terms("ok") == terms("do 2 and 3") == {}
    assert mine(episodes_in(asked("yes please", "yes please", "go ahead", "go ahead"))).requests == ()


def test_the_same_session_asking_twice_is_no_pattern() -> None:
    session = Session("s").prompt(OTHERS[0]).read("a").prompt(OTHERS[0])
    assert mine(session.episodes()).requests == ()


def test_a_cosine_is_one_with_itself_and_nothing_with_others() -> None:
    a = {"x": 0.6, "y": 0.8}
    assert abs(cosine(a, a) - 1) < 1e-12
    assert cosine(a, {"z": 1.0}) == 0


def test_thousands_of_long_prompts_take_a_moment() -> None:
    rng = random.Random(1)
    words = [f"w{n}" for n in range(400)]
    prompts = [" ".join(rng.choices(words, k=200)) for _ in range(700)] + [" ".join(["same"] * 20_000)] * 300
    episodes = episodes_in(asked(*prompts))
    began = time.process_time()
    groups_of(episodes)
    assert time.process_time() - began < 6
