"""Which error is which: told by statuses and envelopes over both SDKs, never by words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from skillopt_core.types import Missing
from skillopt_sleep.errors import ModelError, NotSignedIn
from skillopt_sleep.models.base import CallFailed
from skillopt_sleep.models.wire import enveloped, pause
from tests.models.asking import Answer, Make, completion, spent
from tests.models.ledgers import Replies
from tests.models.scripted import serve

DATE = "Mon, 30 Nov 2026 03:00:00 GMT"
LATER = "Mon, 30 Nov 2026 03:00:07 GMT"


def answers(status: int, body: object, headers: Mapping[str, str] = {}) -> Answer:
    return lambda _: Response(json.dumps(body), status, dict(headers), content_type="application/json")


def message_of(stop: str) -> dict[str, object]:
    """Messages and Chat Completions in one: each SDK sees its own."""
    choice = {"index": 0, "message": {"role": "assistant", "content": "I would rather"}, "finish_reason": stop}
    return {
        "id": "x", "type": "message", "role": "assistant", "model": "m", "stop_reason": stop,
        "content": [{"type": "text", "text": "I would rather"}], "choices": [choice],
        "usage": {"input_tokens": 9, "output_tokens": 3, "prompt_tokens": 9, "completion_tokens": 3},
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["insufficient_quota", "billing_error"])
def test_an_empty_account_is_no_rate_limit_whatever_the_status(make: Make, kind: str, httpserver: HTTPServer) -> None:
    seen = serve(httpserver, answers(429, {"type": "error", "error": {"type": kind, "code": kind}}))
    complete, budget = completion(make(httpserver))
    with pytest.raises(ModelError, match="nothing left to spend"):
        complete(["x", "y"])
    assert len(seen) == 1
    assert spent(budget) == {"limit": None, "spent": 0, "exact": True}


def test_a_payment_that_is_due_stops_the_night(make: Make, httpserver: HTTPServer) -> None:
    serve(httpserver, answers(402, {}))
    with pytest.raises(ModelError, match="HTTP 402"):
        completion(make(httpserver))[0](["x"])


@pytest.mark.parametrize(("stop", "why"), [("content_filter", "refused"), ("refusal", "refused")])
def test_a_refusal_is_missing_data_also_where_it_has_words(
    make: Make, stop: str, why: str, httpserver: HTTPServer
) -> None:  # fmt: skip
    own = {"AnthropicCompleter": "refusal", "OpenAICompleter": "content_filter"}
    serve(httpserver, answers(200, message_of(stop)))
    completer, replies = make(httpserver), Replies()
    (reply,) = completion(completer, replies=replies)[0](["x"])
    if own[type(completer).__name__] == stop:
        assert isinstance(reply, Missing)
        assert why in reply.reason
        assert not replies.kept


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 401, "message": "fine"}, NotSignedIn),
        ({"code": 404}, ModelError),
        ({"code": 429}, CallFailed),
        ({"message": "unauthorized, invalid key"}, CallFailed),
        ("unauthorized", CallFailed),
    ],
)
def test_an_error_that_comes_with_status_200_is_one(
    make: Make, error: object, kind: type[Exception], httpserver: HTTPServer
) -> None:  # fmt: skip
    serve(httpserver, answers(200, {"error": error}))
    complete, _ = completion(make(httpserver))
    if kind is CallFailed:
        (reply,) = complete(["x"])
        assert isinstance(reply, Missing)
        assert "HTTP" in reply.reason
    else:
        with pytest.raises(kind):
            complete(["x"])


def test_words_in_the_fields_of_an_envelope_are_no_error() -> None:
    assert enveloped({"error": None, "note": "quota exceeded", "base_resp": {"status_code": 0}}, {1: 401}) is None
    assert enveloped({"base_resp": {"status_code": 1}}, {}) is None, "a server that has no such codes"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 1.0),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-7"}, 0.0),
        ({"retry-after": "inf"}, 1.0),
        ({"retry-after": "nan"}, 1.0),
        ({"retry-after": "soon"}, 1.0),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": LATER, "date": DATE}, 7.0),
        ({"retry-after": DATE, "date": LATER}, 0.0),
        ({"retry-after": LATER}, 1.0),
    ],
)
def test_how_long_a_server_asks_to_wait(headers: dict[str, str], seconds: float) -> None:
    assert pause(headers) == seconds


def test_a_date_to_wait_for_reaches_the_one_retry(make: Make, httpserver: HTTPServer) -> None:
    def busy(_: Request) -> Response:
        return Response("{}", 429, {"Retry-After": format_datetime(datetime.now(UTC) + timedelta(seconds=30))})

    seen = serve(httpserver, busy)
    pauses: list[float] = []
    complete, _ = completion(make(httpserver), pauses=pauses)
    assert complete(["x"]) == [Missing("HTTP 429")]
    assert len(seen) == 2
    assert 20 < pauses[0] <= 31
