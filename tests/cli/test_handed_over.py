"""A night whose questions the person's own agent answers: asks, exits 3, goes on, and repeats nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.cli.conftest import Command, Result

PUSH = "Do not run `git push --force`."


def night(command: Command, *more: str) -> Result:
    return command("run", "--json", "--backend", "handoff", *more)


def opened(surroundings: Path) -> list[Path]:
    return sorted((surroundings / "state" / "handoff").glob("*/*.question.md"))


def answer_all(surroundings: Path) -> list[str]:
    """What a person's agent would do: read each question, write its answer beside it. Gives the prompts."""
    prompts = []
    for path in opened(surroundings):
        prompt = path.read_text()
        prompts.append(prompt)
        numbers = re.findall(r"^(\d+)\. refused\ndid: run: git push --force", prompt, re.MULTILINE)
        kinds = [{"items": numbers, "name": "pushes", "rule": PUSH}] if numbers else []
        path.with_name(path.name.replace(".question.", ".answer.")).write_text(json.dumps({"kinds": kinds}))
    return prompts


def rules(document: Any) -> dict[str, Any]:
    return {edit["text"].removeprefix("- "): edit for skill in document["skills"] for edit in skill["edits"]}


def test_a_night_asks_exits_3_and_goes_on_with_the_answers(command: Command, surroundings: Path) -> None:
    first = night(command)
    assert first.code == 3
    error = first.document["error"]
    assert error["code"] == "handoff"
    assert "run the same command again" in error["remedy"]
    told = first.document["handoff"]
    assert [Path(told["folder"]) / name for name in told["questions"]] == opened(surroundings)
    (began,) = command("history", "--json").lines

    again = night(command)
    assert (again.code, again.document["handoff"]) == (3, told), "an unanswered question is the same one"

    prompts = answer_all(surroundings)
    assert prompts
    done = night(command)
    assert done.code == 0, done.err
    assert PUSH in rules(done.document)
    assert done.document["night"] == began["night"], "it is the same night"
    assert done.document["budget"]["tokens"]["spent"] == 0
    assert done.document["models"] == [
        {"role": "optimizer", "backend": "handoff", "model": "handoff", "host": "your own agent",
         "prompts": len(prompts), "failed": {}}
    ]  # fmt: skip
    assert not (surroundings / "state" / "handoff").exists()
    assert len(command("history", "--json").lines) == 1


def test_an_answer_that_cannot_be_read_is_asked_for_once_more_and_no_other_question_is(
    command: Command, surroundings: Path
) -> None:
    night(command)
    (question,) = opened(surroundings)
    first = question.read_text()
    question.with_name(question.name.replace(".question.", ".answer.")).write_text("I would rather not.")
    assert night(command).code == 3
    (repair,) = opened(surroundings)
    assert repair.read_text() != first
    assert "I would rather not." in repair.read_text()
    repair.with_name(repair.name.replace(".question.", ".answer.")).write_text('{"kinds": []}')
    assert night(command).code == 0


def test_a_dry_run_asks_nothing(command: Command, surroundings: Path) -> None:
    planned = night(command, "--dry-run")
    assert planned.code == 0, planned.err
    assert not opened(surroundings)
    assert "your own agent" in planned.out


def test_a_limit_in_dollars_wants_no_price_of_ones_own_agent(command: Command) -> None:
    assert night(command, "--budget-usd", "1").code == 3


def test_the_questions_are_left_where_the_person_goes_on_without_an_agent(command: Command) -> None:
    assert night(command).code == 3
    without = command("run", "--json", "--backend", "recorded")
    assert without.code == 0, without.err
    assert PUSH not in rules(without.document)


def test_forgetting_takes_the_open_questions_away_and_the_night_asks_anew_without_the_words(
    command: Command, surroundings: Path
) -> None:
    night(command)
    (question,) = opened(surroundings)
    assert "staging is frozen" in question.read_text()
    told = command("forget", "--match", "staging is frozen", "--json")
    assert told.code == 0, told.err
    assert not (surroundings / "state" / "handoff").exists()
    assert night(command).code == 3
    assert not any("staging is frozen" in path.read_text() for path in opened(surroundings))
