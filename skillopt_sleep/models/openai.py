"""Chat Completions of OpenAI and of any compatible server, over the SDK (OPENAI_BASE_URL, OPENAI_API_KEY, …)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from skillopt_sleep.budget import Usage
from skillopt_sleep.errors import NotSignedIn
from skillopt_sleep.models.base import CallFailed, Reply, host_of
from skillopt_sleep.models.conversing import Conversation, Said, Sampling, ToolCall, arguments_of, written
from skillopt_sleep.models.keys import find_key
from skillopt_sleep.models.presets import OPENAI, Preset
from skillopt_sleep.models.wire import by_status, enveloped, lost, whole, without_key
from skillopt_sleep.redact import Redacted

if TYPE_CHECKING:
    import openai
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletion

NO_KEY: Final = "none"
"""What is sent in a key's place to a server that asks for none: another's key must not go there."""
_NEVER_BACK: Final = frozenset({"annotations", "audio", "function_call", "refusal"})
_THINKS, _THOUGHT = "<think>", "</think>"


class OpenAICompleter:
    """One model of a Chat Completions server. `timeout` in seconds is for one call. Redirects are not followed.

    `key` names where the key is (see `find_key`), else the preset's own variables are looked at. Raises `ConfigError`
    for an address or an effort that the preset does not let in, `NotSignedIn`.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        preset: Preset = OPENAI,
        key: str | None = None,
        effort: str | None = None,
        environ: Mapping[str, str] = os.environ,
        timeout: float = 300.0,
    ) -> None:
        self.model = model
        self._preset = preset
        self._remedy = _remedy(preset, key)
        url = preset.url(base_url, environ)
        self._body = {**preset.body, **preset.effort(effort)}
        self._key = find_key(preset.keys, key, environ)
        self._client = self._opened(url, timeout)
        self.where = host_of(str(self._client.base_url))
        # OpenAI's own models refuse max_tokens; compatible servers mostly know nothing else.
        self._own = self._client.base_url.host.endswith("openai.com")
        self._limit = "max_completion_tokens" if self._own else preset.limit

    functions: Final = True

    def complete(self, prompt: Redacted, max_output: int) -> Reply:
        """One user message, one answer. Raises `CallFailed`, `NotSignedIn`, `ModelError`."""
        return self._asked(max_output, {"messages": [{"role": "user", "content": prompt}]})

    def converse(self, asked: Conversation, sampling: Sampling) -> Said:
        """The next answer of a conversation. Raises as `complete`."""
        return self._asked(sampling.max_output, _conversation(asked, sampling.temperature))

    def _asked(self, max_output: int, body: Mapping[str, Any]) -> Said:
        import openai

        try:
            answer = self._client.chat.completions.create(
                model=self.model, extra_body={self._limit: max_output, **self._body}, **body
            )
        except openai.APIStatusError as error:
            raise self._refused(error.status_code, error.response.headers, error.body) from error
        except openai.APIError as error:
            raise lost(error) from error
        except ValueError as error:
            raise CallFailed("the answer was no JSON", "all") from error
        extra = getattr(answer, "model_extra", None)
        if (status := enveloped(extra, self._preset.codes)) is not None:
            raise self._refused(status, {}, extra)
        return without_key(_reply(answer, own=self._own), self._key)

    def _opened(self, url: str | None, timeout: float) -> openai.OpenAI:
        import openai

        secret = self._key.secret if self._key else None
        if secret is None and self._preset is not OPENAI:
            if not self._preset.keyless:
                raise NotSignedIn("no key", where=self._preset.name, remedy=self._remedy)
            secret = NO_KEY
        try:
            client = openai.OpenAI(
                base_url=url,
                api_key=secret,
                max_retries=0,
                timeout=timeout,
                http_client=openai.DefaultHttpxClient(follow_redirects=False),
            )
        except openai.OpenAIError as error:
            raise NotSignedIn("no key", where=self._preset.name, remedy=self._remedy) from error
        if self._preset is not OPENAI:
            client.organization = client.project = None  # the environment's are OpenAI's, and nobody else's business
        return client

    def _refused(self, status: int, headers: Mapping[str, str], envelope: object) -> Exception:
        return by_status(status, self.where, headers, envelope, remedy=self._remedy)


def _remedy(preset: Preset, key: str | None) -> str:
    if key is not None:
        return f"Look at {key}"
    names = " or ".join(preset.keys)
    return f"Set {names} (any word where your server asks for none)" if preset is OPENAI else f"Set {names}"


def _conversation(asked: Conversation, temperature: float | None) -> dict[str, Any]:
    """What of a request says what is talked about."""
    messages: list[Any] = [{"role": "system", "content": asked.system}] if asked.system.strip() else []
    messages.append({"role": "user", "content": asked.request})
    for turn in asked.turns:
        messages.append(turn.said.message)
        messages += [{"role": "tool", "tool_call_id": one.call.id, "content": one.text} for one in turn.results]
        if turn.text is not None:
            messages.append({"role": "user", "content": turn.text})
    body: dict[str, Any] = {"messages": messages}
    if asked.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": one.name, "description": one.description, "parameters": one.parameters},
            }
            for one in asked.tools
        ]
        body["tool_choice"] = "none" if asked.closed else "auto"
    return body if temperature is None else body | {"temperature": temperature}


def _reply(answer: ChatCompletion, *, own: bool) -> Said:
    """The SDK checks no shape: what answers may be anything that speaks HTTP. `own`: it is OpenAI itself."""
    try:
        choice = answer.choices[0]
        text, usage = str(choice.message.content or ""), _usage(answer.usage)
        refused = choice.finish_reason == "content_filter" or bool(choice.message.refusal)
        said, closed = (text, True) if own else _behind_thoughts(text)
        cut = choice.finish_reason == "length" or not closed
        calls = tuple(
            ToolCall(str(call.id), str(call.function.name), arguments_of(call.function.arguments))
            for call in choice.message.tool_calls or ()
            if call.type == "function"
        )
        return Said(
            said, usage, truncated=cut, model=str(answer.model), refused=refused, written=written(text, calls),
            calls=calls, message=_again(choice.message.to_dict()),
        )  # fmt: skip
    except (AttributeError, TypeError, IndexError) as error:
        raise CallFailed("the answer had another shape than that of Chat Completions", "all") from error


def _again(message: Mapping[str, object]) -> dict[str, object]:
    """An answer as it is sent back: with the thoughts of servers that want them again, without what says nothing."""
    said = {key: value for key, value in message.items() if value not in (None, []) and key not in _NEVER_BACK}
    return {"content": "", **said}


def _behind_thoughts(text: str) -> tuple[str, bool]:
    """What follows the thoughts that an open model begins with, and whether they came to an end."""
    if not text.lstrip().startswith(_THINKS):
        return text, True
    _, closed, said = text.partition(_THOUGHT)
    return said.lstrip(), bool(closed)


def _usage(usage: CompletionUsage | None) -> Usage | None:
    return None if usage is None else Usage(whole(usage.prompt_tokens), whole(usage.completion_tokens))
