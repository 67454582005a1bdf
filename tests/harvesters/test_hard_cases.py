"""The twenty-five hard cases of transcript formats: which test shows each, and those that stand nowhere else.

The numbers are those of the list of cases that the harvesters were built from. `SHOWN` names for each the tests that
would go red without it: the first on other people's real files where there is one, the others on made ones.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillopt_harvesters import Author, Kind, Outcome, discover_loose, harvester_of
from skillopt_harvesters.fold import to_ms
from skillopt_harvesters.walk import source_of
from skillopt_sleep.ingest.projects import project_root
from skillopt_sleep.redact import Redactor

TESTS = Path(__file__).parent.parent
Write = Callable[[str, bytes], Path]
TYPED = (Kind.PROMPT, Kind.QUEUED, Kind.COMMAND, Kind.REJECTION)
CHECKPOINTS = "transcripts/claude/entireio__cli_checkpoints"
TEN_MS = 1_795_168_800_000
"""2026-11-20T10:00Z."""

SHOWN: dict[int, str] = {
    1: """test_claude_code_shared::test_a_resumed_session_that_was_copied_shares_its_keys
        test_codex::test_a_fork_does_not_repeat_its_parents_history
        test_copilot_cli::test_a_fork_shares_the_keys_of_its_events
        ingest/test_harvest::test_a_resumed_copy_adds_a_source_and_its_own_events_alone""",
    2: """test_claude_code_shared::test_a_growing_snapshot_is_the_same_session
        test_codex::test_an_archived_copy_has_the_same_keys
        ingest/test_harvest::test_growing_snapshots_of_one_session_are_one_session""",
    3: """test_claude_code_shared::test_two_records_on_a_line_both_count
        test_records::test_a_record_addresses_its_own_bytes_also_on_a_shared_line""",
    4: """test_hard_cases::test_case_4_a_cut_off_tail_is_no_error_and_is_read_when_it_is_whole
        test_records::test_a_half_written_tail_waits_and_is_no_error
        test_cut::test_cut_anywhere_a_file_gives_the_same""",
    5: "test_hard_cases::test_case_5_a_complete_file_without_a_final_newline_is_read_to_its_end",
    6: """test_claude_code_shared::test_lines_that_are_no_records_are_passed_over
        test_records::test_each_damage_costs_its_own_record""",
    7: """test_records::test_text_that_is_no_unicode_is_replaced
        test_contract::test_hostile_bytes_raise_nothing_but_unreadable
        ingest/test_harvest::test_lone_surrogates_and_nuls_are_stored_as_text""",
    8: """test_hard_cases::test_case_8_a_byte_order_mark_and_windows_line_ends_change_nothing
        test_records::test_each_damage_costs_its_own_record
        test_copilot_vscode::test_a_byte_order_mark_and_a_half_written_line_do_no_harm""",
    9: """test_records::test_a_real_line_of_more_than_a_megabyte_is_read
        test_records::test_a_line_of_sixty_megabytes_is_read_past_in_little_memory
        test_contract::test_memory_is_bounded_on_a_large_file""",
    10: """test_claude_code_shared::test_times_that_run_backwards_leave_the_order_of_the_file
        test_hard_cases::test_case_10_a_time_in_any_form_is_a_moment_or_none
        test_hard_cases::test_case_10_a_copilot_session_with_epoch_seconds_has_its_span
        test_claude_code::test_the_span_is_that_of_the_earliest_and_the_latest_time
        test_codex::test_the_oldest_format_without_wrapper_is_read""",
    11: """test_claude_code_shared::test_prompts_that_stand_only_in_the_queue_are_found
        test_claude_code::test_a_queued_prompt_is_taken_once
        agents_e2e/test_busy::test_what_was_typed_meanwhile_is_found_exactly_once""",
    12: """test_claude_code_shared::test_compaction_summaries_are_no_prompts_and_nothing_before_them_is_lost
        test_hard_cases::test_case_12_summaries_of_other_agents_and_places_are_no_prompts
        test_codex::test_compaction_does_not_bring_old_prompts_back""",
    13: """test_hard_cases::test_case_13_an_interrupt_is_a_signal_and_no_prompt
        test_codex::test_real_ide_prompts_aborts_and_refused_patches
        test_codex::test_an_abort_is_one_interrupt_of_its_turn""",
    14: """test_hard_cases::test_case_14_a_reason_is_kept_and_names_the_refused_call
        test_claude_code_shared::test_refusals_of_a_team_are_counted_with_their_words
        test_claude_code::test_a_refusal_with_words_is_a_rejection_of_its_call""",
    15: """test_claude_code_shared::test_sub_agents_files_have_no_prompts
        test_claude_code_shared::test_inline_sub_agents_and_three_folders_are_one_session
        test_hard_cases::test_case_15_a_workflows_journal_is_no_session""",
    16: """test_claude_code_shared::test_a_prompt_beside_reminders_and_images_is_kept_alone
        test_hard_cases::test_case_16_a_command_is_the_persons_and_its_body_is_not
        test_claude_code::test_tags_are_cut_out_and_the_rest_of_a_prompt_is_kept""",
    17: """test_claude_code_shared::test_a_message_over_many_lines_is_one_usage
        test_claude_code::test_a_message_over_several_lines_costs_what_its_last_line_says""",
    18: """test_codex::test_real_ide_prompts_aborts_and_refused_patches
        test_codex::test_a_prompt_that_stands_in_three_places_is_one""",
    19: """test_codex::test_the_oldest_format_without_wrapper_is_read
        test_codex::test_an_ide_prompt_is_what_follows_the_last_marker
        test_codex::test_a_compressed_rollout_is_read_like_a_plain_one
        test_codex::test_of_a_rollout_plain_and_compressed_the_plain_one_counts
        test_zstd_frames::test_a_compressed_rollout_that_was_cut_off_is_said_and_read_as_far_as_it_goes""",
    20: """test_hard_cases::test_case_20_the_first_of_several_heads_names_the_thread
        test_codex::test_turn_ids_tell_the_inherited_part_exactly
        test_codex::test_origins_come_from_fields""",
    21: """test_copilot_cli::test_a_real_session_has_its_two_prompts
        test_copilot_cli::test_only_what_a_person_typed_is_a_prompt""",
    22: """test_copilot_cli::test_a_truncated_record_costs_itself
        test_hard_cases::test_case_22_what_copilot_leaves_in_its_files_costs_no_record
        test_copilot_cli::test_the_oldest_documents_are_read
        test_copilot_cli::test_only_sessions_are_found_and_not_the_files_of_a_session""",
    23: """test_copilot_vscode::test_real_documents_give_their_turns
        test_copilot_vscode::test_a_log_is_replayed_with_every_kind_of_entry
        test_copilot_vscode::test_a_log_without_its_first_state_is_read_as_far_as_it_goes
        test_copilot_vscode::test_the_log_wins_where_a_session_lies_in_both_forms
        test_copilot_vscode::test_undone_confirming_and_automatic_turns_are_passed_over
        test_vscode_transcript::test_beside_its_chat_it_is_a_duplicate
        test_vscode_transcript::test_a_chat_that_was_emptied_before_it_was_read_is_read_from_its_second_record""",
    24: """test_hard_cases::test_case_24_two_peoples_folders_are_one_session_of_the_project_it_began_in
        test_claude_code_shared::test_inline_sub_agents_and_three_folders_are_one_session
        ingest/test_projects::test_any_folder_names_give_a_project_without_looking_at_the_disk
        ingest/test_projects::test_two_folders_whose_names_an_agent_writes_alike_are_two_projects
        test_discovery::test_circles_dangling_links_fifos_and_sockets_are_said_and_not_followed
        test_discovery::test_a_folder_that_is_not_ours_to_enter_is_said_and_the_rest_is_found""",
    25: """test_hard_cases::test_case_25_a_real_key_in_a_skills_text_is_gone_and_the_words_stay
        test_hard_cases::test_case_25_what_is_sealed_is_no_text
        ingest/test_harvest::test_secrets_are_gone_before_anything_is_stored""",
}


@cache
def names_in(file: str) -> frozenset[str]:
    path = TESTS / f"{file}.py" if "/" in file else TESTS / "harvesters" / f"{file}.py"
    return frozenset(re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))


def test_every_hard_case_has_tests_that_are_there() -> None:
    assert list(SHOWN) == list(range(1, 26))
    named = [tuple(test.split("::")) for tests in SHOWN.values() for test in tests.split()]
    assert [test for test in named if test[1] not in names_in(test[0])] == []


@pytest.mark.shared
def test_case_4_a_cut_off_tail_is_no_error_and_is_read_when_it_is_whole(
    shared: Path, as_agent: Any, write: Write
) -> None:
    (path,) = (shared / "transcripts/other").rglob("malformed/truncated.jsonl")
    content = path.read_bytes().rstrip(b"\n")
    before = as_agent(path, "claude-code")
    assert before.cursor.offset == content.rindex(b"\n") + 1
    assert (len(before.of(Kind.PROMPT)), before.warnings) == (1, [])
    rest = b'ed no more"},"uuid":"msg-003","timestamp":"2026-01-15T10:00:30.000Z"}\n'
    after = as_agent(write(path.name, content + rest), "claude-code", before.cursor)
    assert [text.endswith(" truncated no more") for text in after.texts(Kind.PROMPT)] == [True]


@pytest.mark.shared
def test_case_5_a_complete_file_without_a_final_newline_is_read_to_its_end(
    shared: Path, reading: Any, write: Write
) -> None:
    base = shared / "transcripts"
    with (base / "MANIFEST.tsv").open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file, delimiter="\t")
        paths = [base / row["path"] for row in rows if "no trailing newline" in row["notes"]]
    sources, trouble, others = discover_loose(paths)
    assert (len(paths), len(sources), len(others), trouble) == (52, 45, 7, [])
    for source in sources:
        content = Path(source.path).read_bytes()
        assert not content.endswith(b"\n")
        found = reading().take(harvester_of(source.agent).read(source))
        copy = write(Path(source.path).name, content + b"\n")
        ended = source_of(source.agent, str(copy), str(copy.parent), copy.stat())
        assert found.events == reading().take(harvester_of(source.agent).read(ended)).events
        assert found.cursor.offset == len(content)


@pytest.mark.parametrize(
    "agent", ["claude-code", "codex", "copilot-cli", "copilot-vscode", "cursor", "gemini", "pi", "openclaw"]
)
def test_case_8_a_byte_order_mark_and_windows_line_ends_change_nothing(
    agent: str, samples: ModuleType, made: ModuleType, tmp_path: Path, as_agent: Any
) -> None:
    path = samples.SAMPLES[agent](tmp_path, made)
    content = path.read_bytes()
    path.write_bytes(b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"))
    found = as_agent(path, agent)
    assert (found.texts(Kind.PROMPT), found.texts(Kind.ANSWER)) == (samples.PROMPTS, samples.ANSWERS)
    assert (found.outcomes(), found.warnings) == ([Outcome.ERROR, Outcome.OK], [])
    assert [source.agent for source in discover_loose([path])[0]] == [agent]


@pytest.mark.parametrize(
    ("stamp", "ms"),
    [
        ("2026-11-20T10:00:00.000Z", TEN_MS),
        ("2026-11-20T10:00:00Z", TEN_MS),
        ("2026-11-20T10:00:00.123456Z", TEN_MS + 123),
        ("2026-11-20T15:45:00+05:45", TEN_MS),
        ("2026-11-20T10:00:00", TEN_MS),
        (TEN_MS, TEN_MS),
        (TEN_MS // 1000, TEN_MS),
        (TEN_MS / 1000 + 0.25, TEN_MS + 250),
        (None, None),
        ("", None),
        ("soon", None),
        (0, None),
        (True, None),
        (-5, None),
        (1e30, None),
        ({}, None),
    ],
)
def test_case_10_a_time_in_any_form_is_a_moment_or_none(stamp: Any, ms: int | None) -> None:
    assert to_ms(stamp) == ms


def test_case_10_a_copilot_session_with_epoch_seconds_has_its_span(
    write: Write, as_agent: Any, to_lines: Callable[..., bytes], made: ModuleType
) -> None:
    """As one exporter writes them; a time that is null or lies years ahead is none."""
    seconds = TEN_MS // 1000
    asked = [made.copilot("user.message", 0, content=text) for text in ("one", "two", "three")]
    stamped = zip(asked, (seconds + 7, None, seconds * 2), strict=True)
    events = [{**made.started(), "timestamp": seconds}, *({**event, "timestamp": at} for event, at in stamped)]
    found = as_agent(write("session-state/x/events.jsonl", to_lines(*events)), "copilot-cli")
    assert found.texts(Kind.PROMPT) == ["one", "two", "three"]
    assert [event.at_ms for event in found.of(Kind.PROMPT)] == [TEN_MS + 7000, None, None]
    assert (found.facts.started_ms, found.facts.ended_ms) == (TEN_MS, TEN_MS + 7000)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("pattern", "prompts"),
    [
        ("claude/marot__spotter/4d5611e5*.jsonl", None),
        ("claude/kvsankar__agent-history/compaction/claude/session_with_compaction.jsonl", 3),
        ("codex/kvsankar__agent-history/compaction/codex/session_with_compaction.jsonl", 4),
    ],
)
def test_case_12_summaries_of_other_agents_and_places_are_no_prompts(
    shared: Path, loose: Any, counting: ModuleType, pattern: str, prompts: int | None
) -> None:
    (path,) = (shared / "transcripts").glob(pattern)
    found = loose(path)
    (compaction,) = found.of(Kind.COMPACTION)
    assert any(event.offset < compaction.offset for event in found.of(Kind.PROMPT))
    assert not [text for text in found.texts(*TYPED) if text.startswith("This session is being continued")]
    assert found.counts()["prompts"] == (prompts or counting.count(path)["prompts"])


@pytest.mark.shared
def test_case_13_an_interrupt_is_a_signal_and_no_prompt(shared: Path, loose: Any) -> None:
    """The words stand there twice: once as a marker, once quoted by a hook that stopped something."""
    path = shared / CHECKPOINTS / "00/c9e2351016/3/full.jsonl"
    assert path.read_bytes().count(b"[Request interrupted by user") == 2
    found = loose(path)
    assert found.skipped["hook"] == 1
    assert [event.author for event in found.of(Kind.INTERRUPT)] == [Author.PERSON]
    assert not [text for text in found.texts(*TYPED, Kind.ANSWER) if "[Request interrupted" in text]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "reasons"),
    [
        (f"{CHECKPOINTS}/3f/0fc83a3110/0/full.jsonl", ["break out into a separate type, this is now divergent"]),
        (f"{CHECKPOINTS}/6d/e70163f7e3/0/full.jsonl", ["let's cut a branch first"]),
        (
            "transcripts/claude/kvsankar__agent-history/rejections/claude_with_rejection.jsonl",
            ["Hold. I want to keep it simple", "Will this technique work in GitHub CI?"],
        ),
    ],
)
def test_case_14_a_reason_is_kept_and_names_the_refused_call(
    shared: Path, loose: Any, name: str, reasons: list[str]
) -> None:
    found = loose(shared / name)
    said = found.of(Kind.REJECTION)
    assert [text.startswith(reason) for text, reason in zip(found.texts(Kind.REJECTION), reasons, strict=True)]
    refused = [call.call_id for call in found.of(Kind.CALL) if call.outcome is Outcome.REFUSED]
    assert [event.call_id for event in said] == refused
    assert {event.author for event in said} == {Author.PERSON}


@pytest.mark.shared
def test_case_15_a_workflows_journal_is_no_session(shared: Path) -> None:
    path = shared / "transcripts/claude/daaain__claude-code-log/workflow_journal.jsonl"
    sources, trouble, others = discover_loose([path])
    assert (sources, trouble) == ([], [])
    assert [found for found, _ in others] == [str(path)]


@pytest.mark.shared
def test_case_16_a_command_is_the_persons_and_its_body_is_not(shared: Path, loose: Any) -> None:
    found = loose(shared / CHECKPOINTS / "26/dcd5518fea/0/full.jsonl")
    commands = [text.split()[0] for text in found.texts(Kind.COMMAND)]
    assert commands == ["/superpowers:brainstorm", "/ide", "/superpowers:execute-plan"]
    assert (found.skipped["meta"], found.skipped["command output"]) == (5, 1)
    marks = ("<command-", "<local-command-", "<system-reminder>", "Base directory for this skill", "<ide_")
    assert not [text for text in found.texts(*TYPED) if any(mark in text for mark in marks)]


@pytest.mark.shared
def test_case_20_the_first_of_several_heads_names_the_thread(shared: Path, loose: Any) -> None:
    path = shared / "transcripts/codex/jazzyalex__agent-sessions/small.jsonl"
    heads = re.findall(rb'"type": ?"session_meta".*?"id": ?"([^"]+)"', path.read_bytes())
    found = loose(path)
    assert len(set(heads)) > 1
    assert found.facts.native_id == heads[0].decode()
    assert found.skipped["further session_meta"] == len(heads) - 1


def test_case_22_what_copilot_leaves_in_its_files_costs_no_record(
    write: Write, as_agent: Any, to_lines: Callable[..., bytes], made: ModuleType
) -> None:
    """Line separators raw inside a text, a cut-off record before a whole one, one torn over lines, zeroes at the end;
    in a folder of its own or as a file beside others."""
    texts = ["one\u2028and\u2029two", "glued", "torn", "last"]
    first, glued, torn, last = (to_lines(made.copilot("user.message", n, content=text)) for n, text in enumerate(texts))
    cut = to_lines(made.copilot("user.message", 9, content="never whole"))[:40]
    start = to_lines(made.started())
    content = start + first + cut + glued + torn.replace(b"torn", b"torn\nhere") + last + b"\0" * 1728
    folder = as_agent(write("session-state/x/events.jsonl", content), "copilot-cli")
    assert folder.texts(Kind.PROMPT) == ["one\u2028and\u2029two", "glued", "torn\nhere", "last"]
    assert [trouble.reason for trouble in folder.warnings] == ["cut-off record"]
    flat = as_agent(write("session-state/flat.jsonl", content), "copilot-cli")
    assert flat.events == folder.events


@pytest.mark.shared
def test_case_24_two_peoples_folders_are_one_session_of_the_project_it_began_in(shared: Path, loose: Any) -> None:
    facts = loose(shared / CHECKPOINTS / "37/995ebed6e4/2/full.jsonl").facts
    assert len({cwd.split("/")[2] for cwd in facts.cwds}) == len(facts.cwds) == 2
    assert project_root(facts) == facts.cwds[0]


@pytest.mark.shared
def test_case_25_a_real_key_in_a_skills_text_is_gone_and_the_words_stay(shared: Path) -> None:
    content = (shared / CHECKPOINTS / "31/b75032f0ff/0/full.jsonl").read_text(encoding="utf-8")
    (key,) = set(re.findall("AKIA[A-Z0-9]{16}", content))
    (line,) = {line for line in content.split("\n") if key in line}
    clean = Redactor().redact(line)
    assert key not in clean
    assert len(clean) > 0.9 * len(line)


def test_case_25_what_is_sealed_is_no_text(
    write: Write, as_agent: Any, to_lines: Callable[..., bytes], made: ModuleType
) -> None:
    """Encrypted reasoning and signatures look like secrets; nothing of them is taken."""
    sealed = "gAAAAsk-proj-0123456789abcdefghijklmnop"
    thought = made.codex("response_item", 2, type="reasoning", summary=[], encrypted_content=sealed)
    codex = as_agent(write("rollout-x.jsonl", to_lines(made.meta(), made.typed("go", 1), thought)), "codex")
    thinking = {"type": "thinking", "thinking": "", "signature": sealed}
    said = made.blocks([thinking, {"type": "text", "text": "done"}], 2, "msg_0123456789abcdefghij")
    claude = as_agent(write("x.jsonl", to_lines(made.user("go", 0), said)), "claude-code")
    asked = made.copilot("assistant.message", 2, messageId="m1", content="done", encryptedContent=sealed)
    prompt = made.copilot("user.message", 1, content="go")
    copilot = as_agent(write("y/events.jsonl", to_lines(made.started(), prompt, asked)), "copilot-cli")
    for found in (codex, claude, copilot):
        assert found.texts(Kind.PROMPT) == ["go"]
        assert sealed not in repr(found)
