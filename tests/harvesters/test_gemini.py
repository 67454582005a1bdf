"""Gemini CLI: documents, and logs that change their past."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillopt_harvesters import Author, Kind, Origin, Outcome, Source, Trouble
from skillopt_harvesters.gemini import Gemini
from skillopt_harvesters.gemini_session import is_command

LOG = "chats/session-2026-11-20T10-00-x.jsonl"


@pytest.fixture
def logged(write: Any, as_agent: Any, samples: ModuleType, made: ModuleType) -> Any:
    """Read a log of these lines."""

    def read(*lines: Any, name: str = f"p/{LOG}", **head: Any) -> Any:
        return as_agent(write(name, samples.dumped(samples.gemini_head(made, **head), *lines)), "gemini")

    return read


@pytest.fixture
def document(write: Any, as_agent: Any, samples: ModuleType, made: ModuleType) -> Any:
    """Read a document of these messages."""

    def read(*messages: Any, cut: int | None = None, **head: Any) -> Any:
        text = json.dumps(samples.gemini_head(made, messages=list(messages), **head), indent=2)
        return as_agent(write("p/chats/session-x.json", text.encode()[:cut]), "gemini")

    return read


def says(samples: ModuleType, *texts: str) -> list[dict[str, Any]]:
    return [samples.gemini_message(number, "user", text) for number, text in enumerate(texts, 1)]


# -- what a file holds at its end


def test_a_document_and_a_log_say_the_same(document: Any, logged: Any, samples: ModuleType) -> None:
    one, other = document(*samples.gemini_messages()), logged(*samples.gemini_messages())
    assert set(one.events) == set(other.events)
    assert one.usage.keys() == other.usage.keys()
    assert one.texts(Kind.PROMPT) == other.texts(Kind.PROMPT) == samples.PROMPTS


def test_a_message_that_comes_again_replaces_the_earlier(logged: Any, samples: ModuleType) -> None:
    waiting = samples.gemini_call("c1", "make", "scheduled")
    del waiting["result"]
    done = samples.gemini_call("c1", "make", output="fine")
    asked = samples.gemini_message(2, "gemini", "", toolCalls=[waiting])
    assert logged(asked).outcomes() == [Outcome.OPEN]
    assert logged(asked, {**asked, "toolCalls": [done]}).outcomes() == [Outcome.OK]


def test_what_was_rewound_is_taken_back(logged: Any, samples: ModuleType) -> None:
    one, two, three = says(samples, "one", "two", "three")
    found = logged(one, two, three, {"$rewindTo": two["id"]})
    assert found.texts(Kind.PROMPT) == ["one"]
    assert found.skipped["undone message"] == 2


def test_what_was_rewound_between_two_readings_is_withdrawn(
    write: Any, as_agent: Any, samples: ModuleType, made: ModuleType
) -> None:
    one, two = says(samples, "one", "two")
    path = write(f"p/{LOG}", samples.dumped(samples.gemini_head(made), one, two))
    cursor = as_agent(path, "gemini").cursor
    with path.open("ab") as file:
        file.write(samples.dumped({"$rewindTo": two["id"]}))
    (batch,) = Gemini().read(Source(agent="gemini", path=str(path)), cursor)
    assert batch.withdrawn == [two["id"]]


def test_a_rewinding_to_what_is_not_known_takes_back_all(logged: Any, samples: ModuleType) -> None:
    assert logged(*says(samples, "one", "two"), {"$rewindTo": "?"}).texts(Kind.PROMPT) == []


def test_what_the_model_is_sent_after_a_compression_takes_nothing_away(logged: Any, samples: ModuleType) -> None:
    one, two = says(samples, "one", "two")
    snapshot = samples.gemini_message(8, "user", "<state_snapshot>all so far</state_snapshot>")
    again = {**two, "id": "00000000-0000-4000-8000-00000000000f"}
    late = samples.gemini_message(9, "user", "three")
    found = logged(one, two, {"$set": {"messages": [snapshot, again, late]}})
    assert found.texts(Kind.PROMPT) == ["one", "two", "three"]
    assert found.skipped["repeated for the model"] == 1
    assert len(found.of(Kind.COMPACTION)) == 1


def test_a_message_that_the_model_is_sent_again_stays_where_it_was(logged: Any, samples: ModuleType) -> None:
    one, two = says(samples, "one", "two")
    assert logged(one, two, {"$set": {"messages": [one, two]}}).events == logged(one, two).events


def test_a_patch_that_says_something_of_the_whole_leaves_the_rest(logged: Any, samples: ModuleType) -> None:
    found = logged(*says(samples, "one"), {"$set": {"summary": "a shop"}}, {"$set": {"lastUpdated": "x"}})
    assert (found.facts.title, found.facts.native_id) == ("a shop", logged().facts.native_id)


def test_of_a_damaged_document_the_messages_before_the_damage_are_read(document: Any, samples: ModuleType) -> None:
    messages = says(samples, "one", "two", "three")
    whole = len(json.dumps(messages, indent=2))
    found = document(*messages, cut=whole)
    assert found.texts(Kind.PROMPT)[:1] == ["one"]
    assert "three" not in found.texts(Kind.PROMPT)
    assert "damaged" in found.warnings[0].reason
    assert found.facts.native_id == document().facts.native_id


def test_a_line_that_is_damaged_costs_only_itself(
    write: Any, as_agent: Any, samples: ModuleType, made: ModuleType
) -> None:
    one, two = (samples.dumped(line) for line in says(samples, "one", "two"))
    head = samples.dumped(samples.gemini_head(made))
    found = as_agent(write(f"p/{LOG}", head + one + b'{"id":\n' + two), "gemini")
    assert found.texts(Kind.PROMPT) == ["one", "two"]


# -- the person's words


def test_files_that_were_put_in_are_no_words(logged: Any, samples: ModuleType) -> None:
    sent = "look at @a.py\n--- Content from referenced files ---\nimport os"
    shown = samples.gemini_message(2, "user", "the whole file", displayContent=[{"text": "and @b.py"}])
    found = logged(samples.gemini_message(1, "user", sent), shown)
    assert found.texts(Kind.PROMPT) == ["look at @a.py", "and @b.py"]


@pytest.mark.parametrize(
    "text",
    ["<session_context>\nToday is", "<hook_context>x", "<state_snapshot>x", "System: Please continue."],
)
def test_what_the_program_says_is_no_prompt(text: str, logged: Any, samples: ModuleType) -> None:
    found = logged(*says(samples, text, "fix it"))
    assert found.texts(Kind.PROMPT) == ["fix it"]
    assert found.skipped["injected"] == 1


@pytest.mark.parametrize(
    ("text", "yes"), [("/clear", True), ("/mcp:list now", True), ("/home/x is full", False), ("fix /a", False)]
)
def test_a_slash_command_is_no_path(text: str, yes: bool) -> None:
    assert is_command(text) is yes


def test_a_request_that_was_cancelled_is_an_interrupt(logged: Any, samples: ModuleType) -> None:
    found = logged(*says(samples, "one"), samples.gemini_message(2, "info", "Request cancelled."))
    assert [event.author for event in found.of(Kind.INTERRUPT)] == [Author.PERSON]


def test_an_error_of_the_service_is_one_and_a_notice_is_none(logged: Any, samples: ModuleType) -> None:
    found = logged(samples.gemini_message(1, "error", "quota"), samples.gemini_message(2, "info", "update ready"))
    assert found.texts(Kind.ERROR) == ["quota"]
    assert found.skipped["info"] == 1


# -- calls and tokens


@pytest.mark.parametrize(
    ("status", "answer", "outcome"),
    [
        ("success", {"output": "fine"}, Outcome.OK),
        ("success", {"output": "Output: x\nExit Code: 0"}, Outcome.OK),
        ("success", {"output": "Output: x\nExit Code: 2"}, Outcome.ERROR),
        ("success", {"error": "no such file"}, Outcome.ERROR),
        ("error", {"error": "no such file"}, Outcome.ERROR),
        ("cancelled", {"error": "[Operation Cancelled] Reason: User did not allow tool call"}, Outcome.REFUSED),
        ("cancelled", {"error": "[Operation Cancelled] Reason: User cancelled the operation."}, Outcome.INTERRUPTED),
    ],
)
def test_how_a_call_ended(
    status: str, answer: dict[str, Any], outcome: Outcome, logged: Any, samples: ModuleType
) -> None:
    call = samples.gemini_call("c1", "make", status, **answer)
    assert logged(samples.gemini_message(1, "gemini", "", toolCalls=[call])).outcomes() == [outcome]


def test_a_code_in_the_output_of_another_tool_is_none(logged: Any, samples: ModuleType) -> None:
    call = {**samples.gemini_call("c1", "x", output="Exit Code: 2"), "name": "read_file"}
    assert logged(samples.gemini_message(1, "gemini", "", toolCalls=[call])).outcomes() == [Outcome.OK]


def test_tokens_count_what_was_cached_once_and_thoughts_as_output(logged: Any, samples: ModuleType) -> None:
    tokens = {"input": 10, "output": 2, "cached": 4, "thoughts": 1, "tool": 3}
    (usage,) = logged(samples.gemini_message(1, "gemini", "x", tokens=tokens, model="gemini-x")).usage.values()
    assert (usage.input, usage.output, usage.cache_read, usage.model) == (9, 3, 4, "gemini-x")


# -- where, and whose


def test_the_folder_is_the_one_that_the_digest_proves(logged: Any, samples: ModuleType) -> None:
    call = samples.gemini_call("c1", "x", output="")
    call["args"] = {"file_path": "/home/x/shop/src/a.py"}
    asked = samples.gemini_message(1, "gemini", "", toolCalls=[call])
    proved = sha256(b"/home/x/shop").hexdigest()
    assert logged(asked, projectHash=proved).facts.cwds == ["/home/x/shop"]
    assert logged(asked).facts.cwds == []


def test_the_name_of_the_folder_that_the_agent_left_is_believed(logged: Any, write: Any) -> None:
    write("p/.project_root", b"/home/x/shop\n")
    assert logged().facts.cwds == ["/home/x/shop"]


def test_a_sub_agents_conversation_names_its_session(logged: Any, samples: ModuleType) -> None:
    found = logged(*says(samples, "look"), name="p/chats/s1/a1.jsonl")
    assert (found.facts.origin, found.facts.parent) == (Origin.SUBAGENT, "s1")
    assert logged(kind="subagent").facts.origin is Origin.SUBAGENT
    assert logged(kind="main").facts.origin is Origin.INTERACTIVE


def test_of_a_conversation_as_a_document_and_as_a_log_the_log_counts(write: Any, tmp_path: Path) -> None:
    for name in ("session-a.json", "session-a.jsonl", "session-b.json", "s1/x.jsonl", "s1/y/z.json", "other.json"):
        write(f"tmp/p/chats/{name}", b"{}")
    write("tmp/p/logs.json", b"[]")
    trouble: list[Trouble] = []
    found = [str(Path(s.path).relative_to(tmp_path / "tmp/p/chats")) for s in Gemini().find(tmp_path / "tmp", trouble)]
    assert sorted(found) == ["s1/x.jsonl", "session-a.jsonl", "session-b.json"]
    assert trouble == []


def test_a_short_id_is_made_unique_by_its_session(logged: Any, samples: ModuleType, made: ModuleType) -> None:
    short = {**samples.gemini_message(1, "user", "one"), "id": "7"}
    assert list(logged(short).events) == [f"{made.SESSION}/7"]
