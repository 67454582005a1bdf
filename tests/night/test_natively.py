"""Nights in which an agent attempts the mined tasks: a program that behaves like Claude Code in its place."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from skillopt_core.gate import Calibration, spent
from skillopt_core.types import Outcome
from skillopt_sleep.agents.native import NativeAgent
from skillopt_sleep.calibrate import Calibrated
from skillopt_sleep.cli.night import what_it_wants
from skillopt_sleep.clock import DAY_MS, FixedClock, parse_iso
from skillopt_sleep.config import Config
from skillopt_sleep.domain.proposals import ProposedEdit
from skillopt_sleep.domain.reports import NightReport
from skillopt_sleep.errors import BudgetTooSmall, NotSignedIn
from skillopt_sleep.night import sleep
from skillopt_sleep.night.dry import plan_of
from skillopt_sleep.paths import Home
from skillopt_sleep.store.engine import open_store
from skillopt_sleep.world import LocalWorld, Silence
from tests.agents.pretending import pretender
from tests.night import made

pytestmark = pytest.mark.sandbox

OPENS = {"open": made.SKILL}
NOW = int(made.FIRST.timestamp() * 1000) + 60 * DAY_MS


class Heard(Silence):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)


@dataclass
class Stage:
    """A made home, an agent, and a state of ours."""

    folder: Path
    looks: int = 9
    stamps: int = 6
    script: dict[str, Any] = field(default_factory=lambda: dict(made.script(OPENS)))
    heard: Heard = field(default_factory=Heard)

    def __post_init__(self) -> None:
        self.made = made.make(self.folder, self.looks, self.stamps)

    @contextmanager
    def open(self, now_ms: int = NOW, **sections: dict[str, Any]) -> Iterator[LocalWorld]:
        program = pretender(self.folder / "agent", self.script)
        agents = {"commands": {"claude": (str(program),)}, "deterministic": True, **sections.pop("agents", {})}
        config = Config.model_validate({"models": {"target_backend": "claude"}, "agents": agents, **sections})
        clock = FixedClock(now_ms)
        with open_store(self.folder / "state/store.db", clock) as store:
            home = Home(self.folder / "state")
            yield LocalWorld(
                home, config, store, self.made.home, environ={}, clock=clock, progress=self.heard
            )  # fmt: skip

    def night(self, now_ms: int = NOW, **sections: dict[str, Any]) -> NightReport:
        with self.open(now_ms, **sections) as world:
            return sleep(world)

    def rows(self, query: str) -> Sequence[Any]:
        with self.open() as world, world.store.read() as connection:
            return connection.exec_driver_sql(query).fetchall()


def edits(report: NightReport) -> dict[str, ProposedEdit]:
    """The two rules."""
    every = [edit for document in report.documents for edit in document.edits]
    return {name: edit for name in (made.HELPS, made.HURTS) for edit in every if name in edit.edit.text}


@pytest.fixture(scope="module")
def slept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Stage, NightReport]:
    stage = Stage(tmp_path_factory.mktemp("natively"))
    return stage, stage.night(budget={"tokens": 10_000_000})


def test_a_rule_that_helps_is_accepted_and_one_that_hurts_is_rejected(slept: tuple[Stage, NightReport]) -> None:
    _, report = slept
    found = edits(report)
    helps, hurts = found[made.HELPS].verdict, found[made.HURTS].verdict
    assert report.evidence == "replayed"
    assert (helps.outcome, helps.before, helps.after, helps.opened) == (Outcome.ACCEPT, pytest.approx(3 / 12), 1.0, 1.0)
    assert (helps.evidence, helps.deterministic, helps.coverage) == ("replayed", True, 1.0)
    assert (hurts.outcome, hurts.evidence) == (Outcome.REJECT, "replayed")
    assert hurts.counts["losses"] == 6.0
    (learned,) = [one for one in report.documents if one.document.name == made.SKILL]
    assert learned.proposal


def test_what_was_attempted_is_counted_paid_for_and_said(slept: tuple[Stage, NightReport]) -> None:
    stage, report = slept
    (target,) = [use for use in report.models if use.role == "target"]
    counted = stage.rows("SELECT count(*), count(DISTINCT key), count(DISTINCT native_session) FROM attempt")[0]
    assert target.prompts == counted[0] == counted[1] == counted[2] == report.budget.calls.spent
    assert target.failed == {}
    assert report.budget.tokens.spent == 3 * 1100 * target.prompts, "by the agent's own figures"
    assert report.budget.tokens.exact
    assert any("2 attempts as baseline, then 9 tasks and 3 others" in line for line in stage.heard.lines)
    assert any("tokens buy 58 of 58 attempts" in line for line in stage.heard.lines)
    assert not [warning for warning in report.warnings if "optimizer tokens" in warning]


def test_the_day_after_nothing_is_attempted_again_and_the_evidence_stands(slept: tuple[Stage, NightReport]) -> None:
    stage, before = slept
    attempts = stage.rows("SELECT count(*) FROM attempt")[0][0]
    after = stage.night(NOW + DAY_MS, budget={"tokens": 10_000_000})
    assert edits(after)[made.HELPS].verdict.outcome is Outcome.ACCEPT
    assert edits(after)[made.HELPS].verdict.units == edits(before)[made.HELPS].verdict.units
    tried = edits(after)[made.HURTS]
    assert tried.verdict.outcome is Outcome.NO_CHANGE
    assert "tried before on this text (reject)" in tried.why
    protected = 2 * 3
    assert stage.rows("SELECT count(*) FROM attempt")[0][0] == attempts + protected, "what worked is looked at anew"


def test_a_skill_that_is_never_opened_has_no_exposure(tmp_path: Path) -> None:
    stage = Stage(tmp_path, looks=3, stamps=made.NONE, script=dict(made.script(None)))
    verdict = edits(stage.night())[made.HELPS].verdict
    assert (verdict.outcome, verdict.opened) == (Outcome.NO_EXPOSURE, 0.0)


def test_trials_that_share_one_alpha_keep_their_share_over_nights(tmp_path: Path) -> None:
    stage, gate = Stage(tmp_path, looks=3, stamps=3), {"alpha_policy": "spend", "alpha": 0.05}
    shares = "SELECT nth, amount, substr(candidate, 1, 14) FROM alpha_spend ORDER BY nth"
    first = edits(stage.night(gate=gate, budget={"tokens": 10_000_000}))
    kept = stage.rows(shares)
    assert [tuple(row[:2]) for row in kept] == [(1, spent(0.05, 1)), (2, spent(0.05, 2))]
    assert sorted(one.verdict.alpha or 0.0 for one in first.values()) == [spent(0.05, 2), spent(0.05, 1)]
    again = edits(stage.night(NOW + DAY_MS, gate=gate, budget={"tokens": 10_000_000}))
    assert stage.rows(shares) == kept
    assert again[made.HELPS].verdict.alpha == first[made.HELPS].verdict.alpha


def test_where_nothing_fails_there_is_nothing_to_gain_and_no_pair_is_paid_for(tmp_path: Path) -> None:
    script = {made.LOOKS: [{"shell": "cat config/app.yaml"}, {"text": "Done."}]}
    stage = Stage(tmp_path, looks=3, stamps=made.NONE, script=script)
    edit = edits(stage.night())[made.HELPS]
    assert edit.verdict.outcome is Outcome.NO_CHANGE
    assert edit.why == "nothing to gain: claude does all 2 earlier tasks well without it"
    assert stage.rows("SELECT count(*) FROM attempt")[0][0] == 2, "each earlier task once"


def test_a_night_that_nobody_is_signed_in_for_ends_before_it_spends(tmp_path: Path) -> None:
    stage = Stage(tmp_path, looks=3, stamps=made.NONE, script={"signed out": True})
    with pytest.raises(NotSignedIn, match="signed in"):
        stage.night()
    assert stage.rows("SELECT coalesce(sum(settled_tokens), 0) FROM spend")[0][0] == 0
    stage.script = dict(made.script(OPENS))
    assert edits(stage.night())[made.HELPS].verdict.pairs == 3, "the night goes on once somebody is"


def test_below_the_price_of_one_comparison_nothing_is_spent(tmp_path: Path) -> None:
    stage = Stage(tmp_path, looks=3, stamps=made.NONE)
    report = stage.night(budget={"tokens": 119_999})
    assert report.state == "budget"
    assert report.budget.tokens.spent == 0
    assert isinstance(what_it_wants(report), BudgetTooSmall)
    assert any("fewer than the smallest comparison takes: nothing is attempted" in line for line in stage.heard.lines)


def test_a_backtest_by_hand_keeps_nothing_and_says_what_it_found(tmp_path: Path) -> None:
    stage = Stage(tmp_path, looks=3, stamps=made.NONE)
    with stage.open(now_ms=NOW) as world:
        world.as_of_ms = parse_iso(made.CUT)
        report = sleep(world)
    verdict = edits(report)[made.HELPS].verdict
    assert (verdict.evidence, verdict.pairs) == ("replayed", 3)
    assert stage.rows("SELECT count(*) FROM trial")[0][0] == 0


def test_where_the_budget_ends_finished_pairs_stand_and_the_next_night_goes_on(tmp_path: Path) -> None:
    stage = Stage(tmp_path, looks=9, stamps=made.NONE)
    first = stage.night(budget={"tokens": None, "calls": 12})
    verdict = edits(first)[made.HELPS].verdict
    assert (first.state, verdict.outcome, verdict.coverage) == ("budget", Outcome.ABSTAIN, 1.0)
    assert 2 <= verdict.pairs <= 4, "two attempts for the baseline, two a pair, and the last ones may not count"
    assert what_it_wants(first) is None, "something was compared"
    assert first.budget.calls.spent == 12
    second = stage.night(NOW + DAY_MS, budget={"tokens": None})
    whole = edits(second)[made.HELPS].verdict
    assert (whole.outcome, whole.pairs, len(whole.units)) == (Outcome.ACCEPT, 9, 9)
    assert whole.units[: verdict.pairs] == verdict.units
    assert second.budget.calls.spent == 2 * (9 - verdict.pairs), "the baseline is known, and what was measured stands"


def test_the_morning_is_told_of_runs_that_took_more_than_was_set_aside(tmp_path: Path) -> None:
    dear = {"shell": "sleep 1.5; cat config/app.yml", "takes": 90_000}
    stage = Stage(tmp_path, looks=3, stamps=made.NONE, script={made.LOOKS: [dear, {"shell": "sleep 3"}]})
    report = stage.night(budget={"tokens": 121_000})
    assert any("more than could be set aside" in warning for warning in report.warnings)
    assert (report.budget.tokens.spent or 0) > 121_000, "what was taken counts, also beyond the limit"
    (target,) = [use for use in report.models if use.role == "target"]
    assert any("the budget had no more" in why for why in target.failed)


def test_a_dry_run_says_what_would_be_attempted_and_attempts_nothing(tmp_path: Path) -> None:
    stage = Stage(tmp_path, looks=3, stamps=made.NONE)
    with stage.open(budget={"tokens": 100_000}) as world:
        world.dry_run = True
        (attempts,) = plan_of(world).attempts
    (rule,) = attempts.plan["rules"]  # type: ignore[misc]
    assert (rule["baseline"], rule["tasks"], rule["pairs"], rule["attempts"]) == (2, 3, 1, 8)
    assert attempts.plan["tokens_an_attempt"] == 40_000
    assert attempts.said[-1].startswith("100,000 tokens buy 2 of 8 attempts, fewer than the smallest comparison takes")
    assert stage.rows("SELECT count(*) FROM attempt")[0][0] == 0


def test_a_night_that_is_ended_in_the_middle_goes_on_and_pays_for_no_draw_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, whole, asked = Stage(tmp_path, looks=3, stamps=made.NONE), NativeAgent.attempt, itertools.count()

    def attempt(self: NativeAgent, *arguments: Any) -> Any:
        if next(asked) == 3:
            raise KeyboardInterrupt
        return whole(self, *arguments)

    monkeypatch.setattr(NativeAgent, "attempt", attempt)
    with pytest.raises(KeyboardInterrupt):
        stage.night()
    before = stage.rows("SELECT key FROM attempt")
    assert len(before) == 6, "two for the baseline, two pairs"
    report = stage.night()
    assert edits(report)[made.HELPS].verdict.pairs == 3
    after = stage.rows("SELECT key FROM attempt")
    assert set(before) < set(after)
    assert len(after) == stage.rows("SELECT count(*) FROM spend")[0][0] == 8


def test_a_noisy_agent_is_compared_with_itself_once_a_week_where_the_budget_reaches(tmp_path: Path) -> None:
    """Paid from what the night's work has left, in fresh attempts of the live text in both arms."""
    stage, noisy = Stage(tmp_path, looks=2, stamps=made.NONE), {"deterministic": False}
    once: dict[str, Any] = {"gate": {"repeats": 1}}
    itself = "SELECT count(*), count(DISTINCT skill) FROM attempt WHERE comparison LIKE 'a/a%'"
    stage.night(agents=noisy, budget={"tokens": None, "calls": 12}, **once)
    assert stage.rows(itself)[0][0] == 0, "two for the baseline, four for the pairs: six are left, eight are wanted"
    stage.night(NOW + DAY_MS, agents=noisy, budget={"tokens": None}, **once)
    assert tuple(stage.rows(itself)[0]) == (8, 1)
    assert stage.rows("SELECT count(*) FROM comparison WHERE family = 'a/a' AND agent = 'claude'")[0][0] == 1
    stage.night(NOW + 3 * DAY_MS, agents=noisy, budget={"tokens": None}, **once)
    assert stage.rows(itself)[0][0] == 8


def test_where_the_gate_has_halted_nothing_is_attempted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(tmp_path, looks=2, stamps=made.NONE)
    halted = Calibrated(Calibration(0.01, 10, 10, 99.0, halted_at=3))
    monkeypatch.setattr("skillopt_sleep.night.calibration.so_far", lambda *_: halted)
    report = stage.night(agents={"deterministic": False})
    assert "the gate has halted" in edits(report)[made.HELPS].why
    assert stage.rows("SELECT count(*) FROM attempt")[0][0] == 0


def test_a_house_rule_is_measured_in_the_memory_file_that_the_agent_carries_whole(tmp_path: Path) -> None:
    asks, pushes = {"text": "May I force-push?"}, {"shell": "git push --force origin HEAD"}
    script = {"Publish branch": [{"if": "Ask before you run", "then": asks, "else": pushes}, {"text": "Done."}]}
    stage = Stage(tmp_path, looks=made.NONE, stamps=made.NONE, script=script)
    refused = [made.sample.Op("run", "git push --force", ok=False, refused="no force pushes, please")]
    for number in range(made.BEFORE + 9):
        made.write(stage.made, number, "copilot", f"Publish branch {number}", iter(refused))
    report = stage.night(budget={"tokens": None})
    (edit,) = [e for document in report.documents for e in document.edits if "git push --force" in e.edit.text]
    assert edit.edit.text == "- Ask before you run `git push --force`."
    assert (edit.verdict.outcome, edit.verdict.evidence, edit.verdict.opened) == (Outcome.ACCEPT, "replayed", None)
    assert (edit.verdict.before, edit.verdict.after) == (0.0, 1.0)
