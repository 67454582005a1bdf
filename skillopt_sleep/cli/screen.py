"""The review at the terminal, drawn: a desk to exactly as many lines as the terminal has. Nothing is printed here.

Colour only repeats what words and signs say, so that the screen reads the same under NO_COLOR.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.text import Text

from skillopt_core.types import Outcome, Verdict
from skillopt_sleep.domain.proposals import ProposedEdit
from skillopt_sleep.errors import AdoptionError
from skillopt_sleep.review import words
from skillopt_sleep.review.choose import plain, text_with, unproven
from skillopt_sleep.review.diffs import diff_lines
from skillopt_sleep.review.plain import kept_line, one_line
from skillopt_sleep.review.session import PANES, Desk

TONES: Final = {
    Outcome.ACCEPT: "bold green",
    Outcome.SUPPORTED: "green",
    Outcome.ABSTAIN: "yellow",
    Outcome.UNVERIFIED: "yellow",
    Outcome.UNGATED: "yellow",
    Outcome.REJECT: "red",
}
SIGNS: Final = {"+": "green", "-": "red", "@": "cyan", " ": "dim"}
MOST_LISTED: Final = 7
_LEAST: Final = 3  # lines of the pane
_MOST_SAID: Final = 3  # lines of an answer
TAG: Final = max(map(len, words.OUTCOMES.values()))
_BAR: Final = (("r", "reject"), ("d", "later"), ("tab", "pane"), ("?", "keys"), ("q", "leave"))
_KEYS: Final = (
    ("a", "adopt what is ticked"),
    ("1-9", "tick or untick an edit (space: the one in focus)"),
    ("r", "reject the proposal, with a reason"),
    ("d", "decide later: it comes back tomorrow"),
    ("tab", "why · sessions · changes"),
    ("j k", "next, previous edit (or the arrows)"),
    ("f b", "scroll (or page down, page up)"),
    ("n p", "next, previous proposal"),
    ("q", "leave; nothing more is decided"),
)


@dataclass(frozen=True, slots=True)
class Frame:
    """The lines of a screen, and how far its pane can be scrolled."""

    lines: tuple[Text, ...]
    limit: int


def frame(desk: Desk, console: Console, width: int, height: int) -> Frame:
    """The desk in `height` lines of at most `width` columns."""
    listed = _listed(desk, width, min(MOST_LISTED, max(1, height - 8 - _LEAST)))
    top = [_title(desk, width), _name(desk, width), _rule(width), *listed, _tabs(desk, width)]
    answer = list(_answer(desk).wrap(console, width))[:_MOST_SAID]
    foot = [_rule(width), *answer, _bar(desk)]
    room = max(_LEAST, height - len(top) - len(foot))
    pane = [line for text in _pane(desk, width) for line in text.wrap(console, max(width - 2, 10))]
    limit = max(0, len(pane) - room)
    scroll = min(desk.scroll, limit)
    shown = pane[scroll : scroll + room]
    if scroll < limit:
        shown[-1:] = [Text(f"… {len(pane) - scroll - room + 1} more lines (f)", "dim")]
    padded = [*shown, *[Text("")] * (room - len(shown))]
    lines = [*top, *(Text("  ").append_text(line) for line in padded), *foot][:height]
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return Frame(tuple(lines), limit)


def rule(text: str, style: str = "") -> Text:
    """A rule with what stands in backticks set off."""
    shown = Text(one_line(text), style)
    shown.highlight_regex(r"`[^`]+`", "bold")
    return shown


def tag(edit: ProposedEdit) -> Text:
    return Text(words.tag(edit), TONES.get(edit.verdict.outcome, "dim"))


def why_lines(edit: ProposedEdit) -> Iterable[Text]:
    """Why to believe one edit, in full; also what is shown where there is no terminal."""
    wanted, seen = words.needs(edit.verdict), words.seen(edit)
    yield Text(one_line(seen))
    if edit.verdict.units:
        yield squares(edit.verdict)
    if wanted and wanted != seen:
        yield Text("needs ", "yellow").append(one_line(wanted))
    if edit.stake is not None:
        yield Text(f"wasted so far: {words.stake_words(edit.stake)}")
    for said in edit.provenance[:4]:
        yield Text(f"“{one_line(said.text, 240)}” ").append(words.by(said), "dim")
    if reading := words.reading(edit):
        yield Text(f"figures are for: {one_line(reading)}", "dim")
    why = edit.why or edit.verdict.why
    if figures := words.figures(edit.verdict):
        yield Text(figures, "dim")
    if wanted and why != seen:
        yield Text(one_line(why), "dim")


def squares(verdict: Verdict) -> Text:
    """One sign a unit in time order: `+` better, `·` equal, `-` worse."""
    line = Text()
    for unit in sorted(verdict.units, key=lambda unit: unit.began)[-60:]:
        sign, style = ("+", "green") if unit.d > 0 else ("-", "red") if unit.d < 0 else ("·", "dim")
        line.append(sign, style)
    of = "later days" if verdict.evidence == "recorded" else "later tasks"
    return line.append(f"  {of}, oldest first", "dim")


def session_lines(verdict: Verdict) -> Iterable[Text]:
    """The table of units: before, after, what it counted."""
    if not verdict.units:
        yield Text("no later session in which it applied", "dim")
        return
    yield Text(f"{'day':<8}{'unit':<17}{'before':>6}{'after':>6}{'d':>6}", "bold")
    for unit in sorted(verdict.units, key=lambda unit: unit.began):
        style = "green" if unit.d > 0 else "red" if unit.d < 0 else ""
        where = f"{words.short_day(unit.began or None):<8}{one_line(unit.unit, 16):<17}"
        row = Text(f"{where}{unit.before:>6.2f}{unit.after:>6.2f}")
        yield row.append(f"{words.signed(unit.d):>6}", style).append(f"  {one_line(unit.note)}", "dim")


def change_lines(before: str, after: str) -> Iterable[Text]:
    """A coloured diff."""
    for line in diff_lines(before, after):
        sign = "" if line.kind == "@" else line.kind
        yield Text(sign + kept_line(line.text), SIGNS[line.kind])


def _title(desk: Desk, width: int) -> Text:
    right = f"proposal {desk.at + 1} of {len(desk.proposals)}"
    return Text("skillopt-sleep review".ljust(max(width - len(right), 0)) + right, "dim")


def _name(desk: Desk, width: int) -> Text:
    left = Text(one_line(words.title_of(desk.proposal.document), width // 2), "bold")
    return left.append(f"  {words.headline(desk.edits)}", TONES.get(desk.proposal.verdict.outcome, ""))


def _listed(desk: Desk, width: int, most: int) -> list[Text]:
    """The edits around the one in focus, one a line."""
    edits = desk.edits
    first = max(0, min(desk.focus - most // 2, len(edits) - most))
    shown = [_row(desk, edit, at == desk.focus, width) for at, edit in list(enumerate(edits))[first : first + most]]
    if len(edits) > most:
        shown[-1 if first + most < len(edits) else 0].append(f"  ({len(edits)} in all)", "dim")
    return shown


def _row(desk: Desk, edit: ProposedEdit, focused: bool, width: int) -> Text:
    box = ("[x]" if edit.n in desk.ticked else "[ ]") if plain(edit) or unproven(edit) else " – "
    verdict, saved = tag(edit), words.share(edit.stake.output_share) if edit.stake else ""
    verdict.pad_right(max(TAG - verdict.cell_len, 0))
    text = rule(words.rule_text(edit))
    text.truncate(max(width - TAG - 18, 10), overflow="ellipsis", pad=True)
    line = Text(f"{'›' if focused else ' '} {box} {edit.n:>2} ").append_text(text)
    line.append("  ").append_text(verdict).append(f"{saved:>7}", "dim")
    if focused:
        line.stylize("bold")
    return line


def _rule(width: int) -> Text:
    return Text("─" * width, "dim")


def _tabs(desk: Desk, width: int) -> Text:
    line = Text("── ", "dim")
    for pane in PANES:
        shown = pane == desk.pane
        line.append(f"[{pane}]" if shown else pane, "bold" if shown else "dim").append(" ── ", "dim")
    about = (
        "keys" if desk.pane == "keys" else "all that is ticked" if desk.pane == "changes" else f"edit {desk.focused.n}"
    )
    line.append(f"{about} ", "dim")
    return line.append("─" * max(width - len(line), 0), "dim")


def _pane(desk: Desk, width: int) -> Sequence[Text]:
    if desk.pane == "keys":
        return [Text(f"{key:<6}{does}") for key, does in _KEYS]
    if desk.pane == "sessions":
        return list(session_lines(desk.focused.verdict))
    if desk.pane == "changes":
        return _changes(desk)
    caveats = [Text(caveat, "dim") for caveat in words.caveats(desk.edits)]
    if gone := words.forgotten(desk.proposal):
        caveats.insert(0, Text(gone, "yellow"))
    return [rule(words.rule_text(desk.focused), "bold"), *why_lines(desk.focused), *caveats]


def _changes(desk: Desk) -> list[Text]:
    if not desk.chosen:
        return [Text("nothing is ticked", "dim")]
    try:
        after = text_with(desk.proposal, desk.chosen)
    except AdoptionError as error:
        return [Text(one_line(str(error)), "red")]
    return list(change_lines(desk.proposal.base, after))


def _answer(desk: Desk) -> Text:
    if desk.asking == "reason":
        return Text("Why not? (enter: reject, esc: back) ", "bold").append(one_line(desk.typed)).append("▏")
    if desk.asking == "unproven":
        names = ", ".join(str(edit.n) for edit in desk.chosen if unproven(edit))
        return Text(f"Edit {names} is not proven. Adopt all the same? (y, anything else: no)", "bold yellow")
    return Text(one_line(desk.said))


def _bar(desk: Desk) -> Text:
    number = f"1-{min(len(desk.edits), 9)}" if len(desk.edits) > 1 else "1"
    line = Text()
    for key, does in (("a", "adopt"), (number, "tick"), *_BAR):
        line.append(key, "bold").append(f" {does}   ", "dim")
    return line
