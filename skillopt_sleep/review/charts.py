"""Evidence as inline SVG: one square a unit in time order, or before and after with their interval.

Only numbers and escaped text get in; looks come from the page's style sheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from skillopt_core.types import UnitScore, Verdict
from skillopt_sleep.review import words
from skillopt_sleep.review.plain import escaped

MOST_SQUARES: Final = 120
_CELL: Final = 14
_A_ROW: Final = 40


def evidence(verdict: Verdict) -> str:
    """The picture of a verdict; empty where there is nothing to show."""
    if verdict.evidence == "recorded":
        return squares(verdict.units)
    return before_and_after(verdict)


def squares(units: Sequence[UnitScore]) -> str:
    """One square a unit, oldest first: prevented, no difference, broken. The newest of them where there are many."""
    if not units:
        return ""
    shown = sorted(units, key=lambda unit: unit.began)[-MOST_SQUARES:]
    wins, losses = sum(unit.d > 0 for unit in shown), sum(unit.d < 0 for unit in shown)
    outcomes = f"{wins} better, {len(shown) - wins - losses} equal, {losses} worse"
    label = f"{words.count(len(shown), 'unit')} in time order: {outcomes}"
    cells = "".join(_square(n, unit) for n, unit in enumerate(shown))
    width, height = min(len(shown), _A_ROW) * _CELL, -(-len(shown) // _A_ROW) * _CELL
    return _svg(width, height, label, cells)


def before_and_after(verdict: Verdict) -> str:
    """Two bars from 0 to 1 and the 95 % interval of the effect around the second."""
    if verdict.before is None or verdict.after is None:
        return ""
    label = f"{verdict.metric}: before {verdict.before:.2f}, after {verdict.after:.2f}"
    bars = _bar(0, "before", verdict.before) + _bar(22, "after", verdict.after)
    if verdict.interval is not None:
        low, high = (_x(verdict.before + bound) for bound in verdict.interval)
        bars += f'<line class="whisker" x1="{low:.1f}" x2="{high:.1f}" y1="30" y2="30"/>'
        bars += "".join(f'<line class="whisker" x1="{x:.1f}" x2="{x:.1f}" y1="26" y2="34"/>' for x in (low, high))
    return _svg(360, 40, label, bars)


def stake_bar(part: float, most: float) -> str:
    """A thin bar: `part` against the largest of its list."""
    width = 0.0 if most <= 0 else max(0.0, min(part / most, 1.0)) * 100
    return (
        '<svg class="bar" viewBox="0 0 100 5" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="track" width="100" height="5"/><rect class="part" width="{width:.2f}" height="5"/></svg>'
    )


def _square(n: int, unit: UnitScore) -> str:
    kind = "win" if unit.d > 0 else "loss" if unit.d < 0 else "tie"
    x, y = n % _A_ROW * _CELL, n // _A_ROW * _CELL
    said = escaped(f"{words.short_day(unit.began or None)}: {unit.note or f'{unit.before:g} → {unit.after:g}'}")
    size = _CELL - 3
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{size}" height="{size}" rx="2"><title>{said}</title></rect>'


def _bar(y: int, name: str, value: float) -> str:
    track = f'<rect class="track" x="50" y="{y}" width="260" height="16" rx="3"/>'
    bar = f'<rect class="{name}" x="50" y="{y}" width="{_x(value) - 50:.1f}" height="16" rx="3"/>'
    return f'{track}{bar}<text x="0" y="{y + 12}">{name}</text><text x="318" y="{y + 12}">{value:.2f}</text>'


def _x(value: float) -> float:
    return 50 + 260 * max(0.0, min(value, 1.0))


def _svg(width: int, height: int, label: str, inner: str) -> str:
    return (
        f'<svg class="evidence" role="img" aria-label="{escaped(label)}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">{inner}</svg>'
    )
