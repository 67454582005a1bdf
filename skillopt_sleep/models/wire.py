"""What both SDKs share: what a status and an envelope mean, how a connection failed, which numbers are numbers.

Nothing here reads the words of a message: errors are told by status codes and by the types of their envelopes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import Final

from skillopt_sleep.errors import ModelError, NotSignedIn
from skillopt_sleep.models.base import FIRST_PAUSE_S, CallFailed
from skillopt_sleep.models.conversing import Said, arguments_of
from skillopt_sleep.models.keys import Key

_OUR_KEY: Final = "[redacted:key]"
LEAST_SECRET: Final = 8
"""Characters of a key that is one: a shorter word is what stands where a server asks for none."""
_NEVER_SENT: Final = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol"})
"""Errors of the HTTP client after which no byte of the request has left."""
_NO_MONEY: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_error"})
"""Types and codes of envelopes that no waiting mends, though they may come with status 429."""


def by_status(
    status: int, where: str, headers: Mapping[str, str], envelope: object = None, *, remedy: str = ""
) -> Exception:
    """What an HTTP status means: 408, 409, 429 and 5xx gave nothing this time; any other one will be the same again.

    `envelope` is the body of the error, `remedy` what helps where the key was refused.
    """
    if status in {401, 403}:
        return NotSignedIn(f"the key was refused ({status})", where=where, remedy=remedy)
    if status == 402 or _NO_MONEY & _kinds(envelope):
        said = f"the account has nothing left to spend (HTTP {status})"
        return ModelError(said, where=where, remedy="Look at its quota and balance")
    if status == 429:
        return CallFailed("HTTP 429", "none", pause(headers))
    if status in {408, 409} or status >= 500:
        return CallFailed(f"HTTP {status}", "prompt", pause(headers))
    return ModelError(
        f"the request was refused (HTTP {status})",
        where=where,
        remedy="Check the model's name and the server's address",
    )


def enveloped(body: Mapping[str, object] | None, codes: Mapping[int, int]) -> int | None:
    """The HTTP status of an error that came with status 200, None where there is none in the body.

    `{"error": {"code": 429}}` names its own; an error without a status is one of the server (500). `codes` says which
    status a code in `{"base_resp": {"status_code": …}}` stands for.
    """
    body = body or {}
    if (error := body.get("error")) not in (None, "", {}):
        code = error.get("code") if isinstance(error, dict) else None
        return code if isinstance(code, int) and 400 <= code < 600 else 500
    own = body.get("base_resp")
    code = own.get("status_code") if isinstance(own, dict) else None
    return codes.get(code, 500) if isinstance(code, int) and code and codes else None


def lost(error: Exception) -> CallFailed:
    """A call without an answer. Where the request may have arrived it may have been worked on, and is not repeated."""
    cause = type(error.__cause__).__name__ if error.__cause__ is not None else type(error).__name__
    if cause in _NEVER_SENT:
        return CallFailed(f"no connection ({cause})", "none", FIRST_PAUSE_S)
    return CallFailed(f"the answer never came ({cause})", "all")


def without_key(reply: Said, key: Key | None) -> Said:
    """The reply without our own key: a server that repeats it must not get it into the store."""
    if key is None or len(key.secret) < LEAST_SECRET:
        return reply
    text = reply.text.replace(key.secret, _OUR_KEY)
    calls = tuple(replace(call, arguments=_cleaned(call.arguments, key.secret)) for call in reply.calls)
    return replace(reply, text=text, calls=calls)


def whole(value: object) -> int | None:
    """A count of tokens, None for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def pause(headers: Mapping[str, str]) -> float:
    """Seconds that the server asks to wait: Retry-After as a number, or as a date measured by the server's own Date.

    A second where it says nothing that can be read.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            named = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        return max(named, 0.0) if math.isfinite(named) else FIRST_PAUSE_S
    try:
        until, now = (parsedate_to_datetime(headers.get(name, "")) for name in ("retry-after", "date"))
        return max((until - now).total_seconds(), 0.0)
    except (ValueError, TypeError, OverflowError):
        return FIRST_PAUSE_S


def _kinds(envelope: object) -> set[str]:
    """The type and the code that an error's body names, whether or not it is wrapped in `error`."""
    body = envelope if isinstance(envelope, Mapping) else {}
    inner = body.get("error")
    found = [part.get(name) for part in (body, inner) if isinstance(part, Mapping) for name in ("type", "code")]
    return {one for one in found if isinstance(one, str)}


def _cleaned(arguments: Mapping[str, object] | None, secret: str) -> Mapping[str, object] | None:
    if arguments is None:
        return None
    written = json.dumps(arguments, ensure_ascii=False)
    return arguments if secret not in written else arguments_of(written.replace(secret, _OUR_KEY))
