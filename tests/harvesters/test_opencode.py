"""OpenCode: the database, and the tree of files before it."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillopt_harvesters import Author, Cursor, Kind, Origin, Outcome, Source, Trouble
from skillopt_harvesters.opencode import OpenCode

REJECTED = "The user rejected permission to use this specific tool call"
FEEDBACK = f"{REJECTED} with the following feedback: use the script"
RULE = "The user has specified a rule which prevents you from using this specific tool call."


@pytest.fixture
def told(samples: ModuleType, tmp_path: Path, as_agent: Any) -> Any:
    """Read a database that holds one session with these messages."""

    def read(*messages: Any, **session: Any) -> Any:
        path = tmp_path / "opencode.db"
        path.unlink(missing_ok=True)
        statements = [s for message in messages for s in message]
        own = samples.opencode_session(**session)
        return as_agent(samples.rows(path, [*samples.OPENCODE_TABLES, own, *statements]), "opencode")

    return read


@pytest.mark.parametrize(
    ("status", "more", "outcome", "words"),
    [
        ("completed", {"output": "fine"}, Outcome.OK, []),
        ("completed", {"output": "bad", "metadata": {"exit": 2}}, Outcome.ERROR, []),
        ("error", {"error": "no such file"}, Outcome.ERROR, []),
        ("error", {"error": REJECTED + "."}, Outcome.REFUSED, []),
        ("error", {"error": FEEDBACK}, Outcome.REFUSED, ["use the script"]),
        ("error", {"error": "The user dismissed this question"}, Outcome.REFUSED, []),
        ("error", {"error": RULE}, Outcome.DENIED, []),
        ("error", {"error": "Tool execution aborted"}, Outcome.INTERRUPTED, []),
        ("running", {}, Outcome.OPEN, []),
        ("pending", {}, Outcome.OPEN, []),
    ],
)
def test_how_a_call_ended(
    status: str, more: dict[str, Any], outcome: Outcome, words: list[str], told: Any, samples: ModuleType
) -> None:
    found = told(samples.opencode_message(1, "assistant", [samples.opencode_tool("c1", "make", status, **more)]))
    assert found.outcomes() == [outcome]
    assert found.texts(Kind.REJECTION) == words


def test_a_prompt_right_after_a_refusal_without_words_is_its_reason(told: Any, samples: ModuleType) -> None:
    refused = samples.opencode_tool("c1", "make", "error", error=REJECTED)
    found = told(
        samples.opencode_message(1, "assistant", [refused]),
        samples.opencode_message(2, "user", [samples.opencode_text("use the script")]),
    )
    assert found.texts(Kind.REJECTION) == ["use the script"]
    assert found.of(Kind.PROMPT) == []


def test_a_message_that_was_aborted_is_an_interrupt_and_another_failure_an_error(
    told: Any, samples: ModuleType
) -> None:
    failed = {"name": "APIError", "data": {"message": "overloaded"}}
    found = told(
        samples.opencode_message(1, "assistant", [], error={"name": "MessageAbortedError"}),
        samples.opencode_message(2, "assistant", [], error=failed),
    )
    assert [event.author for event in found.of(Kind.INTERRUPT)] == [Author.PERSON]
    assert found.texts(Kind.ERROR) == ["APIError: overloaded"]


def test_what_the_program_put_in_is_no_word_of_the_persons(told: Any, samples: ModuleType) -> None:
    text = samples.opencode_text
    parts = [text("read this", synthetic=True), text("fix it"), text("x", ignored=True)]
    found = told(
        samples.opencode_message(1, "user", parts),
        samples.opencode_message(2, "user", [text("continue", synthetic=True)]),
    )
    assert found.texts(Kind.PROMPT) == ["fix it"]
    assert found.skipped["injected"] == 1


def test_a_command_that_the_person_ran_is_theirs(told: Any, samples: ModuleType) -> None:
    note = samples.opencode_text("The following tool was executed by the user", synthetic=True)
    found = told(
        samples.opencode_message(1, "user", [note]),
        samples.opencode_message(2, "assistant", [samples.opencode_tool("c1", "ls -l", output="a")]),
        samples.opencode_message(3, "assistant", [samples.opencode_tool("c2", "make", output="b")]),
    )
    assert [(event.text, event.author) for event in found.of(Kind.COMMAND)] == [("!ls -l", Author.PERSON)]
    assert [event.call_id for event in found.of(Kind.CALL)] == ["c2"]


def test_what_was_taken_back_is_left_out(told: Any, samples: ModuleType, tmp_path: Path, as_agent: Any) -> None:
    says = [samples.opencode_message(n, "user", [samples.opencode_text(f"say {n}")]) for n in (1, 2, 3)]
    own, values = samples.opencode_session()
    values = (*values[:7], json.dumps({"messageID": "msg_ses_1_000002"}), *values[8:])
    path = samples.rows(
        tmp_path / "opencode.db", [*samples.OPENCODE_TABLES, (own, values), *(s for m in says for s in m)]
    )
    found = as_agent(path, "opencode")
    assert found.texts(Kind.PROMPT) == ["say 1"]
    assert found.skipped["undone message"] == 2


def test_a_session_with_a_parent_is_a_sub_agents_and_has_no_prompts(told: Any, samples: ModuleType) -> None:
    found = told(samples.opencode_turns("ses_2"), name="ses_2", parent="ses_1")
    assert (found.facts.origin, found.facts.parent) == (Origin.SUBAGENT, "ses_1")
    assert found.of(Kind.PROMPT) == []
    assert found.outcomes() == [Outcome.ERROR, Outcome.OK]


def test_sub_agents_that_do_the_same_at_the_same_time_are_two(told: Any, samples: ModuleType) -> None:
    keys = [
        {event.key for event in told(samples.opencode_turns(name), name=name, parent="ses_0").of(Kind.CALL)}
        for name in ("ses_1", "ses_2")
    ]
    assert keys[0]
    assert not keys[0] & keys[1]


def test_a_fork_has_the_keys_of_what_it_copied(told: Any, samples: ModuleType) -> None:
    keys = [
        {event.key for event in told(samples.opencode_turns(name), name=name).of(Kind.CALL, Kind.PROMPT)}
        for name in ("ses_1", "ses_2")
    ]
    assert keys[0] == keys[1]


def test_a_compaction_is_said_and_its_summary_is_no_answer(told: Any, samples: ModuleType) -> None:
    found = told(
        samples.opencode_message(1, "user", [{"type": "compaction", "auto": True}]),
        samples.opencode_message(2, "assistant", [samples.opencode_text("all so far")], summary=True),
    )
    assert len(found.of(Kind.COMPACTION)) == 2
    assert found.of(Kind.ANSWER, Kind.PROMPT) == []


def test_tokens_count_the_thinking_as_output(told: Any, samples: ModuleType) -> None:
    (usage,) = told(samples.opencode_turns()).usage.values()
    spent = (usage.input, usage.output, usage.cache_read, usage.cache_write, usage.model)
    assert spent == (9, 3, 4, 3, "claude-x")


# -- files


def by_files(home: Path) -> Source:
    trouble: list[Trouble] = []
    (found,) = OpenCode().find(home / ".local/share/opencode", trouble)
    assert trouble == []
    return found


def test_files_and_the_database_that_they_were_moved_to_give_the_same_keys(
    samples: ModuleType, made: ModuleType, tmp_path: Path, reading: Any
) -> None:
    found = []
    for name, make in (("a", samples.opencode), ("b", samples.opencode_files)):
        make(tmp_path / name, made)
        found.append(reading().take(OpenCode().read(by_files(tmp_path / name))))
    assert set(found[0].events) == set(found[1].events)
    assert set(found[0].usage) == set(found[1].usage)


def test_a_message_that_comes_later_changes_the_source_of_its_session(
    samples: ModuleType, made: ModuleType, tmp_path: Path, reading: Any
) -> None:
    samples.opencode_files(tmp_path, made)
    before = by_files(tmp_path)
    cursor: Cursor = reading().take(OpenCode().read(before)).cursor
    assert list(OpenCode().read(before, cursor)) == []
    storage = tmp_path / ".local/share/opencode/storage"
    record = {"id": "msg_z", "sessionID": "ses_1", "role": "user", "time": {"created": samples.START_MS + 9000}}
    samples.put(storage / "message/ses_1/msg_z.json", json.dumps(record))
    part = {"id": "prt_z", "messageID": "msg_z", "type": "text", "text": "once more"}
    samples.put(storage / "part/msg_z/prt_z.json", json.dumps(part))
    after = by_files(tmp_path)
    assert after.size > before.size
    (batch,) = OpenCode().read(after, cursor)
    assert batch.events[-1].text == "once more"
    (storage / "message/ses_1/msg_z.json").unlink()
    (batch,) = OpenCode().read(by_files(tmp_path), batch.cursor)
    assert len(batch.withdrawn) == 1


def test_parts_of_the_first_layout_lie_in_one_folder(
    samples: ModuleType, made: ModuleType, tmp_path: Path, reading: Any
) -> None:
    samples.opencode_files(tmp_path, made)
    storage = tmp_path / ".local/share/opencode/storage"
    for path in list((storage / "part").glob("*/*.json")):
        path.rename(storage / "part" / path.name)
    found = reading().take(OpenCode().read(by_files(tmp_path)))
    assert found.texts(Kind.PROMPT) == samples.PROMPTS
    assert found.outcomes() == [Outcome.ERROR, Outcome.OK]


def test_a_file_that_is_damaged_costs_only_itself(
    samples: ModuleType, made: ModuleType, tmp_path: Path, reading: Any
) -> None:
    samples.opencode_files(tmp_path, made)
    path = next((tmp_path / ".local/share/opencode/storage/message").glob("*/*000001.json"))
    path.write_bytes(b'{"id":')
    found = reading().take(OpenCode().read(by_files(tmp_path)))
    assert found.texts(Kind.PROMPT) == samples.PROMPTS[1:]
    assert (Path(found.warnings[0].path).name, found.warnings[0].reason) == (path.name, "not JSON")


def test_a_session_that_names_a_folder_elsewhere_is_not_followed(
    samples: ModuleType, made: ModuleType, tmp_path: Path, reading: Any
) -> None:
    path = samples.opencode_files(tmp_path, made)
    samples.put(tmp_path / "secret/x.json", json.dumps({"role": "user", "time": {"created": samples.START_MS}}))
    part = {"id": "p", "messageID": "x", "type": "text", "text": "of another"}
    samples.put(tmp_path / ".local/share/opencode/storage/part/x/p.json", json.dumps(part))
    session = json.loads(path.read_bytes())
    path.write_text(json.dumps({**session, "id": "../../../../../secret"}))
    found = reading().take(OpenCode().read(by_files(tmp_path)))
    assert found.texts(Kind.PROMPT) == samples.PROMPTS
