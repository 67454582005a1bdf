"""Mined on the first part of a real history, predicted against seen on the rest, beside shuffles.

Two questions. Does what the miner names come back as often as its early rate says? (Beside it: the same sessions in
random orders, which would show that the order of time matters, and the rate of random frictions of the same kind.) And
does each rule that it phrased mend more than it breaks in sessions that it was not made from? (Beside it: the later
actions with their outcomes dealt out anew among actions of the same kind, which leaves nothing to learn.)

    python bench/mined_on_history.py                   the shared history (SKILLOPT_SHARED), about two minutes
    python bench/mined_on_history.py FOLDER --share .5 --shuffles 50
    python bench/mined_on_history.py --anonymous       without titles, which quote the transcripts

Intervals are 95 %: beta-binomial predictive (Jeffreys) for predictions, Clopper and Pearson for shares, quantiles for
shuffles. Fixed seed.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skillopt_core.gate.evidence import e_value
from skillopt_core.gate.exact import binomial_tail
from skillopt_sleep.agents.recorded.agent import RecordedAgent
from skillopt_sleep.agents.recorded.effects import Effect
from skillopt_sleep.agents.recorded.history import History
from skillopt_sleep.domain.episodes import Action, ActionKind, Episode
from skillopt_sleep.domain.frictions import Friction, Pattern
from skillopt_sleep.domain.sentences import Said, Sentence
from skillopt_sleep.mine import Mined, episodes_of, mine
from skillopt_sleep.mine.tasks import recurrence, unit_of

CHECKOUT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("SKILLOPT_SHARED", CHECKOUT.parent / "shared"))
HISTORY = SHARED / "transcripts" / "claude" / "entireio__cli_history"

Key = tuple[str, str, str]
"""Project, kind and signature of a friction."""


@dataclass(frozen=True)
class Parts:
    """Sessions in order of time, cut in two."""

    first: tuple[str, ...]
    rest: tuple[str, ...]


@dataclass(frozen=True)
class Later:
    """Units in which a rule mended on balance, broke on balance, or did neither; actions whose outcome is unknown."""

    mended: int = 0
    broken: int = 0
    even: int = 0
    unknown: int = 0

    @property
    def net(self) -> int:
        return self.mended - self.broken

    def __str__(self) -> str:
        return f"{self.mended} / {self.broken} / {self.even}" + (f" ({self.unknown} unknown)" if self.unknown else "")


def main() -> None:
    asked = arguments()
    sys.path.insert(0, str(CHECKOUT))
    from tests.mine.reading import stored_sessions

    episodes = [e for session in stored_sessions([asked.folder]) for e in episodes_of(session)]
    whole = mine(episodes)
    parts = cut_in_two(whole.episodes, asked.share)
    first = mine([e for e in whole.episodes if e.session in set(parts.first)])
    print(f"{len(parts.first)} sessions to mine from, {len(parts.rest)} to see; {asked.shuffles} shuffles.\n")
    rng = random.Random(asked.seed)
    came_back(first, whole, parts, asked, rng)
    mends(first, whole.episodes, parts, asked, rng)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=HISTORY)
    parser.add_argument("--share", type=float, default=0.6, help="of the sessions to mine from")
    parser.add_argument("--shuffles", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--anonymous", action="store_true", help="no titles: they quote the transcripts")
    return parser.parse_args()


def cut_in_two(episodes: Sequence[Episode], share: float) -> Parts:
    began: dict[str, int] = {}
    for episode in episodes:
        began[episode.session] = min(episode.began_ms, began.get(episode.session, episode.began_ms))
    ordered = sorted(began, key=lambda s: (began[s], s))
    n = math.ceil(share * len(ordered))
    return Parts(tuple(ordered[:n]), tuple(ordered[n:]))


# Does it come back?


def came_back(first: Mined, whole: Mined, parts: Parts, asked: argparse.Namespace, rng: random.Random) -> None:
    held = incidence(whole.frictions)
    orders = [
        rng.sample((*parts.first, *parts.rest), len(parts.first) + len(parts.rest)) for _ in range(asked.shuffles)
    ]
    shuffled_rest = [set(order[len(parts.first) :]) for order in orders]
    rows = [recurrence_row(p, whole, held, parts, shuffled_rest) for p in first.patterns]
    print("### Does it come back? Sessions that show a pattern, early, predicted and seen\n")
    print("| # | kind | early | predicted later | seen | random orders | random pattern of its kind | what |")
    print("|---|---|---|---|---|---|---|---|")
    for number, (pattern, row) in enumerate(zip(first.patterns, rows, strict=True), 1):
        print(f"| {number} | {pattern.friction} | {' | '.join(row.cells)} | {title(pattern, asked)} |")
    inside = sum(row.inside for row in rows)
    again = sum(row.seen > 0 for row in rows)
    print(f"\n{len(rows)} patterns in at least two of {len(parts.first)} sessions. Seen again at least once:", end=" ")
    print(f"{again} ({shares(again, len(rows))}); predicted {sum(row.some for row in rows):.1f}.", end=" ")
    print(f"Seen within the predicted interval: {inside} ({shares(inside, len(rows))}).")
    print(f"In random orders: {orders_again(held, orders, len(parts.first))}.\n")


@dataclass(frozen=True)
class Row:
    cells: tuple[str, ...]
    seen: int
    some: float
    inside: bool


def recurrence_row(
    pattern: Pattern, whole: Mined, held: Mapping[Key, set[str]], parts: Parts, shuffled: Sequence[set[str]]
) -> Row:
    sessions = held.get(key_in(whole, pattern), set())
    seen = len(sessions & set(parts.rest))
    m, n1, n2 = len(pattern.sessions), len(parts.first), len(parts.rest)
    chances = predictive(m, n1, n2)
    low, high = quantile(chances, 0.025), quantile(chances, 0.975)
    dealt = sorted(len(sessions & rest) for rest in shuffled)
    back = recurrence(replace(pattern, cut_ms=whole_cut(whole, parts)), parts.rest, whole.frictions)
    random_rate = f"{back.background:.3f} (p {binomial_tail(seen, n2, back.background):.2g})" if back else "none"
    cells = (f"{m} of {n1}", f"{n2 * m / n1:.1f} [{low}, {high}] of {n2}", str(seen), spread(dealt), random_rate)
    return Row(cells, seen, 1 - chances[0], low <= seen <= high)


def whole_cut(whole: Mined, parts: Parts) -> int:
    """The moment at which the rest begins."""
    rest = set(parts.rest)
    return min(e.began_ms for e in whole.episodes if e.session in rest)


def incidence(frictions: Sequence[Friction]) -> dict[Key, set[str]]:
    held: dict[Key, set[str]] = defaultdict(set)
    for row in frictions:
        held[row.project, row.kind, row.signature].add(row.session)
    return held


def key_in(whole: Mined, pattern: Pattern) -> Key:
    """What the whole history calls the frictions that the first part had grouped."""
    members = {(m.session, m.failing) for m in pattern.members}
    named = Counter(
        f.signature for f in whole.frictions if f.kind is pattern.friction and (f.session, f.failing) in members
    )
    return pattern.project, str(pattern.friction), min(named, key=lambda s: (-named[s], s), default=pattern.signature)


def orders_again(held: Mapping[Key, set[str]], orders: Sequence[Sequence[str]], n: int) -> str:
    """Patterns found in the first part of random orders, and the share of them that the rest shows again."""
    found, again = [], []
    for order in orders:
        early, late = set(order[:n]), set(order[n:])
        mined = [sessions for sessions in held.values() if len(sessions & early) >= 2]
        found.append(len(mined))
        again.append(sum(bool(sessions & late) for sessions in mined) / max(1, len(mined)))
    return f"{spread(found)} patterns, {spread([100 * share for share in again])} % of them seen again"


# Does it mend?


def mends(
    first: Mined, episodes: Sequence[Episode], parts: Parts, asked: argparse.Namespace, rng: random.Random
) -> None:
    rules = [
        (n, p, p.sentence) for n, p in enumerate(first.patterns, 1) if p.sentence and not isinstance(p.sentence, Said)
    ]
    early = [e for e in episodes if e.session in set(parts.first)]
    late = [e for e in episodes if e.session in set(parts.rest)]
    sentences = [sentence for _, _, sentence in rules]
    before, after = replayed(sentences, early, early), replayed(sentences, episodes, late)
    dealt: list[list[int]] = [[] for _ in rules]
    began = time.perf_counter()
    for _ in range(asked.shuffles):
        again = shuffled_outcomes(late, rng)
        for nets, later in zip(dealt, replayed(sentences, [*early, *again], again), strict=True):
            nets.append(later.net)
    print("### Does it mend? Units (a person's day) in which a rule mends / breaks / does neither\n")
    print("| # | early | later | E | net later, outcomes dealt anew | as good or better | what |")
    print("|---|---|---|---|---|---|---|")
    for (number, pattern, _), old, new, nets in zip(rules, before, after, dealt, strict=True):
        luck = (sum(net >= new.net for net in nets) + 1) / (len(nets) + 1)
        e = e_value([1.0] * new.mended + [-1.0] * new.broken + [0.0] * new.even)
        print(f"| {number} | {old} | {new} | {e:.2g} | {spread(nets)} | {luck:.2g} | {title(pattern, asked)} |")
    predicted = [(old, new) for old, new in zip(before, after, strict=True) if new.mended + new.broken]
    right = sum((old.net > 0) == (new.net > 0) for old, new in predicted)
    print(f"\n{len(rules)} rules, {len(predicted)} with a known effect later; the early sign held for {right}", end=" ")
    print(f"({shares(right, len(predicted))}). Shuffles took {time.perf_counter() - began:.0f} s.")


def replayed(sentences: Sequence[Sentence], history: Sequence[Episode], on: Sequence[Episode]) -> list[Later]:
    agent = RecordedAgent(History.of(history))
    return [score(agent, sentence, on) for sentence in sentences]


def score(agent: RecordedAgent, sentence: Sentence, episodes: Sequence[Episode]) -> Later:
    """Nets by session, joined by day and person: never above zero where a session of the unit broke (gate.md)."""
    nets: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    unknown = 0
    for episode in episodes:
        for occurrence in agent.occurrences(sentence, episode):
            unknown += occurrence.effect is Effect.UNKNOWN
            if occurrence.effect in {Effect.PREVENTED, Effect.BROKEN}:
                unit = unit_of("", episode.began_ms, episode.person)
                nets[unit][episode.session] += 1 if occurrence.effect is Effect.PREVENTED else -1
    ds = [min(sum(by.values()), 0) if min(by.values()) < 0 else sum(by.values()) for by in nets.values()]
    return Later(sum(d > 0 for d in ds), sum(d < 0 for d in ds), sum(d == 0 for d in ds), unknown)


def shuffled_outcomes(episodes: Sequence[Episode], rng: random.Random) -> list[Episode]:
    """The same actions with their outcomes dealt out anew among those of one kind."""
    by_kind: dict[ActionKind, list[Action]] = defaultdict(list)
    for episode in episodes:
        for action in episode.actions:
            by_kind[action.kind].append(action)
    dealt: dict[ActionKind, list[Action]] = {kind: rng.sample(rows, len(rows)) for kind, rows in by_kind.items()}
    return [replace(e, actions=tuple(_with(a, dealt[a.kind].pop()) for a in e.actions)) for e in episodes]


def _with(action: Action, other: Action) -> Action:
    return replace(action, outcome=other.outcome, output=other.output, empty=other.empty, said=other.said)


# Figures


def predictive(m: int, n1: int, n2: int) -> list[float]:
    """P(k of n2 later sessions) after m of n1, beta-binomial with Jeffreys' prior."""
    a, b = m + 0.5, n1 - m + 0.5
    return [
        math.exp(
            math.lgamma(n2 + 1) - math.lgamma(k + 1) - math.lgamma(n2 - k + 1)
            + math.lgamma(k + a) + math.lgamma(n2 - k + b) - math.lgamma(n2 + a + b)
            + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
        )
        for k in range(n2 + 1)
    ]  # fmt: skip


def quantile(chances: Sequence[float], share: float) -> int:
    total = 0.0
    for k, chance in enumerate(chances):
        total += chance
        if total >= share:
            return k
    return len(chances) - 1


def spread(values: Sequence[float]) -> str:
    """Mean and the middle 95 %."""
    ordered = sorted(values)
    if not ordered:
        return "none"
    low, high = ordered[int(0.025 * len(ordered))], ordered[min(len(ordered) - 1, int(0.975 * len(ordered)))]
    return f"{sum(ordered) / len(ordered):.1f} [{low:.3g}, {high:.3g}]"


def shares(k: int, n: int) -> str:
    """A share with its exact interval (Clopper and Pearson), by bisection."""
    if not n:
        return "of none"
    low = _solve(lambda p: binomial_tail(k, n, p) - 0.025) if k else 0.0
    high = _solve(lambda p: 0.975 - binomial_tail(k + 1, n, p), falling=True) if k < n else 1.0
    return f"{100 * k / n:.0f} %, {100 * low:.0f} to {100 * high:.0f}"


def _solve(f: object, *, falling: bool = False) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        above = f(middle) > 0  # type: ignore[operator]
        low, high = (middle, high) if above == falling else (low, middle)
    return (low + high) / 2


def title(pattern: Pattern, asked: argparse.Namespace) -> str:
    form = type(pattern.sentence).__name__ if pattern.sentence else "no rule"
    return form if asked.anonymous else f"{pattern.title.replace('|', '¦')} ({form})"


if __name__ == "__main__":
    main()
