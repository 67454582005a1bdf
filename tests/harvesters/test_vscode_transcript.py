"""VS Code's second record of a chat: read where the chat is gone or was emptied, else a duplicate."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillopt_harvesters import Kind, Outcome, Source, discover, discover_loose, harvester_of
from skillopt_harvesters.walk import source_of

Write = Callable[[str, bytes], Path]
WORKSPACE = ".config/Code/User/workspaceStorage/w1"
CHAT = f"{WORKSPACE}/chatSessions/s1.jsonl"
SECOND = f"{WORKSPACE}/GitHub.copilot-chat/transcripts/s1.jsonl"
AGENT = "copilot-vscode"


@pytest.fixture
def second(write: Write, to_lines: Callable[..., bytes], made: ModuleType) -> Callable[[], Path]:
    """Write the second record of the chat `s1`, in a workspace whose folder is known."""

    def make(*more: Any) -> Path:
        write(f"{WORKSPACE}/workspace.json", b'{"folder": "file:///work/shop"}')
        started = made.copilot("session.start", 0, sessionId="s1", vscodeVersion="1.120.0", producer="copilot-agent")
        asked = made.asks("c1", 2, {"command": "make"})
        given = [made.finished("c1", 3, "no rule", success=False, error={"message": "no rule"})]
        said = made.copilot("assistant.message", 4, messageId=made.uuid(), content="done")
        return write(
            SECOND, to_lines(started, made.copilot("user.message", 1, content="go"), asked, *given, said, *more)
        )

    return make


def source_at(path: Path) -> Source:
    return source_of(AGENT, str(path), str(path.parent), path.stat())


def chat(*requests: Any) -> bytes:
    return json.dumps({"kind": 0, "v": {"sessionId": "s1", "requests": requests}}).encode() + b"\n"


def all_of(home: Path, reading: Any) -> Any:
    sources, trouble = discover(home, {}, {AGENT})
    assert not trouble
    return reading().take(batch for source in sources for batch in harvester_of(AGENT).read(source))


def test_a_chat_that_is_gone_is_read_from_its_second_record(second: Any, tmp_path: Path, reading: Any) -> None:
    second()
    found = all_of(tmp_path, reading)
    assert (found.facts.agent, found.facts.native_id, found.facts.cwds) == (AGENT, "s1", ["/work/shop"])
    assert (found.texts(Kind.PROMPT), found.texts(Kind.ANSWER)) == (["go"], ["done"])
    assert found.outcomes() == [Outcome.ERROR]
    assert found.warnings == []


def test_it_goes_on_where_it_was(second: Any, as_agent: Any, made: ModuleType) -> None:
    before = as_agent(second(), AGENT)
    grown = second(made.copilot("user.message", 5, content="and on"))
    after = as_agent(grown, AGENT, before.cursor)
    assert after.texts(Kind.PROMPT)[-1] == "and on"
    assert as_agent(grown, AGENT, after.cursor).batches == 0


@pytest.mark.parametrize("name", ["s1.jsonl", "s1.json"])
def test_beside_its_chat_it_is_a_duplicate(
    name: str, second: Any, write: Write, tmp_path: Path, reading: Any, made: ModuleType
) -> None:
    second()
    document = json.dumps({"sessionId": "s1", "requests": [made.request(1, "go")]}).encode()
    write(f"{WORKSPACE}/chatSessions/{name}", chat(made.request(1, "go")) if name.endswith("l") else document)
    found = all_of(tmp_path, reading)
    assert (found.texts(Kind.PROMPT), found.facts.native_id, found.warnings) == (["go"], "s1", [])


def test_a_chat_that_was_emptied_before_it_was_read_is_read_from_its_second_record(
    second: Any, write: Write, reading: Any, made: ModuleType
) -> None:
    second()
    path = write(CHAT, chat())
    found = reading().take(harvester_of(AGENT).read(source_at(path)))
    assert (found.texts(Kind.PROMPT), found.facts.native_id, found.facts.agent) == (["go"], "s1", AGENT)
    (trouble,) = found.warnings
    assert trouble.reason == "the chat was emptied; its second record is read in its place"
    assert reading().take(harvester_of(AGENT).read(source_at(path), found.cursor)).batches == 0
    write(CHAT, chat(made.request(2, "anew")))
    found.take(harvester_of(AGENT).read(source_at(path), found.cursor))
    assert sorted(found.texts(Kind.PROMPT)) == ["anew", "go"]


def test_what_was_read_of_a_chat_stays_when_it_is_emptied(
    second: Any, write: Write, reading: Any, made: ModuleType
) -> None:
    second()
    held = reading()
    for requests in ([made.request(1, "go"), made.request(2, "on")], [], [made.request(3, "anew")]):
        path = write(CHAT, chat(*requests))
        held.take(harvester_of(AGENT).read(source_at(path), held.cursor))
    assert sorted(held.texts(Kind.PROMPT)) == ["anew", "go", "on"]
    assert [trouble.reason for trouble in held.warnings] == ["the chat was emptied; what was read of it before stays"]


def test_a_chat_in_which_nothing_was_said_yet_is_no_trouble(write: Write, reading: Any, made: ModuleType) -> None:
    held = reading()
    for requests in ([], [made.request(1, "go")], [made.request(2, "go, differently")]):
        path = write(CHAT, chat(*requests))
        held.take(harvester_of(AGENT).read(source_at(path), held.cursor))
    assert held.texts(Kind.PROMPT) == ["go, differently"]
    assert not held.warnings


def test_a_loose_one_is_known_by_what_it_holds(second: Any, write: Write) -> None:
    path = write("elsewhere/copy.jsonl", second().read_bytes())
    (source,), trouble, others = discover_loose([path])
    assert (source.agent, trouble, others) == (AGENT, [], [])
