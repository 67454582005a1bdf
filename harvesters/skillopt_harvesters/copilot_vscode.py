"""VS Code's Copilot Chat: `chatSessions/*.json` and, from 1.109, the mutation log `chatSessions/*.jsonl`
(transcript-formats.md 4). A log changes its past, so it is read whole when it changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

from skillopt_harvesters import vscode_shapes as shapes
from skillopt_harvesters.bytestream import Window, digest, open_regular
from skillopt_harvesters.fold import to_ms
from skillopt_harvesters.jsonl import RecordReader, loose, objects, part
from skillopt_harvesters.model import Batch, Cursor, SessionFacts, Source, Trouble, Unreadable
from skillopt_harvesters.vscode_log import Replay
from skillopt_harvesters.vscode_session import Turns
from skillopt_harvesters.vscode_shapes import Entry, Request, Session
from skillopt_harvesters.vscode_transcript import (
    CHATS,
    chat_of,
    is_below,
    is_transcript,
    read_transcript,
    transcript_of,
)
from skillopt_harvesters.walk import HEAD_BYTES, files_below, head_records, source_of, spelled
from skillopt_harvesters.whole import CHUNK, STAYS, Document, batch_of, content_of, given, read_head, unchanged

PARSER = 2
AGENT = "copilot-vscode"
PRODUCTS = ("Code", "Code - Insiders", "Code - Exploration", "VSCodium", "Cursor", "Windsurf")
SERVERS = (".vscode-server", ".vscode-server-insiders", ".vscode-remote")
FOLDERS = {CHATS, "emptyWindowChatSessions", "transferredChatSessions"}

_sessions = msgspec.json.Decoder(Session)
_requests = msgspec.json.Decoder(Request)
_entries = RecordReader(Entry)
_any = msgspec.json.Decoder()


class CopilotVscode:
    """The `Harvester` of VS Code's chat."""

    agent = AGENT

    def roots(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        """`workspaceStorage` and `globalStorage` of every product's user folder."""
        bases = [environ.get("XDG_CONFIG_HOME") or f"{home}/.config", f"{home}/Library/Application Support"]
        if environ.get("APPDATA"):
            bases.append(environ["APPDATA"])
        users = [f"{base}/{product}/User" for base in bases for product in PRODUCTS]
        if environ.get("VSCODE_PORTABLE"):
            users.append(f"{environ['VSCODE_PORTABLE']}/user-data/User")
        users += [f"{home}/{server}/data/User" for server in SERVERS]
        return [Path(f"{user}/{place}") for user in users for place in ("workspaceStorage", "globalStorage")]

    def find(self, root: Path, trouble: list[Trouble]) -> Iterator[Source]:
        """Of a session that lies both as a document and as a log, the log counts."""
        found = [
            source
            for source in files_below(AGENT, root, trouble, (".json", ".jsonl"))
            if source.path.split("/")[-2:-1][0] in FOLDERS or is_below(source.path)
        ]
        logs = {source.path.removesuffix("l") for source in found if source.path.endswith(".jsonl")}
        yield from (source for source in found if source.path not in logs)

    def recognises(self, path: Path, head: bytes) -> bool:
        text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if not text.startswith(b"{"):
            return False
        first = next(head_records(head, 1), None)
        if first is not None and isinstance(first.get("kind"), int):
            return "v" in first or "k" in first
        if first is not None and "type" in first:
            return is_transcript(head)
        named = any(name in text for name in (b'"responderUsername"', b'"requesterUsername"', b'"initialLocation"'))
        return b'"requests"' in text and (named or b'"requestId"' in text)

    def read(self, source: Source, cursor: Cursor | None = None) -> Iterator[Batch]:
        if source.path.endswith(".jsonl") and is_transcript(head_of(source)):
            if chat_of(Path(source.path)) is None:
                yield from read_transcript(source, AGENT, place_of(source), cursor)
            return
        content = content_of(source)
        if not unchanged(content, cursor, PARSER):
            first = next(head_records(content[:CHUNK], 1), None)
            log = first is not None and isinstance(first.get("kind"), int)
            document = log_of(source, content) if log else flat_of(source, content)
            if document.events:
                yield from batch_of(document, content, cursor, PARSER)
            else:
                yield from emptied(document, content, source, cursor)


def head_of(source: Source) -> bytes:
    return read_head(open_regular(source.path)[0], HEAD_BYTES)


def emptied(document: Document, content: bytes, source: Source, cursor: Cursor | None) -> Iterator[Batch]:
    """A chat without a request: a new one, or one that the editor emptied. What was read of it before stays; what was
    not is read from its second record, if there is one."""
    before = given(cursor)
    (batch,) = batch_of(document, content, None, PARSER)
    transcript = transcript_of(Path(source.path))
    if before or transcript is not None:
        batch.cursor.state = msgspec.msgpack.encode([STAYS])
    if before and before != [STAYS]:
        batch.warnings.append(Trouble(source.path, 0, "the chat was emptied; what was read of it before stays"))
    elif not before and transcript is not None:
        second = source_of(AGENT, str(transcript), source.root, transcript.stat())
        for told in read_transcript(second, AGENT, place_of(source)):
            told.cursor, told.more = cursor or Cursor(), True
            batch.session = told.session
            yield told
        batch.warnings.append(Trouble(source.path, 0, "the chat was emptied; its second record is read in its place"))
    yield batch


def flat_of(source: Source, content: bytes) -> Document:
    """The events of a document. Each request addresses its own bytes."""
    document = Document(session=new_facts(source))
    session, requests = session_of(content)
    if session is None:
        document.warnings = [Trouble(source.path, 0, "not JSON")]
        return document
    identify(document, session, source, requests)
    turns = Turns(document)
    at = 0
    for number, request in enumerate(requests):
        raw = bytes(session.requests[number])
        at = max(content.find(raw, at), at)
        take(turns, request, number, at, len(raw))
        at += len(raw)
    return judged(document, source, len(session.requests))


def session_of(content: bytes) -> tuple[Session | None, list[Request]]:
    try:
        session = _sessions.decode(content.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        value = next(objects(content.decode("utf-8", "replace").removeprefix("\ufeff")), None)
        if not isinstance(value, dict):
            return None, []
        session = loose(Session, value)
    return session, [request_of(raw) for raw in session.requests]


def request_of(raw: msgspec.Raw) -> Request:
    """A request; a field of an unexpected shape is as if it were absent."""
    found: Request | None = part(_requests, raw, None)
    if found is None:
        value = part(_any, raw, None)
        found = loose(Request, value) if isinstance(value, dict) else Request()
    return found


def log_of(source: Source, content: bytes) -> Document:
    """The events of a log's last state. Each request addresses the line that last changed it."""
    document = Document(session=new_facts(source))
    end = content.rfind(b"\n") + 1
    windows = [Window(0, content[:end], end, False)] if end else []
    if end < len(content):
        windows.append(Window(end, content[end:], len(content) - end, True))
    replay = Replay()
    for window in windows:
        stretch = _entries.decode(window, True)
        document.warnings += [Trouble(source.path, line, reason) for line, reason in stretch.troubles]
        document.skipped.update(stretch.skipped)
        for entry, start, stop in zip(stretch.records, stretch.starts, stretch.ends, strict=True):
            if replay.apply(entry, start, stop):
                document.understood += 1
            else:
                document.unknown += 1
    if not replay.begun:
        document.warnings.append(Trouble(source.path, 0, "the log lacks its first state; what it holds is partial"))
    if replay.missed:
        document.warnings.append(Trouble(source.path, 0, f"{replay.missed} changes have no place in the state"))
    session, requests = session_of(msgspec.json.encode(replay.state))
    identify(document, session or Session(), source, requests)
    turns = Turns(document)
    for number, request in enumerate(requests):
        start, stop = replay.touched.get(number, (0, len(content)))
        take(turns, request, number, start, stop - start)
    return judged(document, source, document.understood)


def take(turns: Turns, request: Request, number: int, start: int, length: int) -> None:
    if request.message == shapes.NOTHING and not request.response:
        turns.document.unknown += 1
        return
    turns.document.understood += 1
    turns.request(request, number, start, length)


def judged(document: Document, source: Source, records: int) -> Document:
    total = document.understood + document.unknown
    if document.unknown * 20 > total:
        version = f"{AGENT} {document.session.agent_version}".strip()
        document.warnings.append(
            Trouble(source.path, 0, f"{document.unknown} of {total} records are of unknown kinds ({version})")
        )
    elif not records:
        document.skipped["no request"] += 1
    return document


def new_facts(source: Source) -> SessionFacts:
    return SessionFacts(agent=AGENT, native_id=spelled(Path(source.path).stem), cwds=place_of(source))


def identify(document: Document, session: Session, source: Source, requests: list[Request]) -> None:
    """The session's own id; an export has none, but its answers may name it, and its requests have ids."""
    facts = document.session
    known = [r.result.metadata.session_id for r in requests if r.result and r.result.metadata]
    first = next((r.request_id for r in requests if r.request_id), None)
    loose_id = f"{spelled(Path(source.path).stem)}-{digest((first or source.path).encode('utf-8', 'replace'))[:12]}"
    facts.native_id = session.session_id or next((name for name in known if name), None) or loose_id
    facts.title = session.custom_title or ""
    if requests:
        facts.started_ms = to_ms(session.creation_date)
        facts.ended_ms = to_ms(session.last_message_date) or facts.started_ms


def place_of(source: Source) -> list[str]:
    """The folder of the workspace that the chat belongs to, from `workspace.json` beside its folder."""
    path = Path(source.path)
    if path.parent.name == CHATS:
        workspace = path.parent.parent
    elif is_below(source.path):
        workspace = path.parent.parent.parent
    else:
        return []
    try:
        fd, _ = open_regular(str(workspace / "workspace.json"))
    except Unreadable:
        return []
    try:
        place = shapes.places.decode(read_head(fd, CHUNK))
    except (msgspec.MsgspecError, UnicodeError):
        return []
    uri = place.folder or place.workspace
    return [folder_of(uri)] if uri else []


def folder_of(uri: str) -> str:
    """A path out of a `file:` URI, with drive letters and network hosts; other URIs stay as they are."""
    try:
        split = urlsplit(uri)
    except ValueError:
        return uri
    if split.scheme != "file":
        return uri
    path = unquote(split.path)
    if split.netloc:
        return f"//{split.netloc}{path}"
    if len(path) > 2 and path[0] == "/" and path[2] == ":":
        return path[1:]
    return path
