"""The same through the product: `harvest` over such a HOME, then `sessions`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from skillopt_harvesters import Outcome
from tests.agents_e2e import tasks
from tests.agents_e2e.runs import Run
from tests.agents_e2e.terminal import LEAVE

pytestmark = [pytest.mark.agents, pytest.mark.slow]


def answered(argv: list[str], home: Path, state: Path) -> list[dict[str, Any]]:
    """The JSON lines that a command of ours prints, with a HOME and a state of its own."""
    environ = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    command = [*argv, "--json", "--home", str(state)]
    done = subprocess.run(command, cwd=home, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


Told = tuple[dict[str, Any], list[dict[str, Any]]]


@pytest.fixture(scope="session")
def told(done: Run, skillopt_sleep_argv: list[str], tmp_path_factory: pytest.TempPathFactory) -> Told:
    """What `harvest` said, and the sessions."""
    state = tmp_path_factory.mktemp("state")
    (harvest,) = answered([*skillopt_sleep_argv, "harvest"], done.home, state)
    sessions = answered([*skillopt_sleep_argv, "sessions", "--origin", "all"], done.home, state)
    return harvest, sorted(sessions, key=lambda session: str(session["started"]))


def test_the_product_says_of_the_sessions_what_the_script_says(done: Run, told: Told) -> None:
    harvest, sessions = told
    assert (harvest["warnings"], harvest["unreadable"], harvest["pending"]) == ([], [], 0)
    counted = {"interactive": harvest["sessions"]["new"]}
    counted |= {origin: harvest["skipped"].get(f"{origin} session", 0) for origin in ("headless", "subagent")}
    origins = [session["origin"] for session in sessions]
    assert counted == {origin: origins.count(origin) for origin in counted}
    own = [session for session in sessions if session["origin"] != "subagent"]
    wanted = tasks.expected(done.agent.name, done.form)
    assert [summary(session) for session in own] == [told_of(session) for session in wanted]
    assert {session["cwd"] for session in sessions} == {str(done.work)}


def test_the_product_counts_all_tokens_once(done: Run, told: Told) -> None:
    given = done.spent(tasks.ANSWERS)
    counted = [session["tokens"] for session in told[1]]
    assert {name: sum(tokens[name] for tokens in counted) for name in ("input", "output", "cache_read")} == {
        "input": sum(answer[0] for answer in given),
        "output": sum(answer[1] for answer in given),
        "cache_read": sum(answer[2] for answer in given),
    }


def summary(session: dict[str, Any]) -> dict[str, Any]:
    prompts = [(prompt["kind"], prompt["text"]) for prompt in session["prompts"] if prompt["text"] != LEAVE]
    return {"prompts": prompts, **{name: session[name] for name in ("origin", "answers")}}


def told_of(session: tasks.Session) -> dict[str, Any]:
    prompts = [(turn.kind.value, turn.typed) for turn in session.turns]
    answers = sum(bool(turn.answer) for turn in session.turns)
    return {"prompts": prompts, "origin": session.origin.value, "answers": answers}


def test_the_product_counts_calls_and_what_failed(done: Run, told: Told) -> None:
    wanted = tasks.expected(done.agent.name, done.form)
    calls = [call for session in wanted for turn in session.turns for call in turn.calls]
    helped = [call for session in wanted for call in session.helper]
    assert sum(session["tool_calls"] for session in told[1]) == len(calls) + len(helped)
    failed = [call for call in calls if call.outcome is Outcome.ERROR]
    assert sum(session["tool_errors"] for session in told[1]) == len(failed)
