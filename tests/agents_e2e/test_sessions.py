"""What the harvesters find of what the real agents did, against the script by which they did it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillopt_harvesters import Author, Event, Kind, Outcome
from tests.agents_e2e import tasks
from tests.agents_e2e.runs import TYPED, Found, Harvested, Run
from tests.agents_e2e.terminal import LEAVE

pytestmark = [pytest.mark.agents, pytest.mark.slow]

PACKAGES = {"claude-code": "@anthropic-ai/claude-code", "codex": "@openai/codex", "copilot-cli": "@github/copilot"}


@pytest.fixture
def pairs(done: Run, harvested: Harvested) -> list[tuple[Found, tasks.Session]]:
    """Each session as found beside what it must be."""
    return list(zip(harvested.in_order(), tasks.expected(done.agent.name, done.form), strict=True))


def fits(event: Event, call: tasks.Call) -> bool:
    came = event.text or event.head
    return call.arguments in event.arguments and event.outcome is call.outcome and call.says in came


def test_every_prompt_is_found_exactly_once_and_resuming_adds_to_its_session(
    pairs: list[tuple[Found, tasks.Session]],
) -> None:
    for found, session in pairs:
        typed = [(event.kind, event.text, event.author) for event in found.of(*TYPED) if event.text != LEAVE]
        assert typed == [(turn.kind, turn.typed, Author.PERSON) for turn in session.turns]


def test_every_call_is_found_with_its_outcome_and_what_came_of_it(pairs: list[tuple[Found, tasks.Session]]) -> None:
    for found, session in pairs:
        calls = found.of(Kind.CALL)
        wanted = [call for turn in session.turns for call in turn.calls]
        assert len(calls) == len(wanted), calls
        assert [call for event, call in zip(calls, wanted, strict=True) if not fits(event, call)] == [], calls


def test_every_turn_has_its_answer(pairs: list[tuple[Found, tasks.Session]]) -> None:
    for found, session in pairs:
        answers = [event.text for event in found.of(Kind.ANSWER)]
        assert answers == [turn.answer for turn in session.turns if turn.answer]


def test_the_order_of_time_is_the_order_of_the_script(pairs: list[tuple[Found, tasks.Session]]) -> None:
    for found, session in pairs:
        kinds = [event.kind for event in found.of(*TYPED, Kind.CALL, Kind.ANSWER) if event.text != LEAVE]
        wanted = []
        for turn in session.turns:
            wanted += [
                turn.kind,
                *[Kind.CALL for _ in turn.calls],
                *[Kind.ANSWER for _ in [turn.answer] if turn.answer],
            ]
        assert kinds == wanted


def test_the_origin_the_place_and_the_version_are_known(
    done: Run, pairs: list[tuple[Found, tasks.Session]], agents_under_test: Path
) -> None:
    for found, session in pairs:
        assert found.facts.origin is session.origin
        assert found.facts.cwds == [str(done.work)]
        assert found.facts.agent_version == installed(agents_under_test, done.agent.name)


def installed(bin_folder: Path, agent: str) -> str:
    described = bin_folder.parent / PACKAGES[agent] / "package.json"
    return str(json.loads(described.read_text(encoding="utf-8"))["version"])


def test_the_tokens_of_each_answer_of_the_model_are_counted_exactly_once(
    done: Run, harvested: Harvested, pairs: list[tuple[Found, tasks.Session]]
) -> None:
    for found, session in pairs:
        asked = [turn.typed for turn in session.turns]
        asked += [tasks.HELPER] if session.helper and not harvested.helpers(found) else []
        assert tokens(found) == done.spent(asked)
    apart = [helper for found, _ in pairs for helper in harvested.helpers(found)]
    assert [tokens(helper) for helper in apart] == [done.spent([tasks.HELPER]) for _ in apart]


def tokens(found: Found) -> list[tuple[int, int, int]]:
    return sorted((usage.input, usage.output, usage.cache_read) for usage in found.usage.values())


def test_a_refusal_has_its_reason_and_a_rule_has_none(done: Run, pairs: list[tuple[Found, tasks.Session]]) -> None:
    calls = [(event, found) for found, _ in pairs for event in found.of(Kind.CALL)]
    ((stopped, found),) = [(e, f) for e, f in calls if e.outcome in (Outcome.REFUSED, Outcome.DENIED)]
    reasons = [(event.text, event.call_id) for event in found.of(Kind.REJECTION)]
    if done.form == "headless":
        assert (stopped.outcome, reasons) == (Outcome.DENIED, [])
    else:
        assert (stopped.outcome, reasons) == (Outcome.REFUSED, [(tasks.WHY, stopped.call_id)])


def test_nothing_of_a_sub_agent_is_the_persons(harvested: Harvested, pairs: list[tuple[Found, tasks.Session]]) -> None:
    for found, session in pairs:
        apart = harvested.helpers(found)
        inside = found.of(*TYPED, Kind.CALL, helper=True)
        theirs = [event for helper in apart for event in helper.of(*TYPED, Kind.CALL)]
        assert all(helper.facts.origin == "subagent" for helper in apart)
        assert [event.kind for event in (*inside, *theirs)] == [Kind.CALL for _ in session.helper]
        assert all(map(fits, (*inside, *theirs), session.helper))


def test_the_skill_was_offered_in_each_session_and_opened_once_where_it_was(
    pairs: list[tuple[Found, tasks.Session]],
) -> None:
    for found, session in pairs:
        seen = [event.head for event in found.of(Kind.SKILL) if event.tool == tasks.SKILL]
        assert sorted(seen) == ["offered"] + ["opened"] * session.opened


def test_the_program_stopped_nothing_and_the_person_only_what_they_refused(
    done: Run, pairs: list[tuple[Found, tasks.Session]]
) -> None:
    """Claude Code and Codex stop where the person says no; Copilot goes on with the reason."""
    stops = [event.author for found, _ in pairs for event in found.of(Kind.INTERRUPT)]
    stopping = done.form == "interactive" and done.agent.name != "copilot-cli"
    assert stops == [Author.PERSON] * stopping
    assert [event for found, _ in pairs for event in found.of(Kind.ERROR, Kind.COMPACTION)] == []


def test_every_record_is_of_a_known_kind(harvested: Harvested) -> None:
    assert (harvested.unknown, harvested.trouble) == (0, [])


def test_two_nights_with_a_resume_between_them_find_what_one_finds(done: Run, harvested: Harvested) -> None:
    twice = done.harvest_twice()
    assert twice.sessions.keys() == harvested.sessions.keys()
    for name, found in harvested.sessions.items():
        assert twice.sessions[name].events == found.events
        assert twice.sessions[name].usage == found.usage
