"""What both SDKs share: how a connection failed, and which numbers of an answer are numbers."""

from __future__ import annotations

from typing import Final

from skillopt_sleep.models.base import FIRST_PAUSE_S, CallFailed

_NEVER_SENT: Final = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol"})
"""Errors of the HTTP client after which no byte of the request has left."""


def lost(error: Exception) -> CallFailed:
    """A call without an answer. Where the request may have arrived it may have been worked on, and is not repeated."""
    cause = type(error.__cause__).__name__ if error.__cause__ is not None else type(error).__name__
    if cause in _NEVER_SENT:
        return CallFailed(f"no connection ({cause})", "none", FIRST_PAUSE_S)
    return CallFailed(f"the answer never came ({cause})", "all")


def whole(value: object) -> int | None:
    """A count of tokens, None for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
