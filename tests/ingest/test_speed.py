"""A harvest stays fast: its cost beside that of decoding the same lines, in the same run (bench/harvest.py).

Ratios of processor time, each the least of interleaved rounds, so that other work on the machine hardly counts. A limit
is twice what was reached on the day it was set: it fails where a way is lost, not where a machine is busy.
"""

from __future__ import annotations

import gc
import json
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from skillopt_harvesters import discover, read
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.ingest import harvest
from skillopt_sleep.redact import Redactor
from skillopt_sleep.store.engine import open_store

ROUNDS = 5
SESSIONS = 100
CALLS = 25
PARSE, COLD, UNCHANGED = 3.1, 7.1, 7.1
"""Limits: of decoding every line with orjson, of the same, of a bare stat walk."""


def words(dice: random.Random, count: int) -> str:
    return " ".join("".join(dice.choices("abcdefghijklmnopqrst", k=dice.randint(2, 9))) for _ in range(count))


def outputs(dice: random.Random) -> list[str]:
    """What tools print: many lines, a few kilobytes."""
    return ["\n".join(words(dice, dice.randint(4, 12)) for _ in range(dice.randint(3, 220))) for _ in range(60)]


def claude_session(dice: random.Random, texts: list[str], name: str) -> Iterator[dict[str, Any]]:
    shared = {
        "sessionId": name,
        "cwd": "/work/shop",
        "version": "2.1.197",
        "isSidechain": False,
        "userType": "external",
    }

    def record(kind: str, second: int, message: dict[str, Any], **more: Any) -> dict[str, Any]:
        stamp = f"2026-11-20T10:{second // 60:02d}:{second % 60:02d}.125Z"
        uuid = f"{dice.getrandbits(32):08x}-0000-4000-8000-{dice.getrandbits(48):012x}"
        return {
            "parentUuid": None,
            **shared,
            "type": kind,
            "message": message,
            "uuid": uuid,
            "timestamp": stamp,
            **more,
        }

    yield record("user", 0, {"role": "user", "content": words(dice, 20)})
    for call in range(CALLS):
        tool = f"toolu_{dice.getrandbits(80):022d}"
        ask = {"command": f"pytest -q tests/{words(dice, 1)}.py | tail -{call}", "description": words(dice, 3)}
        usage = {"input_tokens": call, "output_tokens": 40, "cache_read_input_tokens": 9000, "service_tier": "standard"}
        block = {"type": "tool_use", "id": tool, "name": "Bash", "input": ask}
        said = {"id": f"msg_{dice.getrandbits(80):022d}", "role": "assistant", "model": "claude-x", "usage": usage}
        yield record("assistant", 2 * call, {**said, "content": [block]})
        text = dice.choice(texts)
        result = {"tool_use_id": tool, "type": "tool_result", "content": text}
        structured = {"stdout": text, "stderr": "", "interrupted": False}
        yield record("user", 2 * call + 1, {"role": "user", "content": [result]}, toolUseResult=structured)
    yield record("assistant", 2 * CALLS, {**said, "content": [{"type": "text", "text": words(dice, 60)}]})


def codex_session(dice: random.Random, texts: list[str], name: str) -> Iterator[dict[str, Any]]:
    def record(kind: str, second: int, payload: dict[str, Any]) -> dict[str, Any]:
        return {
            "timestamp": f"2026-11-20T11:{second // 60:02d}:{second % 60:02d}.250Z",
            "type": kind,
            "payload": payload,
        }

    yield record("session_meta", 0, {"id": name, "cwd": "/work/shop", "cli_version": "0.171.0", "source": "cli"})
    yield record("event_msg", 1, {"type": "user_message", "message": words(dice, 20)})
    for call in range(CALLS):
        known = {"call_id": f"call_{dice.getrandbits(80):022d}"}
        ask = json.dumps({"command": ["bash", "-lc", f"rg -n {words(dice, 2)}"]})
        yield record("response_item", 2 * call, {"type": "function_call", "name": "shell", "arguments": ask, **known})
        output = json.dumps({"output": dice.choice(texts), "metadata": {"exit_code": 0, "duration_seconds": 0.3}})
        yield record("response_item", 2 * call + 1, {"type": "function_call_output", "output": output, **known})
        total = {"input_tokens": 1000 * call, "output_tokens": 40 * call, "total_tokens": 1040 * call}
        info = {"total_token_usage": total, "last_token_usage": {"input_tokens": 1000, "output_tokens": 40}}
        yield record("event_msg", 2 * call + 1, {"type": "token_count", "info": info})


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A HOME with a hundred sessions, the same on every machine."""
    home, dice = tmp_path_factory.mktemp("home"), random.Random(7)
    texts = outputs(dice)
    for number in range(SESSIONS):
        name = f"{number:08x}-2222-4333-8444-555555555555"
        if number % 4:
            path, records = home / ".claude/projects/-work-shop" / f"{name}.jsonl", claude_session(dice, texts, name)
        else:
            path = home / ".codex/sessions/2026/11/20" / f"rollout-2026-11-20T11-00-00-{name}.jsonl"
            records = codex_session(dice, texts, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records))
    return home


def decode(home: Path) -> None:
    for path in sorted(home.rglob("*.jsonl")):
        with path.open("rb") as file:
            for line in file:
                orjson.loads(line)


def parse(home: Path) -> int:
    return sum(len(batch.events) for source in discover(home, {})[0] for batch in read(source))


def walk(folder: Path | str) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                walk(entry.path)
            else:
                entry.stat(follow_symlinks=False)


def least(rounds: int, *works: Callable[[], object]) -> list[float]:
    """Processor seconds of each work, the least of rounds in which all take their turn."""
    took: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for times, work in zip(took, works, strict=True):
            gc.collect()
            began = time.process_time()
            work()
            times.append(time.process_time() - began)
    return [min(times) for times in took]


def test_reading_costs_little_more_than_decoding(corpus: Path) -> None:
    assert parse(corpus) > SESSIONS * CALLS
    unit, parsed = least(ROUNDS, lambda: decode(corpus), lambda: parse(corpus))
    assert parsed < PARSE * unit, f"parsing takes {parsed / unit:.2f} times as long as decoding"


def test_a_first_harvest_costs_a_few_decodings(corpus: Path, empty: Path, tmp_path: Path, clock: FixedClock) -> None:
    Redactor().redact("a passw loads the engine")
    homes = iter(range(ROUNDS))

    def cold() -> None:
        path = tmp_path / str(next(homes)) / "store.db"
        path.parent.mkdir(mode=0o700)
        shutil.copy(empty, path)
        with open_store(path, clock) as store:
            harvest(store, discover(corpus, {})[0], read, Redactor(), clock)

    unit, taken = least(ROUNDS, lambda: decode(corpus), cold)
    assert taken < COLD * unit, f"a first harvest takes {taken / unit:.2f} times as long as decoding"


def test_where_nothing_changed_a_harvest_is_a_walk(
    corpus: Path, empty: Path, tmp_path: Path, clock: FixedClock, redactor: Redactor
) -> None:
    path = tmp_path / "sleep" / "store.db"
    path.parent.mkdir(mode=0o700)
    shutil.copy(empty, path)
    with open_store(path, clock) as store:

        def again() -> int:
            return harvest(store, discover(corpus, {})[0], read, redactor, clock).new

        assert again() == SESSIONS
        assert again() == 0
        unit, taken = least(4 * ROUNDS, lambda: walk(corpus), again)
    assert taken < UNCHANGED * unit, f"an unchanged pass takes {taken / unit:.2f} times as long as a stat walk"
