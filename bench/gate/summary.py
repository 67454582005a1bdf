"""From cells to the lines that RESULTS.md shows: pooled and worst cells, beside what was wanted of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gate.cells import Cell
from gate.guarding import KINDS
from gate.looking import ALPHA, MCNEMAR
from gate.reusing import RULES
from skillopt_core.gate import binomial_interval


@dataclass(frozen=True)
class Line:
    """One line: what was done under which rule, the figure with its interval and n, and the target (empty: none)."""

    what: str
    rule: str
    figure: str
    n: int
    target: str = ""
    met: bool | None = None


def lines(cells: Sequence[Cell]) -> Iterator[Line]:
    """All lines, in the order of the targets."""
    yield from _placebo(cells)
    yield from _catastrophe(cells)
    yield from _harmful(cells)
    yield from _better(cells)
    yield from _saved(cells)
    yield from _evidence(cells)
    yield from _half_year(cells)
    yield from _reused(cells)
    yield from _guarded(cells)
    yield from _itself(cells)
    yield from cut_short(cells)


def chosen(cells: Sequence[Cell], experiment: str, what: str, rule: str = "", **where: Any) -> list[Cell]:
    """The cells of one experiment that say `what`, under a rule and at a place where these are given."""
    return [
        cell
        for cell in cells
        if cell.experiment == experiment
        and cell.what == what
        and rule in {"", cell.rule}
        and all(cell.where.get(key) == value for key, value in where.items())
    ]


def pooled(cells: Sequence[Cell]) -> tuple[float, float, float, int]:
    """A share over all runs of several cells, with its interval and the number of runs."""
    n = sum(cell.n for cell in cells)
    hits = round(sum((cell.value or 0.0) * cell.n for cell in cells))
    return hits / n, *binomial_interval(hits, n), n


def _line(
    what: str, rule: str, cells: Sequence[Cell], target: str = "", met: Callable[..., bool] | None = None
) -> Line:
    value, low, high, n = pooled(cells)
    return Line(what, rule, _shown(value, low, high), n, target, met(value, low, high) if met else None)


def _shown(value: float, low: float, high: float) -> str:
    digits = 4 if 0 < value < 0.01 or high < 0.01 else 3
    return f"{value:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def _one(cell: Cell) -> str:
    if cell.value is None or cell.low is None or cell.high is None:
        return "never"
    if cell.what in {"night", "night of the halt"}:
        return f"{cell.value:.0f} ({cell.low:.0f} to {cell.high:.0f})"
    return _shown(cell.value, cell.low, cell.high)


def _place(cell: Cell) -> str:
    return ", ".join(str(cell.where[key]) for key in ("population", "shape") if key in cell.where) + "".join(
        f", {name} {cell.where[key]}"
        for key, name in (("tasks", "tasks"), ("repeats", "R"), ("budget", "budget"))
        if key in cell.where
    )


def _worst(what: str, rule: str, cells: Sequence[Cell], target: str, met: Callable[[Cell], bool]) -> Line:
    worst = max(cells, key=lambda cell: cell.low or 0.0)
    figure = f"{_one(worst)}: {_place(worst)}"
    return Line(f"{what}: worst of {len(cells)} cells", rule, figure, worst.n, target, all(map(met, cells)))


def _placebo(cells: Sequence[Cell]) -> Iterator[Line]:
    for rule in ("look", "look, every repeat", MCNEMAR, "strict", "strict, best of three"):
        found = chosen(cells, "placebo", "accepted", rule)
        ours = rule == "look"
        yield _line(
            "placebo", rule, found, "pooled <= .05" if ours else "", (lambda v, *_: v <= ALPHA) if ours else None
        )
        if ours:
            yield _worst("placebo", rule, found, "no lower limit > .05", lambda cell: (cell.low or 0.0) <= ALPHA)
        if rule.startswith("strict"):
            low, high = min(c.value or 0.0 for c in found), max(c.value or 0.0 for c in found)
            yield Line(f"placebo: lowest and highest of {len(found)} cells", rule, f"{low:.3f}, {high:.3f}", found[0].n)


def _catastrophe(cells: Sequence[Cell]) -> Iterator[Line]:
    for tasks in (8, 12, 20, 40):
        for rule in ("look", "strict"):
            yield _line(
                f"catastrophe, {tasks} tasks", rule, chosen(cells, "catastrophe", "accepted", rule, tasks=tasks)
            )
    for rule, alpha in (("E >= 20", 0.05), ("E >= 100", 0.01)):
        found = chosen(cells, "evidence", "accepted", rule, kind="catastrophe")
        yield _line("catastrophe, 60 nights", rule, found, f"<= {alpha}", lambda v, *_, alpha=alpha: v <= alpha)


def _harmful(cells: Sequence[Cell]) -> Iterator[Line]:
    for rule in ("look", "strict"):
        found = chosen(cells, "harmful", "accepted", rule)
        if rule == "look":
            yield _worst("harmful -.10", rule, found, "<= .01 in every cell", lambda cell: (cell.value or 0.0) <= 0.01)
        yield _line("harmful -.10", rule, found)


def _better(cells: Sequence[Cell]) -> Iterator[Line]:
    for shape, least, each in (("uniform", 0.80, 0.70), ("sparse", 0.65, 0.55)):
        for rule in ("look", "look, every repeat", MCNEMAR, "strict"):
            found = chosen(cells, "+.15", "accepted", rule, shape=shape, tasks=40)
            ours = rule == "look"
            met = (lambda v, *_, least=least: v >= least) if ours else None
            yield _line(f"+.15 {shape}, 40 tasks, R 3", rule, found, f">= {least} pooled" if ours else "", met)
            if ours:
                lowest = min(found, key=lambda cell: cell.value or 0.0)
                figure = f"{_one(lowest)}: {lowest.where['population']}"
                good = (lowest.value or 0.0) >= each
                yield Line(f"+.15 {shape}: lowest population", rule, figure, lowest.n, f">= {each} in each", good)
        found = chosen(cells, "+.15 in training", "accepted", "look, alpha .05/8", shape=shape)
        yield _line(f"+.15 {shape}, one of 8 looks of a run", "look, alpha .05/8", found)


def _saved(cells: Sequence[Cell]) -> Iterator[Line]:
    """Against all repeats of the same 40 tasks, and against the fewest tasks that find as much when all are run."""
    ours = pooled(chosen(cells, "+.15", "accepted", "look", shape="uniform", tasks=40))[0]
    sizes = sorted(chosen(cells, "equal power", "accepted"), key=lambda cell: cell.where["tasks"])
    enough = [cell for cell in sizes if (cell.value or 0.0) >= ours]
    equal = (enough[0] if enough else sizes[-1]).where["tasks"] / 40
    parts = (("placebo", 0.40), ("harmful", 0.55), ("+.15", 0.15))
    shares = {}
    for experiment, wanted in parts:
        found = chosen(cells, experiment, "saved", "look", shape="uniform", tasks=40, repeats=3)
        raw = sum(cell.value or 0.0 for cell in found) / len(found)
        shares[experiment] = raw
        yield _saving(f"rollouts saved, {experiment}", raw, equal, sum(cell.n for cell in found), wanted)
    yield _saving("rollouts saved, in equal parts", sum(shares.values()) / 3, equal, 0, 0.35)


def _saving(what: str, raw: float, equal: float, n: int, wanted: float) -> Line:
    strictly = 1 - (1 - raw) / equal
    figure = f"{raw:.3f} of 40 tasks x 3; {strictly:.3f} of {40 * equal:.0f} tasks x 3 (equal power)"
    return Line(what, "look", figure, n, f">= {wanted}", strictly >= wanted)


def _evidence(cells: Sequence[Cell]) -> Iterator[Line]:
    wanted = {
        ("placebo", 0.0, "uniform"): ((0.03, None), (0.01, None)),
        ("placebo", 0.0, "sparse"): ((0.03, None), (0.01, None)),
        ("harmful", -0.10, "uniform"): ((0.001, None), (0.001, None)),
        ("harmful", -0.10, "sparse"): ((0.001, None), (0.001, None)),
        ("better", 0.15, "uniform"): ((0.99, 14), (0.99, 20)),
        ("better", 0.15, "sparse"): ((0.95, 16), (0.95, 23)),
        ("better", 0.25, "uniform"): ((0.99, 8), (0.99, 10)),
    }
    for (kind, effect, shape), targets in wanted.items():
        for rule, (bound, night) in zip(("E >= 20", "E >= 100"), targets, strict=True):
            found = chosen(cells, "evidence", "accepted", rule, kind=kind, edit=effect, shape=shape)
            good = kind == "better"
            name = f"{kind} {effect:+.2f} {shape}" if effect else f"{kind} {shape}"
            if good:
                yield _line(name, rule, found, f">= {bound}", lambda v, *_, bound=bound: v >= bound)
            else:
                yield _line(name, rule, found, f"<= {bound}", lambda v, *_, bound=bound: v <= bound)
            if night is not None:
                when = chosen(cells, "evidence", "night", rule, kind=kind, edit=effect, shape=shape)
                medians = sorted(cell.value or 0.0 for cell in when)
                figure = ", ".join(f"{m:.0f}" for m in medians)
                late = medians[-1] <= night
                yield Line(f"{name}: median night by population", rule, figure, when[0].n, f"<= {night}", late)


def _half_year(cells: Sequence[Cell]) -> Iterator[Line]:
    targets = {"good adopted": (">= .80", 0.80), "nights to adopt": ("<= 18", 18), "false adoptions": ("<= .15", 0.15)}
    for cell in chosen(cells, "half a year", "good adopted"):
        if cell.where["policy"] == "spend" and cell.where["candidate_every"] != 4:
            continue
        for what, (target, bound) in targets.items():
            (one,) = chosen(cells, "half a year", what, cell.rule, **cell.where)
            value = one.value or 0.0
            met = value >= bound if what == "good adopted" else value <= bound
            ours = cell.where["policy"] == "trial"
            name = f"180 nights, a candidate every {cell.where['candidate_every']}: {what}"
            yield Line(name, cell.rule, _one(one), one.n, target if ours else "", met if ours else None)


def _reused(cells: Sequence[Cell]) -> Iterator[Line]:
    for rule in RULES:
        found = chosen(cells, "re-used set", "gain reported", rule)
        kept = chosen(cells, "re-used set", "edits kept", rule)
        gain = sum(cell.value or 0.0 for cell in found) / len(found)
        lows, highs = [cell.low or 0.0 for cell in found], [cell.high or 0.0 for cell in found]
        edits = sum(cell.value or 0.0 for cell in kept) / len(kept)
        figure = f"{100 * gain:+.1f} points ({100 * min(lows):+.1f} to {100 * max(highs):+.1f}), {edits:.2f} kept"
        ours = rule.startswith("look")
        met = max(map(abs, (*lows, *highs))) <= 0.02 if ours else None
        yield Line(
            "30 null edits on 12 tasks", rule, figure, sum(c.n for c in found), "0 ± 2 points" if ours else "", met
        )


def _guarded(cells: Sequence[Cell]) -> Iterator[Line]:
    """The worst number of protected tasks, by kind and repeats."""
    for kind in KINDS:
        for repeats, broken in ((2, 0.80), (3, 0.90)):
            for what, bound, worst in (
                ("vetoed: harmless", 0.10, max),
                ("vetoed: it breaks one", broken, min),
            ):
                found = chosen(cells, "protected", what, kind, repeats=repeats)
                cell = worst(found, key=lambda cell: cell.value or 0.0)
                value = cell.value or 0.0
                harmless = worst is max
                where = f"R {repeats}, {what}, worst k (1, 5, 10, 20): {cell.where['k']}"
                met = value <= bound if harmless else value >= bound
                yield Line(
                    where, f"protected: {kind}", _one(cell), cell.n, f"{'<=' if harmless else '>='} {bound}", met
                )


def _itself(cells: Sequence[Cell]) -> Iterator[Line]:
    for cell in chosen(cells, "A/A", "halted within a year"):
        sound = "33" not in cell.rule and "strict" not in cell.rule
        value = cell.value or 0.0
        yield Line(
            "A/A, a year", cell.rule, _one(cell), cell.n, "<= .05" if sound else "", value <= 0.05 if sound else None
        )
        (when,) = chosen(cells, "A/A", "night of the halt", cell.rule)
        if not sound:
            yield Line("A/A: night of the halt", cell.rule, _one(when), when.n, "<= 10", (when.value or 99) <= 10)


def cut_short(cells: Sequence[Cell]) -> Iterator[Line]:
    """Comparisons that the budget ended: the pooled rate and the worst cell of each rule, and what is still found."""
    for kind in ("placebo", "catastrophe", "better"):
        name = f"cut short: {kind}"
        for rule in ("look", "p of all pairs", "evidence"):
            found = chosen(cells, name, "accepted", rule)
            yield _line(name, rule, found)
            if kind == "placebo":
                yield _worst(name, rule, list(_by_budget(found)), "no lower limit > .05",
                             lambda cell: (cell.low or 0.0) <= ALPHA)  # fmt: skip
        for budget in (0.3, 0.6, 0.9):
            found = chosen(cells, name, "accepted", "look", budget=budget)
            pairs = chosen(cells, name, "pairs of those planned", budget=budget)
            had = sum(cell.value or 0.0 for cell in pairs) / len(pairs)
            yield _line(f"{name}, budget for {budget:.0%}, {had:.0%} of the pairs", "look", found)


def _by_budget(cells: Sequence[Cell]) -> Iterator[Cell]:
    """The same, pooled over sizes, shapes and costs."""
    for population in sorted({cell.where["population"] for cell in cells}):
        for budget in sorted({cell.where["budget"] for cell in cells}):
            where = {"population": population, "budget": budget}
            some = [cell for cell in cells if all(cell.where[key] == value for key, value in where.items())]
            value, low, high, n = pooled(some)
            yield Cell(some[0].experiment, some[0].rule, where, some[0].what, n, value, low, high)
