"""Devin: of a forest of messages, the chain of the session's tip is the conversation."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillopt_harvesters import Kind, Outcome
from skillopt_harvesters.devin import outcome_of


@pytest.fixture
def told(samples: ModuleType, tmp_path: Path, as_agent: Any) -> Any:
    """Read a database of one session with this tip and these rows."""

    def read(tip: int | None, *rows: Any, tables: int = 3) -> Any:
        path = tmp_path / "sessions.db"
        path.unlink(missing_ok=True)
        statements = [*samples.DEVIN_TABLES[:tables], samples.devin_session(tip), *rows]
        return as_agent(samples.rows(path, statements), "devin")

    return read


@pytest.fixture
def forest(samples: ModuleType) -> list[Any]:
    """One message, with two after it that exclude each other."""
    node = samples.devin_node
    return [node(1, None, "user", "one"), node(2, 1, "user", "two"), node(3, 1, "user", "instead")]


@pytest.mark.parametrize(
    ("tip", "prompts"),
    [(2, ["one", "two"]), (3, ["one", "instead"]), (None, ["one", "instead"]), (9, ["one", "instead"])],
)
def test_the_conversation_is_the_chain_of_the_tip_or_of_the_newest_message(
    tip: int | None, prompts: list[str], told: Any, forest: list[Any]
) -> None:
    found = told(tip, *forest)
    assert found.texts(Kind.PROMPT) == prompts
    assert found.skipped["message on a branch that was given up"] == 1


def test_messages_in_a_circle_are_no_trouble(told: Any, samples: ModuleType) -> None:
    found = told(2, samples.devin_node(1, 2, "user", "one"), samples.devin_node(2, 1, "user", "two"))
    assert found.texts(Kind.PROMPT) == ["one", "two"]


def test_what_a_person_did_not_type_is_no_prompt(told: Any, samples: ModuleType) -> None:
    found = told(
        3,
        samples.devin_node(1, None, "system", "be good"),
        samples.devin_node(2, 1, "user", "a notice", metadata={"is_user_input": False}),
        samples.devin_node(3, 2, "user", "fix it"),
    )
    assert found.texts(Kind.PROMPT) == ["fix it"]
    assert found.skipped["injected"] == 1


@pytest.mark.parametrize(
    ("words", "state", "failed", "outcome"),
    [
        ("fine", "", False, Outcome.OK),
        ("bad", "", True, Outcome.ERROR),
        ("bad", "failed", False, Outcome.ERROR),
        ("x", "cancelled", False, Outcome.INTERRUPTED),
        ("Exit code: 0", "", False, Outcome.OK),
        ("Exit code: 2\nno rule", "", False, Outcome.ERROR),
        ("no rule\nexited with code 2", "", False, Outcome.ERROR),
        ("it says exit code: 2 in the middle", "", False, Outcome.OK),
        ("Tool call rejected by the user", "", False, Outcome.REFUSED),
        ("rejected by the user " + "x" * 400, "", False, Outcome.OK),
    ],
)
def test_how_a_call_ended(words: str, state: str, failed: bool, outcome: Outcome) -> None:
    assert outcome_of(words, state, failed=failed) is outcome


def test_a_database_without_the_states_of_calls_is_read_too(told: Any, samples: ModuleType) -> None:
    turns = samples.devin_turns()[:-1]
    assert told(8, *turns, tables=2).outcomes() == [Outcome.OK, Outcome.OK]
    state = ("INSERT INTO tool_call_state VALUES ('calm-river', 'c1', '{}', ?)", (json.dumps({"status": "failed"}),))
    assert told(8, *turns, state).outcomes() == [Outcome.ERROR, Outcome.OK]


def test_tokens_that_are_not_given_are_none(told: Any, samples: ModuleType) -> None:
    (usage,) = told(8, *samples.devin_turns()).usage.values()
    spent = (usage.input, usage.output, usage.cache_read, usage.cache_write, usage.model)
    assert spent == (5, 2, 0, 1, "model-y")


def test_keys_are_the_places_in_the_session(told: Any, samples: ModuleType) -> None:
    keys = [event.key for event in told(8, *samples.devin_turns()).of(Kind.PROMPT, Kind.CALL)]
    assert keys == ["calm-river:1", "calm-river:2:c1", "calm-river:5", "calm-river:6:c2"]


def test_a_message_of_an_unknown_role_costs_only_itself(told: Any, samples: ModuleType) -> None:
    found = told(2, samples.devin_node(1, None, "oracle", "hm"), samples.devin_node(2, 1, "user", "fix it"))
    assert found.texts(Kind.PROMPT) == ["fix it"]
    assert found.skipped["message of role oracle"] == 1
