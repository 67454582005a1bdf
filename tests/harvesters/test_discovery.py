"""Where transcripts are looked for, and that every file is accounted for."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import skillopt_harvesters
from skillopt_harvesters import Harvester, Trouble, discover, discover_loose, discovery, harvester_of, harvesters, read

Write = Callable[[str, bytes], Path]


def names(sources: list[Any]) -> set[str]:
    return {Path(source.path).name for source in sources}


def test_all_that_is_offered_is_sorted_and_there() -> None:
    assert skillopt_harvesters.__all__ == sorted(skillopt_harvesters.__all__)
    assert all(hasattr(skillopt_harvesters, name) for name in skillopt_harvesters.__all__)


def test_the_four_agents_are_harvested() -> None:
    agents = [harvester.agent for harvester in harvesters()]
    assert agents[:4] == ["claude-code", "codex", "copilot-cli", "copilot-vscode"]
    assert harvester_of("codex").agent == "codex"
    with pytest.raises(KeyError):
        harvester_of("nobody")


def test_an_empty_home_has_nothing_and_no_trouble(tmp_path: Path) -> None:
    assert discover(tmp_path, {}) == ([], [])
    assert discover(tmp_path / "gone", {}) == ([], [])


def test_sessions_of_all_agents_are_found_where_they_keep_them(
    tmp_path: Path, write: Write, to_lines: Callable[..., bytes], made: ModuleType
) -> None:
    write(f".claude/projects/-work-shop/{made.SESSION}.jsonl", to_lines(made.user("go", 0)))
    write(f".claude/projects/-work-shop/{made.SESSION}/subagents/agent-a1.jsonl", b"{}\n")
    write(".claude/projects/-work-shop/journal.jsonl", b"{}\n")
    write(".claude/history.jsonl", b"{}\n")
    write(".codex/sessions/2026/11/20/rollout-x.jsonl", b"{}\n")
    write(".copilot/session-state/c1/events.jsonl", b"{}\n")
    write(".config/Code/User/workspaceStorage/w/chatSessions/v1.jsonl", b"{}\n")
    sources, trouble = discover(tmp_path, {})
    assert not trouble
    assert names(sources) == {
        f"{made.SESSION}.jsonl",
        "agent-a1.jsonl",
        "rollout-x.jsonl",
        "events.jsonl",
        "v1.jsonl",
    }
    only, _ = discover(tmp_path, {}, {"codex"})
    assert [source.agent for source in only] == ["codex"]
    stat = Path(only[0].path).stat()
    assert (only[0].size, only[0].mtime_ns, only[0].inode) == (stat.st_size, stat.st_mtime_ns, stat.st_ino)


def test_claude_config_dir_moves_the_tree(tmp_path: Path, write: Write) -> None:
    write("moved/projects/-x/a.jsonl", b"{}\n")
    write(".claude/projects/-x/b.jsonl", b"{}\n")
    sources, _ = discover(tmp_path, {"CLAUDE_CONFIG_DIR": str(tmp_path / "moved")}, {"claude-code"})
    assert names(sources) == {"a.jsonl"}


HOSTILE = [
    "new\nline.jsonl",
    "tab\there.jsonl",
    "-rf.jsonl",
    "$(touch x).jsonl",
    "'; drop table.jsonl",
    "..jsonl",
    "\u202egnp.jsonl",
    "x" * 240 + ".jsonl",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_read_like_any(
    tmp_path: Path, write: Write, to_lines: Callable[..., bytes], made: ModuleType, name: str
) -> None:
    write(f".claude/projects/-work/{name}", to_lines(made.user("go", 0)))
    sources, trouble = discover(tmp_path, {}, {"claude-code"})
    assert not trouble
    (batch,) = read(sources[0])
    assert batch.session.native_id == made.SESSION
    assert [event.text for event in batch.events] == ["go"]


def test_a_name_that_is_no_unicode_is_read(tmp_path: Path, to_lines: Callable[..., bytes], made: ModuleType) -> None:
    folder = tmp_path / ".claude/projects/-work"
    folder.mkdir(parents=True)
    with open(os.fsencode(folder) + b"/\xff\xfe.jsonl", "wb") as file:  # noqa: PTH123  # a name of bytes
        file.write(to_lines(made.user("go", 0)))
    sources, trouble = discover(tmp_path, {}, {"claude-code"})
    assert not trouble
    assert [event.text for batch in read(sources[0]) for event in batch.events] == ["go"]


def test_circles_dangling_links_fifos_and_sockets_are_said_and_not_followed(tmp_path: Path, write: Write) -> None:
    good = write(".claude/projects/-work/good.jsonl", b"{}\n")
    folder = good.parent
    (folder / "circle").symlink_to(folder)
    (folder / "up.jsonl").symlink_to(tmp_path)
    (folder / "gone.jsonl").symlink_to(folder / "nowhere")
    (folder / "self.jsonl").symlink_to(folder / "self.jsonl")
    (folder / "link.jsonl").symlink_to(good)
    os.mkfifo(folder / "fifo.jsonl")
    sources, trouble = discover(tmp_path, {}, {"claude-code"})
    assert names(sources) == {"good.jsonl"}
    assert {(Path(t.path).name, t.reason) for t in trouble} == {
        ("gone.jsonl", "no such file or directory"),
        ("self.jsonl", "symbolic links in a circle"),
        ("fifo.jsonl", "not a regular file"),
    }


@pytest.mark.root
def test_a_folder_that_is_not_ours_to_enter_is_said_and_the_rest_is_found(unprivileged: list[str]) -> None:
    code = (
        "import os, sys, pathlib; from skillopt_harvesters import discover\n"
        "try: os.listdir(sys.argv[2])\n"
        "except PermissionError: print('refused')\n"
        "found, trouble = discover(pathlib.Path(sys.argv[1]), {}, {'claude-code'})\n"
        "print(len(found), [t.reason for t in trouble if t.path == sys.argv[2]])\n"
    )
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        home.chmod(0o755)
        for folder in ("closed", "open"):
            (home / ".claude/projects" / folder).mkdir(parents=True)
            (home / ".claude/projects" / folder / "a.jsonl").write_bytes(b"{}\n")
        closed = home / ".claude/projects/closed"
        closed.chmod(0o700)
        argv = [*unprivileged, "-c", code, name, str(closed)]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.stdout.split("\n")[:2] == ["refused", "1 ['permission denied']"]


def test_a_link_is_the_file_that_it_names(tmp_path: Path, write: Write) -> None:
    write(".claude/projects/-work/a.jsonl", b"{}\n")
    (tmp_path / ".config/claude").mkdir(parents=True)
    (tmp_path / ".config/claude/projects").symlink_to(tmp_path / ".claude/projects")
    sources, _ = discover(tmp_path, {}, {"claude-code"})
    assert len(sources) == 1


def test_loose_files_are_found_by_what_they_hold(
    tmp_path: Path, write: Write, to_lines: Callable[..., bytes], made: ModuleType
) -> None:
    write("in/a.txt", to_lines(made.user("go", 0)))
    write("in/b.jsonl", to_lines(made.meta(), made.typed("go", 1)))
    write("in/c", to_lines(made.started()))
    write("in/d.json", b'{"requesterUsername": "x", "requests": []}')
    write("in/e.jsonl", to_lines({"kind": 0, "v": {"requests": []}}))
    write("in/history.jsonl", to_lines({"display": "x", "project": "/p"}))
    write("in/empty.jsonl", b"")
    write("in/prose.md", b"# Notes\n")
    write("in/binary.jsonl", bytes(range(256)) * 9)
    write("in/claude.json", b'{"projects": {}}')
    write("in/stream.jsonl", to_lines({"type": "system", "subtype": "init", "session_id": "x"}))
    write("in/qwen.jsonl", to_lines({**made.user("go", 0), "message": {"role": "user", "parts": []}}))
    sources, trouble, others = discover_loose([tmp_path / "in"])
    assert not trouble
    assert [(Path(s.path).name, s.agent) for s in sources] == [
        ("a.txt", "claude-code"),
        ("b.jsonl", "codex"),
        ("c", "copilot-cli"),
        ("d.json", "copilot-vscode"),
        ("e.jsonl", "copilot-vscode"),
    ]
    reasons = {Path(path).name: reason for path, reason in others}
    assert reasons["empty.jsonl"] == "empty"
    assert reasons["history.jsonl"] == "a history of prompts, not a session"
    assert reasons["stream.jsonl"] == "output of a headless run, not a transcript"
    assert len(sources) + len(others) == 12


def test_a_loose_path_that_is_not_there_is_a_trouble(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    assert discover_loose([gone]) == ([], [Trouble(str(gone), 0, "no such file or directory")], [])
    assert discover_loose([Path("a\0b")])[1][0].path == "a\0b"


def test_a_file_and_its_folder_are_one(
    tmp_path: Path, write: Write, to_lines: Callable[..., bytes], made: ModuleType
) -> None:
    path = write("in/a.jsonl", to_lines(made.user("go", 0)))
    sources, _, _ = discover_loose([tmp_path / "in", path])
    assert len(sources) == 1


class Another(discovery.Pi):
    """A harvester that another distribution brings."""

    agent = "another"


class Point:
    """An entry point, whatever it leads to."""

    def __init__(self, name: str, made: Callable[[], object]) -> None:
        self.name = self.value = name
        self._made = made

    def load(self) -> Callable[[], object]:
        return self._made


@pytest.fixture
def brought(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Lets other distributions bring harvesters."""

    def bring(*points: Point) -> None:
        given = {"skillopt_sleep.harvesters": list(points)}
        monkeypatch.setattr(discovery, "entry_points", lambda group: given[group])
        harvesters.cache_clear()
        discovery.further.cache_clear()

    yield bring
    harvesters.cache_clear()
    discovery.further.cache_clear()


def test_other_distributions_may_bring_harvesters(brought: Callable[..., None]) -> None:
    brought(Point("one", Another))
    assert [harvester.agent for harvester in harvesters()][-1] == "another"
    assert not discovery.left_out()


def test_one_that_is_broken_or_takes_the_place_of_another_is_named_and_the_rest_is_read(
    brought: Callable[..., None],
) -> None:
    before = harvesters()

    def broken() -> object:
        raise SystemExit("no")

    brought(Point("a", broken), Point("b", object), Point("c", discovery.Pi), Point("d", Another), Point("e", Another))
    assert [harvester.agent for harvester in harvesters()] == [*(h.agent for h in before), "another"]
    assert [(one.path, one.reason) for one in discovery.left_out()] == [
        ("plugin a (a)", "SystemExit: no"),
        ("plugin b (b)", "it names no agent"),
        ("plugin c (c)", "the agent pi is read already"),
        ("plugin e (e)", "the agent another is read already"),
    ]


@pytest.mark.parametrize("harvester", harvesters(), ids=lambda h: str(h.agent))
def test_a_harvester_keeps_its_contract(harvester: Harvester, tmp_path: Path, made: ModuleType) -> None:
    for root in harvester.roots(tmp_path, {}):
        assert root.is_absolute()
        assert list(harvester.find(root, [])) == []
    assert not list(tmp_path.iterdir())
    for head in (b"", b"{", b"\0" * 100, b"[1]\n", b'{"a":1}\n', b"\xff\xfe", b"{" * 5000, b'{"type":3}\n', b"null"):
        assert harvester.recognises(tmp_path / "x.jsonl", head) is False


@pytest.mark.shared
def test_every_file_of_other_people_is_accounted_for(shared: Path) -> None:
    base = shared / "transcripts"
    files = {str(path) for path in base.rglob("*") if path.is_file() and path.parent != base}
    sources, trouble, others = discover_loose(path for path in sorted(base.iterdir()) if path.is_dir())
    read_, said, passed = [s.path for s in sources], [t.path for t in trouble], [path for path, _ in others]
    assert len(files) == 522
    assert sorted([*read_, *said, *passed]) == sorted(files)
    assert not said
    for source in sources:
        for batch in read(source):
            assert batch.session.agent == source.agent
