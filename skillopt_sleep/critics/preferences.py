"""A person's words, read into a sentence form where they fit one exactly; else kept as their own words.

The slots of `templates.WORDINGS` may here be bare words ("use pnpm, never npm"), quoted or between backticks. What
fills a slot must look like what the slot holds: a wish about style that only sounds like a command stays words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from skillopt_sleep.critics.grammar import MOST_WORDS, phrase, read
from skillopt_sleep.critics.spans import MASK, Masked, Unphrasable, check_printable, code, mask
from skillopt_sleep.critics.templates import WORDINGS, Role, Wording
from skillopt_sleep.domain.commands import PROGRAMS
from skillopt_sleep.domain.sentences import DoNotWrite, Said, Sentence, Use

_BARE: Final = r"\x00\d+\x00|[^\x00,;:]{1,80}?"
_QUOTED: Final = re.compile(r"(?<!\w)([\"“])([^\"“”\n]+)[\"”](?!\w)|(?<!\w)'([^'\n]+)'(?!\w)")
_POLITE: Final = re.compile(
    r"\s*(?:please|and|but|you should|you must|we|i want you to|make sure (?:to|that you|you)|remember to)\s+",
    re.IGNORECASE,
)
_IMPLICIT: Final = (
    (
        re.compile(r"\b(?:you |a |each |every |any )?(?:commit|committing)(?=\s*(?:,|[.!]?\Z))", re.IGNORECASE),
        "git commit",
    ),
    (re.compile(r"\b(?:you |a |each |every |any )?(?:push|pushing)(?=\s*(?:,|[.!]?\Z))", re.IGNORECASE), "git push"),
    (re.compile(r"\b(?:you |a |each |every |any )?(?:merge|merging)(?=\s*(?:,|[.!]?\Z))", re.IGNORECASE), "git merge"),
    (
        re.compile(r"\b(?:you )?(?:open|opening|create|creating) an? (?:pr|pull request)\b", re.IGNORECASE),
        "gh pr create",
    ),
)
"""What a person calls by a verb after "before"."""
_WORD: Final = re.compile(r"[A-Za-z0-9_.@~/+-][\w./@:+=*%~-]*\Z")
_CONTENT: Final = re.compile(r"\S+\Z")
_PATH: Final = re.compile(r"[\w.@~/+-]*[/.][\w.@~/+-]*\Z")
_FLAG: Final = re.compile(r"-{1,2}[A-Za-z0-9][\w.=/:,-]*(?: [\w./:-]+)?\Z")
_ENDING: Final = re.compile(r"\*?[\w-]*\.[A-Za-z0-9]{1,10}\Z")
_LANGUAGES: Final = {
    "python": ".py",
    "go": ".go",
    "golang": ".go",
    "typescript": ".ts",
    "javascript": ".js",
    "rust": ".rs",
    "ruby": ".rb",
    "java": ".java",
    "kotlin": ".kt",
    "swift": ".swift",
    "markdown": ".md",
    "shell": ".sh",
    "css": ".css",
    "html": ".html",
    "yaml": ".yaml",
}
_PROSE_WORDS: Final = """
a an the your my our his her their its it this that these those them us me you i we of for in on at to with from when
while if unless is are was be been being do does did not no nor so as by or and than then there here one ones only any
all each every more less most least very too also again always never instead just other another some such code comments
comment tabs spaces quotes emoji emojis words language english functions classes methods variables names style small big
large short long new old good bad better simple
"""
_PROSE: Final = frozenset(_PROSE_WORDS.split())
"""Words that no command line has and every wish has."""


def from_preference(text: str, programs: Collection[str] | None = None) -> Sentence | None:
    """The sentence that a person's words say, `Said` where no form fits, None where nothing usable stands there.

    `programs` are the programs that the history knows: where given, "use A, not B" of which neither is a program is
    about what is written (`DoNotWrite` in any file), not about what is run.
    """
    words = " ".join(text.split())
    try:
        check_printable(words, MOST_WORDS)
    except Unphrasable:
        return None
    found = _written(words) or _spoken(words)
    if found is not None:
        return _about_content(found, programs) if isinstance(found, Use) and programs is not None else found
    return _said(words)


def _written(words: str) -> Sentence | None:
    """Words that already are one of our own sentences."""
    found = read(words)
    return found[0] if len(found) == 1 and _covers(found[0], words) else None


def _covers(sentence: Sentence, words: str) -> bool:
    return isinstance(sentence, Said) or len(phrase(sentence)) >= len(words) - 20


def _said(words: str) -> Said | None:
    try:
        phrase(Said(words))
    except Unphrasable:
        return None
    return Said(words)


def _spoken(words: str) -> Sentence | None:
    masked = mask(_QUOTED.sub(_as_code, words))
    for text in dict.fromkeys((_polished(_with_verbs(masked.text)), _polished(masked.text))):
        for wording, pattern in _LOOSE:
            found = pattern.match(text)
            if found and (sentence := _filled(wording, found.groups(), masked)):
                return sentence
    return None


def _polished(text: str) -> str:
    shorter = _POLITE.sub("", text, count=1) if _POLITE.match(text) else text
    shorter = re.sub(r"^(\W*)always ", r"\1", shorter, flags=re.IGNORECASE)
    return shorter if shorter == text else _polished(shorter)


def _with_verbs(text: str) -> str:
    head, mark, tail = text.partition("before ")
    if not mark and text[:7].lower() == "before ":
        head, mark, tail = "", text[:7], text[7:]
    for pattern, command in _IMPLICIT:
        found = pattern.match(tail)
        if found:
            return f"{head}{mark}{command}{tail[found.end() :]}"
    return text


def _as_code(found: re.Match[str]) -> str:
    inner = found.group(2) or found.group(3)
    try:
        return code(inner)
    except Unphrasable:
        return found.group()


def _filled(wording: Wording, groups: Sequence[str], masked: Masked) -> Sentence | None:
    slots: list[str] = []
    for group, role in zip(groups, wording.roles, strict=True):
        slot = _slot(group.strip(), role, masked)
        if slot is None:
            return None
        slots.append(slot)
    sentence = wording.build(slots)
    try:
        phrase(sentence)
    except Unphrasable:
        return None
    return sentence


def _slot(group: str, role: Role, masked: Masked) -> str | None:
    """What fills the slot, None if it does not look like what belongs there."""
    quoted = MASK.fullmatch(group)
    if quoted:
        return masked.codes[int(quoted.group(1))]
    if "\x00" in group:
        return None
    match role:
        case "check":
            return group
        case "command" | "flag" | "path":
            return group if _looks(role, group) else None
        case "ending":
            known = _LANGUAGES.get(group.lower())
            return known or (group if _ENDING.match(group) else None)
        case _:
            return group if _CONTENT.match(group) and group.lower() not in _PROSE else None


def _looks(role: Role, group: str) -> bool:
    if role == "flag":
        return bool(_FLAG.match(group))
    if role == "path":
        return bool(_PATH.match(group)) and group.strip("./~") != ""
    words = group.split()
    if not 0 < len(words) <= 6 or not all(_WORD.match(word) and word.lower() not in _PROSE for word in words):
        return False
    return len(words) == 1 or words[0] in PROGRAMS or any(set(word) & set("-./=:") for word in words)


def _about_content(sentence: Use, programs: Collection[str]) -> Sentence:
    firsts = {sentence.x.split()[0], sentence.y.split()[0]}
    is_run = firsts & set(programs) or firsts & PROGRAMS or any(first.startswith("-") for first in firsts)
    return sentence if is_run else DoNotWrite(g="", x=sentence.y, instead=sentence.x)


_LOOSE: Final = tuple((wording, wording.compiled(_BARE)) for wording in WORDINGS)
