"""What an adoption would do to each target, and why one would be refused: nothing here changes a file."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from skillopt_sleep.domain.proposals import Adoption, Document, Proposal, Target, Written
from skillopt_sleep.errors import AdoptionError
from skillopt_sleep.review import blocks, skills
from skillopt_sleep.review.place import Live, Place

MEMORY_FILES: Final = frozenset({"CLAUDE.md", "AGENTS.md", "copilot-instructions.md"})
_ANEW: Final = "Run a night to stage it anew"


class AdoptionRefused(AdoptionError):
    """Nothing was changed. `adoption` says target by target why."""

    def __init__(self, adoption: Adoption) -> None:
        wrong = next(written for written in adoption.targets if written.why)
        super().__init__(wrong.why.rstrip("."), where=wrong.target.path, remedy="Nothing was changed")
        self.adoption = adoption


def plan(proposal: Proposal, text: str, targets: Sequence[Target], roots: Sequence[str]) -> tuple[Written, ...]:
    """Every target's bytes before and after; AdoptionRefused with all reasons if only one of them has one."""
    planned = tuple(_planned(proposal, text, target, roots) for target in targets)
    if all(written.state == "intent" and written.before == written.after for written in planned):
        planned = tuple(replace(written, state="refused", why="it says so already") for written in planned)
    refuse_if(Adoption("", proposal.id, "person", (), planned, "rolled_back", 0))
    return planned


def refuse_if(adoption: Adoption) -> None:
    """AdoptionRefused if any target is refused: then none is written."""
    if any(written.state == "refused" for written in adoption.targets):
        targets = tuple(replace(written, state="refused") for written in adoption.targets)
        raise AdoptionRefused(replace(adoption, targets=targets))


def checked(written: Written, roots: Sequence[str]) -> Written:
    """The target, marked `refused` where it is not what the adoption wrote."""
    try:
        with Place(written.target, roots, "") as place:
            now = place.live().raw
    except AdoptionError as error:
        return replace(written, state="refused", why=sentence(error))
    if now == written.after:
        return written
    why = f"the file changed since it was adopted: {what_changed(written.after or b'', now)}"
    return replace(written, state="refused", why=why)


def valid(document: Document, text: str) -> str:
    """`text`; AdoptionError if it is no valid document of its kind."""
    if document.kind != "memory" and (found := skills.problems(text, document.name)):
        raise AdoptionError(f"not a valid skill: {found[0]}", where=document.name, remedy="Leave that edit out")
    return text


def document_bytes(raw: bytes | None, target: Target) -> bytes | None:
    """The document's part of a target's file: all of a skill, the body of a managed block; None where it is absent."""
    if raw is None or not target.block:
        return raw
    body = blocks.body(raw, target.block)
    return None if body is None else body.encode("utf-8")


def digest(raw: bytes | None) -> str | None:
    """SHA-256 as hex; None for what is absent."""
    return None if raw is None else hashlib.sha256(raw).hexdigest()


def what_changed(then: bytes, now: bytes | None) -> str:
    """In a few words, for a person: how a file differs from what it was."""
    if now is None:
        return "the file is gone"
    old, new = (raw.decode("utf-8", "replace").splitlines(keepends=True) for raw in (then, now))
    changes = [c for c in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if c[0] != "equal"]
    if not changes:
        return "only bytes that are no text differ"
    added, removed = sum(c[4] - c[3] for c in changes), sum(c[2] - c[1] for c in changes)
    return f"{_lines(added)} added, {_lines(removed)} removed, first at line {changes[0][3] + 1}"


def sentence(error: AdoptionError) -> str:
    """An error without its place, which stands beside it."""
    return f"{error.message}. {error.remedy}" if error.remedy else error.message


def _planned(proposal: Proposal, text: str, target: Target, roots: Sequence[str]) -> Written:
    try:
        _fits(proposal.document, target)
        with Place(target, roots, "") as place:
            live = place.live()
        _no_drift(proposal, target, live)
        after = blocks.put(live.raw or b"", target.block, text) if target.block else text.encode("utf-8")
    except AdoptionError as error:
        return Written(target, "refused", None, None, why=sentence(error))
    return Written(target, "intent", live.raw, after, live.mode, made=live.missing)


def _fits(document: Document, target: Target) -> None:
    """Only a place where agents look for this document: a stored path is not trusted to be one."""
    parts = target.path.split("/")
    if document.kind == "memory":
        fits = parts[-1] in MEMORY_FILES and target.block == document.name
    else:
        fits = parts[-2:] == [document.name, skills.FILE] and not target.block
    if not fits:
        raise AdoptionError("no agent looks there for this document", where=target.path, remedy=_ANEW)


def _no_drift(proposal: Proposal, target: Target, live: Live) -> None:
    """The live text must be what the proposal was made from: the pinned digest, else the proposal's base."""
    now = document_bytes(live.raw, target)
    base = proposal.base.encode("utf-8") if proposal.base else None
    wanted = pinned(proposal, target, digest(base))
    if digest(now) == wanted:
        return
    if wanted is None:
        why = "something stands there already"
    elif now is None:
        why = "the live text is gone"
    else:
        known = digest(base) == wanted and base is not None
        why = f"the live text changed since it was staged: {what_changed(base or b'', now) if known else 'other text'}"
    raise AdoptionError(why, where=target.path, remedy=_ANEW)


def pinned(proposal: Proposal, target: Target, otherwise: str | None) -> str | None:
    """The digest of what stood at the target when the proposal was staged; `otherwise` where it was not pinned."""
    place = (target.path, target.block)
    return next((pin.digest for pin in proposal.pins if (pin.target.path, pin.target.block) == place), otherwise)


def _lines(n: int) -> str:
    return "1 line" if n == 1 else f"{n} lines"
