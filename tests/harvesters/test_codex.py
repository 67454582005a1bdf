"""Codex: each prompt once wherever it stands, tokens once, forks without their parent's history."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import zstandard

from skillopt_harvesters import Author, Kind, Origin, Outcome, discover, discover_loose

Write = Callable[[str, bytes], Path]
NAME = "rollout-2026-11-20T10-00-00-01999999-0000-7000-8000-000000000001"


@pytest.fixture
def session(write: Write, as_agent: Any, to_lines: Callable[..., bytes]) -> Callable[..., Any]:
    return lambda *records, name=NAME: as_agent(write(f"{name}.jsonl", to_lines(*records)), "codex")


def completed(made: ModuleType, kind: str, text: str, second: int) -> dict[str, Any]:
    item = {"type": kind, "id": made.uuid(), "content": [{"type": "text", "text": text}]}
    return dict(made.codex("event_msg", second, type="item_completed", item=item))


def test_a_prompt_that_stands_in_three_places_is_one(session: Callable[..., Any], made: ModuleType) -> None:
    found = session(
        made.meta(),
        made.item("user", "# AGENTS.md instructions for /work/shop\n<INSTRUCTIONS>x</INSTRUCTIONS>", 1),
        made.item("user", "fix the test", 1),
        made.typed("fix the test", 1),
        completed(made, "UserMessage", "fix the test", 1),
        made.item("assistant", "done", 2),
        made.item("user", "continue", 3),
        made.typed("continue", 3),
        made.item("assistant", "ok", 4),
        made.item("user", "continue", 5),
        made.typed("continue", 5),
    )
    assert found.texts(Kind.PROMPT) == ["fix the test", "continue", "continue"]
    assert found.texts(Kind.ANSWER) == ["done", "ok"]


def test_a_rollout_that_has_only_completed_items_has_its_prompt(session: Callable[..., Any], made: ModuleType) -> None:
    found = session(
        made.meta(),
        made.item("user", "# AGENTS.md instructions for /work/shop\n\nbe brief", 1),
        completed(made, "UserMessage", "fix flaky test", 1),
        completed(made, "AgentMessage", "fixed", 2),
    )
    assert found.texts(Kind.PROMPT) == ["fix flaky test"]
    assert found.texts(Kind.ANSWER) == ["fixed"]


def test_an_injected_item_that_nobody_knows_is_no_prompt_where_events_tell(
    session: Callable[..., Any], made: ModuleType
) -> None:
    found = session(
        made.meta(),
        made.typed("go", 1),
        made.item("user", "go", 1),
        made.item("assistant", "ok", 2),
        made.item("user", "[some later build's notice]", 3),
        made.item("assistant", "ok", 4),
    )
    assert found.texts(Kind.PROMPT) == ["go"]
    assert found.skipped["user item without its event"] == 1


def test_a_file_without_events_gives_its_items(session: Callable[..., Any], made: ModuleType) -> None:
    environment = "<environment_context>\n  <cwd>/work/shop</cwd>\n</environment_context>"
    found = session(
        made.meta(),
        made.item("user", environment, 1),
        made.item("user", "stop", 1),
        made.item("user", "stop", 2),
        made.item("assistant", "stopped", 3),
        made.item("user", "last", 4),
    )
    assert found.texts(Kind.PROMPT) == ["stop", "stop", "last"]


def test_the_oldest_format_without_wrapper_is_read(session: Callable[..., Any]) -> None:
    found = session(
        {"id": "5973b6c0-94b8-487b-a530-2aeb6098ae0e", "timestamp": "2025-05-07T17:24:21.123Z", "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "list files"}]},
        {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": '{"output":"a\\n","metadata":{"exit_code":0}}'},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "one"}]},
    )
    assert (found.texts(Kind.PROMPT), found.texts(Kind.ANSWER)) == (["list files"], ["one"])
    assert found.outcomes() == [Outcome.OK]
    assert found.of(Kind.CALL)[0].head == "a\n"
    assert found.facts.native_id == "5973b6c0-94b8-487b-a530-2aeb6098ae0e"
    assert not found.warnings


def test_an_ide_prompt_is_what_follows_the_last_marker(session: Callable[..., Any], made: ModuleType) -> None:
    wrapped = "# Context from my IDE setup:\n\n## Open tabs:\n- a.ts\n\n## My request for Codex:\nwhy is it slow?\n"
    assert session(made.meta(), made.typed(wrapped, 1)).texts(Kind.PROMPT) == ["why is it slow?"]


def test_shell_commands_of_the_person_and_skills_are_told_apart(session: Callable[..., Any], made: ModuleType) -> None:
    shell = "<user_shell_command>\n<command>\nls -l\n</command>\n<result>x</result>\n</user_shell_command>"
    found = session(
        made.meta(),
        made.typed("go", 1),
        made.item("user", shell, 2),
        made.item("user", "<skill>\n<name>pdf</name>\n<path>/s/pdf/SKILL.md</path>\nbody\n</skill>", 3),
    )
    assert found.texts(Kind.COMMAND) == ["!ls -l"]
    assert [(event.tool, event.head) for event in found.of(Kind.SKILL)] == [("pdf", "opened")]


@pytest.mark.parametrize(
    ("text", "outcome", "kept"),
    [
        ('{"output":"fine\\n","metadata":{"exit_code":0,"duration_seconds":0.1}}', Outcome.OK, "fine\n"),
        ('{"output":"bad\\n","metadata":{"exit_code":2}}', Outcome.ERROR, "bad\n"),
        ("Exit code: 0\nWall time: 1 seconds\nOutput:\nfine", Outcome.OK, "fine"),
        ("Exit code: 1\nWall time: 1 seconds\nOutput:\nExit code: 0", Outcome.ERROR, "Exit code: 0"),
        ("Chunk ID: a\nWall time: 0\nProcess exited with code 0\nOutput:\n", Outcome.OK, ""),
        ("Chunk ID: a\nWall time: 0\nProcess exited with code 127\nOutput:\nno", Outcome.ERROR, "no"),
        ("Chunk ID: a\nProcess running with session ID 3\nOutput:\nstarting", Outcome.OK, "starting"),
        ("failed in sandbox X with execution error: exit code: 1", Outcome.ERROR, None),
        ("apply_patch verification failed: no such line", Outcome.ERROR, None),
        ("patch rejected by user", Outcome.REFUSED, None),
        ("exec command rejected by user approval settings", Outcome.DENIED, None),
        ("aborted by user after 3.1s", Outcome.INTERRUPTED, None),
        ("Plan updated", Outcome.OK, None),
    ],
)
@pytest.mark.parametrize("long", [False, True])
def test_how_a_call_ended_is_read_from_its_output(
    session: Callable[..., Any], made: ModuleType, text: str, outcome: Outcome, kept: str | None, long: bool
) -> None:
    if long:
        text = text.replace('\\n"', "\\n" + "y " * 2000 + '"') if text[0] == "{" else text + "\n" + "y " * 2000
        kept = None
    found = session(made.meta(), made.function("c1", 1, '{"cmd":"x"}'), made.output("c1", text, 2))
    (call,) = found.of(Kind.CALL)
    assert call.outcome is outcome
    if kept is not None:
        assert (call.head if outcome is Outcome.OK else call.text) == kept


def test_events_say_what_the_output_does_not(session: Callable[..., Any], made: ModuleType) -> None:
    execution = {"type": "CommandExecution", "id": "c3", "status": "failed", "exit_code": 1}
    found = session(
        made.meta(),
        made.function("c1", 1, "{}"),
        made.codex("event_msg", 2, type="exec_command_end", call_id="c1", exit_code=2),
        made.output("c1", "text", 3),
        made.function("c2", 4, "{}"),
        made.codex("event_msg", 5, type="mcp_tool_call_end", call_id="c2", result={"Err": "gone"}),
        made.output("c2", "text", 6),
        made.function("c3", 7, "{}"),
        made.codex("event_msg", 8, type="item_completed", item=execution),
        made.output("c3", "text", 9),
        made.function("c4", 10, "{}"),
        made.output("c4", {"content": "no", "success": False}, 11),
    )
    assert found.outcomes() == [Outcome.ERROR] * 4


def test_a_patch_and_free_text_arguments_stay_json(session: Callable[..., Any], made: ModuleType) -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n+" + "x" * 9000 + "\n*** End Patch"
    call = made.codex("response_item", 1, type="custom_tool_call", call_id="c1", name="apply_patch", input=patch)
    (event,) = session(made.meta(), call).of(Kind.CALL)
    assert (event.tool, event.outcome) == ("apply_patch", Outcome.OPEN)
    assert json.loads(event.arguments)["input"].startswith("*** Begin Patch\n*** Update File: a.py")
    assert len(event.arguments) <= 4096


def test_an_abort_is_one_interrupt_of_its_turn(session: Callable[..., Any], made: ModuleType) -> None:
    found = session(
        made.meta(),
        made.typed("go", 1),
        made.function("c1", 2, "{}"),
        made.codex("event_msg", 3, type="turn_aborted", reason="interrupted"),
        made.item("user", "<turn_aborted>\n  <reason>interrupted</reason>\n</turn_aborted>", 3),
        made.typed("again", 4),
        made.codex("event_msg", 5, type="turn_aborted", reason="budget_limited"),
    )
    assert [event.author for event in found.of(Kind.INTERRUPT)] == [Author.PERSON, Author.HARNESS]
    assert found.outcomes() == [Outcome.INTERRUPTED]


def test_a_call_out_of_the_sandbox_that_is_not_allowed_is_refused(
    session: Callable[..., Any], made: ModuleType
) -> None:
    asked = '{"cmd":"rm x","sandbox_permissions":"require_escalated"}'
    found = session(
        made.meta(),
        made.typed("go", 1),
        made.function("c1", 2, asked),
        made.typed("leave it", 3),
        made.item("assistant", "ok", 4),
        made.typed("now do it", 5),
        made.function("c2", 6, asked),
        made.codex("event_msg", 7, type="turn_aborted", reason="interrupted"),
    )
    assert found.outcomes() == [Outcome.REFUSED, Outcome.REFUSED]
    assert [(event.text, event.call_id) for event in found.of(Kind.REJECTION)] == [("leave it", "c1")]
    assert found.texts(Kind.PROMPT) == ["go", "now do it"]


def test_cumulative_tokens_are_counted_by_their_differences(session: Callable[..., Any], made: ModuleType) -> None:
    counts = [(100, 100), (100, None), (100, 100), (250, 150), (120, 20)]
    found = session(made.meta(), *(made.tokens(total, last, n) for n, (total, last) in enumerate(counts)))
    assert sum(usage.input for usage in found.usage.values()) == 270


def test_a_response_record_and_its_token_count_are_one(session: Callable[..., Any], made: ModuleType) -> None:
    usage = {"input_tokens": 90, "cached_input_tokens": 40, "output_tokens": 8, "total_tokens": 98}
    found = session(
        made.meta(),
        made.typed("go", 1),
        made.function("c1", 2, "{}"),
        made.codex("token_usage_record", 2, response_id="resp_1", usage=usage),
        made.output("c1", "fine", 3),
        made.tokens(98, 98, 3),
    )
    (spent,) = found.usage.values()
    assert (spent.input, spent.cache_read, spent.output) == (50, 40, 8)
    assert found.of(Kind.CALL)[0].message_id == spent.key


@pytest.mark.parametrize("order", ["before", "behind"])
def test_calls_know_their_message_whether_its_tokens_come_before_or_behind(
    session: Callable[..., Any], made: ModuleType, order: str
) -> None:
    call, count = made.function("c1", 2, "{}"), made.tokens(50, 50, 2)
    said = [count, call] if order == "before" else [call, made.output("c1", "fine", 2), count]
    found = session(made.meta(), made.typed("go", 1), *said)
    (usage,) = found.usage.values()
    assert found.of(Kind.CALL)[0].message_id == usage.key


def test_a_fork_does_not_repeat_its_parents_history(session: Callable[..., Any], made: ModuleType) -> None:
    parent = "01999990-0000-7000-8000-00000000000a"
    found = session(
        made.meta(0, forked_from_id=parent),
        made.meta(0, thread=parent),
        made.typed("old prompt", 0),
        made.item("assistant", "old answer", 0),
        made.tokens(500, 500, 0),
        made.typed("new prompt", 60),
        made.item("assistant", "new answer", 61),
    )
    assert found.texts(Kind.PROMPT, Kind.ANSWER) == ["new prompt", "new answer"]
    assert (found.facts.native_id, found.facts.fork_of) == (made.THREAD, parent)
    assert not found.usage
    assert found.skipped["inherited from the parent"] == 4


def test_turn_ids_tell_the_inherited_part_exactly(session: Callable[..., Any], made: ModuleType) -> None:
    old, new = "01999990-0000-7000-8000-000000000001", "0199999a-0000-7000-8000-000000000002"
    found = session(
        made.meta(0, forked_from_id="01999990-0000-7000-8000-00000000000a"),
        made.codex("event_msg", 0, type="task_started", turn_id=old),
        made.codex("turn_context", 0, turn_id=old, cwd="/old"),
        made.codex("turn_context", 1, turn_id=new, cwd="/new"),
        made.typed("at once", 1),
    )
    assert found.texts(Kind.PROMPT) == ["at once"]
    assert found.facts.cwds == ["/work/shop", "/new"]


@pytest.mark.parametrize(
    ("given", "origin"),
    [
        ({"source": "cli"}, Origin.INTERACTIVE),
        ({"source": "exec", "originator": "codex_exec"}, Origin.HEADLESS),
        ({"source": "mcp"}, Origin.HEADLESS),
        ({"source": {"subagent": "review"}}, Origin.SUBAGENT),
        ({"source": {"subagent": {"thread_spawn": {"depth": 1}}}, "parent_thread_id": "p"}, Origin.SUBAGENT),
        ({"thread_source": "subagent"}, Origin.SUBAGENT),
    ],
)
def test_origins_come_from_fields(
    session: Callable[..., Any], made: ModuleType, given: dict[str, Any], origin: Origin
) -> None:
    found = session(made.meta(0, **given), made.typed("go", 60))
    assert found.facts.origin is origin
    assert bool(found.of(Kind.PROMPT)) is (origin is not Origin.SUBAGENT)


def test_compaction_does_not_bring_old_prompts_back(session: Callable[..., Any], made: ModuleType) -> None:
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "old"}]}]
    compacted = made.codex("compacted", 2, message="", replacement_history=history)
    found = session(made.meta(), made.typed("go", 1), compacted)
    assert found.texts(Kind.PROMPT) == ["go"]
    assert len(found.of(Kind.COMPACTION)) == 1


def test_a_compressed_rollout_is_read_like_a_plain_one(
    write: Write, as_agent: Any, to_lines: Callable[..., bytes], made: ModuleType
) -> None:
    content = to_lines(made.meta(), made.typed("go", 1), made.item("assistant", "done", 2))
    plain = as_agent(write(f"{NAME}.jsonl", content), "codex")
    packed = write(f"packed/{NAME}.jsonl.zst", zstandard.ZstdCompressor(level=3).compress(content))
    assert as_agent(packed, "codex").events == plain.events
    (source,), _, _ = discover_loose([packed])
    assert source.agent == "codex"


def test_a_damaged_compressed_rollout_is_said(
    write: Write, as_agent: Any, to_lines: Callable[..., bytes], made: ModuleType
) -> None:
    content = to_lines(made.meta(), *(made.typed(made.uuid(), n) for n in range(300)))
    packed = bytearray(zstandard.ZstdCompressor(write_checksum=True).compress(content))
    packed[len(packed) // 2 : len(packed) // 2 + 40] = b"\xff" * 40
    found = as_agent(write(f"{NAME}.jsonl.zst", bytes(packed)), "codex")
    assert any("damaged" in trouble.reason for trouble in found.warnings)


def test_of_a_rollout_plain_and_compressed_the_plain_one_counts(tmp_path: Path, write: Write) -> None:
    write(f".codex/archived_sessions/{NAME}.jsonl", b"{}\n")
    write(f".codex/archived_sessions/{NAME}.jsonl.zst", b"x")
    write(".codex/archived_sessions/rollout-other.jsonl.zst", b"x")
    write(".codex/sessions/2026/11/20/rollout-third.jsonl", b"{}\n")
    sources, _ = discover(tmp_path, {}, {"codex"})
    names = [Path(source.path).name for source in sources]
    assert names == ["rollout-third.jsonl", f"{NAME}.jsonl", "rollout-other.jsonl.zst"]


def test_codex_home_moves_the_store(tmp_path: Path, write: Write) -> None:
    write(f"elsewhere/sessions/{NAME}.jsonl", b"{}\n")
    sources, _ = discover(tmp_path, {"CODEX_HOME": str(tmp_path / "elsewhere")}, {"codex"})
    assert len(sources) == 1


def test_what_codex_exec_prints_is_no_rollout(write: Write) -> None:
    path = write("saved.jsonl", b'{"type":"thread.started","thread_id":"x"}\n{"type":"item.completed","item":{}}\n')
    assert discover_loose([path]) == ([], [], [(str(path), "output of `codex exec --json`, not a rollout")])


@pytest.mark.shared
def test_real_ide_prompts_aborts_and_refused_patches(shared: Path, loose: Any, counting: ModuleType) -> None:
    (path,) = (shared / "transcripts/codex/jnarowski__agentcmd/full").glob("*01997e76*.jsonl")
    found = loose(path)
    assert len(found.of(Kind.PROMPT, Kind.REJECTION)) == 13
    assert not [text for text in found.texts(Kind.PROMPT) if "Context from my IDE" in text]
    assert len(found.of(Kind.INTERRUPT)) == 4
    assert found.counts() == counting.count(path)
    total = json.loads(path.read_bytes().rpartition(b'"total_token_usage":')[2].partition(b"}")[0] + b"}")
    spent = sum(usage.input + usage.cache_read + usage.output for usage in found.usage.values())
    assert spent == total["total_tokens"]
    assert {call.message_id for call in found.of(Kind.CALL)} <= found.usage.keys()


@pytest.mark.shared
def test_an_archived_copy_has_the_same_keys(shared: Path, loose: Any) -> None:
    one, other = sorted((shared / "transcripts/codex/jnarowski__agentcmd").rglob("*01997e76*.jsonl"))
    assert loose(one).events == loose(other).events
