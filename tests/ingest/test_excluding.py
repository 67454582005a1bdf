"""What a person excludes is left out and nothing else, also where a database holds the sessions of all folders."""

from __future__ import annotations

import importlib.util
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillopt_sleep.ingest import Harvested
from skillopt_sleep.store.engine import Store

Harvest = Callable[..., Harvested]
SECRET = "/work/secret"
REASON = "excluded by the configuration"


@pytest.fixture(scope="module")
def samples() -> ModuleType:
    """The samples of the harvesters' tests."""
    spec = importlib.util.spec_from_file_location(
        "excluding_samples", Path(__file__).parent.parent / "harvesters" / "samples.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def database(home: Path, samples: ModuleType) -> Path:
    """Three sessions of OpenCode in one database, the one in the middle in a folder that is nobody's business."""
    names = ("ses_1", "ses_2", "ses_3")
    turns = [statement for name in names for statement in samples.opencode_turns(name)]
    sessions = [samples.opencode_session(name) for name in names]
    place = home / ".local/share/opencode/opencode.db"
    changed: list[Any] = [
        ("UPDATE session SET directory = ? WHERE id = 'ses_2'", (SECRET,)),
        "UPDATE message SET data = replace(data, '\"created\": 1', '\"created\": 2') WHERE session_id = 'ses_2'",
        "UPDATE message SET data = replace(data, '\"created\": 1', '\"created\": 3') WHERE session_id = 'ses_3'",
    ]
    return Path(samples.rows(place, [*samples.OPENCODE_TABLES, *sessions, *turns, *changed], wal=False))


def known(store: Store) -> list[str]:
    return sorted(row["native_id"] for row in store.sessions("all"))


def go_on(database: Path, session: str, samples: ModuleType, text: str) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        samples.run(connection, samples.opencode_message(9, "user", [samples.opencode_text(text)], session))


def test_of_a_database_only_the_excluded_session_is_left_out(
    store: Store, database: Path, samples: ModuleType, take_in: Harvest
) -> None:
    done = take_in(exclude=[SECRET])
    assert (done.new, done.skipped[REASON], known(store)) == (2, 1, ["ses_1", "ses_3"])
    assert SECRET.encode() not in b"".join(file.read_bytes() for file in store.path.parent.iterdir())
    again = take_in(exclude=[SECRET])
    assert (again.bytes, again.new, again.unchanged) == (0, 0, 2)


def test_the_others_go_on_meanwhile_and_the_excluded_one_is_whole_when_it_is_wanted(
    store: Store, database: Path, samples: ModuleType, take_in: Harvest
) -> None:
    take_in(exclude=[SECRET])
    go_on(database, "ses_3", samples, "And one thing more")
    grown = take_in(exclude=[SECRET])
    assert (grown.new, grown.updated, known(store)) == (0, 1, ["ses_1", "ses_3"])
    assert take_in().new == 1
    prompts = {row["native_id"]: [p["text"] for p in row["prompts"]] for row in store.sessions("all")}
    assert prompts["ses_2"] == prompts["ses_1"] == samples.PROMPTS
    assert prompts["ses_3"] == [*samples.PROMPTS, "And one thing more"]


def test_a_file_is_one_session_and_left_out_whole(
    store: Store, home: Path, made: ModuleType, take_in: Harvest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the folder is first named far behind its beginning."""
    monkeypatch.setattr("skillopt_harvesters.bytestream.WINDOW", 512)
    talk: Any = made.everyday(1, cwd="/home/kim/shop")
    talk.cwd = SECRET
    talk.asks("here now")
    talk.write(home)
    done = take_in(exclude=[SECRET])
    assert (done.new, done.skipped[REASON], known(store)) == (0, 1, [])
