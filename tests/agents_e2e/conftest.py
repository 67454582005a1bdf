"""The runs of the real agents: each once, two at a time, whichever tests look at them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from tests.agents_e2e.agents import AGENTS
from tests.agents_e2e.box import SOCKETS
from tests.agents_e2e.runs import Harvested, Run, run
from tests.agents_e2e.tasks import Form

AT_ONCE = 2
"""Agents that run at the same time: as many as a small machine has cores."""
FORMS: tuple[Form, ...] = ("interactive", "busy", "headless")
ALL = [(agent, form) for form in FORMS for agent in reversed(AGENTS)]
"""The longest first."""


def named(form: Form) -> list[str]:
    return [f"{agent.name} {form}" for agent in AGENTS]


@pytest.fixture(scope="session", autouse=True)
def no_place_left() -> Iterator[None]:
    """The empty folder on which each box mounts its own goes with the last of them."""
    yield
    with suppress(OSError):
        SOCKETS.rmdir()


@pytest.fixture(scope="session")
def started(
    request: pytest.FixtureRequest, agents_under_test: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Future[Run]]]:
    """The runs that any chosen test looks at, begun."""
    specs = [getattr(item, "callspec", None) for item in request.session.items]
    wanted = {spec.params.get(name) for spec in specs if spec is not None for name in ("which", "busy")}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        begun = {}
        for agent, form in ALL:
            if (name := f"{agent.name} {form}") in wanted:
                folder = tmp_path_factory.mktemp(name.replace(" ", "-"))
                begun[name] = pool.submit(run, agent, form, folder, agents_under_test)
        yield begun
        pool.shutdown(cancel_futures=True)


@pytest.fixture(scope="session", params=[*named("headless"), *named("interactive")])
def which(request: pytest.FixtureRequest) -> str:
    """An agent and its form."""
    return str(request.param)


@pytest.fixture(scope="session")
def done(which: str, started: dict[str, Future[Run]]) -> Run:
    return started[which].result()


@pytest.fixture(scope="session", params=named("busy"))
def busy(request: pytest.FixtureRequest, started: dict[str, Future[Run]]) -> Run:
    """An agent that was spoken to while it worked."""
    return started[request.param].result()


@pytest.fixture(scope="session")
def harvested(done: Run) -> Harvested:
    return done.harvest()
