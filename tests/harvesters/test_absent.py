"""Roots of agents that were never installed are passed over without a look into them; no other is."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillopt_harvesters import discover
from skillopt_harvesters.discovery import Absent
from skillopt_harvesters.model import Trouble
from skillopt_harvesters.walk import files_below


def test_what_lies_below_a_folder_that_is_not_there_is_absent(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "file").touch()
    absent = Absent()
    assert absent.holds(f"{tmp_path}/agent/data/sessions")
    assert absent.holds(f"{tmp_path}/agent/product/User/workspaceStorage")
    assert not absent.holds(f"{tmp_path}/there/data/sessions")
    assert not absent.holds(f"{tmp_path}/agent/sessions")
    assert not absent.holds(f"{tmp_path}/file/data/sessions")  # not a folder: that is trouble, and is said
    assert not any(map(absent.holds, ["sessions", "data/sessions", "/sessions", ""]))


def test_each_folder_is_looked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counted(path: str) -> None:
        asked.append(path)
        raise FileNotFoundError

    with monkeypatch.context() as patched:
        patched.setattr("os.stat", counted)
        absent = Absent()
        held = [absent.holds(f"/a/b/{product}/User/{place}") for product in "xyz" for place in "pq"]
    assert (set(held), asked) == ({True}, ["/a/b"])


def test_a_root_that_is_trouble_is_still_said(tmp_path: Path) -> None:
    (tmp_path / ".codex").touch()
    assert any("directory" in one.reason for one in discover(tmp_path, {})[1])


def test_a_source_says_whether_its_name_is_a_link(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside.jsonl").touch()
    (root / "a.jsonl").touch()
    (root / "b.jsonl").symlink_to(tmp_path / "outside.jsonl")
    (root / "c.jsonl").hardlink_to(root / "a.jsonl")
    (root / "d.txt").symlink_to(tmp_path / "nowhere")
    trouble: list[Trouble] = []
    found = {Path(one.path).name: one.link for one in files_below("x", root, trouble, (".jsonl",))}
    assert found == {"a.jsonl": False, "b.jsonl": True, "c.jsonl": False}
    assert trouble == []
