"""A process that is killed before any one of its system calls leaves targets that are all old or all new."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from skillopt_sleep.clock import FixedClock
from skillopt_sleep.review.adopt import adopt, recover, rollback
from skillopt_sleep.review.ledgers import MemoryLedger
from skillopt_sleep.review.targets import pins

LIVE = b"---\r\nname: acme\r\ndescription: d\r\n---\r\n\r\n## Rules\r\n"
PLACES = (".claude/skills/acme/SKILL.md", ".agents/skills/acme/SKILL.md", ".github/skills/acme/SKILL.md")

Watch = Callable[[str], None]


class Bench:
    """A project with one live copy of a skill and two places without, and a ledger on disk."""

    def __init__(self, folder: Path, made: ModuleType, ledgers: ModuleType) -> None:
        self.root, self.made, self.ledgers = folder / "project", made, ledgers
        self.book = folder / "ledger.json"
        live = self.root / PLACES[0]
        live.parent.mkdir(parents=True)
        live.write_bytes(LIVE)
        (self.root / ".agents").mkdir()
        self.targets = [made.target(self.root, place) for place in PLACES]
        self.proposal = made.proposal(base=LIVE.decode(), pins=pins(self.targets))
        self.old = self.tree()

    def ledger(self, watch: Watch = lambda _: None) -> MemoryLedger:
        return self.ledgers.FileLedger(self.book, self.root, watch)  # type: ignore[no-any-return]

    def adopt(self, watch: Watch) -> None:
        adopt(self.proposal, [], self.targets, self.ledger(watch), FixedClock(self.made.JAN_5), watch=watch)

    def rollback(self, watch: Watch) -> None:
        ledger = self.ledger(watch)
        rollback(next(iter(ledger.kept.values())), ledger, watch=watch)

    def recover(self, watch: Watch) -> None:
        recover(self.ledger(watch), watch=watch)

    def tree(self) -> dict[str, bytes | None]:
        paths = sorted(self.root.rglob("*"))
        return {str(p.relative_to(self.root)): None if p.is_dir() else p.read_bytes() for p in paths}

    def state(self) -> str:
        """The one word that the files and the ledger agree on; anything else fails."""
        tree, ledger = self.tree(), self.ledger()
        states = {adoption.state for adoption in ledger.kept.values()}
        if tree == self.old:
            assert states <= {"rolled_back"}
            return "old"
        new = self.proposal.candidate.encode()
        assert {tree[place] for place in PLACES} == {new}
        assert not [name for name in tree if name.endswith(".tmp")]
        assert states == {"written"}
        return "new"


@pytest.fixture
def bench(tmp_path: Path, made: ModuleType, file_ledger: ModuleType) -> Callable[[str], Bench]:
    def new(name: str) -> Bench:
        (tmp_path / name).mkdir()
        return Bench(tmp_path / name, made, file_ledger)

    return new


def count(work: Callable[[Watch], None]) -> int:
    calls: list[str] = []
    work(calls.append)
    return len(calls)


def killed_at(step: int, work: Callable[[Watch], None]) -> bool:
    """Run `work` in a child that is killed by SIGKILL before its step; False where it ended before that."""
    child = os.fork()
    if child == 0:
        left = [step]

        def watch(_call: str) -> None:
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1

        try:
            work(watch)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def test_an_adoption_killed_at_any_step_is_all_old_or_all_new_after_recovery(bench: Callable[[str], Bench]) -> None:
    steps = count(bench("whole").adopt)
    assert steps > 20
    ends = []
    for step in range(steps):
        table = bench(str(step))
        assert killed_at(step, table.adopt)
        table.recover(lambda _: None)
        ends.append(table.state())
    assert ends == sorted(ends, reverse=True)  # old until the last rename is made, new from then on
    assert set(ends) == {"old", "new"}


def test_a_rollback_killed_at_any_step_is_all_old_or_all_new_after_recovery(bench: Callable[[str], Bench]) -> None:
    whole = bench("whole")
    whole.adopt(lambda _: None)
    steps = count(whole.rollback)
    ends = []
    for step in range(steps):
        table = bench(str(step))
        table.adopt(lambda _: None)
        assert killed_at(step, table.rollback)
        table.recover(lambda _: None)
        ends.append(table.state())
    assert ends == sorted(ends)
    assert set(ends) == {"old", "new"}


def test_a_recovery_that_is_itself_killed_is_finished_by_the_next(bench: Callable[[str], Bench]) -> None:
    for work in ("adopt", "rollback"):
        for step in range(1, 40, 8):
            for again in range(0, 20, 5):
                table = bench(f"{work}-{step}-{again}")
                if work == "rollback":
                    table.adopt(lambda _: None)
                if not killed_at(step, getattr(table, work)):
                    break
                killed_at(again, table.recover)
                table.recover(lambda _: None)
                assert table.state() in {"old", "new"}


def test_without_recovery_a_kill_does_leave_targets_in_between(bench: Callable[[str], Bench]) -> None:
    """The control: the kills above do hit the middle of the work."""
    torn = 0
    for step in range(count(bench("whole").adopt)):
        table = bench(str(step))
        killed_at(step, table.adopt)
        torn += {table.tree().get(place) for place in PLACES} not in (
            {LIVE, None},
            {table.proposal.candidate.encode()},
        )
    assert torn > 5


def test_a_file_that_somebody_changed_after_the_kill_is_left_and_named(bench: Callable[[str], Bench]) -> None:
    table = bench("one")
    killed_at(count(bench("whole").adopt) - 3, table.adopt)  # before the last rename's folder is flushed
    mine = table.root / PLACES[1]
    mine.write_text("mine\n")
    (seen,) = recover(table.ledger())
    assert seen.state == "rolled_back"
    assert [written.state for written in seen.targets] == ["rolled_back", "refused", "rolled_back"]
    assert "changed meanwhile" in seen.targets[1].why
    assert mine.read_text() == "mine\n"
    assert (table.root / PLACES[0]).read_bytes() == LIVE
    assert recover(table.ledger()) == ()


def test_a_target_that_cannot_be_reached_is_tried_again(bench: Callable[[str], Bench]) -> None:
    table = bench("one")
    killed_at(count(bench("whole").adopt) - 3, table.adopt)
    table.root.rename(table.root.with_name("away"))
    (seen,) = recover(table.ledger())
    assert seen.state == "intent"
    table.root.with_name("away").rename(table.root)
    (seen,) = recover(table.ledger())
    assert table.state() in {"old", "new"}


def test_there_is_nothing_to_recover_after_work_that_was_not_killed(bench: Callable[[str], Bench]) -> None:
    table = bench("one")
    table.adopt(lambda _: None)
    assert recover(table.ledger()) == ()
    assert table.state() == "new"
