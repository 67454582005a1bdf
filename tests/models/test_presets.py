"""Each kind of server, asked for real on loopback: what is sent to it, and whose key goes with it."""

from __future__ import annotations

import json

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from skillopt_sleep.config.roles import COMPATIBLE
from skillopt_sleep.errors import ConfigError, ModelError, NotSignedIn
from skillopt_sleep.models.base import CallFailed
from skillopt_sleep.models.openai import OpenAICompleter
from skillopt_sleep.models.presets import PRESETS
from skillopt_sleep.redact import Redacted
from tests.models.scripted import says, serve

AZURE = "https://mine.openai.azure.com"
LOCAL = tuple(name for name in COMPATIBLE if name != "azure")
ANOTHERS = {
    "OPENAI_API_KEY": "key-of-openai", "OPENAI_ORG_ID": "org-of-openai", "OPENAI_PROJECT_ID": "project-of-openai",
    "OPENAI_ADMIN_KEY": "admin-of-openai", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(proxy, raising=False)
    for name, value in ANOTHERS.items():
        monkeypatch.setenv(name, value)


def made(server: HTTPServer, name: str, effort: str | None = None, **environ: str) -> OpenAICompleter:
    """A completer of this kind whose requests end at the server, whatever address it was made for."""
    preset = PRESETS[name]
    named = AZURE if name == "azure" else server.url_for("/v1")
    completer = OpenAICompleter("m", base_url=named, preset=preset, effort=effort, environ=environ)
    completer._client.base_url = server.url_for("/v1")
    return completer


def keys_of(name: str) -> dict[str, str]:
    return {PRESETS[name].keys[0]: f"key-of-{name}"} if PRESETS[name].keys else {}


def asked(request: Request) -> dict[str, object]:
    body = request.get_json()
    return {key: value for key, value in body.items() if key not in {"model", "messages"}}


def test_the_presets_are_those_of_the_configuration() -> None:
    assert set(PRESETS) == {"openai", *COMPATIBLE}


@pytest.mark.parametrize("name", COMPATIBLE)
def test_its_own_key_is_sent_and_nothing_of_anothers(name: str, httpserver: HTTPServer) -> None:
    (request,) = _once(httpserver, made(httpserver, name, **keys_of(name)))
    assert request.headers["Authorization"] == f"Bearer key-of-{name}"
    assert "of-openai" not in str(request.headers)


@pytest.mark.parametrize("name", ["ollama", "vllm", "lmstudio"])
def test_a_server_that_asks_for_no_key_gets_none_of_those_at_hand(name: str, httpserver: HTTPServer) -> None:
    (request,) = _once(httpserver, made(httpserver, name, **ANOTHERS))
    assert request.headers["Authorization"] == "Bearer none"


@pytest.mark.parametrize("name", ["azure", "deepseek", "minimax"])
def test_a_provider_without_its_own_key_is_not_asked_with_anothers(name: str, httpserver: HTTPServer) -> None:
    with pytest.raises(NotSignedIn) as refused:
        made(httpserver, name, **ANOTHERS)
    assert PRESETS[name].keys[0] in refused.value.remedy


@pytest.mark.parametrize(
    ("name", "effort", "body"),
    [
        ("azure", None, {"max_completion_tokens": 50}),
        ("azure", "high", {"max_completion_tokens": 50, "reasoning_effort": "high"}),
        ("deepseek", None, {"max_tokens": 50}),
        ("deepseek", "none", {"max_tokens": 50, "thinking": {"type": "disabled"}}),
        ("deepseek", "low", {"max_tokens": 50, "reasoning_effort": "low", "thinking": {"type": "enabled"}}),
        ("ollama", "none", {"max_tokens": 50, "reasoning_effort": "none"}),
        ("vllm", "none", {"max_tokens": 50, "chat_template_kwargs": {"enable_thinking": False}}),
        ("minimax", None, {"max_completion_tokens": 50, "reasoning_split": True}),
        ("minimax", "none", {"max_completion_tokens": 50, "reasoning_split": True, "thinking": {"type": "disabled"}}),
        ("lmstudio", "medium", {"max_tokens": 50, "reasoning_effort": "medium"}),
        ("openai", "minimal", {"max_tokens": 50, "reasoning_effort": "minimal"}),
    ],
)
def test_what_is_asked_for_in_each_ones_words(
    name: str, effort: str | None, body: dict[str, object], httpserver: HTTPServer
) -> None:
    (request,) = _once(httpserver, made(httpserver, name, effort, **keys_of(name)))
    assert asked(request) == body


def test_an_effort_that_a_server_does_not_know_is_refused(httpserver: HTTPServer) -> None:
    with pytest.raises(ConfigError, match="knows no effort 'xhigh'") as refused:
        made(httpserver, "ollama", "xhigh")
    assert "none, low, medium, high" in refused.value.remedy


@pytest.mark.parametrize(
    "url",
    [
        "http://mine.openai.azure.com",
        "https://mine.openai.azure.com.evil.example",
        "https://evil.example/.openai.azure.com",
        "https://evil.example#.openai.azure.com",
        "https://openai.azure.com",
        "https://me:pw@mine.openai.azure.com",
        "https://mine.openai.azure.com@evil.example",
        "https://mine.openai.azure.com:8443",
        "http://127.0.0.1:8000/v1",
        "mine.openai.azure.com",
        "https://mine.openai.azure.com/openai/deployments/d",
        "https://mine.openai.azure.com/openai/v1/?api-version=1",
    ],
)
def test_azure_is_asked_at_https_hosts_of_azure_alone(url: str) -> None:
    with pytest.raises(ConfigError):
        PRESETS["azure"].url(url, {})


@pytest.mark.parametrize("path", ["", "/", "/openai/v1", "/openai/v1/"])
def test_the_path_of_azure_is_added(path: str) -> None:
    assert PRESETS["azure"].url(AZURE + path, {}) == f"{AZURE}/openai/v1/"
    assert PRESETS["azure"].url(None, {"AZURE_OPENAI_ENDPOINT": AZURE + path}) == f"{AZURE}/openai/v1/"


def test_without_an_address_azure_says_where_to_name_it() -> None:
    with pytest.raises(ConfigError, match="no address") as refused:
        PRESETS["azure"].url(None, {})
    assert "AZURE_OPENAI_ENDPOINT" in refused.value.remedy


def test_azure_takes_an_entra_token_where_there_is_no_key(httpserver: HTTPServer) -> None:
    (request,) = _once(httpserver, made(httpserver, "azure", AZURE_OPENAI_AD_TOKEN="token-of-entra"))
    assert request.headers["Authorization"] == "Bearer token-of-entra"


@pytest.mark.parametrize(
    ("code", "error"),
    [(1004, NotSignedIn), (2049, NotSignedIn), (1008, ModelError), (2013, ModelError), (1002, CallFailed),
     (1039, CallFailed), (1013, CallFailed), (9999, CallFailed)],
)  # fmt: skip
def test_minimax_says_in_its_envelope_what_others_say_by_status(
    code: int, error: type[Exception], httpserver: HTTPServer
) -> None:
    body = {"base_resp": {"status_code": code, "status_msg": "all is well"}, "choices": None}
    serve(httpserver, lambda _: Response(json.dumps(body), content_type="application/json"))
    with pytest.raises(error) as raised:
        made(httpserver, "minimax", MINIMAX_API_KEY="key-of-mm").complete(Redacted("x"), 50)
    assert (getattr(raised.value, "pause", None) is not None) is (error is CallFailed)


def test_an_envelope_without_a_fault_is_an_answer(httpserver: HTTPServer) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": "fine"}, "finish_reason": "stop"}
    body = {"base_resp": {"status_code": 0, "status_msg": "error"}, "choices": [choice], "model": "m", "usage": None}
    serve(httpserver, lambda _: Response(json.dumps(body), content_type="application/json"))
    assert made(httpserver, "minimax", MINIMAX_API_KEY="key-of-mm").complete(Redacted("x"), 50).text == "fine"


def test_thoughts_before_an_answer_are_no_part_of_it_but_were_worked_for(httpserver: HTTPServer) -> None:
    serve(httpserver, says("<think>\nlong thoughts\n</think>\n\nthe answer"), says("<think>\nnever came to an e"))
    completer = made(httpserver, "vllm")
    reply = completer.complete(Redacted("x"), 50)
    assert (reply.text, reply.truncated) == ("the answer", False)
    assert "long thoughts" in reply.written
    assert completer.complete(Redacted("x"), 50).truncated


def test_a_server_that_repeats_the_key_gets_it_into_no_reply(httpserver: HTTPServer) -> None:
    serve(httpserver, says("your key is key-of-deepseek, is it not"))
    reply = made(httpserver, "deepseek", **keys_of("deepseek")).complete(Redacted("x"), 50)
    assert reply.text == "your key is [redacted:key], is it not"


def _once(server: HTTPServer, completer: OpenAICompleter) -> list[Request]:
    seen = serve(server, says("fine"))
    assert completer.complete(Redacted("x"), 50).text == "fine"
    return seen
