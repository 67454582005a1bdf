"""Skills that were offered or opened, and calls that were refused, as the agents of late 2026 write them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillopt_harvesters import Author, Kind, Origin, Outcome

Session = Callable[..., Any]
ROLLOUT = "rollout-2026-11-20T10-00-00-01999999-0000-7000-8000-000000000001.jsonl"
SKILLS = """<skills_instructions>
## Skills
### Skill roots
- `r0` = `/home/ada/.codex/skills/.system`
### Available skills
- imagegen: Make images (file: not this) from words. (file: r0/imagegen/SKILL.md)
- heading-rule: Which heading a report needs. (file: r1/heading-rule/SKILL.md)
</skills_instructions>
- after: Nothing that stands behind it. (file: r1/after/SKILL.md)"""
LISTED = """<skill>
<available_skills>
<skill>
  <name>heading-rule</name>
  <description>Which heading a report needs, <name>not-this</name>.</description>
</skill>
</available_skills>
<skill>
  <name>behind</name>"""
ESCALATED = '{"cmd": "python3 tidy.py", "sandbox_permissions": "require_escalated"}'
NEVER = "approval policy is Never; reject command — you cannot ask for escalated permissions if it is"
ABORTED = "Wall time: 2.9 seconds\naborted by user"
BY_RULE = (
    'exec_command failed: CreateProcess { message: "Rejected(\\"`rm -rf x` rejected: rm -f is not permitted\\")" }'
)


@pytest.fixture
def codex(write: Callable[[str, bytes], Path], as_agent: Any, to_lines: Callable[..., bytes]) -> Session:
    return lambda *records: as_agent(write(ROLLOUT, to_lines(*records)), "codex")


@pytest.fixture
def copilot(
    write: Callable[[str, bytes], Path], as_agent: Any, to_lines: Callable[..., bytes], made: ModuleType
) -> Session:
    path = f"session-state/{made.SESSION}/events.jsonl"
    return lambda *records: as_agent(write(path, to_lines(*records)), "copilot-cli")


@pytest.fixture
def claude(write: Callable[[str, bytes], Path], as_agent: Any, to_lines: Callable[..., bytes]) -> Session:
    return lambda *records: as_agent(write("s.jsonl", to_lines(*records)), "claude-code")


def offered(found: Any) -> list[str]:
    return [event.tool for event in found.of(Kind.SKILL) if event.head == "offered"]


def test_codex_offers_the_skills_that_its_developer_message_lists(codex: Session, made: ModuleType) -> None:
    found = codex(
        made.meta(), made.item("developer", SKILLS, 1), made.typed("go", 2), made.item("developer", SKILLS, 3)
    )
    assert offered(found) == ["imagegen", "heading-rule"]


def test_copilot_offers_the_skills_that_its_system_message_lists(copilot: Session, made: ModuleType) -> None:
    aside = made.copilot("system.message", 2, content=LISTED.replace("heading-rule", "of-the-helper"), agentId="a1")
    found = copilot(made.started(), made.copilot("system.message", 1, content=LISTED), aside)
    assert offered(found) == ["heading-rule"]


def test_a_skill_that_copilot_opened_is_opened_once_and_its_text_is_known(copilot: Session, made: ModuleType) -> None:
    found = copilot(
        made.started(),
        made.asks("c1", 1, {"skill": "heading-rule"}, tool="skill"),
        made.finished("c1", 2, 'Skill "heading-rule" loaded successfully.'),
        made.copilot("skill.invoked", 3, name="heading-rule", path="/w/heading-rule/SKILL.md", content="Begin so.\n"),
        made.copilot("skill.context_delivered_ref", 4, source="skill-heading-rule"),
        made.copilot("skill.invoked", 5, name="by-hand", path="/w/by-hand/SKILL.md", content="Do so.\n"),
    )
    assert [(event.tool, event.author) for event in found.of(Kind.SKILL)] == [
        ("heading-rule", Author.AGENT),
        ("by-hand", Author.HARNESS),
    ]
    assert all(event.output_digest for event in found.of(Kind.SKILL))
    assert not found.warnings


def test_a_call_that_waited_for_leave_and_was_aborted_was_refused_and_the_next_prompt_says_why(
    codex: Session, made: ModuleType
) -> None:
    found = codex(
        made.meta(),
        made.typed("tidy up", 1),
        made.function("c1", 2, ESCALATED),
        made.output("c1", ABORTED, 5),
        made.codex("event_msg", 5, type="turn_aborted", reason="interrupted"),
        made.typed("keep it", 6),
    )
    assert found.outcomes() == [Outcome.REFUSED]
    (words,) = found.of(Kind.REJECTION)
    assert (words.text, words.call_id) == ("keep it", "c1")
    assert found.texts(Kind.PROMPT) == ["tidy up"]


def test_a_call_that_needed_no_leave_and_was_aborted_was_interrupted(codex: Session, made: ModuleType) -> None:
    call = made.function("c1", 2, '{"cmd": "sleep 60"}')
    found = codex(made.meta(), made.typed("wait", 1), call, made.output("c1", ABORTED, 5), made.typed("go on", 6))
    assert found.outcomes() == [Outcome.INTERRUPTED]
    assert found.texts(Kind.PROMPT) == ["wait", "go on"]


def test_output_that_speaks_of_an_abort_is_output(codex: Session, made: ModuleType) -> None:
    text = "Chunk ID: x\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nlog:\naborted by user\n"
    call = made.function("c1", 2, ESCALATED)
    found = codex(made.meta(), made.typed("read", 1), call, made.output("c1", text, 3))
    assert found.outcomes() == [Outcome.OK]


@pytest.mark.parametrize("words", [BY_RULE, NEVER])
def test_a_command_that_codex_forbids_was_denied_by_a_rule(codex: Session, made: ModuleType, words: str) -> None:
    call = made.function("c1", 2, ESCALATED)
    found = codex(made.meta(), made.typed("tidy up", 1), call, made.output("c1", words, 3))
    assert found.outcomes() == [Outcome.DENIED]


def test_nobody_interrupts_a_sub_agent_but_the_program(codex: Session, made: ModuleType) -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "p", "depth": 1}}}
    found = codex(
        made.meta(source=source, thread_source="subagent"),
        made.typed("count", 1),
        made.function("c1", 2, ESCALATED),
        made.output("c1", ABORTED, 5),
        made.codex("event_msg", 5, type="turn_aborted", reason="interrupted"),
    )
    assert found.outcomes() == [Outcome.INTERRUPTED]
    assert [event.author for event in found.of(Kind.INTERRUPT)] == [Author.HARNESS]


@pytest.mark.parametrize(("client", "origin"), [("sdk", Origin.HEADLESS), ("github/cli", Origin.INTERACTIVE)])
def test_a_copilot_session_that_a_program_drives_is_headless(
    copilot: Session, write: Callable[[str, bytes], Path], made: ModuleType, client: str, origin: Origin
) -> None:
    write(f"session-state/{made.SESSION}/workspace.yaml", f"cwd: /work/shop\nclient_name: {client}\n".encode())
    found = copilot(made.started(), made.copilot("user.message", 1, content="go"))
    assert found.facts.origin is origin


@pytest.mark.parametrize(
    ("text", "more", "outcome"),
    [
        ("This command requires approval", {"toolDenialKind": "user-rejected"}, Outcome.DENIED),
        ("Not now.", {"toolDenialKind": "user-rejected"}, Outcome.REFUSED),
        ("Not now.", {"toolDenialKind": "user-rejected", "permissionDecision": {"source": "config"}}, Outcome.DENIED),
        ("Not now.", {"toolDenialKind": "user-rejected", "permissionDecision": {"source": "user"}}, Outcome.REFUSED),
        ("Not now.", {"toolDenialKind": "permission-rule"}, Outcome.DENIED),
        ("Not now.", {"toolDenialKind": "interrupted"}, Outcome.INTERRUPTED),
        ("Not now.", {}, Outcome.ERROR),
        ("Dangerous rm operation detected: '/x'", {}, Outcome.DENIED),
    ],
)
def test_claude_code_says_of_a_denial_whose_it_is(
    claude: Session, made: ModuleType, text: str, more: dict[str, Any], outcome: Outcome
) -> None:
    call = made.calls("Bash", "toolu_1", 2, {"command": "x"})
    found = claude(made.user("go", 1), call, made.gives("toolu_1", text, 3, error=True, **more))
    assert found.outcomes() == [outcome]


def test_what_claude_code_sends_to_the_model_is_no_part_of_the_conversation(claude: Session, made: ModuleType) -> None:
    """From 2.1.33x on it writes down its requests: they repeat all of the conversation."""
    sent = {"type": "api-request-blob", "sessionId": made.SESSION, "message": {"role": "user", "content": "go"}}
    request = {"type": "api-request", "sessionId": made.SESSION, "thread": []}
    shape = {"type": "api-request-shape", "sessionId": made.SESSION, "shape": {}}
    cost = {"type": "cost-state", "sessionId": made.SESSION}
    found = claude(made.user("go", 1), shape, sent, request, cost, made.says("done", 2))
    assert found.texts(Kind.PROMPT) == ["go"]
    assert not found.warnings
