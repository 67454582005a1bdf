"""Codex's records, one after another, to events.

Keys: thread id and what Codex numbers (call id, response id), else turn and count within it. The turn is the number of
the prompt in its thread, which resuming and archiving do not change. What a fork or a sub-agent inherited is dropped.
"""

from __future__ import annotations

import msgspec

from skillopt_harvesters import clip
from skillopt_harvesters import codex_shapes as shapes
from skillopt_harvesters.codex_shapes import NOTHING, FullPayload, FullRecord, Payload, Record
from skillopt_harvesters.codex_turns import CodexTurns
from skillopt_harvesters.codex_words import ending, escalated, glance_at, offered_skills
from skillopt_harvesters.content import decoded
from skillopt_harvesters.glance import Glance, glance_of, is_text
from skillopt_harvesters.jsonl import part
from skillopt_harvesters.model import TAG, Author, Event, Kind, Origin, Outcome
from skillopt_harvesters.turns import OPEN_KEEP

UNSPENT_KEEP = 16
"""Calls of one message that wait for its tokens."""
COPIED_WITHIN_MS = 2000
"""A fork writes what it inherited in one go, at its beginning."""
SILENT_EVENTS = {
    *("agent_reasoning", "task_started", "turn_started", "task_complete", "context_compacted", "web_search_end"),
    *("exited_review_mode", "thread_goal_updated", "thread_settings_applied", "guardian_assessment"),
    *("sub_agent_activity", "image_generation_end", "view_image_tool_call", "dynamic_tool_call_request"),
    *("dynamic_tool_call_response", "undo_completed", "turn.completed", "agent_reasoning_raw_content", "turn_diff"),
    *("agent_reasoning_section_break", "background_event", "plan_update", "exec_command_begin", "patch_apply_begin"),
    *("mcp_tool_call_begin", "web_search_begin", "collab_agent_spawn_end", "collab_waiting_end", "collab_close_end"),
    *("collab_agent_interaction_end", "account/rateLimits/updated", "codex/event/raw_item", "warning"),
}
SILENT_ITEMS = {"reasoning", "ghost_snapshot", "compaction", "other", "agent_message", "tool_search_output"}
SILENT = {"world_state", "inter_agent_communication", "inter_agent_communication_metadata"}
CALL, AGENT, OPEN = Kind.CALL, Author.AGENT, Outcome.OPEN
CALLS = {
    *("function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"),
    "image_generation_call",
}


class CodexFold(CodexTurns):
    """One rollout."""

    def take(self, record: Record) -> bool:
        payload, kind = record.payload, record.type
        if payload is None:
            known = self.bare(decoded(FullPayload, self.written()) or FullPayload())
        elif self.s.inherited and self.still_inherited(kind):
            self.skipped["inherited from the parent"] += 1
            return True
        elif kind == "response_item":
            known = self.item(payload)
        elif kind == "event_msg":
            known = self.happened(payload)
        else:
            known = self.other(kind, self.full())
        if not known:
            name = payload.type if payload is not None and kind in ("response_item", "event_msg") else kind
            self.skipped[f"unknown {kind!s:.20} {name!s:.40}"] += 1
        return known

    def full(self) -> FullPayload:
        """All that is read of the payload at hand."""
        record = decoded(FullRecord, self.written())
        return record.payload if record is not None and record.payload is not None else FullPayload()

    def still_inherited(self, kind: str | None) -> bool:
        """Whether a record of a fork is one that it copied from its parent."""
        if kind == "session_meta":
            return True
        name = self.full().turn_id
        turn = uuid_ms(name) if name else None
        thread, began, ms = uuid_ms(self.s.thread), self.s.began_ms, self.now()
        if turn is not None and thread is not None:
            self.s.inherited = turn < thread
        elif ms is not None and began is not None:
            self.s.inherited = ms < began + COPIED_WITHIN_MS
        return self.s.inherited

    def other(self, kind: str | None, payload: FullPayload) -> bool:
        if kind == "session_meta":
            self.meta(payload)
        elif kind == "turn_context":
            self.been_in(payload.cwd)
            self.used(payload.model)
        elif kind == "compacted":
            self.s.count += 1
            key = self.key(f"compacted:{self.s.count}")
            self.emit(self.event(key, Kind.COMPACTION, Author.HARNESS))
        elif kind == "token_usage_record":
            self.usage_record(payload)
        else:
            return kind in SILENT
        return True

    def bare(self, record: FullPayload) -> bool:
        """A line of the oldest format: the item itself, or the head of the file."""
        if record.type in CALLS or (record.type or "").endswith("_output") or record.type in SILENT_ITEMS:
            return self.item(record)
        if record.type == "message" or (record.type is None and record.role):
            return self.item(record)
        if record.type is None and record.id:
            self.meta(record)
            return True
        return record.record_type == "state"

    def meta(self, payload: FullPayload) -> None:
        """Only the first one names the thread; a fork's file also holds its parent's."""
        facts, state = self.facts, self.s
        if state.began_ms is not None or not payload.id:
            self.skipped["further session_meta"] += 1
            return
        state.thread = facts.native_id = payload.id
        state.began_ms = self.now() or 0
        facts.agent_version = payload.cli_version or ""
        self.been_in(payload.cwd)
        git = part(shapes.gits, payload.git, None)
        if git is not None:
            facts.branch = git.branch or ""
            facts.head_commit = git.commit_hash or ""
            facts.remote = git.repository_url or ""
        facts.fork_of = payload.forked_from_id or ""
        facts.parent = payload.parent_thread_id or ""
        state.inherited = bool(payload.forked_from_id or payload.parent_thread_id)
        source = part(shapes.strings, payload.source, None)
        aside = b'"subagent"' in bytes(payload.source) or payload.thread_source == "subagent"
        if aside or payload.parent_thread_id:
            state.subagent = True
            facts.origin = Origin.SUBAGENT
        elif payload.originator == "codex_exec" or source in ("exec", "mcp"):
            facts.origin = Origin.HEADLESS
        if payload.originator == TAG:
            facts.origin = Origin.OWN

    # -- the agent

    def item(self, payload: Payload) -> bool:
        kind = payload.type
        if kind == "function_call_output":
            self.result(payload)
        elif kind in CALLS:
            self.confirm()
            self.called(payload)
        elif kind in SILENT_ITEMS:
            if kind == "reasoning":
                self.confirm()
        elif kind == "message" or (kind is None and payload.role):
            if payload.role == "user":
                self.user_item(payload)
            elif payload.role == "assistant":
                self.confirm()
                self.spoke(payload.content, payload.message)
            else:
                self.instructed(payload)
        elif kind is not None and kind.endswith("_output"):
            self.result(payload)
        else:
            return False
        return True

    def instructed(self, payload: Payload) -> None:
        """A developer's message: nobody typed it. One of them lists the skills."""
        self.skipped[f"message of role {payload.role!s:.20}"] += 1
        if b"<skills_instructions>" not in bytes(payload.content):
            return
        found = part(shapes.pieces, payload.content, None)
        for piece in found if isinstance(found, list) else ():
            for name in offered_skills(piece.text or "")[:OPEN_KEEP]:
                event = self.event(f"{self.s.thread}:offered:{name}", Kind.SKILL, Author.HARNESS)
                self.emit(msgspec.structs.replace(event, tool=name, head="offered"))

    def spoke(self, content: msgspec.Raw, message: msgspec.Raw) -> None:
        found = part(shapes.pieces, content, None)
        if found is None:
            found = part(shapes.text, message, None)
        text = found if isinstance(found, str) else "\n".join(p.text for p in found or () if p.text)
        if text == self.s.spoken and self.talk.answer is not None:
            return
        self.s.spoken = text
        event = self.event("", Kind.ANSWER, Author.AGENT, clip.words(text))
        self.answered(msgspec.structs.replace(event, message_id=self.s.spent))

    def called(self, payload: Payload) -> None:
        kind = payload.type or ""
        self.s.count += 1
        name = payload.call_id or payload.id or f"{self.s.turn}:{self.s.count}"
        tool = payload.name or kind.removesuffix("_call")
        call = Event(
            key=f"{self.s.thread}:{name}",
            kind=CALL,
            author=AGENT,
            offset=self.start,
            length=self.end - self.start,
            at_ms=self.now(),
            call_id=name,
            tool=tool,
            arguments=arguments_of(payload),
            outcome=OPEN,
            message_id=self.s.spent,
        )
        self.call(call)
        if kind in ("web_search_call", "image_generation_call") and payload.status != "in_progress":
            self.closed(name)
            if payload.status == "failed":
                self.failed(call, "", Outcome.ERROR, self.now())
                self.unpaid(call)
            else:
                self.done(call, glance_of(""))

    def result(self, payload: Payload) -> None:
        call = self.closed(payload.call_id or "")
        if call is None:
            self.skipped["result without its call"] += 1
            return
        verdict = self.s.verdicts.pop(call.call_id, None)
        known = glance_at(payload.output, verdict)
        if known is not None:
            self.done(call, known)
            return
        found = part(shapes.output, payload.output, "")
        if isinstance(found, shapes.Output):
            verdict = found.success if found.success is not None else verdict
            inner = part(shapes.pieces, found.content, None) if found.text is None else found.text
            found = inner if inner is not None else bytes(found.content).decode("utf-8", "replace")
        text = found if isinstance(found, str) else "\n".join(p.text for p in found or () if p.text)
        outcome, text = ending(text, verdict)
        if outcome is Outcome.INTERRUPTED and escalated(call.arguments) and not self.s.subagent:
            outcome = Outcome.REFUSED  # one that was allowed and then stopped is written down in the same words
        if outcome is Outcome.OK:
            self.done(call, glance_of(text))
        else:
            self.failed(call, text, outcome, self.now())
            self.unpaid(call)

    def done(self, call: Event, seen: Glance) -> None:
        self.succeeded(call, seen)
        self.unpaid(call)

    def unpaid(self, call: Event) -> None:
        """Remember a call that was emitted before its message's tokens were known."""
        if not call.message_id:
            unspent = self.s.unspent
            unspent.append(self.events[call.key])
            if len(unspent) > UNSPENT_KEEP:
                del unspent[0]

    # -- events

    def happened(self, payload: Payload) -> bool:
        """An event; those that are nearly all first."""
        kind = payload.type
        if kind == "token_count":
            self.token_count(payload)
        elif kind == "agent_message":
            self.confirm()
            self.spoke(NOTHING, payload.message)
        elif kind == "item_completed":
            self.completed(payload)
        elif kind in ("exec_command_end", "patch_apply_end", "mcp_tool_call_end"):
            self.verdict(payload.call_id, verdict_of(payload.exit_code, payload.success, payload.result))
        elif kind == "tool_call" and payload.call_id:
            self.confirm()
            self.called(payload)
        else:
            return kind in SILENT_EVENTS or self.happened_rarely(self.full())
        return True

    def happened_rarely(self, payload: FullPayload) -> bool:
        kind = payload.type
        if kind == "user_message":
            text = part(shapes.text, payload.message, "") or ""
            images = bool(part(shapes.lists, payload.images, ()) or part(shapes.lists, payload.local_images, ()))
            self.user_event("event", text, images)
        elif kind == "turn_aborted":
            self.aborted(payload.reason or "interrupted")
        elif kind == "entered_review_mode":
            self.typed(f"/review {payload.user_facing_hint or ''}".strip(), Kind.COMMAND)
        elif kind == "thread_rolled_back":
            self.s.count += 1
            event = self.event(self.key(f"undone:{self.s.count}"), Kind.FEEDBACK, Author.PERSON)
            self.emit(msgspec.structs.replace(event, head="turns undone"))
        elif kind in ("error", "stream_error"):
            self.erred(payload)
        elif kind == "thread_name_updated":
            self.facts.title = payload.thread_name or self.facts.title
        else:
            return False
        return True

    def completed(self, payload: Payload) -> None:
        item = part(shapes.items, payload.item, None)
        if item is None:
            return
        if item.type == "UserMessage":
            found = part(shapes.pieces, item.content, None)
            texts = [found] if isinstance(found, str) else [p.text for p in found or () if p.text]
            self.user_event("completed", "\n".join(texts), bool(found) and not texts)
        elif item.type == "AgentMessage":
            self.confirm()
            self.spoke(item.content, NOTHING)
        elif item.type in ("CommandExecution", "FileChange", "McpToolCall"):
            done = None if item.status is None else item.status not in ("failed", "declined")
            self.verdict(item.id, verdict_of(item.exit_code, done, item.result))

    def verdict(self, name: str | None, verdict: bool | None) -> None:
        if name and verdict is not None and name in self.talk.calls:
            self.s.verdicts[name] = verdict
            if len(self.s.verdicts) > OPEN_KEEP:
                del self.s.verdicts[next(iter(self.s.verdicts))]

    def erred(self, payload: FullPayload) -> None:
        self.s.count += 1
        failure = part(shapes.failures, payload.error, None)
        text = part(shapes.text, payload.message, None)
        text = text or (failure if isinstance(failure, str) else (failure and failure.message)) or ""
        key = self.key(f"error:{self.s.count}")
        self.emit(self.event(key, Kind.ERROR, Author.HARNESS, clip.error_text(text)))


def arguments_of(payload: Payload) -> str:
    """A call's arguments as JSON text: they come as JSON inside a string, as an object, or as free text."""
    for raw in (payload.arguments, payload.input, payload.action):
        if raw != NOTHING:
            text = part(shapes.text, raw, None) if is_text(raw) else None
            if text is None:
                return clip.arguments(raw)
            return clip.arguments(text) if text.lstrip()[:1] == "{" else clip.fitted({"input": text})
    return ""


def verdict_of(code: int | None, success: bool | None, result: msgspec.Raw) -> bool | None:
    """Whether a call succeeded, as far as an event says so."""
    if code is not None:
        return code == 0
    found = part(shapes.results, result, None)
    if found is not None and (found.err != NOTHING or found.is_error or b'"isError":true' in bytes(found.ok)):
        return False
    return success


def uuid_ms(name: str) -> int | None:
    """The time inside a version 7 uuid."""
    if len(name) == 36 and name[14] == "7":
        try:
            return int(name[:8] + name[9:13], 16)
        except ValueError:
            return None
    return None
