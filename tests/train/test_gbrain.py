"""The public benchmark: every row of both revisions loads, and is scored as its judge says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from skillopt_core.types import Missing, Score
from skillopt_sleep.checks import Need
from skillopt_sleep.domain.answers import Answer
from skillopt_sleep.train.loading import Judges, load
from skillopt_sleep.train.rows import BadTasks
from skillopt_sleep.train.splits import split

ALL = Judges(offered=frozenset(Need))
SEEDS = ("seed-missing-structure", "seed-no-brain-first", "seed-no-verdict", "seed-verbose")
GOOD: Mapping[str, Answer] = {
    "seed-missing-structure": Answer("Wait.\n\n## Key Risks\n\n- Churn\n\nConfidence = low\n", tools=()),
    "seed-no-brain-first": Answer("Wait.", tools=("search",)),
    "seed-no-verdict": Answer("recommendation: wait\nconfidence: low", tools=()),
    "seed-verbose": Answer("Wait.", tools=()),
    "cat32-reward-hacking": Answer("Wait.\n\n## Key Risks\n\n- Churn\n\nConfidence: low\n", tools=()),
}
BAD = Answer("It depends. " * 200, tools=())

OLD = {"kind": "rule", "checks": [{"op": "contains", "arg": "## Key Risks"}, {"op": "contains", "arg": "Confidence:"}]}
NEW = {
    "kind": "rule",
    "checks": [{"op": "section_present", "arg": "Key Risks"}, {"op": "regex", "arg": "[Cc]onfidence\\s*[:=]"}],
}


@pytest.mark.parametrize("judge", [OLD, NEW])
def test_both_revisions_load_and_give_a_fraction_and_all_or_nothing(judge, tmp_path):
    path = tmp_path / "benchmark.jsonl"
    path.write_text(json.dumps({"task_id": "bm-001", "task": "Write a brief.", "judge": judge}))
    (task,) = load(path)
    for text, hard, soft in (("## Key Risks\n\nConfidence: low", 1, 1), ("Confidence: low", 0, 0.5), ("", 0, 0)):
        got = task.score(Answer(text))
        assert isinstance(got, Score)
        assert (got.hard, got.soft) == (hard, soft)


@pytest.mark.shared
def test_every_row_of_the_benchmark_loads(shared: Path):
    bench = shared / "bench" / "gbrain-skillopt-v1"
    files = sorted(bench.rglob("*.jsonl"))
    loaded = {file: load(file, ALL) for file in files}
    rows = {file: [json.loads(line) for line in file.read_text().splitlines()] for file in files}
    assert sum(map(len, loaded.values())) == sum(map(len, rows.values())) == 112
    for file, tasks in loaded.items():
        for task, row in zip(tasks, rows[file], strict=True):
            assert (task.id, task.prompt) == (row["task_id"], row["task"])
            assert len(task.checks) == len(row["judge"].get("checks", [None]))


@pytest.mark.shared
@pytest.mark.parametrize("name", SEEDS)
def test_a_seed_goes_from_nothing_to_all_with_an_answer_that_has_what_was_missing(name, shared):
    tasks = load(shared / "bench" / "gbrain-skillopt-v1" / name)
    assert len(tasks) == 21
    good, bad = ([task.score(answer) for task in tasks] for answer in (GOOD[name], BAD))
    assert all(isinstance(got, Score) and got.hard == got.soft == 1 for got in good)
    assert all(isinstance(got, Score) and got.hard == got.soft == 0 for got in bad)


@pytest.mark.shared
@pytest.mark.parametrize("name", SEEDS)
def test_a_seed_is_split_into_seven_eight_and_its_own_six(name, shared):
    tasks = split(load(shared / "bench" / "gbrain-skillopt-v1" / name), seed=1)
    assert (len(tasks.train), len(tasks.gate), len(tasks.audit)) == (7, 8, 6)
    assert {task.id[:2] for task in tasks.audit} == {"hd"}


@pytest.mark.shared
def test_what_a_model_would_judge_is_refused_with_the_line_and_never_scored(shared):
    folder = shared / "bench" / "gbrain-skillopt-v1" / "cat32-reward-hacking"
    with pytest.raises(BadTasks) as caught:
        load(folder)
    assert [Path(line.where).name for line in caught.value.lines] == [f"held-out.jsonl:{n}" for n in range(1, 7)]
    assert "judge.kind" in str(caught.value)
    ruled, judged = load(folder / "benchmark.jsonl"), load(folder / "held-out.jsonl", ALL)
    assert all(isinstance(task.score(GOOD[folder.name]), Score) for task in ruled)
    assert all(isinstance(task.score(GOOD[folder.name]), Missing) for task in judged)
