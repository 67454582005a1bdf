"""Claude Code lets the person say at the question itself why not: the words are then in the refused call's result."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillopt_harvesters import Kind, Outcome
from tests.agents_e2e import tasks
from tests.agents_e2e.agents import ClaudeCode
from tests.agents_e2e.runs import TYPED, Run, Stage
from tests.agents_e2e.terminal import LEAVE

pytestmark = [pytest.mark.agents, pytest.mark.slow]


def test_a_reason_given_at_the_question_is_the_refusals(agents_under_test: Path, tmp_path: Path) -> None:
    stage = Stage(ClaudeCode(), tmp_path, agents_under_test, tasks.script("claude-code"))
    with stage.box as box:
        terminal = stage.terminal()
        terminal.enter(tasks.TIDY)
        terminal.wait(stage.agent.question)
        terminal.press_until(["Up"], r"❯ 1\. Yes", r"❯ \d\. No")
        terminal.press_until(["Tab"], "Tab to amend", "and tell Claude")
        terminal.enter(tasks.WHY)
        terminal.wait(tasks.ANSWERS[tasks.TIDY], still=1.0)
        terminal.leave()
        run = Run(stage.agent, "interactive", stage.home, stage.work, box.requests(), 0.0)
    (found,) = run.harvest().sessions.values()
    (call,) = found.of(Kind.CALL)
    assert call.outcome is Outcome.REFUSED
    typed = [(event.kind, event.text, event.call_id) for event in found.of(*TYPED) if event.text != LEAVE]
    assert typed == [(Kind.PROMPT, tasks.TIDY, ""), (Kind.REJECTION, tasks.WHY, call.call_id)]
    assert not found.of(Kind.INTERRUPT)
