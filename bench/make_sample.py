"""Makes the sample home that the demo runs on: `python bench/make_sample.py FOLDER`.

Fifty-two sessions of three agents on twenty-six working days of a made-up web shop, in the formats that Claude Code
2.1, Codex 0.171 and Copilot CLI 1.0 write. What happens in them is a script; what the product concludes from them is
not: nothing here knows of rules or verdicts. The script holds

- a habit that the linter refuses each time (`Date.now()` where the project has a clock),
- a configuration file that is looked for under the wrong ending,
- a deployment that the person refuses in the first week and that is daily work afterwards,
- a flag that the test runner does not know, which comes up only now and then,
- pushes that the person refuses, with reasons,
- and mistakes that happen once.

The files are the same on every run. Times are UTC; the year is fixed.
"""

from __future__ import annotations

import json
import random
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

PROJECT = "/home/sam/shop"
FIRST = datetime(2026, 9, 7, 8, 0, tzinfo=UTC)
DAYS = 26
SEED = 20260907

REQUESTS = (
    "show the delivery estimate on the checkout page", "the cart badge counts removed items, fix it",
    "add a test for expired vouchers", "round prices the way the invoice does", "log when a payment is retried",
    "the search page forgets its filter on reload", "let staff see when an order was last changed",
    "send the receipt only after the payment is settled", "sort reviews by newest first",
    "add a timeout to the address lookup", "make the wish list shareable", "cache the category tree for a minute",
    "show how long a sale still lasts", "write the order id into every log line", "the coupon field accepts spaces",
    "add the country to the shipping label", "two confirmation mails go out, send one", "paginate the order history",
)  # fmt: skip
MODULES = ("cart", "checkout", "orders", "search", "voucher", "mail", "receipt", "catalog", "reviews", "shipping")
REASONS = (
    "no force pushes, others work on this branch too; open a pull request",
    "never force-push here, rebase and push a new branch",
    "please don't force push, we lost a commit that way",
    "no force push. make a new branch",
)
ONCE = (
    ("prefer-const", "let total = 0;", "const total = 0;"),
    ("eqeqeq", "if (count == 0) {", "if (count === 0) {"),
    ("no-var", "var rows = [];", "const rows = [];"),
    ("no-empty", "catch (error) {}", "catch (error) { log(error); }"),
    ("curly", "if (open) close();", "if (open) { close(); }"),
)
TAKEN = ("row.changedAt = {};\n", "audit.push([row.id, {}]);\n", "const age = {} - row.createdAt;\n")
PUSHES = (0, 17, 30, 41)
"""Sessions in which a push is refused: none of Codex, whose transcripts do not say who refused."""
GONE = ("src/types/index.d.ts", "scripts/seed.ts", "src/server/routes.ts", "test/helpers.ts")


@dataclass
class Op:
    """One tool call as the script wants it: what is done, and how it ends."""

    kind: str  # run, read, edit
    target: str  # a command, or a path
    old: str = ""
    new: str = ""
    output: str = "done"
    ok: bool = True
    refused: str = ""


@dataclass
class Session:
    day: int
    at: datetime
    agent: str
    id: str
    prompt: str
    ops: list[Op] = field(default_factory=list)
    answer: str = ""


def lint(path: str, line: int, code: str, message: str) -> str:
    """What a linter prints of one finding."""
    return f"\n{PROJECT}/{path}\n  {line}:9  error  {message}  {code}\n\n✖ 1 problem (1 error, 0 warnings)\n"


def clock(module: str, *, habit: bool, line: int) -> Iterator[Op]:
    """A time stamp is needed: by habit taken from the wrong place, or from the project's clock at once."""
    path = f"src/{module}/{module}.ts"
    before = f"export function touch{module.title()}(row: Row) {{\n"
    taken = "  " + TAKEN[line % len(TAKEN)]
    wrong, right = taken.format("Date.now()"), taken.format("clock.now()")
    if habit:
        yield Op("edit", path, before, before + wrong, "updated")
        message = "'Date.now' is restricted from being used. Use clock.now() so that tests can set the time"
        yield Op("run", "npm run lint", output=lint(path, line, "no-restricted-properties", message), ok=False)
        yield Op("edit", path, wrong, right, "updated")
    else:
        yield Op("edit", path, before, before + right, "updated")
    yield Op("run", "npm run lint", output="no problems")


def configuration(*, wrong: bool) -> Iterator[Op]:
    if wrong:
        yield Op("read", "config/app.yml", output="missing", ok=False)
    yield Op("read", "config/app.yaml", output="currency: EUR\nlocale: de\n")


def staging(day: int) -> Iterator[Op]:
    """Staging is frozen in the first week; later everybody tries their work there."""
    frozen = day < 5
    reason = "staging is frozen until Friday, do not deploy" if day < 3 else "still frozen, please wait with deploying"
    yield Op("run", "npm run deploy:staging", output="deployed", ok=not frozen, refused=reason if frozen else "")


def once(number: int, module: str) -> Iterator[Op]:
    code, wrong, right = ONCE[number % len(ONCE)]
    path = f"src/{module}/{module}.ts"
    yield Op("edit", path, "export {", wrong + "\nexport {", "updated")
    yield Op("run", "npm run lint", output=lint(path, 30 + number, code, f"violates {code}"), ok=False)
    yield Op("edit", path, wrong, right, "updated")
    yield Op("run", "npm run lint", output="no problems")


def flag() -> Iterator[Op]:
    said = "CACError: Unknown option `--watchAll`\n"
    yield Op("run", "npx vitest run --watchAll=false", output=said, ok=False)
    yield Op("run", "npx vitest run", output=" Test Files  12 passed (12)\n")


def script() -> list[Session]:
    """All sessions, in order of time."""
    chance = random.Random(SEED)
    sessions = []
    for number in range(DAYS * 2):
        day = number // 2
        at = FIRST + timedelta(days=day // 5 * 7 + day % 5, hours=(number % 2) * 5, minutes=chance.randrange(50))
        agent = ("claude", "codex", "copilot")[number % 3]
        name = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        request = REQUESTS[number % len(REQUESTS)]
        module = MODULES[(number * 7) % len(MODULES)]
        one = Session(day, at, agent, name, request if number < len(REQUESTS) else f"{request} ({module})")
        one.ops = list(happens(one, number, module, chance))
        one.answer = f"Done: {request}. Lint and tests pass."
        sessions.append(one)
    return sessions


def happens(one: Session, number: int, module: str, chance: random.Random) -> Iterator[Op]:
    """What happens in one session."""
    day = one.day
    yield Op("read", f"src/{module}/{module}.ts", output=f"export function touch{module.title()}(row: Row) {{\n")
    if number in {0, 3} or (day > 1 and chance.random() < 0.6):
        yield from configuration(wrong=number in {0, 3} or chance.random() < 0.8)
    if number < len(GONE):
        yield Op("read", GONE[number], output="missing", ok=False)
    if number in {0, 2, 3, 9, 14}:
        yield from once(number % len(ONCE), module)
    if number in {1, 2} or (day > 1 and chance.random() < 0.7):
        yield from clock(module, habit=number in {1, 2} or chance.random() < 0.75, line=14 + number)
    if number in {2, 6, 29, 41}:
        yield from flag()
    if one.agent != "codex" and (day in {1, 2, 4} or (day >= 5 and chance.random() < 0.7)):
        yield from staging(day)
    if number in PUSHES:
        yield Op("run", "git push --force", ok=False, refused=REASONS[PUSHES.index(number)])
        yield Op("run", f"git push -u origin HEAD:{module}-fix", output="branch set up")
    yield Op("run", "npm test", output=" Test Files  12 passed (12)\n")


# How each agent writes it down.


def stamp(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Clock:
    def __init__(self, at: datetime) -> None:
        self.at = at

    def tick(self, seconds: int = 7) -> str:
        self.at += timedelta(seconds=seconds)
        return stamp(self.at)


def line(record: dict[str, object]) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"


def full(path: str) -> str:
    return f"{PROJECT}/{path}"


def claude(one: Session, chance: random.Random) -> Iterator[str]:
    """Claude Code 2.1: one record a block, results in user records."""
    clock_, parent = Clock(one.at), None
    common = {
        "isSidechain": False, "userType": "external", "cwd": PROJECT, "sessionId": one.id, "version": "2.1.197",
        "gitBranch": "main",
    }  # fmt: skip

    def record(kind: str, message: dict[str, object], **more: object) -> str:
        nonlocal parent
        name = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        made = line({"parentUuid": parent, **common, "type": kind, "message": message, "uuid": name,
                     "timestamp": clock_.tick(), **more})  # fmt: skip
        parent = name
        return made

    def says(block: dict[str, object], tokens: int) -> str:
        name = f"msg_{chance.getrandbits(80):020x}"
        cached = {"cache_creation_input_tokens": 400, "cache_read_input_tokens": 18_000}
        usage = {"input_tokens": 9, **cached, "output_tokens": tokens}
        message = {"id": name, "type": "message", "role": "assistant", "model": "claude-sonnet-4-6",
                   "content": [block], "usage": usage,
                   "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn"}  # fmt: skip
        return record("assistant", message, requestId=f"req_{name[4:16]}")

    yield record("user", {"role": "user", "content": one.prompt}, origin={"kind": "human"}, promptSource="typed")
    for op in one.ops:
        call = f"toolu_{chance.getrandbits(80):020x}"
        tool, arguments = {
            "run": ("Bash", {"command": op.target, "description": "run it"}),
            "read": ("Read", {"file_path": full(op.target)}),
            "edit": ("Edit", {"file_path": full(op.target), "old_string": op.old, "new_string": op.new}),
        }[op.kind]
        yield says({"type": "tool_use", "id": call, "name": tool, "input": arguments}, 60 + len(op.new) // 3)
        said, result = claude_result(op)
        block = {"tool_use_id": call, "type": "tool_result", "content": said, "is_error": not op.ok}
        yield record("user", {"role": "user", "content": [block]}, toolUseResult=result)
    yield says({"type": "text", "text": one.answer}, 80)


def claude_result(op: Op) -> tuple[str, object]:
    if op.refused:
        said = (
            "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file "
            "edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
            + op.refused
        )
        return said, "Error: " + said
    if op.kind == "read" and not op.ok:
        return "File does not exist.", "Error: File does not exist."
    if op.kind == "run":
        said = op.output if op.ok else f"Exit code 1\n{op.output}"
        return said, {"stdout": op.output, "stderr": "", "interrupted": False} if op.ok else f"Error: {said}"
    return op.output, {"filePath": full(op.target)}


def codex(one: Session, chance: random.Random) -> Iterator[str]:
    """Codex 0.171: wrapped records, shell and patches."""
    clock_ = Clock(one.at)

    def record(kind: str, payload: dict[str, object]) -> str:
        return line({"timestamp": clock_.tick(), "type": kind, "payload": payload})

    meta = {"id": one.id, "timestamp": stamp(one.at), "cwd": PROJECT, "originator": "codex-tui",
            "cli_version": "0.171.0", "source": "cli", "model_provider": "openai",
            "git": {"branch": "main", "commit_hash": f"{chance.getrandbits(160):040x}"}}  # fmt: skip
    yield record("session_meta", meta)
    yield record("turn_context", {"cwd": PROJECT, "model": "gpt-5.5-codex", "approval_policy": "on-request"})
    content = [{"type": "input_text", "text": one.prompt}]
    yield record("response_item", {"type": "message", "role": "user", "content": content})
    yield record("event_msg", {"type": "user_message", "message": one.prompt, "kind": "plain"})
    total = 0
    for op in one.ops:
        call = f"call_{chance.getrandbits(80):020x}"
        if op.kind == "edit":
            patch = codex_patch(op)
            yield record("response_item", {"type": "custom_tool_call", "status": "completed", "call_id": call,
                                           "name": "apply_patch", "input": patch})  # fmt: skip
            output = json.dumps({"output": "Success. Updated the following files:\nM " + op.target + "\n",
                                 "metadata": {"exit_code": 0, "duration_seconds": 0.0}})  # fmt: skip
            yield record("response_item", {"type": "custom_tool_call_output", "call_id": call, "output": output})
        else:
            command = op.target if op.kind == "run" else f"sed -n '1,80p' {op.target}"
            yield record("response_item", {"type": "function_call", "name": "exec_command", "call_id": call,
                                           "arguments": json.dumps({"cmd": command, "workdir": PROJECT})})  # fmt: skip
            said = op.output
            if op.kind == "read" and not op.ok:
                said = f"sed: can't read {op.target}: No such file or directory\n"
            wrapped = f"Process exited with code {0 if op.ok else 1}\nOutput:\n{said}"
            yield record("response_item", {"type": "function_call_output", "call_id": call, "output": wrapped})
        spent = 70 + len(op.new) // 3
        total += spent
        usage = {"input_tokens": 900, "cached_input_tokens": 800, "output_tokens": spent, "total_tokens": 900 + spent}
        yield record("event_msg", {"type": "token_count", "info": {
            "total_token_usage": {**usage, "output_tokens": total, "total_tokens": 900 + total},
            "last_token_usage": usage}, "rate_limits": None})  # fmt: skip
    content = [{"type": "output_text", "text": one.answer}]
    yield record("response_item", {"type": "message", "role": "assistant", "content": content, "phase": "final_answer"})
    yield record("event_msg", {"type": "agent_message", "message": one.answer})
    yield record("event_msg", {"type": "task_complete", "last_agent_message": one.answer})


def codex_patch(op: Op) -> str:
    removed = "".join(f"-{text}\n" for text in op.old.splitlines())
    added = "".join(f"+{text}\n" for text in op.new.splitlines())
    return f"*** Begin Patch\n*** Update File: {op.target}\n@@\n{removed}{added}*** End Patch\n"


def copilot(one: Session, chance: random.Random) -> Iterator[str]:
    """Copilot CLI 1.0: a chain of events."""
    clock_, parent = Clock(one.at), None

    def event(kind: str, data: dict[str, object]) -> str:
        nonlocal parent
        name = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        made = line({"type": kind, "data": data, "id": name, "timestamp": clock_.tick(), "parentId": parent})
        parent = name
        return made

    head = f"{chance.getrandbits(160):040x}"
    context = {"cwd": PROJECT, "gitRoot": PROJECT, "branch": "main", "headCommit": head}
    yield event("session.start", {"sessionId": one.id, "version": 1, "producer": "copilot-agent",
                                  "copilotVersion": "1.0.102", "startTime": stamp(one.at),
                                  "context": context})  # fmt: skip
    yield event("user.message", {"content": one.prompt, "transformedContent": one.prompt, "attachments": []})
    for op in one.ops:
        call = f"call_{chance.getrandbits(80):020x}"
        tool, arguments = {
            "run": ("bash", {"command": op.target, "description": "run it"}),
            "read": ("view", {"path": full(op.target)}),
            "edit": ("edit", {"path": full(op.target), "old_str": op.old, "new_str": op.new}),
        }[op.kind]
        request = {"toolCallId": call, "name": tool, "arguments": arguments, "type": "function"}
        name = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        yield event("assistant.message", {"messageId": name, "content": "", "toolRequests": [request],
                                          "outputTokens": 65 + len(op.new) // 3})  # fmt: skip
        yield event("tool.execution_start", {"toolCallId": call, "toolName": tool, "arguments": arguments})
        if op.refused:
            permission = {"kind": "shell", "toolCallId": call, "fullCommandText": op.target}
            yield event("permission.requested", {"requestId": call, "permissionRequest": permission})
            yield event("permission.completed", {"requestId": call, "toolCallId": call, "result": {
                "kind": "denied-interactively-by-user", "feedback": op.refused}})  # fmt: skip
        yield event("tool.execution_complete", {"toolCallId": call, "success": op.ok, **copilot_result(op)})
    name = str(uuid.UUID(int=chance.getrandbits(128), version=4))
    yield event("assistant.message", {"messageId": name, "content": one.answer, "toolRequests": [], "outputTokens": 85})
    yield event("session.shutdown", {"shutdownType": "routine"})


def copilot_result(op: Op) -> dict[str, object]:
    if op.refused:
        return {"error": {"message": "The user rejected this tool call.", "code": "rejected"}}
    if op.kind == "read" and not op.ok:
        return {"error": {"message": f"Path does not exist: {full(op.target)}", "code": "failure"}}
    if op.kind == "run" and not op.ok:
        return {"result": {"content": f"{op.output}\n<exited with exit code 1>"},
                "error": {"message": f"{op.output}\n<exited with exit code 1>", "code": "failure"}}  # fmt: skip
    return {"result": {"content": op.output}}


def place(one: Session) -> str:
    """Where the agent keeps the session, below the person's HOME."""
    if one.agent == "claude":
        return f".claude/projects/{PROJECT.replace('/', '-')}/{one.id}.jsonl"
    if one.agent == "codex":
        day = one.at.strftime("%Y/%m/%d")
        return f".codex/sessions/{day}/rollout-{one.at.strftime('%Y-%m-%dT%H-%M-%S')}-{one.id}.jsonl"
    return f".copilot/session-state/{one.id}/events.jsonl"


def main(folder: Path) -> None:
    for number, one in enumerate(script()):
        path = folder / place(one)
        path.parent.mkdir(parents=True, exist_ok=True)
        write = {"claude": claude, "codex": codex, "copilot": copilot}[one.agent]
        path.write_text("".join(write(one, random.Random(SEED + number))), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
