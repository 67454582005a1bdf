"""What is common to all of a Claude Code transcript's records: whose they are, what they cost, what the program says.

`claude_session.py` adds the person and the agent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from skillopt_harvesters import claude_shapes as shapes
from skillopt_harvesters import clip
from skillopt_harvesters.bytestream import digest
from skillopt_harvesters.claude_queue import Queue, Queued
from skillopt_harvesters.claude_shapes import Record, contents
from skillopt_harvesters.claude_words import classify
from skillopt_harvesters.fold import TOKENS_MOST
from skillopt_harvesters.jsonl import Stretch, part
from skillopt_harvesters.model import TAG, Author, Event, Kind, Origin, Source, Usage
from skillopt_harvesters.turns import OPEN_KEEP, Conversation, TurnFold

SKILL_BODY = "Base directory for this skill:"
IMAGE = "[image]"
AGAIN_KEEP = 1024
"""Typed texts of a session that are remembered."""
MOVES = ("worktree-state", "relocated")
HANDLED = {"user", "assistant", "system", "queue-operation", "attachment", "custom-title", "ai-title", *MOVES}
BY_THEMSELVES = {None, *MOVES}
"""Kinds of records at which the order of a stretch's facts matters, or is not known."""
ERRORS = ("api_error", "error", "api_refusal", "model_refusal_fallback")


class State(msgspec.Struct):
    """`again`: what was typed when, and its key. `below`: what prompts follow on, and their keys (`claude_rewind`).
    `names`: records that a session id stands in. `aside` and `main`: records of sub-agents and of the conversation."""

    talk: Conversation
    skills: dict[str, Event] = {}
    queue: list[Queued] = []
    names: dict[str, int] = {}
    again: dict[str, str] = {}
    below: dict[str, str] = {}
    aside: int = 0
    main: int = 0
    machine: bool = False
    human: bool = False
    own: bool = False


class ClaudeRecords(TurnFold[Record]):
    """One transcript file of Claude Code, as far as its records say it of themselves."""

    def __init__(self, source: Source, state: State, named: str, subagent: bool) -> None:
        super().__init__(source, state.talk, named)
        self.s = state
        self.queue = Queue(state.queue, self.emit, self.withdraw)
        self.subagent = subagent
        self.one_by_one = False
        self.paid: shapes.Tokens | None = None
        self.paid_by = ""

    def add(self, stretch: Stretch[Record]) -> None:
        """A stretch's facts are taken together, unless a record of it may change what those before it said."""
        kinds = {record.type for record in stretch.records}
        self.one_by_one = not BY_THEMSELVES.isdisjoint(kinds)
        if not self.one_by_one:
            handled = kinds <= HANDLED
            self.common_facts(stretch.records if handled else [one for one in stretch.records if one.type in HANDLED])
        super().add(stretch)

    def common_facts(self, records: Sequence[Record]) -> None:
        """What records say in passing: where, in whose session, by which version."""
        facts, state = self.facts, self.s
        if records and (branch := records[-1].git_branch) and (version := records[-1].version):
            facts.branch, facts.agent_version = branch, version
        else:
            facts.branch = next((one.git_branch for one in reversed(records) if one.git_branch), facts.branch)
            facts.agent_version = next((one.version for one in reversed(records) if one.version), facts.agent_version)
        said = [(one.cwd, one.session_id, one.entrypoint, one.is_sidechain) for one in records]
        alike = said and said.count(said[0]) == len(said)  # nearly always, and found without a hash of each
        for (cwd, session, entry, aside), times in {said[0]: len(said)}.items() if alike else Counter(said).items():
            self.been_in(cwd)
            if session:
                state.names[session] = state.names.get(session, 0) + times
            if entry is not None and entry.startswith("sdk"):
                state.machine = True
            state.own = state.own or entry == TAG
            if aside:
                state.aside += times
            else:
                state.main += times

    def key(self, record: Record) -> str:
        """Stable over resumes, forks and copies: the record's uuid, made unique where it is a made-up one."""
        uuid = record.uuid
        if uuid is None:
            return f"{record.session_id or self.named}@{self.start}"
        return uuid if len(uuid) == 36 else f"{record.session_id or self.named}/{uuid}"

    def event(self, record: Record, kind: Kind, author: Author, text: str = "") -> Event:
        return Event(
            key=self.key(record),
            kind=kind,
            author=author,
            offset=self.start,
            length=self.end - self.start,
            at_ms=self.now(),
            text=text,
            agent_id=self.aside_id(record),
        )

    def once(self, event: Event) -> Event | None:
        """A person's event under the key that it had before, if the program has written the history again inside this
        file: then uuids are new, but times, message ids and call ids are not. None for an image that was pasted with
        words, which then stands by itself."""
        if event.at_ms is None:
            return event
        if event.text == IMAGE and any(mark.startswith(f"{event.at_ms}:") for mark in self.s.again):
            return None
        mark = f"{event.at_ms}:{digest(event.text.encode('utf-8', 'replace'))[:12]}"
        again = self.s.again
        key = again.setdefault(mark, event.key)
        if len(again) > AGAIN_KEEP:
            del again[next(iter(again))]
        return event if key == event.key else msgspec.structs.replace(event, key=key)

    def aside_id(self, record: Record) -> str:
        """The sub-agent that speaks inside another's file."""
        if not record.is_sidechain or self.subagent:
            return ""
        return record.agent_id or "sidechain"

    def message_key(self, record: Record) -> str:
        """The identity under which a message's tokens are counted; made unique where it is a made-up one."""
        name = record.message.id if record.message else None
        if name is None:
            return self.key(record)
        return name if len(name) > 20 else f"{record.session_id or self.named}/{name}"

    def pay(self, key: str, usage: shapes.Tokens, model: str | None) -> None:
        """Tokens that a line of the message `key` names; most lines of a message say them again."""
        if usage == self.paid and key == self.paid_by:
            return
        self.paid, self.paid_by = usage, key
        spent = Usage(
            key=key,
            input=usage.input_tokens or 0,
            output=usage.output_tokens or 0,
            cache_read=usage.cache_read_input_tokens or 0,
            cache_write=usage.cache_creation_input_tokens or 0,
            model=model or "",
            at_ms=self.now(),
        )
        odd = not 0 <= (spent.input | spent.output | spent.cache_read | spent.cache_write) <= TOKENS_MOST
        if odd or key in self.usage or key in self.common.usage:
            self.spend(spent)
        else:
            self.usage[key] = spent

    # -- the program

    def trouble(self, record: Record, text: str) -> None:
        self.emit(self.event(record, Kind.ERROR, Author.HARNESS, clip.error_text(text)))

    def system(self, record: Record) -> None:
        subtype = record.subtype or ""
        if subtype == "compact_boundary":
            self.emit(self.event(record, Kind.COMPACTION, Author.HARNESS))
        elif subtype in ERRORS:
            failure = part(shapes.failures, record.error, None)
            text = failure if isinstance(failure, str) else (failure.message if failure else None)
            self.trouble(record, f"{subtype}: {text or part(shapes.text, record.content, '') or ''}")
        elif subtype == "local_command" and not self.subagent and not record.is_sidechain:
            words = classify(part(shapes.text, record.content, "") or "")
            if words.kind is Kind.COMMAND:
                self.emit(self.event(record, Kind.COMMAND, Author.PERSON, clip.words(words.text)))
        else:
            self.skipped[f"system {subtype:.40}"] += 1

    def attachment(self, record: Record) -> None:
        found = part(shapes.attachments, record.attachment, None)
        if found is None:
            self.skipped["attachment of unknown shape"] += 1
        elif found.type == "queued_command":
            self.steered(record, found)
        elif found.type in ("skill_listing", "dynamic_skill"):
            for name in (found.names or found.skill_names or [])[:OPEN_KEEP]:
                event = self.event(record, Kind.SKILL, Author.HARNESS)
                key = f"{event.key}:skill:{name}"
                self.emit(msgspec.structs.replace(event, key=key, tool=name, head="offered"))
        else:
            self.skipped[f"attachment {found.type or '':.40}"] += 1

    def steered(self, record: Record, found: shapes.Attachment) -> None:
        """A queued text as the model got it; the same text may have been taken at its removal from the queue."""
        kind = found.origin.kind if found.origin else "human"
        texts, _, _ = contents(part(shapes.blocks, found.prompt, None))
        text = "\n".join(texts).strip()
        own = record.is_sidechain or self.subagent or kind != "human" or found.command_mode == "task-notification"
        if own or classify(text).kind is not Kind.PROMPT:
            self.skipped["attachment queued_command, not typed"] += 1
            return
        if not self.queue.delivered(text):
            self.emit(self.event(record, Kind.QUEUED, Author.PERSON, clip.words(text)))

    def titled(self, record: Record) -> None:
        self.facts.title = record.custom_title or record.ai_title or self.facts.title

    def moved(self, record: Record) -> None:
        """The project was entered through a worktree, or moved: its own folder comes first."""
        worktree = part(shapes.worktrees, record.worktree_session, None)
        if worktree is not None and worktree.original_cwd:
            cwds = [cwd for cwd in self.facts.cwds if cwd != worktree.original_cwd]
            self.facts.cwds = [worktree.original_cwd, *cwds]
        self.been_in(record.relocated_cwd)

    def skill_body(self, record: Record, texts: list[str]) -> None:
        """A skill's text as the program put it before the model: opened, and exactly this text."""
        text = "\n".join(texts)
        if not text.startswith(SKILL_BODY):
            return
        folder, _, body = text[len(SKILL_BODY) :].partition("\n")
        folder = folder.strip()
        event = self.s.skills.pop(record.source_tool_use_id or "", None)
        if event is None:
            event = self.event(record, Kind.SKILL, Author.HARNESS)
            event = msgspec.structs.replace(event, key=f"{event.key}:skill", head="opened")
            event = msgspec.structs.replace(event, tool=folder.replace("\\", "/").rstrip("/").rpartition("/")[2])
        path = clip.fitted({"path": folder})
        print_ = digest(body.strip().encode("utf-8", "replace"))
        self.emit(msgspec.structs.replace(event, arguments=path, output_digest=print_, output_length=len(body.strip())))

    # -- between batches

    def settle(self, last: bool) -> None:
        state, facts = self.s, self.facts
        self.identify()
        super().settle(last)
        if last:
            self.queue.give_all()
        state.queue = self.queue.items
        state.skills = dict(list(state.skills.items())[-OPEN_KEEP:])
        if state.own:
            facts.origin = Origin.OWN
        elif self.subagent or (state.aside and not state.main):
            facts.origin = Origin.SUBAGENT
        elif state.machine and not state.human:
            facts.origin = Origin.HEADLESS
        else:
            facts.origin = Origin.INTERACTIVE

    def identify(self) -> None:
        """Whose session this is. The file's name says it where it is the program's own; else most records do."""
        names, facts = self.s.names, self.facts
        most = max(names, key=lambda name: names[name]) if names else ""
        if self.subagent:
            facts.parent = most
            facts.native_id = f"{most}/{self.named}" if most else self.named
        elif len(self.named) == 36:
            facts.native_id = self.named
            facts.fork_of = next((name for name in names if name != self.named), "")
        else:
            facts.native_id = most or self.named

    def state(self) -> bytes:
        return msgspec.msgpack.encode(self.s)
