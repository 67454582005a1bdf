"""The obedient simulator obeys what stands in the text, and knows nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from skillopt_core.types import Score, Skill, Task, Trajectory
from skillopt_sleep.agents.simulated import SimulatedAgent
from skillopt_sleep.domain.answers import Answer

TASK = Task("t1", "Say whether the depot should open on Sundays.")
TASKS = [Task(f"t{n}", f"Say whether depot {n} should open on Sundays.") for n in range(200)]


def right(_task: Task, _answer: Answer) -> Score:
    return Score(1.0, 1.0)


def wrong(_task: Task, _answer: Answer) -> Score:
    return Score(0.0, 0.0, ("it is wrong",), {"seconds": 3.0})


def said(skill: str, obedience: float = 1.0, prompt: str = TASK.prompt) -> Answer:
    return SimulatedAgent(right, obedience=obedience).answer(prompt, Skill(skill))


def test_it_does_what_the_text_orders() -> None:
    answer = said('- Include the heading "Staff".\n- End with the line "Vote: no".\n- Call the tool `rota` first.\n')
    assert re.search(r"^## Staff$", answer.text, re.MULTILINE)
    assert answer.text.endswith("\nVote: no")
    assert answer.tools == ("rota",)


def test_without_an_order_there_is_neither_heading_nor_label_nor_call() -> None:
    answer = said("Answer the question.")
    assert answer.tools == ()
    assert not re.search(r"[#:=]", answer.text)


def test_it_writes_at_length_when_told_to_be_exhaustive() -> None:
    assert len(said("Be exhaustive.").text) > 4_000
    assert len(said("Answer.").text) <= 500
    assert len(said("Be brief.").text) <= 250


def test_a_limit_is_kept_above_all_else() -> None:
    orders = '- Be exhaustive.\n- Include the heading "Staff".\n- End with the line "Vote: no".\n'
    roomy = said(orders + "- Keep it under 900 characters.\n").text
    assert 450 < len(roomy) <= 900
    assert roomy.endswith("Vote: no")
    tight = said(orders + "- Keep it under 60 characters.\n").text
    assert len(tight) <= 60
    assert "Vote" not in tight


def test_a_form_is_copied() -> None:
    assert said("Reply exactly like this:\n\nIt depends.\n\nVote: no\n").text == "It depends.\n\nVote: no"


def test_it_forgets_as_often_as_its_obedience_says() -> None:
    agent = SimulatedAgent(right, obedience=0.8, seed=3)
    skill = Skill('- Include the heading "Staff".')
    answers = [agent.answer(task.prompt, skill, draw).text for task in TASKS for draw in range(5)]
    share = sum("## Staff" in text for text in answers) / len(answers)
    assert 0.76 < share < 0.84  # three standard errors of 1,000 answers


def test_repeats_differ_where_it_is_noisy_and_only_there() -> None:
    skill = Skill('- Include the heading "Staff".')
    noisy, sure = SimulatedAgent(right, obedience=0.9), SimulatedAgent(right, obedience=1.0)
    assert len({noisy.answer(TASK.prompt, skill, draw).text for draw in range(8)}) > 4
    assert len({sure.answer(TASK.prompt, skill, draw).text for draw in range(8)}) == 1
    assert (noisy.deterministic, sure.deterministic) == (False, True)
    assert noisy.answer(TASK.prompt, skill, 1) == SimulatedAgent(right, obedience=0.9).answer(TASK.prompt, skill, 1)
    assert noisy.answer(TASK.prompt, skill, 1) != SimulatedAgent(right, obedience=0.9, seed=1).answer(
        TASK.prompt, skill, 1
    )


def test_other_checks_and_other_ids_change_no_byte_of_its_answers() -> None:
    skill, draws = Skill('- Include the heading "Staff".\n- Be brief.\n'), list(range(200))
    renamed = [Task(f"other{n}", task.prompt, payload={"checks": n}) for n, task in enumerate(TASKS)]
    for obedience in (0.7, 1.0):
        first = SimulatedAgent(right, obedience=obedience).attempt(TASKS, skill, draws)
        second = SimulatedAgent(wrong, obedience=obedience).attempt(renamed, skill, draws)
        assert [one.transcript for one in first if isinstance(one, Trajectory)] == [
            two.transcript for two in second if isinstance(two, Trajectory)
        ]
        assert len(first) == 200


def test_an_attempt_says_what_was_done_and_what_it_cost() -> None:
    (one,) = SimulatedAgent(wrong, obedience=1.0).attempt([TASK], Skill("Call the tool `rota`."), [4])
    assert isinstance(one, Trajectory)
    assert (one.task, one.draw, one.opened, one.loaded) == ("t1", 4, True, Skill("Call the tool `rota`.").digest)
    assert one.transcript.startswith("[called rota]\n")
    assert one.score.failed == ("it is wrong",)
    assert one.score.objectives.keys() == {"tokens", "tool_calls", "seconds"}


def test_an_impossible_obedience_is_refused() -> None:
    with pytest.raises(ValueError, match="probability"):
        SimulatedAgent(right, obedience=1.5)


def test_no_wording_of_a_benchmarks_cure_stands_in_it(checkout: Path) -> None:
    package = checkout / "skillopt_sleep"
    sources = [*(package / "agents" / "simulated").glob("*.py"), *(package / "critics").glob("*.py")]
    cures = re.compile(r"key risks|confidence|recommendation|\b1,?200\b|(?<!re\.)(?<!\.)\bsearch\b", re.IGNORECASE)
    simulated = [s for s in sources if s.parent.name == "simulated" or s.stem.startswith(("imperatives", "simulated"))]
    assert len(simulated) >= 4
    for source in simulated:
        assert not cures.findall(source.read_text("utf-8")), source.name
