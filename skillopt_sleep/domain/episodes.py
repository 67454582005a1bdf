"""Sessions cut into episodes: one genuine request and all that followed until the next (architecture.md)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ActionKind(StrEnum):
    COMMAND = "command"  # a shell command
    EDIT = "edit"  # a change of an existing file
    WRITE = "write"  # a whole file
    READ = "read"
    SEARCH = "search"  # in contents
    LIST = "list"  # of names: glob, ls
    OTHER = "other"


class ActionOutcome(StrEnum):
    OK = "ok"
    ERROR = "error"
    REFUSED = "refused"  # by the person
    DENIED = "denied"  # by a rule or hook
    CASCADE = "cascade"  # only because a sibling failed
    INTERRUPTED = "interrupted"
    OPEN = "open"  # no result was seen


@dataclass(frozen=True, slots=True)
class Action:
    """One tool call, normalised over agents. All text is redacted; paths below the project are relative to it.

    `command` is the shell text of a COMMAND; `paths` what the call names as files or folders; `new` and `old` the
    content of an EDIT or WRITE (clipped as stored); `pattern` what a SEARCH or LIST looked for.
    `output` is the error text of a failed call, the head of a successful one. `empty` is True where a search or
    listing succeeded and found nothing. `said` are the person's words when they refused it. `tokens` is the output
    that this call took: its message's output tokens shared among the message's calls, and at least a quarter of the
    characters that the call itself holds (a client that streams stores the count of the message's first moment).
    `given` are the names of the arguments that the tool was given, none where they have no names.
    """

    id: int  # row of the call's event
    seq: int
    kind: ActionKind
    tool: str
    outcome: ActionOutcome
    at_ms: int | None = None
    command: str = ""
    paths: tuple[str, ...] = ()
    new: str = ""
    old: str = ""
    pattern: str = ""
    output: str = ""
    empty: bool = False
    said: str = ""
    said_event: int | None = None  # the row in which they said it
    tokens: int = 0
    given: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Episode:
    """One request and what followed. `unit day` and `person` are what gate.md joins sessions by."""

    id: str
    session: str  # our id of the session
    agent: str
    project: str
    person: str
    began_ms: int
    prompt: str
    prompt_event: int
    actions: tuple[Action, ...]
    queued: tuple[str, ...] = ()  # typed while the agent worked
    queued_events: tuple[int, ...] = ()  # their rows, in the same order
    correction: str = ""  # the next prompt of the same session, where there is one
    correction_event: int | None = None
    answer: str = ""
    interrupted: bool = False
    interrupt_event: int | None = None
    compacted: tuple[int, ...] = ()  # sequence numbers at which the conversation was compacted
    tokens: int = 0  # output tokens of the whole episode
    start_commit: str = ""
    twin: str = ""  # digest of the normalised prompt, "" where it is too short to tell: episodes with one are one unit
    family: str = ""  # the session that its resumes and forks go back to
