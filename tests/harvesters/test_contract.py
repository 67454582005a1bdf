"""What every harvester promises, seen on a small session of each agent: the same for all that are registered."""

from __future__ import annotations

import itertools
import os
import random
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillopt_harvesters import (
    Author,
    Event,
    Harvester,
    Kind,
    Origin,
    Outcome,
    Source,
    Trouble,
    Unreadable,
    discover,
    harvester_of,
    harvesters,
)

AGENTS = [harvester.agent for harvester in harvesters()]
VARIABLES = (
    *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"),
    *("APPDATA", "VSCODE_PORTABLE", "GEMINI_CLI_HOME", "OPENCODE_DB", "PI_CODING_AGENT_DIR", "OPENCLAW_STATE_DIR"),
    "PI_CODING_AGENT_SESSION_DIR",
)
LINES = ("claude-code", "codex", "copilot-cli", "cursor", "gemini", "pi", "openclaw")
DATABASES = ("cursor's editor", "opencode", "devin")
HEAD = 1 << 16


class Kept:
    """A sample on disk: its home, its main file, and the sources that are found."""

    def __init__(self, samples: ModuleType, made: ModuleType, home: Path, name: str) -> None:
        self.name = name
        self.home = home
        self.agent: str
        make: Any
        self.agent, make = samples.FURTHER.get(name) or (name, samples.SAMPLES[name])
        self.path: Path = make(home, made)
        self.harvester: Harvester = harvester_of(self.agent)

    @property
    def head(self) -> bytes:
        return self.path.read_bytes()[:HEAD]

    def sources(self) -> list[Source]:
        found, trouble = discover(self.home, {}, {self.agent})
        assert not trouble
        return found

    def read(self, reading: Any) -> Any:
        """All that the sample says."""
        return reading().take(batch for source in self.sources() for batch in self.harvester.read(source))


NAMES = [*AGENTS, "cursor's editor", "opencode's files"]


@pytest.fixture(params=NAMES)
def kept(request: pytest.FixtureRequest, samples: ModuleType, made: ModuleType, tmp_path: Path) -> Kept:
    return Kept(samples, made, tmp_path / "home", request.param)


@pytest.fixture(params=AGENTS)
def harvester(request: pytest.FixtureRequest) -> Harvester:
    return harvester_of(request.param)


def test_every_harvester_has_a_sample(samples: ModuleType) -> None:
    assert sorted(samples.SAMPLES) == sorted(AGENTS)
    assert [name for name, _ in samples.FURTHER.values() if name not in AGENTS] == []


# -- what is found in a sample is what it says


def test_every_agent_tells_the_same_story(kept: Kept, samples: ModuleType, reading: Any) -> None:
    found = kept.read(reading)
    assert found.texts(Kind.PROMPT) == samples.PROMPTS
    assert found.texts(Kind.ANSWER) == samples.ANSWERS
    assert found.outcomes() == [Outcome.ERROR, Outcome.OK]
    first, second = found.of(Kind.CALL)
    assert samples.FAILURE in first.text
    assert second.head.strip() == samples.OUTPUT
    assert "make" in first.arguments
    assert "pytest" in second.arguments
    assert {event.author for event in found.of(Kind.PROMPT)} == {Author.PERSON}
    assert {event.author for event in found.of(Kind.CALL, Kind.ANSWER)} == {Author.AGENT}


def test_a_session_knows_its_agent_its_place_and_its_time(kept: Kept, samples: ModuleType, reading: Any) -> None:
    facts = kept.read(reading).facts
    assert facts.agent == kept.agent
    assert facts.native_id
    assert facts.origin is Origin.INTERACTIVE
    assert facts.cwds[0] == samples.CWD
    assert samples.START_MS - 1 <= facts.started_ms <= facts.ended_ms < samples.START_MS + 86_400_000 * 3


# -- roots


def test_roots_are_absolute_and_depend_only_on_what_is_given(
    harvester: Harvester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    bare = harvester.roots(home, {})
    assert bare
    assert all(root.is_absolute() and root.is_relative_to(home) for root in bare)
    moved = {name: str(tmp_path / "moved" / name) for name in VARIABLES}
    there = harvester.roots(home, moved)
    assert all(root.is_absolute() and root.is_relative_to(tmp_path) for root in there)
    for name in VARIABLES:
        monkeypatch.setenv(name, "/somewhere/else")
    monkeypatch.setenv("HOME", "/somewhere/else")
    monkeypatch.chdir(tmp_path)
    assert harvester.roots(home, {}) == bare
    assert harvester.roots(home, moved) == there
    assert not home.exists()


@pytest.mark.parametrize("agent", ["cursor", "opencode", "gemini", "pi", "openclaw", "devin"])
def test_a_folder_of_the_environment_may_be_relative_or_below_the_home(agent: str, tmp_path: Path) -> None:
    for value in ("~/x", "x"):
        roots = harvester_of(agent).roots(tmp_path, dict.fromkeys(VARIABLES, value))
        assert all(root.is_relative_to(tmp_path) for root in roots)
        assert agent == "openclaw" or any(root.is_relative_to(tmp_path / "x") for root in roots)


# -- finding


def places(harvester: Harvester, home: Path) -> Iterator[Path]:
    """Roots of every name that the harvester has."""
    seen: set[str] = set()
    moved = {name: str(home / "moved" / name) for name in VARIABLES}
    for root in harvester.roots(home, moved) + harvester.roots(home, {}):
        if root.name not in seen:
            seen.add(root.name)
            yield root


def found_in(harvester: Harvester, root: Path) -> tuple[list[Source], list[Trouble]]:
    trouble: list[Trouble] = []
    return list(harvester.find(root, trouble)), trouble


def test_a_root_that_is_not_there_or_empty_gives_nothing(harvester: Harvester, tmp_path: Path) -> None:
    for root in places(harvester, tmp_path):
        assert found_in(harvester, root) == ([], [])
        root.mkdir(parents=True)
        assert found_in(harvester, root) == ([], [])


def test_a_root_that_is_no_folder_gives_nothing_or_is_said(harvester: Harvester, tmp_path: Path) -> None:
    for root in places(harvester, tmp_path):
        root.parent.mkdir(parents=True, exist_ok=True)
        root.write_bytes(b"{}\n")
        found, _ = found_in(harvester, root)
        assert not found or harvester.agent == "opencode"
        assert found_in(harvester, root / "below" / "it")[0] == []
        root.unlink()


def test_folders_in_circles_are_left(harvester: Harvester, tmp_path: Path) -> None:
    for number, root in enumerate(places(harvester, tmp_path)):
        root.parent.mkdir(parents=True, exist_ok=True)
        root.symlink_to(root)
        found, trouble = found_in(harvester, root)
        assert not found
        assert all(isinstance(one, Trouble) and one.reason for one in trouble)
        root.unlink()
        (root / "a" / "b").mkdir(parents=True)
        (root / "a" / "b" / "up").symlink_to(root, target_is_directory=True)
        (root / "a" / "itself.jsonl").symlink_to(root / "a" / "itself.jsonl")
        assert found_in(harvester, root)[0] == [], number


def test_what_is_no_regular_file_is_said(kept: Kept) -> None:
    """A FIFO, a folder, or a link to nothing in the place of a session is never waited for, and never a source."""
    (root,) = {Path(source.root) for source in kept.sources()}
    kept.path.unlink()
    for make in (os.mkfifo, os.mkdir, lambda path: path.symlink_to("gone")):
        make(kept.path)
        found, _ = found_in(kept.harvester, root)
        assert str(kept.path) not in {source.path for source in found}
        (kept.path.rmdir if kept.path.is_dir() else kept.path.unlink)()


def test_odd_names_are_no_trouble(kept: Kept, reading: Any) -> None:
    """Names that are no UTF-8, with line ends or very long: whatever is found can be read and written down, or says
    why not; and no two sessions become one because of their names."""
    folder, ending = os.fsencode(kept.path.parent), os.fsencode(kept.path.suffix)
    odd = [b"\xff\xfe", b"\xff\xfd", b"a\nb", b"session-\xe9", b"x" * 240, b"opencode-\xff"]
    for name in odd:
        Path(os.fsdecode(folder + b"/" + name + ending)).write_bytes(b'{"type":"x"}\n')
        beside = Path(os.fsdecode(folder + b"-" + name[:200]))
        beside.mkdir()
        (beside / kept.path.name).write_bytes(b'{"type":"x"}\n')
    known = []
    for source in kept.sources():
        found = said(kept.harvester, source, reading)
        if found is not None and found.session is not None:
            msgspec.msgpack.encode([found.facts, *found.events.values()])
            known += [found.facts.native_id] if Path(source.path).parent == kept.path.parent else []
    assert sorted(set(known)) == sorted(known)


def said(harvester: Harvester, source: Source, reading: Any) -> Any:
    """What was read; None where a source is unreadable and says why."""
    try:
        return reading().take(harvester.read(source))
    except Unreadable as problem:
        if not problem.reason or not problem.path:
            raise
        return None


@pytest.mark.root
def test_what_may_not_be_entered_is_said(kept: Kept, unprivileged: list[str], tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from skillopt_harvesters import discover\n"
        "home = Path(sys.argv[1])\n"
        "try: list(home.joinpath('.locked').iterdir())\n"
        "except PermissionError: print('refused')\n"
        "found, trouble = discover(home, {}, {sys.argv[2]})\n"
        "print(len(found), *sorted({one.reason for one in trouble}), sep='\\n')\n"
    )
    (root,) = {Path(source.root) for source in kept.sources()}
    (kept.home / ".locked").mkdir()
    (kept.home / ".locked").chmod(0o700)
    for folder in (tmp_path, kept.home, *root.relative_to(kept.home).parents):
        (kept.home / folder).chmod(0o755)
    tmp_path.parent.chmod(0o755)
    root.chmod(0o700)
    argv = [*unprivileged, "-c", code, str(kept.home), kept.agent]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:3] == ["refused", "0", "permission denied"]


# -- recognising


def test_a_harvester_knows_its_own_and_no_one_elses(samples: ModuleType, made: ModuleType, tmp_path: Path) -> None:
    kept = [Kept(samples, made, tmp_path / str(number), name) for number, name in enumerate(NAMES)]
    for sample in kept:
        loose = tmp_path / "loose"
        for path in (sample.path, loose):
            knows = [h.agent for h in harvesters() if h.recognises(path, sample.head)]
            assert knows == [sample.agent] or (path is loose and sample.agent in knows), sample.name


@pytest.mark.parametrize(
    "head", [b"", b"\0" * 99, b"\xff\xfe", b"{}", b"[]", b"null", b'{"a":', b"{" * 9999, b"text\n"]
)
def test_what_is_nothing_is_known_by_nobody(head: bytes, tmp_path: Path) -> None:
    assert [h.agent for h in harvesters() if h.recognises(tmp_path / "x.jsonl", head)] == []


# -- reading


def test_reading_twice_gives_the_same(kept: Kept, reading: Any) -> None:
    once, again = kept.read(reading), kept.read(reading)
    assert once.events
    assert (again.events, again.usage, again.facts) == (once.events, once.usage, once.facts)


def test_nothing_new_is_nothing_read(kept: Kept, reading: Any) -> None:
    for source in kept.sources():
        cursor = reading().take(kept.harvester.read(source)).cursor
        assert list(kept.harvester.read(source, cursor)) == []


def test_keys_are_unique(kept: Kept, reading: Any) -> None:
    given: list[Event] = []
    spent: list[str] = []
    for source in kept.sources():
        for batch in kept.harvester.read(source):
            given += batch.events
            spent += [usage.key for usage in batch.usage]
    assert len({event.key for event in given}) == len(given) > 0
    assert len(set(spent)) == len(spent)


def test_events_stand_in_their_order_within_their_record(kept: Kept) -> None:
    for source in kept.sources():
        for batch in kept.harvester.read(source):
            offsets = [event.offset for event in batch.events]
            assert offsets == sorted(offsets)
            assert all(event.length >= 0 for event in batch.events)


@pytest.mark.parametrize("name", LINES)
def test_cut_anywhere_a_file_of_lines_gives_the_same(
    name: str, samples: ModuleType, made: ModuleType, tmp_path: Path, reading: Any
) -> None:
    kept = Kept(samples, made, tmp_path / "home", name)
    content, whole = kept.path.read_bytes(), kept.read(reading)
    source = kept.sources()[0]
    for cut in {*range(0, len(content), 29), *(i + d for i, c in enumerate(content) if c == 10 for d in (0, 1))}:
        found, cursor = reading(), None
        for piece in (content[:cut], content):
            kept.path.write_bytes(piece)
            found.take(kept.harvester.read(Source(agent=kept.agent, path=source.path), cursor))
            cursor = found.cursor
        assert found.events == whole.events, cut
        assert found.usage == whole.usage, cut


# -- nothing is left behind, nothing is locked


def listing(home: Path) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for folder, folders, files in os.walk(home):
        for name in (*folders, *files):
            path = Path(folder, name)
            state = path.lstat()
            found[str(path)] = (state.st_mode, state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino)
    return found


def everything(kept: Kept, reading: Any) -> Any:
    """Find, recognise and read all of a home."""
    kept.harvester.recognises(kept.path, kept.head)
    return kept.read(reading)


def test_nothing_below_the_roots_is_changed_or_made(kept: Kept, reading: Any) -> None:
    before = listing(kept.home)
    assert everything(kept, reading).events
    assert listing(kept.home) == before


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
@pytest.mark.parametrize("name", DATABASES)
def test_a_database_in_use_is_neither_touched_nor_locked(
    name: str, mode: str, samples: ModuleType, made: ModuleType, tmp_path: Path, reading: Any
) -> None:
    kept = Kept(samples, made, tmp_path / "home", name)
    with closing(sqlite3.connect(kept.path, isolation_level=None, timeout=0)) as owner:
        owner.execute(f"PRAGMA journal_mode = {mode}")
        owner.execute("PRAGMA wal_autocheckpoint = 0")
        owner.execute("CREATE TABLE mine (x)")
        before = listing(kept.home)
        for batch in kept.harvester.read(kept.sources()[0]):
            assert batch.events
            assert listing(kept.home) == before
            owner.execute("BEGIN EXCLUSIVE")
            owner.execute("INSERT INTO mine VALUES (1)")
            owner.execute("COMMIT")
        assert everything(kept, reading).texts(Kind.PROMPT) == samples.PROMPTS


# -- hostile content


def readable(kept: Kept, reading: Any) -> None:
    """Whatever stands in a sample's files: it is read, or said to be unreadable, and what is read can be written."""
    for source in kept.sources():
        found = said(kept.harvester, source, reading)
        if found is None or found.session is None:
            continue
        for event in found.events.values():
            "".join((event.key, event.text, event.arguments, event.head, event.tool, event.call_id)).encode()
            assert len(event.arguments) <= 4096 + 512
        for word in (*found.facts.cwds, *found.facts.models, found.facts.title, found.facts.native_id):
            word.encode()


def spoilt(kept: Kept, reading: Any, original: bytes, content: bytes) -> None:
    """Read a sample's file with another content."""
    try:
        kept.path.write_bytes(content)
        readable(kept, reading)
    finally:
        kept.path.write_bytes(original)


SPITE = [
    b"\0" * 40,
    b"\xff\xfe\xfd",
    b"\n",
    b'"\\ud83d"',
    b"\xed\xa0\xbd",
    b"[" * 3000,
    b'{"a":' * 3000,
    b"1e999",
    b"-99999999999999999999999999",
    b"NaN",
    b"null",
    b"[]",
    b'"x"',
    b"\xe2\x80\xa8",
    b"</user_query>",
    b"'; DROP TABLE session; --",
    b"SQLite format 3\0",
]


@pytest.mark.parametrize("number", [b"-99999999999999999999999999", b"99999999999999999999999999", b"-1"])
def test_numbers_without_end_are_none(number: bytes, kept: Kept, reading: Any) -> None:
    original = kept.path.read_bytes()
    spoilt(kept, reading, original, re.sub(rb"(?<=:)([ ]?)[0-9]+(?=[,}\]\n])", rb"\g<1>" + number, original))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_hostile_bytes_raise_nothing_but_unreadable(data: st.DataObject, kept: Kept, reading: Any) -> None:
    original = kept.path.read_bytes()
    content = bytearray(original)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(content)))
        width = data.draw(st.sampled_from([0, 1, 4, 30]))
        content[at : at + width] = data.draw(st.one_of(st.sampled_from(SPITE), st.binary(max_size=4)))
    spoilt(kept, reading, original, bytes(content))


VALUES = [
    "null",
    "1",
    "-1",
    "1e400",
    '"x"',
    '"\\ud800"',
    "[]",
    "[null]",
    '[["x"]]',
    "{}",
    '{"type":"x"}',
    "true",
    "[1,{}]",
]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1 << 32))
def test_values_of_unexpected_types_raise_nothing(seed: int, kept: Kept, reading: Any) -> None:
    """A value somewhere in the JSON becomes another one of any type."""
    chance = random.Random(seed)
    original = kept.path.read_bytes()
    content = original
    for _ in range(chance.randint(1, 5)):
        colons = [at for at in range(len(content)) if content[at : at + 1] == b":" and content[at - 1 : at] == b'"']
        if not colons:
            break
        at = chance.choice(colons) + 1
        end = min((p for p in (content.find(stop, at) for stop in (b",", b"}", b"]")) if p > 0), default=at)
        value = chance.choice(VALUES).encode()
        if content.startswith(b"SQLite"):
            value = value.ljust(end - at)[: end - at]
        content = content[:at] + value + content[end:]
    spoilt(kept, reading, original, bytes(content))


# -- memory

MEASURE = """
import pathlib, sys
from skillopt_harvesters import Source, Unreadable, harvester_of
count = 0
try:
    for batch in harvester_of(sys.argv[2]).read(Source(agent=sys.argv[2], path=sys.argv[1])):
        count += len(batch.events)
except Unreadable as problem:
    print(problem.reason, file=sys.stderr)
peak = pathlib.Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
print(count, int(peak) // 1024)
"""
LARGE = 40 << 20


def measured(path: Path, agent: str) -> tuple[int, int]:
    """Events, and the peak of resident memory in MiB of a process that reads a file."""
    done = subprocess.run([sys.executable, "-c", MEASURE, str(path), agent], capture_output=True, text=True, check=True)
    count, peak = map(int, done.stdout.split())
    return count, peak


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
@pytest.mark.parametrize("name", ["cursor", "gemini", "pi", "openclaw"])
def test_memory_is_bounded_on_a_large_file(name: str, samples: ModuleType, made: ModuleType, tmp_path: Path) -> None:
    """40 MB: one record of 25 MB (longer than is held of a line) among many small ones."""
    kept = Kept(samples, made, tmp_path / "home", name)
    more = {"cursor": cursor_more, "gemini": gemini_more}.get(name, pi_more)(samples)
    with kept.path.open("ab") as file:
        file.write(next(more).replace(b"here", b"x" * (25 << 20)))
        while file.tell() < LARGE:
            file.write(next(more))
    count, peak = measured(kept.path, kept.agent)
    assert count >= 6 + 300
    assert peak <= 200


def cursor_more(samples: ModuleType) -> Iterator[bytes]:
    while True:
        yield samples.dumped(samples.cursor_asked("here"), samples.cursor_said("assistant", "z" * 50_000))


def gemini_more(samples: ModuleType) -> Iterator[bytes]:
    for number in itertools.count(10):
        yield samples.dumped(
            {**samples.gemini_message(10, "user", "here"), "id": f"{number:032d}"},
            {**samples.gemini_message(11, "gemini", "z" * 50_000), "id": f"g{number:032d}"},
        )


def pi_more(samples: ModuleType) -> Iterator[bytes]:
    for number in itertools.count(10, 2):
        asked, said = samples.pi_user(10, number - 1, "here"), samples.pi_says(11, number, "z" * 50_000)
        for place, entry in enumerate((asked, said)):
            entry["id"], entry["timestamp"] = f"e{number + place:07d}", samples.START_MS + number
        yield samples.dumped(asked, said)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
@pytest.mark.parametrize("name", DATABASES)
def test_memory_is_bounded_on_a_large_database(
    name: str, samples: ModuleType, made: ModuleType, tmp_path: Path
) -> None:
    kept = Kept(samples, made, tmp_path / "home", name)
    with closing(sqlite3.connect(kept.path, isolation_level=None)) as owner:
        samples.run(owner, large(name, samples))
    count, peak = measured(kept.path, kept.agent)
    assert count >= 6 + 300
    assert peak <= 200


def large(name: str, samples: ModuleType) -> Iterator[Any]:
    """Three hundred more calls with 100 KB of output each, and one record of 30 MB."""
    text = "y" * 100_000
    build: Callable[[int, str], Any] = {
        "opencode": lambda n, words: list(
            samples.opencode_message(n, "assistant", [samples.opencode_tool(f"c{n}", "make", output=words)])
        ),
        "devin": lambda n, words: [
            samples.devin_node(2 * n, 2 * n - 1, "assistant", "", tool_calls=[samples.devin_call(f"c{n}", "make")]),
            samples.devin_node(2 * n + 1, 2 * n, "tool", words, tool_call_id=f"c{n}"),
        ],
        "cursor's editor": lambda n, words: [
            samples.cursor_bubble(n, 2, "", "comp2", **samples.cursor_tool(f"d{n}", "make", result=words))
        ],
    }[name]
    if name == "cursor's editor":
        yield samples.cursor_value("composerData:comp2", {"composerId": "comp2"})
    for number in range(10, 311):
        yield from build(number, text if number < 310 else "z" * (30 << 20))
    if name == "devin":
        yield "UPDATE message_nodes SET parent_node_id = 8 WHERE node_id = 20"
        yield "UPDATE sessions SET main_chain_id = 619"
