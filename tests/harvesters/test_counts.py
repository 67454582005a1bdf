"""Prompts, calls, errors and refusals of all of other people's transcripts, against a count by other means.

`expected_counts.tsv` holds a row a source folder: its files, how many are read, and what `count_independently.py`
counts in them.
"""

from __future__ import annotations

import csv
from collections import Counter
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillopt_harvesters import discover_loose, harvester_of

pytestmark = pytest.mark.shared

FIELDS = ("prompts", "calls", "errors", "refusals")
TABLE = Path(__file__).parent / "expected_counts.tsv"
APPROVED = "approved plan written as a refusal"
EXPLAINED = {
    # one stands on a branch that was given up
    "claude/kvsankar__agent-history/forks/claude_forked_session.jsonl": {"prompts": -1},
    "codex/kvsankar__agent-history/rejections/codex_with_escalation.jsonl": {"refusals": 2},
    # all ids of this fixture were replaced by one text, so that its records cannot be told apart
    "copilot-cli/jazzyalex__agent-sessions/small.jsonl": {"errors": -1},
}
"""What the harvesters count beyond the script: it knows nothing of branches, and of calls that asked to
leave the sandbox."""


def folder_of(path: Path, base: Path) -> str:
    return "/".join(path.relative_to(base).parts[:2])


@cache
def expected() -> dict[str, dict[str, int]]:
    with TABLE.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return {row["source"]: {k: int(v) for k, v in row.items() if k != "source"} for row in rows}


def all_files(base: Path) -> list[Path]:
    return sorted(path for path in base.rglob("*") if path.is_file() and path.parent != base)


def test_the_table_is_what_the_script_counts(shared: Path, counting: ModuleType) -> None:
    base = shared / "transcripts"
    sources, _, _ = discover_loose([base])
    found: dict[str, Counter[str]] = {}
    for path in all_files(base):
        found.setdefault(folder_of(path, base), Counter())["files"] += 1
    for source in sources:
        row = found[folder_of(Path(source.path), base)]
        row["read"] += 1
        row.update(counting.count(Path(source.path)))
    fields = ("files", "read", *FIELDS)
    assert {name: {field: row[field] for field in fields} for name, row in found.items()} == expected()
    assert sum(row["files"] for row in expected().values()) == 522


def test_the_harvesters_count_what_the_script_counts(shared: Path, counting: ModuleType, reading: Any) -> None:
    base = shared / "transcripts"
    sources, trouble, others = discover_loose([base])
    assert not trouble
    assert len(sources) + len(others) == 523  # with the manifest
    differing = {}
    for source in sources:
        found = reading().take(harvester_of(source.agent).read(source))
        script = counting.count(Path(source.path))
        script["refusals"] -= found.skipped[APPROVED]
        ours = found.counts()
        wrong = {field: ours[field] - script[field] for field in FIELDS if ours[field] != script[field]}
        if wrong:
            differing[str(Path(source.path).relative_to(base))] = wrong
    assert differing == EXPLAINED


def test_the_script_is_short_and_knows_nothing_of_the_harvesters() -> None:
    lines = (Path(__file__).parent / "count_independently.py").read_text().split("\n")
    assert sum(bool(line.strip()) for line in lines) <= 60
    assert not [line for line in lines if "skillopt" in line]
