"""Copilot CLI's events, one after another, to ours (transcript-formats.md 3.2 to 3.4).

`user.message` holds what was typed in `content`; one with a `source`, an agent or an autopilot mark is injected. No
field says that a session is headless: the fixed sentence of its `system.message` does.
"""

from __future__ import annotations

import msgspec

from skillopt_harvesters import clip
from skillopt_harvesters import copilot_cli_shapes as shapes
from skillopt_harvesters.bytestream import digest
from skillopt_harvesters.copilot_cli_shapes import NOTHING, Data, Record
from skillopt_harvesters.copilot_cli_words import glance_at, offered_skills, outcome_of, without_exit_code
from skillopt_harvesters.fold import believed
from skillopt_harvesters.glance import Glance, glance_of, is_text
from skillopt_harvesters.jsonl import part
from skillopt_harvesters.model import Author, Event, Kind, Origin, Outcome, Source, Usage
from skillopt_harvesters.skills import SKILL_TOOLS
from skillopt_harvesters.turns import OPEN_KEEP, Conversation, TurnFold

HEADLESS = b"non-interactive mode"
"""In the first lines of the system message of `copilot -p` (seen in 1.0.102)."""
SYSTEM_HEAD = 600
EMPTY = msgspec.Raw(b'""')
SILENT = {
    *("assistant.turn_start", "assistant.turn_end", "assistant.reasoning", "hook.start", "hook.end", "hook.progress"),
    *("session.info", "session.warning", "session.plan_changed", "session.truncation", "session.compaction_start"),
    *(
        "session.usage_checkpoint",
        "session.auto_mode_resolved",
        "session.usage_info",
        "session.idle",
        "session.handoff",
    ),
    *("session.mode_changed", "session.title_changed", "session.snapshot_rewind", "session.task_complete"),
    *("session.workspace_file_changed", "system.notification", "tool.user_requested", "assistant.intent"),
    *("subagent.started", "subagent.completed", "subagent.failed", "subagent.selected", "tool.execution_progress"),
    *("external_tool.requested", "external_tool.completed", "user_input.requested", "user_input.completed"),
    *("tool.execution_partial_result", "session.background_tasks_changed", "session.tools_updated"),
    *("skill.context_delivered_ref", "subagent.configured"),
}


class State(msgspec.Struct):
    """`asked`: the call that a permission request is about. `answered`: how the permission for a call was answered.
    `loaded`: skills that a call opened and whose text comes next. `counted`: output tokens that messages named since
    the last shutdown."""

    talk: Conversation
    session: str = ""
    asked: dict[str, str] = {}
    answered: dict[str, Outcome] = {}
    loaded: dict[str, Event] = {}
    recorded: bool = False
    counted: int = 0


class CopilotFold(TurnFold[Record]):
    """One `events.jsonl`, or the flat file of older versions."""

    def __init__(self, source: Source, state: State, named: str) -> None:
        super().__init__(source, state.talk, named)
        self.s = state
        if not self.facts.native_id:
            self.facts.native_id = named
        self.handlers = {
            "session.start": self.began,
            "session.resume": self.began,
            "session.context_changed": self.moved,
            "session.model_change": self.modelled,
            "session.error": self.erred,
            "session.compaction_complete": self.compacted,
            "session.usage_record": self.usage_record,
            "session.shutdown": self.ended,
            "system.message": self.instructed,
            "user.message": self.user,
            "assistant.message": self.assistant,
            "tool.execution_start": self.started,
            "tool.execution_complete": self.finished,
            "permission.requested": self.asked,
            "permission.completed": self.permitted,
            "skill.invoked": self.skill,
            "abort": self.aborted,
        }

    def take(self, record: Record) -> bool:
        kind, data = record.type or "", record.data
        if data is not None:
            handle = self.handlers.get(kind)
            if handle is not None:
                handle(record, data)
                return True
            if kind in SILENT:
                self.skipped[kind] += 1
                return True
        elif self.flat(record) or kind in SILENT:
            return True
        self.skipped[f"unknown event {kind:.40}"] += 1
        return False

    def key(self, record: Record) -> str:
        """Stable over forks, which copy events with their ids; made unique where the id is a made-up one."""
        if record.id is None:
            return f"{self.facts.native_id}@{self.start}"
        return record.id if len(record.id) == 36 else f"{self.facts.native_id}/{record.id}"

    def event(self, record: Record, kind: Kind, author: Author, text: str = "") -> Event:
        return Event(
            key=self.key(record),
            kind=kind,
            author=author,
            offset=self.start,
            length=self.end - self.start,
            at_ms=self.now(),
            text=text,
            agent_id=self.aside(record),
        )

    def aside(self, record: Record) -> str:
        """The sub-agent that speaks in this file."""
        return record.agent_id or (record.data.parent_tool_call_id if record.data else None) or ""

    # -- the session

    def began(self, record: Record, data: Data) -> None:
        if data.session_id:
            self.facts.native_id = data.session_id
        if data.copilot_version:
            self.facts.agent_version = data.copilot_version
        if data.detached_from_spawning_parent_session_id:
            self.facts.parent = data.detached_from_spawning_parent_session_id
            self.facts.origin = Origin.SUBAGENT
        self.used(data.selected_model)
        if data.context is not None:
            self.placed(data.context)

    def moved(self, record: Record, data: Data) -> None:
        self.placed(data.context or data)

    def placed(self, context: shapes.Context | Data) -> None:
        facts = self.facts
        self.been_in(context.cwd)
        facts.git_root = facts.git_root or context.git_root or ""
        facts.branch = context.branch or facts.branch
        facts.head_commit = facts.head_commit or context.head_commit or ""
        if isinstance(context, shapes.Context):
            facts.remote = context.repository or facts.remote

    def modelled(self, record: Record, data: Data) -> None:
        self.used(data.new_model)

    def instructed(self, record: Record, data: Data) -> None:
        if HEADLESS in bytes(memoryview(data.content)[:SYSTEM_HEAD]) and self.facts.origin is Origin.INTERACTIVE:
            self.facts.origin = Origin.HEADLESS
        if self.aside(record) or b"<available_skills>" not in bytes(data.content):
            return
        for name in offered_skills(part(shapes.text, data.content, ""))[:OPEN_KEEP]:
            event = self.event(record, Kind.SKILL, Author.HARNESS)
            key = f"{self.facts.native_id}:offered:{name}"
            self.emit(msgspec.structs.replace(event, key=key, tool=name, head="offered"))

    def erred(self, record: Record, data: Data) -> None:
        text = f"{data.error_type or 'error'}: {part(shapes.text, data.message, '')}"
        self.emit(self.event(record, Kind.ERROR, Author.HARNESS, clip.error_text(text)))

    def compacted(self, record: Record, data: Data) -> None:
        self.emit(self.event(record, Kind.COMPACTION, Author.HARNESS))

    # -- the person

    def user(self, record: Record, data: Data) -> None:
        text = part(shapes.text, data.content, "").strip()
        if self.aside(record):
            self.skipped["sub-agent's prompt"] += 1
        elif data.source and data.source != "user":
            self.skipped[f"injected: {data.source:.40}"] += 1
        elif data.is_autopilot_continuation:
            self.skipped["autopilot"] += 1
        elif not text:
            self.skipped["empty"] += 1
        elif data.delivery == "steering":
            self.emit(self.event(record, Kind.QUEUED, Author.PERSON, clip.words(text)))
        else:
            self.prompt(self.event(record, Kind.PROMPT, Author.PERSON, clip.words(text)))

    def aborted(self, record: Record, data: Data) -> None:
        author = Author.HARNESS if "limit" in (data.reason or "") else Author.PERSON
        self.interrupt(self.event(record, Kind.INTERRUPT, author))

    def asked(self, record: Record, data: Data) -> None:
        call = data.tool_call_id
        if call is None:
            found = part(shapes.asked, data.permission_request, None)
            call = found.tool_call_id if found is not None else None
        if data.request_id and call:
            self.s.asked[data.request_id] = call

    def permitted(self, record: Record, data: Data) -> None:
        """A permission was answered: by the person, or by a rule."""
        name = self.s.asked.pop(data.request_id or "", None) or data.tool_call_id or ""
        answer = data.result
        kind = answer.kind if isinstance(answer, shapes.Result) else answer if isinstance(answer, str) else None
        call = self.talk.calls.get(name)
        if not kind or not kind.startswith("denied") or call is None:
            return
        outcome = Outcome.REFUSED if "by-user" in kind else Outcome.DENIED
        said = (isinstance(answer, shapes.Result) and answer.feedback) or ""
        self.s.answered[name] = outcome
        self.talk.calls[name] = msgspec.structs.replace(call, outcome=outcome)
        self.failed(call, "", outcome, self.now(), said)
        if said and outcome is Outcome.REFUSED:
            self.rejected(call, self.event(record, Kind.REJECTION, Author.PERSON), said)

    # -- the agent

    def assistant(self, record: Record, data: Data) -> None:
        if data.model is not None and data.model not in self.facts.models:
            self.used(data.model)
        spent = self.spent_by(data, record)
        if data.output_tokens and not self.s.recorded:
            self.s.counted = believed(self.s.counted + data.output_tokens)
            ms = self.now()
            self.spend(Usage(key=spent, output=data.output_tokens, model=data.model or "", at_ms=ms))
        for asked in data.tool_requests or ():
            if asked.tool_call_id and asked.tool_call_id not in self.talk.calls:
                self.opened(record, asked.tool_call_id, asked.name or "", asked.arguments, spent)
        text = part(shapes.text, data.content, "") if data.content != EMPTY else ""
        if text and not self.aside(record):
            event = self.event(record, Kind.ANSWER, Author.AGENT, clip.words(text))
            self.answered(msgspec.structs.replace(event, message_id=spent))

    def spent_by(self, data: Data, record: Record) -> str:
        name = data.api_call_id or data.message_id
        return f"{self.facts.native_id}:{name}" if name else self.key(record)

    def started(self, record: Record, data: Data) -> None:
        if data.tool_call_id and data.tool_call_id not in self.talk.calls:
            self.opened(record, data.tool_call_id, data.tool_name or "", data.arguments, "")

    def opened(self, record: Record, name: str, tool: str, arguments: msgspec.Raw, spent: str) -> None:
        inner = part(shapes.text, arguments, None) if is_text(arguments) else None
        self.call(
            Event(
                key=f"{self.key(record)}:{name}",
                kind=Kind.CALL,
                author=Author.AGENT,
                offset=self.start,
                length=self.end - self.start,
                at_ms=self.now(),
                call_id=name,
                tool=tool,
                arguments=clip.arguments(arguments if inner is None else inner),
                outcome=Outcome.OPEN,
                message_id=spent,
                agent_id=self.aside(record),
            )
        )

    def finished(self, record: Record, data: Data) -> None:
        name = data.tool_call_id or ""
        call = self.closed(name)
        if call is None:
            self.skipped["result without its call"] += 1
            return
        found = data.result
        raw = found.content if isinstance(found, shapes.Result) else NOTHING
        code = data.shell_execution.exit_code if data.shell_execution is not None else None
        answered = self.s.answered.pop(name, None)
        if answered is None and data.success is not False and not code and is_text(raw):
            known = glance_at(raw)
            if known is not None:
                self.done(call, known)
                return
        text = found if isinstance(found, str) else part(shapes.text, raw, "")
        text, written = without_exit_code(text)
        code = written if code is None else code
        if answered is None and data.success is not False and not code:
            self.done(call, glance_of(text))
            return
        failure = part(shapes.failures, data.error, None)
        said = failure if isinstance(failure, str) else failure and failure.message
        done = msgspec.structs.replace(call, outcome=answered or outcome_of(failure))
        self.emit(msgspec.structs.replace(done, text=clip.error_text(said or text), output_length=len(said or text)))

    def done(self, call: Event, seen: Glance) -> None:
        opened = self.succeeded(call, seen)
        if opened is not None and call.tool in SKILL_TOOLS:
            self.s.loaded[opened.tool] = opened

    def skill(self, record: Record, data: Data) -> None:
        """A skill's text came before the model: that of a call that opened it, or by the program itself."""
        body = part(shapes.text, data.content, "").strip()
        event = self.s.loaded.pop(data.name or "", None) or self.event(record, Kind.SKILL, Author.HARNESS)
        path = clip.fitted({"path": data.path}) if data.path else ""
        print_ = digest(body.encode("utf-8", "replace")) if body else ""
        event = msgspec.structs.replace(event, tool=data.name or "", head="opened", arguments=path)
        self.emit(msgspec.structs.replace(event, output_digest=print_, output_length=len(body)))

    # -- tokens

    def usage_record(self, record: Record, data: Data) -> None:
        usage = part(shapes.tokens, data.usage, None)
        if usage is not None:
            self.s.recorded = True
            self.spend_tokens(f"{self.facts.native_id}:{usage.api_call_id or record.id}", usage, usage.model, record)

    def spend_tokens(self, key: str, usage: shapes.Tokens, model: str | None, record: Record) -> None:
        cached = usage.cache_read_tokens or 0
        self.spend(
            Usage(
                key=key,
                input=max(0, (usage.input_tokens or 0) - cached),
                output=usage.output_tokens or 0,
                cache_read=cached,
                cache_write=usage.cache_write_tokens or 0,
                model=model or "",
                at_ms=self.now(),
            )
        )

    def ended(self, record: Record, data: Data) -> None:
        """Before 1.0.10x only the totals at the end know the input; the output was counted by message already."""
        if self.s.recorded:
            return
        found = part(shapes.metrics, data.model_metrics, None)
        if found is None:
            snapshot = part(shapes.snapshots, data.accounting_snapshot, None)
            found = (snapshot and snapshot.model_metrics) or {}
        for model, metric in found.items():
            if metric.usage is not None:
                usage, counted = metric.usage, self.s.counted
                left = max(0, (usage.output_tokens or 0) - counted)
                self.s.counted = max(0, counted - (usage.output_tokens or 0))
                rest = msgspec.structs.replace(usage, output_tokens=left)
                self.spend_tokens(f"{self.key(record)}:{model}", rest, model, record)
        self.s.counted = 0

    # -- flat logs

    def flat(self, record: Record) -> bool:
        """A line of a log without `data`: what was typed, and what was answered."""
        said = record.prompt
        if said is not None or record.output is not None or record.result != NOTHING:
            if record.session_id:
                self.facts.native_id = record.session_id
            self.been_in(record.cwd)
        if said is not None:
            self.prompt(self.event(record, Kind.PROMPT, Author.PERSON, clip.words(said.strip())))
            return True
        answer = record.output if record.output is not None else part(shapes.text, record.result, None)
        if answer is None:
            return False
        self.answered(self.event(record, Kind.ANSWER, Author.AGENT, clip.words(answer)))
        return True

    def settle(self, last: bool) -> None:
        super().settle(last)
        self.s.asked = dict(list(self.s.asked.items())[-OPEN_KEEP:])
        self.s.answered = dict(list(self.s.answered.items())[-OPEN_KEEP:])
        self.s.loaded = dict(list(self.s.loaded.items())[-OPEN_KEEP:])

    def state(self) -> bytes:
        return msgspec.msgpack.encode(self.s)
