"""The step in which a model groups what a person said: what it is shown, what is kept of it, what the morning is told.

What it is shown is mined from, so it can be no evidence. On the first night the model is shown the first 60 % of the
sessions in order of time; on later ones what was said before it was last asked, or of what it has read already only
the most similar (`mine.recall_k`). Its kinds are cut at the end of the
last day of anything shown, keep their sentence and cut for good, and gather evidence also in nights without a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from skillopt_core.asking import Complete
from skillopt_sleep.domain.frictions import Pattern
from skillopt_sleep.domain.world import World
from skillopt_sleep.mine import Mined
from skillopt_sleep.mine.kinds import (
    LONGEST_COMPARISON,
    Item,
    Kind,
    Window,
    ask_kinds,
    batches,
    items_of,
    kinds_of,
    most_requests,
    patterns_of,
    programs_of,
    prompts_of,
    shown_of,
)
from skillopt_sleep.night.asking import counted, plan_of, sizes_of
from skillopt_sleep.night.journal import Journal
from skillopt_sleep.night.projects import Project
from skillopt_sleep.store.asked import KINDS, note_shown
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.nights import last_result


@dataclass(frozen=True, slots=True)
class Grouped:
    """What is known of a project's kinds after a night: journaled, and where the next night goes on.

    `kinds` are those of all nights, `answered` the rows of the words that a model has read, `asked_ms` when it last did
    (0: never). `of` prompts were to be asked this night, `read` of them had a readable answer; `lost` and `left` count
    by reason what the model did not give, and which of its rules were not taken over.
    """

    kinds: tuple[Kind, ...] = ()
    answered: tuple[int, ...] = ()
    asked_ms: int = 0
    of: int = 0
    read: int = 0
    lost: Mapping[str, int] = field(default_factory=dict)
    left: Mapping[str, int] = field(default_factory=dict)
    exhausted: str = ""


def kinds_in(world: World, journal: Journal, project: Project, found: Mined) -> tuple[list[Pattern], list[str]]:
    """The kinds of a project as patterns, and what the report has to say of them.

    Without a model those of earlier nights are what there is. A backtest knows none but its own.
    """
    complete = world.optimizer(journal.id)
    before = Grouped() if world.as_of_ms is not None else known_kinds(world.store, project)
    if complete is None and not before.kinds:
        return [], []
    items = items_of(found)
    if complete is None:
        return patterns_of(before.kinds, items, found), []
    key = f"{KINDS}{project.name}" + (f" as of {world.as_of_ms}" if world.as_of_ms is not None else "")
    asking = complete
    world.progress.stage(f"group {project.shown}")
    result = journal.step("mine", key, Grouped, lambda: _grouped(world, journal, found, items, before, asking))
    journal.exhausted = journal.exhausted or result.exhausted
    return patterns_of(result.kinds, items, found), list(_said(project, result))


def known_kinds(store: Store, project: Project) -> Grouped:
    """What earlier nights know of a project's kinds."""
    stored = last_result(store, f"{KINDS}{project.name}")
    return Grouped() if stored is None else msgspec.convert(stored, Grouped)


def to_show(world: World, found: Mined, items: Sequence[Item], before: Grouped) -> tuple[list[Item], Window]:
    """The items that a model is to be shown tonight, none where nothing among them is new to it."""
    now = world.clock.now_ms()
    if world.as_of_ms is not None:
        window = Window(min(world.as_of_ms, now), cut_ms=world.as_of_ms)
    elif before.asked_ms:
        window = Window(before.asked_ms)
    else:
        window = Window.first(found.episodes, now)
    known = frozenset(before.answered)
    shown = shown_of(items, window, known, world.config.mine.recall_k)
    news = {item.event for item in shown} - known
    return (shown if news else []), window


def _grouped(
    world: World, journal: Journal, found: Mined, items: Sequence[Item], before: Grouped, complete: Complete
) -> Grouped:
    shown, window = to_show(world, found, items, before)
    if not shown:
        return replace(before, of=0, read=0, lost={}, left={}, exhausted="")
    note_shown(world.store, journal.id, {*(item.session for item in shown), *_resting_on(before.kinds)})
    told = batches(shown)
    world.progress.say(plan_of(world, journal, sizes_of(world, prompts_of(told)), *most_asked(world, told)))
    asked = ask_kinds(complete, told)
    model = world.config.models.optimizer or ""
    new, left = kinds_of(
        asked, complete, before.kinds, programs_of(found.episodes), cut_ms=window.cut(shown), model=model
    )
    read = {item.event for item in asked.read}
    return Grouped(
        kinds=(*before.kinds, *new),
        answered=tuple(sorted(read | set(before.answered))),
        asked_ms=world.clock.now_ms() if read else before.asked_ms,
        of=asked.of,
        read=asked.answered,
        lost=dict(asked.lost),
        left=dict(left),
        exhausted=asked.exhausted,
    )


def most_asked(world: World, told: Sequence[Sequence[Item]]) -> tuple[int, int]:
    """Calls and tokens that asking about these batches can come to. A bad answer is asked for once more."""
    calls, sizes = most_requests(len(told)), sizes_of(world, prompts_of(told))
    repairs = 2 * sum(sizes) + (calls - 2 * len(told)) * LONGEST_COMPARISON
    return calls, repairs + calls * world.config.models.max_output


def _resting_on(kinds: Sequence[Kind]) -> set[str]:
    return {session for kind in kinds for session in kind.sessions}


def _said(project: Project, result: Grouped) -> list[str]:
    """What was not to be had, in a line each."""
    lines = []
    if result.exhausted:
        lines.append(f"{project.shown}: the budget ended the grouping, {result.read} of {result.of} prompts were read")
    if result.lost:
        lines.append(f"{project.shown}: what a model did not give: {counted(result.lost)}")
    if result.left:
        lines.append(f"{project.shown}: rules of a model that were left out: {counted(result.left)}")
    return lines
