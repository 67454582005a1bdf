"""Whether a task's prompt stands alone, and is nothing but a request about what its session knows.

A model wrote it after reading a stranger's transcript, and an agent will do what it says: so it may name only what the
person said and the agent did there, and hold no address, no secret, no place outside of its folder.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from skillopt_core.prompting import printable
from skillopt_sleep.mine.kinds.grounds import hazard, heard, identifiers
from skillopt_sleep.mine.requested.asking import LONGEST_PROMPT

SHORTEST: Final = 20
_FIRST_WORDS: Final = 4
_BACKWARDS: Final = re.compile(
    r"\b(?:as (?:before|above|earlier|previously|discussed|agreed|mentioned|usual|you (?:did|said|were))"
    r"|(?:that|those|this|these|the same|said) (?:files?|functions?|tests?|errors?|bugs?|ones?|things?|code|changes?"
    r"|commands?|scripts?|modules?|classes|class|pages?|issues?|problems?|approach|way|lines?|branch|commit|session)"
    r"|previous(?:ly)?|earlier|once more|last time|above|(?:was|were|been|you|we|i) (?:just|already)"
    r"|aforementioned|keep going|go on|undo|revert (?:that|it|this|the last)|you (?:wrote|added|changed|made|did|broke|"
    r"forgot|removed|suggested)|still (?:fails?|failing|broken|missing|wrong)|(?:this|the) (?:session|conversation)"
    r"|the (?:user|person|agent) (?:said|asked|wants|wanted|refused|corrected))\b|\A\W*continue\b|\bagain\W*\Z",
    re.IGNORECASE,
)
_JOINED_ON: Final = re.compile(r"\A\W*(?:also|and|but|then|now|ok(?:ay)?|yes|no|so|or|instead)\b", re.IGNORECASE)
_NAMELESS: Final = re.compile(r"\b(?:it|them|those|these|that|this|they)\b", re.IGNORECASE)
_HARMLESS: Final = re.compile(r"\b(?:sure|so|such) that\b|\bthis (?:project|repository|repo|folder)\b", re.IGNORECASE)
_OUTSIDE: Final = re.compile(
    r"(?<![\w.])(?:~[/\\]|/(?:home|Users|root|tmp|etc|var|usr|opt|mnt|private|Volumes)\b|[A-Za-z]:\\|@(?:/|~|\.\.)|\.\./)"
)
_NOT_A_REQUEST: Final = ("/", "-", "!", "#", "@", "<", "{", "[")
"""What an agent's command line would take for a command, an option, a file to load: no prompt begins with it."""


def not_alone(prompt: str, spoken: Sequence[str]) -> str:
    """Why a prompt cannot be given to an agent by itself; "" where it can. `spoken` is all that was said and done."""
    bare = prompt.strip()
    if not SHORTEST <= len(bare) <= LONGEST_PROMPT:
        return "its prompt is too short or too long"
    if printable(bare) != bare or bare.startswith(_NOT_A_REQUEST):
        return "its prompt is no plain request"
    if why := hazard(bare):
        return why
    if _OUTSIDE.search(bare):
        return "its prompt names a place outside of its folder"
    opening = " ".join(_HARMLESS.sub(" ", bare).split()[:_FIRST_WORDS])
    if _BACKWARDS.search(bare) or _JOINED_ON.search(bare) or _NAMELESS.search(opening):
        return "its prompt does not stand alone"
    if not all(any(heard(name, text, fold=True) for text in spoken) for name in dict.fromkeys(identifiers(bare))):
        return "its prompt names what nobody did or said"
    return ""
