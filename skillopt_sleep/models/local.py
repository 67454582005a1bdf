"""An open model in a GGUF file, run in this process on the processor (extra `local`: xllamacpp). Nothing leaves it."""

from __future__ import annotations

import importlib.util
import os
import secrets
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

from skillopt_sleep.budget import Usage
from skillopt_sleep.errors import ModelError
from skillopt_sleep.models.base import CallFailed, Reply
from skillopt_sleep.models.conversing import Conversation, Said, Sampling
from skillopt_sleep.models.wire import whole
from skillopt_sleep.prices import THIS_MACHINE
from skillopt_sleep.redact import Redacted

CONTEXT: Final = 8192
"""Tokens of prompt and answer together."""
HEAT: Final = 0.7
"""Temperature of attempts, where none is configured."""
_INSTALL: Final = "Install it with the package: pip install 'skillopt-sleep[local]'"


class LocalModel:
    """One model file. As a `Completer` it is deterministic on one machine: temperature 0, no cached prompt.

    `threads` is 1 for good reason: where another program keeps a core busy two are slower than one. Questions from
    several threads are answered one after the other. The file is loaded with the first question, once a process.
    Raises `ModelError` for a file that is not there, then for one that holds no model.
    """

    def __init__(self, path: Path, *, context: int = CONTEXT, threads: int = 1) -> None:
        if importlib.util.find_spec("xllamacpp") is None:
            raise ModelError("the runtime for local models is not installed", where="local", remedy=_INSTALL)
        if not path.is_file() or not os.access(path, os.R_OK):
            raise ModelError("there is no such file", where=str(path), remedy="Name a model in a GGUF file")
        self.model = path.name
        self.where = THIS_MACHINE
        self._loading = partial(_loaded, path.resolve(), context, threads)

    def complete(self, prompt: Redacted, max_output: int) -> Reply:
        """One user message, one answer. Raises `CallFailed`."""
        return self._asked([("user", prompt)], max_output)

    def complete_as(self, prompt: Redacted, max_output: int, schema: Mapping[str, object]) -> Reply:
        """The same, with the answer held to a JSON Schema. Raises `CallFailed`."""
        form = {"type": "json_schema", "json_schema": {"name": "reply", "schema": dict(schema)}}
        return self._asked([("user", prompt)], max_output, response_format=form)

    functions: Final = False

    def converse(self, asked: Conversation, sampling: Sampling) -> Said:
        """The next answer of a conversation in words. The same seed has the same answer. Raises as `complete`."""
        heat = HEAT if sampling.temperature is None else sampling.temperature
        messages: list[tuple[str, str]] = [("system", asked.system)] if asked.system.strip() else []
        messages.append(("user", asked.request))
        for turn in asked.turns:
            messages += [("assistant", turn.said.written), ("user", turn.text or "")]
        reply = self._asked(messages, sampling.max_output, temperature=heat, seed=sampling.seed)
        return Said(reply.text, reply.usage, truncated=reply.truncated, model=reply.model, written=reply.text)

    def _asked(self, messages: Sequence[tuple[str, str]], max_output: int, **settings: object) -> Reply:
        asked = {
            "messages": [{"role": role, "content": text} for role, text in messages],
            "max_tokens": max_output,
            "temperature": 0,
            "cache_prompt": False,
            **settings,
        }
        return _reply(self._loading().handle_chat_completions(asked), self.model)


@lru_cache(maxsize=2)
def _loaded(path: Path, context: int, threads: int) -> Any:
    """The runtime with this model. It opens a port on loopback whatever one does: a key that nobody has locks it."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx, params.n_parallel = context, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.api_keys, params.offline, params.verbosity = [secrets.token_hex(32)], True, -1
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise ModelError("the file holds no model that can be run", where=str(path), remedy="Is it GGUF?") from error


def _reply(answer: Any, model: str) -> Reply:
    """The answer in our words. What was refused (a prompt beyond the context) cost nothing."""
    if "error" in answer:
        raise CallFailed(str(answer["error"].get("message", "no reason was given")), "none")
    choice, used = answer["choices"][0], answer.get("usage", {})
    usage = Usage(whole(used.get("prompt_tokens")), whole(used.get("completion_tokens")))
    text = choice["message"].get("content") or ""
    return Reply(str(text), usage, truncated=choice["finish_reason"] == "length", model=model)
