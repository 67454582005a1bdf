"""Going back in Claude Code: what was given up is no request any more, whatever stays of it in the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillopt_harvesters import Author, Kind, Outcome, harvester_of
from skillopt_harvesters.claude_rewind import KEEP, given_up, parent_of
from skillopt_harvesters.walk import source_of

Write = Callable[[str, bytes], Path]


@pytest.fixture
def talk(made: ModuleType) -> Callable[..., list[dict[str, Any]]]:
    """Records from pairs of own name and parent's: prompts, and answers to them."""

    def records(*pairs: str) -> list[dict[str, Any]]:
        told = []
        for second, (own, parent) in enumerate(pair.split("<") for pair in pairs):
            ids = {"uuid": named(own), "parentUuid": named(parent) if parent else None}
            if own[0] == "a":
                told.append(made.says(own, second, f"msg_{own}_{'0' * 20}", **ids))
            else:
                told.append(made.user(own, second, **ids))
        return told

    return records


def named(name: str) -> str:
    return f"{name:0>8}-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    ("pairs", "prompts", "undone"),
    [
        (("p1<", "a1<p1", "p2<a1", "a2<p2", "p3<a2"), ["p1", "p2", "p3"], []),
        (("p1<", "a1<p1", "p2<a1", "a2<p2", "p3<a2", "q2<a1", "a3<q2"), ["p1", "q2"], ["q2"]),
        (("p1<", "a1<p1", "p2<a1", "a2<p2", "q2<a1", "a3<q2", "r2<a1", "r3<r2"), ["p1", "r2", "r3"], ["q2", "r2"]),
        (("p1<", "a1<p1", "p2<a1", "a2<p2", "p3<a2", "a3<p3", "q3<a2", "q2<a1"), ["p1", "q2"], ["q3", "q2"]),
        (("p1<", "a1<p1", "q1<", "b1<q1"), ["p1", "q1", "b1"], []),
    ],
)
def test_prompts_of_a_branch_that_was_given_up_are_taken_back(
    pairs: tuple[str, ...],
    prompts: list[str],
    undone: list[str],
    talk: Any,
    write: Write,
    as_agent: Any,
    to_lines: Any,
) -> None:
    found = as_agent(write("x.jsonl", to_lines(*talk(*pairs))), "claude-code")
    assert found.texts(Kind.PROMPT) == prompts
    assert [event.key for event in found.of(Kind.FEEDBACK)] == [f"{named(name)}:undone" for name in undone]
    assert {event.author for event in found.of(Kind.FEEDBACK)} <= {Author.PERSON}


def test_between_two_readings_it_is_no_different(
    talk: Any, write: Write, as_agent: Any, to_lines: Any, reading: Any
) -> None:
    records = talk("p1<", "a1<p1", "p2<a1", "a2<p2", "p3<a2", "q2<a1", "a3<q2")
    whole = as_agent(write("x.jsonl", to_lines(*records)), "claude-code")
    for cut in range(1, len(records)):
        found = reading()
        for content in (to_lines(*records[:cut]), to_lines(*records)):
            path = write("x.jsonl", content)
            source = source_of("claude-code", str(path), str(path.parent), path.stat())
            found.take(harvester_of("claude-code").read(source, found.cursor))
        assert found.texts(Kind.PROMPT) == whole.texts(Kind.PROMPT) == ["p1", "q2"]
        assert found.events == whole.events


def test_words_that_refused_a_call_stay_and_what_was_done_stays(
    made: ModuleType, write: Write, as_agent: Any, to_lines: Any
) -> None:
    ids = [made.uuid() for _ in range(6)]
    chain = {number: {"uuid": ids[number], "parentUuid": ids[number - 1] if number else None} for number in range(6)}
    records = [
        made.user("go", 0, **chain[0]),
        made.calls("Bash", "toolu_0123456789abcdefghijkl", 1, {"command": "rm x"}, **chain[1]),
        made.gives("toolu_0123456789abcdefghijkl", made.WORDLESS, 2, error=True, **chain[2]),
        made.user("never that", 3, **chain[3]),
        made.says("I see", 4, **chain[4]),
        made.user("and on", 5, **chain[5]),
        made.user("something else", 6, uuid=made.uuid(), parentUuid=ids[2]),
    ]
    found = as_agent(write("x.jsonl", to_lines(*records)), "claude-code")
    assert found.texts(Kind.REJECTION) == ["never that"]
    assert found.texts(Kind.PROMPT) == ["go", "something else"]
    assert found.outcomes() == [Outcome.REFUSED]
    assert found.skipped["rewound prompt"] == 1


def test_a_record_that_stands_there_twice_is_no_going_back(
    talk: Any, write: Write, as_agent: Any, to_lines: Any
) -> None:
    records = talk("p1<", "a1<p1", "p2<a1", "a2<p2", "p3<a2")
    found = as_agent(write("x.jsonl", to_lines(*records, *records[2:])), "claude-code")
    assert found.texts(Kind.PROMPT) == ["p1", "p2", "p3"]
    assert not found.of(Kind.FEEDBACK)


def test_what_is_remembered_is_bounded() -> None:
    below: dict[str, str] = {}
    for number in range(KEEP * 2):
        assert given_up(below, f"r{number}", f"p{number}", kept=False) is None
    assert len(below) == KEEP
    assert given_up(below, f"r{KEEP * 2 - 2}", "q", kept=False) == [f"p{KEEP * 2 - 2}", f"p{KEEP * 2 - 1}"]


def test_the_parent_is_that_of_the_record_and_not_one_that_is_spoken_of() -> None:
    assert parent_of(b'{"type":"user","message":{"content":"\\"parentUuid\\":\\"x\\""},"parentUuid": "abc"}') == "abc"
    assert parent_of(b'{"parentUuid":null,"message":{"content":"\\"parentUuid\\":\\"x\\""}}') == ""
    assert parent_of(b'{"parentUuid":"' + b"a" * 100 + b'"}') == ""


@pytest.mark.shared
def test_a_forked_session_has_the_prompts_of_its_last_branch(shared: Path, loose: Any) -> None:
    found = loose(shared / "transcripts/claude/kvsankar__agent-history/forks/claude_forked_session.jsonl")
    first, second, third = found.texts(Kind.PROMPT)
    assert "sorting" in first
    assert "MergeSort" in second
    assert "type hints" in third
    assert [event.head for event in found.of(Kind.FEEDBACK)] == ["turns undone"]
