"""What the command lines' last words mean, told by envelopes and events: the words in them say nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillopt_sleep.budget import Usage
from skillopt_sleep.errors import ConfigError, ModelError, NotSignedIn
from skillopt_sleep.models.base import CallFailed, Reply
from skillopt_sleep.models.command_lines import COMMAND_LINES, Spoke, must_know, notes_of

WORDS = "Not logged in. Please run /login. 429 quota exceeded, billing, unauthorized"


def lines(*events: dict[str, Any]) -> bytes:
    return "".join(json.dumps(event) + "\n" for event in events).encode()


def result(**fields: Any) -> dict[str, Any]:
    fine = {"type": "result", "subtype": "success", "is_error": False, "api_error_status": None, "result": WORDS}
    return {**fine, "stop_reason": "end_turn", "usage": {"input_tokens": 9, "output_tokens": 3}, **fields}


def failed(kind: str) -> bytes:
    return lines({"type": "assistant", "error": kind}, result(is_error=True))


TURN = {"type": "turn.completed", "usage": {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 3}}
SAID = {"type": "item.completed", "item": {"type": "agent_message", "text": WORDS}}
MESSAGE = {"type": "assistant.message", "data": {"content": WORDS, "toolRequests": []}}
DONE = {"type": "result", "exitCode": 0}
NOTES = json.dumps({"modelMetrics": {"m": {"usage": {"inputTokens": 9, "outputTokens": 3}}}})


def read(program: str, out: bytes, status: int = 0, notes: str = "") -> Reply:
    return COMMAND_LINES[program].reply(Spoke(status, out, notes), "host")


@pytest.mark.parametrize(
    ("program", "out", "notes"),
    [("claude", lines(result()), ""), ("codex", lines(SAID, TURN), ""), ("copilot", lines(MESSAGE, DONE), NOTES)],
)
def test_words_of_an_error_in_an_answer_are_just_an_answer(program: str, out: bytes, notes: str) -> None:
    assert read(program, out, 0, notes) == Reply(WORDS, Usage(9, 3))


@pytest.mark.parametrize(
    ("out", "error"),
    [
        (lines(result(is_error=True, api_error_status=401)), NotSignedIn),
        (lines(result(is_error=True, api_error_status=403)), NotSignedIn),
        (lines(result(is_error=True, api_error_status=404)), ModelError),
        (lines(result(is_error=True, api_error_status=429)), CallFailed),
        (lines(result(api_error_status=529)), CallFailed),
        (failed("authentication_failed"), NotSignedIn),
        (failed("billing_error"), ModelError),
        (failed("server_error"), CallFailed),
        (failed("\x1b[31m unheard of"), CallFailed),
        (lines(result(subtype="error_max_turns")), CallFailed),
        (b"", CallFailed),
        (b'{"type": "result"', CallFailed),
        (b"[1]\n7\nnull\n\xff", CallFailed),
    ],
)
def test_what_went_wrong_with_claude_code(out: bytes, error: type[Exception]) -> None:
    with pytest.raises(error) as raised:
        read("claude", out, 1)
    assert "\x1b" not in str(raised.value)


@pytest.mark.parametrize(("kind", "again"), [("server_error", True), ("rate_limit", True), ("invalid_request", False)])
def test_only_what_may_pass_is_tried_again(kind: str, again: bool) -> None:
    with pytest.raises(CallFailed) as failed_call:
        read("claude", failed(kind))
    assert (failed_call.value.pause is not None) is again


def test_a_cut_and_a_refused_answer_are_told_apart_from_a_whole_one() -> None:
    assert read("claude", lines(result(stop_reason="max_tokens"))).truncated
    assert read("claude", lines(result(stop_reason="refusal"))).refused


def test_claude_codes_usage_is_that_of_all_models_that_it_asked() -> None:
    each = {
        "large": {"inputTokens": 5, "cacheReadInputTokens": 7, "cacheCreationInputTokens": 1, "outputTokens": 2},
        "small": {"inputTokens": 3, "outputTokens": 1},
    }
    assert read("claude", lines(result(modelUsage=each))).usage == Usage(16, 3)


@pytest.mark.parametrize(
    ("out", "status"), [(lines(SAID), 0), (lines(SAID, TURN), 1), (lines({"type": "turn.failed"}), 1)]
)
def test_a_turn_of_codex_that_was_not_completed_is_a_failed_call(out: bytes, status: int) -> None:
    with pytest.raises(CallFailed):
        read("codex", out, status)


def test_the_last_message_of_codex_is_its_answer() -> None:
    first = {"type": "item.completed", "item": {"type": "agent_message", "text": "I am thinking"}}
    assert read("codex", lines(first, {"type": "item.completed", "item": {"type": "error"}}, SAID, TURN)).text == WORDS


@pytest.mark.parametrize(
    ("out", "status", "error"),
    [
        (b"", 1, NotSignedIn),
        (lines(MESSAGE, {"type": "result", "exitCode": 1}), 0, CallFailed),
        (lines(MESSAGE, DONE), 1, CallFailed),
        (lines(MESSAGE), 0, CallFailed),
    ],
)
def test_what_went_wrong_with_copilot(out: bytes, status: int, error: type[Exception]) -> None:
    with pytest.raises(error):
        read("copilot", out, status)


def test_copilot_without_notes_says_nothing_of_usage() -> None:
    for notes in ("", "[]", '{"modelMetrics": 7}'):
        assert read("copilot", lines(MESSAGE, DONE), notes=notes).usage is None


@pytest.mark.parametrize("program", COMMAND_LINES)
def test_a_prompt_is_never_an_option_and_the_choice_is_told(program: str, tmp_path: Path) -> None:
    argv = COMMAND_LINES[program].argv("--dangerous", "a-model", "low", tmp_path)
    assert argv[-2:] == ["--", "--dangerous"] or "--prompt=--dangerous" in argv
    assert any("a-model" in word for word in argv)
    assert any("low" in word for word in argv)
    assert notes_of(tmp_path).parent == tmp_path


def test_an_effort_that_an_agent_does_not_know_is_refused() -> None:
    must_know(COMMAND_LINES["claude"], None)
    with pytest.raises(ConfigError, match="claude knows no effort 'none'"):
        must_know(COMMAND_LINES["claude"], "none")
