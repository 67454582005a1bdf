"""What a night writes into the store beside its journal: what was mined, trials and their units, verdicts."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from skillopt_core.gate import e_reverse, e_value, trial_over
from skillopt_core.memory import Rejection, meaning
from skillopt_core.types import Edit, Outcome, Verdict
from skillopt_sleep.config import Config
from skillopt_sleep.domain.frictions import Pattern
from skillopt_sleep.domain.proposals import Document
from skillopt_sleep.domain.tasks import KeptTask, Split
from skillopt_sleep.domain.trials import Trial, TrialState, TrialStep
from skillopt_sleep.domain.world import World
from skillopt_sleep.mine import VERSION, Mined
from skillopt_sleep.mine.tasks import tasks_of
from skillopt_sleep.night.plan import Subject
from skillopt_sleep.night.watch import Adopted
from skillopt_sleep.redact import Redactor
from skillopt_sleep.store.adoptions import Adoptions
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.evidence import (
    note_exposures,
    note_preferences,
    preferred_since,
    save_rejections,
    save_trial,
    trial_steps,
    trials,
)
from skillopt_sleep.store.ledgers import Attempts
from skillopt_sleep.store.mining import note_made_from, save_episodes, save_patterns, save_tasks
from skillopt_sleep.store.mining import tasks as kept_tasks
from skillopt_sleep.store.proposals import find_proposal
from skillopt_sleep.store.verdicts import ComparisonFacts, save_comparison

SALT = "skillopt-sleep"
"""Of the hash that splits tasks: fixed for good, so that a task never changes sides."""

ON_TRIAL = frozenset({Outcome.ACCEPT, Outcome.ABSTAIN, Outcome.SUPPORTED, Outcome.REJECT, Outcome.NO_EXPOSURE})
"""Recorded evidence is free: every rule that was measured goes on gathering it. What is accepted has enough."""


CONFIGURED: Final = "configuration"
"""Where preferences come from: sleep.toml, and what a night was told beside it."""


def attempts(store: Store, night: str, redactor: Redactor) -> Attempts:
    """The ledger of attempts."""
    return Attempts(store, night, redactor.redact)


def keep_mined(store: Store, night: str, found: Mined, config: Config) -> tuple[int, dict[str, int]]:
    """Keep episodes, patterns and tasks. Returns how many tasks there are, and how many on each side."""
    save_episodes(store, found.episodes, str(VERSION))
    patterns = (*found.patterns, *found.requests)
    save_patterns(store, patterns, night=night, normaliser=str(VERSION))
    known = {task.id: task.split for task in kept_tasks(store)}
    made = tasks_of(patterns, found.episodes, SALT, known, shares(config), config.split.by)
    tasks = [replace(task, first_night=night) for task in made]
    save_tasks(store, tasks)
    sides = {side: sum(task.split == side for task in tasks) for side in ("train", "gate", "audit")}
    return len(tasks), sides


def keep_requested(
    store: Store, night: str, patterns: Sequence[Pattern], tasks: Sequence[KeptTask]
) -> Sequence[KeptTask]:
    """Keep the kinds of request that a model named, and the tasks that it wrote."""
    save_patterns(store, patterns, night=night, normaliser=str(VERSION))
    made = [replace(task, first_night=night) for task in tasks]
    save_tasks(store, made)
    return made


def shares(config: Config) -> Mapping[Split, float]:
    """How tasks are shared out by the hash, where a person has set it."""
    return {"train": config.split.train, "gate": config.split.gate, "audit": config.split.audit}


def keep_kinds(store: Store, night: str, kinds: Sequence[Pattern]) -> None:
    """Keep the patterns that a model found. Their occurrences are tasks of other patterns already."""
    save_patterns(store, kinds, night=night, normaliser=str(VERSION))


def trials_of(store: Store, project: str) -> list[Trial]:
    """The trials of a project's documents that still run."""
    return [trial for trial in trials(store, "running") if trial.document.scope == project]


def keep_origin(store: Store, one: Subject) -> None:
    """Keep which sessions a mined rule was made from."""
    if one.pattern is not None:
        note_made_from(store, one.rule, one.pattern.sessions)


def keep_verdict(
    store: Store,
    night: str,
    one: Subject,
    live: str,
    candidate: str,
    verdict: Verdict,
    *,
    mode: str = "proof",
    agent: str = "recorded",
) -> None:
    """Keep what a comparison came to, with its units, so that every number can be computed again from rows.

    `mode` is the gate's, where the evidence is not recorded; `agent` is who attempted.
    """
    name = "c-" + hashlib.sha256(f"{night}\0{one.rule}".encode()).hexdigest()[:16]
    mode = "recorded" if verdict.evidence == "recorded" else mode
    facts = ComparisonFacts(name, live, candidate, mode, night, family=one.rule, agent=agent)
    save_comparison(store, facts, verdict)


def keep_trial(
    store: Store, night: str, one: Subject, live: str, candidate: str, verdict: Verdict, now_ms: int, agent: str = ""
) -> Trial | None:
    """Bring a rule's trial up to date with tonight's verdict; None for what is not measured.

    A change of the live text restarts it: same cut, all units scored again. Units that were scored already are not
    written twice. `agent` attempted them, "" where recordings were replayed: each has a trial of its own.
    """
    if verdict.outcome not in ON_TRIAL or verdict.e is None:
        return None
    name = _trial_name(one.rule, live, agent)
    old = next((trial for trial in trials(store) if trial.id == name), None)
    _restart_others(store, one, name, agent, now_ms)
    nights = (old.nights if old else 0) + 1
    over = _over(verdict, nights)
    trial = Trial(
        id=name,
        document=one.document,
        candidate=candidate,
        live=live,
        cut_ms=one.cut_ms,
        alpha=verdict.alpha or 0.0,
        begun_ms=old.begun_ms if old else now_ms,
        rule=one.rule,
        predicate=one.predicate,
        e=verdict.e,
        e_reverse=verdict.e_reverse or 1.0,
        state=_state(verdict, over),
        why=over or verdict.needs,
        first_night=old.first_night if old else night,
        nights=nights,
        ended_ms=now_ms if over or verdict.proven else None,
    )
    scored = {step.task for step in trial_steps(store, name)} if old else set()
    save_trial(store, trial, _steps(verdict, scored, night, now_ms))
    return trial


def keep_rejection(store: Store, night: str, edit: Edit, trial: Trial, outcome: Outcome) -> None:
    """Remember an edit whose trial was given up: on the same live text it is not paid for again, in any night."""
    row = Rejection(meaning(edit), trial.live, trial.why, outcome, edit.op, edit.anchor, edit.text)
    save_rejections(store, [row], night)


def keep_given_up(store: Store, night: str, edit: Edit, live: str, verdict: Verdict) -> None:
    """The same of an edit that was given up together with others."""
    row = Rejection(meaning(edit), live, verdict.why, verdict.outcome, edit.op, edit.anchor, edit.text)
    save_rejections(store, [row], night)


def end_adopted(store: Store, project: str, said: Collection[str], now_ms: int) -> None:
    """Rules that stand in a live document by now are no longer on trial: they are watched. `said` are their ids."""
    for trial in trials_of(store, project):
        if trial.rule in said:
            save_trial(store, replace(trial, state="adopted", why="it is in the live text", ended_ms=now_ms))


def adopted_rules(store: Store, project: str) -> Mapping[Document, Mapping[str, Adopted]]:
    """The rules that are adopted in a project, by document and id, each from the adoption that first brought it."""
    cuts = {trial.rule: trial.cut_ms for trial in trials(store)}
    found: dict[Document, dict[str, Adopted]] = defaultdict(dict)
    for adoption in Adoptions(store).all():
        proposal = find_proposal(store, adoption.proposal)
        if adoption.state != "written" or proposal.document.scope != project:
            continue
        for edit in proposal.edits:
            if edit.n in adoption.edits:
                since = Adopted(adoption.id, adoption.at_ms, cuts.get(edit.rule, 0))
                found[proposal.document].setdefault(edit.rule, since)
    return found


def note_watched(store: Store, document: Document, rule: str, sessions: Mapping[str, bool]) -> None:
    """The ledger of an adopted rule: the sessions since then, and in which of them it was broken."""
    note_exposures(store, rule, document.name, sessions)


def preferred_by(world: World) -> Mapping[str, int]:
    """Since when (ms UTC) the person's preferences hold, by their words as they are kept; new ones hold from now on.

    A backtest and a plan keep nothing.
    """
    said = [world.redactor.redact(text) for text in world.config.preferences.rules]
    if world.as_of_ms is None and not world.dry_run:
        note_preferences(world.store, said, CONFIGURED)
    known = preferred_since(world.store, CONFIGURED)
    given = zip(world.config.preferences.rules, said, strict=True)
    return {text: known[clean] for text, clean in given if clean in known}


def _over(verdict: Verdict, nights: int) -> str:
    """Why a trial is given up. What costs something is, once rejected; a recorded rule goes on, free as it is."""
    why = trial_over(verdict.e or 0.0, verdict.e_reverse or 0.0, nights, others_wait=False)
    rejected = verdict.outcome is Outcome.REJECT and verdict.evidence != "recorded"
    return why or (verdict.why if rejected else "")


def _state(verdict: Verdict, over: str) -> TrialState:
    if verdict.proven:
        return "accepted"
    return "dropped" if over else "running"


def _trial_name(rule: str, live: str, agent: str) -> str:
    """Of a rule on a text; what an agent attempts is evidence of another kind than what was recorded."""
    return f"t-{rule.removeprefix('r-')}-{live[:8]}" + (f"-{agent}" if agent else "")


def _restart_others(store: Store, one: Subject, name: str, agent: str, now_ms: int) -> None:
    for trial in trials_of(store, one.document.scope):
        if trial.rule == one.rule and trial.id != name and trial.id == _trial_name(one.rule, trial.live, agent):
            save_trial(store, replace(trial, state="restarted", why="the live text changed", ended_ms=now_ms))


def _steps(verdict: Verdict, scored: set[str], night: str, now_ms: int) -> Sequence[TrialStep]:
    """The units that are new tonight, each with the running E after it, in order of time."""
    units = sorted(verdict.units, key=lambda unit: (unit.began, unit.unit))
    ds = [unit.d for unit in units]
    return [
        TrialStep(night, unit.unit, unit.d, e_value(ds[: n + 1]), e_reverse(ds[: n + 1]), now_ms)
        for n, unit in enumerate(units)
        if unit.unit not in scored
    ]
