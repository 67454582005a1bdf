"""Redaction at the border: text is cleaned once, before it is stored, logged, shown or sent.

`Redactor` finds secrets with rules of its own and, where there is a wheel of it, with betterleaks; `Redacted` is the
type of what it returns, so that a forgotten call is a type error. `printable` makes text safe for a terminal.
"""

from __future__ import annotations

from skillopt_sleep.redact.engine import EngineFinding, finding
from skillopt_sleep.redact.redactor import RULES_VERSION, Redacted, Redactor
from skillopt_sleep.redact.spans import KINDS
from skillopt_sleep.redact.terminal import printable

__all__ = ["KINDS", "RULES_VERSION", "EngineFinding", "Redacted", "Redactor", "finding", "printable"]
