"""Copilot CLI's sessions: `session-state/<id>/events.jsonl`, the flat `session-state/<id>.jsonl` of 0.0.3xx to 0.0.4xx,
and the whole JSON of `history-session-state/` before it (transcript-formats.md 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from skillopt_harvesters.bytestream import open_regular
from skillopt_harvesters.copilot_cli_legacy import looks_legacy, read_legacy
from skillopt_harvesters.copilot_cli_session import CopilotFold, State
from skillopt_harvesters.copilot_cli_shapes import Record
from skillopt_harvesters.fold import follow
from skillopt_harvesters.jsonl import REFUSED, RecordReader
from skillopt_harvesters.model import Batch, Cursor, Origin, Source, Trouble, Unreadable
from skillopt_harvesters.turns import Conversation, new_facts
from skillopt_harvesters.walk import files_below, head_records, spelled
from skillopt_harvesters.whole import read_head

PARSER = 2
AGENT = "copilot-cli"
EVENTS = "events.jsonl"
FAMILIES = ("session.", "assistant.", "user.message", "tool.execution_", "system.", "hook.", "permission.")
YAML_BYTES = 1 << 14
PROGRAM = "sdk"
"""The client's name where a program drives the session; the command line itself is `github/cli` in either form."""

_reader = RecordReader(Record)
_state = msgspec.msgpack.Decoder(State)


class CopilotCli:
    """The `Harvester` of Copilot CLI."""

    agent = AGENT

    def roots(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        """Versions to 0.0.42x followed XDG; what they left may be links to the newer place."""
        if environ.get("COPILOT_HOME"):
            bases = [Path(environ["COPILOT_HOME"])]
        else:
            bases = [home / ".copilot"]
            for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
                if environ.get(name):
                    bases.append(Path(environ[name]) / ".copilot")
        return [base / place for base in bases for place in ("session-state", "history-session-state")]

    def find(self, root: Path, trouble: list[Trouble]) -> Iterator[Source]:
        """A session's folder also holds the person's files; only its `events.jsonl` is a transcript."""
        endings = (".json",) if root.name == "history-session-state" else (".jsonl",)
        top = f"{root}/".replace("//", "/")
        for source in files_below(AGENT, root, trouble, endings):
            folder, _, name = source.path.removeprefix(top).rpartition("/")
            if not folder or (name == EVENTS and "/" not in folder):
                yield source

    def recognises(self, path: Path, head: bytes) -> bool:
        for record in head_records(head):
            kind, data = record.get("type"), record.get("data")
            if isinstance(data, dict) and "vscodeVersion" in data:
                return False
            if isinstance(kind, str) and kind.startswith(FAMILIES) and isinstance(record.get("data"), dict):
                return "id" in record or "parentId" in record
            if kind in ("user.message", "userpromptsubmitted") and isinstance(record.get("prompt"), str):
                return "session_id" in record
        return looks_legacy(head)

    def read(self, source: Source, cursor: Cursor | None = None) -> Iterator[Batch]:
        path = Path(source.path)
        if path.suffix == ".json":
            return read_legacy(source, cursor)
        named = spelled(path.parent.name if path.name == EVENTS else path.stem)

        def begin(state: bytes) -> CopilotFold:
            fold = CopilotFold(source, restored(state), named)
            if not state and path.name == EVENTS:
                place(fold, path.parent / "workspace.yaml")
            return fold

        return follow(source, cursor, _reader, begin, PARSER)


def restored(state: bytes) -> State:
    if state:
        try:
            return _state.decode(state)
        except REFUSED:
            pass
    return State(talk=Conversation(facts=new_facts(AGENT)))


def place(fold: CopilotFold, path: Path) -> None:
    """What the session's `workspace.yaml` says of it: flat `key: value` lines."""
    try:
        fd, _ = open_regular(str(path))
    except Unreadable:
        return
    lines = read_head(fd, YAML_BYTES).decode("utf-8", "replace").split("\n")
    found = {key: value.strip() for key, colon, value in (line.partition(":") for line in lines) if colon}
    facts = fold.facts
    fold.been_in(found.get("cwd"))
    facts.git_root = found.get("git_root", "")
    facts.branch = found.get("branch", "")
    facts.title = found.get("name", "")
    if found.get("client_name") == PROGRAM:
        facts.origin = Origin.HEADLESS
