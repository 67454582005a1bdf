"""The rejected-edit memory (method.md, gate): what was tried and did not hold, keyed by the meaning of the edit.

Also what the optimizer is told beside the evidence: the person's preferences and the meta skill's notes.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from skillopt_core.types import Edit, Outcome, Patch, Refused, Skill

_CODE: Final = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_BULLET: Final = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+", re.MULTILINE)
_QUOTES: Final = str.maketrans({"“": '"', "”": '"', "„": '"', "’": "'", "‘": "'", "–": "-", "—": "-"})
_EMPHASIS: Final = re.compile(r"[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}")


@dataclass(frozen=True, slots=True)
class Rejection:
    """One remembered edit: a row that outlives the run.

    `meaning` is `meaning(edit)`, `skill` the digest of the text on which it was tried. `anchor` and `text` are for the
    eyes of the optimizer and may be empty where only keys were kept.
    """

    meaning: str
    skill: str
    reason: str
    outcome: Outcome = Outcome.REJECT
    op: str = ""
    anchor: str = ""
    text: str = ""


def normalised(text: str) -> str:
    """Text with the differences taken out that do not change what a rule says.

    White space, bullets, quotes, emphasis, the final full stop, and case outside code spans; code is left as it is.
    """
    text = _BULLET.sub("", unicodedata.normalize("NFKC", text))
    parts: list[str] = []
    last = 0
    for span in _CODE.finditer(text):
        parts += [_plain(text[last : span.start()]), f"`{span.group(2).strip()}`"]
        last = span.end()
    parts.append(_plain(text[last:]))
    return " ".join("".join(parts).split()).rstrip(".;,: ")


def _plain(prose: str) -> str:
    return _EMPHASIS.sub("", prose.translate(_QUOTES)).casefold()


def meaning(edit: Edit) -> str:
    """The key of an edit: SHA-256 over its operation, normalised anchor and normalised text, as hex."""
    parts = (edit.op, normalised(edit.anchor), normalised(edit.text))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


class Memory:
    """What the optimizer remembers over steps, epochs and nights (method.md, gate: the rejected-edit memory).

    Rows go in when it is made and come out by `rows`, so that the caller can keep them. `preferences` are the person's
    own words, a prior that is still measured; `meta` are the optimizer's notes to itself (method.md, meta skill).
    """

    def __init__(self, rows: Iterable[Rejection] = (), *, preferences: Sequence[str] = (), meta: str = "") -> None:
        self._rows = {(row.meaning, row.skill): row for row in rows}
        self.preferences = tuple(preferences)
        self.meta = meta

    @property
    def rows(self) -> tuple[Rejection, ...]:
        """All rows, oldest first."""
        return tuple(self._rows.values())

    def remembered(self, edit: Edit, digest: str) -> Rejection | None:
        """The row of this edit, by meaning, on the skill with this digest; None if it was never tried there."""
        return self._rows.get((meaning(edit), digest))

    def remember(self, edit: Edit, digest: str, reason: str, outcome: Outcome = Outcome.REJECT) -> Rejection:
        """Add one row. The newest reason for the same edit on the same skill stays."""
        row = Rejection(meaning(edit), digest, reason, outcome, edit.op, edit.anchor, edit.text)
        self._rows.pop((row.meaning, digest), None)
        self._rows[row.meaning, digest] = row
        return row

    def admit(self, patch: Patch, skill: Skill) -> Patch:
        """The patch with what was already tried on this skill moved to `refused`: no retry is paid for twice."""
        fresh: list[Edit] = []
        refused = list(patch.refused)
        for edit in patch.edits:
            row = self.remembered(edit, skill.digest)
            if row is None:
                fresh.append(edit)
            else:
                refused.append(Refused(edit, f"tried before on this text ({row.outcome}): {row.reason}"))
        return replace(patch, edits=tuple(fresh), refused=tuple(refused))
