"""A review at the terminal as a pure machine: a key in, a new state out, sometimes a decision.

The loop takes its keys from an iterator and shows its state through a function, so that it runs the same under a
person, a script and a test. Keys are single characters or the names `up down pgup pgdn tab enter esc backspace resize`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from skillopt_sleep.clock import Clock
from skillopt_sleep.domain.proposals import Decision, Proposal, ProposedEdit
from skillopt_sleep.errors import SleepError
from skillopt_sleep.review.choose import plain, unproven
from skillopt_sleep.review.stage import by_number

Pane = Literal["why", "sessions", "changes", "keys"]
Asking = Literal["", "reason", "unproven"]

PANES: Final[tuple[Pane, ...]] = ("why", "sessions", "changes")
_PAGE: Final = 8


@dataclass(frozen=True, slots=True)
class Desk:
    """What lies before the person: the proposals, the one in view, which of its edits are ticked.

    `focus` counts its edits from 0 in reading order; `ticked` holds their numbers. `asking` is the open question, and
    `typed` the answer so far. `said` is the last answer of the program.
    """

    proposals: tuple[Proposal, ...]
    at: int = 0
    focus: int = 0
    ticked: frozenset[int] = frozenset()
    pane: Pane = "why"
    scroll: int = 0
    asking: Asking = ""
    typed: str = ""
    said: str = ""
    decided: tuple[Decision, ...] = ()

    @property
    def proposal(self) -> Proposal:
        return self.proposals[self.at]

    @property
    def edits(self) -> tuple[ProposedEdit, ...]:
        return by_number(self.proposal.edits)

    @property
    def focused(self) -> ProposedEdit:
        return self.edits[self.focus]

    @property
    def chosen(self) -> tuple[ProposedEdit, ...]:
        return tuple(edit for edit in self.edits if edit.n in self.ticked)

    @property
    def over(self) -> bool:
        return self.at >= len(self.proposals)


def sit(
    proposals: Sequence[Proposal],
    keys: Iterable[str],
    show: Callable[[Desk], int],
    decide: Callable[[Decision], str],
    clock: Clock,
) -> tuple[Decision, ...]:
    """Go through the proposals until all are decided, or the person leaves (`q`, or no more keys).

    `show` draws the desk and answers how far its pane can be scrolled; `decide` carries a decision out and answers with
    a sentence about it; where it raises SleepError the sentence is shown and the proposal stays.
    """
    desk = opened(Desk(tuple(proposals)), 0)
    if desk.over:
        return ()
    limit = show(desk)
    for key in keys:
        if desk.asking == "" and key in {"q", "esc"}:
            break
        desk, decision = press(desk, key, clock.now_ms())
        if decision is not None:
            desk = _carried_out(desk, decision, decide)
        if desk.over:
            break
        desk = replace(desk, scroll=max(0, min(desk.scroll, limit)))
        limit = show(desk)
    return desk.decided


def opened(desk: Desk, at: int) -> Desk:
    """The desk with proposal `at` in view: its proven and supported edits are ticked."""
    if at >= len(desk.proposals):
        return replace(desk, at=at)
    ticked = frozenset(edit.n for edit in desk.proposals[at].edits if plain(edit))
    return replace(desk, at=at, focus=0, ticked=ticked, pane="why", scroll=0, asking="", typed="")


def press(desk: Desk, key: str, now_ms: int) -> tuple[Desk, Decision | None]:
    """The desk after one key, and the decision that it completes."""
    if desk.asking == "reason":
        return _reason(desk, key, now_ms)
    if desk.asking == "unproven":
        answered = replace(desk, asking="")
        return (answered, _decision(desk, "adopt", now_ms)) if key in {"y", "Y"} else (replace(answered, said=""), None)
    if key == "a":
        return _adopt(desk, now_ms)
    if key == "d":
        return desk, _decision(desk, "defer", now_ms)
    if key.isdigit():
        return _tick(desk, int(key)), None
    move = _MOVES.get(key)
    return (move(replace(desk, said="")), None) if move else (desk, None)


def _carried_out(desk: Desk, decision: Decision, decide: Callable[[Decision], str]) -> Desk:
    try:
        said = decide(decision)
    except SleepError as error:
        return replace(desk, said=f"{error}")
    left = replace(desk, decided=(*desk.decided, decision), said=said)
    return replace(opened(left, desk.at + 1), said=said)


def _adopt(desk: Desk, now_ms: int) -> tuple[Desk, Decision | None]:
    if not desk.chosen:
        return replace(desk, said="Nothing is ticked: tick an edit by its number first."), None
    if any(unproven(edit) for edit in desk.chosen):
        return replace(desk, asking="unproven", said=""), None
    return desk, _decision(desk, "adopt", now_ms)


def _reason(desk: Desk, key: str, now_ms: int) -> tuple[Desk, Decision | None]:
    if key == "enter":
        return replace(desk, asking="", typed=""), _decision(desk, "reject", now_ms, desk.typed.strip() or "not wanted")
    if key == "esc":
        return replace(desk, asking="", typed=""), None
    if key == "backspace":
        return replace(desk, typed=desk.typed[:-1]), None
    return (replace(desk, typed=desk.typed + key), None) if len(key) == 1 and key.isprintable() else (desk, None)


def _decision(desk: Desk, choice: Literal["adopt", "reject", "defer"], now_ms: int, why: str = "") -> Decision:
    taken = desk.chosen if choice == "adopt" else desk.edits
    numbers = tuple(edit.n for edit in taken)
    allow = choice == "adopt" and any(unproven(edit) for edit in taken)
    return Decision(desk.proposal.id, choice, numbers, now_ms, why=why, unproven=allow)


def _tick(desk: Desk, number: int) -> Desk:
    """Tick or untick an edit, and look at it."""
    at = next((at for at, edit in enumerate(desk.edits) if edit.n == number), None)
    if at is None:
        return replace(desk, said=f"There is no edit {number}.")
    edit = desk.edits[at]
    if not (plain(edit) or unproven(edit)):
        return replace(desk, focus=at, said=f"Edit {number} cannot be adopted.")
    return replace(desk, focus=at, ticked=desk.ticked ^ {number}, scroll=0, said="")


def _focus(by: int) -> Callable[[Desk], Desk]:
    return lambda desk: replace(desk, focus=max(0, min(desk.focus + by, len(desk.edits) - 1)), scroll=0)


def _scroll(by: int) -> Callable[[Desk], Desk]:
    return lambda desk: replace(desk, scroll=max(0, desk.scroll + by))


def _turn(by: int) -> Callable[[Desk], Desk]:
    return lambda desk: opened(desk, max(0, min(desk.at + by, len(desk.proposals) - 1)))


def _pane(desk: Desk) -> Desk:
    at = PANES.index(desk.pane) if desk.pane in PANES else -1
    return replace(desk, pane=PANES[(at + 1) % len(PANES)], scroll=0)


_MOVES: Final[dict[str, Callable[[Desk], Desk]]] = {
    "down": _focus(1),
    "j": _focus(1),
    "up": _focus(-1),
    "k": _focus(-1),
    " ": lambda desk: _tick(desk, desk.focused.n),
    "tab": _pane,
    "v": _pane,
    "pgdn": _scroll(_PAGE),
    "f": _scroll(_PAGE),
    "pgup": _scroll(-_PAGE),
    "b": _scroll(-_PAGE),
    "n": _turn(1),
    "p": _turn(-1),
    "r": lambda desk: replace(desk, asking="reason", typed=""),
    "?": lambda desk: replace(desk, pane="why" if desk.pane == "keys" else "keys", scroll=0),
}
