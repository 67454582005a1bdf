"""The journal of nights: what began, what is done, what a killed night left behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Trigger = Literal["manual", "scheduled", "caught_up"]
NightState = Literal["running", "done", "failed", "interrupted"]


@dataclass(frozen=True, slots=True)
class Night:
    """One night. `date` is the local date (ISO) of the zone `zone`; times are ms UTC.

    `fence` grows each time the night is taken up: whoever holds an older one has lost it and may write no more.
    `pid` and `boot` say who runs it; `config` is the digest of the configuration that it runs with.
    """

    id: str
    date: str
    zone: str
    trigger: Trigger
    state: NightState
    fence: int
    begun_ms: int
    pid: int
    boot: str
    config: str = ""
    heartbeat_ms: int = 0
    ended_ms: int | None = None
    resumed_from: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Skip:
    """A night that did not run, and why."""

    date: str
    zone: str
    trigger: str
    why: str
    at_ms: int
