"""What `review`, `adopt`, `reject` and `rollback` do."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from skillopt_sleep.cli.common import Call
from skillopt_sleep.cli.keys import keys, raw
from skillopt_sleep.cli.making import make_world, the_store
from skillopt_sleep.clock import SystemClock
from skillopt_sleep.domain.proposals import Adoption, Decision, Document, Proposal, ProposalState, Target
from skillopt_sleep.errors import AdoptionError, NotFound, UsageError
from skillopt_sleep.review import adopt as adopting
from skillopt_sleep.review import targets
from skillopt_sleep.review.choose import unproven as is_unproven
from skillopt_sleep.review.stage import freshened
from skillopt_sleep.store.adoptions import Adoptions
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.proposals import decide, find_proposal, proposals, save_proposal
from skillopt_sleep.world import LocalWorld, Silence

OPEN = (ProposalState.STAGED, ProposalState.ON_TRIAL, ProposalState.STALE)


def review(call: Call, name: str | None) -> None:
    """On a terminal one screen with single keys; elsewhere, and with `--json`, each proposal in full."""
    with the_store(call) as store:
        world = make_world(call, call.loaded.config, store, Silence())
        waiting = [find_proposal(store, name)] if name else proposals(store, *OPEN)
        waiting = [_fresh(world, proposal) for proposal in waiting]
        if not waiting:
            if not call.as_json:
                call.view.text("Nothing waits for you. `skillopt-sleep status` says when the next night is.")
            return
        if call.as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
            call.view.proposals(waiting)
            return
        descriptor = sys.stdin.fileno()
        with raw(descriptor):
            call.view.review(waiting, keys(descriptor), lambda made: _carry_out(world, made), SystemClock())


def adopt(call: Call, name: str, edits: Sequence[int], agents: Sequence[str], *, unproven: bool) -> None:
    """Write a proposal, or some of its edits, to all targets or to none."""
    with the_store(call) as store:
        world = make_world(call, call.loaded.config, store, Silence())
        proposal = find_proposal(store, name)
        adoption = write(world, proposal, edits, agents, unproven=unproven)
        decide(store, Decision(proposal.id, "adopt", adoption.edits, adoption.at_ms, unproven=unproven))
        call.view.adoption(adoption)


def reject(call: Call, name: str, why: str) -> None:
    """Say no; `--why` is kept with it."""
    if not why.strip():
        raise UsageError("a rejection wants a reason", where="--why", remedy='Say it: --why "we use another tool"')
    with the_store(call) as store:
        proposal = find_proposal(store, name)
        world = make_world(call, call.loaded.config, store, Silence())
        made = Decision(proposal.id, "reject", (), world.clock.now_ms(), why=world.redactor.redact(why))
        decide(store, made)
        call.view.rejection(made)


def rollback(call: Call, name: str) -> None:
    """Restore what was there before an adoption, or refuse where it has changed since."""
    with the_store(call) as store:
        ledger = Adoptions(store)
        adoption = ledger.find(name)
        if adoption is None:
            raise NotFound("there is no such adoption", where=name, remedy="See `skillopt-sleep history`")
        call.view.adoption(adopting.rollback(adoption, ledger))


def write(
    world: LocalWorld, proposal: Proposal, edits: Sequence[int], agents: Sequence[str], *, unproven: bool
) -> Adoption:
    """The adoption itself. AdoptionError says which folder would have to be recorded first."""
    chosen = where_to(world, proposal.document, agents)
    ledger = Adoptions(world.store)
    _must_be_recorded(ledger, chosen)
    return adopting.adopt(proposal, edits, chosen, ledger, world.clock, unproven=unproven)


def where_to(world: LocalWorld, document: Document, agents: Sequence[str]) -> Sequence[Target]:
    """The targets of a document; those of some agents, where they are named."""
    found = world.targets(document)
    if not found:
        raise AdoptionError(
            "its project is not on this machine", where=document.scope, remedy="Adopt it where the project is"
        )
    if not agents:
        return found
    unknown = next((agent for agent in agents if agent not in targets.AGENTS), None)
    if unknown:
        raise UsageError(f"unknown agent {unknown!r}", where="--target", remedy=f"Choose from {targets.AGENTS}")
    return [target for target in found if set(target.agents) & set(agents)]


def _must_be_recorded(ledger: Adoptions, chosen: Sequence[Target]) -> None:
    """A transcript may claim any folder for its project: only folders that the person named are written to."""
    recorded = ledger.roots()
    for target in chosen:
        if not any(target.path.startswith(root.rstrip(os.sep) + os.sep) for root in recorded):
            raise AdoptionError(
                "nothing may be written there yet",
                where=target.root,
                remedy=f"Run `skillopt-sleep init` inside it, or `skillopt-sleep run --project {target.root}`",
            )


def _carry_out(world: LocalWorld, made: Decision) -> str:
    """What the review screen asks for; answers with one sentence."""
    proposal = find_proposal(world.store, made.proposal)
    if made.choice == "adopt":
        needs = any(is_unproven(edit) for edit in proposal.edits if edit.n in made.edits)
        adoption = write(world, proposal, made.edits, (), unproven=made.unproven or needs)
        decide(world.store, replace(made, edits=adoption.edits))
        return f"adopted {proposal.document.name}; undo it with `skillopt-sleep rollback {adoption.id}`"
    decide(world.store, replace(made, why=world.redactor.redact(made.why)))
    return f"{'rejected' if made.choice == 'reject' else 'left for later'}: {proposal.document.name}"


def _fresh(world: LocalWorld, proposal: Proposal) -> Proposal:
    """The proposal as it stands against the live text now; a change of its state is kept."""
    fresh = freshened(proposal, world.live(proposal.document))
    if fresh.state != proposal.state:
        save_proposal(world.store, fresh)
    return fresh


def open_proposals(store: Store) -> int:
    return len(proposals(store, *OPEN))
