"""A provider on loopback that keeps its own account: both protocols, honest or not, prompt or slow, sound or broken."""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

REPORTS: Final = ("true", "absent", "zero", "low", "high", "no number")
FAULTS: Final = ("429", "500", "cut", "no json", "hung up")
WORDS: Final = "a night reads what happened and leaves one rule for people who run their tests before they push".split()

LONGEST_S: Final = 5.0
"""For which a request waits for others, at most."""

Tokenizer = Callable[[str], int]


@dataclass(frozen=True)
class Habits:
    """How a provider behaves. `counts` is its tokenizer, `wrapping` what it adds to a prompt.

    `reports` are drawn from for each answer, `faults` with their probabilities for each request; `thinks` is the share
    of an answer's limit that it may think unseen. `seconds` is what an answer takes.
    """

    counts: Tokenizer
    wrapping: int = 8
    reports: Sequence[str] = ("true",)
    faults: dict[str, float] = field(default_factory=dict)
    thinks: float = 0.0
    seconds: float = 0.0


@dataclass
class Account:
    """What one provider saw and did, by its own count. It answers nobody before it saw `gathers` at a time."""

    habits: Habits
    chance: random.Random = field(default_factory=random.Random)
    tick: Callable[[], None] = lambda: None
    lock: threading.Condition = field(default_factory=threading.Condition)
    gathers: int = 0
    requests: int = 0
    input: int = 0
    output: int = 0
    in_air: int = 0
    peak: int = 0
    answered: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def serving(self) -> Iterator[None]:
        """One request while it is worked on."""
        with self.lock:
            self.requests += 1
            self.in_air += 1
            self.peak = max(self.peak, self.in_air)
            self.tick()
            self.lock.notify_all()
            self.lock.wait_for(lambda: self.peak >= self.gathers, LONGEST_S)
        try:
            yield
        finally:
            with self.lock:
                self.in_air -= 1


class Provider:
    """A server with accounts by the first part of the path: `http://127.0.0.1:PORT/NAME/v1/…`."""

    def __init__(self) -> None:
        self.accounts: dict[str, Account] = {}
        provider = self

        class Door(_Door):
            accounts = provider.accounts

        self._server = _Server(("127.0.0.1", 0), Door)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def url(self, name: str) -> str:
        """Where an account is asked."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/{name}"

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hung up is no news."""


class _Door(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    accounts: dict[str, Account]

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        account = self.accounts[self.path.split("/")[1]]
        with account.serving():
            time.sleep(account.habits.seconds)
            self._answer(account, asked)

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""

    def _answer(self, account: Account, asked: dict[str, Any]) -> None:
        habits, prompt = account.habits, asked["messages"][0]["content"]
        limit = asked.get("max_tokens") or asked["max_completion_tokens"]
        with account.lock:
            draw, kind = account.chance.random(), ""
            for fault, share in habits.faults.items():
                kind, draw = (fault if 0 <= draw < share else kind), draw - share
            report = account.chance.choice(habits.reports)
            text, thought = _written(account, limit)
            account.kinds[kind or report] += 1
            if kind != "429":
                account.input += habits.counts(prompt) + habits.wrapping
            if kind not in {"429", "500"}:
                account.output += habits.counts(text) + thought
            if not kind and text:
                account.answered[prompt] += 1
            truth = (habits.counts(prompt) + habits.wrapping, habits.counts(text) + thought)
            used = _reported(report, truth, account.chance)
        self._send(kind, _body(self.path, text, used))

    def _send(self, kind: str, body: bytes) -> None:
        if kind == "hung up":
            self.close_connection = True
            return
        status = int(kind) if kind.isdigit() else 200
        self.close_connection = True  # so that nobody has to close it
        body = b'{"error": {"type": "x"}}' if kind.isdigit() else b"<html>" if kind == "no json" else body
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        if kind == "429":
            self.send_header("Retry-After", "0.01")
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if kind == "cut" else body)


def _written(account: Account, limit: int) -> tuple[str, int]:
    """An answer within the limit, and how many tokens were thought before it."""
    chance, habits = account.chance, account.habits
    thought = int(limit * habits.thinks * chance.random())
    words: list[str] = []
    room, wanted = limit - thought, chance.choice([chance.randint(1, 60), limit])
    while len(words) < wanted and habits.counts(" ".join([*words, WORDS[len(words) % len(WORDS)]])) <= room:
        words.append(WORDS[len(words) % len(WORDS)])
    return " ".join(words), thought


def _reported(report: str, truth: tuple[int, int], chance: random.Random) -> tuple[object, object] | None:
    if report == "absent":
        return None
    if report == "zero":
        return 0, 0
    if report == "no number":
        return chance.choice([("20", "5"), (-1, -1), (1.5, None), (True, True)])
    low, high = {"low": (0.02, 0.95), "high": (1.05, 40.0), "true": (1.0, 1.0)}[report]
    return tuple(int(side * chance.uniform(low, high)) for side in truth)  # type: ignore[return-value]


def _body(path: str, text: str, used: tuple[object, object] | None) -> bytes:
    """The answer of either protocol, by the path that was asked."""
    if path.endswith("/messages"):
        usage = {"usage": dict(zip(("input_tokens", "output_tokens"), used, strict=True))} if used else {}
        content = [{"type": "text", "text": text}]
        said: dict[str, object] = {
            "type": "message",
            "role": "assistant",
            "stop_reason": "end_turn",
            "content": content,
        }
    else:
        usage = {"usage": dict(zip(("prompt_tokens", "completion_tokens"), used, strict=True))} if used else {}
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        said = {"object": "chat.completion", "created": 1, "choices": [choice]}
    return json.dumps({"id": "x", "model": "scripted", **said, **usage}).encode()


def main() -> None:
    """Serve `one` in a process of its own, each answer after so many seconds, until standard input ends."""
    provider = Provider()
    habits = Habits(lambda text: len(text) // 4 + 1, seconds=float(sys.argv[1]))
    account = provider.accounts["one"] = Account(habits)
    print(provider.url("one"), flush=True)
    sys.stdin.read()
    provider.close()
    print(json.dumps({"requests": account.requests, "peak": account.peak}))


if __name__ == "__main__":
    main()
