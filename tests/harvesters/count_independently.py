"""Prompts, calls, errors and refusals of a transcript, counted with json alone: what the harvesters are checked by."""

import json
import re
from collections import Counter

REFUSED = re.compile(r"\W*(type\W+text\W+text\W+)?(The user doesn't want to|User chose to stay|patch rejected by user)")
TAGS = re.compile(r"<(system-reminder|ide_opened_file|ide_selection)>.*?(</\1>|$)|^# Context.*for Codex:", re.DOTALL)
OTHERS = "Implement the following plan:|<local-|<bash-|<task-n|<command-|.Request inter|Operation stopped|Caveat: |"
NOBODY = re.compile(OTHERS + "This session is being cont|<environment_context|# AGENTS|<user_instr|<turn_ab|/[a-z]+$|$")
FAILED = re.compile(r'((Exit code:|exited with code|exit code|"exit_code":) ?[1-9]|failed in sandbox|execution error)')
CALL = re.compile(r"tool_use|asked|tool.execution_start|[a-z_]+_call")
SILENT = ("isMeta", "isSidechain", "isCompactSummary", "toolUseResult", "source")


def records(path):
    raw, decode = path.read_bytes().decode("utf-8", "replace").strip("\ufeff\0 \n"), json.JSONDecoder(strict=False)
    for line in [raw] if path.suffix == ".json" else raw.split("\n"):
        while (line := line.strip("\r\0 ")).startswith("{"):
            try:
                value, end = decode.raw_decode(line)
            except ValueError:
                break
            yield from value.get("requests") or value.get("history") or [value]
            line = line[end:]


def steps(r):  # ("call", id, what) | ("result", id, text of a failure or None) | ("said", texts, image)
    p = r.get("payload") or r.get("data") or r
    item, m, kind = p.get("item") or {}, p.get("message"), p.get("type") or r.get("type") or ""
    m = m if isinstance(m, dict) else {"content": m} if kind == "user_message" or "response" in r else p
    found = item.get("content") or m.get("content") or m.get("text") or p.get("prompt")
    found = [{"text": found}] if isinstance(found, str) else found if isinstance(found, list) else []
    blocks = [{"type": "text", **b} for b in found if isinstance(b, dict)]
    for b in (*blocks, *({"type": "asked", **b} for b in p.get("toolRequests") or ()), {**p, "type": kind}):
        name = b.get("tool_use_id") or b.get("toolCallId") or b.get("call_id") or b.get("id") or str(b.get("input"))
        if CALL.fullmatch(b["type"]) and (blocks or kind != "tool_use") and name != "None":
            yield "call", name, str(b)
        elif b["type"] in ("tool_result", "tool.execution_complete") or b["type"].endswith("_output"):
            text = str(b.get("content") or b.get("output") or b.get("result"))
            bad = FAILED.search(text[:90] + text[-90:]) or REFUSED.match(text) or not b.get("success", True)
            yield "result", name, text if b.get("is_error", bad and "tool_use_id" not in b) else None
    robot = any(r.get(k) or p.get(k) for k in SILENT) or (r.get("origin") or {}).get("kind", "human") != "human"
    typed = kind.startswith("user") or item.get("type") == "UserMessage" or "response" in r
    if not robot and (typed or (m.get("role") in ("user", "human") and kind in ("", "message", "response_item"))):
        texts = [TAGS.sub("", b.get("text") or "").strip() for b in blocks if b["type"].endswith("text")]
        yield "said" if typed or m is not p else "item", [t for t in texts if t], "'image'" in str(blocks)[:99]


def count(path):
    n, calls, queue, again = Counter(), {}, [], set()
    for r in records(path):
        operation, text, time = r.get("operation"), str(r.get("content") or "").strip(), str(r.get("timestamp"))
        queue += [text] if operation == "enqueue" or (operation == "remove" and text and text not in queue) else []
        queue = [other for other in queue if operation != "popAll" or (text and other != text)]
        for what, name, said in steps(r):
            if what == "call":
                calls.setdefault(name, said)
            elif what == "result" and calls.get(name):
                calls[name], what = "", "refusals" if said and REFUSED.match(said) else "errors"
                n[what] += said is not None
            elif what != "result" and not {(time, str(name)), (time, str(name or said))} & again:
                again |= {(time, str(name)), (time, "True")} if "sessionId" in r and time[-1] == "Z" else set()
                queue = [other for other in queue if other not in name]
                n[what] += any(not NOBODY.match(t) for t in name) or (said and not name)
    own = not (path.name.startswith("agent-") or "subagents" in path.parts)
    n["prompts"] = own * ((n["said"] or n["item"]) + sum(not NOBODY.match(text) for text in queue))
    return {"prompts": n["prompts"], "calls": len(calls), "errors": n["errors"], "refusals": n["refusals"]}
