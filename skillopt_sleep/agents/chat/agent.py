"""The agent over any model: one completion, or a small loop of tools, judged by what it said, called and left."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from skillopt_core.types import Missing, Score, Skill, Task, Trajectory
from skillopt_sleep.agents.chat import in_words
from skillopt_sleep.agents.chat.tools import Offer, Spoilt, Toolbox, Workshop
from skillopt_sleep.agents.native.files import NotJudged
from skillopt_sleep.agents.telling import both_ends, short
from skillopt_sleep.domain.answers import Answer
from skillopt_sleep.errors import SandboxUnavailable
from skillopt_sleep.models.base import CallFailed, Paying, unfit
from skillopt_sleep.models.conversing import Conversation, Conversing, Result, Said, Sampling, Turn
from skillopt_sleep.redact import Redacted

Judge = Callable[[Task, Answer], Score | Missing]
"""Says how an answer did, or why it could not be judged."""
MOST_TOLD: Final = 60_000
"""Characters of a transcript; cut in the middle."""


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """How the model is asked.

    `tools` are offered by name in words and bring nothing back. `turns` are the answers that may call tools; after
    them comes one that may not. `seconds` is the deadline of one attempt. `cut_counts`: an answer that runs into
    `max_output` is judged as far as it goes; else it is missing.
    """

    max_output: int = 400
    temperature: float | None = 0.7
    seed: int = 0
    tools: tuple[str, ...] = ()
    turns: int = 20
    seconds: float = 600.0
    cut_counts: bool = True


@dataclass
class _Course:
    """One attempt so far."""

    said: list[Said] = field(default_factory=list)
    results: list[tuple[Result, ...]] = field(default_factory=list)

    @property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(map(in_words.turn_of, self.said, self.results))

    @property
    def answer(self) -> Said:
        return self.said[-1]


class ChatAgent:
    """Implements the core's `Environment`. The skill is the system message: offered and opened by construction.

    A failed, empty, cut or late attempt is `Missing`. `Score.objectives` gains tokens (output, as the model counts
    them), tool_calls, and with a workshop tool_errors and seconds. Raises `Exhausted` where the budget ends, also in
    the middle of an attempt, which then counts for nothing; and `ModelError` where the model will not be asked.
    """

    def __init__(
        self,
        model: Conversing,
        judge: Judge,
        settings: ChatSettings | None = None,
        *,
        workshop: Workshop | None = None,
        paying: Paying | None = None,
        clean: Callable[[str], Redacted] = Redacted,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.model = model
        self._judge = judge
        self._settings = settings or ChatSettings()
        self._workshop = workshop
        self._paying = paying
        self._clean = clean
        self._now = now

    @property
    def deterministic(self) -> bool:
        """True at temperature 0."""
        return self._settings.temperature == 0

    @property
    def max_output(self) -> int:
        """Tokens that one answer may have."""
        return self._settings.max_output

    def paid_from(self, paying: Paying, clean: Callable[[str], Redacted]) -> ChatAgent:
        """The same, each call paid for, and nothing sent but what is `clean`."""
        workshop = None if self._workshop is None else replace(self._workshop, stop=lambda: paying.pool.stopping)
        return ChatAgent(
            self.model, self._judge, self._settings, workshop=workshop, paying=paying, clean=clean, now=self._now
        )

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        """One judged answer a task, in order."""
        return [self._attempt(task, skill, draw) for task, draw in zip(tasks, draws, strict=True)]

    def _attempt(self, task: Task, skill: Skill, draw: int) -> Trajectory | Missing:
        offer = Offer() if self._workshop is None else self._workshop.offer(task)
        try:
            if self._workshop is None or offer == Offer():
                return self._in_words(task, skill, draw)
            began = self._now()
            with self._workshop.opened(task, offer, began + self._settings.seconds) as box:
                return self._with_tools(task, skill, draw, box, began)
        except (CallFailed, NotJudged, Spoilt) as failed:
            return Missing(str(failed))
        except (OSError, SandboxUnavailable) as error:
            return Missing(f"it could not be run ({type(error).__name__})")

    def _in_words(self, task: Task, skill: Skill, draw: int) -> Trajectory | Missing:
        named = self._settings.tools
        offer = in_words.NAMED.format(names=", ".join(named), first=named[0]) if named else ""
        asked = Conversation(self._clean(offer + skill.text.strip()), self._clean(task.prompt))
        said = self._asked(asked, draw)
        answer = in_words.read_answer(said.text, named)
        return self._judged(task, skill, draw, answer, said.text, _tokens([said]))

    def _with_tools(self, task: Task, skill: Skill, draw: int, box: Toolbox, began: float) -> Trajectory | Missing:
        asked = Conversation(self._clean(skill.text.strip()), self._clean(task.prompt), box.tools)
        course = _Course()
        for turn in range(self._settings.turns + 1):
            if self._now() - began > self._settings.seconds:
                return Missing(f"it was not done within {self._settings.seconds:g} s")
            closed = turn == self._settings.turns
            said = self._asked(replace(asked, turns=course.turns, closed=closed), draw)
            course.said.append(said)
            if not said.calls or closed:
                break
            course.results.append(tuple(box.use(call, self._clean) for call in said.calls))
        measured = {"tool_errors": float(box.errors), "seconds": round(self._now() - began, 3)}
        answer = box.answer(course.answer.text)
        return self._judged(task, skill, draw, answer, _told(course), _tokens(course.said) | measured)

    def _asked(self, asked: Conversation, draw: int) -> Said:
        """The next answer, in the model's own form or in words. Raises `CallFailed` where it is none."""
        settings = self._settings
        sampling = Sampling(settings.max_output, settings.temperature, _seed(settings.seed, draw, asked.request))
        sent = asked if self.model.functions else in_words.spoken(asked)

        def ask() -> Said:
            said = self.model.converse(sent, sampling)
            return said if self.model.functions else in_words.heard(said, asked.tools)

        if self._paying is None:
            said = ask()
        else:
            said = self._paying.call(sent.sent, settings.max_output, ask, lambda said: said)
        if why := self._unfit(said, closed=asked.closed):
            raise CallFailed(why)
        return said

    def _unfit(self, said: Said, *, closed: bool) -> str:
        """Why an answer is none: a call needs no words, a cut answer may be judged as far as it goes."""
        if self._settings.cut_counts and said.truncated and not said.refused and said.text.strip():
            return ""
        spoken = said if not said.calls or closed else replace(said, text=said.text or "…")
        return unfit(spoken, self._settings.max_output)

    def _judged(
        self, task: Task, skill: Skill, draw: int, answer: Answer, transcript: str, measured: dict[str, float]
    ) -> Trajectory | Missing:
        score = self._judge(task, answer)
        if isinstance(score, Missing):
            return score
        measured = {**measured, "tool_calls": float(len(answer.tools or ()))}
        return Trajectory(
            task=task.id,
            draw=draw,
            skill=skill.digest,
            score=replace(score, objectives={**measured, **score.objectives}),
            transcript=transcript,
            offered=True,
            opened=True,
            loaded=skill.digest,
            prompt=task.prompt,
            answer=answer.text,
        )


def _told(course: _Course) -> str:
    """The answers whole, one line a call and one what it came to."""
    lines: list[str] = []
    for said, results in zip(course.said, [*course.results, ()], strict=False):
        lines += [said.text] if said.text.strip() else []
        for one in results:
            lines.append(f"[called {one.call.name}] {short(json.dumps(one.call.arguments, ensure_ascii=False))}")
            lines.append(f"[{'error' if one.failed else 'ok'}] {short(one.text)}")
    return both_ends("\n".join(lines), MOST_TOLD)


def _tokens(said: Sequence[Said]) -> dict[str, float]:
    """Tokens of output, where all answers say how many they were."""
    counted = [one.usage.output for one in said if one.usage is not None and one.usage.output is not None]
    return {"tokens": float(sum(counted))} if len(counted) == len(said) else {}


def _seed(seed: int, draw: int, prompt: str) -> int:
    """One seed a task and draw, the same for both texts of a pair."""
    key = f"{seed}\0{draw}\0{prompt}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(key).digest()[:4], "big") >> 1
