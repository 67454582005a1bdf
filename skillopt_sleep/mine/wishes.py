"""Imperatives in what a person typed: "use X not Y", "never", "always", "before … run …".

Only what stands at the start of a clause of plain prose counts; questions, lists, code, quotations and long documents
are left out. A wish that fits no form is kept as it was said, and only where its sentence begins with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from skillopt_sleep.mine.wording import words

_LONGEST_TEXT: Final = 4000
_LONGEST_SENTENCE: Final = 240
_MOST_SENTENCES: Final = 60

Form = Literal["", "ask", "use", "before", "check", "with", "never", "not"]
"""`never` names what is not to be used or run, `not` what is not to be done; "" is any other standing wish."""

_QUOTED: Final = r"`[^`\n]{1,80}`|\"[^\"\n]{1,80}\"|'[^'\n]{1,80}'"
_WORD: Final = r"[^\s,;!?`\"']{0,79}[^\s,;:!?`\"']"
_ONE: Final = rf"(?:{_QUOTED}|{_WORD})"
_UP_TO_3: Final = rf"(?:{_QUOTED}|{_WORD}(?:\s+{_WORD}){{0,2}}?)"
_LAST_3: Final = rf"(?:{_QUOTED}|{_WORD}(?:\s+{_WORD}){{0,2}})"
_LAST_4: Final = rf"(?:{_QUOTED}|{_WORD}(?:\s+{_WORD}){{0,3}})"
_DO: Final = r"(?:use|prefer|run|write|call)"
_DOING: Final = r"(?:us(?:e|ing)|run(?:ning)?|writ(?:e|ing)|call(?:ing)?)\b"
_NO: Final = r"(?:never|don'?t|do not|must not|mustn'?t|stop(?= \w+ing\b))"
_CHECK: Final = r"(?:(?:unit )?tests?(?: suite)?|linters?|lint|formatters?|type ?check(?:er|s)?|build)\b"
_BEFORE: Final = r"before\s+(?:you\s+)?(?:run(?:ning)?\s+)?"

_POLITE: Final = (
    r"(?:(?:ok(?:ay)?|no|nope|yes|hmm?|wait|stop|please|and|but|also|so|again|in (?:the )?future|from now on|next time|"
    r"remember(?: to)?|i (?:said|told you)(?: to| that)?|as i said|let'?s|(?:can|could) (?:you|we)|"
    r"(?:you|we) (?:should|must|need to|have to))\b"
    r"[\s,.:;!-]*){0,4}"
)
_CUE: Final = re.compile(
    rf"{_POLITE}(?P<cue>(?:{_NO}|always|must|use|prefer|before|make sure|instead of|run|ask)\b)", re.IGNORECASE
)
_STANDING: Final = re.compile(rf"(?:{_NO}|always|must|make sure)\b", re.IGNORECASE)
_ASKED: Final = re.compile(r"(?:please )?(?:can|could) (?:you|we)\b", re.IGNORECASE)
_ASKABLE: Final = frozenset({"use", "before", "check", "ask"})
"""Forms that are a wish also in the dress of a question: "can you use X instead of Y?"."""
_NO_WISH: Final = re.compile(
    r"(?:don'?t|do not)\s+(?:we|you|i|they|it|know|think|see|understand|recall|have|care|worry|want|need)\b",
    re.IGNORECASE,
)
_SPLIT: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_CLAUSES: Final = re.compile(r"[,;:–—]\s+|\s-\s|\band\b|\bbut\b")
_NOT_PROSE: Final = re.compile(r"\s*(?:[-*+>#|]|\d+[.)]\s|```|~~~|\$ |//|at |[\w./-]+:\d+)")
_FENCE: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)

_ALWAYS: Final = r"(?:always\s+|please\s+)?"
_THE: Final = r"(?:the\s+|all\s+|our\s+){0,2}"
_FEW: Final = r"(?:\s+\w+){0,2}?"
_NOT: Final = r"(?:and\s+)?(?:not|never|instead of|rather than|over)\s+(?:use\s+)?"
_BUT: Final = r"(?:[,.;:-]+\s*|\s+and\s+|\s+but\s+)"
_SHORT_4: Final = rf"(?:{_QUOTED}|{_WORD}(?:\s+{_WORD}){{0,3}}?)"
_FLAG: Final = rf"(?:`-[^`\n]{{1,60}}`|-{_WORD})"

_PATTERNS: Final[tuple[tuple[Form, str], ...]] = (
    ("ask", rf"{_ALWAYS}ask\s+(?:me\s+)?{_BEFORE}(?P<x>{_LAST_3})"),
    ("use", rf"{_ALWAYS}{_DO}\s+(?P<x>{_UP_TO_3}),?\s+{_NOT}(?P<y>{_ONE})"),
    ("use", rf"instead of\s+(?P<y>{_ONE}),?\s+{_ALWAYS}{_DO}\s+(?P<x>{_ONE})"),
    ("use", rf"{_NO}\s+{_DOING}\s+(?P<y>{_ONE}){_FEW}{_BUT}{_ALWAYS}{_DO}\s+(?P<x>{_ONE})"),
    ("check", rf"{_BEFORE}(?P<x>{_UP_TO_3}),?\s+{_ALWAYS}run\s+{_THE}(?P<y>{_CHECK})"),
    ("check", rf"{_ALWAYS}run\s+{_THE}(?P<y>{_CHECK})\s+{_BEFORE}(?P<x>{_LAST_3})"),
    ("before", rf"{_BEFORE}(?P<x>{_UP_TO_3}),?\s+{_ALWAYS}run\s+(?P<y>{_LAST_4})"),
    ("before", rf"{_ALWAYS}run\s+(?P<y>{_SHORT_4})\s+{_BEFORE}(?P<x>{_LAST_3})"),
    ("with", rf"{_ALWAYS}(?:run|use|call)\s+(?P<x>{_UP_TO_3})\s+with\s+(?P<y>{_FLAG})"),
    ("never", rf"{_NO}\s+(?:ever\s+)?{_DOING}\s+(?P<x>{_LAST_3})"),
    ("not", rf"{_NO}\s+(?:ever\s+)?(?P<x>{_LAST_3})"),
)
_FORMS: Final = tuple((form, re.compile(text, re.IGNORECASE)) for form, text in _PATTERNS)

_SMALL_WORDS: Final = words(
    "a an the to of in on for and or but with is are be it its this that these those you we i me my our your please "
    "just so then ok okay no yes also again here there any"
)


@dataclass(frozen=True, slots=True)
class Wish:
    """A sentence in a person's words, its form, and the things that it names, without their quotes."""

    text: str
    form: Form = ""
    x: str = ""
    y: str = ""


def wishes(text: str) -> Iterator[Wish]:
    """The wishes in what a person typed, in order."""
    lines = _FENCE.sub("\n", text[:_LONGEST_TEXT]).split("\n")
    if len(text) > _LONGEST_TEXT or sum(line.lstrip().startswith("#") for line in lines) >= 2:
        return  # a document, not words
    prose = "\n".join(line for line in lines if not _NOT_PROSE.match(line))
    for sentence in _SPLIT.split(prose)[:_MOST_SENTENCES]:
        plain = sentence.strip()
        wish = _wish(plain) if 6 <= len(plain) <= _LONGEST_SENTENCE else None
        if wish and (not plain.endswith("?") or (_ASKED.match(plain) and wish.form in _ASKABLE)):
            yield wish


def _wish(sentence: str) -> Wish | None:
    whole = _in_clause(sentence, sentence)
    if whole is not None:
        return whole
    later = (_in_clause(clause.strip(), sentence) for clause in _CLAUSES.split(sentence)[1:6])
    return next((wish for wish in later if wish is not None and wish.form not in {"", "not"}), None)


def _in_clause(clause: str, sentence: str) -> Wish | None:
    cue = _CUE.match(clause)
    said = clause[cue.start("cue") :] if cue else ""
    if not said or _NO_WISH.match(said):
        return None
    for form, pattern in _FORMS:
        if match := pattern.match(said):
            named = match.groupdict()
            x, y = _bare(named["x"]), _bare(named.get("y") or "")
            if x:
                return Wish(sentence, form, x, y)
    return Wish(sentence) if _STANDING.match(said) else None


def _bare(thing: str) -> str:
    """A thing without its quotes, its full stop and the small words around it."""
    text = thing.strip()
    if text[:1] in {"`", '"', "'"} and text[-1:] == text[:1]:
        return text[1:-1].strip()
    kept = text.rstrip(".,;:!").split()
    while kept and kept[-1].lower() in _SMALL_WORDS:
        kept.pop()
    while kept and kept[0].lower() in _SMALL_WORDS:
        kept.pop(0)
    return " ".join(kept)


def content_words(text: str) -> list[str]:
    """Words that carry a wish: lower case, each once in order of the alphabet, without small ones and the plural s."""
    found = (w.strip("./-") for w in re.findall(r"[\w./-]+", text.lower()))
    return sorted({re.sub(r"(?<=\w{3})s\Z", "", w) for w in found if w and w not in _SMALL_WORDS})
