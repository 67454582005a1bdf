"""The demo is not staged by hand: its verdicts follow the outcomes in its sessions.

The sample's sessions are harvested as any others; then the recorded outcomes of what the rules are about are changed,
and the verdicts have to change with them.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from skillopt_core.types import Outcome
from skillopt_sleep.domain.episodes import Action, ActionOutcome, Episode
from tests.sample.verdicts import sample_episodes, verdicts

CHECKOUT = Path(__file__).parent.parent.parent
CONTENT, FACT, HARMFUL, USELESS = "Date.now()", "config/app.yaml", "npm run deploy:staging", "--watchAll"


def test_the_shipped_files_are_what_the_script_makes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(CHECKOUT / "bench/make_sample.py"), str(tmp_path)], check=True)
    shipped = CHECKOUT / "skillopt_sleep/sample/home"
    made = {str(p.relative_to(tmp_path)): p.read_bytes() for p in tmp_path.rglob("*.jsonl")}
    assert {str(p.relative_to(shipped)): p.read_bytes() for p in shipped.rglob("*.jsonl")} == made


def test_the_sample_holds_forty_sessions_of_three_agents_on_twenty_days() -> None:
    episodes = sample_episodes()
    assert len({e.session for e in episodes}) >= 40
    assert {e.agent for e in episodes} == {"claude-code", "codex", "copilot-cli"}
    assert len({e.began_ms // 86_400_000 for e in episodes}) >= 20


def outcome_of(found: dict[str, Outcome], slot: str) -> Outcome | None:
    return next((outcome for sentence, outcome in found.items() if slot in sentence), None)


def test_helpful_rules_are_supported_the_harmful_one_rejected_and_the_useless_one_abstains() -> None:
    found = verdicts(sample_episodes())
    assert outcome_of(found, CONTENT) is Outcome.SUPPORTED
    assert outcome_of(found, FACT) is Outcome.SUPPORTED
    assert outcome_of(found, HARMFUL) is Outcome.REJECT
    assert outcome_of(found, USELESS) is Outcome.ABSTAIN


def changed(episodes: Sequence[Episode], change: Callable[[Episode, Action], Action]) -> list[Episode]:
    return [replace(e, actions=tuple(change(e, a) for a in e.actions)) for e in episodes]


def first_day(episodes: Sequence[Episode], slot: str, sessions: int = 2) -> int:
    """The end of the day on which a second session meets something."""
    seen: dict[str, int] = {}
    for e in sorted(episodes, key=lambda e: e.began_ms):
        if any(slot in a.command or slot in " ".join(a.paths) for a in e.actions):
            seen.setdefault(e.session, e.began_ms)
    return (sorted(seen.values())[sessions - 1] // 86_400_000 + 1) * 86_400_000


def test_swapping_helpful_and_harmful_outcomes_swaps_the_verdicts() -> None:
    episodes = sample_episodes()
    cut = first_day(episodes, "config/app.yml")

    def swap(e: Episode, a: Action) -> Action:
        if HARMFUL in a.command:  # always refused, also later
            return replace(a, outcome=ActionOutcome.REFUSED, output="", said="not now")
        if e.began_ms >= cut and any("config/app.yml" in part for part in (a.command, *a.paths)):
            return replace(a, outcome=ActionOutcome.OK, output="currency: EUR")
        if e.began_ms >= cut and any("config/app.yaml" in part for part in (a.command, *a.paths)):
            return replace(a, outcome=ActionOutcome.ERROR, output="File does not exist.")
        return a

    found = verdicts(changed(episodes, swap))
    assert outcome_of(found, HARMFUL) is Outcome.SUPPORTED
    assert outcome_of(found, "The file is `config/app.yaml`") is not Outcome.SUPPORTED


def test_without_its_later_occurrences_a_rule_is_not_supported() -> None:
    episodes = sample_episodes()
    cut = first_day(episodes, "config/app.yml")
    kept = [
        e if e.began_ms < cut else replace(e, actions=tuple(a for a in e.actions if not _names(a, "config/app.yml")))
        for e in episodes
    ]
    assert outcome_of(verdicts(kept), "The file is `config/app.yaml`") in {None, Outcome.UNVERIFIED, Outcome.ABSTAIN}


def _names(action: Action, path: str) -> bool:
    return any(path in part for part in (action.command, *action.paths))


def shuffled(episodes: Sequence[Episode], seed: int) -> list[Episode]:
    """The same actions with their outcomes dealt out anew among actions of one kind."""
    chance = random.Random(seed)
    fates: dict[str, list[Action]] = {}
    for e in episodes:
        for a in e.actions:
            fates.setdefault(a.kind, []).append(a)
    for cards in fates.values():
        chance.shuffle(cards)
    dealt: dict[str, Iterator[Action]] = {kind: iter(cards) for kind, cards in fates.items()}

    def deal(_: Episode, a: Action) -> Action:
        fate = next(dealt[a.kind])
        return replace(a, outcome=fate.outcome, output=fate.output, said=fate.said, empty=fate.empty)

    return changed(episodes, deal)


@cache
def supported_in_shuffles(seeds: int) -> tuple[int, int]:
    """How many shuffles support any rule at all, of how many."""
    hits = sum(Outcome.SUPPORTED in verdicts(shuffled(sample_episodes(), seed)).values() for seed in range(seeds))
    return hits, seeds


def test_shuffled_outcomes_support_next_to_nothing() -> None:
    hits, seeds = supported_in_shuffles(20)
    assert hits <= seeds * 0.1


@pytest.mark.slow
def test_of_two_hundred_shuffles_at_most_one_in_twenty_supports_anything() -> None:
    hits, seeds = supported_in_shuffles(200)
    assert hits <= seeds * 0.05
