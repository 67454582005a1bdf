"""Adoption and rollback with the store as their ledger, as the command line runs them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from skillopt_core.types import Edit, Skill
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.domain.proposals import Document, Pin, Proposal, ProposalState, Target
from skillopt_sleep.review import stage as staging
from skillopt_sleep.review.adopt import adopt, recover, rollback
from skillopt_sleep.review.skills import skeleton
from skillopt_sleep.store.adoptions import Adoptions, record_roots
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.proposals import find_proposal, save_proposal

SKILL = ".claude/skills/shop/SKILL.md"
AGENTS = "AGENTS.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def staged(store: Store, filled: ModuleType, root: Path) -> Proposal:
    document = Document("shop", "learned", str(root))
    result = staging.EditResult(Edit("add", "Rules", "- Use `pnpm`, not `npm`."), filled.verdict(), "pnpm")
    target = Target("claude-code", str(root), str(root / SKILL))
    night, pins = filled.night(store).id, (Pin(target, None),)
    made = staging.stage(document, None, [result], night=night, now_ms=store.clock.now_ms(), pins=pins).proposal
    assert made is not None
    save_proposal(store, made)
    record_roots(store, {str(root): "claude-code"})
    return made


def test_what_is_staged_is_adopted_and_rolled_back_from_the_store_alone(
    store: Store, filled: ModuleType, root: Path, clock: FixedClock
) -> None:
    staged(store, filled, root)
    ledger = Adoptions(store)
    (name,) = [row[0] for row in store.driver.execute("SELECT id FROM proposal")]
    one = find_proposal(store, name)
    assert one.base_digest == Skill("").digest
    assert skeleton(one.document) != one.candidate
    adoption = adopt(one, [], [pin.target for pin in one.pins], ledger, clock)
    assert (root / SKILL).read_text() == one.candidate
    assert find_proposal(store, name).state is ProposalState.ADOPTED
    kept = ledger.find(adoption.id)
    assert kept == adoption
    rollback(kept, ledger)
    assert not (root / SKILL).exists()
    assert find_proposal(store, name).state is ProposalState.REJECTED


def test_a_killed_adoption_is_undone_at_the_next_start(
    store: Store, filled: ModuleType, root: Path, clock: FixedClock
) -> None:
    class Killed(BaseException):
        pass

    def kill(call: str) -> None:
        if "rename" in call:
            raise Killed

    one = staged(store, filled, root)
    with pytest.raises(Killed):
        adopt(one, [], [pin.target for pin in one.pins], Adoptions(store), clock, watch=kill)
    assert [adoption.state for adoption in Adoptions(store).unsettled()] == ["intent"]
    (undone,) = recover(Adoptions(store))
    assert replace(undone, targets=()).state == "rolled_back"
    assert find_proposal(store, one.id).state is ProposalState.STAGED
    assert not (root / SKILL).exists()
