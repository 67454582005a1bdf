"""Operating characteristics of the gates, simulated: what each mode does with edits whose true effect is known.

Every figure is SIMULATED: a task has a true pass rate under each text, an attempt is a coin with that rate. The gates
are the product's own, called as the loop calls them. Fixed seeds; intervals are exact (Clopper and Pearson), 95 %.

    python bench/gate_simulations.py            the small set, about a minute
    python bench/gate_simulations.py --full     the set behind RESULTS.md
    python bench/gate_simulations.py --json     one JSON document instead of tables
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from skillopt_core.defaults import CountedDraws
from skillopt_core.gate import EvidenceGate, LookGate, StrictGate, binomial_tail, trial_over
from skillopt_core.protocols import Gate
from skillopt_core.seeded import Seeded
from skillopt_core.types import Missing, Outcome, Score, Skill, Task, Trajectory, UnitScore

LIVE, CANDIDATE = Skill("live"), Skill("candidate, longer")
PASSED, FAILED = Score(1.0, 1.0), Score(0.0, 0.0)
POPULATIONS: dict[str, Callable[[Seeded], float]] = {
    "even": lambda _: 0.55,
    "bell": lambda s: 0.55 + 0.2 * (s.uniform() + s.uniform() - 1),
    "spread": lambda s: 0.1 + 0.9 * s.uniform(),
    "extreme": lambda s: 0.95 if s.uniform() < 0.5556 else 0.05,
}
BETTER = 0.15
HARMFUL = -0.10


@dataclass(frozen=True)
class Row:
    """One cell: `accepted` of `runs`, with its interval; rollouts a run; the median night of acceptance."""

    experiment: str
    mode: str
    edit: str
    shape: str
    population: str
    tasks: int
    repeats: int
    runs: int
    accepted: float
    low: float
    high: float
    rollouts: float
    median_night: int | None = None


class Coins:
    """An agent whose attempts are coins: `rates[task] = (live, candidate)`."""

    deterministic = False

    def __init__(self, stream: Seeded) -> None:
        self.stream = stream
        self.rates: dict[str, tuple[float, float]] = {}
        self.rollouts = 0

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        self.rollouts += len(tasks)
        arm = int(skill is CANDIDATE)
        toss = self.stream.uniform
        return [
            Trajectory(task.id, draw, skill.name, PASSED if toss() < self.rates[task.id][arm] else FAILED)
            for task, draw in zip(tasks, draws, strict=True)
        ]


def shifted(rates: Sequence[float], edit: str, shape: str, stream: Seeded) -> list[float]:
    """The candidate's true rates. The mean effect over the population is what the edit's name says."""
    if edit == "catastrophe":  # a tenth of the tasks breaks totally, the rest gains what makes the mean zero
        broken = [stream.uniform() < 0.1 for _ in rates]
        return [0.0 if b else p + 0.55 * 0.1 / 0.9 * (1 - p) / 0.45 for p, b in zip(rates, broken, strict=True)]
    if edit == "placebo":
        if shape == "uniform":
            return list(rates)
        return [_clip(p + stream_step(stream, min(p, 1 - p))) for p in rates]
    effect = BETTER if edit == "better" else HARMFUL
    if shape == "uniform":
        return [_clip(p + effect * ((1 - p) / 0.45 if effect > 0 else p / 0.55)) for p in rates]
    return [_clip(p + _sparse(p, effect)) if stream.uniform() < _share(p, effect) else p for p in rates]


def stream_step(stream: Seeded, room: float) -> float:
    """Three tasks in ten move a lot, up or down alike."""
    return 0.0 if stream.uniform() >= 0.3 else room if stream.uniform() < 0.5 else -room


def _sparse(p: float, effect: float) -> float:
    return (1 - p) if effect > 0 else -p


def _share(p: float, effect: float) -> float:
    """A third of the tasks (a fifth for harm) goes all the way, which is the effect on average."""
    return effect / 0.45 if effect > 0 else -effect / 0.55


def _clip(p: float) -> float:
    return min(max(p, 0.0), 1.0)


def looks(gate: Gate, tasks: int, edit: str, shape: str, population: str, seed: int) -> tuple[Outcome, int]:
    """One candidate against one fixed set."""
    stream = Seeded(seed)
    coins = Coins(stream)
    rates = [POPULATIONS[population](stream) for _ in range(tasks)]
    for n, pair in enumerate(zip(rates, shifted(rates, edit, shape, stream), strict=True)):
        coins.rates[str(n)] = pair
    batch = [Task(str(n), "") for n in range(tasks)]
    verdict = gate(coins, LIVE, CANDIDATE, batch, CountedDraws())
    return verdict.outcome, coins.rollouts


def nights(alpha: float, edit: str, shape: str, population: str, seed: int, most: int = 60) -> tuple[int | None, int]:
    """One trial over nights of four new tasks: the night on which it was accepted, and the rollouts."""
    stream = Seeded(seed)
    coins = Coins(stream)
    prior: tuple[UnitScore, ...] = ()
    for night in range(1, most + 1):
        rates = [POPULATIONS[population](stream) for _ in range(4)]
        batch = [Task(f"{night}.{n}", "") for n in range(4)]
        for task, *pair in zip(batch, rates, shifted(rates, edit, shape, stream), strict=True):
            coins.rates[task.id] = (pair[0], pair[1])
        verdict = EvidenceGate(alpha=alpha, prior=prior)(coins, LIVE, CANDIDATE, batch, CountedDraws())
        if verdict.outcome is Outcome.ACCEPT:
            return night, coins.rollouts
        prior = verdict.units
        if trial_over(verdict.e or 0.0, verdict.e_reverse or 0.0, night, others_wait=False):
            return None, coins.rollouts
    return None, coins.rollouts


def exact(k: int, n: int) -> tuple[float, float]:
    """Clopper and Pearson's interval, by bisection on exact tails."""
    low = 0.0 if k == 0 else _solve(lambda p: binomial_tail(k, n, p) < 0.025)
    high = 1.0 if k == n else _solve(lambda p: 1 - binomial_tail(k + 1, n, p) > 0.025)
    return low, high


def _solve(below: Callable[[float], bool]) -> float:
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return (low + high) / 2


def look_rows(seeds: int, sizes: Sequence[int], repeats: Sequence[int], populations: Sequence[str]) -> Iterator[Row]:
    """Strict, a look with and without early stopping, on every kind of edit."""
    for tasks in sizes:
        for r in repeats:
            modes: dict[str, Gate] = {
                "strict": StrictGate(repeats=r),
                "look": LookGate(repeats=r),
                "look, no early stop": LookGate(repeats=r, early=False),
            }
            for mode, gate in modes.items():
                for edit, shape in EDITS:
                    for population in populations:
                        ran = [looks(gate, tasks, edit, shape, population, seed) for seed in range(seeds)]
                        yield _row("looks", mode, edit, shape, population, tasks, r, ran)


def night_rows(seeds: int, populations: Sequence[str]) -> Iterator[Row]:
    """Evidence over at most 60 nights of four new tasks, three repeats."""
    for alpha in (0.05, 0.01):
        for edit, shape in EDITS:
            for population in populations:
                ran = [nights(alpha, edit, shape, population, seed) for seed in range(seeds)]
                row = _row("nights", f"E >= {1 / alpha:.0f}", edit, shape, population, 4, 3, ran)
                when = sorted(night for night, _ in ran if night)
                yield Row(**{**asdict(row), "median_night": when[len(when) // 2] if when else None})


EDITS = (
    ("placebo", "uniform"),
    ("placebo", "sparse"),
    ("catastrophe", "sparse"),
    ("harmful", "uniform"),
    ("better", "uniform"),
    ("better", "sparse"),
)


def _row(
    experiment: str,
    mode: str,
    edit: str,
    shape: str,
    population: str,
    tasks: int,
    repeats: int,
    ran: Sequence[tuple[Outcome | int | None, int]],
) -> Row:
    accepted = sum(outcome is Outcome.ACCEPT or isinstance(outcome, int) for outcome, _ in ran)
    low, high = exact(accepted, len(ran))
    spent = sum(rollouts for _, rollouts in ran) / len(ran)
    return Row(
        experiment, mode, edit, shape, population, tasks, repeats, len(ran), accepted / len(ran), low, high, spent
    )


def shown(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = [
        "| simulated | mode | edit | shape | tasks of | tasks | R | runs | accepted | 95 % | rollouts | median night |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r.experiment} | {r.mode} | {r.edit} | {r.shape} | {r.population} | {r.tasks} | {r.repeats} | {r.runs} | "
        f"{r.accepted:.3f} | {r.low:.3f} to {r.high:.3f} | {r.rollouts:.0f} | {r.median_night or ''} |"
        for r in rows
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="2,000 seeds a cell, all sizes and populations")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    asked = parser.parse_args()
    began = time.perf_counter()
    if asked.full:
        rows = [*look_rows(2000, (4, 8, 20, 40), (1, 2, 3, 5), list(POPULATIONS))]
        rows += night_rows(2000, ["spread", "extreme"])
    else:
        rows = [*look_rows(150, (12, 40), (3,), ["spread", "extreme"]), *night_rows(60, ["spread"])]
    if asked.json:
        print(
            json.dumps({"simulated": True, "seconds": time.perf_counter() - began, "rows": [asdict(r) for r in rows]})
        )
    else:
        print(shown(rows))
        print(f"\nSimulated; {time.perf_counter() - began:.0f} s.")


if __name__ == "__main__":
    main()
