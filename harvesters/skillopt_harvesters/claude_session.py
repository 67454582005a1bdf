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

from skillopt_harvesters import claude_rewind, clip
from skillopt_harvesters import claude_shapes as shapes
from skillopt_harvesters.bytestream import digest
from skillopt_harvesters.claude_records import IMAGE, ClaudeRecords, State
from skillopt_harvesters.claude_shapes import Block, Message, Record, contents
from skillopt_harvesters.claude_words import PLAN, Words, classify, outcome_of_error, refusal_words, unwrapped
from skillopt_harvesters.glance import glance, glance_of
from skillopt_harvesters.jsonl import Stretch, part
from skillopt_harvesters.model import Author, Event, Kind, Outcome, Source

SILENT = {
    *("summary", "file-history-snapshot", "file-history-delta", "progress", "agent-name", "last-prompt", "mode"),
    *("permission-mode", "pr-link", "bridge-session", "frame-link", "atis-latch", "started", "result"),
    *("api-request", "api-request-blob", "api-request-shape", "cost-state", "tools-used"),
}
GIVEN = 20
"""From this length on a call's id is one that the API gave, and unique by itself; a message's is longer."""
SHELL, QUESTION = "Bash", "AskUserQuestion"
"""Tools whose structured result is looked into."""
ANSWER, CALL, AGENT, OPEN, OK = Kind.ANSWER, Kind.CALL, Author.AGENT, Outcome.OPEN, Outcome.OK


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

    def take_all(self, stretch: Stretch[Record]) -> int:
        """As `Fold.take_all`; the two kinds that nearly all records are go straight to where they are handled."""
        if self.one_by_one:
            return super().take_all(stretch)
        unknown = results = 0
        for record, self.start, self.end in zip(stretch.records, stretch.starts, stretch.ends, strict=True):
            self.stamp = record.timestamp
            kind, message = record.type, record.message
            if kind == "assistant":
                self.assistant(record)
            elif kind == "user":
                content = message.content if message is not None else None
                if type(content) is list and len(content) == 1 and content[0].type == "tool_result":
                    self.result(record, content[0])
                    results += 1
                else:
                    self.user(record)
            elif not self.take(record):
                unknown += 1
        if results:
            self.skipped["tool result"] += results
        return unknown

    def take(self, record: Record) -> bool:
        kind = record.type or (record.message.role if record.message else None) or ""
        handle = self.handlers.get(kind)
        if handle is not None:
            if self.one_by_one:
                self.common_facts((record,))
            handle(record)
            return True
        if kind in SILENT:
            self.skipped[kind] += 1
            return True
        self.skipped[f"unknown record type {kind:.40}"] += 1
        return False

    # -- the person

    def user(self, record: Record) -> None:
        if record.message is None:
            self.skipped["message of unknown shape"] += 1
            return
        content = record.message.content
        texts, results, images = contents(content)
        for block in results:
            self.result(record, block)
        if record.is_sidechain or self.subagent:
            self.skipped["sub-agent's prompt" if not results else "tool result"] += 1
        elif results or record.tool_use_result is not None:
            self.skipped["tool result"] += 1
            if any(classify(text).kind is Kind.INTERRUPT for text in texts):
                self.interrupted(record)
        elif record.is_compact_summary or record.is_visible_in_transcript_only:
            self.skipped["compaction summary"] += 1
        elif record.is_meta:
            self.skipped["meta"] += 1
            self.skill_body(record, texts)
        else:
            self.words(record, texts, images)

    def words(self, record: Record, texts: list[str], images: int) -> None:
        origin = part(shapes.kinded, record.origin, None)
        if origin is not None and origin.kind != "human":
            self.skipped[f"origin {origin.kind!s:.40}"] += 1
            return
        found = [classify(text) for text in texts]
        self.queue.begun(texts)
        kinds = {words.kind for words in found}
        if Kind.INTERRUPT in kinds:
            self.interrupted(record)
        elif Kind.FEEDBACK in kinds or record.plan_content != shapes.NOTHING:
            self.planned(record, found)
        else:
            typed = [words for words in found if words.kind is not None]
            text = "\n".join(words.text for words in typed) or (IMAGE if images and not found else "")
            if text:
                kind = Kind.COMMAND if Kind.COMMAND in kinds else Kind.PROMPT
                self.typed(record, kind, text)
            else:
                self.skipped[found[0].why if found else "empty"] += 1

    def typed(self, record: Record, kind: Kind, text: str) -> None:
        if record.prompt_source == "sdk":
            self.s.machine = True
        elif record.prompt_source or record.origin != shapes.NOTHING:
            self.s.human = True
        event = self.once(self.event(record, kind, Author.PERSON, clip.words(text)))
        if event is not None:
            self.prompt(event)
            self.rewound(record, event.key)

    def rewound(self, record: Record, key: str) -> None:
        """Take back what the person gave up by going back to an earlier place and typing something else there."""
        reason = self.events[key].kind is Kind.REJECTION
        given_up = claude_rewind.given_up(self.s.below, claude_rewind.parent_of(self.written()), key, kept=reason)
        if given_up is None:
            return
        for name in given_up:
            self.withdraw(name)
        self.skipped["rewound prompt"] += len(given_up)
        event = self.event(record, Kind.FEEDBACK, Author.PERSON)
        self.emit(msgspec.structs.replace(event, key=f"{key}:undone", head="turns undone"))

    def planned(self, record: Record, found: list[Words]) -> None:
        """A plan handed over: approved by the person, written by a model."""
        self.end_turn()
        text = "\n".join(words.text for words in found).removeprefix(PLAN).strip()
        event = self.event(record, Kind.FEEDBACK, Author.AGENT, clip.words(text))
        event = self.once(event) or event
        self.emit(msgspec.structs.replace(event, head="plan approved"))
        self.talk.turn = event.key
        refused, self.talk.refused = self.talk.refused, None
        if refused is not None and refused.tool == "ExitPlanMode":
            self.emit(msgspec.structs.replace(refused, outcome=Outcome.OK, text="", head="plan approved"))
            self.skipped["approved plan written as a refusal"] += 1

    def interrupted(self, record: Record) -> None:
        event = self.event(record, Kind.INTERRUPT, Author.PERSON)
        self.interrupt(self.once(event) or event)

    def queued(self, record: Record) -> None:
        operation = record.operation
        text = (part(shapes.text, record.content, "") or "").strip()
        if operation == "popAll":
            self.queue.put_back(text)
        elif operation == "remove" and not self.queue.handed_over(text) and text:
            self.queue.add(self.enqueued(record, text))
            self.queue.handed_over(text)
        elif operation == "enqueue" and text:
            self.queue.add(self.enqueued(record, text))

    def enqueued(self, record: Record, text: str) -> Event:
        event = self.event(record, Kind.QUEUED, Author.PERSON, clip.words(text))
        print_ = digest(text.encode("utf-8", "replace"))[:8]
        key = f"{record.session_id or self.named}:queue:{record.timestamp}:{print_}"
        return msgspec.structs.replace(event, key=key)

    # -- the agent

    def assistant(self, record: Record) -> None:
        message = record.message
        if message is None:
            self.skipped["message of unknown shape"] += 1
            return
        if (message.model not in self.facts.models or record.is_api_error_message) and not self.spoken(record, message):
            return
        spent = message.id
        if spent is None or len(spent) <= GIVEN:
            spent = self.message_key(record)
        if message.usage is not None:
            self.pay(spent, message.usage, message.model)
        content = message.content
        if type(content) is list:
            for block in content:
                if block.type == "tool_use":
                    self.called(record, spent, block)
                elif block.type == "text" and block.text:
                    self.said(record, spent, block.text)
        elif isinstance(content, str):
            self.said(record, spent, content)

    def spoken(self, record: Record, message: Message) -> bool:
        """Whether a model said this, and not the program in its place."""
        if record.is_api_error_message:
            self.trouble(record, "\n".join(contents(message.content)[0]))
        elif message.model == "<synthetic>":
            self.skipped["synthetic answer"] += 1
        else:
            self.used(message.model)
            return True
        return False

    def said(self, record: Record, spent: str, text: str) -> None:
        if not record.is_sidechain or self.subagent:
            self.talk.turn = self.talk.turn or f"{record.session_id or ''}/{self.named}"
            self.answered(
                Event(
                    key=f"{self.talk.turn}:answer",
                    kind=ANSWER,
                    author=AGENT,
                    offset=self.start,
                    length=self.end - self.start,
                    at_ms=self.now(),
                    text=clip.words(text),
                    message_id=spent,
                    agent_id=self.aside_id(record),
                )
            )

    def called(self, record: Record, spent: str, block: Block) -> None:
        name = block.id or ""
        aside = self.aside_id(record) if record.is_sidechain else ""
        if not aside:
            self.talk.refused = None
        self.fresh.append(name)
        self.talk.calls[name] = Event(
            key=name if len(name) >= GIVEN else f"{self.key(record)}:{name}",
            kind=CALL,
            author=AGENT,
            offset=self.start,
            length=self.end - self.start,
            at_ms=self.now(),
            call_id=name,
            tool=block.name or "",
            arguments=clip.arguments(block.input),
            outcome=OPEN,
            message_id=spent,
            agent_id=aside,
        )

    def result(self, record: Record, block: Block) -> None:
        """A call's outcome, merged into the call's own event."""
        name = block.tool_use_id or ""
        call = self.talk.calls.pop(name, None)
        if call is None:
            self.skipped["result without its call"] += 1
            return
        if block.is_error:
            self.unsuccessful(record, call, unwrapped(text_of(block.content)))
            return
        outcome, meaning = OK, ""
        facts = record.tool_use_result
        if (call.tool == SHELL or call.tool == QUESTION) and type(facts) is shapes.Facts:
            outcome, meaning = self.structured(record, call, facts)
        content = block.content
        seen = glance(content) or glance_of(text_of(content))
        opened = self.succeeded(call, seen if seen.length or not meaning else glance_of(meaning), outcome)
        if opened is not None:
            self.s.skills[name] = opened

    def unsuccessful(self, record: Record, call: Event, text: str) -> None:
        decision = part(shapes.decisions, record.permission_decision, None)
        outcome = outcome_of_error(text, record.tool_denial_kind, decision.source if decision else None)
        said = refusal_words(text) if outcome is Outcome.REFUSED else ""
        self.failed(call, text, outcome, self.now(), said)
        if said:
            self.rejected(call, self.event(record, Kind.REJECTION, Author.PERSON), said)

    def structured(self, record: Record, call: Event, facts: shapes.Facts) -> tuple[Outcome, str]:
        """What the structured result says beyond the text: an interruption, an exit code's meaning, given answers."""
        answers = part(shapes.answers, facts.answers, None) if call.tool == QUESTION else None
        if answers:
            said = "\n".join(f"{question} {answer}" for question, answer in answers.items())
            event = self.event(record, Kind.FEEDBACK, Author.PERSON, clip.words(said))
            key = f"{call.key}:answers"
            self.emit(msgspec.structs.replace(event, key=key, call_id=call.call_id, head="answers"))
        interrupted = bytes(facts.interrupted) == b"true"
        meaning = facts.return_code_interpretation
        return (
            Outcome.INTERRUPTED if interrupted and (answers or call.tool == SHELL) else OK,
            "" if meaning == shapes.NOTHING else part(shapes.text, meaning, ""),
        )


def text_of(raw: msgspec.Raw) -> str:
    """The text of a tool result, whose content is a text or a list of parts."""
    found = part(shapes.text_parts, raw, "")
    return found if isinstance(found, str) else "\n".join(piece.text for piece in found or () if piece.text)
