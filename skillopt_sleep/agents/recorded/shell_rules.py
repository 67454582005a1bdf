"""Rules about shell commands, followed over a project's history."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from skillopt_sleep.agents.recorded import deciding
from skillopt_sleep.agents.recorded.effects import Occurrence
from skillopt_sleep.agents.recorded.history import Moment, Project
from skillopt_sleep.agents.recorded.outcomes import Outcomes
from skillopt_sleep.agents.recorded.parts import Part, Standing
from skillopt_sleep.agents.recorded.path_rules import path_outcomes
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
    """Words replaced by words. Asked is what is seen of comparable commands that hold the new words.

    Comparable to the altered command is one of its head, where that keeps the old sub-command or the words stand behind
    the program; else one that begins with the new words and shares an operand with it, or has none where it has none.
    Where both are paths, any action that names the new one will do.
    """
    new, old = words_of(rule.x), words_of(rule.y)
    having = list(matching(project.with_words(new), lambda p: commands.has_run(p.simple.words, new)))
    holding = list(matching(project.with_words(old), lambda p: commands.has_run(p.simple.words, old)))
    of_head = {head: outcomes(iter(rows)) for head, rows in _by_head(iter(having)).items()}
    replaced = {head: outcomes(iter(rows)) for head, rows in _by_head(iter(holding)).items()}
    beginning = [(m, p, _operands(p, new)) for m, p in having if p.starts_with(new)]

    @cache
    def on(operands: frozenset[str]) -> Outcomes:
        return Outcomes((m, p.standing) for m, p, own in beginning if (own & operands if operands else not own))

    of_path = path_outcomes(project, rule.x, rule.y) if _is_path(new) and _is_path(old) else None
    for moment, part in holding:
        if _keeps_already(part, new, old):
            continue
        at = commands.find_run(part.simple.words, old)
        words = (*part.simple.words[:at], *new, *part.simple.words[at + len(old) :])
        head = commands.head(words)
        by_head = at > 0 or (len(head) > 1 and head[1:] == part.head[1:])
        known = of_head.get(head, Outcomes()) if by_head else on(_operands(part, old))
        seen = known.against(moment, replaced[part.head])
        if seen.answer == "unknown" and of_path:
            seen = of_path(moment)
        yield deciding.altered(moment, deciding.fared(moment, part), seen, shlex.join(words))


def _keeps_already(part: Part, new: Words, old: Words) -> bool:
    """`uv run x` holds both `uv run` and `x`: the rule that has the one for the other is kept."""
    return len(new) > len(old) and commands.has_run(part.simple.words, new)


def _by_head(found: Iterator[tuple[Moment, Part]]) -> dict[Words, list[tuple[Moment, Part]]]:
    heads: dict[Words, list[tuple[Moment, Part]]] = defaultdict(list)
    for moment, part in found:
        heads[part.head].append((moment, part))
    return heads


def _operands(part: Part, run: Words) -> frozenset[str]:
    """What a command is about: its words without the program, the run in question, options, mere dots and dashes."""
    return frozenset(w for w in part.words[1:] if w not in run and not w.startswith("-") and any(map(str.isalnum, w)))


def _is_path(words: Words) -> bool:
    return len(words) == 1 and bool(commands.paths(("", *words)))


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

    rows = [row for row in starting(project, prefix) if not _has(row[1].simple.words, flag)]
    lacking = {head: outcomes(iter(same)) for head, same in _by_head(iter(rows)).items()}
    for moment, part in rows:
        words = (*part.simple.words, *flag)
        seen = of_head(part.head).against(moment, lacking[part.head])
        yield deciding.altered(moment, deciding.fared(moment, part), seen, shlex.join(words))


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

    rows = [row for row in starting(project, prefix) if _has(row[1].simple.words, flag)]
    having = {head: outcomes(iter(same)) for head, same in _by_head(iter(rows)).items()}
    for moment, part in rows:
        words = _without(part.simple.words, flag)
        seen = of_head(commands.head(words)).against(moment, having[part.head])
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
    without = outcomes(row for row, is_kept in zip(rows, kept, strict=True) if not is_kept)
    for (moment, part), is_kept in zip(rows, kept, strict=True):
        if not is_kept:
            standing = deciding.fared(moment, part)
            yield deciding.preceded(moment, standing, after.against(moment, without), first.near(moment), name)


def _is_kept(moment: Moment, part: Part, earliest: dict[int, int], is_first: Test) -> bool:
    """Whether the other command has succeeded before, or stands before it in the same text joined by `&&`."""
    if earliest.get(moment.session, moment.at) < moment.at:
        return True
    chained = moment.parts[: moment.parts.index(part)]
    return part.simple.joint == "&&" and any(is_first(p) for p in chained)
