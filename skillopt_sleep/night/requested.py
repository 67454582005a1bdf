"""The step in which a model writes tasks from what a person asked for: whom it is asked about, what is kept of it.

It is asked about each session once: one whose day is over, that offers a check, and whose starting state is to be had.
New requests of a session are a reason to ask again. A backtest writes none: it would be asked about days to come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from skillopt_core.asking import Complete
from skillopt_sleep.clock import day_of
from skillopt_sleep.domain.tasks import KeptTask, Split
from skillopt_sleep.domain.world import World
from skillopt_sleep.mine import Mined
from skillopt_sleep.mine.episodes import twin_of
from skillopt_sleep.mine.requested import (
    LONGEST_QUESTION,
    PREFIX,
    Kind,
    Refused,
    Sheet,
    Task,
    Written,
    ask_tasks,
    kept_tasks,
    most_requests,
    patterns_of,
    prompt_of,
    sheets_of,
    sorted_out,
    start_of,
    vetted,
)
from skillopt_sleep.night import records
from skillopt_sleep.night.asking import counted, plan_of, sizes_of
from skillopt_sleep.night.journal import Journal
from skillopt_sleep.night.projects import Project
from skillopt_sleep.store import mining
from skillopt_sleep.store.asked import note_shown
from skillopt_sleep.store.nights import last_result
from skillopt_sleep.store.requested import named_requests, sessions_of

MOST_SESSIONS: Final = 30
"""Sessions of a project that a model is asked about in one night, the newest first; the others wait."""
KEY: Final = "tasks "
"""What the key of the step begins with; the project follows."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is known of a project's requests after a night: journaled, and where the next night goes on.

    `answered` are the episodes of sessions that a model has read, over all nights. `of` sessions were to be asked about
    tonight, `read` had a readable answer, `written` tasks were kept, of `kinds` new kinds, `sides` says on which side;
    `waiting` sessions are left for the next night. `unasked` counts by reason the sessions that nobody was asked about,
    `lost` what a model did not give, `refused` the tasks that vetting did not let through.
    """

    answered: tuple[str, ...] = ()
    of: int = 0
    read: int = 0
    written: int = 0
    kinds: int = 0
    sides: Mapping[str, int] = field(default_factory=dict)
    waiting: int = 0
    unasked: Mapping[str, int] = field(default_factory=dict)
    lost: Mapping[str, int] = field(default_factory=dict)
    refused: Mapping[str, int] = field(default_factory=dict)
    exhausted: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One session that a model is to be asked about: how many tasks it may still yield, and the prompt."""

    sheet: Sheet
    room: int
    prompt: str


def write_tasks(world: World, journal: Journal, project: Project, found: Mined) -> Asked | None:
    """The tasks that a model writes tonight, kept; None where no model is there, or none are wanted."""
    complete = world.optimizer(journal.id)
    if complete is None or world.as_of_ms is not None or not world.config.mine.max_tasks:
        return None
    asking = complete
    world.progress.stage(f"write tasks of {project.shown}")
    result = journal.step("mine", f"{KEY}{project.name}", Asked, lambda: _asked(world, journal, project, found, asking))
    journal.exhausted = journal.exhausted or result.exhausted
    return result


def to_ask(world: World, project: Project, found: Mined) -> tuple[list[Question], Counter[str], int]:
    """Whom a model is to be asked about tonight, why not about others, and how many are left for the next night."""
    tasks, starts = mining.tasks(world.store), world.starts(project.name)
    have = Counter(task.session for task in tasks if task.written)
    unasked: Counter[str] = Counter()
    questions: list[Question] = []
    sheets = _new(found, _before(world, project), world.clock.now_ms())
    for n, sheet in enumerate(sheets):
        if len(questions) == MOST_SESSIONS:
            return questions, unasked, len(sheets) - n
        room = world.config.mine.max_tasks - have[sheet.session]
        start = start_of(sheet, starts) if room > 0 else None
        if start is not None:
            questions.append(Question(sheet, room, prompt_of(sheet, room, has_commit=bool(start.commit))))
        elif room > 0:
            unasked["what it started from is not on this machine"] += 1
    return questions, unasked, 0


def most_asked(world: World, questions: Sequence[Question]) -> tuple[int, int]:
    """Calls and tokens that asking can come to. A bad answer is asked for once more."""
    calls, sizes = most_requests(len(questions)), sizes_of(world, [one.prompt for one in questions])
    return calls, 2 * sum(sizes) + (2 * LONGEST_QUESTION if questions else 0) + calls * world.config.models.max_output


def said(project: Project, asked: Asked) -> list[str]:
    """What the morning has to know of it, in a line each."""
    name, lines = project.shown, []
    if asked.exhausted:
        lines.append(f"{name}: the budget ended the writing of tasks, {asked.read} of {asked.of} sessions were read")
    if asked.waiting:
        lines.append(f"{name}: sessions that wait for the next night, to write tasks from: {asked.waiting}")
    if asked.lost:
        lines.append(f"{name}: tasks that a model did not give: {counted(asked.lost)}")
    if asked.refused:
        lines.append(f"{name}: tasks of a model that were refused, {asked.written} kept: {counted(asked.refused)}")
    if asked.of and asked.unasked:
        lines.append(f"{name}: sessions that gave no task: {counted(asked.unasked)}")
    return lines


def _before(world: World, project: Project) -> Asked:
    stored = last_result(world.store, f"{KEY}{project.name}")
    return Asked() if stored is None else msgspec.convert(stored, Asked)


def _new(found: Mined, before: Asked, now_ms: int) -> list[Sheet]:
    """Sessions with something that no model has read, the newest first: their last day is over, so they are final."""
    known, today = set(before.answered), day_of(now_ms)
    unread = {one.session for one in found.episodes if one.prompt and one.id not in known}
    sheets = sheets_of(one for one in found.episodes if one.session in unread)
    new = [sheet for sheet in sheets if not sheet.episodes <= known and day_of(sheet.ended_ms) < today]
    return sorted(new, key=lambda one: (-one.began_ms, one.session))


def _asked(world: World, journal: Journal, project: Project, found: Mined, complete: Complete) -> Asked:
    before = replace(Asked(), answered=_before(world, project).answered)
    questions, unasked, waiting = to_ask(world, project, found)
    if not questions:
        return replace(before, unasked=dict(unasked))
    shown = {one.sheet.session for one in questions}
    note_shown(world.store, journal.id, shown | set(sessions_of(world.store, project.name, PREFIX)))
    sizes = sizes_of(world, [one.prompt for one in questions])
    world.progress.say(plan_of(world, journal, sizes, *most_asked(world, questions)))
    written = ask_tasks(complete, [one.sheet for one in questions], [one.prompt for one in questions])
    tasks, refused = _vetted(world, project, questions, written)
    kinds = _sorted(world, project, complete, tasks, written)
    kept = _kept(world, journal, found, kinds, tasks)
    return replace(
        before,
        answered=tuple(sorted({*before.answered, *(name for sheet, _ in written.drafts for name in sheet.episodes)})),
        of=written.of,
        read=len(written.drafts),
        written=len(kept),
        kinds=len({kind.signature for kind in kinds if not kind.episodes}),
        sides=dict(Counter(task.split for task in kept)),
        waiting=waiting,
        unasked=dict(unasked),
        lost=dict(written.lost),
        refused=dict(refused),
        exhausted=written.exhausted,
    )


def _vetted(
    world: World, project: Project, questions: Sequence[Question], written: Written
) -> tuple[list[Task], Counter[str]]:
    """The tasks that pass, at most as many a session as it may yield, and why the others do not."""
    room = {one.sheet.session: one.room for one in questions}
    known = {twin_of(task.prompt) or task.prompt.casefold() for task in mining.tasks(world.store) if task.checks}
    starts, refused, tasks = world.starts(project.name), Counter[str](), list[Task]()
    for sheet, drafts in written.drafts:
        for draft in drafts:
            if not room[sheet.session]:
                refused[f"more than {world.config.mine.max_tasks} of one session"] += 1
                continue
            try:
                task = vetted(draft, sheet, starts, known, _is_secret(world))
            except Refused as why:
                refused[str(why)] += 1
                continue
            room[sheet.session] -= 1
            known.add(twin_of(task.prompt) or task.prompt.casefold())
            tasks.append(task)
    return tasks, refused


def _sorted(world: World, project: Project, complete: Complete, tasks: Sequence[Task], written: Written) -> list[Kind]:
    if not tasks:
        return []
    known = [Kind(*row) for row in named_requests(world.store, project.name, PREFIX)]
    return sorted_out(complete, tasks, known, written, _is_secret(world))


def _kept(
    world: World, journal: Journal, found: Mined, kinds: Sequence[Kind], tasks: Sequence[Task]
) -> Sequence[KeptTask]:
    sides: dict[str, Split] = {task.episode: task.split for task in mining.tasks(world.store)}
    shared = records.shares(world.config)
    made = kept_tasks(kinds, tasks, found, records.SALT, sides, shared, world.config.split.by)
    return records.keep_requested(world.store, journal.id, patterns_of(kinds, tasks, found), made)


def _is_secret(world: World) -> Callable[[str], bool]:
    return lambda text: world.redactor.redact(text) != text
