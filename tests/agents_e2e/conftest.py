"""The runs of the real agents: each once, two at a time, whichever tests look at them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.agents_e2e.agents import AGENTS
from tests.agents_e2e.runs import Harvested, Run, run

AT_ONCE = 2
"""Agents that run at the same time: as many as a small machine has cores."""
FORMS = ("headless", "interactive")
ALL = [f"{agent.name} {form}" for form in reversed(FORMS) for agent in reversed(AGENTS)]
"""The longest first."""


@pytest.fixture(scope="session")
def started(
    request: pytest.FixtureRequest, agents_under_test: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Future[Run]]]:
    """The runs that any chosen test looks at, begun."""
    specs = [getattr(item, "callspec", None) for item in request.session.items]
    wanted = {spec.params.get("which") for spec in specs if spec is not None}
    by_name = {agent.name: agent for agent in AGENTS}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        begun = {}
        for which in ALL:
            if which in wanted:
                name, form = which.split()
                folder = tmp_path_factory.mktemp(which.replace(" ", "-"))
                begun[which] = pool.submit(run, by_name[name], form, folder, agents_under_test)
        yield begun
        pool.shutdown(cancel_futures=True)


@pytest.fixture(scope="session", params=sorted(ALL))
def which(request: pytest.FixtureRequest) -> str:
    """An agent and its form."""
    return str(request.param)


@pytest.fixture(scope="session")
def done(which: str, started: dict[str, Future[Run]]) -> Run:
    return started[which].result()


@pytest.fixture(scope="session")
def harvested(done: Run) -> Harvested:
    return done.harvest()
