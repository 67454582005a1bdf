"""Thirty edits that do nothing, one after another, on one set of twelve tasks that is used again and again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from gate.cells import Cell, mean, stream
from skillopt_core.gate import boundaries, proven, settled, sign_flip_p
from skillopt_sleep.calibrate.coins import POPULATIONS, toss

TASKS, EDITS = 12, 30


@dataclass(frozen=True)
class Asked:
    """One rule on sets of one population."""

    rule: str
    population: str
    seeds: int


RULES = ("keep the better", "plain .05 test, kept scores", "plain .05 test, fresh pairs", "look, alpha / 30")


def rules(seeds: int) -> Iterator[Asked]:
    """Every rule on every population."""
    yield from (Asked(rule, population, seeds) for rule in RULES for population in POPULATIONS)


def reused(asked: Asked) -> list[Cell]:
    """The gain that the rule reports after thirty edits, and how many of them it took. The true gain is zero."""
    seen = [_thirty(asked, stream(asked, seed)) for seed in range(asked.seeds)]
    where = {"population": asked.population}
    return [
        mean("re-used set", asked.rule, "gain reported", [gain for gain, _ in seen], **where),
        mean("re-used set", asked.rule, "edits kept", [kept for _, kept in seen], **where),
    ]


def _thirty(asked: Asked, random: Random) -> tuple[float, int]:
    live = [POPULATIONS[asked.population](random) for _ in range(TASKS)]
    rest_on_luck = asked.rule in RULES[:2]
    return (_with_kept_scores if rest_on_luck else _with_fresh_pairs)(asked.rule, live, random)


def _with_kept_scores(rule: str, live: list[float], random: Random) -> tuple[float, int]:
    """The best so far keeps the score that it got: luck is never measured again."""

    def run() -> list[int]:
        return [int(random.random() < rate) for rate in live]

    first = best = run()
    kept = 0
    for _ in range(EDITS):
        now = run()
        ds = [float(a - b) for a, b in zip(now, best, strict=True)]
        if sum(ds) > 0 and (rule == "keep the better" or sign_flip_p(ds) <= 0.05):
            best, kept = now, kept + 1
    return (sum(best) - sum(first)) / TASKS, kept


def _with_fresh_pairs(rule: str, live: list[float], random: Random) -> tuple[float, int]:
    """Both arms anew for each edit; the gain is the sum of what each kept edit was reported to bring."""
    plan = boundaries(3, 0.05 / EDITS if rule.startswith("look") else 0.05)
    pairs = [(rate, rate) for rate in live]
    gain, kept = 0.0, 0
    for _ in range(EDITS):
        wins = [0] * TASKS
        for done in (1, 2, 3):
            wins = toss(pairs, wins, random)
            ds = [won / done for won in wins]
            if settled(ds, done, plan):
                break
        if proven(ds, done, plan):
            gain, kept = gain + sum(ds) / TASKS, kept + 1
    return gain, kept
