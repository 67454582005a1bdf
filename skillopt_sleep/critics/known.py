"""What a project's transcripts know: tools with the parameters that they were given, programs, flags, files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import chain

from skillopt_sleep.critics.lint import Known
from skillopt_sleep.domain.commands import bare, flags, paths, split
from skillopt_sleep.domain.episodes import Action, ActionOutcome, Episode


def known_from(episodes: Iterable[Episode], has_file: Callable[[str], bool] | None = None) -> Known:
    """What agents used in these episodes and was not an error; `has_file` asks the project for what they never touched.

    A tool whose arguments were never seen by name has unknown parameters.
    """
    actions = [
        action for episode in episodes for action in episode.actions if action.outcome is not ActionOutcome.ERROR
    ]
    tools: dict[str, set[str]] = defaultdict(set)
    for action in actions:
        tools[action.tool].update(action.given)
    runs = [words for action in actions for simple in split(action.command) if (words := bare(simple.words))]
    named = chain.from_iterable(map(paths, runs))
    return Known(
        tools={name: frozenset(given) or None for name, given in tools.items()},
        programs=frozenset(words[0] for words in runs),
        flags=frozenset((words[0], flag) for words in runs for flag in flags(words)),
        files=frozenset(path.removeprefix("./").rstrip("/") for path in chain(_touched(actions), named)),
        has_file=has_file,
    )


def _touched(actions: Iterable[Action]) -> Iterable[str]:
    return chain.from_iterable(action.paths for action in actions)
