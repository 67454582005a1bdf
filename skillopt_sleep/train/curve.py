"""The learning curve as inline SVG: held-out and train score over the steps. Numbers only get in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from skillopt_core.types import Step

_WIDTH: Final = 680
_HEIGHT: Final = 240
_LEFT: Final = 54
_RIGHT: Final = 14
_TOP: Final = 10
_BOTTOM: Final = 34


@dataclass(frozen=True, slots=True)
class Point:
    """One step: `held` is the held-out score of the text that training stood at afterwards, `seen` the mean of its
    rollouts on train tasks, `refused` the held-out score of a candidate that was not kept."""

    epoch: int
    held: float | None
    seen: float | None
    refused: float | None


def points(steps: Sequence[Step]) -> list[Point]:
    """A point a step. The held-out score stays where it was while nothing is measured."""
    found: list[Point] = []
    held: float | None = None
    for step in steps:
        verdict = step.verdict
        measured = verdict is not None and verdict.before is not None
        refused = verdict.after if verdict is not None and measured and not step.kept else None
        if verdict is not None and measured:
            held = verdict.after if step.kept else verdict.before
        found.append(Point(step.epoch, held, step.train, refused))
    return found


def start(steps: Sequence[Step]) -> float | None:
    """The held-out score of the text that training began with, as its first look measured it."""
    return next((s.verdict.before for s in steps if s.verdict is not None and s.verdict.before is not None), None)


def curve(steps: Sequence[Step]) -> str:
    """The picture; empty where nothing was scored."""
    found = points(steps)
    first = start(steps)
    if not found or (first is None and all(point.seen is None for point in found)):
        return ""
    held = [(_x(0, found), first), *((_x(n, found), point.held) for n, point in enumerate(found, 1))]
    seen = [(_x(n, found), point.seen) for n, point in enumerate(found)]  # by the text that the step began with
    refused = [(_x(n, found), point.refused) for n, point in enumerate(found, 1)]
    parts = [_axes(found), _line("seen", seen), _stairs("held", held), *_dots("seen-dot", seen, 3.5)]
    parts += [*_dots("refused", refused, 4.5), *_dots("held-dot", held, 4)]
    label = f"Learning curve over {len(found)} steps: held-out score from {_said(first)} to {_said(found[-1].held)}"
    return f'<svg class="curve" role="img" aria-label="{label}" viewBox="0 0 {_WIDTH} {_HEIGHT}">{"".join(parts)}</svg>'


def _axes(found: Sequence[Point]) -> str:
    parts = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = _y(tick)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    every = max(1, -(-len(found) // 16))
    for n, point in enumerate(found, 1):
        x = _x(n, found)
        if n > 1 and point.epoch != found[n - 2].epoch:
            edge = (x + _x(n - 1, found)) / 2
            parts.append(f'<line class="epoch" x1="{edge:.1f}" x2="{edge:.1f}" y1="{_TOP}" y2="{_y(0):.1f}"/>')
        if n % every == 0 or len(found) <= every:
            parts.append(f'<text x="{x:.1f}" y="{_y(0) + 18:.1f}" text-anchor="middle">{n}</text>')
    parts.append(f'<text x="{_x(0, found):.1f}" y="{_y(0) + 18:.1f}" text-anchor="middle">start</text>')
    return "".join(parts)


def _line(name: str, at: Sequence[tuple[float, float | None]]) -> str:
    joined = " ".join(f"{x:.1f},{_y(value):.1f}" for x, value in at if value is not None)
    return f'<polyline class="{name}" points="{joined}"/>'


def _stairs(name: str, at: Sequence[tuple[float, float | None]]) -> str:
    """A line of steps: a text's score holds until another text takes its place."""
    known = [(x, value) for x, value in at if value is not None]
    corners: list[tuple[float, float]] = []
    for x, value in known:
        if corners:
            corners.append((x, corners[-1][1]))
        corners.append((x, _y(value)))
    return f'<polyline class="{name}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in corners)}"/>'


def _dots(name: str, at: Sequence[tuple[float, float | None]], radius: float) -> list[str]:
    return [
        f'<circle class="{name}" cx="{x:.1f}" cy="{_y(value):.1f}" r="{radius:g}"><title>{value:.2f}</title></circle>'
        for x, value in at
        if value is not None
    ]


def _x(n: int, found: Sequence[Point]) -> float:
    room = _WIDTH - _LEFT - _RIGHT - 32
    return _LEFT + 16 + room * n / len(found)


def _y(value: float) -> float:
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - max(0.0, min(value, 1.0)))


def _said(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"
