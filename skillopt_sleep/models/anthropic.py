"""Messages of the Anthropic API over its own SDK; base URL and key as the SDK knows them (ANTHROPIC_BASE_URL, …)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillopt_sleep.budget import Usage
from skillopt_sleep.errors import NotSignedIn
from skillopt_sleep.models.base import CallFailed, Reply, by_status
from skillopt_sleep.redact import Redacted

if TYPE_CHECKING:
    import anthropic

RETRIES = 1
"""One retry, by this layer alone; the SDK honours Retry-After."""


class AnthropicCompleter:
    """One model of the Messages API. `timeout` in seconds is for one call."""

    def __init__(self, model: str, *, base_url: str | None = None, timeout: float = 300.0) -> None:
        import anthropic

        self.model = model
        try:
            self._client = anthropic.Anthropic(base_url=base_url, max_retries=RETRIES, timeout=timeout)
        except anthropic.AnthropicError as error:
            raise NotSignedIn(str(error), where="anthropic", remedy="Set ANTHROPIC_API_KEY") from error
        self.where = str(self._client.base_url)

    def complete(self, prompt: Redacted, max_output: int) -> Reply:
        """One user message, one answer. Raises `CallFailed`, `NotSignedIn`, `ModelError`."""
        import anthropic

        try:
            message = self._client.messages.create(
                model=self.model, max_tokens=max_output, messages=[{"role": "user", "content": prompt}]
            )
        except (anthropic.AuthenticationError, anthropic.PermissionDeniedError) as error:
            raise NotSignedIn(f"the key was refused ({error.status_code})", where=self.where) from error
        except anthropic.APIStatusError as error:
            raise by_status(error.status_code, self.where) from error
        except anthropic.APIError as error:
            raise CallFailed(type(error).__name__) from error
        except (anthropic.AnthropicError, TypeError) as error:
            # The SDK reports a missing key only when it builds the first request, as a TypeError.
            raise NotSignedIn("no key", where=self.where, remedy="Set ANTHROPIC_API_KEY") from error
        return _reply(message)


def _reply(message: anthropic.types.Message) -> Reply:
    text = "".join(block.text for block in message.content if block.type == "text")
    usage = message.usage
    read, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    return Reply(
        text,
        Usage(usage.input_tokens + read + written, usage.output_tokens),
        truncated=message.stop_reason == "max_tokens",
        model=message.model,
    )
