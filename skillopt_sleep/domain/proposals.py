"""What is staged for the morning, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from skillopt_core.types import Edit, Verdict
from skillopt_sleep.domain.frictions import Quote, Stake


class ProposalState(StrEnum):
    STAGED = "staged"
    ON_TRIAL = "on_trial"
    SUPERSEDED = "superseded"
    STALE = "stale"
    ADOPTED = "adopted"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Document:
    """The document that a proposal changes (vocabulary): a learned skill, a hand-written one, or a memory block.

    `name` is the skill's name by the Agent Skills specification, `scope` the project's id or "user".
    """

    name: str
    kind: Literal["learned", "hand-written", "memory"]
    scope: str


@dataclass(frozen=True, slots=True)
class ProposedEdit:
    """One edit as it is shown: numbered from 1, with its own verdict, stake and provenance.

    `predicate` states the exact reading that the figures belong to; empty where none can be checked.
    """

    n: int
    edit: Edit
    status: Literal["accepted", "dropped", "missed", "refused", "proposed"]
    verdict: Verdict
    rule: str  # identity that survives rewording
    title: str
    predicate: str = ""
    stake: Stake | None = None
    provenance: tuple[Quote, ...] = ()
    why: str = ""
    self_healing: bool = False  # worth at most one action: shown last; kept in `n` alone


@dataclass(frozen=True, slots=True)
class Target:
    """An agent's place to which an adoption is written. `path` is absolute and lies inside `root`.

    `block` is the name of the managed block inside a memory file, empty for a skill's own file. `also` names further
    agents that read the very same file (one file in `.agents/skills` serves Codex and Copilot).
    """

    agent: str
    root: str
    path: str
    block: str = ""
    also: tuple[str, ...] = ()

    @property
    def agents(self) -> tuple[str, ...]:
        return (self.agent, *self.also)


@dataclass(frozen=True, slots=True)
class Pin:
    """What stood at a target when the proposal was staged: the base of the drift check at adoption.

    `digest` is the SHA-256 of the file's bytes, for a managed block that of the block's body; None: nothing there.
    """

    target: Target
    digest: str | None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A version of a document with the digest that it is based on, its edits one by one, and its evidence.

    `edits` stand in the order in which they are applied; their `n` follow the order in which a person wants to read
    them. A new document starts from `review.skills.skeleton`, so `base` may be "" while `candidate` is whole.
    """

    id: str
    night: str
    document: Document
    base: str  # text of the live document when it was staged, "" where there is none
    base_digest: str
    candidate: str  # the whole text with all its edits
    edits: tuple[ProposedEdit, ...]
    verdict: Verdict  # of the proposal as a whole: that of its weakest edit that would be adopted plainly
    state: ProposalState = ProposalState.STAGED
    created_ms: int = 0
    pins: tuple[Pin, ...] = ()
    quotes_forgotten: bool = False  # it quoted what a person has had forgotten since


@dataclass(frozen=True, slots=True)
class Written:
    """One target of an adoption: the exact bytes before and after (None: no such file).

    `mode` holds the permission bits that the file had and gets back; `made` the folders that had to be made for it,
    relative to the target's root, outermost first: a rollback removes them where nothing else has come to lie there.
    """

    target: Target
    state: Literal["written", "refused", "rolled_back", "intent"]
    before: bytes | None
    after: bytes | None
    mode: int | None = None
    why: str = ""
    made: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Adoption:
    """A proposal on disk, reversible: one version to several agents is several targets, all or none."""

    id: str
    proposal: str
    by: Literal["person", "auto"]
    edits: tuple[int, ...]
    targets: tuple[Written, ...]
    state: Literal["intent", "written", "rolled_back"]
    at_ms: int


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person said of a proposal, or of some of its edits; a deferred one comes back the next morning."""

    proposal: str
    choice: Literal["adopt", "reject", "defer"]
    edits: tuple[int, ...]
    at_ms: int
    by: Literal["person", "auto"] = "person"
    why: str = ""
    unproven: bool = False
