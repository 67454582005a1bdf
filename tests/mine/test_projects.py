from __future__ import annotations

from skillopt_sleep.mine import mine
from skillopt_sleep.mine.projects import one_codebase
from tests.mine.building import Session, episodes_in


def reading(name: str, cwd: str, files: list[str], day: float = 0) -> Session:
    session = Session(name, day=day, cwd=cwd).prompt("go")
    for file in files:
        session.read(file)
    return session


SHARED = [f"pkg/core/f{n}.go" for n in range(6)]


def test_clones_are_told_by_the_files_that_were_worked_on() -> None:
    sessions = [
        reading("a", "/home/kim/app", SHARED),
        reading("b", "/Users/lee/src/app2", [*SHARED[:4], "x/y/z.go"], day=1),
        reading("c", "/home/kim/other", ["pkg/core/else.go"], day=2),
    ]
    joined = one_codebase(episodes_in(sessions))
    assert joined["/Users/lee/src/app2"] == joined["/home/kim/app"] == "/home/kim/app"
    assert joined["/home/kim/other"] == "/home/kim/other"


def test_worktrees_belong_to_their_checkout_by_name() -> None:
    sessions = [
        reading("a", "/home/kim/app/.worktrees/1", ["a"]),
        reading("b", "/home/kim/app/.worktrees/2", ["b"], day=1),
        reading("c", "/home/kim/app", ["c"], day=2),
    ]
    assert set(one_codebase(episodes_in(sessions)).values()) == {"/home/kim/app/.worktrees/1"}


def test_files_that_are_everywhere_join_nothing() -> None:
    everywhere = ["README.md", "src/index.ts", "package.json", "src/main.py", "tests/test_main.py"]
    sessions = [reading("a", "/home/kim/a", everywhere), reading("b", "/home/kim/b", everywhere)]
    assert len(set(one_codebase(episodes_in(sessions)).values())) == 2


def test_what_one_clone_teaches_is_found_in_another() -> None:
    sessions = [reading("a", "/home/kim/app", SHARED), reading("b", "/Users/lee/app", SHARED, day=1)]
    for session in sessions:
        session.grep("x", "pkg/cmd", "Path does not exist", "error")
    found = mine(episodes_in(sessions))
    (pattern,) = found.patterns
    assert pattern.project == "/home/kim/app"
    assert {e.project for e in found.episodes} == {"/home/kim/app"}
