"""How far a judge can be trusted: what it says against what rules say of the same answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from skillopt_core.gate.exact import binomial_interval

LEAST_TASKS: Final = 10
"""Tasks with both kinds of check, below which nothing is said of a judge."""
LEAST_SHARE, LEAST_KAPPA = 0.5, 0.4
"""A judge agrees poorly whose share of agreement may be as low as a coin's, or whose kappa is below what Landis and
Koch (1977) call moderate."""
Trust = Literal["fair", "poor", "unknown"]


@dataclass(frozen=True, slots=True)
class Agreement:
    """A judge against rules, over attempts at tasks that have both.

    The four counts are attempts by whether all rubrics and all rules passed. Attempts at one task are no independent
    trials, so the share is over units, each with its first attempt: `agreed` of `units`.
    """

    both: int = 0
    rubric_alone: int = 0
    rules_alone: int = 0
    neither: int = 0
    units: int = 0
    agreed: int = 0

    @property
    def attempts(self) -> int:
        return self.both + self.rubric_alone + self.rules_alone + self.neither

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 %, exact (Clopper and Pearson), for the share of units on which the two agree."""
        return binomial_interval(self.agreed, self.units) if self.units else None

    @property
    def kappa(self) -> float | None:
        """Agreement beyond chance (Cohen 1960), over attempts; None where one of the two always said the same."""
        n = self.attempts
        if not n:
            return None
        rubric, rules = (self.both + self.rubric_alone) / n, (self.both + self.rules_alone) / n
        by_chance = rubric * rules + (1 - rubric) * (1 - rules)
        if {rubric, rules} & {0.0, 1.0}:
            return None
        return ((self.both + self.neither) / n - by_chance) / (1 - by_chance)

    @property
    def trust(self) -> Trust:
        """Whether what the judge says may be taken for more than an opinion."""
        if self.units < LEAST_TASKS or self.kappa is None or self.interval is None:
            return "unknown"
        return "poor" if self.interval[0] <= LEAST_SHARE or self.kappa < LEAST_KAPPA else "fair"


@dataclass(frozen=True, slots=True)
class Judge:
    """Who judged by rubrics, how often each answer, and how far it agreed with rules and with itself.

    `apart`: how far its readings of one answer lay apart, in [0, 1], on the average over attempts.
    """

    model: str
    readings: int
    agreement: Agreement
    apart: float | None = None

    def as_json(self) -> dict[str, object]:
        """Counts of attempts, share and interval over units, kappa over attempts."""
        found, against = self.agreement, self.agreement.interval
        return {
            "model": self.model,
            "readings": self.readings,
            "apart": None if self.apart is None else round(self.apart, 4),
            "agreement": {
                "attempts": found.attempts,
                "both_pass": found.both,
                "rubric_alone": found.rubric_alone,
                "rules_alone": found.rules_alone,
                "neither": found.neither,
                "tasks": found.units,
                "agreed": found.agreed,
                "share": round(found.agreed / found.units, 4) if found.units else None,
                "interval": None if against is None else [round(bound, 4) for bound in against],
                "kappa": None if found.kappa is None else round(found.kappa, 4),
                "trust": found.trust,
            },
        }

    def said(self) -> str:
        """The same for a person, in a sentence; it says so where the judge is no more than an opinion."""
        found = self.agreement
        itself = "" if self.apart is None else f"; its readings of one answer lie {self.apart:.2f} apart"
        if found.interval is None:
            why = "no task has a rubric and rule checks"
            return f"the judge {self.model} is not held against rules: {why}; {_OPINION}{itself}"
        low, high = found.interval
        kappa = "" if found.kappa is None else f", kappa {found.kappa:.2f} over {found.attempts} attempts"
        return (
            f"the judge {self.model} agrees with the rule checks on {found.agreed} of {found.units} tasks "
            f"(95% {low:.2f} to {high:.2f}{kappa}){_CAVEAT[found.trust]}{itself}"
        )


_OPINION: Final = "its grades are an opinion"
_CAVEAT: Final[Mapping[Trust, str]] = {
    "fair": "",
    "poor": "; that is poor: do not rest a decision on its grades",
    "unknown": f"; too little to know how far it can be trusted: {_OPINION}",
}
