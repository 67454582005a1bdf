"""What the store gives back of a harvested session: the input of the miner. All text is redacted."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b


def session_name(agent: str, native_id: str) -> str:
    """The id that people see: stable over machines and harvests, as it is made of agent and native id alone."""
    digest = blake2b(f"{agent}\0{native_id}".encode(), digest_size=6).hexdigest()
    return f"s-{digest}"


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """One event row. Field meanings and the values of kind, author and outcome are those of the harvesters' `Event`."""

    id: int
    session: str
    seq: int
    kind: str
    author: str
    at_ms: int | None
    text: str = ""
    call_id: str = ""
    tool: str = ""
    arguments: str = ""
    outcome: str = ""
    output_length: int = 0
    output_digest: str = ""
    head: str = ""
    message_id: str = ""
    agent_id: str = ""


@dataclass(frozen=True, slots=True)
class StoredSession:
    """One session with its project. `output_by_message`: output tokens of each message id, counted once."""

    id: str
    agent: str
    native_id: str
    origin: str
    project: str
    cwd: str
    branch: str
    head_commit: str
    agent_version: str
    started_ms: int
    ended_ms: int
    events: tuple[StoredEvent, ...]
    output_by_message: dict[str, int]
    family: str = ""  # the first session of its resumes and forks, "" where it stands alone
