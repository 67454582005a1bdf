"""Pi: a session is a tree, of which the branch of the last entry is live."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from skillopt_harvesters import Author, Kind, Outcome, Source
from skillopt_harvesters.pi import Pi
from skillopt_harvesters.pi_session import session_of

NAME = "sessions/--work-shop--/2026-11-20T10-00-00-000Z_s1.jsonl"


@pytest.fixture
def told(write: Any, as_agent: Any, samples: ModuleType, made: ModuleType) -> Any:
    """Read a session of these entries."""

    def read(*entries: Any, **head: Any) -> Any:
        return as_agent(write(NAME, samples.dumped(samples.pi_head(made, **head), *entries)), "pi")

    return read


@pytest.fixture
def grown(write: Any, samples: ModuleType, made: ModuleType, reading: Any) -> Any:
    """Read a session in pieces, going on each time."""

    def read(*pieces: list[Any]) -> Any:
        found, content = reading(), samples.dumped(samples.pi_head(made))
        for piece in pieces:
            content += samples.dumped(*piece)
            source = Source(agent="pi", path=str(write(NAME, content)))
            found.take(Pi().read(source, found.cursor))
        return found

    return read


@pytest.fixture
def pieces(samples: ModuleType) -> dict[str, list[Any]]:
    """A turn, a second one, one that takes the place of the second, and one that goes on with the second after all."""
    return {
        "first": [samples.pi_user(1, None, "one"), samples.pi_says(2, 1, "done")],
        "second": [samples.pi_user(3, 2, "two"), samples.pi_says(4, 3, "so", ("c1", "make"))],
        "instead": [samples.pi_user(5, 2, "not two"), samples.pi_says(6, 5, "ah")],
        "back": [samples.pi_user(7, 4, "two it is")],
        "within": [samples.pi_says(8, 3, "otherwise")],
    }


ORDERS = [
    (["first", "second"], ["one", "two"]),
    (["first", "second", "instead"], ["one", "not two"]),
    (["first", "second", "instead", "back"], ["one", "two", "two it is"]),
    (["first", "second", "within"], ["one", "two"]),
]


@pytest.mark.parametrize(("order", "prompts"), ORDERS)
def test_only_the_branch_of_the_last_entry_is_live(
    order: list[str], prompts: list[str], told: Any, pieces: dict[str, list[Any]]
) -> None:
    assert told(*(entry for name in order for entry in pieces[name])).texts(Kind.PROMPT) == prompts


@pytest.mark.parametrize("order", [order for order, _ in ORDERS])
def test_a_branch_that_leaps_between_two_readings_is_no_different(
    order: list[str], told: Any, grown: Any, pieces: dict[str, list[Any]]
) -> None:
    whole = told(*(entry for name in order for entry in pieces[name]))
    assert grown(*(pieces[name] for name in order)).events == whole.events


def test_what_was_given_up_is_withdrawn_and_the_rest_is_not_given_again(
    write: Any, pieces: dict[str, list[Any]], samples: ModuleType, made: ModuleType, as_agent: Any
) -> None:
    path = write(NAME, samples.dumped(samples.pi_head(made), *pieces["first"], *pieces["second"]))
    before = as_agent(path, "pi")
    with path.open("ab") as file:
        file.write(samples.dumped(*pieces["instead"]))
    (batch,) = Pi().read(Source(agent="pi", path=str(path)), before.cursor)
    second = before.of(Kind.PROMPT)[1].key
    assert set(batch.withdrawn) == {key for key in before.events if key.startswith(second) or key.endswith(":c1")}
    assert [event.text for event in batch.events] == ["not two", "ah"]


def test_an_answer_that_took_the_place_of_another_leaves_no_calls_of_it(
    told: Any, grown: Any, pieces: dict[str, list[Any]]
) -> None:
    order = [pieces[name] for name in ("first", "second", "within")]
    for found in (told(*(entry for piece in order for entry in piece)), grown(*order)):
        assert found.texts(Kind.ANSWER) == ["done", "otherwise"]
        assert found.of(Kind.CALL) == []


def test_an_entry_whose_parent_is_missing_hangs_on_the_one_before_it(told: Any, pieces: dict[str, list[Any]]) -> None:
    pieces["second"][0]["parentId"] = "missing"
    found = told(*(entry for name in ("first", "second", "instead", "back") for entry in pieces[name]))
    assert found.texts(Kind.PROMPT) == ["one", "two", "two it is"]


def test_a_session_of_the_first_version_is_a_list(told: Any, samples: ModuleType) -> None:
    entries = [samples.pi_user(1, None, "one"), samples.pi_says(2, 1, "done"), samples.pi_user(3, 2, "two")]
    for entry in entries:
        del entry["id"], entry["parentId"]
    found = told(*entries, version=1)
    assert found.texts(Kind.PROMPT) == ["one", "two"]


def test_a_fork_and_a_file_written_anew_have_the_keys_of_what_they_copied(told: Any, samples: ModuleType) -> None:
    entries = [samples.pi_user(1, None, "one"), samples.pi_says(2, 1, call=("c1", "make"))]
    plain = set(told(*entries).events)
    fork = told(*entries, id="s2", parentSession="/x/2026_s1.jsonl")
    assert set(fork.events) == plain
    assert fork.facts.fork_of == "s1"
    assert session_of("C:\\x_y\\s1.jsonl") == "s1"


@pytest.mark.parametrize(
    ("more", "outcome"),
    [
        ({}, Outcome.OK),
        ({"isError": True}, Outcome.ERROR),
        ({"details": {"exitCode": 2}}, Outcome.ERROR),
        ({"isError": True, "content": [{"type": "text", "text": "a\nOperation aborted"}]}, Outcome.INTERRUPTED),
    ],
)
def test_how_a_call_ended(more: dict[str, Any], outcome: Outcome, told: Any, samples: ModuleType) -> None:
    given = samples.pi_gives(3, 2, "c1", "a")
    given["message"].update(more)
    found = told(samples.pi_user(1, None, "one"), samples.pi_says(2, 1, call=("c1", "make")), given)
    assert found.outcomes() == [outcome]


def test_how_a_message_ended(told: Any, samples: ModuleType) -> None:
    found = told(
        samples.pi_user(1, None, "one"),
        samples.pi_says(2, 1, call=("c1", "make"), stopReason="aborted"),
        samples.pi_user(3, 2, "two"),
        samples.pi_says(4, 3, stopReason="error", errorMessage="overloaded"),
    )
    assert found.outcomes() == [Outcome.INTERRUPTED]
    assert [event.author for event in found.of(Kind.INTERRUPT)] == [Author.PERSON]
    assert found.texts(Kind.ERROR) == ["overloaded"]


def test_a_command_that_the_person_ran_is_theirs_and_no_call(told: Any, samples: ModuleType) -> None:
    ran = samples.pi_entry(1, None, message={"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 0})
    found = told(ran)
    assert [(event.text, event.author) for event in found.of(Kind.COMMAND)] == [("!ls", Author.PERSON)]
    assert found.of(Kind.CALL) == []


def test_a_compaction_is_said_and_its_summary_is_no_word(told: Any, samples: ModuleType) -> None:
    found = told(
        samples.pi_user(1, None, "one"),
        samples.pi_entry(2, 1, "compaction", summary="all so far", firstKeptEntryId="e0000001"),
        samples.pi_entry(3, 2, message={"role": "compactionSummary", "summary": "all so far"}),
    )
    assert len(found.of(Kind.COMPACTION)) == 1
    assert found.texts(Kind.PROMPT, Kind.ANSWER) == ["one"]


def test_tokens_are_those_of_each_answer(told: Any, samples: ModuleType) -> None:
    (usage,) = told(samples.pi_user(1, None, "one"), samples.pi_says(2, 1, "done")).usage.values()
    spent = (usage.input, usage.output, usage.cache_read, usage.cache_write, usage.model)
    assert spent == (7, 2, 3, 1, "claude-x")


def test_an_entry_of_an_unknown_kind_costs_only_itself(told: Any, samples: ModuleType) -> None:
    found = told(samples.pi_user(1, None, "one"), samples.pi_entry(2, 1, "new_thing"), samples.pi_user(3, 2, "two"))
    assert found.texts(Kind.PROMPT) == ["one", "two"]
    assert found.skipped["unknown entry new_thing"] == 1


def test_parents_in_a_circle_are_no_trouble(told: Any, samples: ModuleType) -> None:
    found = told(samples.pi_user(1, 2, "one"), samples.pi_user(2, 1, "two"), samples.pi_user(1, 2, "three"))
    assert found.events
