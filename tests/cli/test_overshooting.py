"""What runs of an agent take beyond what could be set aside is told: in words, in the document, on the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.agents.pretending import pretender
from tests.cli.conftest import Command

TAKES = 45_000
"""Tokens of a first turn, beyond the 40,000 that are set aside for an attempt as long as none has been seen."""
OVER = TAKES + 100 + 1_100 - 40_000
LIMIT = ("--budget-tokens", "45000")
"""What is left of it is too little for another attempt's worth, so that a run that goes on is ended."""
SAID = f"1 run took {OVER:,} tokens more than could be set aside"


@pytest.fixture
def bench(surroundings: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "bench"
    folder.mkdir()
    program = pretender(folder / "bin", {"Write": [{"shell": "true", "takes": TAKES}, {"text": "Yes."}]})
    (folder / "sleep.toml").write_text(f'[agents]\nparallel = 2\n[agents.commands]\nclaude = ["{program}"]\n')
    checks = [{"kind": "contains", "argument": "No"}]
    rows = [{"id": f"t{n}", "prompt": f"Write memo {n}", "checks": checks} for n in range(2)]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "memo.md").write_text("---\nname: memo\ndescription: x\n---\n\nBe brief.\n")
    return folder


def words(bench: Path, *more: str) -> list[str]:
    files = ("--tasks", str(bench / "tasks.jsonl"), "--skill", str(bench / "memo.md"))
    return [*files, "--config", str(bench / "sleep.toml"), "--json", *more]


def test_an_eval_says_what_a_run_took_too_much(command: Command, bench: Path) -> None:
    (bench / "tasks.jsonl").write_text((bench / "tasks.jsonl").read_text().splitlines()[0])
    done = command("eval", *words(bench, "--backend", "claude", "--repeats", "1", *LIMIT))
    assert done.code == 3, "it is missing data"
    assert done.document["warnings"] == [SAID]
    assert SAID in done.err
    assert done.document["budget"]["tokens"]["spent"] == OVER + 40_000, "and counts in full"


def test_a_training_says_it_on_its_page_too(command: Command, bench: Path) -> None:
    simulated = ("--target-backend", "claude", "--optimizer-backend", "simulated", "--epochs", "1")
    done = command("train", *words(bench, *simulated, "--set", "split=1:1:0", "--gate", "strict", *LIMIT))
    assert done.document["warnings"] == [SAID]
    assert SAID in Path(done.document["report"]).read_text()
