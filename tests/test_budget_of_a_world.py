"""What a night of this machine may spend: the month's other nights, prices by host, one pool a provider."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skillopt_core.protocols import Exhausted
from skillopt_sleep.clock import DAY_MS, FixedClock
from skillopt_sleep.config import Config
from skillopt_sleep.config.model import Budget as BudgetKeys
from skillopt_sleep.config.roles import Models, Price
from skillopt_sleep.domain.ledgers import Spend
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.models.pool import Rates
from skillopt_sleep.paths import Home
from skillopt_sleep.prices import DATE, TABLE
from skillopt_sleep.store.engine import Store, open_store
from skillopt_sleep.store.ledgers import Spending
from skillopt_sleep.world import LocalWorld

NOON = 1_795_953_600_000
SONNET = "claude-sonnet-4-5"


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def store(tmp_path: Path, clock: FixedClock) -> Iterator[Store]:
    with open_store(Home(tmp_path / "state").store, clock) as opened:
        yield opened


def world(store: Store, tmp_path: Path, clock: FixedClock, models: Models, **limits: float) -> LocalWorld:
    config = Config(models=models, budget=BudgetKeys(**limits))  # type: ignore[arg-type]
    return LocalWorld(
        Home(tmp_path / "state"), config, store, tmp_path, environ={"ANTHROPIC_API_KEY": "x"}, clock=clock
    )


def asked(**more: object) -> Models:
    return Models(backend="anthropic", optimizer=SONNET, **more)  # type: ignore[arg-type]


def test_a_month_counts_what_other_nights_counted_for_and_not_what_was_reported(
    store: Store, tmp_path: Path, clock: FixedClock
) -> None:
    other = Spending(store, "n-1")
    other.settle(other.reserve("optimizer", 9_000, 0.0), Spend(500, 0.0, True, 4_000, 0.0))
    budget = world(store, tmp_path, clock, asked(), month_tokens=5_000).budget("n-2")
    assert budget.limits.tokens == 1_000
    with pytest.raises(Exhausted):
        budget.reserve("optimizer", SONNET, "x", 2_000)


def test_a_month_that_is_over_counts_for_nothing(store: Store, tmp_path: Path, clock: FixedClock) -> None:
    Spending(store, "n-1").reserve("optimizer", 5_000, 0.0)
    clock.ms += 31 * DAY_MS
    assert world(store, tmp_path, clock, asked(), month_tokens=5_000).budget("n-2").limits.tokens == 5_000


def test_dollars_are_counted_by_the_table_at_the_providers_own_host_and_its_date_is_kept(
    store: Store, tmp_path: Path, clock: FixedClock
) -> None:
    here = world(store, tmp_path, clock, asked(), usd=1.0)
    here.ready()
    held = here.budget("n-1").reserve("optimizer", SONNET, "x" * 936, 1_000)
    assert held.usd == pytest.approx(TABLE["api.anthropic.com"][SONNET].of(1_000, 1_000))
    assert store.driver.execute("SELECT prices FROM spend").fetchall() == [(DATE,)]


def test_the_same_name_at_another_host_has_no_price_until_the_person_names_one(
    store: Store, tmp_path: Path, clock: FixedClock
) -> None:
    elsewhere = asked(anthropic_base_url="http://127.0.0.1:9")
    with pytest.raises(ConfigError, match="no price"):
        world(store, tmp_path, clock, elsewhere, usd=1.0).ready()
    named = asked(anthropic_base_url="http://127.0.0.1:9", prices={SONNET: Price(input=1.0, output=1.0)})
    here = world(store, tmp_path, clock, named, usd=1.0)
    here.ready()
    assert here.budget("n-1").reserve("optimizer", SONNET, "x" * 936, 1_000).usd == pytest.approx(0.002)


def test_roles_at_one_host_share_a_pool_with_the_configured_rates(
    store: Store, tmp_path: Path, clock: FixedClock
) -> None:
    models = asked(parallel=7, requests_per_minute=30.0, tokens_per_minute=1_000.0)
    here = world(store, tmp_path, clock, models)
    assert here.pool("api.example") is here.pool("api.example")
    assert here.pool("api.example") is not here.pool("other.example")
    assert here.pool("api.example").workers == 7
    assert here.pool("api.example").rates == Rates(30.0, 1_000.0)
