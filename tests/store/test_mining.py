"""What was mined is kept over nights and told as tasks."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import pytest
from sqlalchemy import func, select

from skillopt_sleep.clock import FixedClock
from skillopt_sleep.domain.episodes import Action, ActionKind, ActionOutcome, Episode
from skillopt_sleep.domain.tasks import KeptTask, TaskCheck
from skillopt_sleep.store import mining
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.schema import metadata

PREFIX = 1 << 26


@pytest.fixture
def sessions(store: Store) -> tuple[str, str]:
    """Two sessions with three events each; the events of session n are (n << 26) + 0, 1, 2."""
    with store.write() as connection:
        connection.exec_driver_sql("INSERT INTO source (agent, path) VALUES ('claude-code', '/x')")
        for n in (1, 2):
            connection.exec_driver_sql(
                "INSERT INTO session (name, agent, native_id, started_ms) VALUES (?, 'claude-code', ?, ?)",
                (f"s-{n}", f"native-{n}", n),
            )
            connection.exec_driver_sql("INSERT INTO stretch (session_id, source_id) VALUES (?, 1)", (n,))
            for seq in range(3):
                connection.exec_driver_sql(
                    "INSERT INTO event (id, key, kind, author, stretch_id) VALUES (?, ?, 'prompt', 'person', ?)",
                    (n * PREFIX + seq, n * 10 + seq, n),
                )
    return ("s-1", "s-2")


def episode(n: int) -> Episode:
    action = Action(n * PREFIX + 1, 1, ActionKind.COMMAND, "Bash", ActionOutcome.REFUSED, command="npm install")
    return Episode(
        f"e-{n}",
        f"s-{n}",
        "claude-code",
        "/home/kim/shop",
        "kim",
        1000 + n,
        "add it",
        n * PREFIX,
        (action,),
        answer="ok",
    )


def saved(store: Store, filled: ModuleType, sessions: tuple[str, str]) -> None:
    mining.save_episodes(store, [episode(1), episode(2)], "1")
    pattern = filled.pattern((PREFIX + 1, 2 * PREFIX + 1), sessions, ("e-1", "e-2"))
    mining.save_patterns(store, [pattern], night="n-1", normaliser="1")


def count(store: Store, table: str) -> int:
    with store.read() as connection:
        return int(connection.execute(select(func.count()).select_from(metadata.tables[table])).scalar_one())


def test_patterns_are_kept_once_over_nights(store: Store, filled: ModuleType, sessions: tuple[str, str]) -> None:
    saved(store, filled, sessions)
    first = {name: count(store, name) for name in ("episode", "pattern", "friction", "signature", "pattern_member")}
    assert first == {"episode": 2, "pattern": 1, "friction": 2, "signature": 1, "pattern_member": 4}
    pattern = filled.pattern((PREFIX + 1, 2 * PREFIX + 1), sessions, ("e-1", "e-2"))
    mining.save_patterns(store, [replace(pattern, title="Better", last_ms=9)], night="n-2", normaliser="1")
    assert {name: count(store, name) for name in first} == first
    row = store.driver.execute("SELECT title, last_ms, first_night, last_night, sentence FROM pattern").fetchone()
    assert row == ("Better", 9, "n-1", "n-2", '{"form": "Use", "x": "pnpm", "y": "npm"}')
    assert store.driver.execute("SELECT failing_event FROM friction ORDER BY 1").fetchall() == [
        (PREFIX + 1,),
        (2 * PREFIX + 1,),
    ]


def test_what_the_store_does_not_hold_is_not_referred_to(
    store: Store, filled: ModuleType, sessions: tuple[str, str]
) -> None:
    pattern = filled.pattern((77, 2 * PREFIX + 1), ("s-1", "s-9"), ("e-1", "e-9"))
    mining.save_episodes(store, [replace(episode(1), id="e-9", session="s-9")], "1")
    mining.save_patterns(store, [pattern], night="n-1", normaliser="1")
    assert store.driver.execute("SELECT failing_event, episode_id FROM friction").fetchall() == [(None, None)]
    assert count(store, "episode") == 0


TASK = KeptTask(
    "t-1",
    "add it",
    "twin-1",
    "gate",
    1001,
    pattern="shop|friction|npm install",
    episode="e-1",
    session="s-1",
    salt="pepper",
    commit="abc",
    files={"a.py": "d1"},
    checks=(TaskCheck("command_absent", "npm install", "refusal", PREFIX + 1, "passes"), TaskCheck("contains", "x")),
    first_night="n-1",
)


def test_tasks_come_back_as_they_were(store: Store, filled: ModuleType, sessions: tuple[str, str]) -> None:
    saved(store, filled, sessions)
    imported = KeptTask("t-2", "write a poem", "twin-2", "train", 5, origin="imported")
    mining.save_tasks(store, [TASK, imported])
    assert mining.tasks(store) == [imported, TASK]
    assert mining.tasks(store, split="gate") == [TASK]
    assert mining.tasks(store, name="t-2") == [imported]


def test_what_is_fixed_for_a_task_stays(store: Store, filled: ModuleType, sessions: tuple[str, str]) -> None:
    saved(store, filled, sessions)
    mining.save_tasks(store, [TASK])
    mining.save_tasks(store, [replace(TASK, split="train", salt="other", twin="t", first_night="n-2", checks=())])
    assert mining.tasks(store) == [replace(TASK, checks=())]


def test_a_task_is_told_as_the_command_line_tells_it(
    store: Store, filled: ModuleType, sessions: tuple[str, str]
) -> None:
    saved(store, filled, sessions)
    mining.save_tasks(store, [TASK])
    assert list(mining.task_documents(store)) == [
        {
            "format": 1,
            "id": "t-1",
            "pattern": {
                "id": mining.pattern_id("shop|friction|npm install"),
                "kind": "friction",
                "title": "`npm install` is refused",
                "sessions": 2,
                "last_seen": "2023-11-14T22:15:00.000Z",
            },
            "prompt": "add it",
            "split": "gate",
            "origin": "real",
            "checks": [
                {"kind": "command_absent", "argument": "npm install", "from": "refusal"},
                {"kind": "contains", "argument": "x", "from": None},
            ],
            "session": "s-1",
            "at": "1970-01-01T00:00:01.001Z",
        }
    ]


def test_reviewed_tasks_are_marked_once(
    store: Store, filled: ModuleType, sessions: tuple[str, str], clock: FixedClock
) -> None:
    saved(store, filled, sessions)
    mining.save_tasks(store, [TASK, replace(TASK, id="t-2")])
    assert mining.mark_reviewed(store, "kim", ["t-1"]) == 1
    assert mining.mark_reviewed(store, "kim") == 1
    assert {(one.reviewed_by, one.reviewed_ms) for one in mining.tasks(store)} == {("kim", clock.ms)}
