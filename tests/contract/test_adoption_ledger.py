"""Every adoption ledger keeps the same promises, and the store's keeps them under SIGKILL."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from skillopt_sleep.clock import FixedClock
from skillopt_sleep.domain.ledger import AdoptionLedger
from skillopt_sleep.domain.proposals import Adoption, Proposal, ProposalState
from skillopt_sleep.review.adopt import adopt, recover, rollback
from skillopt_sleep.review.ledgers import MemoryLedger
from skillopt_sleep.review.targets import find_targets, pins, project
from skillopt_sleep.store.adoptions import Adoptions, record_roots
from skillopt_sleep.store.engine import Store, open_store
from skillopt_sleep.store.nights import begin_night
from skillopt_sleep.store.proposals import find_proposal, save_proposal

NOW = FixedClock(1_795_953_600_000)
AGENTS = ("claude-code", "codex")


def load(name: str) -> ModuleType:
    path = Path(__file__).parent.parent / "review" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"review_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


made = load("made")


def staged(root: Path, night: str) -> Proposal:
    targets = find_targets(made.LEARNED, AGENTS, project(root))
    proposal: Proposal = made.proposal(pins=pins(targets))
    return replace(proposal, night=night)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one night in it: copying it is quicker than making it."""
    path = tmp_path_factory.mktemp("template") / "store.db"
    with open_store(path, NOW) as store:
        begin_night(store, "manual", "", date="2026-11-29", zone="UTC", pid=1, boot="b")
    return path


class Bench:
    """A project with the store beside it."""

    def __init__(self, folder: Path, template: Path) -> None:
        self.root, self.path = folder / "project", folder / "store.db"
        self.root.mkdir(parents=True)
        shutil.copy(template, self.path)
        with self.store() as store:
            record_roots(store, {str(self.root): ""})
            ((night,),) = store.driver.execute("SELECT id FROM night").fetchall()
            self.proposal = staged(self.root, night)
            save_proposal(store, self.proposal)

    def store(self) -> Store:
        return open_store(self.path, NOW)

    def adopt(self, watch: Callable[[str], None]) -> None:
        with self.store() as store:
            targets = find_targets(made.LEARNED, AGENTS, project(self.root))
            adopt(find_proposal(store, self.proposal.id), [], targets, Adoptions(store), NOW, watch=watch)

    def rollback(self, watch: Callable[[str], None]) -> None:
        with self.store() as store:
            ledger = Adoptions(store)
            rollback(ledger.all()[-1], ledger, watch=watch)

    def state(self) -> tuple[str, ProposalState]:
        """What the files are, after checking that the ledger says the same; and the proposal's state."""
        with self.store() as store:
            states = {one.state for one in Adoptions(store).all()}
            shown = find_proposal(store, self.proposal.id).state
        files = {path.read_text() for path in self.root.rglob("*") if path.is_file()}
        if files:
            assert (files, states) == ({self.proposal.candidate}, {"written"})
            return "new", shown
        assert list(self.root.iterdir()) == []
        assert states <= {"rolled_back"}
        return "old", shown


@pytest.fixture
def bench(tmp_path: Path, template: Path) -> Callable[[str], Bench]:
    return lambda name: Bench(tmp_path / name, template)


@pytest.fixture(params=["memory", "store"])
def ledger(request: pytest.FixtureRequest, bench: Callable[[str], Bench]) -> Iterator[tuple[AdoptionLedger, Bench]]:
    table = bench("contract")
    if request.param == "memory":
        yield MemoryLedger([str(table.root)]), table
        return
    with table.store() as store:
        yield Adoptions(store), table


def begun(ledger: AdoptionLedger, table: Bench) -> Adoption:
    targets = find_targets(made.LEARNED, AGENTS, project(table.root))
    return adopt(table.proposal, [], targets, ledger, NOW)


def test_a_ledger_gives_back_what_it_was_told(ledger: tuple[AdoptionLedger, Bench]) -> None:
    kept, table = ledger
    adoption = begun(kept, table)
    assert kept.find(adoption.id) == adoption
    assert kept.find("a-none") is None
    assert list(kept.unsettled()) == []
    rolled = rollback(adoption, kept)
    assert kept.find(adoption.id) == rolled
    assert list(table.root.iterdir()) == []


def test_a_ledger_knows_what_is_unsettled(ledger: tuple[AdoptionLedger, Bench]) -> None:
    kept, table = ledger
    adoption = begun(kept, table)
    intent = replace(adoption, state="intent", targets=tuple(replace(t, state="intent") for t in adoption.targets))
    kept.intend(intent)
    assert list(kept.unsettled()) == [intent]
    assert [one.state for one in recover(kept)] == ["written"]
    assert list(kept.unsettled()) == []
    with pytest.raises(KeyError):
        kept.settle(replace(adoption, id="a-none"))


def killed_at(step: int, work: Callable[[Callable[[str], None]], None]) -> bool:
    """Run `work` in a child that is killed before its step; False where it ended before that."""
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


@pytest.mark.parametrize("work", ["adopt", "rollback"])
def test_the_store_and_the_files_agree_after_a_kill_at_any_call(bench: Callable[[str], Bench], work: str) -> None:
    ends: list[tuple[str, ProposalState]] = []
    for step in range(0, 100, 3):
        table = bench(str(step))
        if work == "rollback":
            table.adopt(lambda _: None)
        killed = killed_at(step, getattr(table, work))
        with table.store() as store:
            recover(Adoptions(store))
        ends.append(table.state())
        if not killed:
            break
    old = ("old", ProposalState.STAGED) if work == "adopt" else ("old", ProposalState.REJECTED)
    new = ("new", ProposalState.ADOPTED)
    assert set(ends) == {old, new}
    assert ends[-1] == (new if work == "adopt" else old)
