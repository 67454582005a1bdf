"""Messages of the Anthropic API over its own SDK; base URL and key as the SDK knows them (ANTHROPIC_BASE_URL, …)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from skillopt_sleep.budget import Usage
from skillopt_sleep.errors import ConfigError, NotSignedIn
from skillopt_sleep.models.base import CallFailed, Reply, host_of
from skillopt_sleep.models.conversing import Conversation, Said, Sampling, ToolCall, arguments_of, written
from skillopt_sleep.models.keys import find_key
from skillopt_sleep.models.wire import by_status, enveloped, lost, whole, without_key
from skillopt_sleep.redact import Redacted

if TYPE_CHECKING:
    import anthropic

KEYS: Final = ("ANTHROPIC_API_KEY",)
EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")
_CUT: Final = frozenset({"max_tokens", "model_context_window_exceeded"})


class AnthropicCompleter:
    """One model of the Messages API. `timeout` in seconds is for one call. Redirects are not followed.

    `key` names where the key is (see `find_key`), else the SDK's own variables are looked at. Raises `NotSignedIn`,
    `ConfigError` for an effort that the API does not know.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        key: str | None = None,
        effort: str | None = None,
        environ: Mapping[str, str] = os.environ,
        timeout: float = 300.0,
    ) -> None:
        import anthropic

        if effort is not None and effort not in EFFORTS:
            remedy = f"It knows {', '.join(EFFORTS)}"
            raise ConfigError(f"anthropic knows no effort {effort!r}", where="models", remedy=remedy)
        self.model = model
        self._body = {} if effort is None else {"output_config": {"effort": effort}}
        self._remedy = f"Look at {key}" if key else f"Set {KEYS[0]}"
        self._key = find_key(KEYS, key, environ)
        try:
            self._client = anthropic.Anthropic(
                base_url=base_url,
                api_key=self._key.secret if self._key else None,
                max_retries=0,
                timeout=timeout,
                http_client=anthropic.DefaultHttpxClient(follow_redirects=False),
            )
        except anthropic.AnthropicError as error:
            raise NotSignedIn(str(error), where="anthropic", remedy=self._remedy) from error
        if key is not None:
            self._client.auth_token = None  # the environment's token is another's
        self.where = host_of(str(self._client.base_url))

    functions: Final = True

    def complete(self, prompt: Redacted, max_output: int) -> Reply:
        """One user message, one answer. Raises `CallFailed`, `NotSignedIn`, `ModelError`."""
        return self._asked(max_output, {"messages": [{"role": "user", "content": prompt}]})

    def converse(self, asked: Conversation, sampling: Sampling) -> Said:
        """The next answer of a conversation. Raises as `complete`."""
        return self._asked(sampling.max_output, _conversation(asked, sampling.temperature))

    def _asked(self, max_output: int, body: Mapping[str, Any]) -> Said:
        import anthropic

        try:
            message = self._client.messages.create(
                model=self.model, max_tokens=max_output, extra_body=self._body, **body
            )
        except anthropic.APIStatusError as error:
            raise by_status(
                error.status_code, self.where, error.response.headers, error.body, remedy=self._remedy
            ) from error
        except anthropic.APIError as error:
            raise lost(error) from error
        except (anthropic.AnthropicError, TypeError) as error:
            # The SDK reports a missing key only when it builds the first request, as a TypeError.
            raise NotSignedIn("no key", where=self.where, remedy=self._remedy) from error
        except ValueError as error:
            raise CallFailed("the answer was no JSON", "all") from error
        extra = getattr(message, "model_extra", None)
        if (status := enveloped(extra, {})) is not None:
            raise by_status(status, self.where, {}, extra, remedy=self._remedy)
        return without_key(_reply(message), self._key)


def _conversation(asked: Conversation, temperature: float | None) -> dict[str, Any]:
    """What of a request says what is talked about."""
    body: dict[str, Any] = {"messages": [{"role": "user", "content": asked.request}]}
    for turn in asked.turns:
        results = [
            {"type": "tool_result", "tool_use_id": one.call.id, "content": one.text, "is_error": one.failed}
            for one in turn.results
        ]
        body["messages"] += [
            {"role": "assistant", "content": turn.said.message},
            {"role": "user", "content": results or turn.text},
        ]
    if asked.system.strip():
        body["system"] = asked.system
    if asked.tools:
        body["tools"] = [
            {"name": one.name, "description": one.description, "input_schema": one.parameters} for one in asked.tools
        ]
        body["tool_choice"] = {"type": "none" if asked.closed else "auto"}
    return body if temperature is None else body | {"temperature": temperature}


def _reply(message: anthropic.types.Message) -> Said:
    """The SDK checks no shape: what answers may be anything that speaks HTTP."""
    try:
        text = "".join(block.text for block in message.content if block.type == "text")
        calls = tuple(
            ToolCall(str(block.id), str(block.name), arguments_of(block.input))
            for block in message.content
            if block.type == "tool_use"
        )
        stopped = message.stop_reason
        return Said(
            text, _usage(message.usage), truncated=stopped in _CUT, model=str(message.model),
            refused=stopped == "refusal", written=written(text, calls), calls=calls,
            message=[block.to_dict() for block in message.content],
        )  # fmt: skip
    except (AttributeError, TypeError) as error:
        raise CallFailed("the answer had another shape than that of Messages", "all") from error


def _usage(usage: anthropic.types.Usage | None) -> Usage | None:
    if usage is None:
        return None
    prompt = whole(usage.input_tokens)
    cached = (whole(usage.cache_read_input_tokens) or 0) + (whole(usage.cache_creation_input_tokens) or 0)
    return Usage(None if prompt is None else prompt + cached, whole(usage.output_tokens))
