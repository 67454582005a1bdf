"""The real agents when their model refuses: a storm of 429, and an error that a program prints which exits with 0.

What they print then is their own. None of it is an answer, and none of it is a score.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents_e2e.agents import AGENTS
from tests.agents_e2e.agents import Agent as Driven
from tests.agents_e2e.test_native import NAMES, SHOWS, product

pytestmark = [pytest.mark.agents, pytest.mark.slow]

SCORE = ["eval", "--skill", "plain.md", "--repeats", "1"]


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_a_storm_of_429_is_missing_data_and_never_a_score(
    agent: Driven, agents_under_test: Path, tmp_path: Path
) -> None:
    """Some give up by themselves, some try on until their deadline: then what was set aside for them stays spent."""
    said = product(agent, tmp_path, agents_under_test, [{"status": 429}], SCORE, 1, "[agents]\ntimeout_minutes = 0.3\n")
    (row,) = said.document["rows"]
    assert (said.code, row["n"], row["before"]) == (3, 0, None)
    assert said.document["budget"]["tokens"]["spent"] in {0, 40_000}


@pytest.mark.parametrize("steps", [[{"status": 400}], [SHOWS, {"status": 400}]], ids=["at once", "in the middle"])
@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_an_error_that_is_printed_with_exit_0_is_no_answer(
    agent: Driven, steps: list[dict[str, object]], agents_under_test: Path, tmp_path: Path
) -> None:
    """The real agent's own error, behind a wrapper that hides its exit status, as a person may have one."""
    name = NAMES[agent.name]
    wrapper = tmp_path / "bin" / name
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\n"{agents_under_test / name}" "$@"\nexit 0\n')
    wrapper.chmod(0o755)
    config = f'[agents.commands]\n{name} = ["{wrapper}"]\n'
    said = product(agent, tmp_path, agents_under_test, steps, SCORE, 1, config)
    (row,) = said.document["rows"]
    assert (said.code, row["n"], row["before"]) == (3, 0, None)
