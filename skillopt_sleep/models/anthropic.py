"""Messages of the Anthropic API over its own SDK; base URL and key as the SDK knows them (ANTHROPIC_BASE_URL, …)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillopt_sleep.budget import Usage
from skillopt_sleep.errors import NotSignedIn
from skillopt_sleep.models.base import CallFailed, Reply, by_status, host_of
from skillopt_sleep.models.wire import lost, whole
from skillopt_sleep.redact import Redacted

if TYPE_CHECKING:
    import anthropic

REMEDY = "Set ANTHROPIC_API_KEY"


class AnthropicCompleter:
    """One model of the Messages API. `timeout` in seconds is for one call. Redirects are not followed."""

    def __init__(self, model: str, *, base_url: str | None = None, timeout: float = 300.0) -> None:
        import anthropic

        self.model = model
        try:
            self._client = anthropic.Anthropic(
                base_url=base_url,
                max_retries=0,
                timeout=timeout,
                http_client=anthropic.DefaultHttpxClient(follow_redirects=False),
            )
        except anthropic.AnthropicError as error:
            raise NotSignedIn(str(error), where="anthropic", remedy=REMEDY) from error
        self.where = host_of(str(self._client.base_url))

    def complete(self, prompt: Redacted, max_output: int) -> Reply:
        """One user message, one answer. Raises `CallFailed`, `NotSignedIn`, `ModelError`."""
        import anthropic

        try:
            message = self._client.messages.create(
                model=self.model, max_tokens=max_output, messages=[{"role": "user", "content": prompt}]
            )
        except (anthropic.AuthenticationError, anthropic.PermissionDeniedError) as error:
            raise NotSignedIn(f"the key was refused ({error.status_code})", where=self.where, remedy=REMEDY) from error
        except anthropic.APIStatusError as error:
            raise by_status(error.status_code, self.where, error.response.headers) from error
        except anthropic.APIError as error:
            raise lost(error) from error
        except (anthropic.AnthropicError, TypeError) as error:
            # The SDK reports a missing key only when it builds the first request, as a TypeError.
            raise NotSignedIn("no key", where=self.where, remedy=REMEDY) from error
        except ValueError as error:
            raise CallFailed("the answer was no JSON", "all") from error
        return _reply(message)


def _reply(message: anthropic.types.Message) -> Reply:
    """The SDK checks no shape: what answers may be anything that speaks HTTP."""
    try:
        text = "".join(block.text for block in message.content if block.type == "text")
        usage = _usage(message.usage)
        return Reply(text, usage, truncated=message.stop_reason == "max_tokens", model=str(message.model))
    except (AttributeError, TypeError) as error:
        raise CallFailed("the answer had another shape than that of Messages", "all") from error


def _usage(usage: anthropic.types.Usage | None) -> Usage | None:
    if usage is None:
        return None
    prompt = whole(usage.input_tokens)
    cached = (whole(usage.cache_read_input_tokens) or 0) + (whole(usage.cache_creation_input_tokens) or 0)
    return Usage(None if prompt is None else prompt + cached, whole(usage.output_tokens))
