"""Claude Code's records, one after another, to events.

Decisions that the format leaves open:
- A plan that is approved together with a fresh context is written as a refusal of `ExitPlanMode`, at once followed by
  "Implement the following plan:". Such a call was not refused: its outcome is OK, and the plan is FEEDBACK of author
  agent, because a model wrote it.
- Behind the refusal of a question ("The user wants to clarify these questions.") stand words of the program; such a
  refusal is one without words.
"""

from __future__ import annotations

import msgspec

from skillopt_harvesters import claude_shapes as shapes
from skillopt_harvesters import clip
from skillopt_harvesters.bytestream import digest
from skillopt_harvesters.claude_queue import Queue, Queued
from skillopt_harvesters.claude_shapes import Block, Record
from skillopt_harvesters.claude_words import (
    ABORTED,
    CASCADES,
    DENIALS,
    PLAN,
    REFUSED,
    REFUSED_TASK,
    STAYED,
    Words,
    classify,
    refusal_words,
    unwrapped,
)
from skillopt_harvesters.jsonl import Stretch, part
from skillopt_harvesters.model import Author, Event, Kind, Origin, Outcome, Source, Usage
from skillopt_harvesters.turns import OPEN_KEEP, Conversation, TurnFold

SILENT = {
    *("summary", "file-history-snapshot", "file-history-delta", "progress", "agent-name", "last-prompt", "mode"),
    *("permission-mode", "pr-link", "bridge-session", "frame-link", "atis-latch", "started", "result"),
}
ERRORS = ("api_error", "error", "api_refusal", "model_refusal_fallback")


class State(msgspec.Struct):
    """`names`: records a session id stands in; `aside` and `main`: records of sub-agents and of the conversation."""

    talk: Conversation
    skills: dict[str, Event] = {}
    queue: list[Queued] = []
    names: dict[str, int] = {}
    aside: int = 0
    main: int = 0
    machine: bool = False
    human: bool = False


class ClaudeFold(TurnFold[Record]):
    """One transcript file of Claude Code."""

    def __init__(self, source: Source, state: State, named: str, subagent: bool) -> None:
        super().__init__(source, state.talk)
        self.s = state
        self.queue = Queue(state.queue, self.emit, self.withdraw)
        self.named = named
        self.subagent = subagent
        self.handlers = {
            "user": self.user,
            "assistant": self.assistant,
            "system": self.system,
            "queue-operation": self.queued,
            "attachment": self.attachment,
            "custom-title": self.titled,
            "ai-title": self.titled,
            "worktree-state": self.moved,
            "relocated": self.moved,
        }

    # -- the loop

    def take(self, stretch: Stretch[Record]) -> None:
        handlers = self.handlers
        first = last = ""
        for record, start, end in zip(stretch.records, stretch.starts, stretch.ends, strict=True):
            kind = record.type or (record.message.role if record.message else None)
            handle = handlers.get(kind or "")
            if handle is not None:
                self.understood += 1
                self.common_facts(record)
                handle(record, start, end)
            elif kind in SILENT:
                self.understood += 1
                self.skipped[kind or ""] += 1
            else:
                self.unknown += 1
                self.skipped[f"unknown record type {kind!s:.40}"] += 1
                continue
            stamp = record.timestamp
            if isinstance(stamp, str) and len(stamp) == 24 and stamp[-1] == "Z":
                if stamp > last:
                    last = stamp
                if stamp < first or not first:
                    first = stamp
            elif stamp is not None:
                self.span(self.at(stamp))
        self.span(self.at(first))
        self.span(self.at(last))

    def common_facts(self, record: Record) -> None:
        facts = self.facts
        cwds = facts.cwds
        if record.cwd and (not cwds or cwds[-1] != record.cwd):
            self.been_in(record.cwd)
        if record.git_branch:
            facts.branch = record.git_branch
        if record.version:
            facts.agent_version = record.version
        session = record.session_id
        if session:
            names = self.s.names
            names[session] = names.get(session, 0) + 1
        if record.is_sidechain:
            self.s.aside += 1
        else:
            self.s.main += 1
        if record.entrypoint and record.entrypoint.startswith("sdk"):
            self.s.machine = True

    def key(self, record: Record, start: int) -> str:
        """Stable over resumes, forks and copies: the record's uuid, made unique where it is a made-up one."""
        uuid = record.uuid
        if uuid is None:
            return f"{record.session_id or self.named}@{start}"
        return uuid if len(uuid) == 36 else f"{record.session_id or self.named}/{uuid}"

    def event(self, record: Record, start: int, end: int, kind: Kind, author: Author, text: str) -> Event:
        return Event(
            key=self.key(record, start),
            kind=kind,
            author=author,
            offset=start,
            length=end - start,
            at_ms=self.at(record.timestamp),
            text=text,
            agent_id=self.aside_id(record),
        )

    def aside_id(self, record: Record) -> str:
        """The sub-agent that speaks inside another's file."""
        if not record.is_sidechain or self.subagent:
            return ""
        return record.agent_id or "sidechain"

    # -- the person

    def user(self, record: Record, start: int, end: int) -> None:
        if record.message is None:
            self.skipped["message of unknown shape"] += 1
            return
        texts, results, images = contents(record.message.content)
        for block in results:
            self.result(record, block, start, end)
        if record.is_sidechain or self.subagent:
            self.skipped["sub-agent's prompt" if not results else "tool result"] += 1
        elif results or record.tool_use_result != shapes.NOTHING:
            self.skipped["tool result"] += 1
            if any(classify(text).kind is Kind.INTERRUPT for text in texts):
                self.interrupted(record, start, end)
        elif record.is_compact_summary or record.is_visible_in_transcript_only:
            self.skipped["compaction summary"] += 1
        elif record.is_meta:
            self.skipped["meta"] += 1
            self.skill_body(record, texts, start, end)
        else:
            self.words(record, texts, images, start, end)

    def words(self, record: Record, texts: list[str], images: int, start: int, end: int) -> None:
        origin = part(shapes.kinded, record.origin, None)
        if origin is not None and origin.kind != "human":
            self.skipped[f"origin {origin.kind!s:.40}"] += 1
            return
        found = [classify(text) for text in texts]
        self.queue.begun(texts)
        kinds = {words.kind for words in found}
        if Kind.INTERRUPT in kinds:
            self.interrupted(record, start, end)
        elif Kind.FEEDBACK in kinds or record.plan_content != shapes.NOTHING:
            self.planned(record, found, start, end)
        else:
            typed = [words for words in found if words.kind is not None]
            text = "\n".join(words.text for words in typed) or ("[image]" if images and not found else "")
            if text:
                kind = Kind.COMMAND if Kind.COMMAND in kinds else Kind.PROMPT
                self.typed(record, kind, text, start, end)
            else:
                self.skipped[found[0].why if found else "empty"] += 1

    def typed(self, record: Record, kind: Kind, text: str, start: int, end: int) -> None:
        if record.prompt_source == "sdk":
            self.s.machine = True
        elif record.prompt_source or record.origin != shapes.NOTHING:
            self.s.human = True
        self.prompt(self.event(record, start, end, kind, Author.PERSON, clip.words(text)))

    def planned(self, record: Record, found: list[Words], start: int, end: int) -> None:
        """A plan handed over: approved by the person, written by a model."""
        self.end_turn()
        text = "\n".join(words.text for words in found).removeprefix(PLAN).strip()
        event = self.event(record, start, end, Kind.FEEDBACK, Author.AGENT, clip.words(text))
        self.emit(msgspec.structs.replace(event, head="plan approved"))
        self.talk.turn = event.key
        refused, self.talk.refused = self.talk.refused, None
        if refused is not None and refused.tool == "ExitPlanMode":
            self.emit(msgspec.structs.replace(refused, outcome=Outcome.OK, text="", head="plan approved"))
            self.skipped["approved plan written as a refusal"] += 1

    def interrupted(self, record: Record, start: int, end: int) -> None:
        self.interrupt(self.event(record, start, end, Kind.INTERRUPT, Author.PERSON, ""))

    def queued(self, record: Record, start: int, end: int) -> None:
        operation = record.operation
        text = (part(shapes.text, record.content, "") or "").strip()
        if operation == "popAll":
            self.queue.put_back(text)
        elif operation == "remove" and not self.queue.handed_over(text) and text:
            self.queue.add(self.enqueued(record, text, start, end))
            self.queue.handed_over(text)
        elif operation == "enqueue" and text:
            self.queue.add(self.enqueued(record, text, start, end))

    def enqueued(self, record: Record, text: str, start: int, end: int) -> Event:
        event = self.event(record, start, end, Kind.QUEUED, Author.PERSON, clip.words(text))
        print_ = digest(text.encode("utf-8", "replace"))[:8]
        key = f"{record.session_id or self.named}:queue:{record.timestamp}:{print_}"
        return msgspec.structs.replace(event, key=key)

    # -- the agent

    def assistant(self, record: Record, start: int, end: int) -> None:
        message = record.message
        if message is None:
            self.skipped["message of unknown shape"] += 1
            return
        if record.is_api_error_message:
            self.trouble(record, "\n".join(contents(message.content)[0]), start, end)
            return
        if message.model == "<synthetic>":
            self.skipped["synthetic answer"] += 1
            return
        self.used(message.model)
        spent = self.message_key(record, start)
        if message.usage is not None:
            self.tokens(record, spent)
        content = part(shapes.blocks, message.content, None)
        if isinstance(content, str):
            self.said(record, spent, content, start, end)
            return
        for block in content if content is not None else loose_blocks(message.content):
            if block.type == "tool_use":
                self.called(record, spent, block, start, end)
            elif block.type == "text" and block.text:
                self.said(record, spent, block.text, start, end)

    def message_key(self, record: Record, start: int) -> str:
        """The identity under which a message's tokens are counted; made unique where it is a made-up one."""
        name = record.message.id if record.message else None
        if name is None:
            return self.key(record, start)
        return name if len(name) > 20 else f"{record.session_id or self.named}/{name}"

    def tokens(self, record: Record, key: str) -> None:
        message = record.message
        if message is None or (usage := message.usage) is None:
            return
        self.spend(
            Usage(
                key=key,
                input=usage.input_tokens or 0,
                output=usage.output_tokens or 0,
                cache_read=usage.cache_read_input_tokens or 0,
                cache_write=usage.cache_creation_input_tokens or 0,
                model=message.model or "",
                at_ms=self.at(record.timestamp),
            )
        )

    def said(self, record: Record, spent: str, text: str, start: int, end: int) -> None:
        if not record.is_sidechain or self.subagent:
            event = self.event(record, start, end, Kind.ANSWER, Author.AGENT, clip.words(text))
            self.answered(msgspec.structs.replace(event, message_id=spent))

    def called(self, record: Record, spent: str, block: Block, start: int, end: int) -> None:
        name = block.id or ""
        self.call(
            Event(
                key=f"{self.key(record, start)}:{name}",
                kind=Kind.CALL,
                author=Author.AGENT,
                offset=start,
                length=end - start,
                at_ms=self.at(record.timestamp),
                call_id=name,
                tool=block.name or "",
                arguments=clip.arguments(block.input),
                outcome=Outcome.OPEN,
                message_id=spent,
                agent_id=self.aside_id(record),
            )
        )

    def result(self, record: Record, block: Block, start: int, end: int) -> None:
        """A call's outcome, merged into the call's own event."""
        name = block.tool_use_id or ""
        call = self.closed(name)
        if call is None:
            self.skipped["result without its call"] += 1
            return
        text = part(shapes.text_parts, block.content, "")
        if not isinstance(text, str):
            text = "\n".join(piece.text for piece in text or () if piece.text)
        if block.is_error:
            text = unwrapped(text)
            outcome = outcome_of_error(text, record.tool_denial_kind)
            said = refusal_words(text) if outcome is Outcome.REFUSED else ""
            self.failed(call, text, outcome, self.at(record.timestamp), said)
            if said:
                self.rejected(call, self.event(record, start, end, Kind.REJECTION, Author.PERSON, ""), said)
            return
        outcome = Outcome.OK
        if call.tool in STRUCTURED:
            outcome, text = self.structured(record, call, text, start, end)
        opened = self.succeeded(call, text, outcome)
        if opened is not None:
            self.s.skills[name] = opened

    def structured(self, record: Record, call: Event, text: str, start: int, end: int) -> tuple[Outcome, str]:
        """What the structured result says beyond the text: an interruption, an exit code's meaning, given answers."""
        raw = bytes(record.tool_use_result)
        if not any(mark in raw for mark in (b'"interrupted":true', b"returnCodeInterpretation", b'"answers"')):
            return Outcome.OK, text
        facts = part(shapes.result_facts, record.tool_use_result, None)
        if facts is None:
            return Outcome.OK, text
        if facts.answers:
            said = "\n".join(f"{question} {answer}" for question, answer in facts.answers.items())
            event = self.event(record, start, end, Kind.FEEDBACK, Author.PERSON, clip.words(said))
            key = f"{call.key}:answers"
            self.emit(msgspec.structs.replace(event, key=key, call_id=call.call_id, head="answers"))
        return Outcome.INTERRUPTED if facts.interrupted else Outcome.OK, text or facts.return_code_interpretation or ""

    # -- the program

    def trouble(self, record: Record, text: str, start: int, end: int) -> None:
        self.emit(self.event(record, start, end, Kind.ERROR, Author.HARNESS, clip.error_text(text)))

    def system(self, record: Record, start: int, end: int) -> None:
        subtype = record.subtype or ""
        if subtype == "compact_boundary":
            self.emit(self.event(record, start, end, Kind.COMPACTION, Author.HARNESS, ""))
        elif subtype in ERRORS:
            failure = part(shapes.failures, record.error, None)
            text = failure if isinstance(failure, str) else (failure.message if failure else None)
            self.trouble(record, f"{subtype}: {text or part(shapes.text, record.content, '') or ''}", start, end)
        elif subtype == "local_command" and not self.subagent and not record.is_sidechain:
            words = classify(part(shapes.text, record.content, "") or "")
            if words.kind is Kind.COMMAND:
                self.emit(self.event(record, start, end, Kind.COMMAND, Author.PERSON, clip.words(words.text)))
        else:
            self.skipped[f"system {subtype:.40}"] += 1

    def attachment(self, record: Record, start: int, end: int) -> None:
        found = part(shapes.attachments, record.attachment, None)
        if found is None:
            self.skipped["attachment of unknown shape"] += 1
        elif found.type == "queued_command":
            self.steered(record, found, start, end)
        elif found.type in ("skill_listing", "dynamic_skill"):
            for name in (found.names or found.skill_names or [])[:OPEN_KEEP]:
                event = self.event(record, start, end, Kind.SKILL, Author.HARNESS, "")
                key = f"{event.key}:skill:{name}"
                self.emit(msgspec.structs.replace(event, key=key, tool=name, head="offered"))
        else:
            self.skipped[f"attachment {found.type or '':.40}"] += 1

    def steered(self, record: Record, found: shapes.Attachment, start: int, end: int) -> None:
        """A queued text as the model got it; the same text may have been taken at its removal from the queue."""
        kind = found.origin.kind if found.origin else "human"
        texts, _, _ = contents(found.prompt)
        text = "\n".join(texts).strip()
        own = record.is_sidechain or self.subagent or kind != "human" or found.command_mode == "task-notification"
        if own or classify(text).kind is not Kind.PROMPT:
            self.skipped["attachment queued_command, not typed"] += 1
            return
        if not self.queue.delivered(text):
            self.emit(self.event(record, start, end, Kind.QUEUED, Author.PERSON, clip.words(text)))

    def titled(self, record: Record, start: int, end: int) -> None:
        self.facts.title = record.custom_title or record.ai_title or self.facts.title

    def moved(self, record: Record, start: int, end: int) -> None:
        """The project was entered through a worktree, or moved: its own folder comes first."""
        worktree = part(shapes.worktrees, record.worktree_session, None)
        if worktree is not None and worktree.original_cwd:
            cwds = [cwd for cwd in self.facts.cwds if cwd != worktree.original_cwd]
            self.facts.cwds = [worktree.original_cwd, *cwds]
        self.been_in(record.relocated_cwd)

    def skill_body(self, record: Record, texts: list[str], start: int, end: int) -> None:
        """A skill's text as the program put it before the model: opened, and exactly this text."""
        text = "\n".join(texts)
        if not text.startswith(SKILL_BODY):
            return
        folder, _, body = text[len(SKILL_BODY) :].partition("\n")
        folder = folder.strip()
        event = self.s.skills.pop(record.source_tool_use_id or "", None)
        if event is None:
            event = self.event(record, start, end, Kind.SKILL, Author.HARNESS, "")
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
        if self.subagent or (state.aside and not state.main):
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


STRUCTURED = {"Bash", "AskUserQuestion"}
SKILL_BODY = "Base directory for this skill:"


def contents(raw: msgspec.Raw) -> tuple[list[str], list[Block], int]:
    """Texts, tool results and the number of images of a content."""
    content = part(shapes.blocks, raw, None)
    if isinstance(content, str):
        return [content], [], 0
    blocks = content if content is not None else loose_blocks(raw)
    texts = [block.text for block in blocks if block.type == "text" and block.text]
    results = [block for block in blocks if block.type == "tool_result"]
    return texts, results, sum(block.type == "image" for block in blocks)


def loose_blocks(raw: msgspec.Raw) -> list[Block]:
    """The blocks of a content of which one has an unexpected shape."""
    found = [part(shapes.one_block, one, None) for one in part(shapes.raw_blocks, raw, None) or ()]
    return [block for block in found if block is not None]


def outcome_of_error(text: str, denial: str | None) -> Outcome:
    """Whether a failed call failed by itself, was refused by the person, denied by a rule, or went with a sibling."""
    head = text.lstrip()[:200]
    if head.startswith((REFUSED, REFUSED_TASK, STAYED)):
        return Outcome.REFUSED
    if any(mark in head for mark in CASCADES):
        return Outcome.CASCADE
    if any(mark in head for mark in ABORTED):
        return Outcome.INTERRUPTED
    if denial is not None:
        return Outcome.REFUSED if "user" in denial.lower() else Outcome.DENIED
    return Outcome.DENIED if head.startswith(DENIALS) else Outcome.ERROR
