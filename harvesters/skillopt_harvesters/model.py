"""Sessions and events: what every format is turned into. Text here is raw; whoever stores or sends it redacts first.

The types are msgspec structs because a harvest makes a million of them.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

KEEP = 4096
"""Characters of arguments and of error text that are kept of a call."""
MARGIN = 512
"""Handed on beyond KEEP, so that a redactor sees a whole token before the final clip (harvest-notes.md)."""
HEAD = 256
"""Characters of successful output that are kept; of the rest only length and digest."""


TAG = "skillopt-sleep"
"""What our own runs are started with in CLAUDE_CODE_ENTRYPOINT and CODEX_INTERNAL_ORIGINATOR_OVERRIDE. The agents write
it down as `entrypoint` and `originator` (seen in 2.1.197 and 0.171.0); a session that bears it is no person's."""


class Origin(StrEnum):
    INTERACTIVE = "interactive"
    HEADLESS = "headless"
    SUBAGENT = "subagent"
    OWN = "own"


class Author(StrEnum):
    PERSON = "person"
    AGENT = "agent"
    TOOL = "tool"
    HARNESS = "harness"


class Kind(StrEnum):
    PROMPT = "prompt"  # typed by the person
    QUEUED = "queued"  # typed while the agent worked
    COMMAND = "command"  # a slash command or !cmd, typed by the person
    REJECTION = "rejection"  # the person's words when refusing a call; `call_id` names the call
    FEEDBACK = "feedback"  # a vote or its reason, a kept or undone edit
    ANSWER = "answer"  # the agent's last words of a turn
    CALL = "call"  # a tool call, with its outcome once known
    INTERRUPT = "interrupt"
    COMPACTION = "compaction"
    SKILL = "skill"  # a skill was offered or opened: `tool` is its name, `head` what is known of it
    ERROR = "error"  # the harness or the model's service failed


class Outcome(StrEnum):
    OK = "ok"
    ERROR = "error"
    REFUSED = "refused"  # by the person
    DENIED = "denied"  # by a rule, hook or policy; not the person
    CASCADE = "cascade"  # failed because a sibling call failed, or was cancelled with it
    INTERRUPTED = "interrupted"
    OPEN = "open"  # no result seen (yet)


class Event(msgspec.Struct, gc=False, kw_only=True):
    """One normalised record. `key` is unique within an agent over resumes, forks, archives and copies. Not to be
    changed by whom it was given to; its reader fills in a call's result until then, as a second struct costs its time.

    `offset` and `length` address the raw record in its file (bytes). An event that comes again under its key replaces
    the earlier one: an open call gets its outcome, a provisional answer its final words.
    """

    key: str
    kind: Kind
    author: Author
    offset: int
    length: int
    at_ms: int | None = None
    text: str = ""  # the words; for a failed call the error text, at most KEEP + MARGIN characters
    call_id: str = ""
    tool: str = ""  # as the agent names it
    arguments: str = ""  # JSON text, at most KEEP + MARGIN characters
    outcome: Outcome | None = None
    output_length: int = 0  # bytes of the output as it is written in the transcript, characters of an error's text
    output_digest: str = ""  # XXH3-64 of the whole output as written, hex; of a skill's text its blake2b-128
    head: str = ""
    message_id: str = ""
    agent_id: str = ""  # set where a sub-agent speaks inside its parent's file


class Usage(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Tokens of one model message, counted once however many lines it takes. `key` is unique within an agent."""

    key: str
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    model: str = ""
    at_ms: int | None = None


class SessionFacts(msgspec.Struct, kw_only=True):
    """What is known of a session so far; a later batch's facts replace an earlier one's."""

    agent: str
    native_id: str
    origin: Origin = Origin.INTERACTIVE
    parent: str = ""
    fork_of: str = ""
    cwds: list[str] = []
    git_root: str = ""
    branch: str = ""
    head_commit: str = ""
    remote: str = ""
    agent_version: str = ""
    models: list[str] = []
    title: str = ""
    started_ms: int | None = None
    ended_ms: int | None = None


class Trouble(msgspec.Struct, frozen=True, gc=False):
    """One thing that could not be read. `line` counts from 1, 0 where lines mean nothing."""

    path: str
    line: int
    reason: str


class Cursor(msgspec.Struct, kw_only=True):
    """Where reading a source stopped, and all that going on needs. Opaque to everybody but its reader.

    `offset` is the end of the last whole record taken; `before` is the digest of the bytes just before it, so that a
    replaced file is noticed. `state` is the reader's own (open calls, message ids seen, the provisional answer).
    """

    offset: int = 0
    before: str = ""
    parser: int = 0
    state: bytes = b""


class Batch(msgspec.Struct, kw_only=True):
    """What one stretch of a source gave. Store its events and its cursor in one transaction."""

    session: SessionFacts
    events: list[Event]
    usage: list[Usage]
    cursor: Cursor
    understood: int = 0
    unknown: int = 0
    skipped: dict[str, int] = {}  # records left out on purpose, by reason
    warnings: list[Trouble] = []
    withdrawn: list[str] = []  # keys of events of earlier batches that turned out to be none
    more: bool = False  # True where the source has more to give now
    one_of_many: bool = False  # True where the source holds many sessions, and this is all that is new of one of them


class Source(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A file (or one session inside another program's database) that may hold transcripts."""

    agent: str
    path: str
    root: str = ""
    size: int = 0
    mtime_ns: int = 0
    device: int = 0
    inode: int = 0
    link: bool | None = None  # whether the path is a symbolic link; None where that was not looked at


class Unreadable(Exception):
    """A source that cannot be read at all: permission, a FIFO, gone, not a transcript."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason
