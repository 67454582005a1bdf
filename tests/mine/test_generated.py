"""The miner on corpora whose every tool, flag, code and file has a random name."""

from __future__ import annotations

from functools import cache

import pytest

from skillopt_sleep.domain.frictions import Pattern
from skillopt_sleep.mine import Mined, mine
from tests.mine.building import episodes_in
from tests.mine.generated import Corpus, Planted

SEEDS = range(8)


@cache
def mined(seed: int) -> tuple[Corpus, Mined]:
    corpus = Corpus(seed)
    return corpus, mine(episodes_in(corpus.sessions))


def named(found: Mined) -> list[Pattern]:
    """What the miner says recurs; kinds of request are no frictions."""
    return list(found.patterns)


def missed(seed: int) -> list[Planted]:
    corpus, found = mined(seed)
    return [p for p in corpus.planted if not any(p.found_in(pattern) for pattern in named(found))]


def noise(seed: int) -> list[Pattern]:
    corpus, found = mined(seed)
    return [pattern for pattern in named(found) if not any(p.found_in(pattern) for p in corpus.planted)]


def test_planted_frictions_are_found_with_recall_of_nine_in_ten() -> None:
    planted = sum(len(mined(seed)[0].planted) for seed in SEEDS)
    lost = [p.what for seed in SEEDS for p in missed(seed)]
    assert 1 - len(lost) / planted >= 0.9, lost


def test_what_is_named_was_planted_with_precision_of_eight_in_ten() -> None:
    total = sum(len(named(mined(seed)[1])) for seed in SEEDS)
    false = [p.title for seed in SEEDS for p in noise(seed)]
    assert 1 - len(false) / total >= 0.8, false


@pytest.mark.parametrize("seed", SEEDS)
def test_every_rule_is_fit_to_stand_in_a_skill(seed: int) -> None:
    from skillopt_sleep.critics import grammar

    for pattern in mined(seed)[1].patterns:
        if pattern.sentence is not None:
            assert grammar.parse(grammar.render(pattern.sentence)) == (pattern.sentence,)
