"""`train` and `eval` on the command line: results, JSON, exit codes, and bad input in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillopt_sleep.agents.simulated import SimulatedAgent
from skillopt_sleep.train.lines import read_lines
from tests.cli.conftest import Command

QUESTIONS = (
    "Should we move the build to another provider?",
    "Should the team adopt a four-day week?",
    "Should we rewrite the importer?",
    "Should support hours be extended to weekends?",
    "Should we drop the free plan?",
    "Should logs be kept for a year?",
    "Should we open an office by the sea?",
    "Should the interface go to version two now?",
    "Should we sponsor the conference again?",
    "Should feature flags be removed after launch?",
)
RECIPE = ("--backend", "simulated", "--set", "split=3:5:2", "--set", "simulated_obedience=1")


@pytest.fixture
def files(surroundings: Path, tmp_path: Path) -> Path:
    """A folder with ten tasks and a skill that lacks what their checks look for."""
    folder = tmp_path / "bench"
    folder.mkdir()
    checks = [{"kind": "contains", "argument": "## Recommendation"}]
    rows = [{"id": f"memo-{n}", "prompt": text, "checks": checks} for n, text in enumerate(QUESTIONS, 1)]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "SKILL.md").write_text("---\nname: memo\ndescription: Writes memos.\n---\n\n# Memo\n\nOne page.\n")
    return folder


def arguments(folder: Path) -> tuple[str, ...]:
    return ("--tasks", str(folder / "tasks.jsonl"), "--skill", str(folder / "SKILL.md"))


def test_ten_tasks_train_a_skill_without_a_model_and_leave_a_report(command: Command, files: Path) -> None:
    done = command("train", *arguments(files), *RECIPE, "--out", str(files / "run"))
    assert done.code == 0
    assert done.out.startswith("From 0.00 to 1.00 on 2 audit tasks")
    assert "simulated" in done.out.splitlines()[0]
    assert "Recommendation" in (files / "run/best_skill.md").read_text()
    assert "Recommendation" not in (files / "SKILL.md").read_text(), "the skill itself is not ours to change"
    kinds = [line["kind"] for line in read_lines(files / "run/training_log.jsonl")]
    assert kinds == ["step", "epoch", "end"]
    assert (files / "run/report.html").is_file()


def test_the_document_has_the_keys_of_the_interface(command: Command, files: Path) -> None:
    found = command("train", *arguments(files), *RECIPE, "--json").document
    assert set(found) >= {"format", "run", "best_skill", "steps", "train", "gate", "audit", "budget"}
    keys = {"epoch", "step", "edit_budget", "proposed", "kept", "missed", "refused", "verdict", "before", "after"}
    assert all(set(step) >= keys for step in found["steps"])
    assert set(found["audit"]) == {"n", "before", "after", "effect", "interval", "p"}
    assert found["evidence"] == "simulated"
    assert (found["steps"][0]["epoch"], found["steps"][0]["step"], found["steps"][0]["verdict"]) == (1, 1, "accept")


def test_the_same_command_is_the_same_run_and_another_seed_another(command: Command, files: Path) -> None:
    first = command("train", *arguments(files), *RECIPE, "--json").document
    again = command("train", *arguments(files), *RECIPE, "--json")
    assert again.document["run"] == first["run"]
    assert "going on" in again.err
    other = command("train", *arguments(files), *RECIPE, "--seed", "5", "--json").document
    assert other["run"] != first["run"]


def test_a_folder_with_something_else_in_it_is_left_alone(command: Command, files: Path) -> None:
    done = command("train", *arguments(files), *RECIPE, "--out", str(files))
    assert done.code == 2
    assert "holds other files" in done.err
    assert sorted(path.name for path in files.iterdir()) == ["SKILL.md", "tasks.jsonl"]


def test_another_run_in_the_same_folder_is_refused_by_what_differs(command: Command, files: Path) -> None:
    out = ("--out", str(files / "run"))
    assert command("train", *arguments(files), *RECIPE, *out).code == 0
    done = command("train", *arguments(files), *RECIPE, *out, "--epochs", "2")
    assert done.code == 2
    assert "recipe.epochs" in done.err


def test_a_budget_that_is_out_before_a_comparison_is_said_and_the_run_goes_on_later(
    command: Command, files: Path
) -> None:
    done = command("train", *arguments(files), *RECIPE, "--budget-minutes", "0.0000001", "--json")
    assert done.code == 5
    assert done.document["error"]["code"] == "budget"
    assert done.document["stopped"] == "budget"
    later = command("train", *arguments(files), *RECIPE, "--json")
    assert later.code == 0
    assert later.document["run"] == done.document["run"]
    assert later.document["audit"]["after"] == 1


def test_too_few_gate_tasks_are_said_before_anything_is_run(command: Command, files: Path) -> None:
    done = command("train", *arguments(files), "--backend", "simulated")
    assert done.code == 0
    assert "4 gate tasks can prove nothing" in done.err
    assert "--set split=3:5:2" in done.err
    assert "the skill is as it was" in done.out
    assert "What would change that: 1 more task" in done.out


def test_strict_believes_what_a_proof_would_not(command: Command, files: Path) -> None:
    found = command("train", *arguments(files), "--backend", "simulated", "--gate", "strict", "--json").document
    assert found["changed"]
    assert found["steps"][0]["verdict"] == "accept"


def test_two_skills_are_compared_in_pairs(command: Command, files: Path) -> None:
    better = files / "better.md"
    better.write_text((files / "SKILL.md").read_text() + '\n- Include a section with the heading "Recommendation".\n')
    options = ("--tasks", str(files / "tasks.jsonl"), "--skill", str(better), "--backend", "simulated")
    against = ("--against", str(files / "SKILL.md"), "--set", "simulated_obedience=1", "--json")
    (row,) = command("eval", *options, *against).document["rows"]
    assert (row["n"], row["before"], row["after"], row["effect"]) == (10, 0, 1, 1)
    assert row["p"] == pytest.approx(2**-10)
    low, high = row["interval"]
    assert 0 < low < high <= 1


def test_one_skill_is_scored_alone(command: Command, files: Path) -> None:
    (row,) = command("eval", *arguments(files), "--backend", "simulated", "--json").document["rows"]
    assert (row["target"], row["before"], row["after"], row["p"]) == ("simulated", 0, None, None)
    assert row["interval"][0] == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--backend", "anthropic"), "Use --target-model NAME"),
        (("--backend", "handoff"), "nobody attempts tasks with the backend handoff"),
        ((), "local, claude, codex, copilot or a plugin"),
        (("--backend", "simulated", "--target-model", "x"), "has no model"),
        (("--backend", "simulated", "--set", "epoch=3"), "did you mean epochs?"),
        (("--backend", "simulated", "--gate", "perhaps"), "--gate"),
        (("--backend", "simulated", "--learning-rate", "-1"), "--learning-rate"),
        (("--backend", "simulated", "--recipe", "none.yaml"), "no such recipe"),
        (("--backend", "simulated", "--audit", "none.jsonl"), "none.jsonl"),
        (("--backend", "simulated", "--optimizer-backend", "openai"), "--optimizer-model"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    command: Command, files: Path, given: tuple[str, ...], said: str
) -> None:
    done = command("train", *arguments(files), *given)
    assert done.code in {1, 2}
    assert said in done.err.splitlines()[-1]
    assert "Traceback" not in done.err


def test_a_bad_line_is_named(command: Command, files: Path) -> None:
    with (files / "tasks.jsonl").open("a") as file:
        file.write('{"id": "x", "prompt": "y", "cheks": []}\n')
    done = command("train", *arguments(files), *RECIPE)
    assert done.code == 2
    assert "tasks.jsonl:11" in done.err
    assert "Did you mean checks?" in done.err


@pytest.mark.parametrize("made", [b"\xff\xfe", None])
def test_a_skill_that_is_none_is_named(command: Command, files: Path, made: bytes | None) -> None:
    skill = files / "other.md"
    if made is not None:
        skill.write_bytes(made)
    done = command("train", "--tasks", str(files / "tasks.jsonl"), "--skill", str(skill), *RECIPE)
    assert done.code in {1, 2}
    assert "other.md" in done.err


def test_the_aliases_of_the_field_are_known(command: Command, files: Path) -> None:
    audit = files / "held.jsonl"
    audit.write_text(
        json.dumps({"id": "h", "prompt": "Should we?", "checks": [{"kind": "contains", "argument": "## Risks"}]}) + "\n"
    )
    done = command("train", *arguments(files), "--backend", "simulated", "--held-out", str(audit),
                   "--edit-budget", "7", "--json")  # fmt: skip
    assert done.document["audit"]["n"] == 1
    assert done.document["steps"][0]["edit_budget"] == 7


def test_an_interrupted_run_says_how_it_goes_on(command: Command, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(SimulatedAgent, "attempt", interrupted)
        done = command("train", *arguments(files), *RECIPE)
    assert done.code == 130
    assert "The same command goes on where it was" in done.err
    assert command("train", *arguments(files), *RECIPE).code == 0
