"""One session's actions in a row, with what a finder asks of them again and again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Final, Literal

from skillopt_sleep.domain import commands
from skillopt_sleep.domain.commands import Simple
from skillopt_sleep.domain.episodes import Action, ActionKind, ActionOutcome, Episode
from skillopt_sleep.domain.frictions import Friction, FrictionKind, Quote
from skillopt_sleep.mine.findings import Finding, findings_in
from skillopt_sleep.mine.wording import words

NEAR: Final = 8
"""An alternative stands within the next eight actions on the same object (architecture.md)."""
_MOST_PARTS: Final = 64
"""Simple commands of one text that are looked at."""
QUOTE: Final = 400
"""Characters of a quote."""

LOOKS: Final = frozenset({ActionKind.READ, ActionKind.SEARCH, ActionKind.LIST})
CHANGES: Final = frozenset({ActionKind.EDIT, ActionKind.WRITE})
_FILTERS: Final = words(
    "head tail grep egrep rg sed awk cut sort uniq wc tee less more cat jq tr xargs column echo printf cd pushd popd "
    "export set source . true : sleep pwd which date env test [ time read for do done"
)


@dataclass(frozen=True, slots=True)
class Step:
    """An action at its place in the session. `parts` are the simple commands of a COMMAND, `findings` what it said.

    `heads` are program and sub-command of each part that does the work, in order; filters and `cd` are left out.
    """

    at: int
    action: Action
    episode: Episode
    parts: tuple[Simple, ...] = ()
    heads: tuple[tuple[str, ...], ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def at_ms(self) -> int:
        return self.action.at_ms if self.action.at_ms is not None else self.episode.began_ms

    @property
    def ok(self) -> bool:
        return self.action.outcome is ActionOutcome.OK

    @property
    def failed(self) -> bool:
        return self.action.outcome is ActionOutcome.ERROR


@dataclass(frozen=True, slots=True)
class Trace:
    """A session: its episodes and all its steps in order."""

    session: str
    project: str
    person: str
    family: str
    episodes: tuple[Episode, ...]
    steps: tuple[Step, ...]

    @property
    def began_ms(self) -> int:
        return self.episodes[0].began_ms

    def near(self, step: Step) -> Sequence[Step]:
        """The next eight steps."""
        return self.steps[step.at + 1 : step.at + 1 + NEAR]


def traces_of(episodes: Iterable[Episode]) -> tuple[Trace, ...]:
    """Episodes joined by session, sessions in order of their beginning; the order given does not matter."""
    ordered = sorted(episodes, key=lambda e: (e.session, e.prompt_event, e.id))
    traces = [_trace(list(group)) for _, group in groupby(ordered, key=lambda e: e.session)]
    return tuple(sorted(traces, key=lambda t: (t.began_ms, t.session)))


def _trace(episodes: list[Episode]) -> Trace:
    rows = sorted(
        ((a.seq, i, a, e) for e in episodes for i, a in enumerate(e.actions)), key=lambda r: (r[0], r[3].id, r[1])
    )
    steps = tuple(_step(n, a, e) for n, (_, _, a, e) in enumerate(rows))
    first = episodes[0]
    return Trace(first.session, first.project, first.person, first.family or first.session, tuple(episodes), steps)


def _step(at: int, action: Action, episode: Episode) -> Step:
    parts = _parts(action)
    return Step(at, action, episode, parts, _heads(parts), _findings(action))


def _parts(action: Action) -> tuple[Simple, ...]:
    if action.kind is not ActionKind.COMMAND:
        return ()
    return tuple(p for p in commands.split(action.command) if p.words and p.words[0])[:_MOST_PARTS]


def _heads(parts: Sequence[Simple]) -> tuple[tuple[str, ...], ...]:
    working = [p for p in parts if p.words[0] not in _FILTERS and not p.inside]
    return tuple(dict.fromkeys(commands.head(p.words) for p in working or parts))


def _findings(action: Action) -> tuple[Finding, ...]:
    ran = action.kind is ActionKind.COMMAND and action.outcome in {ActionOutcome.OK, ActionOutcome.ERROR}
    return findings_in(action.output) if ran else ()


def day_of(ms: int) -> str:
    """The UTC date of a moment."""
    return datetime.fromtimestamp(ms / 1000, UTC).date().isoformat()


def same_file(a: str, b: str) -> bool:
    """Whether two names may mean one file: equal, or one ends with the other."""
    return a == b or a.endswith("/" + b.lstrip("./")) or b.endswith("/" + a.lstrip("./"))


def quote(step: Step, author: Literal["agent", "tool"]) -> Quote:
    """The call itself, or the first words of what the tool said."""
    action = step.action
    named = action.command or f"{action.tool} {' '.join(action.paths)} {action.pattern}".strip()
    text = named if author == "agent" else action.output.strip()
    return Quote(action.id, step.episode.session, action.at_ms, author, text[:QUOTE])


def said_by_person(event: int, session: str, at_ms: int | None, text: str) -> Quote:
    return Quote(event, session, at_ms, "person", text.strip()[:QUOTE])


def friction(
    step: Step,
    kind: FrictionKind,
    signature: str,
    *,
    resolving: Step | None = None,
    wasted: int = 1,
    tokens: int | None = None,
    quotes: Sequence[Quote] = (),
    features: Sequence[tuple[str, str]] = (),
    self_healing: bool = False,
) -> Friction:
    """A friction whose failing action is the step's. `tokens` is by default what the action itself took."""
    return Friction(
        signature=signature,
        kind=kind,
        episode=step.episode.id,
        session=step.episode.session,
        at_ms=step.at_ms,
        failing=step.action.id,
        resolving=resolving.action.id if resolving else None,
        wasted=wasted,
        tokens=step.action.tokens if tokens is None else tokens,
        quotes=tuple(quotes),
        self_healing=self_healing,
        person=step.episode.person,
        features=tuple(features),
    )
