"""The second record that VS Code keeps of a chat: `GitHub.copilot-chat/transcripts/<session>.jsonl`
(transcript-formats.md 4.1), in the shape of Copilot CLI's events, of the newest chats alone.

The chat itself counts. Only where it is gone or was emptied ("Damage", 4.4) is the second record read in its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from skillopt_harvesters.copilot_cli_session import CopilotFold, State
from skillopt_harvesters.copilot_cli_shapes import Record
from skillopt_harvesters.fold import follow
from skillopt_harvesters.jsonl import REFUSED, RecordReader
from skillopt_harvesters.model import Batch, Cursor, Source
from skillopt_harvesters.turns import Conversation, new_facts
from skillopt_harvesters.walk import head_records, spelled

PARSER = 1
FOLDER = ("GitHub.copilot-chat", "transcripts")
CHATS = "chatSessions"

_reader = RecordReader(Record)
_state = msgspec.msgpack.Decoder(State)


def is_transcript(head: bytes) -> bool:
    """Whether a file begins as such a record does: as a session of Copilot CLI, but of a version of VS Code."""
    first = next(head_records(head, 1), None)
    if first is None or first.get("type") != "session.start":
        return False
    data = first.get("data")
    return isinstance(data, dict) and "vscodeVersion" in data


def is_below(path: str) -> bool:
    """Whether a file lies where VS Code keeps these records."""
    return path.endswith(".jsonl") and tuple(path.replace("\\", "/").split("/")[-3:-1]) == FOLDER


def chat_of(path: Path) -> Path | None:
    """The chat that a record is the second one of, if it is still there."""
    chats = path.parent.parent.parent / CHATS
    return next((chat for end in (".jsonl", ".json") if (chat := chats / f"{path.stem}{end}").is_file()), None)


def transcript_of(chat: Path) -> Path | None:
    """The second record of a chat, if there is one."""
    found = chat.parent.parent.joinpath(*FOLDER, f"{chat.stem}.jsonl")
    return found if chat.parent.name == CHATS and found.is_file() else None


def read_transcript(source: Source, agent: str, cwds: list[str], cursor: Cursor | None = None) -> Iterator[Batch]:
    """Batches from the cursor on. `cwds`: the folder of the workspace. Raises `Unreadable`."""

    def begin(state: bytes) -> CopilotFold:
        return CopilotFold(source, restored(state, agent, cwds), spelled(Path(source.path).stem))

    return follow(source, cursor, _reader, begin, PARSER)


def restored(state: bytes, agent: str, cwds: list[str]) -> State:
    if state:
        try:
            return _state.decode(state)
        except REFUSED:
            pass
    facts = new_facts(agent)
    facts.cwds = list(cwds)
    return State(talk=Conversation(facts=facts))
