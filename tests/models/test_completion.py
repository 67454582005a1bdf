"""Both SDKs against a scripted server on loopback, and the budget against the server's own account."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from skillopt_core.protocols import Exhausted
from skillopt_core.types import Missing
from skillopt_sleep.budget import Budget, Limits, Price
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.errors import ConfigError, ModelError, NotSignedIn
from skillopt_sleep.models.anthropic import AnthropicCompleter
from skillopt_sleep.models.base import Completer, Completion
from skillopt_sleep.models.openai import OpenAICompleter
from skillopt_sleep.redact import Redacted
from tests.models.ledgers import Book, Replies

Make = Callable[[HTTPServer], Completer]


def anthropic(server: HTTPServer) -> Completer:
    return AnthropicCompleter("scripted", base_url=server.url_for(""))


def openai(server: HTTPServer) -> Completer:
    return OpenAICompleter("scripted", base_url=server.url_for("/v1"))


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "x")
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(proxy, raising=False)


@pytest.fixture(params=[anthropic, openai], ids=["anthropic", "openai"])
def make(request: pytest.FixtureRequest) -> Make:
    return request.param  # type: ignore[no-any-return]


def message(path: str, text: str, used: tuple[int, int] | None, *, cut: bool = False) -> Response:
    """The answer of either protocol, by the path that was asked."""
    if path.endswith("/messages"):
        body: dict[str, object] = {
            "id": "m", "type": "message", "role": "assistant", "model": "scripted",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "max_tokens" if cut else "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": used[0] if used else 0, "output_tokens": used[1] if used else 0},
        }  # fmt: skip
    else:
        choice = {
            "index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "length" if cut else "stop",
        }  # fmt: skip
        body = {"id": "c", "object": "chat.completion", "created": 1, "model": "scripted", "choices": [choice]}
        if used:
            body["usage"] = {"prompt_tokens": used[0], "completion_tokens": used[1], "total_tokens": sum(used)}
    return Response(json.dumps(body), content_type="application/json")


def serve(server: HTTPServer, *answers: Callable[[Request], Response]) -> list[Request]:
    """Answers in turn, the last one for ever; the requests seen are returned."""
    seen: list[Request] = []

    def answer(request: Request) -> Response:
        seen.append(request)
        return answers[min(len(seen), len(answers)) - 1](request)

    for path in ("/v1/messages", "/v1/chat/completions"):
        server.expect_request(path).respond_with_handler(answer)
    return seen


def says(text: str, used: tuple[int, int] | None = (20, 5), *, cut: bool = False) -> Callable[[Request], Response]:
    return lambda request: message(request.path, text, used, cut=cut)


def fails(status: int, **headers: str) -> Callable[[Request], Response]:
    body = json.dumps({"type": "error", "error": {"type": "x", "message": "quota exceeded, billing, permission"}})
    return lambda _: Response(body, status, {k.replace("_", "-"): v for k, v in headers.items()})


def completion(
    completer: Completer, limits: Limits | None = None, replies: Replies | None = None, book: Book | None = None
) -> tuple[Completion, Budget]:
    budget = Budget(limits or Limits(), book or Book(), FixedClock(0))
    made = Completion(
        completer, budget, replies or Replies(), night="n", role="optimizer", redact=Redacted, max_output=100
    )
    return made, budget


def spent(budget: Budget) -> object:
    return budget.as_json()["tokens"]


def test_an_answer_comes_back_and_its_reported_tokens_are_settled(make: Make, httpserver: HTTPServer) -> None:
    serve(httpserver, says("hello"))
    complete, budget = completion(make(httpserver))
    assert complete(["say hello please"]) == ["hello"]
    assert spent(budget) == {"limit": None, "spent": 25, "exact": True}


def test_replies_keep_the_order_of_their_prompts(make: Make, httpserver: HTTPServer) -> None:
    serve(httpserver, lambda r: message(r.path, "echo " + r.get_json()["messages"][0]["content"], (20, 5)))
    complete, _ = completion(make(httpserver))
    assert complete([f"p{n}" for n in range(12)]) == [f"echo p{n}" for n in range(12)]


def test_a_429_is_retried_once_after_the_time_that_the_server_names(make: Make, httpserver: HTTPServer) -> None:
    seen = serve(httpserver, fails(429, Retry_After="0.01"), says("later"))
    complete, _ = completion(make(httpserver))
    assert complete(["x"]) == ["later"]
    assert len(seen) == 2


@pytest.mark.parametrize("status", [429, 500, 529])
def test_a_storm_of_refusals_is_missing_data_after_one_retry(make: Make, httpserver: HTTPServer, status: int) -> None:
    seen = serve(httpserver, fails(status, Retry_After="0.01"))
    replies = Replies()
    complete, _ = completion(make(httpserver), replies=replies)
    assert complete(["x"]) == [Missing(f"HTTP {status}")]
    assert len(seen) == 2
    assert not replies.kept


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_stops_the_night(make: Make, httpserver: HTTPServer, status: int) -> None:
    seen = serve(httpserver, fails(status))
    complete, _ = completion(make(httpserver))
    with pytest.raises(NotSignedIn):
        complete(["x"])
    assert len(seen) == 1


def test_an_unknown_model_stops_the_night(make: Make, httpserver: HTTPServer) -> None:
    serve(httpserver, fails(404))
    complete, _ = completion(make(httpserver))
    with pytest.raises(ModelError, match="HTTP 404"):
        complete(["x"])


@pytest.mark.parametrize(("text", "cut"), [("", False), ("  \n", False), ("half an ans", True)])
def test_an_empty_or_cut_answer_is_missing_and_never_kept(
    make: Make, httpserver: HTTPServer, text: str, cut: bool
) -> None:
    serve(httpserver, says(text, cut=cut))
    replies = Replies()
    complete, _ = completion(make(httpserver), replies=replies)
    assert isinstance(complete(["x"])[0], Missing)
    assert not replies.kept
    assert len(replies.failed) == 1


def test_words_of_an_error_in_an_answer_are_just_an_answer(make: Make, httpserver: HTTPServer) -> None:
    serve(httpserver, says("raise the quota alert; billing; not logged in"))
    complete, _ = completion(make(httpserver))
    assert complete(["x"]) == ["raise the quota alert; billing; not logged in"]


def test_a_stored_reply_is_not_paid_for_again(make: Make, httpserver: HTTPServer) -> None:
    seen = serve(httpserver, says("once"))
    replies, book = Replies(), Book()
    completion(make(httpserver), replies=replies, book=book)[0](["x"])
    assert completion(make(httpserver), replies=replies, book=book)[0](["x"]) == ["once"]
    assert len(seen) == 1


def test_usage_of_zero_is_estimated_and_said_to_be_inexact(make: Make, httpserver: HTTPServer) -> None:
    serve(httpserver, says("w" * 500, None))
    complete, budget = completion(make(httpserver))
    complete(["x" * 1000])
    figure = budget.as_json()["tokens"]
    assert isinstance(figure, dict)
    assert not figure["exact"]
    assert figure["spent"] >= 1000


def test_a_call_that_the_budget_cannot_cover_is_never_made(make: Make, httpserver: HTTPServer) -> None:
    seen = serve(httpserver, says("x"))
    complete, _ = completion(make(httpserver), Limits(tokens=164))
    with pytest.raises(Exhausted):
        complete(["x"])
    assert not seen


def test_no_price_and_a_limit_in_money_is_refused() -> None:
    with pytest.raises(ConfigError, match="no price"):
        Budget(Limits(usd=1.0), Book(), FixedClock(0)).reserve("optimizer", "unheard-of", "x", 10)


def test_money_is_counted_by_the_price_of_the_model() -> None:
    budget = Budget(Limits(usd=1.0), Book(), FixedClock(0), {"m": Price(input=1.0, output=10.0)})
    with pytest.raises(Exhausted):
        budget.reserve("optimizer", "m", "x" * 10, 100_001)


@pytest.mark.parametrize("seed", range(40))
def test_the_servers_own_account_never_passes_the_cap(seed: int, httpserver: HTTPServer) -> None:
    chance = random.Random(seed)
    account: list[int] = []

    def answer(request: Request) -> Response:
        if chance.random() < 0.2:
            return Response("{}", 500, {"Retry-After": "0"})
        words = chance.randint(0, 100)
        size = len(request.get_json()["messages"][0]["content"])
        truth = (size // chance.randint(1, 5) + 8, words)
        account.append(sum(truth))
        return message(request.path, "w" * words, chance.choice([truth, None, (0, 0), (10**9, 10**9)]))

    httpserver.expect_request("/v1/messages").respond_with_handler(answer)
    cap = chance.randint(100, 20_000)
    completer = AnthropicCompleter("scripted", base_url=httpserver.url_for(""))
    complete, budget = completion(completer, Limits(tokens=cap))
    with pytest.raises(Exhausted):
        for _ in range(100):
            complete(["y" * chance.randint(1, 900) + str(n) for n in range(chance.randint(1, 32))])
            if chance.random() < 0.02:
                raise Exhausted
    figure = budget.as_json()["tokens"]
    assert isinstance(figure, dict)
    assert sum(account) <= figure["spent"] <= cap
