"""Prompts typed while the agent works, and work that the person stops: easily lost, or taken for what they are not."""

from __future__ import annotations

import pytest

from skillopt_harvesters import Author, Kind, Origin, Outcome
from tests.agents_e2e import tasks
from tests.agents_e2e.runs import TYPED, Found, Run
from tests.agents_e2e.terminal import LEAVE

pytestmark = [pytest.mark.agents, pytest.mark.slow]


@pytest.fixture
def found(busy: Run) -> Found:
    harvested = busy.harvest()
    assert (harvested.unknown, harvested.trouble) == (0, [])
    (session,) = harvested.sessions.values()
    return session


def test_what_was_typed_meanwhile_is_found_exactly_once(busy: Run, found: Found) -> None:
    typed = [(event.kind, event.text) for event in found.of(*TYPED) if event.text != LEAVE]
    assert typed == tasks.typed_while_busy(busy.agent.name)
    assert found.facts.origin is Origin.INTERACTIVE


def test_what_the_person_stopped_is_known_as_stopped(busy: Run, found: Found) -> None:
    (call,) = [event for event in found.of(Kind.CALL) if tasks.ENDLESSLY in event.arguments]
    assert call.outcome is (Outcome.REFUSED if busy.agent.name == "claude-code" else Outcome.INTERRUPTED)
    assert [event.author for event in found.of(Kind.INTERRUPT)] == [Author.PERSON]


def test_each_answer_of_the_model_is_paid_once(busy: Run, found: Found) -> None:
    assert sorted((u.input, u.output, u.cache_read) for u in found.usage.values()) == busy.spent(tasks.ANSWERS)
