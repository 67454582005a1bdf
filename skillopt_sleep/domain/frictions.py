"""What the miner finds: frictions, the patterns that they form, and the rule that a pattern suggests."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from skillopt_sleep.domain.sentences import Sentence


class FrictionKind(StrEnum):
    """In the order of what they cost on real data (architecture.md, where the value lies)."""

    REFUSAL = "refusal"
    DIAGNOSTIC = "diagnostic"
    CONTENT = "content"
    FACT = "fact"
    CORRECTION = "correction"
    INTERRUPT = "interrupt"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Quote:
    """Words or a command that a rule rests on, with their author. `text` is redacted."""

    event: int
    session: str
    at_ms: int | None
    author: Literal["person", "agent", "tool", "harness"]
    text: str


@dataclass(frozen=True, slots=True)
class Friction:
    """One wasted step. `signature` is its normalised key, equal for the same friction elsewhere in the project.

    `failing` is the action that went wrong (an action id), `resolving` what worked instead within the next eight
    actions on the same object, if anything did. `wasted` counts actions, `tokens` the output that they took.
    """

    signature: str
    kind: FrictionKind
    episode: str
    session: str
    at_ms: int
    failing: int | None
    resolving: int | None
    wasted: int
    tokens: int
    quotes: tuple[Quote, ...] = ()
    self_healing: bool = False  # the error names its own remedy and the next action mends it
    person: str = ""  # whose session it is
    project: str = ""
    features: tuple[tuple[str, str], ...] = ()  # identifiers that a rule's slots are filled from: (name, value) pairs

    def values(self, name: str) -> tuple[str, ...]:
        """The features of that name, in order."""
        return tuple(value for key, value in self.features if key == name)


@dataclass(frozen=True, slots=True)
class Stake:
    """What a pattern costs: wasted actions, their share of all output of the agents, sessions a week."""

    actions: int
    output_share: float
    per_week: float


@dataclass(frozen=True, slots=True)
class Pattern:
    """What recurs, in at least two sessions. `sentence` is the rule that it suggests, None where none can be phrased.

    `document` is where the rule would go: a procedure or fact to the learned skill, a house rule to the memory block.
    """

    key: str  # stable over nights: project, kind and signature
    project: str
    kind: Literal["request", "friction", "correction"]
    friction: FrictionKind | None
    title: str
    signature: str
    members: tuple[Friction, ...]
    episodes: tuple[str, ...]
    sessions: tuple[str, ...]
    first_ms: int
    last_ms: int
    stake: Stake
    sentence: Sentence | None = None
    document: Literal["skill", "memory"] = "skill"
    person: str = ""  # whose wish it is, where it is one person's
    reasons: tuple[str, ...] = ()  # the person's own words, redacted
    quotes: tuple[Quote, ...] = ()  # what it rests on, at most a few, each with its author
    self_healing: bool = False  # most of its members are: shown last
    cut_ms: int | None = None  # end of the day (UTC) on which a second of its sessions is seen (gate.md)
    after: int = 0  # its sessions that began after the cut

    @property
    def too_rare(self) -> bool:
        """Seen, too rare to test: fewer than two sessions, or none after the cut (gate.md, two ways to split)."""
        return self.cut_ms is None or self.after == 0
