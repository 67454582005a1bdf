"""What became of a skill that was trained on a person's requests: its trial, and its edits for the morning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from skillopt_core.types import Edit, Outcome, Verdict
from skillopt_sleep.clock import iso
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.frictions import Quote
from skillopt_sleep.domain.proposals import Document
from skillopt_sleep.domain.reports import TrialLine
from skillopt_sleep.domain.sentences import Said
from skillopt_sleep.domain.tasks import KeptTask
from skillopt_sleep.domain.world import World
from skillopt_sleep.mine.trace import said_by_person
from skillopt_sleep.night import records
from skillopt_sleep.night.growing import Grown, rule_of
from skillopt_sleep.night.plan import Subject
from skillopt_sleep.night.staging import Practised, kept
from skillopt_sleep.review.stage import EditResult
from skillopt_sleep.store.mining import note_made_from

_QUOTES: Final = 6


def keep(world: World, night: str, project: str, document: Document, grown: Grown) -> TrialLine | None:
    """Keep the candidate's comparison and its trial; what is given up is not paid for again on the same text."""
    if grown.verdict is None or not grown.edits:
        return None
    one = _subject(project, document, grown, grown.edits[0])
    note_made_from(world.store, one.rule, grown.sessions)
    done = Practised(grown.edits[0], grown.verdict, grown.live, grown.candidate, agent=grown.agent)
    line = kept(world, night, one, done)
    if line is not None and line.state == "dropped":
        for edit in grown.edits[1:]:
            records.keep_given_up(world.store, night, edit, grown.live, grown.verdict)
    return line


def results(project: str, grown: Grown, tasks: Iterable[KeptTask], episodes: Iterable[Episode]) -> list[EditResult]:
    """The edits one by one, each with the verdict of all together and the requests that it rests on."""
    by_id, by_episode = {task.id: task for task in tasks}, {one.id: one for one in episodes}
    verdict = grown.verdict or Verdict(Outcome.NO_CHANGE, grown.why)
    rule = rule_of(project, grown.candidate)
    found = [
        EditResult(
            edit=edit,
            verdict=verdict,
            title=_title(grown),
            rule=f"{rule}-{n}",
            predicate=_predicate(grown, verdict),
            quotes=_quotes(edit, grown, by_id, by_episode),
            why=_together(len(grown.edits), verdict),
        )
        for n, edit in enumerate(grown.edits, 1)
    ]
    fallen = [
        EditResult(one.edit, verdict, _title(grown), f"{rule}-x{n}", status=one.kind, why=one.why)
        for n, one in enumerate(grown.refused, 1)
    ]
    return [*found, *fallen]


def said(shown: str, grown: Grown) -> list[str]:
    """Why nothing came of it, for the morning."""
    return [f"{shown}: the skill was not trained on what you asked for: {grown.why}"] if grown.why else []


def _subject(project: str, document: Document, grown: Grown, edit: Edit) -> Subject:
    rule, title = rule_of(project, grown.candidate), _title(grown)
    return Subject(rule, document, Said(title), title, grown.cut_ms, edit=edit)


def _title(grown: Grown) -> str:
    return f"learnt from {grown.train} tasks that you had asked for"


def _predicate(grown: Grown, verdict: Verdict) -> str:
    began = iso(grown.cut_ms)
    return (
        f"All checks of a task pass, on {len(verdict.units)} tasks that you asked for after {began}, attempted afresh."
    )


def _together(n: int, verdict: Verdict) -> str:
    return verdict.why if n == 1 else f"{verdict.why} (measured together with the other edits of {n})"


def _quotes(
    edit: Edit, grown: Grown, tasks: Mapping[str, KeptTask], episodes: Mapping[str, Episode]
) -> tuple[Quote, ...]:
    """What the person had asked for, and said of it, in the tasks that an edit rests on."""
    named = [tasks[name] for name in sorted(edit.support) if name in tasks]
    resting = named or [task for task in tasks.values() if task.session in grown.sessions]
    quotes = [quote for task in resting for quote in _said(task, episodes)]
    return tuple(quotes[:_QUOTES])


def _said(task: KeptTask, episodes: Mapping[str, Episode]) -> Sequence[Quote]:
    one = episodes.get(task.episode)
    if one is None:
        return ()
    return (said_by_person(one.prompt_event, one.session, one.began_ms, one.prompt),)
