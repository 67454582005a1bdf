"""`gate simulate`: what `strict` and `proof` do, side by side, with edits whose true effect is known. SIMULATED."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, Literal

from skillopt_core.gate import binomial_interval, spent
from skillopt_sleep.calibrate.coins import BETTER, HARMFUL, PLACEBO, POPULATIONS, Edit, rates, sparse
from skillopt_sleep.calibrate.simulated import Season, strict, trial

CANDIDATES: Final = (1, 5, 10, 30)
"""Which candidate of a family: with `alpha_policy = "spend"` the later ones get less of alpha."""

EDITS: Final = tuple(shaped for edit in (PLACEBO, HARMFUL, BETTER) for shaped in (edit, sparse(edit)))


@dataclass(frozen=True, slots=True)
class Row:
    """One cell. `accepted` is a share of the seeds, which go over the four populations in turn; `nights` the most that
    a candidate had, `median_night` of the accepted ones, `rollouts` the mean number of attempts, of both arms."""

    mode: Literal["strict", "proof"]
    edit: str
    effect: float
    shape: str
    candidate: int
    tasks_per_night: int
    repeats: int
    nights: int
    accepted: float
    ci95: tuple[float, float]
    median_night: int | None
    rollouts: float


@dataclass(frozen=True, slots=True)
class Rule:
    """The levels of `proof`: of one trial, or with `family` set a family-wise level that trials share."""

    trial_alpha: float = 0.01
    family: float | None = None

    def alpha(self, t: int) -> float:
        """What the t-th candidate has."""
        return self.trial_alpha if self.family is None else spent(self.family, t)


def operating(seeds: int, season: Season, rule: Rule) -> Iterator[Row]:
    """Every edit under `strict`, which decides in one night, and `proof`, a trial over up to `season.nights`.

    The population of `season` is not used: seeds take the four in turn.
    """
    for edit in EDITS:
        nights = [_strict_night(edit, season, seed) for seed in range(seeds)]
        alphas = [rule.alpha(t) for t in CANDIDATES]
        trials = [_trials(edit, season, seed, alphas) for seed in range(seeds)]
        for n, t in enumerate(CANDIDATES):
            yield _row("strict", edit, t, season, 1, nights)
            yield _row("proof", edit, t, season, season.nights, [of[n] for of in trials])


_Ran = tuple[int | None, int]
"""The night of acceptance, and the attempts."""


def _strict_night(edit: Edit, season: Season, seed: int) -> _Ran:
    population, random = _stream(edit, "strict", seed)
    looked = strict(rates(population, edit, season.per_night, random), season.repeats, random)
    return 1 if looked.accepted else None, looked.rollouts


def _trials(edit: Edit, season: Season, seed: int, alphas: Sequence[float]) -> list[_Ran]:
    """The same trial judged at the alpha of each candidate."""
    population, random = _stream(edit, "proof", seed)
    here = Season(population, season.per_night, season.repeats, season.nights)
    ran = trial(here, edit, [1 / alpha for alpha in alphas], random)
    return [(when, 2 * season.per_night * season.repeats * (when or ran.nights)) for when in ran.reached]


def _stream(edit: Edit, mode: str, seed: int) -> tuple[str, Random]:
    names = list(POPULATIONS)
    return names[seed % len(names)], Random(f"{mode} {edit.name} {edit.shape} {seed}")  # noqa: S311  no secret


def _row(mode: Literal["strict", "proof"], edit: Edit, t: int, season: Season, nights: int, ran: Sequence[_Ran]) -> Row:
    when = sorted(night for night, _ in ran if night is not None)
    return Row(
        mode=mode,
        edit=edit.name,
        effect=edit.effect,
        shape=edit.shape,
        candidate=t,
        tasks_per_night=season.per_night,
        repeats=season.repeats,
        nights=nights,
        accepted=len(when) / len(ran),
        ci95=binomial_interval(len(when), len(ran)),
        median_night=when[len(when) // 2] if when else None,
        rollouts=sum(rollouts for _, rollouts in ran) / len(ran),
    )
