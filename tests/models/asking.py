"""A model behind either SDK, asked through `Completion` with ledgers in memory."""

from __future__ import annotations

from collections.abc import Callable

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from skillopt_sleep.budget import Budget, Limits
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.models.anthropic import AnthropicCompleter
from skillopt_sleep.models.base import Completer, Completion
from skillopt_sleep.models.openai import OpenAICompleter
from skillopt_sleep.redact import Redacted
from tests.models.ledgers import Book, Replies

Make = Callable[[HTTPServer], Completer]
Answer = Callable[[Request], Response]


def anthropic(server: HTTPServer) -> Completer:
    return AnthropicCompleter("scripted", base_url=server.url_for(""))


def openai(server: HTTPServer) -> Completer:
    return OpenAICompleter("scripted", base_url=server.url_for("/v1"))


def completion(
    completer: Completer,
    limits: Limits | None = None,
    replies: Replies | None = None,
    book: Book | None = None,
    pauses: list[float] | None = None,
) -> tuple[Completion, Budget]:
    budget = Budget(limits or Limits(), book or Book(), FixedClock(0))
    ledger, slept = replies or Replies(), pauses if pauses is not None else []
    made = Completion(
        completer, budget, ledger, night="n", role="optimizer", redact=Redacted, sleep=slept.append, max_output=100
    )
    return made, budget


def spent(budget: Budget) -> object:
    return budget.as_json()["tokens"]
