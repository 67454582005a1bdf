"""VS Code's chat: the document and the log of its mutations give the same session."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_harvesters import Author, Kind, Outcome, Source, discover, harvester_of
from skillopt_harvesters.copilot_vscode import folder_of
from skillopt_harvesters.vscode_log import Replay
from skillopt_harvesters.vscode_shapes import Entry

Write = Callable[[str, bytes], Path]
PLACE = "Code/User/workspaceStorage/w1/chatSessions"


@pytest.fixture
def flat(write: Write, as_agent: Any) -> Callable[..., Any]:
    def read(*requests: Any, **more: Any) -> Any:
        state = {"version": 3, "sessionId": "s1", "responderUsername": "GitHub Copilot", "requests": requests, **more}
        return as_agent(write(f"{PLACE}/s1.json", json.dumps(state).encode()), "copilot-vscode")

    return read


@pytest.fixture
def log(write: Write, as_agent: Any, to_lines: Callable[..., bytes]) -> Callable[..., Any]:
    return lambda *entries: as_agent(write(f"{PLACE}/s1.jsonl", to_lines(*entries)), "copilot-vscode")


def test_what_was_typed_is_the_message_and_not_what_was_rendered(flat: Callable[..., Any], made: ModuleType) -> None:
    rendered = {"metadata": {"renderedUserMessage": [{"text": "<context>…</context> fix"}]}}
    found = flat(
        made.request(1, "fix it", result=rendered),
        {**made.request(2, ""), "slashCommand": {"name": "tests"}},
        {**made.request(3, ""), "message": "an old file's text"},
        inputState={"inputText": "a draft"},
        pendingRequests=[{"text": "later"}],
    )
    assert found.texts(Kind.PROMPT, Kind.COMMAND) == ["fix it", "/tests", "an old file's text"]


def test_undone_confirming_and_automatic_turns_are_passed_over(flat: Callable[..., Any], made: ModuleType) -> None:
    found = flat(
        made.request(1, "undone", shouldBeRemovedOnSend={"requestId": "x"}),
        made.request(2, "hidden", isHidden=True),
        made.request(3, "Continue", confirmation="Continue"),
        made.request(4, "automatic", isSystemInitiated=True),
        made.request(5, "kept", shouldBeRemovedOnSend=False),
    )
    assert found.texts(Kind.PROMPT) == ["kept"]


def test_a_response_is_its_texts_in_order(flat: Callable[..., Any], made: ModuleType) -> None:
    parts = [
        {"value": "See "},
        {"kind": "inlineReference", "inlineReference": {"fsPath": "/work/a.py"}},
        {"kind": "thinking", "value": "hm"},
        {"kind": "markdownContent", "content": {"value": " for more."}},
        {"kind": "undoStop", "id": "x"},
    ]
    assert flat(made.request(1, "go", response=parts)).texts(Kind.ANSWER) == ["See /work/a.py for more."]


def test_calls_have_arguments_outcomes_and_outputs(flat: Callable[..., Any], made: ModuleType) -> None:
    def part(name: str, **more: Any) -> dict[str, Any]:
        return {"kind": "toolInvocationSerialized", "toolCallId": name, "toolId": "t", "isComplete": True, **more}

    shell = {"kind": "terminal", "commandLine": {"original": "make"}, "terminalCommandState": {"exitCode": 2}}
    rounds = [{"toolCalls": [{"id": "c1__vscode-17", "name": "read_file", "arguments": '{"filePath":"/a"}'}]}]
    results = {"c1": {"content": [{"value": "text of a"}]}}
    found = flat(
        made.request(
            1,
            "go",
            response=[
                part("c1__vscode-17"),
                part("c2", toolSpecificData={**shell, "terminalCommandOutput": {"text": "no rule"}}),
                part("c3", isConfirmed={"type": 0}),
                part("c4", isConfirmed={"type": "skipped"}),
                part("c5", isConfirmed={"type": 4}, resultDetails={"input": '{"q":1}', "isError": True}),
                part("c6", isConfirmed=False),
            ],
            result={"metadata": {"toolCallRounds": rounds, "toolCallResults": results}},
        )
    )
    refused, error = Outcome.REFUSED, Outcome.ERROR
    assert found.outcomes() == [Outcome.OK, error, refused, refused, error, refused]
    calls = sorted(found.of(Kind.CALL), key=lambda call: call.call_id)
    assert (calls[0].tool, calls[0].arguments, calls[0].head) == ("read_file", '{"filePath":"/a"}', "text of a")
    assert (json.loads(calls[1].arguments), calls[1].text) == ({"command": "make"}, "no rule")


def test_votes_cancellations_and_fates_of_edits_are_feedback(flat: Callable[..., Any], made: ModuleType) -> None:
    edits = [{"uri": {"fsPath": "/a"}, "eventKind": 2}, {"uri": "file:///b", "eventKind": 1}]
    found = flat(
        made.request(1, "go", vote=0, voteDownReason="wrong file", editedFileEvents=edits),
        made.request(2, "on", vote=1, modelState={"value": 2, "completedAt": 1_795_000_200_000}),
        made.request(3, "still", isCanceled=True),
        made.request(4, "so", result={"errorDetails": {"message": "rate limited"}}),
    )
    heads = [(event.author, event.head, event.text) for event in found.of(Kind.FEEDBACK)]
    person = Author.PERSON
    assert heads == [
        (person, "down", "wrong file"),
        (person, "undone", "/a"),
        (person, "kept", "file:///b"),
        (person, "up", ""),
    ]
    assert len(found.of(Kind.INTERRUPT)) == 2
    assert found.texts(Kind.ERROR) == ["rate limited"]


def test_a_log_is_replayed_with_every_kind_of_entry(log: Callable[..., Any], made: ModuleType) -> None:
    found = log(
        {"kind": 0, "v": {"sessionId": "old", "requests": []}},
        {"kind": 0, "v": {"sessionId": "s1", "requests": [made.request(1, "first")]}},
        {"kind": 2, "k": ["requests"], "v": [made.request(2, "second"), made.request(3, "third")]},
        {"kind": 1, "k": ["requests", 1, "message", "text"], "v": "second, better"},
        {"kind": 2, "k": ["requests", 1, "response"], "v": [{"value": " and more"}]},
        {"kind": 2, "k": ["requests"], "i": 2, "v": [made.request(4, "fourth")]},
        {"kind": 1, "k": ["requests", 0, "vote"], "v": 1},
        {"kind": 3, "k": ["requests", 0, "vote"]},
        {"kind": 2, "k": ["requests", 0, "response"], "i": 0, "v": [{"value": "rewritten"}]},
        {"kind": 1, "k": ["customTitle"], "v": "A title"},
    )
    prompts = [event.text for event in found.events.values() if event.kind is Kind.PROMPT]
    assert prompts == ["first", "second, better", "fourth"]
    assert sorted(found.texts(Kind.ANSWER)) == ["done", "done and more", "rewritten"]
    assert not found.of(Kind.FEEDBACK)
    assert (found.facts.native_id, found.facts.title) == ("s1", "A title")
    assert not found.warnings


def test_a_log_without_its_first_state_is_read_as_far_as_it_goes(log: Callable[..., Any], made: ModuleType) -> None:
    found = log({"kind": 2, "k": ["requests"], "v": [made.request(1, "go")]}, {"kind": 1, "k": ["x", 3, "y"], "v": 1})
    assert found.texts(Kind.PROMPT) == ["go"]
    assert any("first state" in trouble.reason for trouble in found.warnings)


def test_a_byte_order_mark_and_a_half_written_line_do_no_harm(
    write: Write, as_agent: Any, to_lines: Callable[..., bytes], made: ModuleType
) -> None:
    content = (
        b"\xef\xbb\xbf" + to_lines({"kind": 0, "v": {"requests": [made.request(1, "go")]}}) + b'{"kind":1,"k":["re'
    )
    found = as_agent(write(f"{PLACE}/s1.jsonl", content), "copilot-vscode")
    assert found.texts(Kind.PROMPT) == ["go"]
    state = json.dumps({"requesterUsername": "x", "requests": [made.request(1, "go")]}).encode()
    found = as_agent(write(f"{PLACE}/s2.json", b"\xef\xbb\xbf" + state), "copilot-vscode")
    assert found.texts(Kind.PROMPT) == ["go"]


def test_the_log_wins_where_a_session_lies_in_both_forms(tmp_path: Path, write: Write) -> None:
    base = f".config/{PLACE}"
    for name in ("s1.json", "s1.jsonl", "s2.json"):
        write(f"{base}/{name}", b"{}")
    write(".config/Code/User/globalStorage/emptyWindowChatSessions/s3.jsonl", b"{}")
    write(".config/Code/User/workspaceStorage/w1/other/s4.json", b"{}")
    sources, _ = discover(tmp_path, {}, {"copilot-vscode"})
    assert [Path(source.path).name for source in sources] == ["s1.jsonl", "s2.json", "s3.jsonl"]


def test_an_unchanged_file_gives_nothing_and_a_changed_one_everything(
    write: Write, as_agent: Any, to_lines: Callable[..., bytes], made: ModuleType
) -> None:
    first = to_lines({"kind": 0, "v": {"requests": [made.request(1, "go"), made.request(2, "undo me")]}})
    path = write(f"{PLACE}/s1.jsonl", first)
    before = as_agent(path, "copilot-vscode")
    assert as_agent(path, "copilot-vscode", before.cursor).batches == 0
    path.write_bytes(first + to_lines({"kind": 1, "k": ["requests", 1, "isHidden"], "v": True}))
    source = before.cursor
    after = as_agent(path, "copilot-vscode", source)
    assert after.texts(Kind.PROMPT) == ["go"]
    (batch,) = harvester_of("copilot-vscode").read(Source(agent="copilot-vscode", path=str(path)), source)
    assert batch.withdrawn == [key for key, event in before.events.items() if key not in after.events]
    assert len(batch.withdrawn) == 2


@pytest.mark.parametrize(
    ("uri", "folder"),
    [
        ("file:///home/me/my%20app", "/home/me/my app"),
        ("file:///c%3A/Users/me", "c:/Users/me"),
        ("file://server/share/x", "//server/share/x"),
        ("vscode-remote://ssh-remote%2Bhost/home/me", "vscode-remote://ssh-remote%2Bhost/home/me"),
    ],
)
def test_a_workspace_is_a_folder(write: Write, as_agent: Any, made: ModuleType, uri: str, folder: str) -> None:
    assert folder_of(uri) == folder
    write("Code/User/workspaceStorage/w1/workspace.json", json.dumps({"folder": uri}).encode())
    state = {"sessionId": "s1", "requests": [made.request(1, "go")]}
    found = as_agent(write(f"{PLACE}/s1.json", json.dumps(state).encode()), "copilot-vscode")
    assert found.facts.cwds == [folder]


keys = st.lists(st.one_of(st.sampled_from(["requests", "x", "response"]), st.integers(-2, 6)), max_size=4)
values = st.recursive(st.none() | st.integers() | st.text(max_size=3), lambda x: st.lists(x, max_size=3), max_leaves=6)


@given(st.lists(st.tuples(st.integers(-1, 4), keys, values, st.none() | st.integers(-2, 9)), max_size=20))
def test_no_log_breaks_the_replay(entries: list[Any]) -> None:
    replay = Replay()
    for kind, path, value, cut in entries:
        entry = {"kind": kind, "k": path, "v": value, "i": cut}
        replay.apply(msgspec.json.decode(json.dumps(entry), type=Entry), 0, 1)
    assert isinstance(replay.requests(), list)


@pytest.mark.shared
def test_real_documents_give_their_turns(shared: Path, loose: Any, counting: ModuleType) -> None:
    base = shared / "transcripts/copilot-vscode"
    paths = [*base.glob("dealenx__*/*/chat.json"), *base.glob("rajbos__*/*/chatSessions/*.json")]
    assert len(paths) == 7
    for path in paths:
        found = loose(path)
        assert found.counts() == counting.count(path)
        assert len(found.of(Kind.ANSWER)) == len(found.of(Kind.PROMPT))
