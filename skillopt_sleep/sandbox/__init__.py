"""Commands of strangers are run here and nowhere else: without a network, within limits, and nothing survives them."""

from skillopt_sleep.sandbox.command import Command, Ended, Limits, Ran
from skillopt_sleep.sandbox.find import Sandbox, Tried, find, look
from skillopt_sleep.sandbox.hosts import Host, Visit

__all__ = ["Command", "Ended", "Host", "Limits", "Ran", "Sandbox", "Tried", "Visit", "find", "look"]
