"""The imperative grammar of the simulator: what a skill's text orders an answer to be like.

A heading or a label that must stand there or must not, a most number of characters, a tool to call or to leave alone,
an answer at length or a short one, a form to copy. Read from any prose by a few words around what is quoted; `phrase`
writes an order so that it is read back as it was meant. Of two orders on one subject the later one holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from skillopt_core.document import parse as parse_document
from skillopt_sleep.critics.prose import BULLET, blocks
from skillopt_sleep.critics.spans import Unphrasable

LETTERS_OF_A_WORD: Final = 5
"""A limit in words is kept as this many characters a word, so that it is never broken."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A section with this heading must stand there, or must not."""

    title: str
    wanted: bool = True


@dataclass(frozen=True, slots=True)
class Label:
    """A line `name: value` must stand there, or must not. `value` is an example and may be empty."""

    name: str
    value: str = ""
    wanted: bool = True


@dataclass(frozen=True, slots=True)
class Limit:
    """The whole answer has at most so many characters."""

    characters: int


@dataclass(frozen=True, slots=True)
class Length:
    """Exhaustive, or brief."""

    exhaustive: bool


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that must be called before the answer, or must not; "" stands for any tool."""

    name: str
    wanted: bool = True


@dataclass(frozen=True, slots=True)
class Form:
    """The answer is a copy of this text."""

    text: str


Order = Heading | Label | Limit | Length | Tool | Form

_QUOTED: Final = re.compile(
    r'"([^"\n]{1,120})"|“([^”\n]{1,120})”|`([^`\n]{1,120})`|\*\*([^*\n]{1,120})\*\*|(?<!\w)\'([^\'\n]{1,120})\'(?!\w)'
)
_MASK: Final = re.compile("\x00(\\d+)\x00")
_END: Final = re.compile(r"(?<=[.!?;])\s+|\s(?:but|[—–])\s")
_NOT: Final = re.compile(r"\b(?:not|never|no|don't|without|avoid|omit|leave out|skip|instead of)\b", re.IGNORECASE)
_UNWANTED: Final = re.compile(r"\b(?:(?:must|should|may) not|must leave|never|not allowed|forbidden)\b", re.IGNORECASE)
_TOO_LONG: Final = re.compile(r"too long\b.*?(\d[\d,]{0,12}) (characters|words) would pass")
_VERB: Final = re.compile(
    r"\b(?:must|should|always|never|not|don't|needs?|make sure|ensure|include|add|write|give|provide|put|use|contain|"
    r"have|has|state|name|show|repeat|call|run|invoke|query|consult|begin|start|open|end|finish|close|avoid|omit|"
    r"leave out|skip|keep|stay|limit)\b",
    re.IGNORECASE,
)
_HEADING: Final = re.compile(r"\b(?:heading|headed|section|header|headline|titled?)\b", re.IGNORECASE)
_TOOL: Final = re.compile(r"\b(?:tools?|call|invoke|query|consult)\b", re.IGNORECASE)
_LABEL: Final = re.compile(r"\b(?:line|label|labelled|field|reads?)\b", re.IGNORECASE)
_LABELLED: Final = re.compile(r"([^\W\d][\w /-]{0,60}?)\s*[:=]\s*(.*)")
_NO_TOOLS: Final = re.compile(r"\b(?:any tools?|no tools?|tools at all|without tools)\b", re.IGNORECASE)
_LIMIT: Final = re.compile(
    r"\b(?:at most|under|below|within|more than|up to|fewer than|less than|longer than|exceed|maximum of|limited to|to)"
    r"\s+(?:about\s+)?(\d[\d,. ]{0,12})\s*(characters?|chars?|letters|words?)\b",
    re.IGNORECASE,
)
_LONG: Final = re.compile(
    r"\b(?:exhaustive(?:ly)?|thoroughly|comprehensive(?:ly)?|in (?:full |great )?detail|detailed|at length|elaborate|"
    r"every angle|multiple paragraphs)\b",
    re.IGNORECASE,
)
_BRIEF: Final = re.compile(r"\b(?:be brief|briefly|short|concise(?:ly)?|terse(?:ly)?|to the point)\b", re.IGNORECASE)
_FORM: Final = re.compile(r"\bexactly (?:like this|as follows|in this form)\b[^:]{0,80}:$", re.IGNORECASE)
_AFTER_FORM: Final = re.compile(r"\s*(?:do not|don't|never|always|keep|include|call|use)\b", re.IGNORECASE)
_FENCE: Final = re.compile(r"\s*(?:`{3,}|~{3,})")


def orders(skill_text: str) -> tuple[Order, ...]:
    """The orders that hold, in the order of the text. A later one takes the place of what it contradicts."""
    holding: list[Order] = []
    for order in _all(skill_text):
        holding = [old for old in holding if not _replaced(old, order)]
        holding.append(order)
    return tuple(holding)


def read(line: str) -> tuple[Order, ...]:
    """The orders of one line of prose, without its bullet."""
    masked, quotes = _masked(line)
    return tuple(order for sentence in _END.split(masked) for order in _read(sentence, quotes))


def demanded(description: str) -> tuple[Order, ...]:
    """What would mend a failed check, read from what is said of it: a sentence, and below it lines of an example."""
    said, _, example = description.partition("\n")
    unwanted = bool(_UNWANTED.search(said))
    masked, quotes = _masked(said)
    shown = (_classified(line.strip(), "", "", wanted=not unwanted) for line in example.splitlines())
    found: list[Order] = [order for order in shown if order is not None]
    found += _quoted_orders(masked, quotes, wanted=not unwanted)
    if long := _TOO_LONG.search(said):
        found.append(_limit(*long.groups()))
    return tuple(dict.fromkeys(found))


def ordered(order: Order, holding: Sequence[Order]) -> bool:
    """Whether the orders that hold already ask for it; a label with any value, and a tighter limit, do."""
    match order:
        case Label(name, _, wanted):
            said = {(old.name.casefold(), old.wanted) for old in holding if isinstance(old, Label)}
            return (name.casefold(), wanted) in said
        case Limit(characters):
            return any(isinstance(old, Limit) and old.characters <= characters for old in holding)
        case _:
            return order in holding


def phrase(order: Order) -> str:
    """One sentence, read back as the same order. Raises `Unphrasable`."""
    text = _phrased(order)
    if read(text) != (order,):
        raise Unphrasable(f"{type(order).__name__} would not be read back as it was meant")
    return text


def _phrased(order: Order) -> str:
    match order:
        case Heading(title, wanted):
            return f'{"Include" if wanted else "Leave out"} a section with the heading "{title}".'
        case Label(name, value, wanted):
            line = f"{name}: {value}".rstrip()
            return f'Include a line that reads like "{line}".' if wanted else f'Leave out the line "{line}".'
        case Limit(characters):
            return f"Keep the whole answer to at most {characters} characters."
        case Length(exhaustive):
            return "Be exhaustive." if exhaustive else "Be brief."
        case Tool("", wanted) if not wanted:
            return "Do not use any tools."
        case Tool(name, wanted):
            return f'Call the tool "{name}" before you answer.' if wanted else f'Do not call the tool "{name}".'
        case Form():
            raise Unphrasable("a form takes more than one line")


def _replaced(old: Order, new: Order) -> bool:
    """Whether the old order no longer holds. To be told to leave all tools alone unsays every call; to be told to be
    exhaustive lifts a limit."""
    if isinstance(new, Tool) and isinstance(old, Tool):
        return new.name == "" or new.name.casefold() == old.name.casefold()
    if isinstance(new, Length) and isinstance(old, Limit):
        return new.exhaustive
    return _subject(old) == _subject(new)


def _subject(order: Order) -> tuple[type, str]:
    match order:
        case Heading(title):
            return Heading, title.casefold()
        case Label(name):
            return Label, name.casefold()
        case _:
            return type(order), ""


def _all(skill_text: str) -> Iterator[Order]:
    copied_until = -1
    for first, lines in blocks(skill_text):
        joined = " ".join(line.strip() for line in [BULLET.sub("", lines[0], count=1), *lines[1:]])
        if first < copied_until:
            continue
        if _FORM.search(joined):
            copied_until, form = _form(skill_text, first + len(lines))
            yield Form(form)
        else:
            yield from read(joined)


def _form(skill_text: str, start: int) -> tuple[int, str]:
    """The lines from `start` that are to be copied, up to the next one with another order, and its number."""
    lines = [line.rstrip("\r\n") for line in parse_document(skill_text).lines]
    end = next((n for n in range(start, len(lines)) if _AFTER_FORM.match(lines[n])), len(lines))
    return end, "\n".join(line for line in lines[start:end] if not _FENCE.match(line)).strip()


def _masked(line: str) -> tuple[str, Sequence[str]]:
    """The line with each quoted piece masked by its number, and the pieces."""
    quotes = [next(filter(None, found.groups())) for found in _QUOTED.finditer(line)]
    numbers = iter(range(len(quotes)))
    return _QUOTED.sub(lambda _: f"\x00{next(numbers)}\x00", line), quotes


def _read(sentence: str, quotes: Sequence[str]) -> Iterator[Order]:
    negated = bool(_NOT.search(sentence))
    if negated and _NO_TOOLS.search(sentence):
        yield Tool("", wanted=False)
    if _VERB.search(sentence):
        yield from _quoted_orders(sentence, quotes, wanted=not negated)
    if found := _LIMIT.search(sentence):
        yield _limit(*found.groups())
    if _LONG.search(sentence):
        yield Length(exhaustive=not negated)
    elif _BRIEF.search(sentence):
        yield Length(exhaustive=negated)


def _limit(number: str, unit: str) -> Limit:
    digits = int(re.sub(r"\D", "", number))
    return Limit(digits * (LETTERS_OF_A_WORD if unit[0] in "wW" else 1))


def _quoted_orders(sentence: str, quotes: Sequence[str], *, wanted: bool) -> Iterator[Order]:
    """What each quoted piece is follows from itself, else from the last telling word before it, else right behind."""
    start = 0
    for found in _MASK.finditer(sentence):
        before, behind = sentence[start : found.start()], sentence[found.end() : found.end() + 12]
        order = _classified(quotes[int(found.group(1))].strip(), before, behind, wanted=wanted)
        start = found.end()
        if order is not None:
            yield order


def _classified(quoted: str, before: str, behind: str, *, wanted: bool) -> Order | None:
    bare = quoted.lstrip("#").strip()
    if not bare:
        return None
    label = _LABELLED.fullmatch(bare)
    if quoted.startswith("#"):
        return Heading(bare, wanted)
    if label:
        return Label(label.group(1).strip(), label.group(2).strip(), wanted)
    kinds = (_HEADING, partial(Heading, bare)), (_TOOL, partial(Tool, bare)), (_LABEL, partial(Label, bare, ""))
    place, make = max(((_last(word, before), make) for word, make in kinds), key=lambda pair: pair[0])
    if place >= 0:
        return make(wanted=wanted)
    if _HEADING.search(behind):
        return Heading(bare, wanted)
    return Tool(bare, wanted) if _TOOL.search(behind) else None


def _last(word: re.Pattern[str], text: str) -> int:
    return max((found.start() for found in word.finditer(text)), default=-1)
