"""What the tests of the harvest share."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillopt_harvesters import discover, read
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.ingest import Harvested, harvest
from skillopt_sleep.redact import Redactor
from skillopt_sleep.store.engine import Store, open_store
from skillopt_sleep.store.tokens import unpacked

Harvest = Callable[..., Harvested]
NOON = 1_795_953_600_000  # 2026-11-29T12:00:00Z


def load(name: str) -> ModuleType:
    """A helper module of this folder: tests are no package, so it is found by its file."""
    spec = importlib.util.spec_from_file_location(f"ingest_{name}", Path(__file__).parent / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def made() -> ModuleType:
    return load("made")


@pytest.fixture(scope="session")
def redactor() -> Redactor:
    return Redactor()


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store: making one by migrations takes half a second, copying it none."""
    path = tmp_path_factory.mktemp("empty") / "store.db"
    open_store(path, FixedClock(NOON)).close()
    return path


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A user's HOME with no agent in it yet."""
    folder = tmp_path / "user"
    folder.mkdir()
    return folder


@pytest.fixture
def store(tmp_path: Path, empty: Path, clock: FixedClock) -> Iterator[Store]:
    path = tmp_path / "sleep" / "store.db"
    path.parent.mkdir(mode=0o700)
    shutil.copy(empty, path)
    with open_store(path, clock) as opened:
        yield opened


@pytest.fixture
def take_in(store: Store, home: Path, redactor: Redactor, clock: FixedClock) -> Harvest:
    """A harvest of what lies in `home` now."""

    def run(**options: Any) -> Harvested:
        sources, trouble = discover(home, {})
        reader = options.pop("read", read)
        return harvest(store, sources, reader, redactor, clock, trouble=trouble, **options)

    return run


@pytest.fixture(scope="session")
def table() -> Callable[[Store], dict[str, list[tuple[Any, ...]]]]:
    """Everything that a harvest stores, in a form that two stores can be compared by."""
    queries = {
        "session": "SELECT name, agent, native_id, origin, cwd, cwds, branch, started_ms, ended_ms FROM session",
        "event": "SELECT key, kind, author, at_ms, offset, length, tool, outcome FROM event",
        "message": "SELECT m.key, s.name FROM message m JOIN session s ON s.id = m.session_id",
        "source": "SELECT agent, path, size, offset, before, state FROM source",
        "session_source": "SELECT s.name, so.path, ss.relation FROM session_source ss "
        "JOIN session s ON s.id = ss.session_id JOIN source so ON so.id = ss.source_id",
    }

    def rows(store: Store) -> dict[str, list[tuple[Any, ...]]]:
        found = {name: sorted(store.driver.execute(query), key=repr) for name, query in queries.items()}
        said = [
            (event.session, event.seq, event.kind, event.text, event.arguments, event.head, event.outcome)
            for session in store.stored_sessions(origins=("interactive", "headless", "subagent", "own"))
            for event in session.events
        ]
        packs = store.driver.execute("SELECT session_id, tokens FROM usage ORDER BY id").fetchall()
        took = [
            tuple(one)
            for number in sorted({number for number, _ in packs})
            for one in unpacked(pack for owner, pack in packs if owner == number).values()
        ]
        return found | {"words": said, "usage": sorted(took)}

    return rows
