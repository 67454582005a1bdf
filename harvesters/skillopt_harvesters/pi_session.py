"""Pi's entries to events. They form a tree, of which only the branch of the last entry is live.

As long as each entry hangs on the branch at hand, reading goes on where it stopped. Where a prompt hangs further up,
the turns behind that place were given up: their events are withdrawn. Any other leap (back to a branch that was given
up, into the middle of a turn) cannot be told from what is remembered: the reader says so (`astray`) and the file is
read again with the whole tree known.

Keys are made of an entry's time and content, not of its session: a fork copies its entries, and old files are written
anew with ids.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple
from zlib import crc32

import msgspec

from skillopt_harvesters import clip
from skillopt_harvesters.content import NOTHING, Block, as_written, blocks_of, decoded, text_of
from skillopt_harvesters.jsonl import Line
from skillopt_harvesters.model import Author, Event, Kind, Outcome, Source, Usage
from skillopt_harvesters.simple_turns import SimpleTurns
from skillopt_harvesters.turns import Conversation, new_facts
from skillopt_harvesters.walk import spelled

AGENT = "pi"
SILENT = {"thinking_level_change", "custom", "custom_message", "label", "branch_summary", "context_transform"}
SILENT_ROLES = {"custom", "hookMessage", "branchSummary", "compactionSummary", "system"}
ABORTED = ("Operation aborted", "Command aborted", "Request was aborted")


class Tokens(msgspec.Struct, rename="camel"):
    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None


class Details(msgspec.Struct, rename="camel"):
    exit_code: int | None = None


class Message(msgspec.Struct, rename="camel"):
    role: str | None = None
    content: msgspec.Raw = NOTHING
    timestamp: int | float | str | None = None
    model: str | None = None
    usage: Tokens | None = None
    stop_reason: str | None = None
    error_message: str | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool | None = None
    details: msgspec.Raw = NOTHING
    command: str | None = None


class Entry(Line, rename="camel"):
    """A line."""

    type: str | None = None
    id: str | None = None
    parent_id: str | None = None
    cwd: str | None = None
    parent_session: str | None = None
    branched_from: str | None = None
    model_id: str | None = None
    name: str | None = None
    message: Message | None = None


class State(msgspec.Struct, kw_only=True):
    """What is carried from batch to batch. Entries are known by a digest of their ids (`mark`).

    `path` is the live branch, `dead` what was given up; `starts` says at which place of the path each turn begins,
    `given` which events it gave; `busy` are the places of the path that belong to a turn without beginning it.
    """

    talk: Conversation
    path: list[int] = []
    dead: set[int] = set()
    starts: dict[bytes, int] = {}
    given: dict[bytes, list[bytes]] = {}
    busy: list[int] = []
    count: int = 0
    astray: bool = False


class Tree(NamedTuple):
    """The entries of a whole file."""

    live: frozenset[int]
    dead: frozenset[int]


def new_state(agent: str) -> State:
    return State(talk=Conversation(facts=new_facts(agent)))


def mark(name: str) -> int:
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=7).digest(), "big")


class PiTurns(SimpleTurns[Entry]):
    """One session. `tree` is known where the file is read again as a whole, `before` is what was given of it then."""

    def __init__(
        self, source: Source, state: State, named: str, tree: Tree | None = None, before: frozenset[bytes] = frozenset()
    ) -> None:
        super().__init__(source, state.talk, named)
        self.s = state
        self.tree = tree
        self.before = before
        self.place = {name: number for number, name in enumerate(state.path)}

    # -- the tree

    def take(self, entry: Entry) -> bool:
        if entry.type == "session":
            self.began(entry)
            return True
        if self.s.astray or (entry.id is not None and not self.grown(mark(entry.id), entry.parent_id)):
            self.skipped["on a branch that was given up"] += 1
            return True
        return self.live(entry)

    def grown(self, name: int, parent: str | None) -> bool:
        """Put an entry into the tree. False if it is not on the live branch."""
        if self.tree is not None and name in self.tree.dead:
            self.s.dead.add(name)
            return False
        if (self.tree is None or name not in self.tree.live) and not self.hung(parent):
            self.s.astray = True
            return False
        self.place[name] = len(self.s.path)
        self.s.path.append(name)
        return True

    def hung(self, parent: str | None) -> bool:
        """Make room for an entry below its parent: at the end where that is not known, as a root where it has none."""
        if parent is None:
            return self.cut(-1)
        if mark(parent) in self.s.dead:
            return False
        return self.cut(self.place.get(mark(parent), len(self.s.path) - 1))

    def cut(self, after: int) -> bool:
        """Give up what hangs behind a place of the path. False where that cuts through a turn."""
        if after + 1 >= len(self.s.path):
            return True
        turns = [turn for turn, start in self.s.starts.items() if start > after]
        first = min((self.s.starts[turn] for turn in turns), default=len(self.s.path))
        if any(after < number < first for number in self.s.busy):
            return False
        for turn in turns:
            self.give_up(turn)
        self.s.busy = [number for number in self.s.busy if number <= after]
        for name in self.s.path[after + 1 :]:
            self.s.dead.add(name)
            self.place.pop(name, None)
        del self.s.path[after + 1 :]
        return True

    def give_up(self, turn: bytes) -> None:
        """Withdraw all that a turn gave."""
        for key in self.s.given.pop(turn, ()):
            self.withdraw(key.decode("utf-8", "surrogatepass"))
        del self.s.starts[turn]
        self.skipped["prompt that was given up"] += 1
        if turn == whole(self.talk.turn):
            self.talk.answer = self.talk.refused = None
            self.talk.calls.clear()
            self.fresh.clear()
            self.talk.turn = next(reversed(self.s.starts), b"").decode("utf-8", "surrogatepass")

    def emit(self, event: Event) -> None:
        given = self.s.given.setdefault(whole(self.talk.turn), [])
        key = whole(event.key)
        if key not in given:
            given.append(key)
        super().emit(event)

    def settle(self, last: bool) -> None:
        super().settle(last)
        if last and self.before:
            given = {key for keys in self.s.given.values() for key in keys}
            self.withdrawn += [key.decode("utf-8", "surrogatepass") for key in sorted(self.before - given)]
            self.before = frozenset()

    # -- the session

    def began(self, entry: Entry) -> None:
        facts = self.facts
        if entry.id and not self.s.path:
            facts.native_id = entry.id
        self.been_in(entry.cwd)
        self.used(entry.model_id)
        origin = entry.parent_session or entry.branched_from
        facts.fork_of = session_of(origin) if origin else facts.fork_of

    def live(self, entry: Entry) -> bool:
        """An entry of the live branch."""
        kind = entry.type
        if kind == "message" and entry.message is not None:
            if entry.message.role != "user":
                self.s.busy.append(len(self.s.path) - 1)
            return self.said(entry.message)
        if kind == "compaction":
            self.s.busy.append(len(self.s.path) - 1)
            self.emit(self.event(f"{self.key(NOTHING)}:compaction", Kind.COMPACTION, Author.HARNESS))
        elif kind == "model_change":
            self.used(entry.model_id)
        elif kind == "session_info":
            self.facts.title = entry.name or self.facts.title
        elif kind not in SILENT:
            self.skipped[f"unknown entry {kind!s:.40}"] += 1
            return False
        return True

    def said(self, message: Message) -> bool:
        if self.stamp is None:
            self.stamp = message.timestamp
        role = message.role
        if role == "user":
            self.user(message)
        elif role == "assistant":
            self.assistant(message)
        elif role == "toolResult":
            self.result(message)
        elif role == "bashExecution":
            self.ran(message)
        else:
            self.skipped[f"message of role {role!s:.20}"] += 1
            return role in SILENT_ROLES
        return True

    def key(self, content: msgspec.Raw | str) -> str:
        """The same for an entry wherever it is copied to."""
        written = content.encode("utf-8", "replace") if isinstance(content, str) else bytes(content)
        if self.stamp is None:
            self.s.count += 1
            return f"{self.facts.native_id}@{self.s.count}"
        return f"{self.stamp}/{crc32(written):08x}"

    # -- the person

    def user(self, message: Message) -> None:
        text, why = self.typed(text_of(blocks_of(message.content)))
        if why:
            self.skipped[why] += 1
            return
        self.ask(self.event(self.key(message.content), Kind.PROMPT, Author.PERSON, clip.words(text)))

    def typed(self, text: str) -> tuple[str, str]:
        """The person's words, or why there are none."""
        text = text.strip()
        return text, "" if text else "no words"

    def ask(self, event: Event) -> None:
        self.leave_open()
        self.s.starts.setdefault(whole(event.key), len(self.s.path) - 1)
        self.prompt(event)

    def ran(self, message: Message) -> None:
        """A command that the person ran."""
        command = (message.command or "").strip()
        if command:
            key = self.key(command)
            self.emit(self.event(key, Kind.COMMAND, Author.PERSON, clip.words(f"!{command}")))

    # -- the agent

    def assistant(self, message: Message) -> None:
        key = self.key(message.content)
        self.used(message.model)
        self.tokens(message, key)
        blocks = blocks_of(message.content)
        text = text_of(blocks).strip()
        if text:
            event = self.event(key, Kind.ANSWER, Author.AGENT, clip.words(text))
            self.answered(msgspec.structs.replace(event, message_id=key))
        for number, block in enumerate(blocks):
            if block.type == "toolCall":
                self.tool(block, key, number)
        if message.stop_reason == "aborted":
            self.broken_off()
        elif message.stop_reason == "error":
            failure = clip.error_text(message.error_message or "")
            self.emit(self.event(f"{key}:error", Kind.ERROR, Author.HARNESS, failure))

    def tool(self, block: Block, key: str, number: int) -> None:
        name = block.id or f"{key}:{number}"
        arguments = block.arguments if block.arguments != NOTHING else block.input
        self.called(f"{key}:{name}", name, block.name or "", arguments, key)

    def tokens(self, message: Message, key: str) -> None:
        spent = message.usage
        if spent is None:
            return
        self.spend(
            Usage(
                key=key,
                input=spent.input or 0,
                output=spent.output or 0,
                cache_read=spent.cache_read or 0,
                cache_write=spent.cache_write or 0,
                model=message.model or "",
                at_ms=self.now(),
            )
        )

    def result(self, message: Message) -> None:
        call = self.closed(message.tool_call_id or "")
        if call is None:
            self.skipped["result without its call"] += 1
            return
        text = as_written(message.content)
        self.ended(call, outcome_of(message, text), text)

    def state(self) -> bytes:
        return msgspec.msgpack.encode(self.s)


def outcome_of(message: Message, text: str) -> Outcome:
    """A tool says itself whether it failed; some give only the code with which a command ended."""
    if message.is_error:
        return Outcome.INTERRUPTED if text.rstrip().endswith(ABORTED) else Outcome.ERROR
    details = decoded(Details, bytes(message.details))
    return Outcome.ERROR if details is not None and details.exit_code else Outcome.OK


def session_of(path: str) -> str:
    """The id in the name of a session's file: `<time>_<id>.jsonl`."""
    stem = path.replace("\\", "/").rpartition("/")[2].removesuffix(".jsonl")
    return spelled(stem.rpartition("_")[2])


def whole(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")
