"""Evidence for others: what was proposed, on which figures, and what was decided, in a form that can be checked alone.

The document holds the evidence log whole (digests), the facts that it speaks of, and the proposals as a person saw
them. Whoever has it can compute every digest again, and E from the units. It holds no transcript beyond the quotes.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

import msgspec

from skillopt_core.gate import e_value
from skillopt_sleep.errors import UsageError
from skillopt_sleep.review.documents import proposal_document
from skillopt_sleep.store import evidence_log, facts
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.evidence_log import LogEntry
from skillopt_sleep.store.keeping import Check
from skillopt_sleep.store.proposals import find_proposal, proposals
from skillopt_sleep.store.wording import rewritten

KIND: Final = "skillopt-sleep evidence"
TOLERANCE: Final = 1e-9
"""Relative: E is computed from the same units in the same arithmetic."""

Clean = Callable[[Sequence[str]], Sequence[str]]
Facts = Mapping[str, Mapping[str, facts.Fact]]


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of the log, its digests as hex."""

    sequence: int
    previous: str
    digest: str
    kind: str
    speaks_of: tuple[str, ...]
    at_ms: int


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Such a file. `whole`: it has all facts of its store, so that none may be missing. `digest` covers the rest."""

    format: int
    kind: str
    whole: bool
    log: tuple[Entry, ...]
    facts: dict[str, dict[str, dict[str, Any]]]
    shown: tuple[dict[str, Any], ...]
    digest: str = ""


def evidence_document(store: Store, names: Collection[str], clean: Clean) -> dict[str, Any]:
    """The evidence of a store, or of some proposals. `clean` goes over every word of it. Raises `NotFound`."""
    shown = [find_proposal(store, name) for name in dict.fromkeys(names)] if names else proposals(store)
    known = _facts(store, {one.id for one in shown} if names else None)
    words = [_without_names(proposal_document(one)) for one in shown]
    document = {
        "format": 1,
        "kind": KIND,
        "whole": not names,
        "log": [_entry(entry) for entry in evidence_log.entries(store)],
        "facts": known,
        "shown": json.loads(rewritten(json.dumps(words), clean)),
    }
    return document | {"digest": _digest(document)}


def check_document(content: bytes, where: str) -> list[Check]:
    """Check such a file with nothing but itself. Raises `UsageError` for a file that is none."""
    try:
        document = msgspec.json.decode(content, type=Document)
        if document.kind != KIND or document.format != 1:
            raise UsageError("is no evidence of format 1", where=where, remedy="`skillopt-sleep export FILE` makes one")
        log = [_log_entry(entry) for entry in document.log]
    except (msgspec.MsgspecError, ValueError) as error:
        remedy = "`skillopt-sleep export FILE` makes one"
        raise UsageError(f"is no evidence: {error}", where=where, remedy=remedy) from error
    sound = _digest({**msgspec.to_builtins(document), "digest": None}) == document.digest
    broken = evidence_log.first_broken(log)
    return [
        Check("file", "" if sound else "it was changed after it was written"),
        Check("evidence log", "" if broken is None else f"entry {broken} is not what its chain says"),
        Check("figures and decisions", _listed(_differing(document, log))),
        Check("E computed again", _listed(_wrong_e(document.facts))),
        Check("what is shown", _listed(_shown_otherwise(document))),
    ]


def _facts(store: Store, names: Collection[str] | None) -> dict[str, dict[str, facts.Fact]]:
    with store.read() as connection:
        known = {kind: dict(facts.facts(connection, kind)) for kind in facts.KINDS}
    if names is None:
        return known
    decided = {kind: _of(known[kind], "proposal_id", names) for kind in ("decision", "adoption")}
    chosen = {name: fact for name, fact in known["proposal"].items() if name in names}
    verdicts = {f"v-{name}" for name in chosen}
    verdicts |= {edit["comparison_id"] for fact in chosen.values() for edit in fact["edits"]}
    return decided | {"proposal": chosen, "verdict": {k: v for k, v in known["verdict"].items() if k in verdicts}}


def _of(known: Mapping[str, facts.Fact], key: str, names: Collection[str]) -> dict[str, facts.Fact]:
    return {name: fact for name, fact in known.items() if fact[key] in names}


def _without_names(shown: Mapping[str, Any]) -> Any:
    """The proposal with its units by digest, as the facts have them: their names may hold a person's."""
    value = json.loads(json.dumps(shown))
    for holder in (value, *value["edits"]):
        for unit in holder["evidence"]["units"]:
            unit["unit"] = facts.unit_digest(unit["unit"])
    return value


def _entry(entry: LogEntry) -> dict[str, Any]:
    named = {"sequence": entry.sequence, "previous": entry.previous.hex(), "digest": entry.digest.hex()}
    return {**named, "kind": entry.kind, "speaks_of": list(entry.speaks_of), "at_ms": entry.at_ms}


def _log_entry(entry: Entry) -> LogEntry:
    previous, digest = bytes.fromhex(entry.previous), bytes.fromhex(entry.digest)
    return LogEntry(entry.sequence, previous, digest, entry.kind, entry.speaks_of, entry.at_ms)


def _digest(document: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in document.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _differing(document: Document, log: Sequence[LogEntry]) -> list[str]:
    """Facts that are not what the log last said of them; of a whole document also those that are missing."""
    said = evidence_log.latest(log)
    now = {(kind, name): facts.digest_of(fact) for kind, of in document.facts.items() for name, fact in of.items()}
    wanted = {*now, *said} if document.whole else set(now)
    return [f"{kind} {name}" for kind, name in sorted(wanted) if now.get((kind, name)) != said.get((kind, name))]


def _wrong_e(known: Facts) -> list[str]:
    """Recorded verdicts whose E does not follow from their units."""
    return [
        name
        for name, fact in known.get("verdict", {}).items()
        if fact["evidence"] == "recorded" and fact["units"] and fact["e"] is not None
        if not math.isclose(_e(fact), float(fact["e"]), rel_tol=TOLERANCE)
    ]


def _e(fact: facts.Fact) -> float:
    ds, bets = [unit["d"] for unit in fact["units"]], json.loads(fact["bets"])
    return e_value(ds, bets) if bets else e_value(ds)


def _shown_otherwise(document: Document) -> list[str]:
    """Edits whose figures are shown otherwise than their facts have them."""
    verdicts, wrong = document.facts.get("verdict", {}), []
    for shown in document.shown:
        for edit in shown["edits"]:
            name = f"{shown['proposal']}-{edit['n']}"
            fact = verdicts.get(f"v-{name}")
            seen = (edit["verdict"], edit["evidence"]["effect"], edit["evidence"]["pairs"])
            if fact is None or seen != (fact["verdict"], fact["effect"], fact["pairs"]):
                wrong.append(name)
    return wrong


def _listed(names: Sequence[str]) -> str:
    return "" if not names else f"{len(names)} do not fit, the first {names[0]}"
