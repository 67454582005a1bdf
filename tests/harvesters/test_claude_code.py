"""Claude Code: who typed what, how each call ended, what each message cost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillopt_harvesters import Author, Kind, Origin, Outcome

Write = Callable[[str, bytes], Path]
Session = Callable[..., Any]


@pytest.fixture
def session(write: Write, as_agent: Any, to_lines: Callable[..., bytes], made: ModuleType) -> Session:
    """Reads records as one session's file."""

    def read(*records: Any, name: str = made.SESSION) -> Any:
        return as_agent(write(f"{name}.jsonl", to_lines(*records)), "claude-code")

    return read


def test_only_what_a_person_typed_is_a_prompt(session: Session, made: ModuleType) -> None:
    injected = [
        made.user("This session is being continued from a previous conversation …", 1, isCompactSummary=True),
        made.user("Base directory for this skill: /s/pdf\n\nRead the form.", 2, isMeta=True),
        made.user("<task-notification>\n<task-id>1</task-id>", 3),
        made.user("<local-command-stdout>ok</local-command-stdout>", 4),
        made.user("<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>", 5),
        made.user("look around", 6, isSidechain=True),
        made.user("[Request interrupted by user]", 7),
        made.user("Operation stopped by hook: busy", 8),
        made.user("from another", 9, origin={"kind": "peer"}),
        made.user([{"type": "text", "text": "<system-reminder>\nnote\n</system-reminder>"}], 10),
        made.user("Stop hook feedback:\nrun the tests", 11),
        made.user("", 12),
    ]
    found = session(made.user("split the module", 0), *injected, made.user("yes", 20))
    assert found.texts(Kind.PROMPT) == ["split the module", "yes"]
    assert [event.author for event in found.of(Kind.INTERRUPT)] == [Author.PERSON]


def test_tags_are_cut_out_and_the_rest_of_a_prompt_is_kept(session: Session, made: ModuleType) -> None:
    parts = [
        {"type": "text", "text": "<ide_opened_file>The user opened a.py</ide_opened_file>"},
        {"type": "text", "text": "rename it <system-reminder>todo list</system-reminder>please"},
    ]
    found = session(made.user(parts, 0), made.user("<ide_selection>lines</ide_selection>and this", 1))
    assert found.texts(Kind.PROMPT) == ["rename it please", "and this"]


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("<command-name>/review</command-name>\n<command-message>review</command-message>", "/review"),
        (
            "<command-message>fix</command-message><command-name>/fix</command-name><command-args>a</command-args>",
            "/fix a",
        ),
        ("<bash-input>git fetch</bash-input>", "!git fetch"),
    ],
)
def test_a_command_is_what_was_typed_and_not_what_it_unfolds_to(
    session: Session, made: ModuleType, text: str, typed: str
) -> None:
    found = session(made.user(text, 0), made.user("Review everything …", 1, isMeta=True))
    assert found.texts(Kind.COMMAND) == [typed]
    assert not found.of(Kind.PROMPT)


def test_a_command_that_stands_in_a_system_record_is_found(session: Session, made: ModuleType) -> None:
    text = "<command-name>/model</command-name><command-args>x</command-args>"
    found = session(made.claude("system", 0, subtype="local_command", content=text))
    assert found.texts(Kind.COMMAND) == ["/model x"]


def test_a_refusal_with_words_is_a_rejection_of_its_call(session: Session, made: ModuleType) -> None:
    found = session(
        made.user("clean up", 0),
        made.calls("Bash", "toolu_1", 1, {"command": "rm -r build"}),
        made.gives("toolu_1", made.refusal("use make clean"), 2, True, "Error: no"),
    )
    (call,) = found.of(Kind.CALL)
    (words,) = found.of(Kind.REJECTION)
    assert call.outcome is Outcome.REFUSED
    assert (words.text, words.call_id, words.author) == ("use make clean", "toolu_1", Author.PERSON)


def test_the_next_prompt_is_the_reason_of_a_refusal_without_words(session: Session, made: ModuleType) -> None:
    found = session(
        made.calls("Bash", "toolu_1", 1, {"command": "rm -r build"}),
        made.gives("toolu_1", made.WORDLESS, 2, True, "User rejected tool use"),
        made.user([{"type": "text", "text": made.FOR_TOOL_USE}], 2),
        made.user("use make clean", 9, origin={"kind": "human"}),
        made.says("right", 10),
        made.user("thanks", 11, origin={"kind": "human"}),
    )
    assert [(e.text, e.call_id) for e in found.of(Kind.REJECTION)] == [("use make clean", "toolu_1")]
    assert found.texts(Kind.PROMPT) == ["thanks"]


@pytest.mark.parametrize("between", ["answer", "half an hour"])
def test_a_prompt_that_is_plainly_new_is_no_reason(session: Session, made: ModuleType, between: str) -> None:
    answer = [made.says("what now?", 3)] if between == "answer" else []
    second = 4 if answer else 1500
    found = session(
        made.calls("Bash", "toolu_1", 1, {"command": "rm -r build"}),
        made.gives("toolu_1", made.WORDLESS, 2, True),
        *answer,
        made.user("write the changelog", second),
    )
    assert found.texts(Kind.PROMPT) == ["write the changelog"]
    assert not found.of(Kind.REJECTION)


def test_a_plan_approved_with_a_fresh_context_was_not_refused(session: Session, made: ModuleType) -> None:
    found = session(
        made.calls("ExitPlanMode", "toolu_1", 1, {"plan": "do it"}),
        made.gives("toolu_1", made.WORDLESS, 2, True),
        made.user(made.FOR_TOOL_USE, 2),
        made.user("Implement the following plan:\n\n# do it", 3, planContent="# do it"),
    )
    assert found.outcomes() == [Outcome.OK]
    assert not found.of(Kind.PROMPT, Kind.REJECTION)
    (plan,) = found.of(Kind.FEEDBACK)
    assert (plan.author, plan.head, plan.text) == (Author.AGENT, "plan approved", "# do it")


def test_words_of_the_program_behind_a_refusal_are_nobodys(session: Session, made: ModuleType) -> None:
    asked = made.refusal("The user wants to clarify these questions.\n    …\n(No answer provided)")
    found = session(
        made.calls("AskUserQuestion", "toolu_1", 1, {}),
        made.gives("toolu_1", asked, 2, True),
        made.user("both", 3),
    )
    assert [(e.text, e.key.endswith(":words")) for e in found.of(Kind.REJECTION)] == [("both", False)]


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Exit code 1\nno such file", Outcome.ERROR),
        ("<tool_use_error>File has not been read yet.</tool_use_error>", Outcome.ERROR),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", Outcome.CASCADE),
        ("Permission to use Bash with command rm has been denied.", Outcome.DENIED),
        ("Claude requested permissions to write to a, but you haven't granted it yet.", Outcome.DENIED),
        ("User chose to stay in plan mode and continue planning", Outcome.REFUSED),
        ("<error>Command was aborted before completion</error>", Outcome.INTERRUPTED),
    ],
)
def test_a_failure_is_told_from_a_denial_a_cascade_and_a_refusal(
    session: Session, made: ModuleType, text: str, outcome: Outcome
) -> None:
    found = session(made.calls("Bash", "toolu_1", 1, {}), made.gives("toolu_1", text, 2, True))
    (call,) = found.of(Kind.CALL)
    assert call.outcome is outcome
    assert call.text == text.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")


def test_an_ok_result_is_merged_into_its_call(session: Session, made: ModuleType) -> None:
    text = "one line\n" * 400
    found = session(
        made.calls("Read", "toolu_1", 1, {"file_path": "/work/shop/a.py"}),
        made.gives("toolu_1", text, 2),
        made.calls("Read", "toolu_2", 3, {"file_path": "/work/shop/a.py"}),
        made.gives("toolu_2", text, 4),
    )
    first, second = found.of(Kind.CALL)
    assert (first.outcome, first.tool, first.text) == (Outcome.OK, "Read", "")
    assert json.loads(first.arguments) == {"file_path": "/work/shop/a.py"}
    assert first.output_length == len(json.dumps(text)) - 2
    assert first.output_digest == second.output_digest
    assert 200 < len(first.head) <= 256
    assert text.startswith(first.head.removesuffix("…"))


def test_structured_results_tell_of_interruption_exit_codes_and_answers(session: Session, made: ModuleType) -> None:
    found = session(
        made.calls("Bash", "toolu_1", 1, {}),
        made.gives("toolu_1", "half", 2, structured={"stdout": "half", "interrupted": True}),
        made.calls("Bash", "toolu_2", 3, {}),
        made.gives("toolu_2", "", 4, structured={"stdout": "", "returnCodeInterpretation": "No matches found"}),
        made.calls("AskUserQuestion", "toolu_3", 5, {}),
        made.gives("toolu_3", "User has answered …", 6, structured={"answers": {"Which?": "the second"}}),
    )
    interrupted, searched, asked = found.of(Kind.CALL)
    assert (interrupted.outcome, searched.head, asked.outcome) == (Outcome.INTERRUPTED, "No matches found", Outcome.OK)
    assert [(e.author, e.text) for e in found.of(Kind.FEEDBACK)] == [(Author.PERSON, "Which? the second")]


def test_an_open_call_is_given_open_and_again_when_its_result_comes(
    write: Write, as_agent: Any, to_lines: Callable[..., bytes], made: ModuleType
) -> None:
    path = write(f"{made.SESSION}.jsonl", to_lines(made.calls("Bash", "toolu_1", 1, {"command": "make"})))
    first = as_agent(path, "claude-code")
    assert first.outcomes() == [Outcome.OPEN]
    path.write_bytes(path.read_bytes() + to_lines(made.gives("toolu_1", "fine", 2)))
    second = as_agent(path, "claude-code", first.cursor)
    assert second.outcomes() == [Outcome.OK]
    assert first.events.keys() == second.events.keys()


def test_an_interrupt_takes_the_open_calls_with_it(session: Session, made: ModuleType) -> None:
    found = session(made.calls("Bash", "toolu_1", 1, {}), made.user("[Request interrupted by user]", 2))
    assert found.outcomes() == [Outcome.INTERRUPTED]
    assert not found.texts(Kind.PROMPT)


def test_the_answer_is_the_last_text_of_a_turn(session: Session, made: ModuleType) -> None:
    found = session(
        made.user("first", 0),
        made.says("looking", 1, "msg_a0000000000000000000"),
        made.says("done", 2, "msg_b0000000000000000000"),
        made.says("indeed", 3, "msg_b0000000000000000000"),
        made.user("second", 4),
        made.says("also done", 5, "msg_c0000000000000000000"),
    )
    assert found.texts(Kind.ANSWER) == ["done\nindeed", "also done"]


def test_a_message_over_several_lines_costs_what_its_last_line_says(session: Session, made: ModuleType) -> None:
    found = session(*(made.says("x", n, "m1", output) for n, output in enumerate((9, 9, 159))))
    (usage,) = found.usage.values()
    assert (usage.output, usage.input, usage.cache_read, usage.cache_write) == (159, 7, 3, 2)
    assert usage.key == found.of(Kind.ANSWER)[0].message_id


def test_numbers_that_are_none_of_tokens_are_left_out(session: Session, made: ModuleType) -> None:
    found = session(made.says("x", 1, "m1", 10**30), made.says("y", 2, "m2", 4))
    assert [usage.output for usage in found.usage.values()] == [4]
    assert found.skipped["impossible tokens"] == 1


def test_a_queued_prompt_is_taken_once(session: Session, made: ModuleType) -> None:
    shown = {"type": "queued_command", "prompt": "and the docs", "origin": {"kind": "human"}}
    found = session(
        made.user("go", 0),
        made.queue("enqueue", 1, "stop"),
        made.queue("remove", 2),
        made.queue("enqueue", 3, "and the docs"),
        made.queue("remove", 4),
        made.claude("attachment", 5, attachment=shown),
        made.queue("enqueue", 6, "next"),
        made.queue("dequeue", 7),
        made.user("next", 7),
        made.queue("enqueue", 8, "not yet"),
        made.queue("popAll", 9, "not yet"),
        made.queue("enqueue", 10, "<task-notification>x"),
        made.queue("enqueue", 11, "/help"),
        made.queue("enqueue", 12, "never taken out"),
        made.queue("remove", 13, "steered without being enqueued"),
    )
    assert found.texts(Kind.QUEUED) == ["stop", "and the docs", "never taken out", "steered without being enqueued"]
    assert found.texts(Kind.PROMPT) == ["go", "next"]


def test_a_queued_prompt_given_too_soon_is_withdrawn(
    write: Write, as_agent: Any, to_lines: Callable[..., bytes], made: ModuleType, reading: Any
) -> None:
    path = write(f"{made.SESSION}.jsonl", to_lines(made.queue("enqueue", 1, "next")))
    first = as_agent(path, "claude-code")
    assert first.texts(Kind.QUEUED) == ["next"]
    path.write_bytes(path.read_bytes() + to_lines(made.queue("dequeue", 2), made.user("next", 2)))
    second = as_agent(path, "claude-code", first.cursor)
    (queued,) = first.of(Kind.QUEUED)
    assert second.texts(Kind.PROMPT, Kind.QUEUED) == ["next"]
    assert queued.key not in second.events


def test_a_history_that_is_written_again_is_the_same_history(session: Session, made: ModuleType) -> None:
    name = "toolu_01ABCDEFGHIJKLMNOPQR"
    told = [made.user("go", 0), made.calls("Bash", name, 1, {}), made.gives(name, "ok", 2), made.user("more", 3)]
    again = [{**record, "uuid": made.uuid()} for record in told]
    assert len(session(*told, *again).events) == len(session(*told).events) == 3


def test_a_copied_session_shares_the_keys_of_its_events(
    write: Write, as_agent: Any, to_lines: Callable[..., bytes], made: ModuleType
) -> None:
    told = [made.user("go", 0), made.says("done", 1), made.calls("Bash", "toolu_1", 2, {"command": "ls"})]
    other = "99999999-2222-4333-8444-555555555555"
    copied = [{**record, "sessionId": other, "timestamp": made.at(500)} for record in told]
    first = as_agent(write(f"{made.SESSION}.jsonl", to_lines(*told)), "claude-code")
    second = as_agent(write(f"{other}.jsonl", to_lines(told[0], *copied[1:])), "claude-code")
    assert first.events.keys() == second.events.keys()
    assert (second.facts.native_id, second.facts.fork_of) == (other, made.SESSION)


def test_a_loose_copy_is_the_session_that_most_of_its_records_name(session: Session, made: ModuleType) -> None:
    other = made.user("x", 0, sessionId="aaaaaaaa-0000-4000-8000-000000000000")
    found = session(other, made.user("y", 1), made.user("z", 2), name="full")
    assert found.facts.native_id == made.SESSION
    named = session(made.user("y", 1), name=f"2026-11-20T10-00__{made.SESSION}")
    assert named.facts.native_id == made.SESSION


def test_origins_come_from_fields(session: Session, made: ModuleType) -> None:
    assert session(made.user("go", 0)).facts.origin is Origin.INTERACTIVE
    assert session(made.user("go", 0, entrypoint="sdk-cli", promptSource="sdk")).facts.origin is Origin.HEADLESS
    aside = session(made.user("look", 0, isSidechain=True, agentId="a1"), name="agent-a1")
    assert (aside.facts.origin, aside.facts.parent) == (Origin.SUBAGENT, made.SESSION)
    assert not aside.of(Kind.PROMPT)


def test_a_sub_agent_inside_its_parents_file_has_calls_and_no_prompts(session: Session, made: ModuleType) -> None:
    found = session(
        made.user("go", 0),
        made.user("look for it", 1, isSidechain=True),
        made.calls("Grep", "toolu_1", 2, {"pattern": "x"}, isSidechain=True, agentId="a1"),
        made.says("found it", 3, isSidechain=True),
        made.says("here", 4),
    )
    assert found.texts(Kind.PROMPT) == ["go"]
    assert [call.agent_id for call in found.of(Kind.CALL)] == ["a1"]
    assert found.texts(Kind.ANSWER) == ["here"]
    assert found.facts.origin is Origin.INTERACTIVE


def test_skills_offered_and_opened_are_events(session: Session, made: ModuleType) -> None:
    found = session(
        made.claude("attachment", 0, attachment={"type": "skill_listing", "names": ["pdf", "commit"]}),
        made.calls("Skill", "toolu_1", 1, {"skill": "pdf"}),
        made.gives("toolu_1", "Launching skill: pdf", 2),
        made.user(
            [{"type": "text", "text": "Base directory for this skill: /s/pdf\n\nFill the form."}],
            3,
            isMeta=True,
            sourceToolUseID="toolu_1",
        ),
        made.calls("Read", "toolu_2", 4, {"file_path": "/work/shop/.claude/skills/release/SKILL.md"}),
        made.gives("toolu_2", "# Release", 5),
        made.calls("Edit", "toolu_3", 6, {"file_path": "/work/shop/.claude/skills/release/SKILL.md"}),
        made.gives("toolu_3", "edited", 7),
    )
    seen = [(event.tool, event.head) for event in found.of(Kind.SKILL)]
    assert seen == [("pdf", "offered"), ("commit", "offered"), ("pdf", "opened"), ("release", "opened")]
    opened = found.of(Kind.SKILL)[2]
    assert (json.loads(opened.arguments), opened.output_length) == ({"path": "/s/pdf"}, len("Fill the form."))


def test_failures_of_the_service_are_errors_and_no_answers(session: Session, made: ModuleType) -> None:
    failed = made.says("API Error: 500", 1, isApiErrorMessage=True)
    silent = made.says("No response requested.", 2)
    silent["message"]["model"] = "<synthetic>"
    found = session(
        made.user("go", 0),
        failed,
        silent,
        made.claude("system", 3, subtype="api_error", error={"message": "overloaded"}),
        made.claude("system", 4, subtype="compact_boundary"),
    )
    assert found.texts(Kind.ERROR) == ["API Error: 500", "api_error: overloaded"]
    assert not found.of(Kind.ANSWER)
    assert len(found.of(Kind.COMPACTION)) == 1


def test_the_span_is_that_of_the_earliest_and_the_latest_time(session: Session, made: ModuleType) -> None:
    found = session(
        made.user("late", 50),
        made.user("early", 10),
        made.user("none", 0, timestamp=None),
        made.user("wrong", 0, timestamp="soon"),
        made.user("future", 0, timestamp="2999-01-01T00:00:00.000Z"),
    )
    assert (found.facts.ended_ms or 0) - (found.facts.started_ms or 0) == 40_000
    assert found.texts(Kind.PROMPT) == ["late", "early", "none", "wrong", "future"]


def test_several_folders_and_a_worktree_are_kept(session: Session, made: ModuleType) -> None:
    found = session(
        made.user("go", 0, cwd="/work/shop/api"),
        made.user("on", 1, cwd="/work/shop"),
        {"type": "worktree-state", "sessionId": made.SESSION, "worktreeSession": {"originalCwd": "/work/main"}},
    )
    assert found.facts.cwds == ["/work/main", "/work/shop/api", "/work/shop"]


def test_an_unknown_kind_of_record_is_said_and_costs_nothing(session: Session, made: ModuleType) -> None:
    found = session(made.user("go", 0), made.claude("hologram", 1))
    assert found.texts(Kind.PROMPT) == ["go"]
    (warning,) = found.warnings
    assert "1 of 2 records are of unknown kinds (claude-code 2.1.197)" in warning.reason


def test_a_file_of_which_nothing_is_understood_is_said(session: Session) -> None:
    (warning,) = session({"hello": "world"}, [1], "x").warnings
    assert "unknown" in warning.reason
