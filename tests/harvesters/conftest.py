"""What the tests of the harvesters share: a file read to its end, and files made line by line."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillopt_harvesters import (
    Author,
    Batch,
    Cursor,
    Event,
    Kind,
    Outcome,
    SessionFacts,
    Source,
    Trouble,
    Usage,
    discover_loose,
    harvester_of,
)
from skillopt_harvesters.walk import source_of

TYPED = (Kind.PROMPT, Kind.QUEUED)


@dataclass
class Reading:
    """What a store would hold after reading a source: the last event of each key."""

    events: dict[str, Event] = field(default_factory=dict)
    usage: dict[str, Usage] = field(default_factory=dict)
    session: SessionFacts | None = None
    cursor: Cursor | None = None
    skipped: Counter[str] = field(default_factory=Counter)
    warnings: list[Trouble] = field(default_factory=list)
    batches: int = 0

    def take(self, batches: Iterable[Batch]) -> Reading:
        for batch in batches:
            for key in batch.withdrawn:
                self.events.pop(key, None)
            self.events.update({event.key: event for event in batch.events})
            self.usage.update({usage.key: usage for usage in batch.usage})
            self.session, self.cursor = batch.session, batch.cursor
            self.skipped.update(batch.skipped)
            self.warnings += batch.warnings
            self.batches += 1
        return self

    @property
    def facts(self) -> SessionFacts:
        assert self.session is not None
        return self.session

    def of(self, *kinds: Kind) -> list[Event]:
        """Events of some kinds in file order."""
        return sorted((e for e in self.events.values() if e.kind in kinds), key=lambda event: event.offset)

    def texts(self, *kinds: Kind) -> list[str]:
        return [event.text for event in self.of(*kinds)]

    def outcomes(self) -> list[Outcome | None]:
        return [event.outcome for event in self.of(Kind.CALL)]

    def counts(self) -> dict[str, int]:
        """Prompts, calls, errors and refusals as `count_independently.py` counts them."""
        calls = self.of(Kind.CALL)
        bad = (Outcome.ERROR, Outcome.CASCADE, Outcome.DENIED)
        typed = [e for e in self.of(*TYPED, Kind.REJECTION) if e.author is Author.PERSON]
        return {
            "prompts": sum(not event.key.endswith(":words") for event in typed),
            "calls": len(calls),
            "errors": sum(c.outcome in bad or (c.outcome is Outcome.INTERRUPTED and bool(c.text)) for c in calls),
            "refusals": sum(c.outcome is Outcome.REFUSED for c in calls),
        }


def source(path: Path, agent: str) -> Source:
    return source_of(agent, str(path), str(path.parent), path.stat())


def read_as(path: Path, agent: str, cursor: Cursor | None = None) -> Reading:
    """Read a file as an agent's, whatever it holds."""
    return Reading().take(harvester_of(agent).read(source(path, agent), cursor))


def read_loose(path: Path) -> Reading:
    """Read a file as what it is recognised to be."""
    sources, trouble, others = discover_loose([path])
    assert not trouble
    assert not others
    (found,) = sources
    return Reading().take(harvester_of(found.agent).read(found))


def lines(*records: Any) -> bytes:
    """JSON lines."""
    return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)


Read = Callable[[Path], Reading]
ReadAs = Callable[..., Reading]
Lines = Callable[..., bytes]


@pytest.fixture
def loose() -> Read:
    return read_loose


@pytest.fixture
def reading() -> type[Reading]:
    return Reading


@pytest.fixture
def as_agent() -> ReadAs:
    return read_as


@pytest.fixture
def to_lines() -> Lines:
    return lines


def load(name: str) -> ModuleType:
    """A helper module of this folder: tests are no package, so it is found by its file."""
    spec = importlib.util.spec_from_file_location(f"harvesters_{name}", Path(__file__).parent / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def counting() -> ModuleType:
    return load("count_independently")


@pytest.fixture(scope="session")
def made() -> ModuleType:
    return load("made")


@pytest.fixture(scope="session")
def samples() -> ModuleType:
    return load("samples")


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, bytes], Path]:
    """Write a file below the test's folder."""

    def to(name: str, content: bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    return to
