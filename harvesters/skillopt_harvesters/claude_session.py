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
from skillopt_harvesters.claude_records import ClaudeRecords, State
from skillopt_harvesters.claude_shapes import Block, Record, contents, loose_blocks
from skillopt_harvesters.claude_words import PLAN, Words, classify, outcome_of_error, refusal_words, unwrapped
from skillopt_harvesters.jsonl import Stretch, part
from skillopt_harvesters.model import Author, Event, Kind, Outcome, Source

SILENT = {
    *("summary", "file-history-snapshot", "file-history-delta", "progress", "agent-name", "last-prompt", "mode"),
    *("permission-mode", "pr-link", "bridge-session", "frame-link", "atis-latch", "started", "result"),
}
STRUCTURED = {"Bash", "AskUserQuestion"}


class ClaudeFold(ClaudeRecords):
    """One transcript file of Claude Code."""

    def __init__(self, source: Source, state: State, named: str, subagent: bool) -> None:
        super().__init__(source, state, named, subagent)
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
