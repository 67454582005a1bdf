"""Adoption, rollback, recovery: a version of a document to all its targets, or to none.

The order is what makes a kill harmless. The ledger first learns the bytes before and after of every target (intent).
Then each file is replaced in one step: temporary file, fsync, rename, fsync of the folder. Then the ledger is told that
all is written. Whatever was killed in between is found again by its intent, and by comparing bytes: `recover` calls it
written if every target is new, and otherwise brings every target back. A rollback goes through intent in the same way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from skillopt_sleep.clock import Clock
from skillopt_sleep.domain.ledger import AdoptionLedger
from skillopt_sleep.domain.proposals import Adoption, Proposal, Target, Written
from skillopt_sleep.errors import AdoptionError
from skillopt_sleep.review.choose import choose, text_with
from skillopt_sleep.review.place import Place, Watch, unwatched
from skillopt_sleep.review.plan import AdoptionRefused, checked, plan, refuse_if, sentence, valid, what_changed
from skillopt_sleep.review.targets import merged

__all__ = ["AdoptionRefused", "adopt", "recover", "rollback"]

Side = Literal["before", "after"]
By = Literal["person", "auto"]


class Changed(AdoptionError):
    """A file is neither what it was before the adoption nor what the adoption made of it."""


def adopt(
    proposal: Proposal,
    edits: Sequence[int],
    targets: Sequence[Target],
    ledger: AdoptionLedger,
    clock: Clock,
    *,
    unproven: bool = False,
    by: By = "person",
    watch: Watch = unwatched,
) -> Adoption:
    """Write the proposal, or those of its edits that are named, to all targets, or to none of them.

    AdoptionError where the verdict does not allow it; AdoptionRefused, with each target's reason, where a target does
    not (drift, a link, outside the recorded roots …) or the disk does not. `watch` is told of each system call.
    """
    chosen = choose(proposal, edits, allow_unproven=unproven, by=by)
    text = valid(proposal.document, text_with(proposal, chosen))
    if not targets:
        raise AdoptionError("no agent is chosen to write it for", where=proposal.id, remedy="Name one with --target")
    with ledger.exclusive():
        planned = plan(proposal, text, merged(targets), ledger.roots())
        numbers, now = tuple(edit.n for edit in chosen), clock.now_ms()
        adoption = Adoption(
            _unused_id(proposal, numbers, now, ledger), proposal.id, by, numbers, planned, "intent", now
        )
        ledger.intend(adoption)
        return _all_or_none(adoption, "after", ledger, watch)


def rollback(adoption: Adoption, ledger: AdoptionLedger, *, watch: Watch = unwatched) -> Adoption:
    """Put back the bytes from before the adoption in all its targets, or in none of them.

    AdoptionRefused where a file has changed since; what changed is said. Folders that the adoption made are removed
    unless something else lies there.
    """
    if adoption.state != "written":
        why = f"it is {adoption.state}, not written"
        raise AdoptionError(why, where=adoption.id, remedy="See `skillopt-sleep history`")
    with ledger.exclusive():
        refuse_if(replace(adoption, targets=tuple(checked(written, ledger.roots()) for written in adoption.targets)))
        intent = _stated(adoption, "intent")
        ledger.intend(intent)
        return _all_or_none(intent, "before", ledger, watch)


def recover(ledger: AdoptionLedger, *, watch: Watch = unwatched) -> tuple[Adoption, ...]:
    """Finish or undo what was killed halfway; run at every start. The adoptions that were unsettled, as they are now.

    One that comes back with state `intent` could not be reached (a disk that is away): it is tried again next time.
    A file that somebody has changed since is left as it is and marked `refused`, with what changed.
    """
    with ledger.exclusive():
        return tuple(_recovered(adoption, ledger, watch) for adoption in ledger.unsettled())


def _unused_id(proposal: Proposal, edits: tuple[int, ...], now: int, ledger: AdoptionLedger) -> str:
    again = 0
    while ledger.find(name := _id(f"{proposal.id} {edits} {now} {again}")) is not None:
        again += 1
    return name


def _id(of: str) -> str:
    return "a-" + hashlib.sha256(of.encode()).hexdigest()[:10]


def _all_or_none(adoption: Adoption, side: Side, ledger: AdoptionLedger, watch: Watch) -> Adoption:
    """Bring all targets to one side; where one cannot be brought there, bring all to the other, and refuse."""
    roots = ledger.roots()
    try:
        for written in adoption.targets:
            _bring(written, side, roots, adoption.id, watch)
    except AdoptionError as error:
        back: Side = "before" if side == "after" else "after"
        _take_back(adoption, back, ledger, error, watch)
    return _settle(adoption, side, ledger)


def _take_back(adoption: Adoption, side: Side, ledger: AdoptionLedger, error: AdoptionError, watch: Watch) -> None:
    """Undo what was done before `error`, and raise. What cannot be undone now stays intended, for `recover`."""
    stuck: list[AdoptionError] = []
    for written in reversed(adoption.targets):
        try:
            _bring(written, side, ledger.roots(), adoption.id, watch)
        except Changed:
            continue  # somebody else's text: we have not written it, and leave it
        except AdoptionError as another:
            stuck.append(another)
    blamed = tuple(_blamed(written, error) for written in adoption.targets)
    if not stuck:
        _settle(adoption, side, ledger)
        refuse_if(replace(adoption, targets=blamed))
    raise AdoptionError(
        f"{error.message}; and what was done cannot be undone yet ({stuck[0].message})",
        where=error.where,
        remedy="Mend that; the next command finishes the undoing",
    ) from error


def _bring(written: Written, side: Side, roots: Sequence[str], token: str, watch: Watch) -> None:
    """Bring one target to its image before or after, from the other one; Changed where it is neither."""
    want, other = (written.after, written.before) if side == "after" else (written.before, written.after)
    with Place(written.target, roots, token, watch) as place:
        live = place.live().raw
        if live not in (want, other):
            changed = what_changed((other if other is not None else want) or b"", live)
            raise Changed(f"the file changed meanwhile: {changed}", where=written.target.path)
        if live != want and want is not None:
            place.write(want, written.mode, live)
        elif live != want and live is not None:
            place.unlink(live)
        place.discard(written.made if want is None else ())


def _blamed(written: Written, error: AdoptionError) -> Written:
    own = error.where == written.target.path
    return replace(written, state="refused", why=sentence(error) if own else "")


def _recovered(adoption: Adoption, ledger: AdoptionLedger, watch: Watch) -> Adoption:
    new = all(checked(written, ledger.roots()).state != "refused" for written in adoption.targets)
    state: Literal["written", "rolled_back"] = "written" if new else "rolled_back"
    results: list[Written] = []
    for written in adoption.targets:
        try:
            _bring(written, "after" if new else "before", ledger.roots(), adoption.id, watch)
            results.append(replace(written, state=state))
        except Changed as error:
            results.append(replace(written, state="refused", why=sentence(error)))
        except AdoptionError as error:
            results.append(replace(written, state="intent", why=sentence(error)))
    seen = replace(adoption, targets=tuple(results))
    if any(written.state == "intent" for written in results):
        return seen
    done = replace(seen, state=state)
    ledger.settle(done)
    return done


def _settle(adoption: Adoption, side: Side, ledger: AdoptionLedger) -> Adoption:
    done = _stated(adoption, "written" if side == "after" else "rolled_back")
    ledger.settle(done)
    return done


def _stated(adoption: Adoption, state: Literal["intent", "written", "rolled_back"]) -> Adoption:
    return replace(adoption, state=state, targets=tuple(replace(w, state=state) for w in adoption.targets))
