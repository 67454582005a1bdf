"""Proposals, decisions and adoptions come back as they were staged, decided and written."""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from skillopt_sleep.clock import FixedClock
from skillopt_sleep.domain.proposals import Decision, ProposalState
from skillopt_sleep.errors import NotFound, StoreError
from skillopt_sleep.store import documents
from skillopt_sleep.store.adoptions import Adoptions, record_roots, remove_root
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.failures import Conflict
from skillopt_sleep.store.proposals import decide, decisions, find_proposal, proposals, save_proposal, set_state


def staged(store: Store, filled: ModuleType) -> None:
    save_proposal(store, filled.proposal(filled.night(store).id))


def test_a_proposal_comes_back_as_it_was_staged(store: Store, filled: ModuleType) -> None:
    one = filled.proposal(filled.night(store).id)
    for _ in range(2):
        save_proposal(store, one)
    assert find_proposal(store, "p-1") == one
    assert [edit.n for edit in find_proposal(store, "p-1").edits] == [2, 1]
    with pytest.raises(NotFound):
        find_proposal(store, "p-2")


def test_a_proposal_of_the_same_id_takes_the_newer_evidence(store: Store, filled: ModuleType) -> None:
    one = filled.proposal(filled.night(store).id)
    save_proposal(store, one)
    newer = replace(one, edits=(replace(one.edits[1], provenance=()),), verdict=filled.verdict(e=99.0), pins=())
    save_proposal(store, newer)
    assert find_proposal(store, "p-1") == newer


def test_proposals_are_listed_by_state(store: Store, filled: ModuleType) -> None:
    night = filled.night(store).id
    for n, state in enumerate(ProposalState):
        save_proposal(store, replace(filled.proposal(night, name=f"p-{n}"), state=state, created_ms=n))
    assert [one.id for one in proposals(store)] == [f"p-{n}" for n in range(len(ProposalState))]
    assert [one.state for one in proposals(store, ProposalState.STALE, ProposalState.STAGED)] == ["staged", "stale"]
    set_state(store, "p-0", ProposalState.SUPERSEDED, "a newer one")
    assert find_proposal(store, "p-0").state is ProposalState.SUPERSEDED
    with pytest.raises(NotFound):
        set_state(store, "p-99", ProposalState.STALE)


def test_a_proposal_of_no_night_is_refused_whole(store: Store, filled: ModuleType) -> None:
    with pytest.raises(Conflict):
        save_proposal(store, filled.proposal("n-none"))
    assert store.driver.execute("SELECT count(*) FROM skill_version").fetchone() == (0,)


def test_versions_of_a_document_are_found_by_their_digest(store: Store, filled: ModuleType) -> None:
    from skillopt_core.types import Skill

    staged(store, filled)
    one = find_proposal(store, "p-1")
    assert documents.version(store, Skill(one.candidate).digest) == one.candidate
    assert documents.version(store, "0" * 64) is None


def test_decisions_are_kept_and_a_rejection_of_the_whole_moves_the_proposal(store: Store, filled: ModuleType) -> None:
    staged(store, filled)
    later = Decision("p-1", "defer", (), 5)
    part = Decision("p-1", "reject", (1,), 6, why="not so")
    whole = Decision("p-1", "reject", (1, 2), 7, by="person", why="no", unproven=True)
    decide(store, later)
    decide(store, part)
    assert find_proposal(store, "p-1").state is ProposalState.STAGED
    decide(store, whole)
    assert find_proposal(store, "p-1").state is ProposalState.REJECTED
    assert decisions(store, "p-1") == [later, part, whole]


def test_an_adoption_comes_back_byte_for_byte(store: Store, filled: ModuleType) -> None:
    staged(store, filled)
    ledger, one = Adoptions(store), filled.adoption()
    ledger.intend(one)
    assert ledger.find("a-1") == one
    assert list(ledger.unsettled()) == [one]
    assert ledger.find("a-2") is None
    newline = store.driver.execute("SELECT newline, path FROM adoption_target ORDER BY n").fetchall()
    assert newline == [("", ".claude/skills/shop-habits/SKILL.md"), ("crlf", "AGENTS.md")]


def settled(one: object, state: str) -> object:
    targets = tuple(replace(target, state=state) for target in one.targets)  # type: ignore[attr-defined]
    return replace(one, state=state, targets=targets)  # type: ignore[type-var]


def test_the_proposal_follows_its_adoption(store: Store, filled: ModuleType) -> None:
    staged(store, filled)
    ledger, one = Adoptions(store), filled.adoption()
    ledger.intend(one)
    ledger.settle(settled(one, "rolled_back"))
    assert find_proposal(store, "p-1").state is ProposalState.STAGED
    ledger.intend(one)
    ledger.settle(settled(one, "written"))
    assert find_proposal(store, "p-1").state is ProposalState.ADOPTED
    assert ledger.find("a-1") == settled(one, "written")
    ledger.intend(settled(one, "intent"))
    assert find_proposal(store, "p-1").state is ProposalState.ADOPTED
    ledger.settle(settled(one, "rolled_back"))
    assert find_proposal(store, "p-1").state is ProposalState.REJECTED
    assert not ledger.unsettled()
    assert [kept.id for kept in ledger.all()] == ["a-1"]
    with pytest.raises(KeyError):
        ledger.settle(replace(one, id="a-9"))


def test_unsettled_adoptions_come_oldest_first(store: Store, filled: ModuleType) -> None:
    staged(store, filled)
    ledger = Adoptions(store)
    for name, at_ms in (("a-2", 20), ("a-1", 30), ("a-3", 10)):
        ledger.intend(replace(filled.adoption(name=name), at_ms=at_ms))
    assert [one.id for one in ledger.unsettled()] == ["a-3", "a-2", "a-1"]


def test_bytes_that_are_not_what_was_kept_are_refused(store: Store, filled: ModuleType) -> None:
    staged(store, filled)
    ledger = Adoptions(store)
    ledger.intend(filled.adoption())
    with store.write() as connection:
        connection.exec_driver_sql("UPDATE body SET bytes = x'00' WHERE digest IN (SELECT before FROM adoption_target)")
    with pytest.raises(StoreError, match="not what was kept"):
        ledger.find("a-1")


def test_roots_are_recorded_removed_and_recorded_again(store: Store) -> None:
    ledger = Adoptions(store)
    assert list(ledger.roots()) == []
    record_roots(store, {"/home/kim/.claude": "claude-code", "/home/kim/.codex": "codex"})
    remove_root(store, "/home/kim/.codex")
    assert list(ledger.roots()) == ["/home/kim/.claude"]
    record_roots(store, {"/home/kim/.codex": "codex"})
    assert list(ledger.roots()) == ["/home/kim/.claude", "/home/kim/.codex"]


def test_one_changes_targets_at_a_time_and_a_killed_holder_lets_go(store: Store, path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from skillopt_sleep.clock import SystemClock\n"
        "from skillopt_sleep.store.engine import open_store; from skillopt_sleep.store.adoptions import Adoptions\n"
        "with Adoptions(open_store(Path(sys.argv[1]), SystemClock())).exclusive():\n"
        "    print('held', flush=True); sys.stdin.read()\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        entered = threading.Event()

        def enter() -> None:
            with Adoptions(store).exclusive():
                entered.set()

        waiting = threading.Thread(target=enter)
        waiting.start()
        assert not entered.wait(0.3)
        holder.kill()
        waiting.join(5)
        assert entered.is_set()


def test_an_intent_is_on_disk_when_it_returns(store: Store, filled: ModuleType, clock: FixedClock) -> None:
    from skillopt_sleep.store.engine import open_store

    staged(store, filled)
    Adoptions(store).intend(filled.adoption())
    with open_store(store.path, clock, read_only=True) as other:
        assert Adoptions(other).find("a-1") == filled.adoption()
