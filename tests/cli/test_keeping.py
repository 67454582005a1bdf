"""`export`, `verify`, `forget`, `prune`, `backup` on the state of one real night."""

from __future__ import annotations

import json
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from skillopt_sleep.clock import SystemClock
from skillopt_sleep.lock import hold
from tests.cli.conftest import Command, Result

SAID = "never force-push here"
FORGOT = {"format", "sessions", "events", "bodies", "kept", "patterns", "tasks", "rules", "trials", "proposals",
          "rewritten", "removed", "sources", "copies"}  # fmt: skip


@pytest.fixture
def state(slept_once: Path) -> Path:
    return slept_once / "state"


def checks(result: Result) -> dict[str, str]:
    return {row["check"]: row["finding"] for row in result.document["checks"]}


def everything(state: Path) -> str:
    """All that stands in the files of a state, with compressed bodies unpacked."""
    from skillopt_sleep.store import keeping
    from skillopt_sleep.store.engine import open_store

    with open_store(state / "store.db", SystemClock(), read_only=True) as store:
        bodies = b"\n".join(content for _, content in keeping.contents(store))
    files = b"\n".join(path.read_bytes() for path in state.rglob("*") if path.is_file())
    return (bodies + files).decode("utf-8", "replace")


def test_a_sound_store_is_said_to_be_sound_and_a_changed_one_what_is_wrong(morning: Command, state: Path) -> None:
    found = morning("verify", "--json")
    assert (found.code, found.document["sound"], found.document["path"]) == (0, True, str(state / "store.db"))
    assert set(checks(found).values()) == {""}
    assert "figures and decisions  ok" in morning("verify").out
    with closing(sqlite3.connect(state / "store.db")) as raw:
        raw.execute("UPDATE comparison SET e = e + 1 WHERE evidence = 'recorded'")
        raw.commit()
    found = morning("verify", "--json")
    assert found.code == 1
    assert found.document["sound"] is False
    assert "evidence log says" in checks(found)["figures and decisions"]
    assert found.document["error"]["code"] == "store"
    assert "figures and decisions" in morning("verify").err


def test_evidence_goes_out_redacted_and_is_checked_by_itself(morning: Command, tmp_path: Path) -> None:
    out, supported = tmp_path / "evidence.json", morning("review", "--json").lines[0]["proposal"]
    morning("adopt", supported)
    found = morning("export", str(out), "--json")
    assert set(found.document) == {"format", "path", "proposals", "log", "digest"}
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    document = json.loads(out.read_text())
    assert str(Path.home()) not in out.read_text()
    assert {kind: len(of) > 0 for kind, of in document["facts"].items()} == {
        "verdict": True, "proposal": True, "decision": True, "adoption": True, "completion": False,
        "clearance": False,
    }  # fmt: skip
    checked = morning("verify", str(out), "--json")
    assert (checked.code, set(checks(checked).values())) == (0, {""})
    again = morning("export", str(out))
    assert (again.code, "there is a file of that name already" in again.err) == (1, True)
    assert morning("export", str(out), "--force", "--proposal", supported, "--proposal", supported, "-q").code == 0
    one = json.loads(out.read_text())
    assert ([shown["proposal"] for shown in one["shown"]], set(one["facts"]["proposal"])) == ([supported], {supported})
    assert morning("verify", str(out)).code == 0
    assert morning("export", str(tmp_path / "x"), "--proposal", "p-none").code == 1
    assert morning("export", str(tmp_path / "no" / "x")).code == 1
    assert not (tmp_path / "x").exists()


def _figure(document: Any) -> None:
    next(fact for fact in document["facts"]["verdict"].values() if fact["units"])["e"] = 1e9


def _unit(document: Any) -> None:
    next(fact for fact in document["facts"]["verdict"].values() if fact["units"])["units"][0]["d"] = -1.0


def _missing(document: Any) -> None:
    document["facts"]["verdict"].popitem()


def _entry(document: Any) -> None:
    document["log"][3]["at_ms"] += 1


def _shown(document: Any) -> None:
    document["shown"][0]["edits"][0]["evidence"]["effect"] = 0.999


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (_figure, "E computed again"),
        (_unit, "figures and decisions"),
        (_missing, "figures and decisions"),
        (_entry, "evidence log"),
        (_shown, "what is shown"),
    ],
)
def test_what_was_changed_in_a_file_of_evidence_is_found(
    change: Any, name: str, morning: Command, tmp_path: Path
) -> None:
    out = tmp_path / "evidence.json"
    morning("export", str(out), "-q")
    document = json.loads(out.read_text())
    change(document)
    out.write_text(json.dumps(document))
    found = morning("verify", str(out), "--json")
    assert found.code == 1
    assert checks(found)["file"] == "it was changed after it was written"
    assert checks(found)[name]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": 1}', '{"format":1,"kind":"x","whole":true,"log":[],"facts":{},"shown":[]}']
)
def test_a_file_that_is_no_evidence_is_refused_in_one_line(text: str, morning: Command, tmp_path: Path) -> None:
    out = tmp_path / "evidence.json"
    out.write_text(text)
    found = morning("verify", str(out))
    assert found.code == 2
    assert found.err.startswith(f"error: {out}: is no evidence")
    assert found.err.count("\n") == 1
    assert morning("verify", str(tmp_path / "nowhere")).code == 1


def test_a_forgotten_session_leaves_store_and_reports_and_does_not_come_back(
    morning: Command, state: Path, slept_once: Path
) -> None:
    said = next(line for line in morning("sessions", "--json").lines if any(SAID in p["text"] for p in line["prompts"]))
    lines = [p["text"] for p in said["prompts"] if SAID in p["text"]]
    others = [line for line in morning("sessions", "--json").lines if line["id"] != said["id"]]
    found = morning("forget", said["native_id"], "--json")
    assert found.code == 0
    assert set(found.document) == FORGOT
    assert (found.document["sessions"], found.document["kept"]) == (1, 0)
    assert found.document["tasks"]
    assert found.document["sources"] == [said["source"]["path"]]
    assert morning("show", said["id"]).code == 1
    shared = [p["text"] for line in others for p in line["prompts"]]
    assert lines
    for text in lines:
        assert (text in everything(state)) is (text in shared)
    source = Path(said["source"]["path"])
    before = source.read_bytes()
    try:
        source.write_bytes(before + before.splitlines(keepends=True)[-1])
        harvested = morning("harvest", "--json").document
    finally:
        source.write_bytes(before)
    assert harvested["sessions"]["new"] == 0
    assert morning("show", said["id"]).code == 1
    assert morning("verify").code == 0
    assert morning("run", "-q").code == 0, "the next night goes on without it"
    assert said["id"] not in json.dumps([line["session"] for line in morning("tasks", "--json").lines])
    assert morning("verify").code == 0


def test_a_forgotten_text_is_nowhere_and_a_proposal_that_quotes_it_says_so(morning: Command, state: Path) -> None:
    assert SAID in everything(state)
    found = morning("forget", "--match", SAID, "--json").document
    assert set(found) == FORGOT
    assert found["events"] > 0
    assert {path.rsplit(".", 1)[1] for path in found["removed"]} == {"md", "html"}
    assert SAID not in everything(state)
    for name in found["proposals"]:
        assert morning("show", name, "--json").document["evidence"]["quotes_forgotten"] is True
        assert "what you have had forgotten" in morning("review", name).out
    marked = {line["proposal"]: line["evidence"]["quotes_forgotten"] for line in morning("review", "--json").lines}
    assert {name for name, is_so in marked.items() if is_so} == set(found["proposals"])
    assert found["proposals"]
    assert morning("verify").code == 0
    assert morning("forget", "--match", SAID, "--json").document["events"] == 0


def test_a_copy_that_holds_it_still_is_named(morning: Command, state: Path) -> None:
    copy = morning("backup", "--json").document["path"]
    assert morning("forget", "--match", SAID, "--json").document["copies"] == [copy]
    assert copy in morning("forget", "--match", SAID).err


@pytest.mark.parametrize("arguments", [(), ("s-1", "--match", "text"), ("--match", "abc")])
def test_what_to_forget_is_said_once_and_long_enough(arguments: tuple[str, ...], morning: Command) -> None:
    found = morning("forget", *arguments)
    assert found.code == 2
    assert found.err.startswith("error: ")


def test_nothing_is_forgotten_or_pruned_under_a_night_that_runs(morning: Command, state: Path) -> None:
    with hold(state / "night.lock", SystemClock()):
        assert morning("forget", "--match", SAID).code == 4
        assert morning("prune").code == 4
        assert morning("verify").code == 0
        assert morning("backup").code == 0
    assert morning("forget", "s-none").code == 1


def test_pruning_forgets_what_is_too_old_and_gives_its_space_back(morning: Command, state: Path) -> None:
    found = morning("prune", "--json").document
    assert set(found) == {"format", "path", "sessions", "stretches", "bodies", "bytes_before", "bytes_after"}
    assert found["sessions"] == 0
    ended = sorted(line["ended"] for line in morning("sessions", "--origin", "all", "--json").lines)
    middle = ended[len(ended) // 2]
    found = morning("prune", "--older-than", middle, "--json").document
    assert found["sessions"] == sum(at < middle for at in ended)
    assert found["bytes_after"] < found["bytes_before"]
    left = [line["ended"] for line in morning("sessions", "--origin", "all", "--json").lines]
    assert sorted(left) == [at for at in ended if at >= middle]
    assert morning("prune", "--older-than", "long").code == 2
    assert morning("verify").code == 0


def test_a_backup_is_a_store_that_can_be_used(morning: Command, state: Path, tmp_path: Path) -> None:
    found = morning("backup", "--json").document
    assert set(found) == {"format", "path", "bytes"}
    copy = Path(found["path"])
    assert copy.parent == state / "backups"
    assert (stat.S_IMODE(copy.stat().st_mode), stat.S_IMODE(copy.parent.stat().st_mode)) == (0o600, 0o700)
    named = tmp_path / "home" / "store.db"
    assert morning("backup", str(named), "-q").code == 0
    assert morning("backup", str(named)).code == 1, "nothing is overwritten"
    there = morning("sessions", "--json", "--home", str(named.parent)).lines
    assert there == morning("sessions", "--json").lines
