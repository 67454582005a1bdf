"""A file that is read while it grows gives the same as one that is read when it is whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillopt_harvesters import Cursor, Source, harvester_of

Write = Callable[[str, bytes], Path]


def claude(made: ModuleType) -> list[Any]:
    return [
        {"type": "summary", "summary": "x", "leafUuid": "y"},
        made.user("go", 0),
        made.says("looking …", 1, output=3),
        made.calls("Bash", "toolu_1", 2, {"command": "make"}),
        made.queue("enqueue", 3, "use ninja"),
        made.gives("toolu_1", "Exit code 2\nno rule", 3, True),
        made.queue("remove", 4),
        made.queue("enqueue", 4, "next"),
        made.says("looking …", 5, output=9),
        made.queue("dequeue", 5),
        made.user("next", 5),
        made.calls("Bash", "toolu_2", 6, {"command": "rm -r build"}),
        made.gives("toolu_2", made.WORDLESS, 7, True),
        made.user(made.FOR_TOOL_USE, 7),
        made.user("use make clean", 8),
        made.calls("ExitPlanMode", "toolu_3", 9, {"plan": "p"}),
        made.gives("toolu_3", made.WORDLESS, 10, True),
        made.user("Implement the following plan:\n\np", 11, planContent="p"),
        made.calls("Skill", "toolu_4", 12, {"skill": "pdf"}),
        made.gives("toolu_4", "Launching", 13),
        made.user([{"type": "text", "text": "Base directory for this skill: /s/pdf\n\nx"}], 14, isMeta=True),
        made.queue("enqueue", 15, "put back"),
        made.queue("popAll", 16, "put back"),
        made.says("done", 17, "msg_z0000000000000000000"),
    ]


def codex(made: ModuleType) -> list[Any]:
    return [
        made.meta(),
        made.codex("turn_context", 0, cwd="/work/shop", model="m"),
        made.item("user", "go", 1),
        made.typed("go", 1),
        made.tokens(100, 100, 2),
        made.function("c1", 2, '{"cmd":"make"}'),
        made.codex("event_msg", 3, type="exec_command_end", call_id="c1", exit_code=2),
        made.output("c1", "plain", 3),
        made.function("c2", 4, '{"cmd":"rm x","sandbox_permissions":"require_escalated"}'),
        made.tokens(150, 50, 4),
        made.item("user", "leave it", 5),
        made.typed("leave it", 5),
        made.item("assistant", "left", 6),
        made.codex("event_msg", 6, type="agent_message", message="left"),
        made.function("c3", 7, "{}"),
        made.codex("event_msg", 8, type="turn_aborted", reason="interrupted"),
        made.codex("compacted", 9, message="x"),
        made.typed("last", 10),
    ]


def codex_items(made: ModuleType) -> list[Any]:
    """A rollout without events, whose items are confirmed by what follows them."""
    said = [made.item("user", "go", 1), made.item("assistant", "ok", 2), made.item("user", "go", 3)]
    return [made.meta(), *said, made.item("user", "stop", 4), made.item("assistant", "stopped", 5)]


def copilot(made: ModuleType) -> list[Any]:
    return [
        made.started(),
        made.copilot("user.message", 1, content="go"),
        made.asks("c1", 2, {"command": "make"}, text="trying"),
        made.finished("c1", 3, "no rule\n<exited with exit code 2>"),
        made.asks("c2", 4, {"command": "rm x"}),
        made.copilot("permission.requested", 5, requestId="r1", permissionRequest={"toolCallId": "c2"}),
        made.copilot("permission.completed", 6, requestId="r1", result={"kind": "denied-interactively-by-user"}),
        made.copilot("tool.execution_complete", 7, toolCallId="c2", success=False, error={"message": "no"}),
        made.copilot("user.message", 8, content="keep it"),
        made.copilot("assistant.message", 9, content="kept", messageId="m1", outputTokens=4),
        made.asks("c3", 10, {"command": "sleep 9"}),
        made.copilot("abort", 11, reason="user_initiated"),
        made.copilot("session.shutdown", 12, modelMetrics={"m": {"usage": {"inputTokens": 9, "outputTokens": 6}}}),
    ]


SESSIONS = {
    "claude": ("claude-code", claude),
    "codex": ("codex", codex),
    "codex items": ("codex", codex_items),
    "copilot": ("copilot-cli", copilot),
}


def damaged(content: bytes) -> bytes:
    """The same with a torn record, a glued pair, a byte order mark, odd line ends and lines that are none."""
    first, second, *rest = content.split(b"\n")
    return b"\n".join(
        [b"\xef\xbb\xbf// kept by hand", first + second, b'{"type":"cut', b"\0\0", *rest[:4], b"[1]\r", *rest[4:]]
    )


@pytest.fixture(params=[*SESSIONS, "damaged claude", "damaged codex"])
def told(request: pytest.FixtureRequest, made: ModuleType, to_lines: Callable[..., bytes]) -> tuple[str, bytes]:
    """An agent and the content of a session."""
    kind, _, name = request.param.rpartition(" ") if request.param.startswith("damaged") else ("", "", request.param)
    agent, records = SESSIONS[name]
    content = to_lines(*records(made))
    return agent, damaged(content) if kind else content


def grown(path: Path, agent: str, pieces: Sequence[bytes], reading: Any) -> Any:
    """What is known after reading a file that grows piece by piece."""
    found, cursor, content = reading(), None, b""
    for piece in pieces:
        content += piece
        path.write_bytes(content)
        found.take(harvester_of(agent).read(Source(agent=agent, path=str(path)), cursor))
        cursor = found.cursor
    return found


def test_cut_anywhere_a_file_gives_the_same(tmp_path: Path, told: tuple[str, bytes], reading: Any) -> None:
    agent, content = told
    path = tmp_path / "session.jsonl"
    whole = grown(path, agent, [content], reading)
    assert len(whole.events) > 3
    for cut in {*range(0, len(content), 13), *(i + d for i, c in enumerate(content) if c == 10 for d in (0, 1, 2))}:
        halves = grown(path, agent, [content[:cut], content[cut:]], reading)
        assert halves.events == whole.events, cut
        assert halves.usage == whole.usage, cut
        assert halves.cursor.offset == whole.cursor.offset, cut


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_cut_into_any_pieces_a_file_gives_the_same(
    data: st.DataObject, tmp_path: Path, told: tuple[str, bytes], reading: Any
) -> None:
    agent, content = told
    cuts = sorted(data.draw(st.sets(st.integers(0, len(content)), max_size=6)))
    pieces = [content[a:b] for a, b in zip([0, *cuts], [*cuts, len(content)], strict=True)]
    path = tmp_path / "session.jsonl"
    assert grown(path, agent, pieces, reading).events == grown(path, agent, [content], reading).events


def test_small_windows_give_the_same(
    tmp_path: Path, told: tuple[str, bytes], reading: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, content = told
    path = tmp_path / "session.jsonl"
    whole = grown(path, agent, [content], reading)
    from skillopt_harvesters import fold

    plain = fold.windows
    monkeypatch.setattr(fold, "windows", lambda stream, offset: plain(stream, offset, size=97))
    small = grown(path, agent, [content], reading)
    assert small.events == whole.events
    assert small.batches > 5


def test_reading_again_changes_nothing(tmp_path: Path, told: tuple[str, bytes], reading: Any) -> None:
    agent, content = told
    path = tmp_path / "session.jsonl"
    once = grown(path, agent, [content], reading)
    assert grown(path, agent, [content, b""], reading).events == once.events
    again = reading().take(harvester_of(agent).read(Source(agent=agent, path=str(path))))
    assert (again.events, again.usage, again.facts) == (once.events, once.usage, once.facts)


def test_nothing_new_is_nothing_read(
    write: Write, as_agent: Any, to_lines: Callable[..., bytes], made: ModuleType
) -> None:
    path = write("session.jsonl", to_lines(*claude(made)))
    assert as_agent(path, "claude-code", as_agent(path, "claude-code").cursor).batches == 0


@pytest.mark.parametrize("change", ["cut", "replaced", "other parser"])
def test_a_file_that_is_another_one_is_read_anew(
    write: Write, as_agent: Any, to_lines: Callable[..., bytes], made: ModuleType, change: str
) -> None:
    path = write("session.jsonl", to_lines(*claude(made)))
    cursor: Cursor = as_agent(path, "claude-code").cursor
    content = path.read_bytes()
    if change == "cut":
        path.write_bytes(content[: content.find(b"\n", 2000) + 1])
    elif change == "replaced":
        path.write_bytes(to_lines(made.user("x" * len(content), 1)) + content)
    else:
        cursor.parser += 1
    assert as_agent(path, "claude-code", cursor).events == as_agent(path, "claude-code").events


def test_a_grown_file_costs_what_was_added(
    write: Write, as_agent: Any, to_lines: Callable[..., bytes], made: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("session.jsonl", to_lines(*(made.user("word " * 200, n % 60) for n in range(2000))))
    cursor = as_agent(path, "claude-code").cursor
    added = to_lines(made.user("one more", 1))
    with path.open("ab") as file:
        file.write(added)
    from skillopt_harvesters import bytestream

    read: list[int] = []
    pread = bytestream.os.pread
    monkeypatch.setattr(bytestream.os, "pread", lambda *given: (b := pread(*given), read.append(len(b)))[0])
    assert as_agent(path, "claude-code", cursor).texts("prompt") == ["one more"]
    assert sum(read) <= len(added) + 65_536


@pytest.mark.shared
@pytest.mark.parametrize(
    "name",
    [
        "claude/entireio__cli_checkpoints/7d/66f047ac98/0/full.jsonl",
        "claude/marot__spotter/tool_heavy.jsonl",
        "codex/jnarowski__agentcmd/full/rollout-2025-09-24T20-12-23-01997ea4-a70d-7da3-8c20-c736db82a7c5.jsonl",
        "copilot-cli/JeffreyCA__azure-dev_entire/0/full.jsonl",
    ],
)
def test_real_files_cut_anywhere_give_the_same(
    shared: Path, tmp_path: Path, name: str, reading: Any, loose: Any
) -> None:
    original = shared / "transcripts" / name
    content = original.read_bytes()
    agent = "claude-code" if name.startswith("claude") else name.partition("/")[0]
    path = tmp_path / original.name
    whole = grown(path, agent, [content], reading)
    for cut in range(1000, len(content), len(content) // 23):
        halves = grown(path, agent, [content[:cut], content[cut:]], reading)
        assert halves.events == whole.events, cut
        assert halves.usage == whole.usage, cut
