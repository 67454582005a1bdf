"""What outlives a night: trials, alpha, rejected edits, preferences, exposure, and the chained log."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import ModuleType

import pytest

from skillopt_core.gate import spent
from skillopt_core.memory import Memory
from skillopt_core.types import Edit, Outcome
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.domain.trials import Trial, TrialStep
from skillopt_sleep.redact import Redacted
from skillopt_sleep.store import evidence, evidence_log, facts
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.failures import Conflict


def trial(filled: ModuleType) -> Trial:
    return Trial(
        "x-1",
        filled.DOCUMENT,
        "c" * 64,
        "l" * 64,
        1_700_000_000_000,
        0.01,
        5,
        "rule-1",
        "reads before",
        2.5,
        0.4,
        first_night="n-1",
        nights=1,
    )


def test_a_trial_comes_back_with_its_steps(store: Store, filled: ModuleType) -> None:
    one = trial(filled)
    steps = [TrialStep("n-1", f"u{n}", 1.0, 1.2, 0.8, 7) for n in range(2)]
    evidence.save_trial(store, one, steps)
    later = replace(one, e=30.0, nights=2, state="accepted", ended_ms=9)
    evidence.save_trial(store, later, [TrialStep("n-2", "u9", -1.0, 0.9, 1.1, 8)])
    assert evidence.trials(store) == [later]
    assert evidence.trials(store, "running") == []
    assert [step.task for step in evidence.trial_steps(store, "x-1")] == ["u0", "u1", "u9"]


def test_a_unit_is_scored_once_in_a_trial(store: Store, filled: ModuleType) -> None:
    step = TrialStep("n-1", "u1", 1.0, 1.2, 0.8, 7)
    evidence.save_trial(store, trial(filled), [step])
    with pytest.raises(Conflict):
        evidence.save_trial(store, replace(trial(filled), e=99.0), [replace(step, night="n-2")])
    assert evidence.trials(store)[0].e == 2.5


def test_a_candidate_keeps_its_share_of_alpha_whoever_comes_after_it(store: Store) -> None:
    share = partial(spent, 0.05)
    first, second = (evidence.alpha_of(store, "trials", name, share) for name in ("c1", "c2"))
    assert (first, second) == (pytest.approx(spent(0.05, 1)), pytest.approx(spent(0.05, 2)))
    assert evidence.alpha_of(store, "trials", "c1", share) == first
    assert evidence.alpha_of(store, "of another agent", "c2", share) == first
    assert evidence.alpha_of(store, "trials", "c3", share) == pytest.approx(spent(0.05, 3))


def test_the_rejected_edit_memory_comes_back_as_the_core_had_it(store: Store, clock: FixedClock) -> None:
    memory = Memory()
    edit = Edit("add", "## Habits", "Use `pnpm`.")
    memory.remember(edit, "d" * 64, "breaks what worked")
    memory.remember(replace(edit, text="Use `yarn`."), "d" * 64, "no", Outcome.ABSTAIN)
    evidence.save_rejections(store, memory.rows, "n-1")
    assert tuple(evidence.rejections(store)) == memory.rows
    clock.ms += 1
    memory.remember(edit, "d" * 64, "still breaks")
    evidence.save_rejections(store, memory.rows[-1:], "n-2")
    assert tuple(evidence.rejections(store)) == memory.rows


def test_preferences_begin_and_end(store: Store, clock: FixedClock) -> None:
    def held() -> list[tuple[int, int | None]]:
        return store.driver.execute("SELECT since_ms, until_ms FROM preference ORDER BY since_ms, until_ms").fetchall()

    first = clock.ms
    evidence.note_preferences(store, [Redacted("use pnpm"), Redacted("be brief")], "configuration")
    evidence.note_preferences(store, [Redacted("never rebase")], "command line")
    clock.ms += 10
    evidence.note_preferences(store, [Redacted("use pnpm")], "configuration")
    assert held() == [(first, None), (first, None), (first, first + 10)]
    clock.ms += 10
    evidence.note_preferences(store, [Redacted("use pnpm"), Redacted("be brief")], "configuration")
    assert held()[-1] == (first + 20, None)
    since = {"use pnpm": first, "be brief": first + 20}
    assert evidence.preferred_since(store, "configuration") == since


def test_a_session_counts_once_in_a_rules_ledger_with_what_it_shows_of_the_skill(store: Store) -> None:
    store.driver.execute("PRAGMA foreign_keys = OFF")  # no events are needed here
    with store.write() as connection:
        for n, name in enumerate(("s-1", "s-2", "s-3"), 1):
            row = "INSERT INTO session (id, name, agent, native_id, started_ms) VALUES (?, ?, 'a', ?, ?)"
            connection.exec_driver_sql(row, (n, name, name, 10 - n))
        used = "INSERT INTO skill_use (session_id, event_id, skill, offered, opened) VALUES (?, ?, ?, ?, ?)"
        for n, shown in enumerate(
            ((1, "lessons", 1, 0), (1, "lessons", 1, 1), (1, "other", 1, 1), (2, "lessons", 1, 0))
        ):
            connection.exec_driver_sql(used, (shown[0], n, *shown[1:]))
    evidence.note_exposures(store, "rule-1", "lessons", {"s-1": True, "nowhere": True})
    evidence.note_exposures(store, "rule-1", "lessons", {"s-1": False, "s-2": False, "s-3": True})
    seen = [tuple(row.values()) for row in evidence.rule_ledger(store, "rule-1")]
    assert seen == [  # name, began, applicable, offered, opened, followed, friction
        ("s-3", 7, 1, None, None, None, 1), ("s-2", 8, 0, 1, 0, None, 0), ("s-1", 9, 0, 1, 1, None, 0),
    ]  # fmt: skip


def test_a_changed_entry_breaks_the_chain_where_it_is(store: Store) -> None:
    digests = [evidence_log.log_evidence(store, "verdict", [f"c-{n}"]) for n in range(4)]
    entries = evidence_log.entries(store)
    assert [entry.digest for entry in entries] == digests
    assert evidence_log.first_broken(entries) is None
    for n, change in ((2, {"kind": "other"}), (3, {"at_ms": 1}), (1, {"speaks_of": ("c-9",)})):
        changed = [replace(entry, **change) if entry.sequence == n else entry for entry in entries]
        assert evidence_log.first_broken(changed) == n
    assert evidence_log.first_broken([entry for entry in entries if entry.sequence != 2]) == 3


def test_what_the_log_last_said_is_found_by_its_index(store: Store) -> None:
    for kind, name in (
        ("verdict", "c-1"),
        ("verdict", "c-10"),
        ("verdict", "c-1"),
        ("proposal", "c-1"),
        ("verdict", 'c"'),
    ):
        with store.write() as connection:
            evidence_log.append(connection, kind, (name, f"digest {len(evidence_log.entries(store))}"), 1)
    with store.read() as connection:
        said = {name: facts._said_last(connection, "verdict", name) for name in ("c-1", "c-10", 'c"', "c", "c-2")}
    assert said == {"c-1": "digest 2", "c-10": "digest 1", 'c"': "digest 4", "c": None, "c-2": None}
    asked: list[str] = []
    store.driver.set_trace_callback(asked.append)
    with store.read() as connection:
        facts._said_last(connection, "verdict", "c-1")
    store.driver.set_trace_callback(None)
    (query,) = [sql for sql in asked if "evidence_log" in sql]
    (plan,) = [row[3] for row in store.driver.execute(f"EXPLAIN QUERY PLAN {query}")]
    assert plan.endswith("INDEX ix_evidence_log_fact (kind=? AND speaks_of>? AND speaks_of<?)")
