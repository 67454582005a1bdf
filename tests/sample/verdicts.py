"""The night's own mining and practice on given episodes, in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from skillopt_core.gate import RecordedGate
from skillopt_core.types import Outcome, Skill
from skillopt_sleep.agents.recorded import History, RecordedAgent
from skillopt_sleep.critics.grammar import phrase
from skillopt_sleep.critics.phrases import PhraseCritic
from skillopt_sleep.critics.screen import Grounds, StrictScreen
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.ledgers import AttemptKey
from skillopt_sleep.mine import episodes_of, mine
from skillopt_sleep.mine.tasks import recurrence, shown_by
from skillopt_sleep.night.plan import Subject, mined
from skillopt_sleep.night.work import Quiet, _by_episode
from skillopt_sleep.replay.practice import Practice, practise
from skillopt_sleep.review.skills import skeleton
from tests.mine.reading import stored_sessions

LATER = 4_000_000_000_000


class Forgetful:
    """An attempt ledger that keeps nothing."""

    def known(self, keys: Sequence[AttemptKey]) -> Mapping[str, object]:
        return {}

    def save(self, rows: Sequence[object]) -> None:
        pass


@cache
def sample_episodes() -> tuple[Episode, ...]:
    home = Path(str(files("skillopt_sleep.sample"))) / "home"
    return tuple(episode for session in stored_sessions([home]) for episode in episodes_of(session))


def verdicts(episodes: Sequence[Episode]) -> dict[str, Outcome]:
    """Each rule's sentence with its verdict, as a first night has it."""
    found = mine(episodes)
    agent = RecordedAgent(History.of(episodes))
    subjects = mined(found, found.patterns, {}, None)
    return {phrase(one.sentence): _verdict(one, episodes, agent, found.frictions) for one in subjects}


def _verdict(one: Subject, episodes: Sequence[Episode], agent: RecordedAgent, frictions: object) -> Outcome:
    later = {e.session for e in episodes if e.began_ms >= one.cut_ms}
    assert one.pattern is not None
    practice = Practice(
        one.rule, Skill(skeleton(one.document), one.document.name), one.cut_ms, LATER, shown_by(one.pattern),
        recurrence=recurrence(one.pattern, later, frictions),  # type: ignore[arg-type]
    )  # fmt: skip
    evolution = practise(
        practice, episodes, agent, {"name": "recorded"}, Forgetful(), PhraseCritic(_by_episode(one)), RecordedGate,  # type: ignore[arg-type]
        screen=StrictScreen(Grounds()), observer=Quiet(),
    )  # fmt: skip
    verdict = evolution.verdict
    return verdict.outcome if verdict else Outcome.NO_CHANGE
