"""The plainest agent: a skill as system message, one completion a prompt, judged as far as it goes."""

from __future__ import annotations

from dataclasses import dataclass, field

from skillopt_core.types import Missing, Score, Skill, Task, Trajectory
from skillopt_sleep.agents.chat import ChatAgent, ChatSettings, read_answer
from skillopt_sleep.budget import Usage
from skillopt_sleep.domain.answers import Answer
from skillopt_sleep.models.base import CallFailed, Reply

SKILL = Skill("Say it in one line.\n")
TASK = Task("t1", "Is the depot open?")


@dataclass
class Scripted:
    """A model that says what it is told to, and keeps how it was asked."""

    reply: Reply | CallFailed
    asked: list[tuple[str, str, int, float, int]] = field(default_factory=list)

    def sample(self, system: str, request: str, max_output: int, *, temperature: float, seed: int) -> Reply:
        self.asked.append((system, request, max_output, temperature, seed))
        if isinstance(self.reply, CallFailed):
            raise self.reply
        return self.reply


def short(_task: Task, answer: Answer) -> Score | Missing:
    return Score(float(len(answer.text) < 10), 0.5, () if len(answer.text) < 10 else ("too long",))


def attempted(model: Scripted, settings: ChatSettings | None = None, draw: int = 3) -> Trajectory | Missing:
    (one,) = ChatAgent(model, short, settings).attempt([TASK], SKILL, [draw])
    return one


def test_an_answer_is_judged_and_its_cost_is_kept() -> None:
    model = Scripted(Reply("Yes.", Usage(20, 2)))
    one = attempted(model)
    assert isinstance(one, Trajectory)
    assert (one.score.hard, one.transcript, one.loaded) == (1.0, "Yes.", SKILL.digest)
    assert one.score.objectives == {"tokens": 2.0, "tool_calls": 0.0}
    assert model.asked[0][:4] == ("Say it in one line.", "Is the depot open?", 400, 0.7)


def test_a_failed_call_is_missing_and_a_cut_answer_is_an_answer() -> None:
    assert attempted(Scripted(CallFailed("no connection"))) == Missing("no connection")
    cut = attempted(Scripted(Reply("On and on and on", None, truncated=True)))
    assert isinstance(cut, Trajectory)
    assert cut.score.failed == ("too long",)


def test_what_cannot_be_judged_is_missing() -> None:
    agent = ChatAgent(Scripted(Reply("Yes.", None)), lambda _task, _answer: Missing("nobody can tell"))
    assert agent.attempt([TASK], SKILL, [0]) == [Missing("nobody can tell")]


def test_draws_have_seeds_of_their_own_and_both_texts_of_a_pair_the_same() -> None:
    model = Scripted(Reply("Yes.", None))
    agent = ChatAgent(model, short)
    agent.attempt([TASK, TASK], SKILL, [1, 2])
    agent.attempt([TASK], Skill("Another text."), [1])
    seeds = [asked[-1] for asked in model.asked]
    assert seeds[0] != seeds[1]
    assert seeds[0] == seeds[2]
    assert agent.deterministic is False
    assert ChatAgent(model, short, ChatSettings(temperature=0)).deterministic


def test_offered_tools_are_called_by_a_line_and_others_are_not() -> None:
    model = Scripted(Reply("CALL rota: sundays\nYes.", None))
    one = attempted(model, ChatSettings(tools=("rota", "map")))
    assert isinstance(one, Trajectory)
    assert one.score.objectives["tool_calls"] == 1
    assert model.asked[0][0].startswith("Tools: rota, map\n")
    assert model.asked[0][0].endswith("Say it in one line.")
    assert read_answer("CALL rota: sundays\nYes.", ("rota",)) == Answer("Yes.", ("rota",))
    assert read_answer("- `CALL rota`\nYes.", ("rota",)).tools == ()
    assert read_answer("> CALL rota\nCALL map: x\nYes.", ("rota", "map")).tools == ("rota", "map")
    assert read_answer("CALL shell: ls\nYes.", ("rota",)) == Answer("CALL shell: ls\nYes.", ())
    assert read_answer("I would CALL rota: x if I could.", ("rota",)).tools == ()
