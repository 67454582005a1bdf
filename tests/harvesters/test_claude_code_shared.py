"""Claude Code's hard cases on other people's transcripts."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillopt_harvesters import Kind, Origin

pytestmark = pytest.mark.shared


def folder(shared: Path, name: str) -> Path:
    return shared / "transcripts" / "claude" / name


def test_refusals_of_a_team_are_counted_with_their_words(shared: Path, loose: Any) -> None:
    """53 results say that a call was refused. Five of them are plans that were approved with a fresh context, two of
    which have their call in another file; one bears words of the program. So 48 refusals, 36 with a person's words."""
    found = [loose(path) for path in sorted(folder(shared, "entireio__cli_history").iterdir())]
    assert sum(reading.counts()["refusals"] for reading in found) == 48
    assert sum(reading.skipped["approved plan written as a refusal"] for reading in found) == 3
    words = [event for reading in found for event in reading.of(Kind.REJECTION)]
    assert sum(event.key.endswith(":words") for event in words) == 36


def test_a_resumed_session_that_was_copied_shares_its_keys(shared: Path, loose: Any) -> None:
    base = folder(shared, "microsoft__vscode-copilot-chat")
    (copy,) = base.rglob("b02ed4d8*.jsonl")
    (first,) = base.rglob("c8bcb3a7*.jsonl")
    ours, theirs = loose(first).events, loose(copy).events
    prompts = {key for key, event in ours.items() if event.kind is Kind.PROMPT}
    assert prompts
    assert prompts <= theirs.keys()


def test_a_growing_snapshot_is_the_same_session(shared: Path, loose: Any) -> None:
    base = folder(shared, "entireio__cli_checkpoints")
    short, long = loose(base / "63/590d292e96/0/full.jsonl"), loose(base / "7d/66f047ac98/0/full.jsonl")
    assert short.facts.native_id == long.facts.native_id
    settled = {key for key, event in short.events.items() if event.kind is not Kind.ANSWER}
    assert settled <= long.events.keys()


@pytest.mark.parametrize(
    ("name", "queued"),
    [
        ("26/dcd5518fea/0", 1),
        ("63/590d292e96/0", 1),
        ("6d/e70163f7e3/0", 1),
        ("2c/ea8e895d35/0", 1),
        ("51/a265047d72/3", 1),
        ("7e/c034df6095/2", 1),
    ],
)
def test_prompts_that_stand_only_in_the_queue_are_found(shared: Path, loose: Any, name: str, queued: int) -> None:
    found = loose(folder(shared, "entireio__cli_checkpoints") / name / "full.jsonl")
    assert len(found.of(Kind.QUEUED)) == queued


@pytest.mark.parametrize("name", ["5a/c45bc32212/0", "63/590d292e96/0", "37/995ebed6e4/2", "7d/66f047ac98/0"])
def test_two_records_on_a_line_both_count(shared: Path, loose: Any, counting: ModuleType, name: str) -> None:
    path = folder(shared, "entireio__cli_checkpoints") / name / "full.jsonl"
    content = path.read_bytes()
    glued = [line for line in content.split(b"\n") if b'}{"' in line]
    assert glued
    found = loose(path)
    assert not found.warnings
    assert found.counts() == counting.count(path)


def test_a_history_written_again_inside_one_file_counts_once(shared: Path, loose: Any, counting: ModuleType) -> None:
    (path,) = folder(shared, "moredip__session-share").rglob("general-tool-calls.jsonl")
    assert loose(path).counts() == counting.count(path)
    assert len(loose(path).of(Kind.CALL)) == 65


def test_compaction_summaries_are_no_prompts_and_nothing_before_them_is_lost(shared: Path, loose: Any) -> None:
    found = loose(folder(shared, "entireio__cli_checkpoints") / "76/62d755ef9f/2/full.jsonl")
    assert found.of(Kind.COMPACTION)
    assert not [text for text in found.texts(Kind.PROMPT) if text.startswith("This session is being")]
    first = found.of(Kind.COMPACTION)[0].offset
    assert any(event.offset < first for event in found.of(Kind.PROMPT))


def test_sub_agents_files_have_no_prompts(shared: Path, loose: Any) -> None:
    paths = sorted(folder(shared, "marot__spotter").rglob("subagents/*.jsonl"))
    assert len(paths) > 5
    for path in paths:
        found = loose(path)
        assert found.facts.origin is Origin.SUBAGENT
        assert not found.of(Kind.PROMPT, Kind.QUEUED, Kind.COMMAND)


def test_inline_sub_agents_and_three_folders_are_one_session(shared: Path, loose: Any) -> None:
    (path,) = folder(shared, "d-kimuson__claude-code-viewer").rglob("fe5e1c67*.jsonl")
    found = loose(path)
    assert len(found.facts.cwds) == 3
    assert any(call.agent_id for call in found.of(Kind.CALL))


def test_a_message_over_many_lines_is_one_usage(shared: Path, loose: Any) -> None:
    (path,) = folder(shared, "marot__spotter").glob("4d5611e5*.jsonl")
    assert len(loose(path).usage) == 139


def test_lines_that_are_no_records_are_passed_over(shared: Path, loose: Any) -> None:
    odd = loose(folder(shared, "daaain__claude-code-log") / "edge_cases.jsonl")
    assert odd.skipped["not an object"] == 3
    assert odd.skipped["message of unknown shape"] == 1
    (path,) = folder(shared, "moredip__session-share").rglob("edit-tool-variants.jsonl")
    assert loose(path).skipped["comment"] > 0


def test_times_that_run_backwards_leave_the_order_of_the_file(shared: Path, loose: Any) -> None:
    (path,) = folder(shared, "marot__spotter").glob("ae4a77f8*.jsonl")
    found = loose(path)
    times = [event.at_ms for event in found.of(*Kind) if event.at_ms is not None]
    assert min(times) >= (found.facts.started_ms or 0)
    assert max(times) <= (found.facts.ended_ms or 0)


def test_a_prompt_beside_reminders_and_images_is_kept_alone(shared: Path, loose: Any) -> None:
    (reminded,) = folder(shared, "microsoft__vscode-copilot-chat").rglob("b3a7bd3c*.jsonl")
    (pictured,) = folder(shared, "moredip__session-share").rglob("images-in-user-messages.jsonl")
    for path in (reminded, pictured):
        texts = loose(path).texts(Kind.PROMPT)
        assert texts
        assert not [text for text in texts if "<system-reminder>" in text or "<ide_" in text or "[image]" in text]
