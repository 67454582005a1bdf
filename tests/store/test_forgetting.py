"""What forgetting reaches beside the words themselves: what was derived, what was reported, how it comes back."""

from __future__ import annotations

import json
from dataclasses import replace
from types import ModuleType

import pytest

from skillopt_core.types import Edit, Outcome, Score, Trajectory
from skillopt_sleep.domain.frictions import Pattern
from skillopt_sleep.domain.journal import Night
from skillopt_sleep.domain.ledgers import AttemptKey
from skillopt_sleep.domain.tasks import KeptTask, TaskCheck
from skillopt_sleep.domain.trials import Trial, TrialStep
from skillopt_sleep.errors import NotFound
from skillopt_sleep.redact import Redacted
from skillopt_sleep.store import evidence, evidence_log, keeping, mining, nights
from skillopt_sleep.store.bodies import FORGOTTEN
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.forgetting import forget_session, forget_text
from skillopt_sleep.store.ledgers import Attempts
from skillopt_sleep.store.proposals import find_proposal, save_proposal
from skillopt_sleep.store.schema import metadata

WORD = 'Quetzal "c"\nöatl'


def seen(store: Store) -> str:
    """Every word in the store: all columns of all rows, JSON unescaped, and all bodies."""
    with store.read() as connection:
        rows = [str(row) for table in metadata.sorted_tables for row in connection.execute(table.select())]
    found = "\n".join(rows) + "\n".join(content.decode("utf-8", "replace") for _, content in keeping.contents(store))
    while "\\" in found:
        found = found.replace("\\n", "\n").replace('\\"', '"').replace("\\u00f6", "ö").replace("\\", "")
    return found


def sessions(store: Store) -> None:
    with store.write() as connection:
        for n in (1, 2):
            connection.exec_driver_sql(
                "INSERT INTO session (name, agent, native_id, started_ms, ended_ms) VALUES (?, 'a', ?, 5, ?)",
                (f"s-{n}", f"native-{n}", 10 * n),
            )


def mined(store: Store, filled: ModuleType, night: Night, *names: str) -> Pattern:
    """A pattern of some sessions, its rule and its trial."""
    pattern: Pattern = replace(filled.pattern((), (), ()), sessions=names, title=f"`{WORD}` is refused")
    mining.save_patterns(store, [pattern], night=night.id, normaliser="1")
    mining.note_made_from(store, "rule-1", names)
    trial = Trial("t-1", filled.DOCUMENT, "c" * 64, "l" * 64, 5, 0.05, 6, rule="rule-1", predicate=f"uses {WORD}")
    evidence.save_trial(store, trial, [TrialStep(night.id, "unit-1", 1.0, 2.0, 0.5, 7)])
    return pattern


def test_rules_and_trials_that_rest_on_a_forgotten_session_end_and_begin_anew(store: Store, filled: ModuleType) -> None:
    sessions(store)
    night = filled.night(store)
    titled = replace(filled.edit(3, "Use bun"), title=f"`{WORD}` is refused", predicate="", provenance=())
    proposal = filled.proposal(night.id)
    save_proposal(store, replace(proposal, edits=(*proposal.edits, titled)))
    pattern = mined(store, filled, night, "s-1", "s-2")
    done = forget_session(store, "native-1")
    assert (done.session, done.rules, done.trials) == ("s-1", ["rule-1"], ["t-1"])
    assert done.patterns == [mining.pattern_id(pattern.key)]
    (trial,) = evidence.trials(store)
    assert (trial.state, trial.why) == ("dropped", "what it rests on was forgotten")
    assert evidence.trial_steps(store, "t-1") == []
    state = "SELECT state, title FROM rule WHERE id = 'rule-1'"
    assert store.driver.execute(state).fetchone() == ("retired", FORGOTTEN)
    assert WORD not in seen(store)
    mined(store, filled, night, "s-2")
    save_proposal(store, filled.proposal(night.id))
    assert store.driver.execute("SELECT retired_ms, title FROM pattern").fetchone() == (None, f"`{WORD}` is refused")
    assert [one.state for one in evidence.trials(store)] == ["running"]
    assert len(evidence.trial_steps(store, "t-1")) == 1
    assert store.driver.execute(state).fetchone() == ("tried", "Title 1")


def test_attempts_at_the_episodes_of_a_forgotten_session_say_nothing_any_more(store: Store) -> None:
    sessions(store)
    ours, others = (AttemptKey("c-1", f"{name}:0", "d" * 64, 0, "recorded") for name in ("s-1", "s-10"))
    attempts = Attempts(store, "n", Redacted)
    rows = [(key, Trajectory(key.task, 0, key.skill, Score(0, 0, (f"{word} failed",)), word, True, True, None, word))
            for key, word in ((ours, WORD), (others, "kept"))]  # fmt: skip
    attempts.save(rows)
    forget_session(store, "s-1")
    known = attempts.known([ours, others])
    assert known[ours.digest].transcript == FORGOTTEN
    assert known[ours.digest].score.failed == ()
    assert known[others.digest].transcript == "kept"
    assert known[others.digest].score.failed == ("kept failed",)
    assert WORD not in seen(store)


def test_the_quotes_of_a_forgotten_session_leave_the_reports_of_nights(store: Store, filled: ModuleType) -> None:
    sessions(store)
    night = filled.night(store)
    quotes = [{"session": "s-1", "quote": WORD}, {"session": "s-2", "quote": "kept"}]
    nights.end_night(store, night, "done", report={"skills": [{"edits": [{"provenance": quotes}]}]})
    forget_session(store, "s-1")
    (skill,) = nights.report_of(store, night.id)["skills"]
    assert [quote["quote"] for quote in skill["edits"][0]["provenance"]] == [FORGOTTEN, "kept"]


def test_a_text_is_forgotten_wherever_it_stands(store: Store, filled: ModuleType) -> None:
    sessions(store)
    night = filled.night(store)
    mined(store, filled, night, "s-1", "s-2")
    edit = replace(filled.edit(1, "Use it"), title=WORD, predicate=WORD, why=WORD, verdict=filled.verdict(why=WORD))
    edit = replace(edit, edit=Edit("add", "## Habits", f"Use {WORD}", why=WORD, origin=WORD))
    proposal = replace(filled.proposal(night.id), edits=(edit,), verdict=filled.verdict(needs=WORD))
    save_proposal(store, proposal)
    nights.begin_step(store, night, "evolve", "practise")
    nights.end_step(store, night, "practise", {"why": WORD, "kept": "this"})
    check = TaskCheck("free_of", json.dumps({"command": f"use {WORD}"}))
    mining.save_tasks(store, [KeptTask("t-1", "do it", "tw", "gate", 5, session="s-1", checks=(check,))])
    nights.note_skip(store, "2026-01-01", WORD)
    assert WORD in seen(store)
    done = forget_text(store, WORD)
    assert WORD not in seen(store)
    assert done.proposals == ["p-1"]
    assert done.rules == ["rule-1"]
    assert done.trials == ["t-1"]
    found = find_proposal(store, "p-1")
    assert found.quotes_forgotten
    assert found.edits[0].title == found.edits[0].edit.text == FORGOTTEN
    assert found.edits[0].verdict.outcome is Outcome.SUPPORTED
    assert all(check.sound for check in keeping.verify(store))


def test_a_night_that_goes_on_does_again_what_held_a_forgotten_text(store: Store, filled: ModuleType) -> None:
    night = filled.night(store)
    for key, result in (("first", {"why": f"it said {WORD}"}), ("second", {"why": "kept"})):
        nights.begin_step(store, night, "evolve", key)
        nights.end_step(store, night, key, result)
    forget_text(store, WORD)
    assert nights.step_done(store, night, "first") is None
    assert nights.step_done(store, night, "second") == {"why": "kept"}


def test_kinds_that_a_model_phrased_with_a_forgotten_text_are_gone(store: Store, filled: ModuleType) -> None:
    night, key = filled.night(store), "kinds /home/kim/shop"
    nights.begin_step(store, night, "mine", key)
    kinds = [{"name": "one", "rule": f"Do not {WORD}"}, {"name": "two", "rule": "supported"}]
    nights.end_step(store, night, key, {"kinds": kinds, "asked_ms": 5})
    nights.end_night(store, night, "done")
    forget_text(store, WORD)
    assert nights.last_result(store, key) == {"kinds": kinds[1:], "asked_ms": 5}


def test_a_proposal_that_is_staged_again_without_the_quotes_is_marked_no_more(store: Store, filled: ModuleType) -> None:
    night = filled.night(store)
    save_proposal(store, filled.proposal(night.id))
    forget_text(store, "no, Use `pnpm`")
    marked = find_proposal(store, "p-1")
    save_proposal(store, marked)
    assert find_proposal(store, "p-1").quotes_forgotten, "looking at it again does not take the mark away"
    save_proposal(store, replace(marked, edits=(filled.edit(1, "Use bun"),), quotes_forgotten=False))
    assert not find_proposal(store, "p-1").quotes_forgotten


def test_the_log_says_that_something_was_forgotten_and_holds(store: Store, filled: ModuleType) -> None:
    sessions(store)
    save_proposal(store, filled.proposal(filled.night(store).id))
    forget_text(store, "no, Use `pnpm`")
    forget_session(store, "s-1")
    last = evidence_log.entries(store)[-2:]
    assert [(entry.kind, entry.speaks_of[0]) for entry in last] == [("forgotten", ""), ("forgotten", "s-1")]
    assert [len(entry.speaks_of) for entry in last] == [2, 3], "the digests of what was buried"
    assert all(check.sound for check in keeping.verify(store))


@pytest.mark.parametrize("name", ["s-3", "", "%"])
def test_only_a_session_that_is_there_can_be_forgotten(store: Store, name: str) -> None:
    sessions(store)
    before = keeping.counts(store)
    with pytest.raises(NotFound, match="no such session"):
        forget_session(store, name)
    assert keeping.counts(store) == before
