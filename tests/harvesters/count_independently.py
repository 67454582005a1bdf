"""Prompts, calls, errors and refusals of a transcript, counted with json alone: what the harvesters are checked by."""

import json
import re
from contextlib import suppress

REFUSED = re.compile(r"\W*(type\W+text\W+text\W+)?(The user doesn't want to|User chose to stay|patch rejected by user)")
TAGS = re.compile(r"<(system-reminder|ide_opened_file|ide_selection)>.*?(</\1>|$)|^# Context.*for Codex:", re.DOTALL)
OTHERS = "Implement the following plan:|<local-|<bash-|<task-n|<command-|.Request inter|Operation stopped|Caveat: |"
NOBODY = re.compile(OTHERS + "This session is b|<environment_|# AGENTS|<user_instr|<turn_ab|System: P|/[a-z]+$|$")
FAILED = re.compile(r"xit(ed with)?[ _]?([Cc]ode\W{0,3}|': )[1-9]|failed in sandbox|execution error|'(error|cancel)")
CALL = re.compile(r"tool_use|asked|tool|toolCall|tool.execution_start|[a-z_]+_call")
SILENT, IDS = "isMeta isSidechain isCompactSummary toolUseResult source", "tool_use_id toolCallId call_id callID id"


def records(path):
    raw, decode = path.read_bytes().decode("utf-8", "replace").strip("\ufeff\0 \n"), json.JSONDecoder(strict=False)
    for line in [raw] if path.suffix == ".json" or raw.startswith("{\n") else raw.split("\n"):
        with suppress(ValueError):
            while (line := line.strip("\r\0 ")).startswith("{"):
                value, end = decode.raw_decode(line)
                yield from value.get("requests") or value.get("history") or value.get("messages") or [value]
                line = line[end:]
    parts = [{"messageID": f.parent.name, **json.loads(f.read_text())} for f in path.parents[2].glob("part/**/*.json")]
    for m in [json.loads(f.read_text()) for f in path.parents[2].glob("message/*/*") if f.parent.name in path.name]:
        yield {"role": m["role"], "content": [p for p in parts if p["messageID"] == m["id"]]}


def steps(r):  # ("call", id, what) | ("result", id, text of a failure or None) | ("said", texts, image)
    p = r.get("payload") or r.get("data") or r
    item, m, kind = p.get("item") or {}, p.get("message"), p.get("type") or r.get("type") or ""
    m = m if isinstance(m, dict) else {"content": m} if kind == "user_message" or "response" in r else p
    f = item.get("content") or m.get("content") or m.get("text") or p.get("prompt") or p.get("parts")
    blocks = [{"type": "text", **b} for b in {str: [{"text": f}], list: f}.get(type(f), ()) if isinstance(b, dict)]
    more = [{**b, "type": t} for t, k in (("asked", "toolRequests"), ("tool", "toolCalls")) for b in p.get(k) or ()]
    whole = {**m, **p, "type": "tool_result" if m.get("role") == "toolResult" else kind}
    for b in (*blocks, *more, whole):
        name = next(filter(None, map(b.get, IDS.split())), str(b.get("input", b.get("args"))))
        if CALL.fullmatch(b["type"]) and (blocks or kind != "tool_use") and name != "None":
            yield "call", name, str(b)
        if b["type"] in ("tool", "tool_result", "tool.execution_complete") or b["type"].endswith("_output"):
            text = str(b.get("content") or b.get("output") or [b.get("status"), b.get("state"), b.get("result")])
            bad = FAILED.search(text[:90] + text[-90:]) or REFUSED.match(text) or not b.get("success", True)
            yield "result", name, text if b.get("is_error", bad and "tool_use_id" not in b) else None
    robot = any(r.get(k) or p.get(k) for k in SILENT.split()) or (r.get("origin") or {}).get("kind", "human") != "human"
    typed, role = kind.startswith("user") or item.get("type") == "UserMessage" or "response" in r, (r | m).get("role")
    if not robot and (typed or (role in ("user", "human") and kind in ("", "message", "response_item"))):
        texts = [TAGS.sub("", b.get("text") or "").strip() for b in blocks if b["type"].endswith("text")]
        yield "said" if typed or m is not p else "item", [t for t in texts if t], "'image'" in str(blocks)[:99]


def count(path):
    n, w, calls, queue, again = {"errors": 0, "refusals": 0}, {"said": 0, "item": 0}, {}, [], set()
    for r in records(path):
        operation, text, time = r.get("operation"), str(r.get("content") or "").strip(), str(r.get("timestamp"))
        queue += [text] if operation == "enqueue" or (operation == "remove" and text and text not in queue) else []
        queue = [other for other in queue if operation != "popAll" or (text and other != text)]
        for what, name, said in steps(r):
            calls = {**({name: said} if what == "call" else {}), **calls}
            if what == "result" and calls.get(name):
                calls[name], what = "", "refusals" if said and REFUSED.match(said) else "errors"
                n[what] += said is not None
            elif what in w and not {(time, str(name)), (time, str(name or said))} & again:
                again |= {(time, str(name)), (time, "True")} if "sessionId" in r and time[-1] == "Z" else set()
                queue = [other for other in queue if other not in name]
                w[what] += any(not NOBODY.match(t) for t in name) or (said and not name)
    said = (w["said"] or w["item"]) + sum(not NOBODY.match(text) for text in queue)
    return {**n, "calls": len(calls), "prompts": said * ("subagents" not in path.parts and path.name[:6] != "agent-")}
