"""Copilot CLI: the folder, the flat file and the oldest document; what was typed, what was injected."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillopt_harvesters import Author, Kind, Origin, Outcome, discover

Write = Callable[[str, bytes], Path]


@pytest.fixture
def session(write: Write, as_agent: Any, to_lines: Callable[..., bytes], made: ModuleType) -> Callable[..., Any]:
    path = f"session-state/{made.SESSION}/events.jsonl"
    return lambda *records: as_agent(write(path, to_lines(*records)), "copilot-cli")


def test_only_what_a_person_typed_is_a_prompt(session: Callable[..., Any], made: ModuleType) -> None:
    found = session(
        made.started(),
        made.copilot("user.message", 1, content="fix it", transformedContent="<current_datetime>x\n\nfix it"),
        made.copilot("user.message", 2, content="note", source="instruction-discovery"),
        made.copilot("user.message", 3, content="go on", isAutopilotContinuation=True),
        made.copilot("user.message", 4, content="look", agentId="a1"),
        made.copilot("user.message", 5, content="", delivery="steering", source="system"),
        made.copilot("user.message", 6, content="use pnpm", delivery="steering"),
        made.copilot("hook.start", 7, input={"prompt": "fix it"}),
    )
    assert found.texts(Kind.PROMPT) == ["fix it"]
    assert found.texts(Kind.QUEUED) == ["use pnpm"]


def test_a_shell_that_exits_badly_failed_though_its_tool_succeeded(
    session: Callable[..., Any], made: ModuleType
) -> None:
    found = session(
        made.started(),
        made.asks("c1", 1, {"command": "make"}),
        made.finished("c1", 2, "no rule\n<shellId: 0 completed with exit code 2>", shellExecution={"exitCode": 2}),
        made.asks("c2", 3, {"command": "make"}),
        made.finished("c2", 4, "no rule\n<exited with exit code 2>"),
        made.asks("c3", 5, {"command": "true"}),
        made.finished("c3", 6, "\n<shellId: 1 completed with exit code 0>"),
        made.asks("c4", 7, {"command": "cat"}),
        made.finished("c4", 8, "long line\n" * 500 + "<exited with exit code 1>"),
        made.asks("c5", 9, {"command": "cat"}),
        made.finished("c5", 10, "long line\n" * 500 + "<exited with exit code 0>"),
        made.asks("c6", 11, {"path": "x"}, tool="view"),
        made.copilot("tool.execution_complete", 12, toolCallId="c6", success=False, error={"message": "no file"}),
        made.asks("c7", 13, {"command": "cat"}),
        made.finished("c7", 14, "long line\n" * 500, shellExecution={"exitCode": 3}),
    )
    error, ok = Outcome.ERROR, Outcome.OK
    assert found.outcomes() == [error, error, ok, error, ok, error, error]
    calls = found.of(Kind.CALL)
    assert (calls[0].text, calls[2].head, calls[5].text) == ("no rule", "", "no file")
    assert calls[4].head.startswith("long line")


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [
        ("denied-interactively-by-user", Outcome.REFUSED),
        ("denied-by-rules", Outcome.DENIED),
        ("denied-no-approval-rule-and-could-not-request-from-user", Outcome.DENIED),
        ("denied-by-content-exclusion-policy", Outcome.DENIED),
    ],
)
def test_a_denial_by_rules_is_no_refusal_by_the_person(
    session: Callable[..., Any], made: ModuleType, kind: str, outcome: Outcome
) -> None:
    found = session(
        made.started(),
        made.asks("c1", 1, {"command": "rm x"}),
        made.copilot("permission.requested", 2, requestId="r1", permissionRequest={"toolCallId": "c1"}),
        made.copilot("permission.completed", 3, requestId="r1", result={"kind": kind}),
        made.copilot("tool.execution_complete", 4, toolCallId="c1", success=False, error={"message": "not allowed"}),
        made.copilot("user.message", 5, content="keep x"),
    )
    (call,) = found.of(Kind.CALL)
    assert (call.outcome, call.text) == (outcome, "not allowed")
    refused = outcome is Outcome.REFUSED
    assert found.texts(Kind.REJECTION) == (["keep x"] if refused else [])


def test_feedback_at_a_refusal_is_the_reason(session: Callable[..., Any], made: ModuleType) -> None:
    answer = {"kind": "denied-interactively-by-user", "feedback": "use make clean"}
    found = session(
        made.started(),
        made.asks("c1", 1, {"command": "rm x"}),
        made.copilot("permission.completed", 3, toolCallId="c1", result=answer),
        made.copilot("user.message", 5, content="go on"),
    )
    assert [(event.text, event.call_id) for event in found.of(Kind.REJECTION)] == [("use make clean", "c1")]
    assert found.texts(Kind.PROMPT) == ["go on"]


def test_an_abort_is_an_interrupt(session: Callable[..., Any], made: ModuleType) -> None:
    found = session(
        made.started(),
        made.asks("c1", 1, {"command": "sleep 9"}),
        made.copilot("abort", 2, reason="user_initiated"),
        made.copilot("abort", 3, reason="autopilot_credit_limit"),
    )
    assert [event.author for event in found.of(Kind.INTERRUPT)] == [Author.PERSON, Author.HARNESS]
    assert found.outcomes() == [Outcome.INTERRUPTED]


def test_sub_agents_calls_bear_their_agent(session: Callable[..., Any], made: ModuleType) -> None:
    inner = made.asks("c2", 2, {"pattern": "x"}, tool="grep", text="looking")
    inner["data"]["parentToolCallId"] = "c1"
    found = session(made.started(), made.asks("c1", 1, {"prompt": "look"}, tool="task"), inner)
    assert [call.agent_id for call in found.of(Kind.CALL)] == ["", "c1"]
    assert not found.of(Kind.ANSWER)


def test_a_headless_session_is_told_by_its_system_message(session: Callable[..., Any], made: ModuleType) -> None:
    def run(text: str) -> Origin:
        told = made.copilot("system.message", 1, content="You are the CLI. " + text)
        return Origin(session(made.started(), told).facts.origin)

    assert run("You are running in non-interactive mode and have no way to communicate.") is Origin.HEADLESS
    assert run("You are an interactive CLI tool.") is Origin.INTERACTIVE
    assert run("x" * 3000 + "non-interactive mode") is Origin.INTERACTIVE


def test_tokens_are_counted_once_whatever_says_them(session: Callable[..., Any], made: ModuleType) -> None:
    record = {"model": "m", "inputTokens": 100, "outputTokens": 8, "cacheReadTokens": 60, "apiCallId": "api1"}
    totals = {"m": {"usage": {"inputTokens": 100, "outputTokens": 8, "cacheReadTokens": 60}}}
    said = made.copilot("assistant.message", 2, content="x", apiCallId="api1", messageId="m1", outputTokens=8)
    new = session(
        made.started(),
        made.copilot("session.usage_record", 1, usage=record),
        said,
        made.copilot("session.shutdown", 3, modelMetrics=totals),
    )
    (usage,) = new.usage.values()
    assert (usage.input, usage.cache_read, usage.output) == (40, 60, 8)
    assert new.of(Kind.ANSWER)[0].message_id == usage.key
    old = session(made.started(), said, made.copilot("session.shutdown", 3, modelMetrics=totals))
    spent = old.usage.values()
    assert sum(u.output for u in spent) == 8
    assert sum(u.input + u.cache_read for u in spent) == 100


def test_an_opened_skill_is_an_event(session: Callable[..., Any], made: ModuleType) -> None:
    invoked = made.copilot("skill.invoked", 1, name="pdf", path="/s/pdf/SKILL.md", content="Fill the form.")
    found = session(
        made.started(),
        invoked,
        made.asks("c1", 2, {"path": "/w/.github/skills/release/SKILL.md"}, tool="view"),
        made.finished("c1", 3, "# Release"),
    )
    assert [(event.tool, event.head) for event in found.of(Kind.SKILL)] == [("pdf", "opened"), ("release", "opened")]


def test_the_place_of_a_session_is_known(session: Callable[..., Any], made: ModuleType, write: Write) -> None:
    write(f"session-state/{made.SESSION}/workspace.yaml", b"id: x\ncwd: /work/shop/api\ngit_root: /work/shop\n")
    found = session(
        made.copilot("session.start", 0, sessionId=made.SESSION, copilotVersion="1.0.11"),
        made.copilot("session.context_changed", 1, cwd="/work/other", gitRoot="/work/other", branch="fix"),
    )
    assert found.facts.cwds == ["/work/shop/api", "/work/other"]
    assert (found.facts.git_root, found.facts.branch, found.facts.native_id) == ("/work/shop", "fix", made.SESSION)


def test_a_fork_shares_the_keys_of_its_events(
    write: Write, as_agent: Any, to_lines: Callable[..., bytes], made: ModuleType
) -> None:
    told = [made.copilot("user.message", 1, content="go"), made.asks("c1", 2, {"command": "ls"})]
    other = made.started()
    other["data"]["sessionId"] = "99999999-2222-4333-8444-555555555555"
    first = as_agent(write("session-state/a/events.jsonl", to_lines(made.started(), *told)), "copilot-cli")
    second = as_agent(write("session-state/b/events.jsonl", to_lines(other, *told)), "copilot-cli")
    assert first.events.keys() == second.events.keys()


def test_only_sessions_are_found_and_not_the_files_of_a_session(tmp_path: Path, write: Write) -> None:
    write(".copilot/session-state/a/events.jsonl", b"{}\n")
    write(".copilot/session-state/a/files/data.jsonl", b"{}\n")
    write(".copilot/session-state/a/research/x/events.jsonl", b"{}\n")
    write(".copilot/session-state/flat.jsonl", b"{}\n")
    write(".copilot/history-session-state/old.json", b"{}")
    sources, trouble = discover(tmp_path, {}, {"copilot-cli"})
    base = tmp_path / ".copilot"
    found = [str(Path(source.path).relative_to(base)) for source in sources]
    assert found == ["session-state/flat.jsonl", "session-state/a/events.jsonl", "history-session-state/old.json"]
    assert not trouble


def test_a_linked_older_place_is_not_read_twice(tmp_path: Path, write: Write) -> None:
    write(".copilot/session-state/a/events.jsonl", b"{}\n")
    (tmp_path / "state").mkdir()
    (tmp_path / "state/.copilot").symlink_to(tmp_path / ".copilot")
    sources, _ = discover(tmp_path, {"XDG_STATE_HOME": str(tmp_path / "state")}, {"copilot-cli"})
    assert len(sources) == 1


def test_the_oldest_documents_are_read(write: Write, loose: Any) -> None:
    document = {
        "sessionId": "s1",
        "startTime": "2025-10-01T10:00:00Z",
        "timeline": [
            {"type": "user", "text": "go", "timestamp": "2025-10-01T10:00:01Z"},
            {
                "type": "tool_call_completed",
                "callId": "c1",
                "name": "bash",
                "arguments": {"command": "ls"},
                "result": {"type": "failure", "log": "no"},
            },
            {"type": "copilot", "text": "done"},
        ],
    }
    found = loose(write("history-session-state/s1.json", json.dumps(document).encode()))
    assert (found.texts(Kind.PROMPT), found.texts(Kind.ANSWER)) == (["go"], ["done"])
    assert found.outcomes() == [Outcome.ERROR]


@pytest.mark.shared
def test_a_real_session_has_its_two_prompts(shared: Path, loose: Any, counting: ModuleType) -> None:
    path = shared / "transcripts/copilot-cli/JeffreyCA__azure-dev_entire/0/full.jsonl"
    found = loose(path)
    assert len(found.of(Kind.PROMPT)) == 2
    assert found.skipped["injected: system"] == found.skipped["injected: instruction-discovery"] == 1
    assert found.counts() == counting.count(path)
    assert found.facts.branch == "fix/windows-test-flakiness"


@pytest.mark.shared
def test_a_truncated_record_costs_itself(shared: Path, loose: Any) -> None:
    (path,) = (shared / "transcripts/copilot-vscode").rglob("cli_truncated_resume.events.jsonl")
    found = loose(path)
    assert (len(found.of(Kind.PROMPT)), len(found.of(Kind.ANSWER))) == (1, 1)
    assert [trouble.line for trouble in found.warnings] == [2]
