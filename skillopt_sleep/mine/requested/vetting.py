"""What becomes of a task that a model wrote: each check is held against the recording, and the whole against the rules.

A task is kept only if the recorded outcome satisfies its checks, its starting state (and an empty answer) does not,
its prompt gives away nothing that they look for, and it can be given to an agent by itself. What was found is kept with
each check; what is refused goes by the first reason.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from skillopt_sleep.checks import BadArgument, Check, compiled, shape_only
from skillopt_sleep.critics.leaks import quoted
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.starts import Nothing, Start, Starts, text_at
from skillopt_sleep.mine.episodes import twin_of
from skillopt_sleep.mine.kinds.grounds import hazard
from skillopt_sleep.mine.requested.alone import not_alone
from skillopt_sleep.mine.requested.asking import MOST_CHECKS, Draft, DraftCheck
from skillopt_sleep.mine.requested.holding import Refused, Scene, Vetted, Words, defined, vetted_check
from skillopt_sleep.mine.requested.outcomes import Outcome, outcome_of
from skillopt_sleep.mine.requested.sheets import Sheet


@dataclass(frozen=True, slots=True)
class Task:
    """A task that passed. `kind` is the model's name of it, "" where that could not be kept."""

    sheet: Sheet
    episode: Episode
    prompt: str
    kind: str
    commit: str
    checks: tuple[Vetted, ...]

    @property
    def id(self) -> str:
        """Stable over nights: 16 hex digits of the episode and the words of the prompt."""
        text = f"asked\0{self.episode.id}\0{' '.join(self.prompt.split())}"
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def start_of(sheet: Sheet, starts: Starts) -> Start | None:
    """What the session's first request started from; None where its tasks could start from nothing that is there.

    An empty folder will do where the session made all that it worked on.
    """
    first = sheet.requests[0]
    found = starts.at(first.start_commit, first.began_ms)
    if found is not None:
        return found
    outcome = outcome_of(sheet.requests)
    return Nothing() if _made_all(outcome) else None


def vetted(
    draft: Draft, sheet: Sheet, starts: Starts, known: Collection[str], is_secret: Callable[[str], bool]
) -> Task:
    """The task that a draft makes. `known` are the twins of prompts that there are already. Raises `Refused`."""
    stretch = _stretch(draft, sheet)
    start = _start(draft, sheet, starts)
    outcome = outcome_of(stretch, start)
    if why := _not_there(outcome, start):
        raise Refused(why)
    words = Words.of(sheet, stretch)
    prompt = draft.prompt.strip()
    if why := not_alone(prompt, words.all):
        raise Refused(why)
    if is_secret(prompt):
        raise Refused("it holds what looks like a secret")
    checks = _checks(draft, Scene(sheet, start, outcome, words, prompt, is_secret))
    _fit(prompt, checks)
    if (twin_of(prompt) or prompt.casefold()) in known:
        raise Refused("there is such a task already")
    kind = " ".join(draft.kind.split())
    named = kind if kind.isprintable() and not hazard(kind) and not is_secret(kind) else ""
    return Task(sheet, stretch[0], prompt, named, start.commit, checks)


def _stretch(draft: Draft, sheet: Sheet) -> tuple[Episode, ...]:
    numbers = sorted(set(draft.requests))
    if numbers[0] < 1 or numbers[-1] > len(sheet.requests):
        raise Refused("it names a request that there is not")
    if numbers != list(range(numbers[0], numbers[-1] + 1)):
        raise Refused("its requests do not follow each other")
    return sheet.stretch(numbers[0], numbers[-1])


def _start(draft: Draft, sheet: Sheet, starts: Starts) -> Start:
    """What its first request started from: where something was done before it, the commit that came of that."""
    begins = min(draft.requests)
    before = outcome_of(sheet.stretch(1, begins - 1)) if begins > 1 else Outcome()
    first = start_of(sheet, starts)
    if first is None:
        raise Refused("its starting state is not to be had")
    if not before.changed and not before.committed:
        return first
    then = starts.at("", sheet.requests[begins - 1].began_ms) if before.committed else None
    if then is None or then.commit == first.commit:
        raise Refused("it starts from work that was not committed")
    return then


def _not_there(outcome: Outcome, start: Start) -> str:
    """Why the recording did not begin in this state."""
    for path, lines in outcome.needs.items():
        text = text_at(start, path)
        if text is None or not all(line in text for line in lines):
            return "it starts from work that was not committed" if start.commit else "an empty folder has not its files"
    return "" if start.commit or _made_all(outcome) else "an empty folder has not its files"


def _made_all(outcome: Outcome) -> bool:
    """Whether a stretch needed nothing that it had not made itself."""
    return not outcome.needs and not outcome.looked and all(end.born for end in outcome.files.values())


def _checks(draft: Draft, scene: Scene) -> tuple[Vetted, ...]:
    if not draft.checks:
        raise Refused("it has no check")
    found = tuple(vetted_check(check, scene) for check in _unique(draft.checks))
    own = None if any(one.fails_first for one in found) else defined(scene)
    return (*found, own) if own else found


def _unique(checks: Sequence[DraftCheck]) -> Sequence[DraftCheck]:
    distinct = tuple(dict.fromkeys(checks))
    if len(distinct) > MOST_CHECKS:
        raise Refused("it has too many checks")
    return distinct


def _fit(prompt: str, checks: Sequence[Vetted]) -> None:
    """The rules for the whole: it can be judged, it has content, it fails at first, and the prompt gives nothing away.

    What fails on the starting state fails for an empty answer too: that leaves the starting state as it is.
    """
    plain = [one.check for one in checks]
    try:
        compiled(plain)
    except BadArgument as error:
        raise Refused("a check means nothing") from error
    if shape_only(plain):
        raise Refused("an answer without content would pass")
    if not any(one.fails_first for one in checks):
        raise Refused("the starting state may satisfy its checks already")
    if quoted(prompt, [text for one in checks for text in _looked_for(one.check)]):
        raise Refused("its prompt quotes what a check looks for")


def _looked_for(check: Check) -> Iterable[str]:
    argument = check.argument
    if isinstance(argument, str):
        return [argument]
    if not isinstance(argument, dict):
        return []
    if "run" in argument:
        return [shlex.join(argument["run"])]
    return [text for key, text in argument.items() if key != "path" and isinstance(text, str)]
