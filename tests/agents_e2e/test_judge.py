"""A real command line as the judge: Codex reads the frame, a scripted model behind it says what it grades."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.agents_e2e.agents import Codex
from tests.agents_e2e.runs import PATIENCE, Stage

pytestmark = [pytest.mark.agents, pytest.mark.slow]

HEADING = "## Recommendation"
PLAIN = "# Memo\n\nOne page.\n"


def graded(grade: int) -> dict[str, Any]:
    """A verdict with the mark that stands in the frame."""
    text = json.dumps({"mark": "TAKEN", "reason": "as scripted", "grade": grade})
    return {"text": text, "taken": r'"mark": "([0-9a-f]{12})"'}


def test_a_real_codex_judges_two_skills_and_is_held_against_the_rules(tmp_path: Path, agents_under_test: Path) -> None:
    """The product runs in the box, attempts are simulated; side by side the scripted model has no verdict to give."""
    script = {"You grade one answer": [{"if": HEADING, "then": graded(9), "else": graded(1)}]}
    stage = Stage(Codex(), tmp_path, agents_under_test, script)
    checks = [{"kind": "contains", "argument": HEADING}, {"kind": "rubric", "argument": "It says what to do."}]
    rows = [{"id": f"m{n}", "prompt": f"Write memo {n}.", "checks": checks} for n in range(2)]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "plain.md").write_text(PLAIN)
    (tmp_path / "better.md").write_text(PLAIN + '\n- Include a section with the heading "Recommendation".\n')
    argv = [
        sys.executable, "-m", "skillopt_sleep.cli", "eval", "--tasks", "tasks.jsonl", "--skill", "better.md",
        "--against", "plain.md", "--repeats", "1", "--target-backend", "simulated", "--judge-backend", "codex",
        "--set", "judge_readings=1", "--set", "simulated_obedience=1", "--home", str(tmp_path / "state"), "--json",
    ]  # fmt: skip
    with stage.box as box:
        done = box.run(argv, tmp_path, stage.environ, PATIENCE)
        asked = box.requests()
    assert done.code == 0, done.err
    (row,) = json.loads(done.out)["rows"]
    assert (row["before"], row["after"]) == (0.0, 1.0)
    assert (row["judge"]["agreement"]["both_pass"], row["judge"]["agreement"]["neither"]) == (2, 2)
    assert row["judge"]["agreement"]["trust"] == "unknown", "two tasks say nothing of a judge"
    assert row["preferred"]["missing"] == 2, "an answer without a verdict is missing"
    assert len(asked) == 4 + 2 * 2
    assert "Include a section" not in json.dumps(asked), "nothing of the skills is told"
