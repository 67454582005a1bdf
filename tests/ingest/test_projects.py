"""Whose work a session is, told from names alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_harvesters.model import SessionFacts
from skillopt_sleep.ingest import Harvested, person_of, project_root
from skillopt_sleep.ingest.excluding import Excluded
from skillopt_sleep.ingest.projects import remote_digest
from skillopt_sleep.store.engine import Store

Harvest = Callable[..., Harvested]


def facts(*cwds: str, git_root: str = "") -> SessionFacts:
    return SessionFacts(agent="a", native_id="n", cwds=list(cwds), git_root=git_root)


@pytest.mark.parametrize(
    ("cwd", "person"),
    [
        ("/Users/kim/work/shop", "kim"),
        ("/home/kim", "kim"),
        (r"C:\Users\Kim Lee\shop", "Kim Lee"),
        ("c:/users/kim/x", "kim"),
        ("/mnt/c/Users/kim/x", "kim"),
        (r"\\wsl$\Ubuntu\home\kim\x", "kim"),
        ("/root/x", "root"),
        ("/srv/shop", ""),
        ("/data/home/kim", ""),
        ("", ""),
    ],
)
def test_the_person_is_whose_home_the_folder_lies_in(cwd: str, person: str) -> None:
    assert person_of(cwd) == person


@pytest.mark.parametrize(
    ("given_facts", "root"),
    [
        (facts("/w/shop"), "/w/shop"),
        (facts("/w/shop/"), "/w/shop"),
        (facts("/w/shop/api", git_root="/w/shop"), "/w/shop"),
        (facts("/w/shop/api", "/w/shop"), "/w/shop"),
        (facts("/w/shop", "/w/shop/api", "/tmp"), "/w/shop"),
        (facts("/w/shop-api", "/w/shop"), "/w/shop-api"),
        (facts("/home/kim/shop", "/home/kim"), "/home/kim/shop"),
        (facts("/home/kim/shop", "/"), "/home/kim/shop"),
        (facts("c:\\w\\shop\\"), "C:\\w\\shop"),
        (facts(), ""),
    ],
)
def test_the_project_is_the_git_root_or_the_folder_that_work_began_in(given_facts: SessionFacts, root: str) -> None:
    assert project_root(given_facts) == root


@given(st.lists(st.text(alphabet="ab/\\.: ", max_size=12), max_size=4))
def test_any_folder_names_give_a_project_without_looking_at_the_disk(cwds: list[str]) -> None:
    root = project_root(facts(*cwds))
    assert isinstance(root, str)
    assert isinstance(person_of(root), str)


def test_a_remote_is_the_same_however_it_is_written_and_holds_no_credentials() -> None:
    ways = [
        "git@example.org:kim/Shop.git",
        "https://kim:token@example.org/kim/shop",
        "ssh://git@example.org:22/kim/shop/",
    ]
    assert len({remote_digest(way) for way in ways}) == 1
    assert remote_digest("https://example.org/kim/blog") != remote_digest(ways[0])
    assert remote_digest("") == ""


def test_two_folders_whose_names_an_agent_writes_alike_are_two_projects(
    store: Store, home: Path, made: ModuleType, take_in: Harvest
) -> None:
    made.everyday(1, cwd="/w/my_app").write(home)
    made.everyday(2, cwd="/w/my-app").write(home)
    take_in()
    assert {row["project"] for row in store.projects()} == {"/w/my_app", "/w/my-app"}


def test_a_sub_folder_joins_the_project_once_its_git_root_is_known(
    store: Store, home: Path, made: ModuleType, take_in: Harvest
) -> None:
    made.everyday(1, cwd="/w/shop/api").write(home)
    made.everyday(2, cwd="/w/shopping").write(home)
    take_in()
    assert {row["project"] for row in store.projects()} == {"/w/shop/api", "/w/shopping"}
    with_root(home, "/w/shop/web", "/w/shop")
    take_in()
    assert {row["project"]: row["sessions"] for row in store.projects()} == {"/w/shop": 2, "/w/shopping": 1}
    assert len(list(store.stored_sessions(project="/w/shop/api"))) == 2


def with_root(home: Path, cwd: str, root: str) -> None:
    """A Copilot CLI session, which names its git root."""
    context = {"cwd": cwd, "gitRoot": root, "branch": "main"}
    start = {"sessionId": "c1", "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.70"}
    start |= {"startTime": "2026-11-01T10:00:00.000Z", "context": context}
    rows = [("session.start", start), ("user.message", {"content": "hello there"})]
    rows += [("assistant.message", {"messageId": "m1", "content": "Hello.", "toolRequests": []})]
    lines = [
        json.dumps(
            {"type": kind, "data": data, "id": f"e{n}", "timestamp": f"2026-11-01T10:00:0{n}.000Z", "parentId": None}
        )
        for n, (kind, data) in enumerate(rows)
    ]
    path = home / ".copilot" / "session-state" / "c1" / "events.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_excluded_folders_and_patterns_name_what_lies_below_them_and_nothing_beside() -> None:
    excluded = Excluded(["/w/secret/", "*/node_modules/*"])
    assert excluded.names_any(["/x", "/w/secret"])
    assert excluded.names_any(["/w/secret/deep"])
    assert excluded.names_any(["/y/node_modules/z"])
    assert not excluded.names_any(["/w/secrets", "/w"])
    assert not Excluded([]).names_any(["/w"])
    assert Excluded(["a", "b"]).digest == Excluded(["b", "a"]).digest != Excluded(["a"]).digest
