"""Whether a budget can be overrun: random configurations against a server that keeps its own account.

    python bench/budget.py [--configurations N] [--pairs N] [--seed S]

Each configuration has limits (tokens, dollars, calls, minutes; of a night and of a month), a model with or without a
price, 1 to 32 calls in flight, and a provider with habits of its own (serving.py): a tokenizer, usage reports that are
true, absent, zero, low, high or no numbers, and faults (429 with Retry-After, 500, answers that are cut, no JSON or
never come). Both SDKs ask over HTTP on loopback; a third of the configurations are begun anew with what is on disk.
A provider that reports less than the truth has a tokenizer that is no denser than `likely` (skillopt_sleep/tokens.py)
says; one that tells the truth or nothing may have a token for each byte, and may think unseen.

A pair is two processes over one home, as a night and a training are, each with 8 calls in flight and with the whole of
one month's limits before it.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from serving import FAULTS, REPORTS, Account, Habits, Provider, Tokenizer

from skillopt_core.protocols import Exhausted
from skillopt_sleep.budget import Budget, Limits, Price
from skillopt_sleep.clock import FixedClock, SystemClock
from skillopt_sleep.domain.ledgers import Month
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.models.anthropic import AnthropicCompleter
from skillopt_sleep.models.base import Completer, Completion
from skillopt_sleep.models.openai import OpenAICompleter
from skillopt_sleep.redact import Redacted
from skillopt_sleep.store.engine import Store, open_store
from skillopt_sleep.store.ledgers import Completions, Spending
from skillopt_sleep.tokens import size_of

CALLS, MAX_OUTPUT, MODEL = 150, 120, "scripted"
"""Prompts of a configuration, at most, and the tokens that an answer may have."""
PRICE = Price(3.0, 15.0)
TEXTS = (
    "the person said that the tests are run with make check and never by hand, twice in one week; ",
    '{"items": [1, 2, 3], "name": "refused", "rule": "Do not run `git push --force`."}\n',
    "Vor jedem Push werden die Tests ausgeführt, außer in der Dokumentation. ",
    "推送之前先运行测试，不要使用强制推送。",
    "def test_a_rule(tmp_path: Path) -> None:\n    assert run(tmp_path) == 0\n",
)


@dataclass(frozen=True)
class Configuration:
    """What one trial is made of."""

    seed: int
    sdk: str
    limits: Limits
    priced: bool
    workers: int
    habits: Habits
    restarts: bool


@dataclass(frozen=True)
class Outcome:
    """What came of it: by the server's account, and by the budget's own."""

    of: Configuration
    requests: int
    tokens: int
    usd: float
    peak: int
    late: int
    asked_twice: int
    kinds: Counter[str]
    counted: int
    exact: bool
    refused: bool
    halves: tuple[int, ...] = ()

    @property
    def overrun(self) -> list[str]:
        """The limits that the server's account is beyond."""
        limits = self.of.limits
        return [
            name
            for name, limit, used in (
                ("tokens", limits.tokens, self.tokens),
                ("calls", limits.calls, self.requests),
                ("usd", limits.usd, self.usd),
            )
            if limit is not None and used > limit + 1e-9
        ]

    @property
    def wrong(self) -> list[str]:
        """Everything that must not be."""
        found = [f"{name} overrun" for name in self.overrun]
        found += ["more in flight than there are workers"] if self.peak > self.of.workers else []
        found += ["begun after the time was over"] if self.late > self.of.workers else []
        found += ["an answer was asked for twice"] if self.asked_twice else []
        unpriced = self.of.limits.usd is not None and not self.of.priced
        found += ["no price and yet asked"] if unpriced and (self.requests or not self.refused) else []
        lied = set(self.kinds) - {"true", "429"}
        found += ["said to be exact"] if lied & {"absent", "zero", "no number", "hung up", "cut"} and self.exact else []
        return found


def configuration(seed: int) -> Configuration:
    """A random configuration, the same for the same seed."""
    chance = random.Random(seed)
    some = lambda share, low, high: chance.randint(low, high) if chance.random() < share else None  # noqa: E731
    tonight = Limits(some(0.7, 300, 12_000), some(0.3, 1, 80), _dollars(some(0.4, 1, 60)), some(0.2, 10, 600))
    month = Limits(some(0.3, 300, 20_000), some(0.2, 1, 120), _dollars(some(0.2, 1, 80)), None)
    earlier = Limits(chance.randint(0, 9_000), chance.randint(0, 40), chance.random() / 50, 0.0)
    reports = tuple(chance.sample(REPORTS, chance.choice([1, 1, 2, 3, len(REPORTS)])))
    return Configuration(
        seed=seed,
        sdk=chance.choice(["anthropic", "openai"]),
        limits=tonight.within(month, earlier),
        priced=chance.random() < 0.85,
        workers=chance.choice([1, 2, 4, 8, 16, 32]),
        habits=Habits(
            _tokenizer(chance, dense=not {"low", "high"} & set(reports)),
            wrapping=chance.choice([8, 60]),
            reports=reports,
            faults=_faults(chance),
            seconds=chance.choice([0.01, 0.03]),
            thinks=chance.choice([0.0, 0.5]) if set(reports) <= {"true", "absent"} else 0.0,
        ),
        restarts=chance.random() < 0.33,
    )


def tried(one: Configuration, provider: Provider, store: Store) -> Outcome:
    """Ask until the budget or the prompts are out; what is on disk outlives the objects that asked."""
    name, chance = f"c{one.seed}", random.Random(one.seed + 1)
    clock, late = FixedClock(0), 0

    def tick() -> None:
        nonlocal late
        late += one.limits.seconds is not None and clock.ms >= one.limits.seconds * 1000
        clock.ms += 1000

    account = provider.accounts[name] = Account(one.habits, random.Random(one.seed + 2), tick)
    prompts, refused = list(_prompts(chance)), False
    try:
        for part in (prompts[: CALLS // 3], prompts) if one.restarts else (prompts,):
            budget = _budget(one, name, store, clock)
            _asked(Completion(
                _completer(one.sdk, provider.url(name)), budget, Completions(store, Redacted), night=name,
                role="optimizer", redact=Redacted, sleep=lambda s: time.sleep(min(s, 0.01)), max_output=MAX_OUTPUT,
                workers=one.workers,
            ), part, chance)  # fmt: skip
    except ConfigError:
        refused = True
    _, spend = Spending(store, name).spent()
    return Outcome(
        of=one,
        requests=account.requests,
        tokens=account.input + account.output,
        usd=PRICE.of(account.input, account.output),
        peak=account.peak,
        late=late,
        asked_twice=sum(n - 1 for n in account.answered.values()),
        kinds=account.kinds,
        counted=spend.counts,
        exact=spend.exact,
        refused=refused,
    )


def trials(seeds: Iterable[int]) -> Iterator[Outcome]:
    """The outcome of each seed's configuration, over one provider and one store."""
    provider = Provider()
    try:
        with tempfile.TemporaryDirectory() as place, open_store(Path(place) / "store.db", SystemClock()) as store:
            for seed in seeds:
                yield tried(configuration(seed), provider, store)
    finally:
        provider.close()


def pairs(seeds: Iterable[int]) -> Iterator[Outcome]:
    """The outcome of two processes over one home for each seed, each in a home of its own."""
    provider = Provider()
    try:
        for seed in seeds:
            with tempfile.TemporaryDirectory() as place:
                yield _paired(seed, provider, Path(place) / "store.db")
    finally:
        provider.close()


def half(seed: int, number: int, path: Path, url: str) -> None:
    """One process of a pair: asks until the month or its prompts are out."""
    one, chance = _pair(seed), random.Random(seed + 1 + number)
    with open_store(path, SystemClock()) as store:
        ledger = Spending(store, f"half-{number}", month=Month(one.limits))
        complete = Completion(
            _completer(one.sdk, url), Budget(Limits(), ledger, SystemClock(), {MODEL: PRICE}),
            Completions(store, Redacted), night=f"half-{number}", role="optimizer", redact=Redacted,
            sleep=lambda s: time.sleep(min(s, 0.01)), max_output=MAX_OUTPUT, workers=one.workers // 2,
        )  # fmt: skip
        print("ready", flush=True)
        sys.stdin.readline()
        _asked(complete, list(_prompts(chance, number * CALLS)), chance)


def _pair(seed: int) -> Configuration:
    """A configuration whose limits are those of the month, any of them tight for both."""
    chance = random.Random(seed + 7)
    which = seed % 3
    limits = Limits(
        tokens=chance.randint(2_000, 40_000) if which == 0 else None,
        calls=chance.randint(5, 90) if which == 1 else None,
        usd=chance.randint(20, 200) / 1000 if which == 2 else None,
    )
    return replace(configuration(seed), limits=limits, priced=True, workers=16, restarts=False)


def _paired(seed: int, provider: Provider, path: Path) -> Outcome:
    one, name = _pair(seed), f"pair-{seed}"
    account = provider.accounts[name] = Account(one.habits, random.Random(seed + 2))
    this = [sys.executable, str(Path(__file__).resolve()), "--seed", str(seed)]
    rest = ["--store", str(path), "--url", provider.url(name)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    halves = [subprocess.Popen([*this, "--half", str(number), *rest], text=True, **pipes) for number in (0, 1)]
    for process in halves:
        process.stdout.readline()
    for process in halves:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in halves:
        process.communicate()
        if process.returncode:
            raise RuntimeError(f"seed {seed}: a process of the pair ended with {process.returncode}")
    with open_store(path, SystemClock()) as store:
        spends = [Spending(store, f"half-{number}").spent() for number in (0, 1)]
    return Outcome(
        of=one,
        requests=account.requests,
        tokens=account.input + account.output,
        usd=PRICE.of(account.input, account.output),
        peak=account.peak,
        late=0,
        asked_twice=sum(n - 1 for n in account.answered.values()),
        kinds=account.kinds,
        counted=sum(spend.counts for _, spend in spends),
        exact=all(spend.exact for _, spend in spends),
        refused=False,
        halves=tuple(calls for calls, _ in spends),
    )


def _budget(one: Configuration, name: str, store: Store, clock: FixedClock) -> Budget:
    prices = {MODEL: PRICE} if one.priced else {}
    return Budget(one.limits, Spending(store, name), clock, prices, began_ms=0)


def _asked(complete: Completion, prompts: list[str], chance: random.Random) -> None:
    left = list(prompts)
    try:
        while left:
            size = chance.randint(1, 40)
            complete(left[:size])
            del left[:size]
    except Exhausted:
        return


def _completer(sdk: str, url: str) -> Completer:
    if sdk == "anthropic":
        return AnthropicCompleter(MODEL, base_url=url)
    return OpenAICompleter(MODEL, base_url=f"{url}/v1")


def _prompts(chance: random.Random, first: int = 0) -> Iterator[str]:
    for number in range(first, first + CALLS):
        yield f"{number} " + chance.choice(TEXTS) * chance.randint(0, 12)


def _tokenizer(chance: random.Random, *, dense: bool) -> Tokenizer:
    """Tokens of a text: a share of what is likely, or of its bytes."""
    share = chance.choice([chance.uniform(0.5, 1.0), 1.0])
    if dense and chance.random() < 0.3:
        return lambda text: int(size_of(text).most * share) or 1
    return lambda text: int(size_of(text).likely * share) or 1


def _faults(chance: random.Random) -> dict[str, float]:
    """None, some, or a storm of 429."""
    weather = chance.random()
    if weather < 0.3:
        return {}
    if weather < 0.45:
        return {"429": 0.8}
    return {fault: chance.uniform(0.0, 0.12) for fault in FAULTS}


def _dollars(cents: int | None) -> float | None:
    return None if cents is None else cents / 1000


def main() -> None:
    """Print one line for each configuration that went wrong, and the sums."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--configurations", type=int, default=1000)
    options.add_argument("--pairs", type=int, default=0, help="pairs of processes, in place of configurations")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--half", type=int, help=argparse.SUPPRESS)
    options.add_argument("--store", type=Path, help=argparse.SUPPRESS)
    options.add_argument("--url", help=argparse.SUPPRESS)
    asked = options.parse_args()
    os.environ |= {"ANTHROPIC_API_KEY": "x", "OPENAI_API_KEY": "x"}
    if asked.half is not None:
        half(asked.seed, asked.half, asked.store, asked.url)
        return
    began, outcomes = time.perf_counter(), []
    seeds = range(asked.seed, asked.seed + (asked.pairs or asked.configurations))
    for outcome in pairs(seeds) if asked.pairs else trials(seeds):
        outcomes.append(outcome)
        if outcome.wrong:
            print(f"seed {outcome.of.seed}: {', '.join(outcome.wrong)}: {outcome}")
    wrong = sum(bool(outcome.wrong) for outcome in outcomes)
    what = "pairs" if asked.pairs else "configurations"
    print(f"{len(outcomes)} {what}, {sum(o.requests for o in outcomes)} requests, {wrong} wrong, "
          f"{time.perf_counter() - began:.0f} s")  # fmt: skip
    print(f"token limits, all reports: {_shares(outcomes)}")
    print(f"token limits, true reports: {_shares([o for o in outcomes if o.of.habits.reports == ('true',)])}")
    print("answers:", dict(sum((o.kinds for o in outcomes), Counter())))


def _shares(outcomes: Iterable[Outcome]) -> str:
    """What the server's account says was used of a limit in tokens, and what the budget counted of it."""
    limited = [(o.tokens / o.of.limits.tokens, o.counted / o.of.limits.tokens) for o in outcomes if o.of.limits.tokens]
    if not limited:
        return "none"
    used, counted = ([pair[n] for pair in limited] for n in (0, 1))
    median, most = statistics.median(used), max(used)
    return f"{len(limited)}, used {median:.2f} (median), {most:.3f} (most); counted {max(counted):.3f} (most)"


if __name__ == "__main__":
    main()
