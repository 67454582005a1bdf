"""Where each agent looks for a document: the files that an adoption writes, and the folder each must lie in.

Seen on the wire with Claude Code 2.1, Codex 0.171 and Copilot CLI 1.0: a skill lies at `FOLDER/NAME/SKILL.md`, and
several agents read several folders. Of the folders that serve the chosen agents the fewest are taken, and such that an
agent sees one copy and not two where that can be had. A copy that is there already is always among them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Final, Literal

from skillopt_sleep.domain.proposals import Document, Pin, Target
from skillopt_sleep.errors import AdoptionError, NotFound, UsageError
from skillopt_sleep.review.place import MOST_BYTES, Place
from skillopt_sleep.review.plan import digest, document_bytes
from skillopt_sleep.review.skills import FILE

AGENTS: Final = ("claude-code", "codex", "copilot-cli")
Scope = Literal["project", "user"]

_CLAUDE, _CODEX, _COPILOT = AGENTS
_Readers = dict[str, frozenset[str]]
"""Which agents read a place; places in order of preference."""

_SKILLS: Final[Mapping[Scope, _Readers]] = {
    "project": {
        ".agents/skills": frozenset({_CODEX, _COPILOT}),
        ".claude/skills": frozenset({_CLAUDE, _COPILOT}),
        ".codex/skills": frozenset({_CODEX}),
        ".github/skills": frozenset({_COPILOT}),
    },
    "user": {
        ".agents/skills": frozenset({_CODEX, _COPILOT}),
        ".claude/skills": frozenset({_CLAUDE}),
        ".codex/skills": frozenset({_CODEX}),
        ".copilot/skills": frozenset({_COPILOT}),
    },
}
_MEMORY: Final[Mapping[Scope, _Readers]] = {
    "project": {
        "AGENTS.md": frozenset({_CODEX, _COPILOT}),
        "CLAUDE.md": frozenset({_CLAUDE, _COPILOT}),
        ".github/copilot-instructions.md": frozenset({_COPILOT}),
    },
    "user": {
        ".claude/CLAUDE.md": frozenset({_CLAUDE}),
        ".codex/AGENTS.md": frozenset({_CODEX}),
        ".copilot/copilot-instructions.md": frozenset({_COPILOT}),
    },
}
_CONFIGURED: Final = {".claude": "CLAUDE_CONFIG_DIR", ".codex": "CODEX_HOME"}
_IMPORT: Final = re.compile(rb"^[ \t]*(?:[-*][ \t]+)?@(?:\./)?AGENTS\.md[ \t]*\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Where:
    """A project (`base` is its git root) or a user (`base` is their HOME, `environ` may move an agent's folder)."""

    scope: Scope
    base: Path
    environ: Mapping[str, str]

    def path(self, place: str) -> Path:
        """The absolute path of a place of the tables."""
        head, _, rest = place.partition("/")
        return (self.root(place) / rest) if self.scope == "user" else (self.base / head / rest)

    def root(self, place: str) -> Path:
        """The folder that an adoption must not leave: the project, or the agent's own folder in the user's HOME."""
        if self.scope == "project":
            return self.base
        head = place.partition("/")[0]
        moved = self.environ.get(_CONFIGURED.get(head, ""), "")
        return Path(moved).expanduser() if moved else self.base / head


def project(root: Path) -> Where:
    return Where("project", root.absolute(), {})


def user(home: Path, environ: Mapping[str, str]) -> Where:
    return Where("user", home.absolute(), environ)


def find_targets(document: Document, agents: Sequence[str], where: Where) -> tuple[Target, ...]:
    """The files to write so that every chosen agent sees the document, each file once.

    A hand-written skill is written where it lies and nowhere else. UsageError for an unknown agent, AdoptionError for
    one that has no folder here yet, NotFound for a hand-written skill that is not there.
    """
    chosen = _known(agents)
    places = _aliased(document, where)
    present = {place for place in places if places[place] & chosen and _stands(document, where, place)}
    if document.kind == "hand-written":
        if not present:
            raise NotFound("no such skill", where=document.name, remedy="See `skillopt-sleep doctor`")
        taken: Iterable[str] = [place for place in places if place in present]
    else:
        there = {place: readers for place, readers in places.items() if place in present or where.root(place).is_dir()}
        taken = _fewest(there, chosen, present)
    return tuple(_target(document, where, place, places[place] & chosen) for place in taken)


def roots(agents: Sequence[str], where: Where) -> tuple[str, ...]:
    """The folders to record, so that adoptions for these agents may write below them."""
    chosen = _known(agents)
    tables = (_SKILLS[where.scope], _MEMORY[where.scope])
    folders = {str(where.root(place)) for table in tables for place, readers in table.items() if readers & chosen}
    return tuple(sorted(folder for folder in folders if Path(folder).is_dir()))


def merged(targets: Iterable[Target]) -> tuple[Target, ...]:
    """One target a file and block: the agents of the others are added to it."""
    known: dict[tuple[str, str], Target] = {}
    for target in targets:
        key = (os.path.realpath(target.path), target.block)
        first = known.get(key)
        agents = dict.fromkeys((*first.agents, *target.agents)) if first else dict.fromkeys(target.agents)
        known[key] = replace(first or target, also=tuple(agents)[1:])
    return tuple(known.values())


def live_bytes(target: Target) -> bytes | None:
    """The document as it stands at one target: a skill's file, the body of a block; None where it is absent.

    AdoptionError for a file that an adoption would refuse: what lies behind a link is not read either.
    """
    with Place(target, (target.root,), "") as place:
        return document_bytes(place.live().raw, target)


def live_text(targets: Sequence[Target]) -> str | None:
    """The live document: the text at the first target that has it, None where none has.

    AdoptionError where two targets hold different texts, or one holds bytes that are no UTF-8.
    """
    found = [(target, raw) for target in targets if (raw := live_bytes(target)) is not None]
    for target, raw in found[1:]:
        if raw != found[0][1]:
            why = f"it differs from {found[0][0].path}, which should be the same document"
            raise AdoptionError(why, where=target.path, remedy="Make them equal, or choose one with --target")
    try:
        return found[0][1].decode("utf-8") if found else None
    except UnicodeDecodeError as error:
        why = f"byte {error.start} is no UTF-8"
        raise AdoptionError(why, where=found[0][0].path, remedy="Save the file as UTF-8") from error


def pins(targets: Sequence[Target]) -> tuple[Pin, ...]:
    """What stands at each target now, for the drift check at adoption."""
    return tuple(Pin(target, digest(live_bytes(target))) for target in targets)


def _known(agents: Sequence[str]) -> frozenset[str]:
    for agent in agents:
        if agent not in AGENTS:
            raise UsageError(f"unknown agent {agent!r}", remedy=f"Choose from {', '.join(AGENTS)}")
    return frozenset(agents)


def _file(document: Document, where: Where, place: str) -> Path:
    return where.path(place) if document.kind == "memory" else where.path(place) / document.name / FILE


def _aliased(document: Document, where: Where) -> _Readers:
    """The table for this document, with places that are links to other places folded into those.

    Links to anything else are left as they are: adoption refuses them.
    """
    table = _MEMORY[where.scope] if document.kind == "memory" else _SKILLS[where.scope]
    named = {_unlinked(document, where, place): place for place in table}
    readers: _Readers = {}
    for place in table:
        real = named.get(os.path.realpath(_file(document, where, place)), place)
        readers[real] = readers.get(real, frozenset()) | table[place]
    if document.kind == "memory" and where.scope == "project" and _imports(where.base / "CLAUDE.md"):
        readers["AGENTS.md"] = readers.get("AGENTS.md", frozenset()) | {_CLAUDE}
    return {place: readers[place] for place in table if place in readers}


def _unlinked(document: Document, where: Where, place: str) -> str:
    """The path that a place would have if nothing below its root were a link."""
    root = where.root(place)
    return str(Path(os.path.realpath(root)) / _file(document, where, place).relative_to(root))


def _imports(memory: Path) -> bool:
    """Does this CLAUDE.md carry AGENTS.md with it (`@AGENTS.md` on a line of its own)?"""
    try:
        with memory.open("rb") as file:
            return _IMPORT.search(file.read(MOST_BYTES)) is not None
    except OSError:
        return False


def _stands(document: Document, where: Where, place: str) -> bool:
    target = _target(document, where, place, frozenset({_CLAUDE}))
    try:
        return live_bytes(target) is not None
    except AdoptionError:
        return False  # said when its text is read


def _fewest(places: _Readers, chosen: frozenset[str], present: set[str]) -> tuple[str, ...]:
    """The places to write: all `present` ones, every chosen agent served, as few copies for one agent as can be."""
    unserved = chosen - frozenset().union(*places.values())
    if unserved:
        raise AdoptionError(
            "it has no folder here", where=", ".join(sorted(unserved)), remedy="Start the agent once, or leave it out"
        )
    useful = [place for place in places if places[place] & chosen]
    sets = (taken for n in range(len(useful) + 1) for taken in combinations(useful, n) if present <= set(taken))
    serving = (taken for taken in sets if chosen <= frozenset().union(*(places[place] for place in taken)))
    return min(serving, key=lambda taken: _cost(taken, places, chosen))


def _cost(taken: Sequence[str], places: _Readers, chosen: frozenset[str]) -> tuple[int, int, int]:
    """Second copies that a chosen agent sees, files, agents served that nobody chose."""
    seen = [agent for place in taken for agent in places[place]]
    wanted = [agent for agent in seen if agent in chosen]
    return len(wanted) - len(set(wanted)), len(taken), len(set(seen) - chosen)


def _target(document: Document, where: Where, place: str, agents: frozenset[str]) -> Target:
    named = [agent for agent in AGENTS if agent in agents]
    block = document.name if document.kind == "memory" else ""
    path = _file(document, where, place)
    return Target(named[0], str(where.root(place)), str(path), block, tuple(named[1:]))
