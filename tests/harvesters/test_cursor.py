"""Cursor: transcripts of lines, older ones of text, and the editor's database."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillopt_harvesters import Author, Kind, Origin, Outcome, Source, Trouble
from skillopt_harvesters.cursor import CursorAgent
from skillopt_harvesters.cursor_words import said_at, spoken, typed

MINUTE = 60_000
TEN_UTC = 1_795_168_800_000
"""2026-11-20T10:00Z."""


@pytest.fixture
def told(write: Any, as_agent: Any, samples: ModuleType) -> Any:
    """Read a transcript of the given records, below a project's folder."""

    def read(*records: Any, slug: str = "work-shop", name: str = "s1") -> Any:
        path = f"projects/{slug}/agent-transcripts/{name}/{name}.jsonl"
        return as_agent(write(path, samples.dumped(*records)), "cursor")

    return read


# -- the person's words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<user_query>\nfix it\n</user_query>", "fix it"),
        ("<user_query>fix it", "fix it"),
        ("<timestamp>x</timestamp>\n<user_query>fix it</user_query>\n<system_reminder>no</system_reminder>", "fix it"),
        ("<user_query>one</user_query><user_query>two</user_query>", "one\ntwo"),
        ("fix it", "fix it"),
        ("<user_info>OS: linux</user_info>\nfix <b>it</b>", "fix <b>it</b>"),
        ("<task_notification>done</task_notification>", ""),
        ("<system_reminder>be good</system_reminder>\n<rules>x</rules>", ""),
        ("<user_query> \n </user_query>", ""),
        ("see <user_query> in the code", "in the code"),
    ],
)
def test_of_what_is_sent_only_the_persons_words_count(text: str, words: str) -> None:
    assert typed(text) == words


@pytest.mark.parametrize(
    ("time", "ms"),
    [
        ("Friday, Nov 20, 2026, 10:00 AM (UTC)", TEN_UTC),
        ("Friday, Nov 20, 2026, 11:00 AM (UTC+1)", TEN_UTC),
        ("Friday, Nov 20, 2026, 4:30 AM (UTC-5:30)", TEN_UTC),
        ("Nov 20, 2026, 12:00 PM (UTC+2)", TEN_UTC),
        ("Friday, Nov 20, 2026, 12:30 AM (UTC+2:30)", TEN_UTC - 12 * 60 * MINUTE),
        ("Friday, Nov 20, 2026, 10:00 AM", None),
        ("Friday, Nov 31, 2026, 10:00 AM (UTC)", None),
        ("Friday, Abc 20, 2026, 10:00 AM (UTC)", None),
        ("2026-11-20T10:00Z", None),
    ],
)
def test_a_time_counts_with_its_zone_and_not_without(time: str, ms: int | None) -> None:
    assert said_at(f"<timestamp>{time}</timestamp>\n<user_query>x</user_query>") == ms


def test_what_was_kept_back_is_no_word_of_the_agents() -> None:
    assert spoken("[REDACTED]\n\n it builds ") == "it builds"
    assert spoken("[REDACTED]") == ""


def test_prompts_have_the_time_that_stands_in_them_and_nothing_else_has_one(told: Any, samples: ModuleType) -> None:
    found = told(
        samples.cursor_asked("one", 3),
        samples.cursor_said("assistant", "done"),
        samples.cursor_said("user", "<user_query>two</user_query>"),
    )
    assert [event.at_ms for event in found.of(Kind.PROMPT)] == [TEN_UTC - 57 * MINUTE, None]
    assert (found.facts.started_ms, found.facts.ended_ms) == (TEN_UTC - 57 * MINUTE,) * 2


# -- turns


def test_a_call_without_a_result_stays_open(told: Any, samples: ModuleType) -> None:
    found = told(samples.cursor_asked("one"), samples.cursor_said("assistant", samples.cursor_call("t1", "make")))
    assert found.outcomes() == [Outcome.OPEN]


def test_results_without_an_id_go_to_the_calls_in_their_order(told: Any, samples: ModuleType) -> None:
    calls = [samples.cursor_call("t1", "make"), samples.cursor_call("t2", "pytest")]
    results = [{"type": "tool_result", "content": "bad", "is_error": True}, {"type": "tool_result", "content": "fine"}]
    found = told(
        samples.cursor_asked("one"), samples.cursor_said("assistant", *calls), samples.cursor_said("user", *results)
    )
    assert [(event.call_id, event.outcome) for event in found.of(Kind.CALL)] == [
        ("t1", Outcome.ERROR),
        ("t2", Outcome.OK),
    ]


def test_a_result_that_names_its_call_goes_there(told: Any, samples: ModuleType) -> None:
    found = told(
        samples.cursor_asked("one"),
        samples.cursor_said("assistant", samples.cursor_call("t1", "make"), samples.cursor_call("t2", "pytest")),
        samples.cursor_said("user", samples.cursor_gave("t2", "bad", error=True)),
    )
    ended = {event.call_id: event.outcome for event in found.of(Kind.CALL)}
    assert ended == {"t1": Outcome.OPEN, "t2": Outcome.ERROR}


def test_keys_count_the_turns_and_the_calls_of_each(told: Any, samples: ModuleType) -> None:
    turn = [samples.cursor_asked("one"), samples.cursor_said("assistant", samples.cursor_call("t1", "make"), "done")]
    keys = ["s1:1", "s1:1:answer", "s1:1:call:1", "s1:2", "s1:2:answer", "s1:2:call:1"]
    assert sorted(told(*turn, *turn).events) == keys


def test_a_turn_that_was_aborted_is_an_interrupt(told: Any, samples: ModuleType) -> None:
    found = told(
        samples.cursor_asked("one"),
        samples.cursor_said("assistant", samples.cursor_call("t1", "make")),
        {"type": "turn_ended", "status": "error", "error": "Error: aborted"},
    )
    assert found.outcomes() == [Outcome.INTERRUPTED]
    assert [event.author for event in found.of(Kind.INTERRUPT)] == [Author.PERSON]


def test_another_failure_of_a_turn_is_an_error_of_the_program(told: Any, samples: ModuleType) -> None:
    found = told(samples.cursor_asked("one"), {"type": "turn_ended", "status": "error", "error": "quota exceeded"})
    assert [(event.text, event.author) for event in found.of(Kind.ERROR)] == [("quota exceeded", Author.HARNESS)]
    assert found.of(Kind.INTERRUPT) == []


def test_what_the_program_says_is_no_prompt(told: Any, samples: ModuleType) -> None:
    found = told(
        samples.cursor_said("user", "<task_notification>finished</task_notification>"), samples.cursor_asked("one")
    )
    assert found.texts(Kind.PROMPT) == ["one"]
    assert found.skipped["injected"] == 1


def test_a_record_of_an_unknown_kind_costs_only_itself(told: Any, samples: ModuleType) -> None:
    found = told(samples.cursor_asked("one"), {"type": "new_thing"}, {"role": 7}, samples.cursor_asked("two"))
    assert found.texts(Kind.PROMPT) == ["one", "two"]
    assert sum(count for why, count in found.skipped.items() if why.startswith("unknown")) == 2


# -- where, and whose


def test_the_folder_is_the_one_whose_name_cursor_gave_the_project(told: Any, samples: ModuleType) -> None:
    call = {"type": "tool_use", "name": "Read", "input": {"path": "/home/x/my.shop_2/src/a.py"}}
    records = [samples.cursor_asked("one"), samples.cursor_said("assistant", call)]
    assert told(*records, slug="home-x-my-shop-2").facts.cwds == ["/home/x/my.shop_2"]
    assert told(*records, slug="home-x-other").facts.cwds == []


def test_a_sub_agents_transcript_names_its_session_and_has_no_prompts(
    write: Any, as_agent: Any, samples: ModuleType
) -> None:
    records = samples.dumped(
        samples.cursor_asked("look around"),
        samples.cursor_said("assistant", "found", samples.cursor_call("t1", "ls")),
        samples.cursor_said("user", samples.cursor_gave("t1", "a")),
    )
    found = as_agent(write("projects/p/agent-transcripts/s1/subagents/s2.jsonl", records), "cursor")
    assert (found.facts.origin, found.facts.parent, found.facts.native_id) == (Origin.SUBAGENT, "s1", "s2")
    assert found.of(Kind.PROMPT) == []
    assert len(found.of(Kind.CALL)) == 1


def sources(root: Path) -> tuple[list[str], list[Trouble]]:
    trouble: list[Trouble] = []
    return [str(Path(s.path).relative_to(root)) for s in CursorAgent().find(root, trouble)], trouble


def test_of_a_session_as_text_and_as_lines_the_lines_count(write: Any, tmp_path: Path) -> None:
    for name in ("a.txt", "b.jsonl", "b.txt", "c/c.jsonl", "c/subagents/d.jsonl", "c/notes.md"):
        write(f"projects/p/agent-transcripts/{name}", b"x")
    write("projects/p/repo.jsonl", b"x")
    below = "p/agent-transcripts"
    assert sorted(sources(tmp_path / "projects")[0]) == [
        f"{below}/a.txt",
        f"{below}/b.jsonl",
        f"{below}/c/c.jsonl",
        f"{below}/c/subagents/d.jsonl",
    ]


# -- text

TEXT = """user:
<user_query>
fix it
</user_query>

assistant:
I look at it.
[Thinking] hm
[Tool call] Shell
  command: make
  all of it
  description: build
[Tool result] Shell
no rule
[Tool call] Read
  path: /work/shop/a.py

assistant:
it builds

user:
<user_query>thanks</user_query>
"""


def test_a_transcript_of_text_is_read(write: Any, as_agent: Any) -> None:
    path = write("projects/work-shop/agent-transcripts/s1.txt", TEXT.encode())
    found = as_agent(path, "cursor")
    assert found.texts(Kind.PROMPT) == ["fix it", "thanks"]
    assert found.texts(Kind.ANSWER) == ["it builds"]
    first, second = found.of(Kind.CALL)
    assert first.arguments == '{"command":"make\\n  all of it","description":"build"}'
    assert (first.outcome, first.head.strip(), second.outcome) == (Outcome.OK, "no rule", Outcome.OPEN)
    assert found.facts.cwds == ["/work/shop"]
    assert as_agent(path, "cursor", found.cursor).batches == 0


def test_a_transcript_of_text_that_shrank_takes_back_what_is_gone(write: Any, as_agent: Any) -> None:
    path = write("projects/work-shop/agent-transcripts/s1.txt", TEXT.encode())
    found = as_agent(path, "cursor")
    path.write_bytes(TEXT[: TEXT.rindex("user:")].encode())
    batches = list(CursorAgent().read(Source(agent="cursor", path=str(path)), found.cursor))
    assert batches[0].withdrawn == ["s1:2"]


# -- the editor's database


@pytest.fixture
def edited(samples: ModuleType, tmp_path: Path, as_agent: Any) -> Any:
    """Read a database of the editor that holds these rows."""

    def read(*rows: Any) -> Any:
        path = tmp_path / "home/.config/Cursor/User/globalStorage/state.vscdb"
        path.unlink(missing_ok=True)
        return as_agent(samples.rows(path, [*samples.CURSOR_TABLES, *rows], wal=False), "cursor")

    return read


@pytest.mark.parametrize(
    ("more", "outcome"),
    [
        ({"status": "completed"}, Outcome.OK),
        ({"status": "completed", "userDecision": "accepted"}, Outcome.OK),
        ({"status": "completed", "userDecision": "rejected"}, Outcome.REFUSED),
        ({"status": "cancelled"}, Outcome.INTERRUPTED),
        ({"status": "error"}, Outcome.ERROR),
        ({"status": "completed", "error": '"boom"'}, Outcome.ERROR),
        ({"status": "loading"}, Outcome.OPEN),
    ],
)
def test_how_a_call_of_the_editor_ended(more: dict[str, Any], outcome: Outcome, edited: Any, samples: Any) -> None:
    found = edited(
        samples.cursor_value("composerData:comp1", {}),
        samples.cursor_bubble(1, 1, "fix it"),
        samples.cursor_bubble(2, 2, "", **samples.cursor_tool("c1", "make", **more)),
    )
    assert found.outcomes() == [outcome]
    assert len(found.of(Kind.INTERRUPT)) == (outcome is Outcome.INTERRUPTED)


def test_a_message_that_the_sessions_own_row_does_not_list_was_given_up(edited: Any, samples: ModuleType) -> None:
    listed = {"fullConversationHeadersOnly": [{"bubbleId": "b3"}, {"bubbleId": "b1"}, {"bubbleId": "gone"}]}
    found = edited(
        samples.cursor_value("composerData:comp1", listed),
        *(samples.cursor_bubble(number, 1, f"say {number}") for number in (1, 2, 3)),
    )
    assert found.texts(Kind.PROMPT) == ["say 3", "say 1"]


def test_messages_may_stand_in_the_sessions_own_row(edited: Any, samples: ModuleType) -> None:
    said = [{"type": 1, "bubbleId": "b1", "text": "fix it"}, {"type": 2, "bubbleId": "b2", "text": "done"}]
    found = edited(samples.cursor_value("composerData:comp1", {"conversation": said}))
    assert (found.texts(Kind.PROMPT), found.texts(Kind.ANSWER)) == (["fix it"], ["done"])


def test_a_session_that_has_a_transcript_is_read_from_there_alone(
    edited: Any, samples: ModuleType, tmp_path: Path
) -> None:
    rows = [*samples.cursor_desktop_rows("s1"), *samples.cursor_desktop_rows("s2")]
    names = {event.key.partition(":")[0] for event in edited(*rows).events.values()}
    assert names == {"s1", "s2"}
    (tmp_path / "home/.cursor/projects/p/agent-transcripts/s1").mkdir(parents=True)
    (tmp_path / "home/.cursor/projects/p/agent-transcripts/s3.txt").touch()
    rows += samples.cursor_desktop_rows("s3")
    names = {event.key.partition(":")[0] for event in edited(*rows).events.values()}
    assert names == {"s2"}


def test_no_other_key_and_no_other_table_of_the_editor_is_read(edited: Any, samples: ModuleType) -> None:
    found = edited(
        "INSERT INTO ItemTable VALUES ('cursorAuth/accessToken', 'secret')",
        samples.cursor_value("cursorAuth/accessToken", "secret"),
        samples.cursor_value("composerData:comp1", {}),
        samples.cursor_value("bubbleId:comp10:b1", {"type": 1, "text": "another's"}),
        samples.cursor_value("bubbleId:comp1x:b1", {"type": 1, "text": "another's"}),
        samples.cursor_bubble(1, 1, "fix it"),
    )
    assert [event.text for event in found.events.values()] == ["fix it"]


def test_a_session_whose_own_row_is_too_long_is_said_and_the_others_are_read(edited: Any, samples: Any) -> None:
    found = edited(
        ("INSERT INTO cursorDiskKV VALUES ('composerData:big', zeroblob(?))", (30_000_000,)),
        samples.cursor_value("composerData:comp1", {}),
        samples.cursor_bubble(1, 1, "fix it"),
    )
    assert found.texts(Kind.PROMPT) == ["fix it"]
    assert ["cannot be read" in one.reason for one in found.warnings] == [True]
