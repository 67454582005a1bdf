"""Stage five: apply a patch to a skill, each edit on its own exact anchor (method.md, update).

All edits are located in the text as it stands, then cut in at once, so that one cannot move another's anchor. Outside
of what they replace or insert, the result is byte for byte the text before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from skillopt_core.anchors import Missed, Place, find, find_section
from skillopt_core.blocks import remind
from skillopt_core.document import Document, Kind, has_marker, leaves_fence_open, parse, starts_list, top_headings
from skillopt_core.frontmatter import MOST_CHARACTERS, description_span, quoted
from skillopt_core.types import Edit, Label, Op, Patch, Refused, Skill

DESCRIPTION: Final = "frontmatter:description"
"""The anchor of an edit that replaces the description in the frontmatter."""

_TOP: Final = 2  # a skill's title and its sections; deeper headings are free
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_BULLET: Final = re.compile(r"[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A skill after a patch. `patch.edits` are those that it holds, `patch.refused` gained those that were missed."""

    skill: Skill
    patch: Patch

    @property
    def missed(self) -> tuple[Refused, ...]:
        """The edits that found no place."""
        return tuple(refused for refused in self.patch.refused if refused.kind == "missed")


@dataclass(frozen=True, slots=True)
class _Splice:
    start: int
    end: int
    text: str


def update(skill: Skill, patch: Patch) -> Candidate:
    """The skill with every edit of the patch that finds its place.

    Nothing found: the same text, and a gate that says `no_change` without spending. An edit with the label
    EXECUTION_LAPSE becomes a reminder in the appendix and leaves the body untouched.
    """
    if not patch.edits:
        return Candidate(skill, patch)
    page = parse(skill.text)
    located = [(edit, _locate(page, skill.text, edit)) for edit in patch.edits]
    kept, splices, missed = _apart(located)
    text = _spliced(skill.text, splices)
    if _shape(parse(text), kept) != _shape(page, kept):
        kept, splices, text = _one_by_one(page, skill.text, kept, splices, missed)
    text, kept = _with_reminders(text, kept, patch.edits, missed)
    refused = tuple(Refused(edit, why, "missed") for edit, why in missed)
    return Candidate(replace(skill, text=text), replace(patch, edits=tuple(kept), refused=patch.refused + refused))


def _apart(
    located: Sequence[tuple[Edit, _Splice | Missed | None]],
) -> tuple[list[Edit], list[_Splice], list[tuple[Edit, str]]]:
    """Splices that do not touch each other; a later edit that overlaps an earlier one is missed."""
    kept: list[Edit] = []
    splices: list[_Splice] = []
    missed: list[tuple[Edit, str]] = []
    for edit, found in located:
        if isinstance(found, Missed):
            missed.append((edit, found.reason))
        elif found is not None and any(_overlap(found, other) for other in splices):
            missed.append((edit, "it overlaps another edit of the same patch"))
        elif found is not None:
            kept.append(edit)
            splices.append(found)
    return kept, splices, missed


def _overlap(one: _Splice, other: _Splice) -> bool:
    if one.start == one.end or other.start == other.end:
        return one.start < other.end and other.start < one.end
    return max(one.start, other.start) < min(one.end, other.end)


def _spliced(text: str, splices: Sequence[_Splice]) -> str:
    parts: list[str] = []
    last = 0
    for splice in sorted(splices, key=lambda s: (s.start, s.end)):
        parts += [text[last : splice.start], splice.text]
        last = splice.end
    return "".join([*parts, text[last:]])


def _shape(page: Document, edits: Sequence[Edit]) -> tuple[object, ...]:
    """What no patch may change: top-level sections, protected blocks, frontmatter, fences left open."""
    front = "" if any(edit.anchor == DESCRIPTION for edit in edits) else page.frontmatter
    levels = tuple(heading.level for heading in page.headings if heading.level <= _TOP)
    return levels, tuple(page.block_text(block) for block in page.blocks), front, page.open_fence


def _one_by_one(
    page: Document, text: str, kept: list[Edit], splices: list[_Splice], missed: list[tuple[Edit, str]]
) -> tuple[list[Edit], list[_Splice], str]:
    """Some edit bends the document's structure without looking like it (an underline, say): find it and miss it."""
    good: list[Edit] = []
    cuts: list[_Splice] = []
    for edit, splice in zip(kept, splices, strict=True):
        if _shape(parse(_spliced(text, [*cuts, splice])), [*good, edit]) == _shape(page, [*good, edit]):
            good.append(edit)
            cuts.append(splice)
        else:
            missed.append((edit, "it would change the document's sections"))
    return good, cuts, _spliced(text, cuts)


def _with_reminders(
    text: str, kept: list[Edit], edits: Sequence[Edit], missed: list[tuple[Edit, str]]
) -> tuple[str, list[Edit]]:
    """Lapses go to the appendix, after the body is done."""
    lapses = [edit for edit in edits if edit.label is Label.EXECUTION_LAPSE]
    if not lapses:
        return text, kept
    unfit = [_unfit(edit) or ("a reminder cannot be deleted" if edit.op == "delete" else "") for edit in lapses]
    fit = [edit for edit, why in zip(lapses, unfit, strict=True) if not why]
    text, full = remind(text, *(edit.text for edit in fit))
    whys = [*zip(lapses, unfit, strict=True), *zip(fit, full, strict=True)]
    missed += [(edit, why) for edit, why in whys if why]
    return text, [*kept, *(edit for edit, why in zip(fit, full, strict=True) if not why)]


def _locate(page: Document, text: str, edit: Edit) -> _Splice | Missed | None:
    if edit.label is Label.EXECUTION_LAPSE:
        return None
    why = _unfit(edit)
    if why:
        return Missed(why)
    if edit.anchor.strip() == DESCRIPTION:
        return _describe(page, text, edit)
    return _OPERATIONS[edit.op](page, text, edit)


def _unfit(edit: Edit) -> str:
    """Why the text of an edit may not enter any document; empty if it may."""
    if edit.op == "delete":
        return ""
    if not edit.text.strip():
        return "the edit has no text"
    if _CONTROL.search(edit.text):
        return "the text holds control characters"
    if has_marker(edit.text):
        return "the text holds the marker of a protected block"
    return "the text leaves a code fence open" if leaves_fence_open(edit.text) else ""


def _add(page: Document, text: str, edit: Edit) -> _Splice | Missed:
    if top_headings(edit.text, _TOP):
        return Missed("it would make a new top-level section")
    if _says(page, text, edit.text.strip()):
        return Missed("the document already says it")
    if not edit.anchor.strip():
        return _behind(page, edit, 0, len(page.lines), "body")
    heading = find_section(page, edit.anchor)
    if isinstance(heading, Missed):
        return heading
    following = (other.line for other in page.headings if other.line > heading.line)
    return _behind(page, edit, heading.line, next(following, len(page.lines)), "section")


def _behind(page: Document, edit: Edit, first: int, limit: int, where: str) -> _Splice | Missed:
    """Insert behind the last line between `first` and `limit` that has text and is not protected."""
    if page.open_fence and limit == len(page.lines):
        return Missed(f"the {where} ends inside an open code fence")
    lines = range(limit - 1, first - 1, -1)
    last = next((n for n in lines if page.kinds[n] is not Kind.GUARD and page.lines[n].strip("\ufeff \t\r\n")), None)
    if last is None:
        return _opening(page, edit)
    apart = not (starts_list(edit.text) and _in_list(page, last, first))
    return _insertion(page, edit, last, apart=apart)


def _opening(page: Document, edit: Edit) -> _Splice:
    """Insert into a document that says nothing yet, behind its byte order mark."""
    at = 1 if page.lines and page.lines[0].startswith("\ufeff") else 0
    return _Splice(at, at, _lines(page, edit.text) + page.newline)


def _insertion(page: Document, edit: Edit, line: int, *, apart: bool) -> _Splice:
    """Insert whole lines behind line `line`; a file without a final newline stays one."""
    at, nl, body = page.end_of(line), page.newline, _lines(page, edit.text)
    gap = nl if apart else ""
    if page.lines[line].endswith(("\n", "\r")):
        return _Splice(at, at, gap + body + nl)
    return _Splice(at, at, nl + gap + body)


def _in_list(page: Document, line: int, first: int) -> bool:
    """True if the line is a list item or the indented continuation of one."""
    while line >= first and page.kinds[line] is Kind.TEXT and page.lines[line].strip():
        if starts_list(page.lines[line]):
            return True
        if not page.lines[line][:1].isspace():
            return False
        line -= 1
    return False


def _insert_after(page: Document, text: str, edit: Edit) -> _Splice | Missed:
    if top_headings(edit.text, _TOP):
        return Missed("it would make a new top-level section")
    if _says(page, text, edit.text.strip()):
        return Missed("the document already says it")
    place = find(page, text, edit.anchor)
    if isinstance(place, Missed):
        return place
    line = page.line_at(max(place.end - 1, place.start))
    underlined = page.kinds[line] is Kind.HEADING and page.kinds[line + 1 : line + 2] == (Kind.HEADING,)
    if underlined and not page.lines[line + 1].lstrip(" ").startswith("#"):
        line += 1
    return _insertion(page, edit, line, apart=page.kinds[line] is Kind.HEADING)


def _replace(page: Document, text: str, edit: Edit) -> _Splice | Missed:
    place = find(page, text, edit.anchor)
    if isinstance(place, Missed):
        return place
    old = text[place.start : place.end]
    lines_before, lines_after = _touched(page, text, place, edit.text)
    if top_headings(lines_before, _TOP) != top_headings(lines_after, _TOP):
        return Missed("it would add, drop or move a section")
    new = _lines(page, edit.text)
    before = text[page.starts[page.line_at(place.start)] : place.start]
    if _BULLET.fullmatch(before) and not starts_list(old):
        new = _BULLET.sub("", new, count=1) if starts_list(new) else new
    return Missed("it changes nothing") if new == old else _Splice(place.start, place.end, new)


def _delete(page: Document, text: str, edit: Edit) -> _Splice | Missed:
    place = find(page, text, edit.anchor)
    if isinstance(place, Missed):
        return place
    first, last = page.line_at(place.start), page.line_at(max(place.end - 1, place.start))
    if Kind.HEADING in page.kinds[first : last + 1]:
        return Missed("a section is not deleted")
    start, end = page.starts[first], page.end_of(last)
    rest = text[start : place.start] + text[place.end : end]
    if rest.strip() and not _BULLET.fullmatch(rest.rstrip() + " "):
        start, end = place.start, place.end
    return _Splice(start, end, "")


def _describe(page: Document, text: str, edit: Edit) -> _Splice | Missed:
    span = description_span(page.frontmatter)
    value = " ".join(edit.text.split())
    if edit.op != "replace":
        return Missed("the description can only be replaced")
    if span is None:
        return Missed("the frontmatter has no description")
    if len(value) > MOST_CHARACTERS:
        return Missed(f"a description has at most {MOST_CHARACTERS} characters")
    return Missed("it changes nothing") if value == span.value else _Splice(span.start, span.end, " " + quoted(value))


def _says(page: Document, text: str, rule: str) -> bool:
    """True if the rule already stands in the document as whole lines, with or without a bullet."""
    at = text.find(rule)
    while at >= 0:
        line = page.line_at(at)
        before, after = text[page.starts[line] : at], text[at + len(rule) :]
        alone = (not before.strip() or _BULLET.fullmatch(before)) and after.lstrip(" \t")[:1] in {"", "\r", "\n"}
        if alone and page.kinds[line] not in {Kind.FENCE, Kind.FRONT}:
            return True
        at = text.find(rule, at + 1)
    return False


def _lines(page: Document, text: str) -> str:
    """The text of an edit without outer blank lines, in the document's line endings."""
    return text.strip("\r\n").rstrip().replace("\r\n", "\n").replace("\r", "\n").replace("\n", page.newline)


def _touched(page: Document, text: str, place: Place, new: str) -> tuple[str, str]:
    """The whole lines that a replacement touches, before and after it."""
    start = page.starts[page.line_at(place.start)]
    end = page.end_of(page.line_at(max(place.end - 1, place.start)))
    return text[start:end], text[start : place.start] + new + text[place.end : end]


_OPERATIONS: Final[dict[Op, Callable[[Document, str, Edit], _Splice | Missed]]] = {
    "add": _add,
    "insert_after": _insert_after,
    "replace": _replace,
    "delete": _delete,
}
