"""Harvesting into the store: each record once, nothing twice, nothing lost."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from msgspec import structs

from skillopt_harvesters import Batch, Cursor, Source, read
from skillopt_sleep.clock import DAY_MS, FixedClock
from skillopt_sleep.errors import StoreError
from skillopt_sleep.ingest import Harvested, reading
from skillopt_sleep.store import intake
from skillopt_sleep.store.bodies import released
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.sources import understood_by_agent

Harvest = Callable[..., Harvested]
Table = Callable[[Store], dict[str, list[tuple[Any, ...]]]]


def sessions(store: Store, origin: str = "all") -> list[dict[str, Any]]:
    return list(store.sessions(origin))


def test_a_session_comes_back_as_it_was_said(store: Store, home: Path, made: ModuleType, take_in: Harvest) -> None:
    talk = made.everyday(1, turns=2)
    path = talk.write(home)
    done = take_in()
    assert (done.new, done.updated, done.unchanged, done.pending) == (1, 0, 0, 0)
    assert done.bytes == path.stat().st_size
    (document,) = sessions(store)
    assert document == {
        "format": 1,
        "id": intake.session_name("claude-code", talk.id),
        "agent": "claude-code",
        "native_id": talk.id,
        "origin": "interactive",
        "project": "/home/kim/shop",
        "cwd": "/home/kim/shop",
        "branch": "main",
        "agent_version": "2.1.30",
        "models": ["claude-sonnet-4-5"],
        "started": made.iso(made.START_MS + 3_600_000 + 1000),
        "ended": made.iso(talk.at),
        "source": {"path": str(path), "gone": False},
        "prompts": [
            {"text": "please look at module 1 part 0", "at": made.iso(made.START_MS + 3_601_000), "kind": "prompt"},
            {"text": "please look at module 1 part 1", "at": made.iso(made.START_MS + 3_607_000), "kind": "prompt"},
        ],
        "answers": 2,
        "tool_calls": 4,
        "tool_errors": 2,
        "interrupts": 0,
        "tokens": {"input": 18, "output": 60, "cache_read": 42, "cache_write": 6},
    }


def test_the_miner_gets_events_in_order_with_their_words(
    store: Store, home: Path, made: ModuleType, take_in: Harvest
) -> None:
    made.everyday(1, turns=1).write(home)
    take_in()
    (session,) = store.stored_sessions()
    assert [event.seq for event in session.events] == list(range(len(session.events)))
    assert [(event.kind, event.outcome) for event in session.events] == [
        ("prompt", ""),
        ("call", "error"),
        ("call", "ok"),
        ("answer", ""),
    ]
    failed, fine = session.events[1:3]
    assert json.loads(failed.arguments) == {"command": "pytest tests/test_1_0.py"}
    assert "assert 0" in failed.text
    assert fine.output_length == len("All checks passed!" * 40)
    assert fine.head.startswith("All checks passed!")
    assert len(fine.head) <= 256
    assert session.output_by_message[failed.message_id] == 10


def test_an_unchanged_pass_reads_nothing_and_writes_nothing(
    store: Store, home: Path, made: ModuleType, take_in: Harvest
) -> None:
    for seed in range(5):
        made.everyday(seed).write(home)
    take_in()
    asked: list[Source] = []

    def spy(source: Source, cursor: Cursor | None) -> Iterator[Batch]:
        asked.append(source)
        return read(source, cursor)

    before = store.driver.total_changes
    again = take_in(read=spy)
    assert asked == []
    assert store.driver.total_changes == before
    assert (again.bytes, again.new, again.updated, again.unchanged) == (0, 0, 0, 5)


def count_reads(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Bytes that `os.pread` and `os.read` hand out from now on."""
    seen = {"bytes": 0}
    for name in ("pread", "read"):
        real = getattr(os, name)

        def counted(*of: Any, real: Callable[..., bytes] = real) -> bytes:
            got = real(*of)
            seen["bytes"] += len(got)
            return got

        monkeypatch.setattr(os, name, counted)
    return seen


def test_of_a_grown_file_only_what_is_new_is_read(
    store: Store, home: Path, made: ModuleType, take_in: Harvest, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = made.everyday(1, turns=400)
    for seed in range(2, 6):
        made.everyday(seed).write(home)
    talk.write(home)
    take_in()
    lines = len(talk.lines)
    talk.asks("and one more thing").answers("Done.")
    new = talk.append(home, lines)
    seen = count_reads(monkeypatch)
    done = take_in()
    assert 0 < seen["bytes"] <= new + 65_536
    assert (done.bytes, done.new, done.updated, done.unchanged) == (new, 0, 1, 4)
    assert sessions(store)[0]["prompts"][-1]["text"] == "and one more thing"


def test_an_open_call_gets_its_outcome_when_the_file_grows(
    store: Store, home: Path, made: ModuleType, take_in: Harvest
) -> None:
    talk = made.Conversation(1).asks("run it")
    call = talk.calls("Bash", {"command": "make"})
    talk.write(home)
    take_in()
    (session,) = store.stored_sessions()
    assert [event.outcome for event in session.events if event.kind == "call"] == ["open"]
    lines = len(talk.lines)
    talk.gets(call, "Exit code 2\nmake: *** No rule", error=True).answers("It failed.")
    talk.append(home, lines)
    take_in()
    (session,) = store.stored_sessions()
    (event,) = [event for event in session.events if event.kind == "call"]
    assert (event.outcome, "No rule" in event.text) == ("error", True)
    assert [event.kind for event in session.events] == ["prompt", "call", "answer"]


def test_a_last_answer_that_was_not_the_last_is_replaced_in_its_place(
    store: Store, home: Path, made: ModuleType, take_in: Harvest
) -> None:
    talk = made.Conversation(1).asks("do it").answers("I begin.")
    talk.write(home)
    take_in()
    lines = len(talk.lines)
    talk.runs("make", "ok").answers("It is done.")
    talk.append(home, lines)
    take_in()
    (session,) = store.stored_sessions()
    assert [(event.kind, event.text) for event in session.events if event.kind != "call"] == [
        ("prompt", "do it"),
        ("answer", "It is done."),
    ]
    assert session.events[-1].kind == "answer"


def test_a_resumed_copy_adds_a_source_and_its_own_events_alone(
    store: Store, home: Path, made: ModuleType, take_in: Harvest
) -> None:
    first = made.everyday(1, turns=2)
    os.utime(first.write(home), ns=(1, 1_000))
    copy = made.Conversation(2)
    copy.lines = [
        json.dumps(json.loads(line) | {"sessionId": copy.id, "timestamp": made.iso(copy.at), "slug": "calm-pond"})
        for line in first.lines
    ]
    copied = len(copy.lines)
    copy.asks("go on").answers("I go on.")
    os.utime(copy.write(home), ns=(1, 2_000))
    done = take_in()
    assert done.new == 2
    prompts = {row["native_id"]: [prompt["text"] for prompt in row["prompts"]] for row in sessions(store)}
    assert prompts[copy.id] == ["go on"]
    assert len(prompts[first.id]) == 2
    assert {
        event.text for session in store.stored_sessions() for event in session.events if event.kind == "answer"
    } == {
        "Part 0 of 1 is done.",
        "Part 1 of 1 is done.",
        "I go on.",
    }
    assert copied == len(first.lines)
    relations = store.driver.execute(
        "SELECT s.native_id, ss.relation FROM session_source ss JOIN session s ON s.id = ss.session_id "
        "JOIN source so ON so.id = ss.source_id WHERE so.path LIKE ?",
        (f"%{copy.id}.jsonl",),
    ).fetchall()
    assert sorted(relations) == sorted([(copy.id, "own"), (first.id, "copy")])


def test_a_session_that_repeats_another_one_whole_is_not_listed_until_it_goes_on(
    store: Store, home: Path, made: ModuleType, take_in: Harvest
) -> None:
    first = made.everyday(1, turns=2)
    os.utime(first.write(home), ns=(1, 1_000))
    copy = made.Conversation(2)
    copy.lines = [json.dumps(json.loads(line) | {"sessionId": copy.id}) for line in first.lines]
    os.utime(copy.write(home), ns=(1, 2_000))
    assert take_in().new == 1
    assert [row["native_id"] for row in sessions(store)] == [first.id]
    lines = len(copy.lines)
    copy.asks("now mine").answers("Yes.")
    copy.append(home, lines)
    assert take_in().updated == 1
    assert {row["native_id"] for row in sessions(store)} == {first.id, copy.id}


def loose(folder: Path, name: str, lines: list[str]) -> Source:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    found = path.stat()
    return Source(
        agent="claude-code", path=str(path), size=found.st_size, mtime_ns=found.st_mtime_ns, inode=found.st_ino
    )


@pytest.mark.parametrize("longest_first", [False, True])
def test_growing_snapshots_of_one_session_are_one_session(
    store: Store,
    tmp_path: Path,
    made: ModuleType,
    clock: FixedClock,
    redactor: Any,
    table: Table,
    longest_first: bool,
) -> None:
    from skillopt_sleep.ingest import harvest

    talk = made.everyday(1, turns=3)
    parts = [loose(tmp_path / str(n), f"{talk.id}.jsonl", talk.lines[:n]) for n in (4, 9, len(talk.lines))]
    for source in reversed(parts) if longest_first else parts:
        harvest(store, [source], read, redactor, clock)
    (row,) = sessions(store)
    assert (len(row["prompts"]), row["answers"], row["tool_calls"], row["tool_errors"]) == (3, 3, 6, 3)
    outcomes = {event.outcome for session in store.stored_sessions() for event in session.events}
    assert "open" not in outcomes
    assert [event.kind for event in next(store.stored_sessions()).events].count("prompt") == 3


def test_hard_linked_files_are_read_once_and_both_are_known(
    store: Store, home: Path, made: ModuleType, take_in: Harvest
) -> None:
    talk = made.everyday(1)
    path = talk.write(home)
    twin = path.parent.parent / "-another" / path.name
    twin.parent.mkdir()
    twin.hardlink_to(path)
    done = take_in()
    assert (done.files, done.new, done.bytes) == (2, 1, path.stat().st_size)
    again = take_in()
    assert (again.bytes, again.unchanged) == (0, 1)
    path.unlink()
    gone = take_in()
    assert (gone.bytes, gone.unchanged) == (0, 1)
    assert sessions(store)[0]["source"] == {"path": str(twin), "gone": False}


def test_a_session_stays_after_its_file_is_gone_and_says_so(
    store: Store, home: Path, made: ModuleType, take_in: Harvest, clock: FixedClock
) -> None:
    path = made.everyday(1).write(home)
    take_in()
    kept = path.read_bytes()
    path.unlink()
    clock.ms += DAY_MS
    take_in()
    (row,) = sessions(store)
    assert row["source"] == {"path": str(path), "gone": True}
    assert len(row["prompts"]) == 3
    assert store.driver.execute("SELECT state, gone_ms FROM source").fetchall() == [("gone", clock.ms)]
    path.write_bytes(kept)
    take_in()
    assert sessions(store)[0]["source"] == {"path": str(path), "gone": False}
    assert store.driver.execute("SELECT count(*) FROM event").fetchone() == (12,)


def test_a_file_that_was_replaced_is_read_from_its_beginning(
    store: Store, home: Path, made: ModuleType, take_in: Harvest
) -> None:
    talk = made.everyday(1, turns=3)
    talk.write(home)
    take_in()
    other = made.Conversation(7).asks("quite another text, and a longer one " * 200)
    other.id = talk.id
    other.lines = [json.dumps(json.loads(line) | {"sessionId": talk.id}) for line in other.lines]
    other.write(home)
    take_in()
    texts = [prompt["text"] for row in sessions(store) for prompt in row["prompts"]]
    assert len(texts) == 4
    assert any(text.startswith("quite another text") for text in texts)


def test_sub_agents_and_headless_runs_are_kept_apart_by_their_fields(
    store: Store, home: Path, made: ModuleType, take_in: Harvest
) -> None:
    made.everyday(1).write(home)
    made.everyday(2, entrypoint="cli").write(home)
    made.everyday(3, entrypoint="sdk-cli").write(home)
    side = made.everyday(4, isSidechain=True, agentId="abc")
    folder = home / ".claude" / "projects" / "-home-kim-shop"
    loose(folder, "agent-abc.jsonl", side.lines)
    done = take_in()
    assert done.new == 2
    assert {reason: n for reason, n in done.skipped.items() if reason.endswith(" session")} == {
        "headless session": 1,
        "subagent session": 1,
    }
    assert len(sessions(store, "interactive")) == 2
    assert len(sessions(store, "headless")) == 1
    assert len(sessions(store, "subagent")) == 1


def test_our_own_replays_are_known_by_their_ids(store: Store, home: Path, made: ModuleType, take_in: Harvest) -> None:
    mine, theirs = made.everyday(1), made.everyday(2)
    mine.write(home)
    theirs.write(home)
    done = take_in(own_sessions={mine.id})
    assert (done.new, done.skipped["own session"]) == (1, 1)
    assert [row["native_id"] for row in sessions(store, "interactive")] == [theirs.id]
    lines = len(mine.lines)
    mine.asks("more").answers("Yes.")
    mine.append(home, lines)
    take_in()
    assert [row["native_id"] for row in sessions(store, "own")] == [mine.id]


def test_a_cap_takes_the_newest_and_says_what_is_pending(
    store: Store, home: Path, made: ModuleType, take_in: Harvest
) -> None:
    talks = [made.everyday(seed) for seed in range(5)]
    for n, talk in enumerate(talks):
        os.utime(talk.write(home), ns=(1, (n + 1) * 1_000_000))
    done = take_in(max_sessions=2)
    assert (done.new, done.pending) == (2, 3)
    assert {row["native_id"] for row in sessions(store)} == {talks[3].id, talks[4].id}
    done = take_in(max_sessions=2)
    assert (done.new, done.pending, done.unchanged) == (2, 1, 2)
    done = take_in()
    assert (done.new, done.pending, done.unchanged) == (1, 0, 4)


def test_a_lookback_leaves_out_what_is_older_and_says_so(
    store: Store, home: Path, made: ModuleType, take_in: Harvest, clock: FixedClock
) -> None:
    for n, talk in enumerate(made.everyday(seed) for seed in range(3)):
        os.utime(talk.write(home), ns=(1, (clock.ms - n * 10 * DAY_MS) * 1_000_000))
    done = take_in(lookback_ms=15 * DAY_MS)
    assert (done.new, done.skipped["older than harvest.lookback"]) == (2, 1)
    assert take_in().new == 1


def test_excluded_folders_are_not_stored_until_they_are_wanted(
    store: Store, home: Path, made: ModuleType, take_in: Harvest
) -> None:
    made.everyday(1, cwd="/home/kim/secret/inner").write(home)
    made.everyday(2, cwd="/home/kim/secrets").write(home)
    done = take_in(exclude=["/home/kim/secret/"])
    assert done.new == 1
    assert [row["cwd"] for row in sessions(store)] == ["/home/kim/secrets"]
    assert b"inner" not in b"".join(file.read_bytes() for file in store.path.parent.iterdir())
    asked: list[str] = []

    def spy(source: Source, cursor: Cursor | None) -> Iterator[Batch]:
        asked.append(source.path)
        return read(source, cursor)

    take_in(exclude=["/home/kim/secret/"], read=spy)
    assert asked == []
    assert take_in(exclude=["*/secrets"]).new == 1
    assert {row["cwd"] for row in sessions(store)} == {"/home/kim/secret/inner", "/home/kim/secrets"}


def test_secrets_are_gone_before_anything_is_stored(
    store: Store, home: Path, made: ModuleType, take_in: Harvest
) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    talk = made.Conversation(1, cwd=f"/home/kim/{token}", gitBranch=f"x-{token}")
    talk.asks(f"use {token} please").runs(f"curl -H 'Authorization: Bearer {token}'", f"denied {token}", error=True)
    talk.runs("env", f"TOKEN={token}\n" * 9).answers(f"I used {token}.")
    talk.says({"type": "tool_use", "id": "toolu_x", "name": f"mcp__{token}", "input": {}})
    talk.write(home)
    take_in()
    store.driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    said = json.dumps(sessions(store)) + repr(list(store.stored_sessions()))
    assert token not in said
    assert "[redacted:" in said
    columns = store.driver.execute("SELECT cwd || branch || title || cwds FROM session").fetchall()
    assert token not in repr(columns)
    assert token.encode() not in store.path.read_bytes()
    states = [released(state) for (state,) in store.driver.execute("SELECT reader_state FROM source")]
    assert b"redacted:" in states[0]
    assert token.encode() not in states[0]


def test_lone_surrogates_and_nuls_are_stored_as_text(
    store: Store, home: Path, made: ModuleType, take_in: Harvest
) -> None:
    talk = made.Conversation(1, cwd="/home/kim/a\ud83d")
    talk.asks("cut \ud83d here and \x00 there").runs("echo \udfff", "x\ud800", error=True)
    talk.write(home)
    assert take_in().new == 1
    (row,) = sessions(store)
    json.dumps(row).encode()
    assert row["prompts"][0]["text"].startswith("cut ")


def test_numbers_beyond_all_belief_are_stored_as_the_largest(
    store: Store, home: Path, made: ModuleType, take_in: Harvest
) -> None:
    made.everyday(1, turns=1).write(home)

    def absurd(source: Source, cursor: Cursor | None) -> Iterator[Batch]:
        for batch in read(source, cursor):
            usage = [structs.replace(one, output=2**80, input=-5, at_ms=2**70) for one in batch.usage]
            events = [structs.replace(one, at_ms=-(2**70)) for one in batch.events]
            yield structs.replace(batch, usage=usage, events=events)

    assert take_in(read=absurd).new == 1
    (row,) = sessions(store)
    assert (row["tokens"]["input"], row["tokens"]["output"]) == (0, 3 * intake.LARGEST)
    assert row["prompts"][0]["at"] is None


def test_an_unreadable_file_is_reported_and_tried_again(
    store: Store, home: Path, made: ModuleType, take_in: Harvest
) -> None:
    from skillopt_harvesters import Unreadable

    bad = made.everyday(1).write(home)
    made.everyday(2).write(home)

    def refusing(source: Source, cursor: Cursor | None) -> Iterator[Batch]:
        if source.path == str(bad):
            raise Unreadable(source.path, "permission denied")
        return read(source, cursor)

    done = take_in(read=refusing)
    assert done.new == 1
    assert [(one.path, one.reason) for one in done.unreadable] == [(str(bad), "permission denied")]
    assert take_in().new == 1


def test_a_store_that_fails_loses_no_cursor(
    store: Store, home: Path, made: ModuleType, take_in: Harvest, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "FILES", 2)
    for seed in range(6):
        made.everyday(seed).write(home)
    real, calls = intake.save, 0

    def failing(*of: Any) -> intake.Saved:
        nonlocal calls
        calls += 1
        with store.write():
            saved = real(*of)
            if calls == 2:
                raise StoreError("the disk is full")
            return saved

    monkeypatch.setattr(intake, "save", failing)
    with pytest.raises(StoreError):
        take_in()
    monkeypatch.setattr(intake, "save", real)
    assert len(sessions(store)) == 2
    done = take_in()
    assert (done.new, done.unchanged) == (4, 2)
    assert len(table(store)["event"]) == 6 * 12


def test_a_file_is_read_over_several_chunks_into_the_same_rows(
    store: Store,
    home: Path,
    made: ModuleType,
    take_in: Harvest,
    table: Table,
    tmp_path: Path,
    clock: FixedClock,
    redactor: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from skillopt_harvesters import bytestream, discover
    from skillopt_sleep.ingest import harvest
    from skillopt_sleep.store.engine import open_store

    made.everyday(1, turns=60).write(home)
    take_in()
    whole = table(store)
    monkeypatch.setattr(reading, "EVENTS", 10)
    monkeypatch.setitem(bytestream.windows.__kwdefaults__, "size", 4096)
    with open_store(tmp_path / "second" / "store.db", clock) as second:
        harvest(second, discover(home, {})[0], read, redactor, clock)
        assert second.driver.execute("SELECT count(*) FROM stretch").fetchone()[0] > 5
        assert table(second) == whole


def test_progress_counts_sources(store: Store, home: Path, made: ModuleType, take_in: Harvest) -> None:
    for seed in range(3):
        made.everyday(seed).write(home)
    told: list[tuple[int, int]] = []
    take_in(progress=lambda done, all_: told.append((done, all_)))
    assert told[-1] == (3, 3)


def test_stored_sessions_are_chosen_by_project_time_and_origin(
    store: Store, home: Path, made: ModuleType, take_in: Harvest
) -> None:
    made.everyday(1, cwd="/home/kim/shop").write(home)
    late = made.everyday(9, cwd="/home/kim/blog")
    late.write(home)
    take_in()
    assert [s.project for s in store.stored_sessions()] == ["/home/kim/shop", "/home/kim/blog"]
    assert [s.project for s in store.stored_sessions(project="/home/kim/blog")] == ["/home/kim/blog"]
    assert [s.native_id for s in store.stored_sessions(since_ms=late.at)] == [late.id]
    assert list(store.stored_sessions(origins=("headless",))) == []
    assert [row["project"] for row in store.projects()] == ["/home/kim/blog", "/home/kim/shop"]


def test_a_session_is_found_by_our_id_and_by_its_own(
    store: Store, home: Path, made: ModuleType, take_in: Harvest
) -> None:
    talk = made.everyday(1)
    talk.write(home)
    made.everyday(2).write(home)
    take_in()
    name = intake.session_name("claude-code", talk.id)
    assert [row["id"] for row in store.sessions(id=name)] == [name]
    assert [row["id"] for row in store.sessions(id=talk.id)] == [name]
    assert list(store.sessions(id="nobody")) == []


def test_the_newest_version_and_the_understood_share_of_each_agent_are_known(
    store: Store, home: Path, made: ModuleType, take_in: Harvest
) -> None:
    made.everyday(1).write(home)
    odd = made.everyday(2, version="2.1.99")
    for _ in range(len(odd.lines)):
        odd.record("never-seen-before")
    odd.write(home)
    take_in()
    assert understood_by_agent(store) == {"claude-code": ("2.1.99", pytest.approx(2 / 3))}
