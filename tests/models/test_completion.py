"""Both SDKs against a scripted server on loopback, and the budget against the server's own account."""

from __future__ import annotations

import json
import random
import socket
import threading

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from skillopt_core.protocols import Exhausted
from skillopt_core.types import Missing
from skillopt_sleep.budget import Budget, Limits, Price
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.errors import ConfigError, ModelError, NotSignedIn
from skillopt_sleep.models.base import Completion, host_of
from skillopt_sleep.redact import Redacted
from tests.models.asking import Make, anthropic, completion, openai, spent
from tests.models.ledgers import Book, Replies
from tests.models.scripted import PATHS, fails, message, says, serve


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
    seen = serve(httpserver, fails(429, Retry_After="7"), says("later"))
    pauses: list[float] = []
    complete, budget = completion(make(httpserver), pauses=pauses)
    assert complete(["x"]) == ["later"]
    assert len(seen) == 2
    assert pauses == [7.0]
    assert spent(budget) == {"limit": None, "spent": 25, "exact": True}


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


@pytest.mark.parametrize("body", ["<html>", "", "null", "[]", "{}", '{"choices": []}', '{"content": 7}', "\xff\x00"])
def test_an_answer_of_another_shape_is_missing_and_what_it_may_have_cost_stays_spent(
    make: Make, httpserver: HTTPServer, body: str
) -> None:
    serve(httpserver, lambda _: Response(body.encode("latin-1"), content_type="application/json"))
    complete, budget = completion(make(httpserver))
    assert isinstance(complete(["x" * 36])[0], Missing)
    assert spent(budget) == {"limit": None, "spent": 36 + 64 + 100, "exact": False}


def test_an_answer_longer_than_was_asked_for_is_missing(make: Make, httpserver: HTTPServer) -> None:
    serve(httpserver, says("w" * 1_000_000))
    replies = Replies()
    complete, _ = completion(make(httpserver), replies=replies)
    assert complete(["x"]) == [Missing("the answer was longer than was asked for")]
    assert not replies.kept


def test_a_prompt_goes_to_no_host_that_a_redirect_names(make: Make, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/elsewhere").respond_with_handler(lambda r: message(r.path, "stolen", (1, 1)))
    seen = serve(httpserver, lambda _: Response("", 307, {"Location": httpserver.url_for("/elsewhere")}))
    complete, _ = completion(make(httpserver))
    with pytest.raises(ModelError, match="HTTP 307"):
        complete(["x"])
    assert [request.path for request, _ in httpserver.log] == [seen[0].path]


def test_a_server_that_is_not_there_costs_nothing(make: Make, httpserver: HTTPServer) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    completer = make(httpserver)
    completer._client.base_url = f"http://127.0.0.1:{port}/"  # type: ignore[attr-defined]
    pauses: list[float] = []
    complete, budget = completion(completer, pauses=pauses)
    assert complete(["x"]) == [Missing("no connection (ConnectError)")]
    assert spent(budget) == {"limit": None, "spent": 0, "exact": True}
    assert len(pauses) == 1


def test_an_answer_that_is_lost_on_its_way_stays_paid_and_is_not_asked_for_again(make: Make) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        accepted: list[bytes] = []

        def hang_up() -> None:
            connection, _ = listening.accept()
            with connection:
                accepted.append(connection.recv(65_536))

        thread = threading.Thread(target=hang_up)
        thread.start()
        server = HTTPServer("127.0.0.1", listening.getsockname()[1])
        complete, budget = completion(make(server))
        assert isinstance(complete(["x"])[0], Missing)
        thread.join()
    assert len(accepted) == 1
    assert spent(budget) == {"limit": None, "spent": 1 + 64 + 100, "exact": False}


def test_the_first_call_goes_alone_so_that_a_refused_key_costs_one_request(make: Make, httpserver: HTTPServer) -> None:
    seen = serve(httpserver, fails(401))
    complete, budget = completion(make(httpserver))
    with pytest.raises(NotSignedIn):
        complete([f"p{n}" for n in range(8)])
    assert len(seen) == 1
    assert spent(budget) == {"limit": None, "spent": 0, "exact": True}


def test_once_a_call_was_answered_a_refused_request_is_missing_and_a_refused_key_ends_it(
    make: Make, httpserver: HTTPServer
) -> None:
    serve(httpserver, says("fine"), fails(413), fails(401))
    complete, _ = completion(make(httpserver))
    assert complete(["a"]) == ["fine"]
    assert complete(["b"]) == [Missing("the request was refused (HTTP 413)")]
    with pytest.raises(NotSignedIn):
        complete(["c"])


def test_what_comes_back_is_redacted_the_first_time_and_from_the_ledger(make: Make, httpserver: HTTPServer) -> None:
    serve(httpserver, says("the word is hush"))
    replies = Replies()
    hidden = lambda text: Redacted(text.replace("hush", "[redacted:word]"))  # noqa: E731
    for _ in range(2):
        budget = Budget(Limits(), Book(), FixedClock(0))
        complete = Completion(
            make(httpserver), budget, replies, night="n", role="optimizer", redact=hidden, sleep=lambda _: None
        )
        assert complete(["tell me hush"]) == ["the word is [redacted:word]"]
    sent = httpserver.log[0][0].get_json()["messages"][0]["content"]
    assert sent == "tell me [redacted:word]"


@pytest.mark.parametrize("used", [(-1, 5), ("20", "5"), (True, True), (1.5, 2.5)])
def test_usage_that_is_no_count_is_estimated(make: Make, httpserver: HTTPServer, used: tuple[int, int]) -> None:
    serve(httpserver, lambda r: _with_usage(r, used))
    complete, budget = completion(make(httpserver))
    assert complete(["x" * 36]) == ["hello"]
    figure = spent(budget)
    assert isinstance(figure, dict)
    assert not figure["exact"]
    assert figure["spent"] >= 36


def _with_usage(request: Request, used: tuple[int, int]) -> Response:
    answer = json.loads(message(request.path, "hello", (1, 1)).data)
    answer["usage"] = dict(zip(answer["usage"], used, strict=False))
    return Response(json.dumps(answer), content_type="application/json")


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://me:hush@proxy.example:8443/v1?key=hush", "proxy.example:8443"),
        ("https://api.example/v1/", "api.example"),
        ("http://[::1]:80/", "::1:80"),
    ],
)
def test_a_host_is_shown_without_what_may_stand_beside_it(url: str, host: str) -> None:
    assert host_of(url) == host


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
        budget.reserve("optimizer", "m", "ten bytes.", 100_001)


@pytest.mark.parametrize("seed", range(40))
def test_the_servers_own_account_never_passes_the_cap(seed: int, httpserver: HTTPServer) -> None:
    chance = random.Random(seed)
    make, path = [anthropic, openai][seed % 2], PATHS[seed % 2]
    account: list[int] = []

    def answer(request: Request) -> Response:
        if chance.random() < 0.2:
            return Response("{}", chance.choice([429, 500]))
        words = chance.randint(0, 100)
        size = len(request.get_json()["messages"][0]["content"])
        truth = (size // chance.randint(1, 5) + 8, words)
        account.append(sum(truth))
        if chance.random() < 0.1:
            return Response("<html>", 200, content_type="application/json")
        return message(request.path, "w" * words, chance.choice([truth, None, (0, 0), (10**9, 10**9)]))

    httpserver.expect_request(path).respond_with_handler(answer)
    cap = chance.randint(200, 8_000)
    complete, budget = completion(make(httpserver), Limits(tokens=cap))
    prompts = (["y" * chance.randint(1, 900) + str(n) for n in range(chance.randint(1, 32))] for _ in range(10_000))
    with pytest.raises(Exhausted):
        list(map(complete, prompts))
    figure = budget.as_json()["tokens"]
    assert isinstance(figure, dict)
    assert sum(account) <= figure["spent"] <= cap
