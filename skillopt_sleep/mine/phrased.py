"""What a finder says of a group of equal frictions: a title in plain words, and a rule where one can be phrased."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from skillopt_sleep.domain.frictions import Friction
from skillopt_sleep.domain.sentences import Sentence


@dataclass(frozen=True, slots=True)
class Phrased:
    """`worth` is False where a group is nothing that a person would name."""

    title: str
    sentence: Sentence | None = None
    document: Literal["skill", "memory"] = "skill"
    worth: bool = True


NOTHING = Phrased("", worth=False)


def most_common(values: Iterable[str]) -> str:
    """The value that stands most often, of equals the first by name; "" of none."""
    counts = Counter(v for v in values if v)
    return min(counts, key=lambda v: (-counts[v], v), default="")


def by_sessions(members: Sequence[Friction], name: str) -> Counter[str]:
    """In how many sessions each value of a feature was seen."""
    return Counter(value for value, _ in {(v, m.session) for m in members for v in m.values(name)})


def widest(members: Sequence[Friction], name: str) -> str:
    """The value of a feature that most sessions show, of equals the first by name."""
    counts = by_sessions(members, name)
    return min(counts, key=lambda v: (-counts[v], v), default="")
