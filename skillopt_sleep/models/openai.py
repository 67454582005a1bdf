"""Chat Completions of OpenAI and of any compatible server, over the SDK (OPENAI_BASE_URL, OPENAI_API_KEY, …)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillopt_sleep.budget import Usage
from skillopt_sleep.errors import NotSignedIn
from skillopt_sleep.models.base import CallFailed, Reply, by_status
from skillopt_sleep.redact import Redacted

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion

RETRIES = 1
"""One retry, by this layer alone; the SDK honours Retry-After."""


class OpenAICompleter:
    """One model of a Chat Completions server. `timeout` in seconds is for one call."""

    def __init__(self, model: str, *, base_url: str | None = None, timeout: float = 300.0) -> None:
        import openai

        self.model = model
        try:
            self._client = openai.OpenAI(base_url=base_url, max_retries=RETRIES, timeout=timeout)
        except openai.OpenAIError as error:
            raise NotSignedIn("no key", where="openai", remedy="Set OPENAI_API_KEY") from error
        self.where = str(self._client.base_url)
        # OpenAI's own models refuse max_tokens; compatible servers mostly know nothing else.
        self._own = self._client.base_url.host.endswith("openai.com")

    def complete(self, prompt: Redacted, max_output: int) -> Reply:
        """One user message, one answer. Raises `CallFailed`, `NotSignedIn`, `ModelError`."""
        import openai

        try:
            answer = self._client.chat.completions.create(
                model=self.model,
                messages=[{"role": "user", "content": prompt}],
                max_tokens=openai.omit if self._own else max_output,
                max_completion_tokens=max_output if self._own else openai.omit,
            )
        except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
            raise NotSignedIn(f"the key was refused ({error.status_code})", where=self.where) from error
        except openai.APIStatusError as error:
            raise by_status(error.status_code, self.where) from error
        except openai.APIError as error:
            raise CallFailed(type(error).__name__) from error
        return _reply(answer)


def _reply(answer: ChatCompletion) -> Reply:
    choice = answer.choices[0] if answer.choices else None
    usage = Usage(answer.usage.prompt_tokens, answer.usage.completion_tokens) if answer.usage else None
    text = (choice.message.content or "") if choice else ""
    return Reply(text, usage, truncated=choice is not None and choice.finish_reason == "length", model=answer.model)
