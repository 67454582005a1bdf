"""Rules about shell commands, followed over a project's history."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from skillopt_sleep.agents.recorded import deciding
from skillopt_sleep.agents.recorded.effects import Occurrence
from skillopt_sleep.agents.recorded.history import Moment, Project, normal
from skillopt_sleep.agents.recorded.outcomes import Outcomes, Seen
from skillopt_sleep.agents.recorded.parts import Part, Standing
from skillopt_sleep.critics.meaning import words_of
from skillopt_sleep.domain import commands
from skillopt_sleep.domain.sentences import AddFlag, AskBefore, CheckBefore, DoNotRun, DropFlag, RunBefore, Use

Words = tuple[str, ...]
Test = Callable[[Part], bool]


def matching(moments: Sequence[Moment], test: Test) -> Iterator[tuple[Moment, Part]]:
    """The first part of each action that passes, with its action."""
    for moment in moments:
        part = next((part for part in moment.parts if test(part)), None)
        if part is not None:
            yield moment, part


def starting(project: Project, prefix: Words) -> Iterator[tuple[Moment, Part]]:
    """Commands one of whose parts starts with these words."""
    return matching(project.with_words(prefix[:1]), lambda part: part.starts_with(prefix))


def outcomes(found: Iterator[tuple[Moment, Part]]) -> Outcomes:
    """How the matching parts fared."""
    return Outcomes((moment, part.standing) for moment, part in found)


def do_not_run(project: Project, rule: DoNotRun) -> Iterator[Occurrence]:
    """Left out: prevented where it was wasted, broken where it worked."""
    for moment, part in starting(project, words_of(rule.x)):
        yield deciding.left_out(moment, deciding.fared(moment, part))


def ask_before(project: Project, rule: AskBefore) -> Iterator[Occurrence]:
    """Asked: prevented where it was refused, broken where it ran unrefused."""
    for moment, _ in starting(project, words_of(rule.x)):
        if occurrence := deciding.asked(moment):
            yield occurrence


def use(project: Project, rule: Use) -> Iterator[Occurrence]:
    """Words replaced by words. Asked is what is seen of the exact altered command, else of its head with the new words.

    Where the new words are one path, else what is seen of that path in any action.
    """
    new, old = words_of(rule.x), words_of(rule.y)

    @cache
    def of_head(head: Words) -> Outcomes:
        found = matching(project.with_words(new), lambda p: p.head == head and commands.has_run(p.simple.words, new))
        return outcomes(found)

    for moment, part in matching(project.with_words(old), lambda p: commands.has_run(p.simple.words, old)):
        at = commands.find_run(part.simple.words, old)
        words = (*part.simple.words[:at], *new, *part.simple.words[at + len(old) :])
        if commands.has_run(part.simple.words, new) and len(new) > len(old):
            continue  # `uv run x` holds both `uv run` and `x`: the rule is kept already
        seen = _exactly(project, words, moment)
        if seen.answer == "unknown":
            seen = of_head(commands.head(words)).near(moment)
        if seen.answer == "unknown" and len(new) == 1 and commands.paths(("", *new)):
            seen = Outcomes((m, m.standing) for m in project.by_path.get(normal(new[0]), ())).near(moment)
        yield deciding.altered(moment, deciding.fared(moment, part), seen, shlex.join(words))


def _exactly(project: Project, words: Words, moment: Moment) -> Seen:
    return outcomes(matching(project.with_words(words), lambda p: p.simple.words == words)).near(moment)


def add_flag(project: Project, rule: AddFlag) -> Iterator[Occurrence]:
    """An argument added. Asked is what is seen of commands of the same head that have it."""
    prefix, flag = words_of(rule.c), words_of(rule.f)

    @cache
    def of_head(head: Words) -> Outcomes:
        found = matching(
            project.with_words((*prefix[:1], *flag)),
            lambda p: p.head == head and p.starts_with(prefix) and _has(p.simple.words, flag),
        )
        return outcomes(found)

    for moment, part in starting(project, prefix):
        if not _has(part.simple.words, flag):
            words = (*part.simple.words, *flag)
            yield deciding.altered(
                moment, deciding.fared(moment, part), of_head(part.head).near(moment), shlex.join(words)
            )


def drop_flag(project: Project, rule: DropFlag) -> Iterator[Occurrence]:
    """An argument taken away. Asked is what is seen of commands of the same head that lack it."""
    prefix, flag = words_of(rule.c), words_of(rule.f)

    @cache
    def of_head(head: Words) -> Outcomes:
        found = matching(
            project.with_words(prefix[:1]),
            lambda p: p.head == head and p.starts_with(prefix) and not _has(p.simple.words, flag),
        )
        return outcomes(found)

    for moment, part in starting(project, prefix):
        if _has(part.simple.words, flag):
            words = _without(part.simple.words, flag)
            seen = of_head(commands.head(words)).near(moment)
            yield deciding.altered(moment, deciding.fared(moment, part), seen, shlex.join(words))


def _has(words: Sequence[str], flag: Words) -> bool:
    """Whether a command has an argument: its words together, or `flag=value` for a lone flag."""
    if commands.has_run(words, flag):
        return True
    return len(flag) == 1 and flag[0].startswith("-") and any(word.startswith(f"{flag[0]}=") for word in words)


def _without(words: Words, flag: Words) -> Words:
    at = commands.find_run(words, flag)
    if at >= 0:
        return (*words[:at], *words[at + len(flag) :])
    return tuple(word for word in words if not word.startswith(f"{flag[0]}="))


def run_before(project: Project, rule: RunBefore) -> Iterator[Occurrence]:
    """A command that wants a successful other one earlier in its session."""
    prefix = words_of(rule.y)
    return _before(project, words_of(rule.x), lambda p: p.starts_with(prefix), project.with_words(prefix[:1]), rule.y)


def check_before(project: Project, rule: CheckBefore) -> Iterator[Occurrence]:
    """A command that wants a successful check of some kind earlier in its session."""
    name = f"the {rule.check}"
    return _before(project, words_of(rule.x), lambda p: p.check == rule.check, project.checks, name)


def _before(
    project: Project, prefix: Words, is_first: Test, firsts: Sequence[Moment], name: str
) -> Iterator[Occurrence]:
    ran = list(matching(firsts, is_first))
    earliest: dict[int, int] = {}
    for moment, part in ran:
        if part.standing is Standing.WORKED:
            earliest[moment.session] = min(moment.at, earliest.get(moment.session, moment.at))
    first = outcomes(iter(ran))
    rows = list(starting(project, prefix))
    kept = [_is_kept(moment, part, earliest, is_first) for moment, part in rows]
    after = outcomes(row for row, is_kept in zip(rows, kept, strict=True) if is_kept)
    for (moment, part), is_kept in zip(rows, kept, strict=True):
        if not is_kept:
            standing = deciding.fared(moment, part)
            yield deciding.preceded(moment, standing, after.near(moment), first.near(moment), name)


def _is_kept(moment: Moment, part: Part, earliest: dict[int, int], is_first: Test) -> bool:
    """Whether the other command has succeeded before, or stands before it in the same text joined by `&&`."""
    if earliest.get(moment.session, moment.at) < moment.at:
        return True
    chained = moment.parts[: moment.parts.index(part)]
    return part.simple.joint == "&&" and any(is_first(p) for p in chained)
