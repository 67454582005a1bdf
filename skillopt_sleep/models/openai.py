"""Chat Completions of OpenAI and of any compatible server, over the SDK (OPENAI_BASE_URL, OPENAI_API_KEY, …)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillopt_sleep.budget import Usage
from skillopt_sleep.errors import NotSignedIn
from skillopt_sleep.models.base import CallFailed, Reply, by_status, host_of
from skillopt_sleep.models.wire import lost, whole
from skillopt_sleep.redact import Redacted

if TYPE_CHECKING:
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletion

REMEDY = "Set OPENAI_API_KEY (any word where your server asks for none)"


class OpenAICompleter:
    """One model of a Chat Completions server. `timeout` in seconds is for one call. Redirects are not followed."""

    def __init__(self, model: str, *, base_url: str | None = None, timeout: float = 300.0) -> None:
        import openai

        self.model = model
        try:
            self._client = openai.OpenAI(
                base_url=base_url,
                max_retries=0,
                timeout=timeout,
                http_client=openai.DefaultHttpxClient(follow_redirects=False),
            )
        except openai.OpenAIError as error:
            raise NotSignedIn("no key", where="openai", remedy=REMEDY) from error
        self.where = host_of(str(self._client.base_url))
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
            raise NotSignedIn(f"the key was refused ({error.status_code})", where=self.where, remedy=REMEDY) from error
        except openai.APIStatusError as error:
            raise by_status(error.status_code, self.where, error.response.headers) from error
        except openai.APIError as error:
            raise lost(error) from error
        except ValueError as error:
            raise CallFailed("the answer was no JSON", "all") from error
        return _reply(answer)


def _reply(answer: ChatCompletion) -> Reply:
    """The SDK checks no shape: what answers may be anything that speaks HTTP."""
    try:
        choice = answer.choices[0]
        text, usage = choice.message.content or "", _usage(answer.usage)
        return Reply(str(text), usage, truncated=choice.finish_reason == "length", model=str(answer.model))
    except (AttributeError, TypeError, IndexError) as error:
        raise CallFailed("the answer had another shape than that of Chat Completions", "all") from error


def _usage(usage: CompletionUsage | None) -> Usage | None:
    return None if usage is None else Usage(whole(usage.prompt_tokens), whole(usage.completion_tokens))
