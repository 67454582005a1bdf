"""The simulated critic of each quality, through the whole loop with the obedient simulator."""

from __future__ import annotations

import re

import pytest

from skillopt_core.gate import LookGate, OffGate
from skillopt_core.loop import evolve
from skillopt_core.memory import Memory
from skillopt_core.protocols import Gate
from skillopt_core.schedule import Schedule
from skillopt_core.types import Evolution, Outcome, Patch, Score, Skill, Task, TaskSet, Trajectory
from skillopt_sleep.agents.simulated import SimulatedAgent
from skillopt_sleep.critics.imperatives import Heading, Label, Limit, Tool, demanded, orders
from skillopt_sleep.critics.screen import Grounds, StrictScreen
from skillopt_sleep.critics.simulated import Quality, SimulatedCritic
from skillopt_sleep.domain.answers import Answer

PLAIN = Skill("# Reports\n\nAnswer the question.\n")
SOUND = Skill('# Reports\n\n- Include the heading "Staff".\n- End with the line "Vote: no".\n')
NO_HEADING = "The answer lacks a section. An answer passes that has, for example:\n## Staff\nSome lines about it."
NO_VOTE = "The answer lacks something in its form. An answer passes that has, for example:\nVote:"


def judge(_task: Task, answer: Answer) -> Score:
    """A report has a heading and a vote."""
    found = (re.search(r"^## Staff$", answer.text, re.MULTILINE), re.search(r"^Vote: ", answer.text, re.MULTILINE))
    failed = tuple(said for said, there in zip((NO_HEADING, NO_VOTE), found, strict=True) if not there)
    return Score(float(not failed), 1 - len(failed) / 2, failed)


def tasks(kind: str, n: int) -> tuple[Task, ...]:
    return tuple(Task(f"{kind}{number}", f"Report on {kind} depot {number}.") for number in range(n))


SPLITS = TaskSet(tasks("train", 7), tasks("gate", 8), tasks("audit", 6))


def trained(critic: SimulatedCritic, base: Skill, gate: Gate, screen: StrictScreen | None = None) -> Evolution:
    agent = SimulatedAgent(judge, obedience=0.97, seed=5)
    return evolve(base, SPLITS, agent, critic, gate, Schedule.night(), screen=screen)


def seen(skill: Skill, obedience: float = 1.0) -> list[Trajectory]:
    attempts = SimulatedAgent(judge, obedience=obedience).attempt(SPLITS.train, skill, [0] * 7)
    return [one for one in attempts if isinstance(one, Trajectory)]


def test_what_is_said_of_a_failed_check_is_understood() -> None:
    assert demanded(NO_HEADING) == (Heading("Staff"),)
    assert demanded(NO_VOTE) == (Label("Vote"),)
    said = "The answer is too long: 4,937 characters. One of 900 characters would pass."
    assert demanded(said) == (Limit(900),)
    said = "The agent did not use a tool that the task needs. A run passes that calls, for example, `rota` first."
    assert demanded(said) == (Tool("rota"),)
    said = "The agent used a tool that it must leave alone. A run passes that never calls, for example, `rota`."
    assert demanded(said) == (Tool("rota", wanted=False),)
    assert demanded("The answer lacks something that it has to say.") == ()


def test_a_good_critic_and_an_obedient_agent_learn_what_the_checks_ask_for() -> None:
    evolution = trained(SimulatedCritic(), PLAIN, LookGate(evidence="simulated"))
    assert evolution.verdict
    assert evolution.verdict.outcome is Outcome.ACCEPT
    assert evolution.verdict.evidence == "simulated"
    assert set(orders(evolution.skill.text)) == {Heading("Staff"), Label("Vote")}
    assert all(len(edit.support) == 7 for edit in evolution.steps[0].patch.edits)


def test_a_useless_critic_changes_words_and_no_score() -> None:
    evolution = trained(SimulatedCritic(Quality.USELESS), PLAIN, LookGate())
    assert evolution.verdict
    assert evolution.verdict.effect == 0
    assert not evolution.changed
    assert evolution.steps[0].patch.edits


@pytest.mark.parametrize("seed", range(4))
def test_a_harmful_critic_ruins_a_skill_that_no_gate_guards(seed: int) -> None:
    rules = SimulatedCritic(Quality.HARMFUL, seed=seed).reflect(SOUND, seen(SOUND, 0.6), 4, Memory())
    (patch,) = rules
    assert isinstance(patch, Patch)
    assert len(patch.edits) == 1
    critic = SimulatedCritic(Quality.HARMFUL, seed=seed)
    noisy = SimulatedAgent(judge, obedience=0.9, seed=seed)
    ungated = evolve(SOUND, SPLITS, noisy, critic, OffGate(), Schedule(epochs=6, batch=7, slow_update=0, meta=False))
    gated = trained(SimulatedCritic(Quality.HARMFUL, seed=seed), SOUND, LookGate())
    assert all(one.score.hard == 0 for one in seen(ungated.skill))
    assert gated.skill == SOUND


def test_a_leaking_critic_is_stopped_by_the_screen() -> None:
    leaks = (r"^Vote\s*[:=]", "forty-two depots")
    screen = StrictScreen(Grounds(literals=frozenset({*leaks, *(task.prompt for task in SPLITS.train)})))
    open_door = trained(SimulatedCritic(Quality.LEAKING, leaks=leaks), PLAIN, OffGate())
    assert all(leak in open_door.skill.text for leak in leaks)
    guarded = trained(SimulatedCritic(Quality.LEAKING, leaks=leaks), PLAIN, OffGate(), screen)
    assert not any(leak in guarded.skill.text for leak in leaks)
    refused = [one for one in guarded.steps[0].patch.refused if one.why == "it quotes what a check looks for"]
    assert len(refused) >= len(leaks)


def test_the_same_seed_proposes_the_same_and_another_one_something_else() -> None:
    def proposed(seed: int) -> object:
        return SimulatedCritic(Quality.USELESS, seed=seed).reflect(PLAIN, seen(PLAIN), 4, Memory())

    assert proposed(1) == proposed(1)
    assert proposed(1) != proposed(2)


def test_what_was_rejected_or_stands_there_is_not_proposed_again() -> None:
    memory = Memory()
    (first,) = SimulatedCritic().reflect(PLAIN, seen(PLAIN), 4, memory)
    assert isinstance(first, Patch)
    for edit in first.edits:
        memory.remember(edit, PLAIN.digest, "not better")
    assert SimulatedCritic().reflect(PLAIN, seen(PLAIN), 4, memory) == []
    assert SimulatedCritic().reflect(SOUND, seen(SOUND, 0.5), 4, Memory()) == []
